//! Charging runs: what each performance mutant would cost with each input.

use std::{cmp::Ordering, collections::HashMap, time::Duration};

use super::{
    InputOrder, ScoreOptions,
    baseline::{LeftOut, Stable, generous},
    progress::Progress,
    table::Table,
    workers::share,
};
use quagmire_base::error::Result;
use quagmire_execution::fork_server::{
    charges::Charges,
    mutants::{MutantServer, Observed},
};

/// Effect of the inputs on a performance mutant.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Slowed {
    /// Whether some input reaches its place.
    pub is_reached: bool,
    /// Number of inputs that cost more with it.
    pub by: u64,
    /// The input with the largest multiple of its own cost.
    pub worst: Option<Slow>,
    /// The first input that kills it.
    pub first: Option<Slow>,
    /// Number of its runs, if it is run.
    pub runs: u64,
    /// Number of these that say nothing of its cost, since they did something else.
    pub changed_runs: u64,
}

/// An input that costs more with a mutant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Slow {
    /// Its number.
    pub input: usize,
    /// Multiple of its own cost.
    pub factor: f64,
    /// Instructions that the mutant adds.
    pub added: u64,
    /// Its place in the order of the inputs.
    key: (u128, usize),
}

/// An input without mutants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Own {
    /// Its number.
    pub input: usize,
    /// Its instructions, 1 at least.
    pub instructions: u64,
    /// Its place in the order of the inputs, of which equal ones are in that of their numbers.
    place: u128,
}

/// An input that may be slower with a mutant that is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    /// The input.
    pub own: Own,
    /// How often it comes to the mutant's place.
    pub times: u64,
}

/// Effect of the inputs on all mutants.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Charged {
    /// Each mutant of the table.
    pub mutants: Vec<Slowed>,
    /// For each mutant of the table: if it is run, the inputs that come to its place more often than its gate says.
    pub candidates: Vec<Vec<Candidate>>,
    /// Number of inputs that were run.
    pub inputs: usize,
}

/// Makes a charging run with each input. Inputs that do something else in it are put into `left_out`. `ages` are those of
/// the inputs by path, for [`InputOrder::Modified`].
pub(super) fn charge(
    options: &ScoreOptions,
    factor: f64,
    table: &Table,
    inputs: &[Stable],
    ages: &HashMap<String, Duration>,
    left_out: &mut Vec<LeftOut>,
) -> Result<Charged> {
    let all = table.mutants.len();
    let mut charged = Charged { mutants: vec![Slowed::default(); all], candidates: vec![Vec::new(); all], inputs: 0 };
    let mut progress = Progress::new("charges", inputs.len());
    let work = |server: &mut MutantServer, number: usize| {
        server.charge(&inputs[number].bytes, &[], generous(options)).map(Some)
    };
    share(options, inputs.len(), work, |number, (observed, charges): (Observed, Charges)| {
        progress.step(0);
        let input = &inputs[number];
        if observed != input.observed {
            left_out.push(LeftOut { path: input.path.clone(), reason: "unstable" });
            return Ok(());
        }
        let place = match options.order {
            Some(InputOrder::Modified) => ages.get(&input.path).copied().unwrap_or_default().as_nanos(),
            Some(InputOrder::Cost) | None => u128::from(charges.instructions),
        };
        let own = Own { input: number, instructions: charges.instructions.max(1), place };
        charged.add(table, own, &charges, factor);
        Ok(())
    })?;
    Ok(charged)
}

impl Charged {
    /// Adds the run of an input.
    fn add(&mut self, table: &Table, own: Own, charges: &Charges, factor: f64) {
        self.inputs += 1;
        for (number, mutant) in table.mutants.iter().enumerate() {
            let sum = |of: fn(&Charges, u32) -> u64| {
                mutant.probes.iter().fold(0, |sum: u64, probe| sum.saturating_add(of(charges, *probe)))
            };
            let times = sum(Charges::reached);
            let slowed = &mut self.mutants[number];
            slowed.is_reached |= times > 0;
            if !mutant.is_run {
                slowed.add(own, sum(Charges::added), factor);
            } else if times > mutant.gate.as_ref().map_or(0, |gate| gate.past) {
                self.candidates[number].push(Candidate { own, times });
            }
        }
    }
}

impl Slowed {
    /// Adds an input to which the mutant adds so many instructions; it kills from `factor` on.
    pub(super) fn add(&mut self, own: Own, added: u64, factor: f64) {
        if added == 0 {
            return;
        }
        let instructions = own.instructions as f64;
        let ratio = (instructions + added as f64) / instructions;
        let one = Slow { input: own.input, factor: ratio, added, key: (own.place, own.input) };
        self.by += 1;
        // of two that are as slow, the first: runs end in any order
        let is_worse =
            |worst: Slow| one.factor.total_cmp(&worst.factor).then(worst.input.cmp(&one.input)) == Ordering::Greater;
        if self.worst.is_none_or(is_worse) {
            self.worst = Some(one);
        }
        if one.factor >= factor && self.first.is_none_or(|first| one.key < first.key) {
            self.first = Some(one);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_kills_is_the_first_in_the_order_and_the_worst_is_the_worst() {
        let mut slowed = Slowed::default();
        for (input, added, place) in [(0, 20, 9), (1, 5, 1), (2, 10, 5), (3, 70, 7), (4, 70, 5), (5, 0, 0)] {
            slowed.add(Own { input, instructions: 10, place }, added, 2.0);
        }
        assert_eq!((slowed.by, slowed.worst.map(|worst| (worst.factor, worst.input))), (5, Some((8.0, 3))));
        assert_eq!(slowed.first.map(|first| (first.input, first.factor)), Some((2, 2.0)));
    }
}
