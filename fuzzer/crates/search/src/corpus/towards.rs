//! Places that the search works towards (`--towards`).
//!
//! The edges of all places are the *target edges*. Once an entry hits one, rounds for rare branches choose among target edges
//! only, all other rounds take their parents from entries that hit one, and costs count there only. Before that there is
//! nothing to cost, and every second round goes for the functions that the places are in, if an entry runs one of them.

use serde::{Deserialize, Serialize};

use quagmire_cost::resource::Resource;
use quagmire_execution::{counts::CountsObserver, program::Program, region::Region};

/// A place in the program, and when it was hit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetPlace {
    /// Name for people: as the user named it.
    pub name: String,
    /// Numbers of its edges, progress slots and charges among them.
    pub edges: Vec<u32>,
    /// Number of these that are branches.
    pub branches: u64,
    /// Number of the first execution that hit it; `None` before.
    pub first_hit: Option<u64>,
    /// Instructions that entries took there; `None` before one hits it.
    pub cost: Option<CostOfPlace>,
}

/// Instructions that entries took at a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CostOfPlace {
    /// Instructions of the most expensive seed, or of the first entry that hits the place if no seed does.
    pub first: u64,
    /// Instructions of the most expensive entry.
    pub most: u64,
    /// Number of the first execution that cost at least twice as much as `first` there, of those that became entries.
    pub doubled: Option<u64>,
}

/// The places of a campaign, and how far the search has come. Without places, it does nothing.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Towards {
    places: Vec<TargetPlace>,
    /// Whether they have no influence on the search (`--towards-watch`).
    is_watched_only: bool,
    /// Whether an entry hits a target edge.
    is_reached: bool,
    /// Whether an entry hits a function that a target edge is in.
    is_near: bool,
    /// Number of places that were not hit yet.
    #[serde(skip)]
    missing: usize,
    /// Edges of each place.
    #[serde(skip)]
    regions: Vec<Region>,
    /// The target edges; empty if the places have no influence.
    #[serde(skip)]
    region: Region,
    /// All edges of the functions that target edges are in.
    #[serde(skip)]
    around: Region,
}

impl Towards {
    /// Creates what the search works towards; with `is_watched_only`, the search goes on as without places.
    pub fn new(places: Vec<TargetPlace>, is_watched_only: bool) -> Self {
        Self { places, is_watched_only, ..Self::default() }
    }

    /// Finds its edges in the program, whose edge numbers have to be those of the places. To be called once in each worker.
    pub fn prepare(&mut self, program: &Program) {
        self.missing = self.places.iter().filter(|place| place.first_hit.is_none()).count();
        let edges = |place: &TargetPlace| Region::new(program, place.edges.iter().copied());
        self.regions = self.places.iter().map(edges).collect();
        if !self.is_watched_only {
            self.region = Region::new(program, self.places.iter().flat_map(|place| place.edges.iter().copied()));
            self.around = self.region.whole_functions(program);
        }
    }

    /// Whether another session of the campaign would do the same.
    pub fn is_same(&self, other: &Self) -> bool {
        let names = |towards: &Self| -> Vec<(String, Vec<u32>)> {
            towards.places.iter().map(|place| (place.name.clone(), place.edges.clone())).collect()
        };
        names(self) == names(other) && self.is_watched_only == other.is_watched_only
    }

    /// Whether places steer the search.
    #[inline]
    pub fn steers(&self) -> bool {
        !self.places.is_empty() && !self.is_watched_only
    }

    /// Whether an entry hits a place that steers the search.
    #[inline]
    pub fn is_reached(&self) -> bool {
        self.is_reached && self.steers()
    }

    /// Whether places steer the search, and no entry hits one yet.
    pub fn is_searched(&self) -> bool {
        self.steers() && !self.is_reached
    }

    /// The target edges; `None` if places do not steer the search.
    #[inline]
    pub fn region(&self) -> Option<&Region> {
        self.steers().then_some(&self.region)
    }

    /// Whether rare branches are chosen in this round among those of which `branch` is one.
    pub fn admits(&self, round: u64, branch: usize) -> bool {
        if !self.steers() {
            true
        } else if self.is_reached {
            self.region.has(branch)
        } else {
            !self.is_near || round % 2 == 1 || self.around.has(branch)
        }
    }

    /// Whether some place waits for its first hit.
    #[inline]
    pub fn is_waiting(&self) -> bool {
        self.missing > 0
    }

    /// Records the first hits of places by the last run, which was execution number `execution`.
    pub fn observe(&mut self, counts: &CountsObserver, execution: u64) {
        for place in self.places.iter_mut().filter(|place| place.first_hit.is_none()) {
            let edges = place.edges.iter().map(|&edge| edge as usize);
            if edges.filter(|&edge| edge < counts.program().edges()).any(|edge| counts.count(edge) != 0) {
                place.first_hit = Some(execution);
                self.missing = self.missing.saturating_sub(1);
            }
        }
    }

    /// Notes what the last run, which was execution number `execution` and becomes an entry, costs at each place.
    pub fn note_costs(&mut self, counts: &CountsObserver, execution: u64, is_seed: bool) {
        for (place, region) in self.places.iter_mut().zip(&self.regions) {
            let spent = region.cost(counts)[Resource::Instructions];
            if spent == 0 {
                continue;
            }
            let cost = place.cost.get_or_insert_with(|| CostOfPlace { first: spent, ..CostOfPlace::default() });
            cost.most = cost.most.max(spent);
            if is_seed {
                cost.first = cost.first.max(spent);
            } else if cost.doubled.is_none() && spent >= cost.first.saturating_mul(2) {
                cost.doubled = Some(execution);
            }
        }
    }

    /// Enters the last run as an entry. Returns whether it is the first one that hits a place.
    pub fn enter(&mut self, counts: &CountsObserver) -> bool {
        if !self.is_searched() {
            return false;
        }
        self.is_near |= self.around.is_hit(counts);
        self.is_reached = self.region.is_hit(counts);
        self.is_reached
    }

    /// Places in the order in which they were given, each with the number of runs that hit it: those that hit the one of its
    /// edges that most runs hit. `hits` has the runs that hit each edge.
    pub fn places<'a>(&'a self, hits: &'a [u64]) -> impl Iterator<Item = (&'a TargetPlace, u64)> {
        self.places.iter().map(|place| {
            let hits = place.edges.iter().map(|&edge| hits.get(edge as usize).copied().unwrap_or(0));
            (place, hits.max().unwrap_or(0))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quagmire_execution::testing::made_up;

    fn place(name: &str, edges: &[u32]) -> TargetPlace {
        TargetPlace { name: name.into(), edges: edges.to_vec(), branches: edges.len() as u64, ..TargetPlace::default() }
    }

    #[test]
    fn the_search_draws_nearer_and_then_stays_at_the_target_edges() {
        let (program, slots) = made_up(&[2, 3]);
        let mut towards = Towards::new(vec![place("a", &[3]), place("b", &[4])], false);
        towards.prepare(&program);
        let mut counts = CountsObserver::new(program);
        let mut run = |first: [u32; 2], second: [u32; 3], towards: &mut Towards, execution| {
            counts.clear();
            slots.set(0, &first);
            slots.set(1, &second);
            counts.digest();
            towards.observe(&counts, execution);
            towards.enter(&counts)
        };
        let admitted =
            |towards: &Towards, round| (0..5).filter(|&branch| towards.admits(round, branch)).collect::<Vec<_>>();
        assert!(!run([1, 1], [0, 0, 0], &mut towards, 1));
        assert!(towards.is_searched() && admitted(&towards, 0).len() == 5);
        assert!(!run([1, 1], [1, 0, 0], &mut towards, 2));
        assert_eq!((admitted(&towards, 0), admitted(&towards, 1).len()), (vec![2, 3, 4], 5));
        assert!(run([1, 1], [1, 0, 7], &mut towards, 3));
        assert!(towards.is_reached() && towards.is_waiting());
        assert_eq!((admitted(&towards, 0), admitted(&towards, 1)), (vec![3, 4], vec![3, 4]));
        assert!(!run([1, 1], [1, 2, 7], &mut towards, 4), "not the first");
        assert!(!towards.is_waiting());
        let figures: Vec<_> =
            towards.places(&[9, 9, 9, 1, 6]).map(|(place, hits)| (&*place.name, place.first_hit, hits)).collect();
        assert_eq!(figures, [("a", Some(4), 1), ("b", Some(3), 6)]);
    }

    #[test]
    fn costs_of_a_place_are_compared_with_the_most_expensive_seed_or_the_first_entry() {
        let (program, slots) = made_up(&[2, 3]);
        let mut towards = Towards::new(vec![place("a", &[3]), place("b", &[4])], true);
        towards.prepare(&program);
        let mut counts = CountsObserver::new(program);
        let mut run = |second: [u32; 3], execution, is_seed| {
            counts.clear();
            slots.set(0, &[1, 1]);
            slots.set(1, &second);
            counts.digest();
            towards.note_costs(&counts, execution, is_seed);
            towards.places.iter().map(|place| place.cost).collect::<Vec<_>>()
        };
        assert_eq!(run([0, 0, 0], 1, true), [None, None]);
        let of = |costs: &[Option<CostOfPlace>], place: usize| costs[place].expect("a cost");
        let one = of(&run([1, 1, 0], 2, true), 0).first;
        assert!(one > 0);
        run([1, 3, 0], 3, true);
        let costs = run([1, 5, 2], 4, false);
        assert_eq!(of(&costs, 0), CostOfPlace { first: 3 * one, most: 5 * one, doubled: None });
        assert_eq!((of(&costs, 1).first, of(&costs, 1).doubled), (of(&costs, 1).most, None));
        run([1, 6, 2], 5, false);
        let costs = run([1, 9, 1], 6, false);
        assert_eq!(of(&costs, 0), CostOfPlace { first: 3 * one, most: 9 * one, doubled: Some(5) });
    }

    #[test]
    fn places_that_are_only_watched_leave_the_search_alone() {
        let (program, slots) = made_up(&[2]);
        let mut towards = Towards::new(vec![place("a", &[1])], true);
        towards.prepare(&program);
        let mut counts = CountsObserver::new(program);
        slots.set(0, &[1, 1]);
        counts.digest();
        towards.observe(&counts, 7);
        assert!(!towards.enter(&counts) && !towards.is_reached() && towards.admits(0, 0) && towards.region().is_none());
        assert_eq!(towards.places(&[5, 4]).next().unwrap().0.first_hit, Some(7));
        assert!(!towards.is_same(&Towards::new(vec![place("a", &[1])], false)));
        assert!(towards.is_same(&Towards::new(vec![place("a", &[1])], true)));
    }
}
