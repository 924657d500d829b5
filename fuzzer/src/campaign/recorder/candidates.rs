//! Candidates: the score of each entry, the choice of those that are confirmed, of the worst one, and of those that are no
//! degradations: only large, or above the threshold and unconfirmed.

use std::time::Duration;

use super::Recorder;
use crate::campaign::record::{Candidate, Entry};
use quagmire_cost::{
    resource::{Cost, Resource},
    sizes::{RelativeTo, SizeModel},
};
use quagmire_execution::counts::CountsObserver;
use quagmire_results::summary::{Unconfirmed, WhyUnconfirmed};
use quagmire_search::{EntryId, corpus::search_state::SearchState, hooks::Measured};

/// Factor by which the cost of a candidate has to exceed that of the last one judged for the same function.
const STEP: f64 = 1.25;

/// Key of the worst entry of all among the candidates, which are otherwise known by function.
const WORST: u32 = u32::MAX;

/// First edge of the function with most instructions in the last run; without any counts 0, as if all were one function.
pub(super) fn hottest(counts: &CountsObserver) -> Option<u32> {
    let functions = counts.program().functions();
    if functions.is_empty() {
        return Some(0);
    }
    counts.hottest_function().map(|(function, _)| functions[function as usize].first_edge)
}

/// Number of times that an entry is measured if its time is not told from noise.
const TRIES: u32 = 3;

/// Time after which it is measured again, four times as long after each try: what else runs on the machine may have ended.
const RETRY: Duration = Duration::from_secs(5);

/// Factor by which an entry has to exceed what was confirmed for its function to be told beside it.
const NEWS: f64 = 1.25;

/// A candidate that is measured.
#[derive(Clone, Copy)]
pub struct Proposed {
    /// Its hottest function, by which it is known.
    key: u32,
    pub entry: EntryId,
    /// Ratio at which the key was judged before.
    before: f64,
    /// Number of times that it was measured before.
    tries: u32,
}

impl Recorder<'_> {
    /// Whether the cost of a run reaches the threshold, as a multiple of the median seed's.
    pub(super) fn is_above_threshold(&self, cost: &Cost) -> bool {
        self.severity_by_seed(cost) >= self.setup.options.confirm.threshold
    }

    /// Largest ratio to the median seed among the chosen costs, noisy ones included.
    fn severity_by_seed(&self, cost: &Cost) -> f64 {
        let Some(baseline) = self.record.baseline else { return 1.0 };
        let chosen = self.setup.options.confirm.cost.iter();
        chosen.map(|&resource| resource.ratio(cost[resource], baseline.cost[resource])).fold(0.0, f64::max)
    }

    /// Size model, if degradations are relative to size; `None` otherwise, and before sizes were measured.
    pub fn size_model(&self) -> Option<&SizeModel> {
        self.record.sizes.model.as_ref().filter(|_| self.setup.options.confirm.relative_to == RelativeTo::Size)
    }

    /// Ratio that is compared with the threshold: the largest among the chosen costs. If degradations are relative to
    /// size, each is divided by the margin for expensive content ([`SizeModel::margin`]).
    fn severity(&self, entry: &Entry) -> f64 {
        let Some(model) = self.size_model() else { return self.severity_by_seed(&entry.cost) };
        let ratio = |&resource: &Resource| {
            let ratio = model.ratio(resource, entry.cost[resource], entry.bytes);
            ratio / model.margin(resource, entry.bytes)
        };
        self.setup.options.confirm.cost.iter().map(ratio).fold(0.0, f64::max)
    }

    pub(super) fn severity_of(&self, entry: EntryId) -> f64 {
        self.severity(self.record.entry(entry))
    }

    /// Cost as a multiple of an ordinary input of this size: that of the resource with the largest ratio, among those
    /// that the search follows. `None` before sizes were measured, and where nothing is counted.
    pub fn ratio_by_size(&self, cost: &Cost, bytes: u64) -> Option<f64> {
        let counts = self.setup.target.instrumentation.counts();
        let model = self.record.sizes.model.as_ref().filter(|_| counts)?;
        let followed = self.objective.resources().iter();
        Some(followed.map(|&resource| model.ratio(resource, cost[resource], bytes)).fold(0.0, f64::max))
    }

    /// Sort key of the worst entry: its ratio, then its size; of equal ratios, the smaller entry is worse.
    fn badness(&self, entry: EntryId) -> (f64, std::cmp::Reverse<u64>) {
        let Entry { cost, bytes, .. } = self.record.entry(entry);
        let by_size =
            self.ratio_by_size(cost, *bytes).filter(|_| self.setup.options.confirm.relative_to == RelativeTo::Size);
        (by_size.unwrap_or_else(|| self.ratio(cost)), std::cmp::Reverse(*bytes))
    }

    /// Determines the worst entry anew, after ratios have changed.
    pub fn find_worst(&mut self) {
        let is_whole = |entry: &Entry| entry.hottest.is_some() && !entry.is_lost;
        let whole = self.record.entry_ids().filter(|&entry| is_whole(self.record.entry(entry)));
        self.record.worst = whole.reduce(|worst, next| self.worse_of(worst, next));
    }

    fn worse_of(&self, worst: EntryId, next: EntryId) -> EntryId {
        let is_worse = self.badness(next).partial_cmp(&self.badness(worst)) == Some(std::cmp::Ordering::Greater);
        if is_worse { next } else { worst }
    }

    /// Makes a new entry the worst one, if it is.
    pub(super) fn challenge_worst(&mut self, entry: EntryId) {
        if self.record.entry(entry).hottest.is_none() {
            return;
        }
        self.record.worst = Some(self.record.worst.map_or(entry, |worst| self.worse_of(worst, entry)));
    }

    /// Makes an entry a candidate for confirmation, if its cost reaches the threshold, clearly exceeds what was judged
    /// for its hottest function, and exceeds the candidate that waits. Returns whether it reaches the threshold.
    pub(super) fn propose(&mut self, entry: EntryId) -> bool {
        let severity = self.severity_of(entry);
        if severity < self.setup.options.confirm.threshold {
            return false;
        }
        let Some(key) = self.record.entry(entry).hottest else { return true };
        let judged = self.record.judged.get(&key).copied().unwrap_or(0.0);
        let waiting = self.record.candidates.get(&(key, false)).map_or(0.0, |one| self.severity_of(one.entry));
        if severity >= judged * STEP && severity > waiting {
            self.record.wait(key, entry);
        }
        true
    }

    /// Counts an entry as large, if it costs more than the median seed by the threshold; called once for each entry that is
    /// no degradation for its size. What is above the threshold for its size and is no degradation since parts of the seeds
    /// cost as much is unconfirmed.
    pub fn note_large(&mut self, entry: EntryId) {
        if self.size_model().is_some() && self.note_unconfirmed(entry, WhyUnconfirmed::LikeSeeds) {
            return;
        }
        let Entry { cost, hottest: Some(key), .. } = *self.record.entry(entry) else { return };
        let severity = self.severity_by_seed(&cost);
        if severity < self.setup.options.confirm.threshold {
            return;
        }
        self.record.large_entries += 1;
        let known = self.record.large.get(&key).map(|&known| self.record.entry(known).cost);
        if known.is_none_or(|known| severity > self.severity_by_seed(&known)) {
            self.record.large.insert(key, entry);
        }
    }

    /// Makes the worst entry a candidate at the end of the campaign, even if it hardly exceeds the degradation before.
    pub fn propose_worst(&mut self) {
        let Some(worst) = self.record.worst else { return };
        let severity = self.severity_of(worst);
        let known = self.record.judged.values().any(|&judged| judged >= severity);
        let waits = self.record.waiting().any(|candidate| candidate == worst);
        if severity >= self.setup.options.confirm.threshold && !known && !waits {
            self.record.wait(WORST, worst);
        }
    }

    /// Whether an entry waits for confirmation.
    pub fn has_candidate(&self) -> bool {
        let now = self.elapsed();
        self.record.candidates.values().any(|candidate| candidate.due <= now)
    }

    /// Removes and returns the most expensive candidate, first of functions of which none was judged, or else the most expensive
    /// entry that is measured again, at the end before it is due. Remembers its function as judged at this ratio.
    pub fn next_candidate(&mut self, is_end: bool) -> Option<Proposed> {
        let now = self.elapsed();
        let due = self.record.candidates.iter().filter(|(_, one)| is_end || one.due <= now);
        let severity = |one: &Candidate| self.severity_of(one.entry);
        // what is measured again comes last, and a worse case of what is known after another cause
        let later = |&(key, again): &(u32, bool)| (again, self.record.judged.contains_key(&key));
        let first =
            due.max_by(|(a, one), (b, other)| later(b).cmp(&later(a)).then(severity(one).total_cmp(&severity(other))));
        let (&place, &Candidate { entry, tries, .. }) = first?;
        self.record.candidates.remove(&place);
        let key = place.0;
        let before = self.record.judged.insert(key, self.severity_of(entry)).unwrap_or(0.0);
        Some(Proposed { key, entry, before, tries })
    }

    /// Has a candidate measured again later, whose time was not told from noise, unless that was tried often enough.
    pub fn doubt(&mut self, proposed: Proposed) {
        let tries = proposed.tries + 1;
        if tries < TRIES {
            let due = self.elapsed() + RETRY * 4_u32.pow(proposed.tries);
            self.record.candidates.insert((proposed.key, true), Candidate { entry: proposed.entry, tries, due });
        }
    }

    /// Notes that an entry is confirmed: it is no candidate any more, and its function needs no retry.
    pub(super) fn note_confirmed(&mut self, entry: EntryId) {
        let of = self.record.entry(entry);
        let Some(key) = of.hottest else { return };
        let (severity, excess) = (self.severity_of(entry), self.excess(of));
        let raise = |known: &mut f64, to: f64| *known = known.max(to);
        raise(self.record.judged.entry(key).or_default(), severity);
        raise(self.record.confirmed.entry(key).or_default(), excess);
        self.record.candidates.retain(|&(of, again), one| if again { of != key } else { one.entry != entry });
    }

    /// Queues a candidate again whose measurement did not end, for a retry.
    pub fn put_back(&mut self, Proposed { key, entry, before, .. }: Proposed) {
        self.record.judged.insert(key, before);
        self.record.wait(key, entry);
    }

    /// Sets the ratio at which a candidate was judged, after its cost was corrected.
    pub(super) fn judge_anew(&mut self, Proposed { key, entry, before, .. }: Proposed) {
        self.record.judged.insert(key, self.severity_of(entry).max(before));
    }

    /// Largest ratio among the chosen costs: to an ordinary input of the size if degradations are relative to it, expensive
    /// content or not, otherwise to the median seed.
    fn excess(&self, entry: &Entry) -> f64 {
        let ratio = |&resource: &Resource| match self.size_model() {
            Some(model) => model.ratio(resource, entry.cost[resource], entry.bytes),
            None => self.record.baseline.map_or(1.0, |all| resource.ratio(entry.cost[resource], all.cost[resource])),
        };
        self.setup.options.confirm.cost.iter().map(ratio).fold(0.0, f64::max)
    }

    /// Remembers an entry as unconfirmed, if it is above the threshold. Returns whether it is.
    pub fn note_unconfirmed(&mut self, entry: EntryId, why: WhyUnconfirmed) -> bool {
        let of = self.record.entry(entry);
        let excess = self.excess(of);
        if excess < self.setup.options.confirm.threshold {
            return false;
        }
        let Some(key) = of.hottest else { return true };
        let known = self.record.unconfirmed.get(&key).map(|&(known, _)| self.excess(self.record.entry(known)));
        if known.is_none_or(|known| excess > known) {
            self.record.unconfirmed.insert(key, (entry, why));
        }
        true
    }

    /// Unconfirmed entries, the worst first: of each function the worst, unless it hardly exceeds what was confirmed there.
    pub(super) fn unconfirmed(&self) -> Vec<Unconfirmed> {
        let waiting = self.record.waiting().map(|entry| (entry, WhyUnconfirmed::NotMeasured));
        let mut all: Vec<(EntryId, WhyUnconfirmed, f64)> = waiting
            .chain(self.record.unconfirmed.values().copied())
            .map(|(entry, why)| (entry, why, self.excess(self.record.entry(entry))))
            .filter(|&(entry, _, excess)| excess >= self.setup.options.confirm.threshold && self.is_news(entry, excess))
            .collect();
        all.sort_by(|a, b| b.2.total_cmp(&a.2));
        let mut functions = std::collections::BTreeSet::new();
        all.retain(|&(entry, ..)| functions.insert(self.record.entry(entry).hottest));
        all.into_iter().map(|(entry, why, excess)| self.as_unconfirmed(entry, why, excess)).collect()
    }

    fn is_news(&self, entry: EntryId, excess: f64) -> bool {
        let confirmed = self.record.entry(entry).hottest.and_then(|key| self.record.confirmed.get(&key));
        confirmed.is_none_or(|&confirmed| excess > confirmed * NEWS)
    }

    fn as_unconfirmed(&self, entry: EntryId, why: WhyUnconfirmed, ratio: f64) -> Unconfirmed {
        let of = self.record.entry(entry);
        Unconfirmed {
            path: self.relative(&self.path_of(entry)),
            bytes: of.bytes,
            ratio,
            instructions_ratio: self.instructions_ratio(&of.cost),
            instructions_ratio_by_size: self.instructions_by_size(of),
            why,
        }
    }

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
