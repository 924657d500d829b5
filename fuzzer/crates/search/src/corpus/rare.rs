//! Rare branches, as in FairFuzz: the choice of the branch to work on, and of an entry that hits it.
//!
//! Here the branch is chosen first, and an entry that hits it, both by the work that was spent on them: expensive inputs
//! come up more rarely. FairFuzz goes round the queue and skips entries that hit no rare branch, which can stall when no
//! entry does; every branch here has its entries.

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use super::{effort::OVERHEAD, top_rated::TopRated, towards::Towards};
use crate::{EntryId, mask::cutoff};
use quagmire_cost::resource::Cost;

/// Number of entries remembered for each branch: the latest ones, beside the top-rated ones.
const HITTERS: usize = 8;

/// Smallest number of rounds without a find after which a bootstrap begins; with more rare branches than this, one
/// round for each.
const SHORTEST_CYCLE: u64 = 16;

/// Length of a bootstrap that finds nothing, as a multiple of the cycle before it.
const BOOTSTRAP: u64 = 2;

/// Number of reads of other campaigns' hits after which a branch that another campaign has found is worked on here as
/// well, unless its hits are known before.
const READS: u8 = 2;

/// Largest work on one branch, as a multiple of one run of the middling entry for each round so far. Without a limit, a branch
/// that only expensive inputs hit stays rare and takes all of the time. Rounds of expensive entries make about this many times
/// fewer runs than others.
const AHEAD: u64 = 8;

/// Number of records of work below which those of evicted entries are not removed.
const FEW: usize = 1 << 12;

/// Mode of the search for new behaviour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    /// Ordinary rounds at the start, until hits are meaningful.
    #[default]
    Opening,
    /// Rare branches are goals.
    Rare,
    /// Ordinary rounds after a cycle without a find, until something is found.
    Bootstrap,
}

/// State of the rare branches, for the display and the summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rarity {
    /// Rarity cutoff: branches with no more hits are rare; 0 before the first rare round.
    pub cutoff: u64,
    /// Number of rare branches.
    pub branches: u64,
    /// Number of branches that are left alone for a while: they could not be hit again, or are too expensive.
    pub paused: u64,
}

/// Hits, work and entries of each branch, from which the next goal is chosen. Branches are known by their edge
/// numbers.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct RareBranches {
    /// For each branch, how many runs have hit it.
    pub hits: Vec<u64>,
    /// For each branch, how many runs of other campaigns over the same program have hit it, as far as that is known;
    /// may be shorter.
    hits_of_others: Vec<u64>,
    /// Branches that other campaigns have found and whose hits are not known yet, with the number of reads to wait for
    /// them.
    #[serde(skip)]
    awaited: HashMap<u32, u8>,
    /// Share of the branches that this client works on first.
    #[serde(skip)]
    pub part: ClientPart,
    /// For each branch, the latest entries that hit it, the newest first.
    hitters: Vec<[EntryId; HITTERS]>,
    /// Branches that entries hit, in ascending order: others cost no time.
    known: Vec<u32>,
    /// For each branch, the work of the rounds that had it as goal: instructions and overhead of one run for each
    /// round.
    work: Vec<u64>,
    /// The same work for each entry and goal.
    work_of_entry: HashMap<(EntryId, u32), u64>,
    /// Size of `work_of_entry` after records of evicted entries were removed last.
    after_removal: usize,
    paused: HashMap<u32, Pause>,
    mode: Mode,
    /// Number of all rounds for coverage, and of those in this mode since something new was found.
    all: u64,
    since_new: u64,
    /// Length of the cycle that ended the last rare mode, in rounds.
    cycle: u64,
    latest: Rarity,
    /// Next entry in the opening: those with smaller numbers had their turn.
    turn: EntryId,
    /// Number of bootstraps so far.
    pub bootstraps: u64,
    /// Whether bootstraps are turned off (`--no-bootstrap`).
    #[serde(skip)]
    pub no_bootstrap: bool,
}

impl RareBranches {
    /// Whether all branches and entries that the tables name exist, given the number of entries; a checkpoint file may
    /// hold anything.
    pub fn is_sound(&self, entries: usize) -> bool {
        let branches = self.hitters.len();
        self.work.len() == branches
            && self.hits.len() >= branches
            && self.known.iter().all(|&branch| (branch as usize) < branches)
            && self.hitters.iter().flatten().all(|&entry| entry == EntryId::NONE || entry.index() < entries)
    }

    /// Makes room for a program of this many edges.
    pub fn grow(&mut self, edges: usize) {
        if self.hitters.len() < edges {
            self.hitters.resize(edges, [EntryId::NONE; HITTERS]);
            self.work.resize(edges, 0);
            self.hits.resize(edges.max(self.hits.len()), 0);
        }
    }

    /// Enters an entry that hits these branches; `new` tells whether it shows new behaviour.
    pub fn enter(&mut self, entry: EntryId, new: bool, branches: impl Iterator<Item = usize>) {
        for branch in branches {
            let hitters = &mut self.hitters[branch];
            if hitters[0] == EntryId::NONE {
                let place = self.known.partition_point(|&known| (known as usize) < branch);
                self.known.insert(place, branch as u32);
            }
            hitters.rotate_right(1);
            hitters[0] = entry;
        }
        if new {
            self.since_new = 0;
            if self.mode == Mode::Bootstrap {
                self.mode = Mode::Rare;
            }
        }
    }

    /// Marks the branches that `entry` is the first to hit here as found by another campaign: they wait for that
    /// campaign's hits.
    pub fn leave_to_others(&mut self, entry: EntryId, branches: impl Iterator<Item = usize>) {
        let first =
            branches.filter(|&branch| matches!(self.hitters[branch], [only, EntryId::NONE, ..] if only == entry));
        self.awaited.extend(first.map(|branch| (branch as u32, READS)));
    }

    /// Replaces the hits of other campaigns, by branch number. Branches that waited for them are free once they have
    /// hits, or after `READS` calls.
    pub fn learn_hits_of_others(&mut self, hits: Vec<u64>) {
        self.hits_of_others = hits;
        let hits = &self.hits_of_others;
        self.awaited.retain(|&branch, reads| {
            *reads -= 1;
            *reads > 0 && hits.get(branch as usize).is_none_or(|&hits| hits == 0)
        });
    }

    /// State of the rare branches at the latest choice.
    pub fn latest(&self) -> Rarity {
        self.latest
    }

    /// Current mode.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Begins a round for coverage, of a campaign with `seeds` seeds. Returns the rare branch, one that `towards` admits, and
    /// the entry to work on, or `None` for an ordinary round.
    pub fn begin_round(&mut self, seeds: u64, top_rated: &TopRated, towards: &Towards) -> Option<(u32, EntryId)> {
        self.all += 1;
        self.since_new += 1;
        match self.mode {
            Mode::Opening if self.all <= seeds => return None,
            Mode::Opening => (self.mode, self.since_new) = (Mode::Rare, 1),
            Mode::Bootstrap if self.since_new <= BOOTSTRAP * self.cycle && !self.no_bootstrap => return None,
            Mode::Bootstrap => (self.mode, self.since_new) = (Mode::Rare, 1),
            Mode::Rare => {
                let cycle = self.latest.branches.max(SHORTEST_CYCLE);
                if self.since_new > cycle && !self.no_bootstrap {
                    (self.mode, self.since_new, self.cycle) = (Mode::Bootstrap, 1, cycle);
                    self.bootstraps += 1;
                    return None;
                }
            }
        }
        self.choose(top_rated, towards)
    }

    /// Next entry in the opening; `None` in other modes. Top-rated entries come one after the other, in the order in
    /// which they were entered: seeds first.
    pub fn next_in_opening(&mut self, top_rated: &TopRated) -> Option<EntryId> {
        if self.mode != Mode::Opening {
            return None;
        }
        let entries = top_rated.ranking().iter().map(|&(_, entry)| entry);
        let next = entries.min_by_key(|&entry| (entry < self.turn, entry))?;
        self.turn = next.next();
        Some(next)
    }

    fn is_paused(&self, branch: usize) -> bool {
        !self.paused.is_empty() && self.paused.get(&(branch as u32)).is_some_and(|pause| pause.is_on(self.all))
    }

    /// Chooses the rare branch that was worked on least if a run of its entry is added, and of the entries that hit it the
    /// one of which the same is true; a run's work is added to both. Branches whose entries are too expensive wait, and are
    /// set aside if they are all that is rare. Branches are rare among those that `towards` admits, and of these among those
    /// of this client, if it has any.
    fn choose(&mut self, top_rated: &TopRated, towards: &Towards) -> Option<(u32, EntryId)> {
        let is_free = |branch: usize| !self.is_paused(branch) && !self.awaited.contains_key(&(branch as u32));
        let is_wanted = |branch: usize| towards.admits(self.all, branch) && is_free(branch);
        let all = || self.known.iter().map(|&branch| branch as usize).filter(|&branch| is_wanted(branch));
        let has_part = all().any(|branch| self.part.has(branch));
        let known = || all().filter(|&branch| !has_part || self.part.has(branch));
        // hits of other campaigns come from files, and may be any numbers
        let others = |branch: usize| self.hits_of_others.get(branch).copied().unwrap_or(0);
        let hits = |branch: usize| self.hits[branch].saturating_add(others(branch));
        let least = known().map(hits).min()?;
        let cutoff = cutoff(least);
        let rare = known().filter(|&branch| hits(branch) <= cutoff);
        let work = |entry| top_rated.cost(entry).map_or(0, Cost::work) + OVERHEAD;
        let entry_for = |branch: usize| {
            let worked = |entry| self.work_of_entry.get(&(entry, branch as u32)).copied().unwrap_or(0);
            self.entries_of(branch, top_rated).min_by_key(|&entry| (worked(entry) + work(entry), entry))
        };
        let (ranking, mut branches, mut dear) = (top_rated.ranking(), 0, Vec::new());
        let middling = ranking.get(ranking.len() / 2).map_or(OVERHEAD, |&(_, entry)| work(entry));
        let affordable = middling.saturating_mul(self.all).saturating_mul(AHEAD);
        let best = rare
            .inspect(|_| branches += 1)
            .filter_map(|branch| Some((branch, entry_for(branch)?)))
            .filter(|&(branch, entry)| {
                let is_affordable = self.work[branch] + work(entry) <= affordable;
                dear.extend((!is_affordable).then_some(branch as u32));
                is_affordable
            })
            .min_by_key(|&(branch, entry)| (self.work[branch] + work(entry), hits(branch), branch));
        let paused = self.paused.values().filter(|pause| pause.is_on(self.all)).count() as u64;
        self.latest = Rarity { cutoff, branches, paused };
        let Some((branch, entry)) = best else {
            dear.into_iter().for_each(|branch| self.set_aside(branch));
            return None;
        };
        let (target, done) = (branch as u32, work(entry));
        self.work[branch] += done;
        *self.work_of_entry.entry((entry, target)).or_default() += done;
        self.forget(top_rated);
        Some((target, entry))
    }

    /// Top-rated entries that hit one of the branches for which `is_wanted` holds, as far as entries of branches are remembered,
    /// each once, the cheapest first.
    pub fn entries_at(&self, top_rated: &TopRated, is_wanted: impl Fn(usize) -> bool) -> Vec<EntryId> {
        let branches = self.known.iter().map(|&branch| branch as usize).filter(|&branch| is_wanted(branch));
        let entries = branches.flat_map(|branch| self.entries_of(branch, top_rated));
        let ranked = entries.map(|entry| (top_rated.cost(entry).map_or(0, Cost::work), entry));
        ranked.collect::<BTreeSet<_>>().into_iter().map(|(_, entry)| entry).collect()
    }

    /// Top-rated entries that are known to hit a branch; one may come several times.
    fn entries_of(&self, branch: usize, top_rated: &TopRated) -> impl Iterator<Item = EntryId> {
        let entries = self.hitters[branch].into_iter().chain(top_rated.of_edge(branch));
        entries.filter(|&entry| entry != EntryId::NONE && top_rated.is_active(entry))
    }

    /// Removes the records of evicted entries, each time that the table has doubled.
    fn forget(&mut self, top_rated: &TopRated) {
        if self.work_of_entry.len() > 2 * self.after_removal.max(FEW) {
            self.work_of_entry.retain(|&(entry, _), _| top_rated.is_active(entry));
            self.after_removal = self.work_of_entry.len();
        }
    }

    /// Leaves a branch alone for a while, since its entry did not hit it or is too expensive.
    pub fn set_aside(&mut self, branch: u32) {
        self.paused.entry(branch).or_default().begin(self.all);
    }
}

/// Number of consecutive branches that belong to the same client.
const NEIGHBOURS: usize = 4;

/// Share of the branches that a client works on first, where several clients share the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientPart {
    /// Number of the client, from 0.
    pub number: u32,
    /// Number of clients, at least 1.
    pub of: u32,
}

impl Default for ClientPart {
    fn default() -> Self {
        Self { number: 0, of: 1 }
    }
}

impl ClientPart {
    /// Whether a branch belongs to this client.
    fn has(self, branch: usize) -> bool {
        // neighbours go to the same client: their masks are alike
        (branch / NEIGHBOURS) as u32 % self.of == self.number
    }
}

/// Rounds that the first pause of a branch lasts; each further one is twice as long, `LONGEST_PAUSE` times at most.
const FIRST_PAUSE: u64 = 64;
const LONGEST_PAUSE: u32 = 12;

/// The latest pause of a branch.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Pause {
    until: u64,
    times: u32,
}

impl Pause {
    /// Begins the next pause in this round.
    fn begin(&mut self, round: u64) {
        self.until = round + (FIRST_PAUSE << self.times);
        self.times = (self.times + 1).min(LONGEST_PAUSE);
    }

    /// Whether it is on in this round.
    fn is_on(self, round: u64) -> bool {
        round < self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::top_rated::{CountsOfFunction, Maxima, Standing};
    use crate::entry::id;
    use quagmire_cost::resource::Resource;

    /// Entries 0, 1, ..., each of which hits these branches once, and the hits of all branches.
    fn scene(entries: &[&[usize]], hits: &[u64]) -> (RareBranches, TopRated) {
        scene_of(&entries.iter().copied().zip((0..=100).rev()).collect::<Vec<_>>(), hits)
    }

    /// The same, of entries with these costs.
    fn scene_of(entries: &[(&[usize], u64)], hits: &[u64]) -> (RareBranches, TopRated) {
        let (mut rare, mut top_rated) = (RareBranches::default(), TopRated::default());
        rare.grow(hits.len());
        top_rated.grow(hits.len());
        rare.hits = hits.to_vec();
        for (entry, &(branches, cost)) in entries.iter().enumerate() {
            let counts: Vec<u32> = (0..hits.len()).map(|branch| u32::from(branches.contains(&branch))).collect();
            let cost = Cost::from([(Resource::Instructions, cost)]);
            let standing = Standing { cost, counted: cost, bytes: 1, key: 1, score: 1.0 };
            top_rated.enter(
                EntryId::at(entry),
                standing,
                true,
                Maxima::All,
                std::iter::once(CountsOfFunction::branches(0, &counts)),
            );
            rare.enter(EntryId::at(entry), true, branches.iter().copied());
        }
        (rare, top_rated)
    }

    /// Begins a round of a search that works towards nothing.
    fn begin(rare: &mut RareBranches, seeds: u64, top_rated: &TopRated) -> Option<(u32, EntryId)> {
        rare.begin_round(seeds, top_rated, &Towards::default())
    }

    #[test]
    fn rare_branches_are_worked_on_in_turn_and_all_others_not() {
        let (mut rare, top_rated) = scene(&[&[0, 1], &[0, 2], &[3]], &[100, 3, 4, 5]);
        assert_eq!(begin(&mut rare, 1, &top_rated), None);
        let chosen: Vec<_> = (0..4).map(|_| begin(&mut rare, 1, &top_rated)).collect();
        // the second entry is a little cheaper
        assert_eq!(chosen, [Some((2, id(1))), Some((1, id(0))), Some((2, id(1))), Some((1, id(0)))]);
        assert_eq!(rare.latest(), Rarity { cutoff: 4, branches: 2, paused: 0 });
    }

    #[test]
    fn in_the_opening_each_entry_that_is_best_at_something_gets_its_turn() {
        // the first is the most expensive one, the last the cheapest
        let (mut rare, top_rated) = scene(&[&[0], &[0], &[0], &[0, 3]], &[9, 1, 1, 1]);
        let mut opened = || begin(&mut rare, 4, &top_rated).map_or_else(|| rare.next_in_opening(&top_rated), |_| None);
        let opened: Vec<_> = (0..5).map(|_| opened()).collect();
        let active: Vec<EntryId> = (0..4).map(id).filter(|&entry| top_rated.is_active(entry)).collect();
        assert!(active.len() == 2 && active == [id(0), id(3)], "{active:?}");
        assert_eq!(opened, [Some(id(0)), Some(id(3)), Some(id(0)), Some(id(3)), None]);
        assert_eq!(rare.next_in_opening(&top_rated), None);
    }

    #[test]
    fn a_branch_of_expensive_entries_waits_until_it_is_a_part_of_the_work() {
        let cheap = 98;
        let expensive = 10 * AHEAD * (cheap + OVERHEAD);
        let (mut rare, top_rated) = scene_of(&[(&[0], cheap), (&[1], cheap), (&[2], expensive)], &[9, 2, 1]);
        rare.no_bootstrap = true;
        let mut begin = || begin(&mut rare, 0, &top_rated);
        assert_eq!((begin(), begin()), (None, Some((1, id(1)))), "set aside, and the next one is rare");
        assert!((2..11).all(|_| begin() == Some((1, id(1)))) && (11..100).any(|_| begin() == Some((2, id(2)))));
    }

    #[test]
    fn campaigns_that_share_the_work_begin_with_different_branches() {
        let (mut rare, top_rated) = scene(&[&[0, 1], &[9], &[5]], &[100, 3, 0, 0, 0, 3, 0, 0, 0, 3]);
        rare.part = ClientPart { number: 1, of: 2 };
        // 1 and 9 belong to the other one
        assert_eq!((0..3).map(|_| begin(&mut rare, 0, &top_rated)).collect::<Vec<_>>(), [Some((5, id(2))); 3]);
        assert_eq!(rare.latest(), Rarity { cutoff: 4, branches: 1, paused: 0 });
        rare.learn_hits_of_others(vec![0, 0, 0, 0, 0, 20]);
        assert_eq!(begin(&mut rare, 0, &top_rated), Some((5, id(2))), "the rarest of its own");
        rare.set_aside(5);
        assert!(matches!(begin(&mut rare, 0, &top_rated), Some((1 | 9, _))), "nothing of its own to do");
    }

    #[test]
    fn what_others_have_found_waits_until_they_have_told_their_hits() {
        let (mut rare, top_rated) = scene(&[&[0, 1], &[0, 2, 3]], &[100, 20, 1, 1]);
        rare.leave_to_others(id(1), [0, 2, 3].into_iter());
        let mut target = |hits: &[u64]| {
            rare.learn_hits_of_others(hits.to_vec());
            begin(&mut rare, 0, &top_rated).map(|(branch, _)| branch)
        };
        assert_eq!(target(&[]), Some(1));
        assert_eq!(target(&[]), Some(2), "nobody has told");
        assert_eq!(target(&[]), Some(3), "no longer awaited either");

        let (mut rare, top_rated) = scene(&[&[0, 1], &[0, 2, 3]], &[100, 20, 1, 1]);
        rare.leave_to_others(id(1), [0, 2, 3].into_iter());
        rare.learn_hits_of_others(vec![0, 0, 70]);
        assert_eq!(begin(&mut rare, 0, &top_rated), Some((1, id(0))), "2 is not rare, 3 is awaited");
    }

    #[test]
    fn the_entries_of_a_branch_take_turns() {
        let (mut rare, top_rated) = scene(&[&[0, 1], &[0, 1, 2], &[1, 3]], &[100, 1, 90, 90]);
        let chosen: Vec<_> = (0..6).map(|_| begin(&mut rare, 0, &top_rated)).collect();
        // the cheapest first
        assert_eq!(chosen, [2, 1, 0, 2, 1, 0].map(|entry| Some((1, id(entry)))));
    }

    #[test]
    fn what_cannot_be_hit_again_is_left_alone_and_comes_back() {
        let (mut rare, top_rated) = scene(&[&[0, 1], &[2]], &[9, 1, 1]);
        rare.no_bootstrap = true;
        assert_eq!(begin(&mut rare, 0, &top_rated), Some((2, id(1))));
        rare.set_aside(2);
        let chosen: Vec<_> = (0..FIRST_PAUSE - 1).map(|_| begin(&mut rare, 0, &top_rated)).collect();
        assert!(chosen.iter().all(|chosen| *chosen == Some((1, id(0)))));
        assert_eq!(rare.latest().paused, 1);
        assert_eq!(begin(&mut rare, 0, &top_rated), Some((2, id(1))));
    }

    #[test]
    fn entries_that_are_set_aside_are_forgotten() {
        // the first is the most expensive one, the last the cheapest
        let (mut rare, top_rated) = scene(&[&[0, 1], &[0, 1], &[0, 1]], &[9, 1]);
        assert_eq!([0, 1, 2].map(|entry| top_rated.is_active(id(entry))), [true, false, true]);
        rare.work_of_entry =
            (0..2 * FEW as u32).flat_map(|branch| [((id(1), branch), 7), ((id(2), branch), 7)]).collect();
        assert_eq!(begin(&mut rare, 0, &top_rated), Some((1, id(0))));
        assert!(rare.work_of_entry.len() == 2 * FEW + 1 && rare.work_of_entry.keys().all(|(entry, _)| *entry != id(1)));
    }

    #[test]
    fn a_cycle_without_anything_new_ends_in_ordinary_rounds_until_there_is_something() {
        let (mut rare, top_rated) = scene(&[&[0, 1]], &[9, 1]);
        let ordinary = |rare: &mut RareBranches, rounds: u64| {
            (0..rounds).filter(|_| begin(rare, 0, &top_rated).is_none()).count() as u64
        };
        assert_eq!(ordinary(&mut rare, SHORTEST_CYCLE), 0);
        assert_eq!((ordinary(&mut rare, 5), rare.mode()), (5, Mode::Bootstrap));
        rare.enter(id(1), true, std::iter::once(0));
        assert_eq!((ordinary(&mut rare, SHORTEST_CYCLE), rare.mode()), (0, Mode::Rare));
        // neither does: in turn
        let of_both = SHORTEST_CYCLE + BOOTSTRAP * SHORTEST_CYCLE;
        assert_eq!(ordinary(&mut rare, 10 * of_both), 10 * BOOTSTRAP * SHORTEST_CYCLE);
        // also of a session that left off in the middle of one
        assert_eq!(ordinary(&mut rare, 5), 5);
        rare.no_bootstrap = true;
        assert_eq!(ordinary(&mut rare, of_both), 0);
    }
}
