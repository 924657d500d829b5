//! Entries above the threshold for their size that are no degradations, with the reason.

use super::Recorder;
use crate::campaign::record::Entry;
use quagmire_cost::resource::Resource;
use quagmire_results::summary::{Unconfirmed, WhyUnconfirmed};
use quagmire_search::EntryId;

/// Factor by which an entry has to exceed what was confirmed for its function to be told beside it.
const NEWS: f64 = 1.25;

impl Recorder<'_> {
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

    /// Remembers what was confirmed for the function of an entry.
    pub(super) fn note_confirmed(&mut self, entry: EntryId) {
        let of = self.record.entry(entry);
        let (key, excess) = (of.hottest, self.excess(of));
        if let Some(key) = key {
            let known = self.record.confirmed.entry(key).or_default();
            *known = known.max(excess);
            self.record.doubtful.remove(&key);
        }
    }

    /// Unconfirmed entries, the worst first: of each function the worst, unless it hardly exceeds what was confirmed there.
    pub(super) fn unconfirmed(&self) -> Vec<Unconfirmed> {
        let waiting = self.record.candidates.values().map(|&entry| (entry, WhyUnconfirmed::NotMeasured));
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
}
