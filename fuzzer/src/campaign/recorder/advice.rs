//! Warnings of what the campaign does not see, and advice on one that stands still: one line, the most useful one.

use std::time::Duration;

use super::Recorder;
use crate::campaign::{fitting, record::Entry};
use quagmire_base::{
    error::Result,
    format::{counted, grouped, rate},
};
use quagmire_cost::resource::Resource;
use quagmire_execution::{info::Instrumentation, lines, program::Program, sampled::Sampler, symbols::Symbols, timer};
use quagmire_results::summary::Unseen;
use quagmire_search::corpus::search_state::SearchState;

/// Time after which there may be advice.
const FIRST: Duration = Duration::from_secs(10);

/// Executions a second below which a campaign is slow: a mutant is found in thousands.
const SLOW: f64 = 100.0;

/// Share of the time of all entries that the largest ones take if size is what makes a campaign slow.
const MOST_TIME: f64 = 0.8;

/// Share of a campaign without a find after which it stands still, and the shortest time.
const STANDING: f64 = 0.25;
const SHORTEST: Duration = Duration::from_secs(20);

/// Share of the branches of a program below which few were found.
const FEW: f64 = 0.2;

/// Share of all runs that reach the function in which they end.
const MOST_RUNS: f64 = 0.5;

/// Key of [`Record::said`](crate::campaign::record::Record::said) for runs that are all alike.
pub(in crate::campaign) const RUNS_ALIKE: &str = "runs are alike";

/// The same for time without counts.
const UNCOUNTED: &str = "time without counts";

impl Recorder<'_> {
    /// Takes in the samples of the timer. Opens the objects of the program for their symbols, once in a process.
    pub fn take_samples(&mut self, program: &Program) {
        // which functions of others are counted, nothing tells
        if self.setup.target.instrumentation != Instrumentation::Counts {
            return;
        }
        let samples = timer::take_samples();
        if samples.is_empty() {
            return;
        }
        let sampler = self.sampler.get_or_insert_with(|| Sampler::new(program));
        let functions = samples.into_iter().filter_map(|pc| sampler.function(pc));
        functions.for_each(|function| self.record.samples.add(function));
    }

    /// Warns, once each, if runs are all alike, or spend their time in code without counts.
    pub(super) fn tell_unseen(&mut self, search: &SearchState) -> Result<()> {
        for (key, warning) in [(RUNS_ALIKE, self.runs_alike(search)), (UNCOUNTED, self.time_without_counts())] {
            if let Some(warning) = warning.filter(|_| self.setup.place.number == 0)
                && self.record.said.insert(key.to_owned())
            {
                self.note(&warning)?;
            }
        }
        Ok(())
    }

    fn runs_alike(&self, search: &SearchState) -> Option<String> {
        let found = search.history.edges_found() as u64;
        self.record.alike.warning(found, self.moment.edges).filter(|_| self.counts())
    }

    fn time_without_counts(&self) -> Option<String> {
        self.record.samples.warning(self.setup.options.search.steer.is_some())
    }

    /// For the summary.
    pub(super) fn unseen(&self, search: &SearchState) -> Unseen {
        let alike = self.record.alike;
        Unseen {
            runs: alike.runs,
            runs_alike: alike.same,
            edges: alike.edges,
            warning: self.time_without_counts().or_else(|| self.runs_alike(search)),
            ..self.record.samples.summary()
        }
    }

    /// The most useful advice; `None` if there is none, or not yet.
    pub(super) fn advice(&self, search: &SearchState) -> Option<String> {
        if self.elapsed() < FIRST || self.setup.listener.is_some() {
            return None;
        }
        if let Some(slow) = self.slow() {
            return Some(slow);
        }
        if !self.stands_still() {
            return None;
        }
        let grammar = self.record.fitting_grammar.as_ref().and_then(Option::as_ref).map(|name| {
            format!("the seeds are of the grammar corpus/grammars/{name}.json: with --grammar, mutants are, too")
        });
        grammar.or_else(|| self.refused()).or_else(|| self.wall.clone().filter(|_| self.finds_few(search)))
    }

    fn stands_still(&self) -> bool {
        let since = self.elapsed().saturating_sub(self.record.last_new.unwrap_or_default());
        since >= SHORTEST.max(self.elapsed().mul_f64(STANDING))
    }

    fn finds_few(&self, search: &SearchState) -> bool {
        (search.history.edges_found() as f64) < self.moment.edges as f64 * FEW
    }

    /// Few executions a second, and the size that costs them.
    fn slow(&self) -> Option<String> {
        let per_second = self.executions_per_second() / self.setup.place.of as f64;
        if per_second >= SLOW {
            return None;
        }
        let few = format!("{} executions a second", rate(per_second));
        let baseline = self.record.baseline?;
        Some(match costly_size(&self.record.entries) {
            Some((size, share)) if size > baseline.bytes => format!(
                "{few}: inputs of {} bytes and more take {:.0} % of the time; --max-size {size} makes many more",
                grouped(size),
                share * 100.0
            ),
            _ => format!(
                "{few}: the median seed takes {:.1} ms; smaller seeds, or less work before the input is read, make more",
                baseline.cost[Resource::Time] as f64 / 1e6
            ),
        })
    }

    /// Nearly all runs are alike.
    fn refused(&self) -> Option<String> {
        let alike = self.record.alike;
        alike.is_likely().then(|| {
            format!(
                "{} of {} runs execute the same {}: are the seeds valid inputs, and is there a checksum or a magic number? See --dict, \
                 QUAGMIRE_COMPARES=1",
                grouped(alike.same),
                grouped(alike.runs),
                counted(alike.edges, "edge")
            )
        })
    }

    /// Looks once for a grammar that the seeds follow, if the campaign stands still.
    pub fn look_for_grammar(&mut self) {
        let setup = self.setup;
        let is_wanted = setup.grammar.is_none() && setup.listener.is_none() && setup.place.number == 0;
        if is_wanted && self.record.fitting_grammar.is_none() && self.elapsed() >= FIRST && self.stands_still() {
            self.record.fitting_grammar = Some(fitting::grammar(&setup.seeds.inputs).map(str::to_owned));
        }
    }

    /// Looks for the function that most runs enter and few leave by another way, if the campaign stands still.
    pub fn look_for_wall(&mut self, program: &Program, search: &SearchState) {
        if self.wall.is_some() || self.elapsed() < FIRST || !self.stands_still() || !self.finds_few(search) {
            return;
        }
        let hits = &search.rare.hits;
        let hit = |edge: u32| hits.get(edge as usize).copied().unwrap_or(0);
        let most = hits.iter().max().copied().unwrap_or(0) as f64 * MOST_RUNS;
        let never = |first: u32, branches: u32| (first..first + branches).filter(|&edge| hit(edge) == 0).count();
        let entered = program.functions().iter().filter(|function| hit(function.first_edge) as f64 > most);
        let worst = entered.max_by_key(|function| never(function.first_edge, function.branches));
        let Some(function) = worst.filter(|function| never(function.first_edge, function.branches) > 0) else { return };
        let place = lines::place_of(function, &mut Symbols::new());
        let location = place.location.map_or_else(String::new, |location| format!(" at {location}"));
        self.wall = Some(format!(
            "no run takes {} of the {} in {}{location}: a seed that gets further helps, or --dict, or QUAGMIRE_COMPARES=1",
            grouped(never(function.first_edge, function.branches) as u64),
            counted(function.branches.into(), "branch").replace("branchs", "branches"),
            place.function
        ));
    }
}

/// Size in bytes from which entries take most of the time of all, and their share, if they are at most half of them.
fn costly_size(entries: &[Entry]) -> Option<(u64, f64)> {
    let mut by_size: Vec<(u64, u64)> = entries.iter().map(|entry| (entry.bytes, entry.cost[Resource::Time])).collect();
    by_size.sort_unstable_by(|a, b| b.cmp(a));
    let all: u64 = by_size.iter().map(|entry| entry.1).sum();
    let mut sum = 0;
    for (at, &(bytes, time)) in by_size.iter().enumerate() {
        sum += time;
        if sum as f64 >= all as f64 * MOST_TIME {
            return (2 * (at + 1) <= by_size.len()).then(|| (bytes, sum as f64 / all.max(1) as f64));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_that_costs_the_time_is_that_of_few_large_entries() {
        let entry = |bytes, time| {
            let mut entry = Entry { bytes, ..Entry::default() };
            entry.cost[Resource::Time] = time;
            entry
        };
        let mut entries = vec![entry(10, 1); 8];
        assert_eq!(costly_size(&entries), None);
        entries.extend([entry(5_000, 50), entry(9_000, 50)]);
        assert_eq!(costly_size(&entries), Some((5_000, 100.0 / 108.0)));
        assert_eq!(costly_size(&[]), None);
    }
}
