//! Which kept inputs wait for confirmation.

use super::Archive;
use crate::cost::resource::Cost;

/// A finding for the same function has to cost this much more than the one before.
const STEP: f64 = 1.25;

/// Stands for no function: the worst input of all.
const WORST: u32 = u32::MAX;

impl Archive<'_> {
    /// Whether a run used so much of one of the chosen costs that it would be a degradation.
    pub(super) fn is_above_threshold(&self, cost: &Cost) -> bool {
        self.severity(cost) >= self.setup.options.threshold
    }

    /// The largest ratio to the baseline among the chosen costs, noisy ones as they were measured.
    pub(super) fn severity(&self, cost: &Cost) -> f64 {
        let Some(baseline) = self.record.baseline else { return 1.0 };
        let chosen = self.setup.options.cost.iter();
        chosen.map(|resource| resource.ratio(resource.of(cost), resource.of(&baseline.cost))).fold(0.0, f64::max)
    }

    fn severity_of(&self, entry: u32) -> f64 {
        self.severity(&self.record.entries[entry as usize].cost)
    }

    /// An entry whose cost is clearly above what was confirmed for its hottest function waits for confirmation.
    pub(super) fn propose(&mut self, entry: u32) {
        let Some(key) = self.record.entries[entry as usize].hottest else { return };
        let severity = self.severity_of(entry);
        let judged = self.record.judged.get(&key).copied().unwrap_or(0.0);
        let waiting = self.record.candidates.get(&key).map_or(0.0, |&candidate| self.severity_of(candidate));
        if severity >= self.setup.options.threshold && severity >= judged * STEP && severity > waiting {
            self.record.candidates.insert(key, entry);
        }
    }

    /// At the end the worst input is confirmed however little it is above the finding before.
    pub fn propose_worst(&mut self) {
        let Some(worst) = self.kept.borrow().champions.worst() else { return };
        if self.record.entries.len() <= worst as usize {
            return;
        }
        let severity = self.severity_of(worst);
        let known = self.record.judged.values().any(|&judged| judged >= severity);
        let waits = self.record.candidates.values().any(|&candidate| candidate == worst);
        if severity >= self.setup.options.threshold && !known && !waits {
            self.record.candidates.insert(WORST, worst);
        }
    }

    /// Takes the most expensive candidate out, with its severity: it is about to be judged.
    pub fn next_candidate(&mut self) -> Option<u32> {
        let severity = |entry: &u32| self.severity_of(*entry);
        let worst = self.record.candidates.iter().max_by(|a, b| severity(a.1).total_cmp(&severity(b.1)));
        let (&key, &entry) = worst?;
        let severity = self.severity_of(entry);
        self.record.candidates.remove(&key);
        self.record.judged.insert(key, severity);
        Some(entry)
    }
}
