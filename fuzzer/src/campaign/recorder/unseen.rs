//! Warnings of what the campaign does not see: code without counts, and input that is not read.

use super::Recorder;
use quagmire_base::error::Result;
use quagmire_execution::{info::Instrumentation, program::Program, sampled::Sampler, timer};
use quagmire_results::summary::Unseen;
use quagmire_search::corpus::search_state::SearchState;

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
}
