//! The entries that wait for confirmation, those that are only large, and the worst one.

use super::Archive;
use crate::campaign::record::Entry;
use quagmire_cost::{
    resource::{Cost, Resource},
    sizes::{RelativeTo, SizeModel},
};
use quagmire_search::EntryId;

/// A finding for the same function has to cost this much more than the one before.
const STEP: f64 = 1.25;

/// Stands for no function: the worst input of all.
const WORST: u32 = u32::MAX;

impl Archive<'_> {
    /// Whether a run used so much more of one of the chosen costs than the median seed.
    pub(super) fn is_above_threshold(&self, cost: &Cost) -> bool {
        self.severity_by_seed(cost) >= self.setup.options.threshold
    }

    /// The largest ratio to the median seed among the chosen costs, noisy ones as they were measured.
    fn severity_by_seed(&self, cost: &Cost) -> f64 {
        let Some(baseline) = self.record.baseline else { return 1.0 };
        let chosen = self.setup.options.cost.iter();
        chosen.map(|&resource| resource.ratio(cost[resource], baseline.cost[resource])).fold(0.0, f64::max)
    }

    /// What inputs are held against by their size, if degradations go by that.
    pub fn size_model(&self) -> Option<&SizeModel> {
        self.record.sizes.model.as_ref().filter(|_| self.setup.options.relative_to == RelativeTo::Size)
    }

    /// What the threshold is compared with: the largest ratio among the chosen costs. By size, it is of what remains of it
    /// if all of the input were dear content.
    fn severity(&self, entry: &Entry) -> f64 {
        let Some(model) = self.size_model() else { return self.severity_by_seed(&entry.cost) };
        let ratio = |&resource: &Resource| {
            let ratio = model.ratio(resource, entry.cost[resource], entry.bytes);
            ratio / model.margin(resource, entry.bytes)
        };
        self.setup.options.cost.iter().map(ratio).fold(0.0, f64::max)
    }

    fn severity_of(&self, entry: EntryId) -> f64 {
        self.severity(self.record.entry(entry))
    }

    /// Cost as a multiple of an ordinary input of its size, of that among the followed costs in which it is largest.
    /// `None` before sizes were measured.
    pub fn ratio_by_size(&self, cost: &Cost, bytes: u64) -> Option<f64> {
        let model = self.record.sizes.model.as_ref()?;
        let followed = self.steering.resources().iter();
        Some(followed.map(|&resource| model.ratio(resource, cost[resource], bytes)).fold(0.0, f64::max))
    }

    /// The ratio by which the worst input is chosen; for the same, the smaller input is worse.
    fn badness(&self, entry: EntryId) -> (f64, std::cmp::Reverse<u64>) {
        let Entry { cost, bytes, .. } = self.record.entry(entry);
        let by_size = self.ratio_by_size(cost, *bytes).filter(|_| self.setup.options.relative_to == RelativeTo::Size);
        (by_size.unwrap_or_else(|| self.ratio(cost)), std::cmp::Reverse(*bytes))
    }

    /// Finds the worst entry anew: ratios have changed.
    pub fn find_worst(&mut self) {
        self.record.worst = self.record.entry_ids().reduce(|worst, next| self.worse_of(worst, next));
    }

    fn worse_of(&self, worst: EntryId, next: EntryId) -> EntryId {
        let is_worse = self.badness(next).partial_cmp(&self.badness(worst)) == Some(std::cmp::Ordering::Greater);
        if is_worse { next } else { worst }
    }

    /// An entry is new: it may be the worst.
    pub(super) fn challenge_worst(&mut self, entry: EntryId) {
        self.record.worst = Some(self.record.worst.map_or(entry, |worst| self.worse_of(worst, entry)));
    }

    /// An entry whose cost is clearly above what was confirmed for its hottest function waits for confirmation.
    pub(super) fn propose(&mut self, entry: EntryId) {
        let Some(key) = self.record.entry(entry).hottest else { return };
        let severity = self.severity_of(entry);
        if severity < self.setup.options.threshold {
            self.note_large(entry);
            return;
        }
        let judged = self.record.judged.get(&key).copied().unwrap_or(0.0);
        let waiting = self.record.candidates.get(&key).map_or(0.0, |&candidate| self.severity_of(candidate));
        if severity >= judged * STEP && severity > waiting {
            self.record.candidates.insert(key, entry);
        }
    }

    /// Notes an entry that costs more than the median seed by the threshold, and is no degradation for its size.
    pub fn note_large(&mut self, entry: EntryId) {
        let Entry { cost, hottest: Some(key), .. } = *self.record.entry(entry) else { return };
        let severity = self.severity_by_seed(&cost);
        if severity < self.setup.options.threshold {
            return;
        }
        self.record.large_entries += 1;
        let known = self.record.large.get(&key).map(|&known| self.record.entry(known).cost);
        if known.is_none_or(|known| severity > self.severity_by_seed(&known)) {
            self.record.large.insert(key, entry);
        }
    }

    /// At the end the worst input is confirmed however little it is above the finding before.
    pub fn propose_worst(&mut self) {
        let Some(worst) = self.record.worst else { return };
        let severity = self.severity_of(worst);
        let known = self.record.judged.values().any(|&judged| judged >= severity);
        let waits = self.record.candidates.values().any(|&candidate| candidate == worst);
        if severity >= self.setup.options.threshold && !known && !waits {
            self.record.candidates.insert(WORST, worst);
        }
    }

    /// Takes the most expensive candidate out, with its severity: it is about to be judged.
    pub fn next_candidate(&mut self) -> Option<EntryId> {
        let severity = |entry: &EntryId| self.severity_of(*entry);
        let worst = self.record.candidates.iter().max_by(|a, b| severity(a.1).total_cmp(&severity(b.1)));
        let (&key, &entry) = worst?;
        let severity = self.severity_of(entry);
        self.record.candidates.remove(&key);
        self.record.judged.insert(key, severity);
        Some(entry)
    }
}
