//! Top-rated entries: which entry is the best at which edge, bucket and total. An entry that is best at nothing is
//! dominated: other entries cover its edges for less, and every edge and total has a more expensive one. It is
//! evicted.

use serde::{Deserialize, Serialize};

use crate::EntryId;
use quagmire_cost::resource::{Cost, Resource};
use quagmire_execution::{bucket::bucket, region::Region};

const BUCKETS: usize = 8;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Entry {
    standing: Standing,
    /// Number of edges, buckets and totals at which it is best.
    titles: u32,
}

/// Number of entries that are parents by their score alone, of a program without edges.
const UNCOUNTED_PARENTS: usize = 64;

/// Number of totals that have a best entry: the sort key of the chosen costs, the instructions, and the resources of
/// [`Resource::KEPT`].
const TOTALS: usize = 2 + Resource::KEPT.len();

fn totals(of: &Standing) -> [u64; TOTALS] {
    std::array::from_fn(|total| match total {
        0 => of.key,
        1 => of.counted[Resource::Instructions],
        kept => of.counted[Resource::KEPT[kept - 2].0],
    })
}

/// Table of the entries that are best at something, and at what.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TopRated {
    entries: Vec<Option<Entry>>,
    /// For each edge and bucket, the cheapest entry that hits the edge in this bucket.
    cheapest: Vec<[EntryId; BUCKETS]>,
    /// For each edge, the entry that executes it most often, and its count. For a progress slot of a comparison, the
    /// entry that hits most of the function's slots, and how many: the search should go on from there. For a charge, and for
    /// memory, the entry with the largest amount.
    hottest: Vec<(EntryId, u32)>,
    /// Numbers of memory that some entry has used.
    memory: Vec<usize>,
    /// For each edge, the cheapest valid entry that hits it; empty as long as all entries are valid.
    cheapest_valid: Vec<EntryId>,
    /// For each total, the entry with the largest amount.
    most: [Option<EntryId>; TOTALS],
    /// Top-rated entries as (instructions, entry), the cheapest first.
    ranking: Vec<(u64, EntryId)>,
    /// Top-rated entries as (bits of the score, entry), the lowest score first. The bits of positive numbers sort as
    /// the numbers do.
    by_score: Vec<(u64, EntryId)>,
}

impl TopRated {
    /// Makes room for a program of this many edges.
    pub fn grow(&mut self, edges: usize) {
        if self.cheapest.len() < edges {
            self.cheapest.resize(edges, [EntryId::NONE; BUCKETS]);
            self.hottest.resize(edges, (EntryId::NONE, 0));
            if !self.cheapest_valid.is_empty() {
                self.cheapest_valid.resize(edges, EntryId::NONE);
            }
        }
    }

    /// Prepares for the first invalid entry: from now on, the cheapest valid entry of each edge is top-rated too.
    pub fn expect_invalid(&mut self) {
        if !self.cheapest_valid.is_empty() {
            return;
        }
        let mut cheapest_valid = vec![EntryId::NONE; self.cheapest.len()];
        for (edge, best) in cheapest_valid.iter_mut().enumerate() {
            for holder in self.cheapest[edge].into_iter().filter(|&holder| holder != EntryId::NONE) {
                if *best == EntryId::NONE || self.is_cheaper(holder, *best) {
                    *best = holder;
                }
            }
            if let Some(Some(entry)) = self.entries.get_mut(best.index()) {
                entry.titles += 1;
            }
        }
        self.cheapest_valid = cheapest_valid;
    }

    /// Whether all entries and edges that the table names exist, given the number of entries; a checkpoint file may
    /// hold anything.
    pub fn is_sound(&self, entries: usize) -> bool {
        let is_entry = |entry: EntryId| entry == EntryId::NONE || entry.index() < entries;
        self.entries.len() <= entries
            && self.cheapest.len() == self.hottest.len()
            && (self.cheapest_valid.is_empty() || self.cheapest_valid.len() == self.cheapest.len())
            && self.cheapest_valid.iter().all(|&entry| is_entry(entry))
            && self.cheapest.iter().flatten().all(|&entry| is_entry(entry))
            && self.hottest.iter().all(|&(entry, _)| is_entry(entry))
            && self.memory.iter().all(|&place| place < self.hottest.len())
            && self.most.iter().flatten().all(|&entry| entry.index() < entries)
            && self.ranking.iter().chain(&self.by_score).all(|&(_, entry)| entry.index() < entries)
    }

    /// Number of top-rated entries.
    pub fn active(&self) -> usize {
        self.ranking.len()
    }

    /// Top-rated entries with their instructions, the cheapest first.
    pub fn ranking(&self) -> &[(u64, EntryId)] {
        &self.ranking
    }

    /// Whether an entry is top-rated.
    pub fn is_active(&self, entry: EntryId) -> bool {
        self.entries.get(entry.index()).copied().flatten().is_some_and(|e| e.titles > 0)
    }

    /// Top-rated entries with the bits of their scores, the lowest score first.
    pub fn by_score(&self) -> &[(u64, EntryId)] {
        &self.by_score
    }

    /// Entries that are best at this edge; an entry may come several times.
    pub fn of_edge(&self, edge: usize) -> impl Iterator<Item = EntryId> {
        let cheapest = self.cheapest.get(edge).copied().unwrap_or([EntryId::NONE; BUCKETS]);
        let hottest = self.hottest.get(edge).map_or(EntryId::NONE, |&(entry, _)| entry);
        let valid = self.cheapest_valid.get(edge).copied().unwrap_or(EntryId::NONE);
        cheapest.into_iter().chain([hottest, valid]).filter(|&entry| entry != EntryId::NONE)
    }

    /// Number of places whose memory some entry has used.
    pub fn memory_places(&self) -> usize {
        self.memory.len()
    }

    /// Entry that uses most memory at one of these places, by its position among them.
    pub fn most_memory(&self, place: usize) -> Option<EntryId> {
        let (holder, _) = self.hottest[*self.memory.get(place)?];
        (holder != EntryId::NONE).then_some(holder)
    }

    /// Cost of an entry; `None` if it is not known.
    pub fn cost(&self, entry: EntryId) -> Option<&Cost> {
        self.standing(entry).map(|standing| &standing.cost)
    }

    /// Entry with the largest sort key: the most expensive one by the chosen costs.
    pub fn worst(&self) -> Option<EntryId> {
        self.most[0]
    }

    /// Number of top-rated entries whose score is above `least`: the last ones of [`Self::by_score`].
    pub fn scored_above(&self, least: f64) -> usize {
        self.by_score.len() - self.by_score.partition_point(|&(score, _)| score <= least.to_bits())
    }

    /// Changes the score of an entry.
    pub fn rescore(&mut self, entry: EntryId, score: f64) {
        let Some(Some(known)) = self.entries.get_mut(entry.index()) else { return };
        let before = std::mem::replace(&mut known.standing.score, score);
        if remove(&mut self.by_score, (before.to_bits(), entry)) {
            insert(&mut self.by_score, (score.to_bits(), entry));
        }
    }

    /// Changes the amount of the resource that is the sort key, of an entry that was measured again. Returns the largest sort key
    /// of all top-rated entries.
    pub fn correct(&mut self, entry: EntryId, resource: Resource, amount: u64) -> u64 {
        if let Some(Some(known)) = self.entries.get_mut(entry.index()) {
            let Standing { cost, counted, key, .. } = &mut known.standing;
            (cost[resource], counted[resource], *key) = (amount, amount, amount);
        }
        let holder = self.most[0];
        let active =
            self.by_score.iter().filter_map(|&(_, one)| Some((self.standing(one)?.key, Some(one) == holder, one)));
        let Some((largest, is_holder, worst)) = active.max() else { return 0 };
        if !is_holder {
            self.most[0] = Some(worst);
            self.entries[worst.index()].iter_mut().for_each(|known| known.titles += 1);
            let before = holder.and_then(|holder| self.entries.get_mut(holder.index())?.as_mut());
            // nothing is evicted here: the last title stays
            before.filter(|known| known.titles > 1).into_iter().for_each(|known| known.titles -= 1);
        }
        largest
    }

    /// Enters a kept input with all its counts, function by function. Returns the entries that are best at nothing any
    /// more; `entry` itself may be among them. Executing an edge of `maxima` most often makes it top-rated, and so does the
    /// largest charge or memory among them. An invalid entry needs [`Self::expect_invalid`] before.
    pub fn enter<'a>(
        &mut self,
        entry: EntryId,
        standing: Standing,
        is_valid: bool,
        maxima: Maxima<'_>,
        counts: impl Iterator<Item = CountsOfFunction<'a>>,
    ) -> Vec<EntryId> {
        if self.entries.len() <= entry.index() {
            self.entries.resize(entry.index() + 1, None);
        }
        self.entries[entry.index()] = Some(Entry { standing, titles: 0 });
        insert(&mut self.ranking, (standing.cost[Resource::Instructions], entry));
        insert(&mut self.by_score, (standing.score.to_bits(), entry));
        let mut evicted = Vec::new();
        for CountsOfFunction { first, all, branches, charges, memory } in counts {
            let (counts, slots) = all.split_at(branches);
            for (edge, &count) in (first..).zip(counts).filter(|(_, count)| **count != 0) {
                let slot = bucket(count).trailing_zeros() as usize;
                let holder = self.cheapest[edge][slot];
                if holder == EntryId::NONE || self.is_cheaper(entry, holder) {
                    self.cheapest[edge][slot] = entry;
                    self.pass_title(holder, entry, &mut evicted);
                }
                if is_valid {
                    self.challenge_valid(edge, entry, &mut evicted);
                }
                if maxima.have(edge) {
                    self.challenge_hottest(edge, entry, count, &mut evicted);
                }
            }
            let progress = slots.iter().filter(|slot| **slot != 0).count() as u32;
            for (slot, _) in (first + branches..).zip(slots).filter(|(_, hit)| **hit != 0) {
                self.challenge_hottest(slot, entry, progress, &mut evicted);
            }
            let is_maximum = |&(at, amount): &(usize, &u32)| maxima.have(at) && *amount != 0;
            for (at, &amount) in (charges.0..).zip(charges.1).filter(is_maximum) {
                self.challenge_hottest(at, entry, amount, &mut evicted);
            }
            for (at, &amount) in memory.into_iter().flat_map(|(first, some)| (first..).zip(some)).filter(is_maximum) {
                if self.hottest[at].1 == 0 && !self.memory.contains(&at) {
                    self.memory.push(at);
                }
                self.challenge_hottest(at, entry, amount, &mut evicted);
            }
        }
        for (total, amount) in totals(&standing).into_iter().enumerate().filter(|&(_, amount)| amount > 0) {
            let holder = self.most[total].unwrap_or(EntryId::NONE);
            let larger = |of: &Standing| {
                let most = totals(of)[total];
                amount > most || (amount == most && standing.bytes < of.bytes)
            };
            if self.standing(holder).is_none_or(larger) {
                self.most[total] = Some(entry);
                self.pass_title(holder, entry, &mut evicted);
            }
        }
        if self.cheapest.is_empty() {
            self.enter_by_score(entry, &mut evicted);
        }
        // there is a parent also where no input has reached code that is counted
        if self.most[0].is_none() && !self.is_active(entry) {
            self.most[0] = Some(entry);
            self.pass_title(EntryId::NONE, entry, &mut evicted);
        }
        if !self.is_active(entry) {
            evicted.push(entry);
        }
        for &loser in &evicted {
            let Some(standing) = self.standing(loser).copied() else { continue };
            remove(&mut self.ranking, (standing.cost[Resource::Instructions], loser));
            remove(&mut self.by_score, (standing.score.to_bits(), loser));
        }
        evicted
    }

    /// Takes all titles from an entry whose input is lost. Those of edges go to whoever comes next, those of totals to the
    /// entry with the largest amount.
    pub fn forget(&mut self, entry: EntryId) {
        let Some(known) = self.entries.get_mut(entry.index()) else { return };
        *known = None;
        let none = |holder: &mut EntryId| {
            if *holder == entry {
                *holder = EntryId::NONE;
            }
        };
        self.cheapest.iter_mut().flatten().chain(&mut self.cheapest_valid).for_each(none);
        self.hottest
            .iter_mut()
            .filter(|(holder, _)| *holder == entry)
            .for_each(|hottest| *hottest = (EntryId::NONE, 0));
        self.ranking.retain(|&(_, ranked)| ranked != entry);
        self.by_score.retain(|&(_, ranked)| ranked != entry);
        for total in (0..TOTALS).filter(|&total| self.most[total] == Some(entry)).collect::<Vec<_>>() {
            let amounts = self.by_score.iter().filter_map(|&(_, one)| Some((totals(self.standing(one)?)[total], one)));
            let next = amounts.filter(|&(amount, _)| amount > 0).max().map(|(_, one)| one);
            self.most[total] = next;
            next.and_then(|next| self.entries[next.index()].as_mut()).into_iter().for_each(|next| next.titles += 1);
        }
    }

    /// Gives an entry of a program without edges a title for its score, and takes that of the lowest score if there are too
    /// many.
    fn enter_by_score(&mut self, entry: EntryId, evicted: &mut Vec<EntryId>) {
        let Some(Some(known)) = self.entries.get_mut(entry.index()) else { return };
        known.titles += 1;
        if self.by_score.len() > UNCOUNTED_PARENTS
            && let Some(&(_, lowest)) =
                self.by_score.iter().find(|&&(_, one)| self.most.iter().all(|&most| most != Some(one)))
            && let Some(Some(loser)) = self.entries.get_mut(lowest.index())
        {
            loser.titles -= 1;
            if loser.titles == 0 && lowest != entry {
                evicted.push(lowest);
            }
        }
    }

    fn challenge_valid(&mut self, edge: usize, entry: EntryId, evicted: &mut Vec<EntryId>) {
        let Some(&holder) = self.cheapest_valid.get(edge) else { return };
        if holder == EntryId::NONE || self.is_cheaper(entry, holder) {
            self.cheapest_valid[edge] = entry;
            self.pass_title(holder, entry, evicted);
        }
    }

    fn challenge_hottest(&mut self, edge: usize, entry: EntryId, count: u32, evicted: &mut Vec<EntryId>) {
        let (holder, most) = self.hottest[edge];
        if count > most || (count == most && self.is_cheaper(entry, holder)) {
            self.hottest[edge] = (entry, count);
            self.pass_title(holder, entry, evicted);
        }
    }

    /// Figures of an entry; `None` if it is not known.
    pub fn standing(&self, entry: EntryId) -> Option<&Standing> {
        self.entries.get(entry.index())?.as_ref().map(|entry| &entry.standing)
    }

    fn is_cheaper(&self, entry: EntryId, than: EntryId) -> bool {
        match (self.standing(entry), self.standing(than)) {
            (Some(a), Some(b)) => (a.cost.work(), a.bytes) < (b.cost.work(), b.bytes),
            _ => false,
        }
    }

    fn pass_title(&mut self, from: EntryId, to: EntryId, evicted: &mut Vec<EntryId>) {
        if from == to {
            return;
        }
        if let Some(Some(loser)) = self.entries.get_mut(from.index()) {
            loser.titles -= 1;
            if loser.titles == 0 {
                evicted.push(from);
            }
        }
        if let Some(Some(winner)) = self.entries.get_mut(to.index()) {
            winner.titles += 1;
        }
    }
}

fn insert(ranking: &mut Vec<(u64, EntryId)>, item: (u64, EntryId)) {
    let place = ranking.partition_point(|&ranked| ranked < item);
    ranking.insert(place, item);
}

/// Removes an item from a sorted list; returns whether it was in it.
fn remove(ranking: &mut Vec<(u64, EntryId)>, item: (u64, EntryId)) -> bool {
    ranking.binary_search(&item).map(|place| ranking.remove(place)).is_ok()
}

/// Figures of an entry that decide what it is best at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// Cost of its run.
    pub cost: Cost,
    /// Cost by which it may be the most expensive one: that of its run, or of the places that the search works towards.
    pub counted: Cost,
    /// Size in bytes.
    pub bytes: u64,
    /// Sort key of the counted cost, by [`Objective::key`](crate::corpus::objective::Objective::key).
    pub key: u64,
    /// Perun's score, above 0: how good a parent it is.
    pub score: f64,
}

/// Counts of a function in a run.
#[derive(Clone, Copy, Debug)]
pub struct CountsOfFunction<'a> {
    /// Number of its first edge.
    pub first: usize,
    /// Counts of its branches, followed by its progress slots.
    pub all: &'a [u32],
    /// Number of its branches.
    pub branches: usize,
    /// Number of its first charge, and its charges.
    pub charges: (usize, &'a [u32]),
    /// The same of its stack, and of what its calls of allocators got.
    pub memory: [(usize, &'a [u32]); 2],
}

impl<'a> CountsOfFunction<'a> {
    /// Creates the counts of a function that has nothing but branches.
    #[cfg(test)]
    pub(crate) fn branches(first: usize, all: &'a [u32]) -> Self {
        Self {
            first,
            all,
            branches: all.len(),
            charges: (first + all.len(), &[]),
            memory: [(first + all.len(), &[]); 2],
        }
    }
}

/// Edges, charges and memory, whose largest counts make an entry top-rated.
#[derive(Clone, Copy, Debug)]
pub enum Maxima<'a> {
    /// All of them.
    All,
    /// None of them.
    None,
    /// Those of a part of the program.
    Of(&'a Region),
}

impl Maxima<'_> {
    /// Whether an edge is one of them.
    pub(super) fn have(self, edge: usize) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Of(region) => region.has(edge),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::id;

    fn ids(numbers: &[u32]) -> Vec<EntryId> {
        numbers.iter().copied().map(id).collect()
    }

    fn enter(top_rated: &mut TopRated, entry: u32, instructions: u64, counts: &[u32]) -> Vec<EntryId> {
        top_rated.grow(counts.len());
        let cost = Cost::from([(Resource::Instructions, instructions)]);
        let standing = Standing { cost, counted: cost, bytes: 10, key: instructions, score: instructions as f64 };
        top_rated.enter(id(entry), standing, true, Maxima::All, std::iter::once(CountsOfFunction::branches(0, counts)))
    }

    #[test]
    fn a_progress_slot_belongs_to_the_entry_with_most_of_them() {
        let mut top_rated = TopRated::default();
        top_rated.grow(4);
        let mut enter = |entry, instructions, slots: [u32; 3]| {
            let cost = Cost::from([(Resource::Instructions, instructions)]);
            let standing = Standing { cost, counted: cost, bytes: 10, key: 0, score: 1.0 };
            let counts = [1, slots[0], slots[1], slots[2]];
            top_rated.enter(
                id(entry),
                standing,
                true,
                Maxima::All,
                std::iter::once(CountsOfFunction {
                    first: 0,
                    all: &counts,
                    branches: 1,
                    charges: (4, &[]),
                    memory: [(4, &[]); 2],
                }),
            )
        };
        assert!(enter(0, 50, [0, 0, 0]).is_empty());
        assert!(enter(1, 60, [1, 0, 0]).is_empty());
        assert!(enter(2, 70, [0, 0, 1]).is_empty());
        // further than both, although it costs more: only the one that is cheapest where the branch goes stays
        assert_eq!(enter(3, 80, [1, 1, 1]), ids(&[1, 2]));
        assert_eq!(enter(4, 40, [0, 1, 0]), ids(&[0]));
    }

    #[test]
    fn a_dominated_entry_is_set_aside_and_its_coverage_stays_owned() {
        let mut top_rated = TopRated::default();
        assert!(enter(&mut top_rated, 0, 100, &[1, 5]).is_empty());
        // the same coverage for less, but neither the total nor a maximum: both stay
        assert!(enter(&mut top_rated, 1, 50, &[1, 4]).is_empty());
        // more of everything: entry 0 has lost its titles
        assert_eq!(enter(&mut top_rated, 2, 200, &[2, 9]), ids(&[0]));
        assert!(top_rated.is_active(id(1)) && top_rated.is_active(id(2)) && !top_rated.is_active(id(0)));
        assert_eq!(top_rated.ranking(), [(50, id(1)), (200, id(2))]);
        assert_eq!(top_rated.worst(), Some(id(2)));
    }

    #[test]
    fn an_entry_that_is_best_at_nothing_falls_at_once() {
        let mut top_rated = TopRated::default();
        enter(&mut top_rated, 0, 100, &[4]);
        assert_eq!(enter(&mut top_rated, 1, 100, &[4]), ids(&[1]));
        assert_eq!(top_rated.active(), 1);
    }

    #[test]
    fn an_entry_that_reaches_nothing_is_a_parent_until_there_is_another() {
        let mut top_rated = TopRated::default();
        assert!(enter(&mut top_rated, 0, 0, &[0, 0]).is_empty());
        assert_eq!(enter(&mut top_rated, 1, 0, &[0, 0]), ids(&[1]));
        assert_eq!(top_rated.active(), 1);
        assert_eq!(enter(&mut top_rated, 2, 7, &[1, 0]), ids(&[0]));
        assert_eq!(top_rated.worst(), Some(id(2)));
    }

    #[test]
    fn without_counts_the_best_scores_are_parents() {
        let mut top_rated = TopRated::default();
        let mut enter = |entry, time: u64| {
            let cost = Cost::from([(Resource::Time, time)]);
            let standing = Standing { cost, counted: cost, bytes: 10, key: time, score: time as f64 };
            top_rated.enter(id(entry), standing, true, Maxima::All, std::iter::empty())
        };
        for entry in 0..UNCOUNTED_PARENTS as u32 {
            assert!(enter(entry, 100 + u64::from(entry)).is_empty());
        }
        let next = UNCOUNTED_PARENTS as u32;
        assert_eq!(enter(next, 1000), ids(&[0]));
        assert_eq!(enter(next + 1, 1), ids(&[next + 1]), "it is the lowest itself");
        assert_eq!(enter(next + 2, 500), ids(&[1]));
        assert_eq!(top_rated.active(), UNCOUNTED_PARENTS);
        assert_eq!(top_rated.worst(), Some(id(next)));
    }

    #[test]
    fn an_entry_that_was_measured_wrongly_is_the_most_expensive_no_longer() {
        let mut top_rated = TopRated::default();
        for (entry, amount) in [(0, 100), (1, 120), (2, 200)] {
            assert!(enter(&mut top_rated, entry, amount, &[]).is_empty());
        }
        assert_eq!(top_rated.correct(id(2), Resource::Instructions, 104), 120);
        assert_eq!((top_rated.worst(), top_rated.active()), (Some(id(1)), 3));
        assert_eq!(top_rated.standing(id(2)).map(|of| (of.key, of.cost[Resource::Instructions])), Some((104, 104)));
        assert!(enter(&mut top_rated, 3, 130, &[]).is_empty());
        assert_eq!(top_rated.worst(), Some(id(3)));
        assert_eq!(top_rated.correct(id(0), Resource::Instructions, 90), 130, "another one is the most expensive");
    }

    #[test]
    fn an_entry_that_is_lost_leaves_its_titles_to_others() {
        let mut top_rated = TopRated::default();
        enter(&mut top_rated, 0, 100, &[1, 5]);
        enter(&mut top_rated, 1, 200, &[1, 9]);
        top_rated.forget(id(1));
        assert_eq!((top_rated.worst(), top_rated.active(), top_rated.is_active(id(1))), (Some(id(0)), 1, false));
        assert_eq!((top_rated.ranking(), top_rated.of_edge(1).collect()), (&[(100, id(0))][..], ids(&[0])));
        assert!(top_rated.is_sound(2));
        // a count that only the lost one had is new
        assert!(enter(&mut top_rated, 2, 150, &[1, 8]).is_empty());
        assert_eq!((top_rated.worst(), top_rated.of_edge(1).collect()), (Some(id(2)), ids(&[0, 2, 2])));
    }

    #[test]
    fn scores_rank_the_entries_that_are_best_at_something() {
        let mut top_rated = TopRated::default();
        enter(&mut top_rated, 0, 100, &[1, 5]);
        enter(&mut top_rated, 1, 50, &[1, 4]);
        let entries = |top_rated: &TopRated| top_rated.by_score().iter().map(|&(_, entry)| entry).collect::<Vec<_>>();
        assert_eq!(entries(&top_rated), ids(&[1, 0]));
        top_rated.rescore(id(1), 150.5);
        assert_eq!(entries(&top_rated), ids(&[0, 1]));
        enter(&mut top_rated, 2, 200, &[2, 9]);
        top_rated.rescore(id(0), 1e9);
        assert_eq!(entries(&top_rated), ids(&[1, 2]));
    }
}
