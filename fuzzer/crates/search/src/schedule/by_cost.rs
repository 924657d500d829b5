//! Scheduler of a campaign: divides the rounds between the entries with the best scores and rare branches. As long as
//! rare branches bring nothing new, it takes any top-rated entry instead, cheap ones preferred.

use std::num::NonZeroUsize;

use libafl::{
    Error,
    corpus::{Corpus, CorpusId},
    inputs::BytesInput,
    schedulers::Scheduler,
    state::{HasCorpus, HasMaxSize, HasRand},
};
use libafl_bolts::rands::Rand;

use super::intervals;
use crate::{
    EntryId,
    corpus::{effort::Aim, search_state::SearchState},
    mask::HitsBranch,
    state::CampaignState,
};

/// Choice of the parents in rounds for cost (`--parents`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Parents {
    /// By rank, log-uniformly: the best score most often, the others ever more rarely.
    Best,
    /// By five intervals of the scores, as in Perun.
    Intervals,
    /// By one of the two, with equal probability.
    Both,
}

/// Share of the rounds for cost whose parents use most memory somewhere, in a campaign that looks for it.
const SHARE_OF_MEMORY: f64 = 0.5;

/// Attempts to find a parent.
const MOST_ATTEMPTS: usize = 16;

/// Work of one run, in instructions, up to which a parent is taken for a round for cost whenever it is drawn: about 50 ms. Others
/// are taken in inverse proportion to their work. Mutants of an input near the hang timeout are cut off, and if it
/// was the parent as often as others it would have all of the time.
const WORK_OF_PARENT: f64 = 1.6e8;

/// LibAFL scheduler that chooses the entry and the goal of each round.
#[derive(Debug)]
pub struct ByCostScheduler {
    parents: Parents,
    seeds: u64,
}

impl ByCostScheduler {
    /// Creates a scheduler of a campaign with this many seeds.
    pub fn new(parents: Parents, seeds: usize) -> Self {
        Self { parents, seeds: seeds as u64 }
    }
}

/// Position from the top of a ranking of `length` entries, for a random number `uniform` from 0 to 1: the top in
/// ln 2 / ln(`length` + 1) of the draws, the others ever more rarely.
fn from_top(length: usize, uniform: f64) -> usize {
    // The j-th of n is drawn where (n+1)^u passes j: a log-uniform choice.
    (((length as f64 + 1.0).powf(uniform) - 1.0) as usize).min(length - 1)
}

/// Draws an entry, again if another one should be the parent, but not for ever. `passes` tells whether that is so for a
/// reason beside the entry's choices and its size.
fn attempt<R>(
    search: &SearchState,
    rand: &mut R,
    mut draw: impl FnMut(&mut R) -> EntryId,
    mut passes: impl FnMut(&mut R, EntryId) -> bool,
) -> EntryId {
    let mut entry = draw(rand);
    for _ in 0..MOST_ATTEMPTS {
        if !search.choices.should_pass(entry) && !search.size_limit.is_beyond(entry) && !passes(rand, entry) {
            break;
        }
        entry = draw(rand);
    }
    entry
}

/// Whether the round for cost skips this parent: the more work its runs take, the likelier.
fn passes_for_work(search: &SearchState, rand: &mut impl Rand, entry: EntryId) -> bool {
    let work = search.top_rated.cost(entry).map_or(0, |cost| search.objective.work(cost)) as f64;
    work > WORK_OF_PARENT && rand.next_float() >= WORK_OF_PARENT / work
}

impl<H> Scheduler<BytesInput, CampaignState<H>> for ByCostScheduler {
    fn on_add(&mut self, _state: &mut CampaignState<H>, _id: CorpusId) -> Result<(), Error> {
        Ok(())
    }

    fn next(&mut self, state: &mut CampaignState<H>) -> Result<CorpusId, Error> {
        let CampaignState { libafl, search, .. } = state;
        if search.size_limit.grow() {
            libafl.set_max_size(search.size_limit.now());
        }
        let (active, parents) = (search.top_rated.active(), search.parents_for_cost());
        let (Some(length), Some(parents)) = (NonZeroUsize::new(active), NonZeroUsize::new(parents)) else {
            return Err(Error::empty("no input to mutate"));
        };
        search.goal = None;
        let rand = libafl.rand_mut();
        if search.towards.is_searched() {
            search.effort.begin_coverage();
        } else {
            search.effort.begin();
        }
        let entry = match search.effort.aim() {
            Aim::Cost => {
                let by_intervals = match self.parents {
                    Parents::Best => false,
                    Parents::Intervals => true,
                    Parents::Both => rand.coinflip(0.5),
                };
                // what uses most memory somewhere has no better score until it is the largest of all
                let places = NonZeroUsize::new(search.top_rated.memory_places());
                let places = places.filter(|_| rand.coinflip(SHARE_OF_MEMORY));
                let draw = |rand: &mut _| {
                    let place = places.map(|places| Rand::below(rand, places));
                    if let Some(entry) = place.and_then(|place| search.top_rated.most_memory(place)) {
                        return entry;
                    }
                    let place = if by_intervals {
                        intervals::draw(parents, rand)
                    } else {
                        parents.get() - 1 - from_top(parents.get(), Rand::next_float(rand))
                    };
                    search.top_rated.by_score()[active - parents.get() + place].1
                };
                attempt(search, rand, draw, |rand, entry| passes_for_work(search, rand, entry))
            }
            Aim::Coverage => match search.rare.begin_round(self.seeds, &search.top_rated, &search.towards) {
                Some((branch, entry)) if !search.choices.should_pass(entry) => {
                    search.goal = Some(HitsBranch(branch));
                    entry
                }
                rare => match search.rare.next_in_opening(&search.top_rated).filter(|_| rare.is_none()) {
                    Some(entry) => entry,
                    // the cheaper of two draws: the same time buys more executions there
                    None => {
                        let at_places = search.at_places();
                        let length = NonZeroUsize::new(at_places.len()).unwrap_or(length);
                        let draw = |rand: &mut _| {
                            let place = Rand::below(rand, length).min(Rand::below(rand, length));
                            at_places.get(place).copied().unwrap_or_else(|| search.top_rated.ranking()[place].1)
                        };
                        attempt(search, rand, draw, |_, _| false)
                    }
                },
            },
        };
        let id = CorpusId::from(entry);
        *libafl.corpus_mut().current_mut() = Some(id);
        Ok(id)
    }

    fn set_current_scheduled(&mut self, state: &mut CampaignState<H>, next: Option<CorpusId>) -> Result<(), Error> {
        *state.corpus_mut().current_mut() = next;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        corpus::search_state::tests::made_up,
        evaluate::tests::{Diary, libafl_state},
    };

    #[test]
    fn rounds_for_cost_have_no_goal_and_the_opening_takes_one_entry_after_the_other() {
        let search = made_up(&[(100, 0, [1, 0, 0]), (300, 0, [0, 1, 0]), (200, 0, [0, 0, 1])]);
        let mut state = CampaignState::new(libafl_state(), search, Diary::default(), false);
        let mut scheduler = ByCostScheduler::new(Parents::Best, 3);
        let (mut opened, mut for_cost) = (Vec::new(), 0);
        for _ in 0..300 {
            let id = scheduler.next(&mut state).unwrap();
            let search = &mut state.search;
            search.effort.spend(1_000_000, 0);
            match search.effort.aim() {
                Aim::Coverage => opened.push(id.0),
                Aim::Cost => {
                    assert_eq!(search.goal, None);
                    for_cost += 1;
                }
            }
        }
        assert_eq!(opened[..3], [0, 1, 2]);
        assert!(for_cost > 30, "{for_cost}");
    }

    #[test]
    fn parents_that_take_long_are_drawn_for_cost_in_inverse_proportion() {
        let slow = 100 * WORK_OF_PARENT as u64;
        let search = made_up(&[(slow, 0, [1, 0, 0]), (1_000, 0, [0, 1, 0]), (2_000, 0, [0, 0, 1])]);
        let mut state = CampaignState::new(libafl_state(), search, Diary::default(), false);
        let mut scheduler = ByCostScheduler::new(Parents::Best, 3);
        let mut drawn = [0; 3];
        for _ in 0..5_000 {
            let id = scheduler.next(&mut state).unwrap();
            if state.search.effort.aim() == Aim::Cost {
                drawn[id.0] += 1;
            }
            state.search.effort.spend(1_000_000, 0);
        }
        assert!(drawn[0] > 0 && drawn[0] * 20 < drawn[1] && drawn[1] < drawn[2], "{drawn:?}");
    }

    #[test]
    fn the_draw_from_the_top_stays_in_range_and_prefers_the_top() {
        for length in [1, 2, 7, 10_000] {
            let draws: Vec<usize> = (0..1000).map(|i| from_top(length, f64::from(i) / 1000.0)).collect();
            assert!(draws.iter().all(|&d| d < length));
            assert_eq!(draws[0], 0);
            assert!(length < 7 || draws[999] > length / 2);
        }
    }
}
