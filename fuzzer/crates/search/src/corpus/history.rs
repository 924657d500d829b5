//! History of the search: buckets and maximum of each edge, and the largest costs, over all entries.

use serde::{Deserialize, Serialize};

use super::objective::Objective;
use quagmire_cost::resource::{Cost, Resource};
use quagmire_execution::bucket::bucket;

/// Share of an edge's maximum (1/8, as a shift) by which a count has to exceed it to be worth an entry: every step for
/// small counts, about twenty entries per order of magnitude for large ones.
const MAXIMUM_STEP_SHIFT: u32 = 3;

/// Whether a count is so far above the maximum that it is worth an entry.
#[inline]
fn exceeds(count: u32, maximum: u32) -> bool {
    count > maximum.saturating_add(maximum >> MAXIMUM_STEP_SHIFT)
}

/// Reasons to keep an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Novelty {
    /// It hits an edge that no entry has hit.
    pub edge: bool,
    /// It hits an edge in a bucket that is new for that edge.
    pub bucket: bool,
    /// It is valid, and hits an edge in a bucket that is new for that edge among valid entries.
    pub valid_edge: bool,
    /// It executes an edge clearly more often than any entry, or uses more memory somewhere.
    pub maximum: bool,
    /// It executes more instructions than any entry, or has a larger sort key of the chosen costs (by more than the noise,
    /// if that is noisy).
    pub total: bool,
    /// It uses clearly more heap or stack than any entry.
    pub memory: bool,
}

impl Novelty {
    /// Whether there is any reason to keep the input.
    pub fn any(self) -> bool {
        self.bucket || self.valid_edge || self.maximum || self.total || self.memory
    }
}

/// Buckets and maxima of all entries, by edge number, and the largest costs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct History {
    seen: Vec<u8>,
    /// Buckets of valid entries; empty as long as all entries are valid, since it would be the same as `seen`.
    seen_in_valid: Vec<u8>,
    /// Number of edges that valid entries have hit, once that table is in use.
    valid_edges: usize,
    maximum: Vec<u32>,
    largest_total: u64,
    largest_key: u64,
    largest_memory: [u64; Resource::KEPT.len()],
    edges_found: usize,
    progress_found: usize,
}

impl History {
    /// Number of buckets that entries have hit, of all edges.
    pub fn buckets_found(&self) -> u64 {
        self.seen.iter().map(|seen| u64::from(seen.count_ones())).sum()
    }

    /// Makes room for a program of this many edges.
    pub fn grow(&mut self, edges: usize) {
        if self.seen.len() < edges {
            self.seen.resize(edges, 0);
            self.maximum.resize(edges, 0);
            if self.has_invalid() {
                self.seen_in_valid.resize(edges, 0);
            }
        }
    }

    /// Whether some entry is invalid, so that valid ones have a table of their own.
    pub fn has_invalid(&self) -> bool {
        !self.seen_in_valid.is_empty()
    }

    /// Number of edges that valid entries have hit.
    pub fn valid_edges_found(&self) -> usize {
        if self.has_invalid() { self.valid_edges } else { self.edges_found }
    }

    /// Whether the tables have the same length; a checkpoint file may hold anything.
    pub fn is_sound(&self) -> bool {
        self.seen.len() == self.maximum.len()
            && (self.seen_in_valid.is_empty() || self.seen_in_valid.len() == self.seen.len())
    }

    /// Number of edges that entries have hit.
    pub fn edges_found(&self) -> usize {
        self.edges_found
    }

    /// Number of progress slots that entries have hit.
    pub fn progress_found(&self) -> usize {
        self.progress_found
    }

    /// Compares the counts of one function, whose first edge is `first_edge`, and adds the reasons to `novelty`.
    #[inline]
    pub fn compare(&self, first_edge: usize, counts: &[u32], novelty: &mut Novelty) {
        let edges = first_edge..first_edge + counts.len();
        for ((&count, &seen), &maximum) in counts.iter().zip(&self.seen[edges.clone()]).zip(&self.maximum[edges]) {
            let new = bucket(count) & !seen;
            novelty.bucket |= new != 0;
            novelty.edge |= new != 0 && seen == 0;
            novelty.maximum |= exceeds(count, maximum);
        }
    }

    /// Whether this count of an edge, or charge, clearly exceeds that of all entries.
    pub fn is_maximum(&self, edge: usize, count: u32) -> bool {
        exceeds(count, self.maximum.get(edge).copied().unwrap_or(0))
    }

    /// Compares the charges of one function, which have a maximum and no buckets: they are no edges.
    #[inline]
    pub fn compare_charges(&self, first: usize, charges: &[u32], novelty: &mut Novelty) {
        let maxima = charges.iter().zip(self.maximum.iter().skip(first));
        novelty.maximum |= maxima.into_iter().any(|(&now, &maximum)| exceeds(now, maximum));
    }

    /// Compares the memory of one function, whose maxima have to rise by any amount: as that of the whole run, which a larger
    /// part of it may hide.
    #[inline]
    pub fn compare_memory(&self, first: usize, amounts: &[u32], novelty: &mut Novelty) {
        let maxima = amounts.iter().zip(self.maximum.iter().skip(first));
        novelty.maximum |= maxima.into_iter().any(|(&now, &maximum)| now > maximum);
    }

    /// Adds the charges, or the memory, of one function of a new entry.
    pub fn learn_amounts(&mut self, first: usize, amounts: &[u32]) {
        for (maximum, &now) in self.maximum.iter_mut().skip(first).zip(amounts) {
            *maximum = now.max(*maximum);
        }
    }

    /// Compares the counts of one function of a valid run with those of valid entries; does nothing as long as all
    /// entries are valid.
    #[inline]
    pub fn compare_valid(&self, first_edge: usize, counts: &[u32], novelty: &mut Novelty) {
        let seen = self.seen_in_valid.iter().skip(first_edge);
        novelty.valid_edge |= counts.iter().zip(seen).any(|(&count, &seen)| bucket(count) & !seen != 0);
    }

    /// Prepares for a new entry: the first invalid one makes a table for valid ones.
    pub fn expect(&mut self, is_valid: bool) {
        if !is_valid && !self.has_invalid() {
            self.seen_in_valid.clone_from(&self.seen);
            self.valid_edges = self.edges_found;
        }
    }

    /// Adds the counts of one function of a new valid entry to those of valid entries. To be called beside
    /// [`Self::learn`].
    pub fn learn_valid(&mut self, first_edge: usize, counts: &[u32]) {
        for (seen, &count) in self.seen_in_valid.iter_mut().skip(first_edge).zip(counts) {
            self.valid_edges += usize::from(*seen == 0 && count != 0);
            *seen |= bucket(count);
        }
    }

    /// Compares the cost of a run, and sets `total` and `memory` of `novelty`.
    #[inline]
    pub fn compare_costs(&self, cost: &Cost, objective: &Objective, novelty: &mut Novelty) {
        novelty.total = cost[Resource::Instructions] > self.largest_total
            || objective.is_larger(objective.key(cost), self.largest_key);
        novelty.memory = Resource::KEPT.into_iter().zip(self.largest_memory).any(|((resource, from), largest)| {
            let amount = cost[resource];
            amount >= from && amount > largest + (largest >> MAXIMUM_STEP_SHIFT)
        });
    }

    /// Adds the counts of one function of a new entry.
    pub fn learn(&mut self, first_edge: usize, counts: &[u32]) {
        for (edge, &count) in (first_edge..).zip(counts) {
            self.edges_found += usize::from(self.seen[edge] == 0 && count != 0);
            self.seen[edge] |= bucket(count);
            self.maximum[edge] = self.maximum[edge].max(count);
        }
    }

    /// Adds the progress slots of one function of a new entry. A slot is new only once: it has no buckets, and no
    /// maximum that could rise.
    pub fn learn_progress(&mut self, first_slot: usize, slots: &[u32]) {
        for (slot, _) in (first_slot..).zip(slots).filter(|(_, hit)| **hit != 0) {
            self.progress_found += usize::from(self.seen[slot] == 0);
            self.seen[slot] = u8::MAX;
            self.maximum[slot] = u32::MAX;
        }
    }

    /// Sets the largest sort key, after that of an entry has turned out to be smaller.
    pub fn correct_key(&mut self, largest: u64) {
        self.largest_key = largest;
    }

    /// Adds the cost of a new entry.
    pub fn learn_costs(&mut self, cost: &Cost, objective: &Objective) {
        self.largest_total = self.largest_total.max(cost[Resource::Instructions]);
        // of a noisy resource, small steps would add up to noise that nothing exceeds
        let key = objective.key(cost);
        if objective.is_larger(key, self.largest_key) {
            self.largest_key = key;
        }
        for ((resource, _), largest) in Resource::KEPT.into_iter().zip(&mut self.largest_memory) {
            *largest = cost[resource].max(*largest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quagmire_cost::noise::NoiseFloor;

    fn novelty(history: &History, counts: &[u32]) -> Novelty {
        let mut novelty = Novelty::default();
        history.compare(0, counts, &mut novelty);
        novelty
    }

    #[test]
    fn a_bucket_is_new_once() {
        let mut history = History::default();
        history.grow(2);
        assert!(novelty(&history, &[5, 0]).edge);
        history.learn(0, &[5, 0]);
        assert!(!novelty(&history, &[5, 0]).any());
        assert!(!novelty(&history, &[4, 0]).any());
        assert_eq!(history.edges_found(), 1);
        let lower = novelty(&history, &[1, 0]);
        assert!(lower.bucket && !lower.edge && !lower.maximum);
    }

    #[test]
    fn what_an_invalid_entry_hit_is_new_once_more_when_a_valid_one_hits_it() {
        let mut history = History::default();
        history.grow(2);
        let valid_edge = |history: &History, counts: &[u32]| {
            let mut novelty = Novelty::default();
            history.compare_valid(0, counts, &mut novelty);
            novelty.valid_edge
        };
        let enter = |history: &mut History, counts: &[u32], is_valid| {
            history.expect(is_valid);
            if is_valid {
                history.learn_valid(0, counts);
            }
            history.learn(0, counts);
        };
        enter(&mut history, &[1, 0], true);
        assert!(!valid_edge(&history, &[1, 7]), "all entries are valid, and the other table tells");
        enter(&mut history, &[1, 1], false);
        assert_eq!((history.edges_found(), history.valid_edges_found()), (2, 1));
        assert!(valid_edge(&history, &[1, 1]) && !valid_edge(&history, &[1, 0]));
        enter(&mut history, &[1, 1], true);
        assert!(!valid_edge(&history, &[1, 1]) && valid_edge(&history, &[2, 1]));
        assert_eq!((history.edges_found(), history.valid_edges_found()), (2, 2));
    }

    #[test]
    fn a_maximum_has_to_rise_by_an_eighth() {
        let mut history = History::default();
        history.grow(1);
        history.learn(0, &[800]);
        assert!(!novelty(&history, &[900]).any());
        assert!(novelty(&history, &[901]).maximum);
        history.learn(0, &[u32::MAX]);
        assert!(!novelty(&history, &[u32::MAX]).any());
    }

    #[test]
    fn a_progress_slot_is_new_once_and_is_no_edge() {
        let mut history = History::default();
        history.grow(2);
        history.learn(0, &[1]);
        assert!(novelty(&history, &[1, 1]).any());
        history.learn_progress(1, &[1]);
        assert!(!novelty(&history, &[1, 7]).any());
        assert_eq!((history.edges_found(), history.progress_found()), (1, 1));
    }

    #[test]
    fn a_charge_is_no_edge_and_its_maximum_has_to_rise_by_an_eighth() {
        let mut history = History::default();
        history.grow(2);
        let compare = |history: &History, charge| {
            let mut novelty = Novelty::default();
            history.compare_charges(1, &[charge], &mut novelty);
            novelty
        };
        assert_eq!(compare(&history, 800), Novelty { maximum: true, ..Novelty::default() });
        history.learn_amounts(1, &[800]);
        assert!(!compare(&history, 900).any() && compare(&history, 901).any());
        assert_eq!((history.edges_found(), history.buckets_found()), (0, 0));
    }

    #[test]
    fn memory_of_a_place_is_new_however_little_it_rises() {
        let mut history = History::default();
        history.grow(3);
        history.learn_amounts(1, &[800, 64]);
        let is_new = |amounts: &[u32]| {
            let mut novelty = Novelty::default();
            history.compare_memory(1, amounts, &mut novelty);
            novelty.any()
        };
        assert!(!is_new(&[800, 64]) && is_new(&[0, 65]) && is_new(&[801, 0]));
    }

    #[test]
    fn every_larger_total_is_new_and_memory_has_to_rise_by_an_eighth() {
        let costs = |instructions, stack| {
            let objective = Objective::default();
            let mut history = History::default();
            history.learn_costs(&Cost::from([(Resource::Instructions, 100), (Resource::Stack, 8000)]), &objective);
            let mut novelty = Novelty::default();
            history.compare_costs(
                &Cost::from([(Resource::Instructions, instructions), (Resource::Stack, stack)]),
                &objective,
                &mut novelty,
            );
            (novelty.total, novelty.memory)
        };
        assert_eq!(costs(100, 9000), (false, false));
        assert_eq!(costs(101, 9001), (true, true));
    }

    #[test]
    fn entries_within_the_noise_do_not_raise_what_others_are_compared_with() {
        let objective = Objective::steered(Resource::Time, NoiseFloor::default());
        let run = |time| Cost::from([(Resource::Instructions, 100), (Resource::Time, time)]);
        let mut history = History::default();
        for time in [100_000, 105_000, 110_000, 112_000] {
            history.learn_costs(&run(time), &objective);
        }
        let is_new = |time| {
            let mut novelty = Novelty::default();
            history.compare_costs(&run(time), &objective, &mut novelty);
            novelty.total
        };
        assert!(!is_new(112_500) && is_new(113_000));
    }

    #[test]
    fn what_the_campaign_looks_for_is_new_however_little_it_rises() {
        let objective = Objective::new(&[Resource::Stack]);
        let mut history = History::default();
        history.learn_costs(&Cost::from([(Resource::Instructions, 100), (Resource::Stack, 8000)]), &objective);
        let mut novelty = Novelty::default();
        history.compare_costs(
            &Cost::from([(Resource::Instructions, 1), (Resource::Stack, 8001)]),
            &objective,
            &mut novelty,
        );
        assert!(novelty.total);
    }
}
