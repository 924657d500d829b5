//! Scores of entries, and their figures by the measured resource that the search follows (`--steer`).

use super::{Recorder, candidates::Proposed};
use quagmire_cost::resource::{Cost, Resource};
use quagmire_search::{EntryId, corpus::search_state::SearchState, hooks::Measured};

impl Recorder<'_> {
    /// Computes the scores of the seeds anew, once the baseline is known.
    pub fn rescore_seeds(&mut self, search: &mut SearchState) {
        for entry in self.record.entry_ids() {
            let score = self.score(&self.record.entry(entry).cost);
            self.record.entry_mut(entry).score = score;
            search.rescore(entry, score);
        }
    }

    /// Perun's score: the cost ratio, times one plus the share of degraded resources.
    pub(super) fn score(&self, cost: &Cost) -> f64 {
        let threshold = self.setup.options.confirm.threshold;
        let degraded = self.record.baseline.map_or(0.0, |baseline| baseline.degraded_share(cost, threshold));
        self.ratio(cost) * (1.0 + degraded)
    }

    /// Cost of an entry as a multiple of the baseline, by which rounds get fewer mutants: of its work, or of the
    /// measured resource if that is a larger one; 1 before there is a baseline.
    pub(super) fn cost_of_round(&self, entry: EntryId) -> f64 {
        let Some(baseline) = self.record.baseline else { return 1.0 };
        let cost = &self.record.entry(entry).cost;
        let measured = self.objective.noisy().map_or(0.0, |_| self.objective.ratio(cost, &baseline.cost));
        (cost.work() as f64 / baseline.cost.work().max(1) as f64).max(measured)
    }

    /// A measurement of an entry, with the smaller amount of the measured resource: that of the entry is the minimum of
    /// more runs.
    pub(super) fn with_least(&self, entry: EntryId, measured: &Measured) -> Measured {
        let mut measured = *measured;
        if let Some(resource) = self.objective.noisy() {
            measured.cost[resource] = measured.cost[resource].min(self.record.entry(entry).cost[resource]);
        }
        measured
    }

    /// Corrects the cost of a candidate that was refuted, whose CPU time was `time_ratio` times the median seed's in another
    /// process, if the search follows time and took it for more than that and the noise.
    pub fn correct(&mut self, proposed: Proposed, time_ratio: f64, search: &mut SearchState) {
        let entry = proposed.entry;
        let timed = self.objective.noisy().filter(|&resource| matches!(resource, Resource::Time | Resource::Cycles));
        let (Some(resource), Some(baseline)) = (timed, self.record.baseline) else { return };
        let amount = (baseline.cost[resource] as f64 * time_ratio) as u64;
        if !search.correct(entry, amount) {
            return;
        }
        self.record.entry_mut(entry).cost[resource] = amount;
        let score = self.score(&self.record.entry(entry).cost);
        self.record.entry_mut(entry).score = score;
        search.rescore(entry, score);
        self.find_worst();
        // what is as expensive in truth is a candidate again
        self.judge_anew(proposed);
    }
}
