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

/// Effect of the inputs on all mutants.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Charged {
    /// Each mutant of the table.
    pub mutants: Vec<Slowed>,
    /// Number of inputs that were run.
    pub inputs: usize,
}

/// Makes a charging run with each input. Inputs that do something else in it are put into `left_out`. `ages` are those of
/// the inputs by path, for [`InputOrder::Modified`].
///
/// # Errors
/// If the program cannot be run.
pub(super) fn charge(
    options: &ScoreOptions,
    factor: f64,
    table: &Table,
    inputs: &[Stable],
    ages: &HashMap<String, Duration>,
    left_out: &mut Vec<LeftOut>,
) -> Result<Charged> {
    let mut charged = Charged { mutants: vec![Slowed::default(); table.mutants.len()], inputs: 0 };
    let mut progress = Progress::new("charges", inputs.len());
    let work =
        |server: &mut MutantServer, number: usize| server.charge(&inputs[number].bytes, generous(options)).map(Some);
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
        charged.add(table, number, place, &charges, factor);
        Ok(())
    })?;
    Ok(charged)
}

impl Charged {
    /// Adds the run of an input, which has this place in the order of all of them.
    fn add(&mut self, table: &Table, input: usize, place: u128, charges: &Charges, factor: f64) {
        self.inputs += 1;
        let own = charges.instructions.max(1) as f64;
        for (mutant, slowed) in table.mutants.iter().zip(&mut self.mutants) {
            slowed.is_reached |= mutant.probes.iter().any(|probe| charges.is_reached(*probe));
            let added = mutant.probes.iter().fold(0, |sum: u64, probe| sum.saturating_add(charges.added(*probe)));
            if added > 0 {
                slowed.add(Slow { input, factor: (own + added as f64) / own, added, key: (place, input) }, factor);
            }
        }
    }
}

impl Slowed {
    /// Adds an input that costs more; it kills from `factor` on.
    fn add(&mut self, one: Slow, factor: f64) {
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
        for (input, factor, place) in [(0, 3.0, 9), (1, 1.5, 1), (2, 2.0, 5), (3, 8.0, 7), (4, 8.0, 5)] {
            slowed.add(Slow { input, factor, added: 1, key: (place, input) }, 2.0);
        }
        assert_eq!((slowed.by, slowed.worst.map(|worst| (worst.factor, worst.input))), (5, Some((8.0, 3))));
        assert_eq!(slowed.first.map(|first| (first.input, first.factor)), Some((2, 2.0)));
    }
}
