//! Choice of the entries that are confirmed, of the worst one, and of those that are only large.

use std::time::Duration;

use super::Recorder;
use crate::campaign::record::{Doubtful, Entry};
use quagmire_cost::{
    resource::{Cost, Resource},
    sizes::{RelativeTo, SizeModel},
};
use quagmire_execution::counts::CountsObserver;
use quagmire_results::summary::WhyUnconfirmed;
use quagmire_search::EntryId;

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

/// A candidate.
#[derive(Clone, Copy)]
pub struct Proposed {
    /// Its hottest function, by which it is known.
    key: u32,
    pub entry: EntryId,
    /// Ratio at which the key was judged before.
    before: f64,
    /// Number of times that it was measured.
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
        let waiting = self.record.candidates.get(&key).map_or(0.0, |&candidate| self.severity_of(candidate));
        if severity >= judged * STEP && severity > waiting {
            self.record.candidates.insert(key, entry);
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
        let waits = self.record.candidates.values().any(|&candidate| candidate == worst);
        if severity >= self.setup.options.confirm.threshold && !known && !waits {
            self.record.candidates.insert(WORST, worst);
        }
    }

    /// Whether an entry waits for confirmation.
    pub fn has_candidate(&self) -> bool {
        !self.record.candidates.is_empty() || self.record.doubtful.values().any(|one| one.due <= self.elapsed())
    }

    /// Removes and returns the most expensive candidate, or else the most expensive entry that is measured again, at the end
    /// before it is due. Remembers its function as judged at this ratio.
    pub fn next_candidate(&mut self, is_end: bool) -> Option<Proposed> {
        let now = self.elapsed();
        let candidates = self.record.candidates.iter().map(|(&key, &entry)| (key, entry, 0));
        let doubtful = self.record.doubtful.iter().filter(|(_, one)| is_end || one.due <= now);
        let doubtful = doubtful.map(|(&key, one)| (key, one.entry, one.tries));
        let worse =
            |a: &(u32, EntryId, u32), b: &(u32, EntryId, u32)| self.severity_of(a.1).total_cmp(&self.severity_of(b.1));
        let (key, entry, tries) = candidates.max_by(worse).or_else(|| doubtful.max_by(worse))?;
        if tries == 0 {
            self.record.candidates.remove(&key);
        } else {
            self.record.doubtful.remove(&key);
        }
        let before = self.record.judged.insert(key, self.severity_of(entry)).unwrap_or(0.0);
        Some(Proposed { key, entry, before, tries })
    }

    /// Has a candidate measured again later, whose time was not told from noise, unless that was tried often enough.
    pub fn doubt(&mut self, proposed: Proposed) {
        let tries = proposed.tries + 1;
        if tries < TRIES {
            let due = self.elapsed() + RETRY * 4_u32.pow(proposed.tries);
            self.record.doubtful.insert(proposed.key, Doubtful { entry: proposed.entry, tries, due });
        }
    }

    /// Notes that an entry is confirmed, and no candidate any more.
    pub(super) fn note_judged(&mut self, entry: EntryId) {
        let Some(key) = self.record.entry(entry).hottest else { return };
        let severity = self.severity_of(entry);
        let judged = self.record.judged.entry(key).or_insert(0.0);
        *judged = judged.max(severity);
        self.record.candidates.retain(|_, candidate| *candidate != entry);
    }

    /// Queues a candidate again whose measurement did not end, for a retry.
    pub fn put_back(&mut self, Proposed { key, entry, before, .. }: Proposed) {
        self.record.judged.insert(key, before);
        self.record.candidates.insert(key, entry);
    }

    /// Sets the ratio at which a candidate was judged, after its cost was corrected.
    pub(super) fn judge_anew(&mut self, Proposed { key, entry, before, .. }: Proposed) {
        self.record.judged.insert(key, self.severity_of(entry).max(before));
    }
}
