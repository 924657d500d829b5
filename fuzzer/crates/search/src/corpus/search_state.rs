//! Knowledge of the search, and the judgement of runs by it.

use std::collections::{BTreeSet, HashMap};

use libafl_bolts::hash_std;
use serde::{Deserialize, Serialize};

use super::{
    choices::ChoiceState,
    collisions::CollisionState,
    diversity::Diversity,
    effort::Effort,
    finds::{CheckState, Finds},
    growth::GrowthState,
    history::{History, Novelty},
    objective::Objective,
    rare::RareBranches,
    shadow::Shadow,
    size_limit::SizeLimit,
    top_rated::{CountsOfFunction, Maxima, Standing, TopRated},
    towards::Towards,
};
use crate::{
    EntryId,
    mask::{HitsBranch, cache::Cache},
};
use quagmire_cost::resource::Cost;
use quagmire_execution::counts::CountsObserver;

/// Choice of FairFuzz's techniques that a campaign uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Masking {
    /// Whether mutants are made without masks (`--no-mask`).
    pub no_mask: bool,
    /// Whether entries are used untrimmed (`--no-trim`).
    pub no_trim: bool,
    /// Whether each mutant made with a mask is compared with one without (`--experiment shadow-mask`).
    pub shadow: bool,
}

/// Costs and finds of masks in a campaign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaskFigures {
    /// Entries that got a mask for a goal.
    pub computed: u64,
    /// Bytes of these entries, after trimming.
    pub bytes: u64,
    /// Executions for computing masks.
    pub probes: u64,
    /// Executions for trimming.
    pub trims: u64,
    /// Mutants made with a mask.
    pub mutants: u64,
    /// Mutants made with a mask that reached its goal.
    pub hits: u64,
    /// Mutants made with a mask that were kept.
    pub kept: u64,
}

/// Knowledge of the search; part of the checkpoint. The scheduler and the stages of one client share it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SearchState {
    /// Buckets and maxima of all entries.
    pub history: History,
    /// Top-rated entries.
    pub top_rated: TopRated,
    /// Size limit of inputs at present.
    pub size_limit: SizeLimit,
    /// Work and finds of each aim.
    pub effort: Effort,
    /// Valid runs, and the diversity of what runs did.
    pub diversity: Diversity,
    /// Hits of the branches, and the choice of the rare one to work on.
    pub rare: RareBranches,
    /// Entries that were trimmed and masked for their goals.
    pub prepared: Cache,
    /// Costs and finds of masks.
    pub masks: MaskFigures,
    /// Success of mutants with and without masks, with `--experiment shadow-mask`.
    pub shadow: Shadow,
    /// Knowledge of choices.
    pub choices: ChoiceState,
    /// Places that the search works towards.
    pub towards: Towards,
    /// Entries whose comparisons were recorded.
    pub traced: BTreeSet<EntryId>,
    /// Words that the program compares words of inputs with, in the order in which they were seen: further tokens.
    pub words: Vec<Vec<u8>>,
    /// Number of entries that hit an edge that no entry had hit, without seeds and imports.
    pub with_new_edges: u64,
    /// Runs with made-up words, and words that they have shown.
    pub made_up: Finds,
    /// Mutants that were made of recorded comparisons, and those of them that hit a new edge.
    pub replaced: Finds,
    /// Mutants of the deterministic stage, and those of them that hit a new edge.
    pub walked: Finds,
    /// Patterns under which counts grow fast.
    pub growth: GrowthState,
    /// Keys that collide in the program's hash functions.
    pub collisions: CollisionState,
    /// Knowledge of checks.
    pub checks: CheckState,
    /// Hashes of the contents of all entries: an unstable target can make the same input look new again.
    contents: HashMap<u64, EntryId>,
    /// Objective: the costs that the search tries to raise.
    #[serde(skip)]
    pub objective: Objective,
    /// Whether a new maximum of an edge's count is no reason to keep an input (`--no-edge-maxima`).
    #[serde(skip)]
    pub ignores_maxima: bool,
    /// Whether inputs that crash or exit may become entries (`--keep-early-ends`).
    #[serde(skip)]
    pub keeps_early_ends: bool,
    /// Choice of FairFuzz's techniques.
    pub masking: Masking,
    /// Rare branch that the current round is for, as the scheduler has chosen it; `None` for ordinary mutation.
    #[serde(skip)]
    pub goal: Option<HitsBranch>,
}

/// Score of an entry that costs nothing at the places that the search works towards.
const LEAST_SCORE: f64 = 1.0;

/// Edges and progress slots that the run hit.
fn hit(counts: &CountsObserver) -> impl Iterator<Item = usize> + '_ {
    counts.ran().iter().flat_map(|&function| {
        let (first, counts) = counts.counts(function);
        (first..).zip(counts).filter(|(_, count)| **count != 0).map(|(edge, _)| edge)
    })
}

impl SearchState {
    /// Whether all entries that the parts name exist, given the number of entries; a checkpoint file may hold
    /// anything.
    pub fn is_sound(&self, entries: usize) -> bool {
        self.history.is_sound()
            && self.top_rated.is_sound(entries)
            && self.rare.is_sound(entries)
            && self.contents.values().all(|&entry| entry.index() < entries)
    }

    /// Makes room for a program of this many edges.
    pub fn grow(&mut self, edges: usize) {
        self.history.grow(edges);
        self.top_rated.grow(edges);
        self.rare.grow(edges);
    }

    /// Sets FairFuzz's techniques for this session. If they differ from an earlier session's, drops the prepared
    /// entries: they are trimmed or masked in another way.
    pub fn set_masking(&mut self, masking: Masking) {
        if (masking.no_mask, masking.no_trim) != (self.masking.no_mask, self.masking.no_trim) {
            self.prepared = Cache::default();
        }
        self.masking = masking;
    }

    /// Enters the run in `counts` as `entry`. `novelty` is its judgement, `score` its score as a parent. Returns the
    /// entries that are not top-rated any more; the new one may be among them.
    pub fn enter(
        &mut self,
        entry: EntryId,
        bytes: &[u8],
        score: f64,
        novelty: Novelty,
        counts: &CountsObserver,
    ) -> Vec<EntryId> {
        self.grow(counts.program().edges());
        self.contents.insert(hash_std(bytes), entry);
        self.size_limit.enter(entry, bytes.len());
        let is_valid = counts.is_valid();
        self.history.expect(is_valid);
        if !is_valid {
            self.top_rated.expect_invalid();
        }
        for &function in counts.ran() {
            let (first, branches) = counts.branches(function);
            if is_valid {
                self.history.learn_valid(first, branches);
            }
            self.history.learn(first, branches);
            let (first, slots) = counts.progress(function);
            self.history.learn_progress(first, slots);
            for (first, amounts) in [counts.charges(function), counts.stack(function), counts.heap(function)] {
                self.history.learn_amounts(first, amounts);
            }
        }
        let (cost, counted) = (counts.cost(), self.counted(counts));
        if self.towards.enter(counts) {
            // until now, all work was for coverage, which is no reason to do nothing but raise costs for as long
            self.effort.start_over();
        }
        self.history.learn_costs(&counted, &self.objective);
        self.rare.enter(entry, novelty.edge || novelty.bucket || novelty.valid_edge, hit(counts));
        let all = counts.ran().iter().map(|&function| {
            let (first, all) = counts.counts(function);
            CountsOfFunction {
                first,
                all,
                branches: counts.branches(function).1.len(),
                charges: counts.charges(function),
                memory: [counts.stack(function), counts.heap(function)],
            }
        });
        let key = self.objective.key(&counted);
        let score = if self.towards.steers() { LEAST_SCORE + key as f64 } else { score };
        let standing = Standing { cost, counted, bytes: bytes.len() as u64, key, score };
        let maxima = match self.towards.region() {
            _ if self.ignores_maxima => Maxima::None,
            Some(region) => Maxima::Of(region),
            None => Maxima::All,
        };
        self.top_rated.enter(entry, standing, is_valid, maxima, all)
    }

    /// Leaves the branches that `entry`, an import, is the first to hit here to the campaign that has found it.
    pub fn leave_to_others(&mut self, entry: EntryId, counts: &CountsObserver) {
        self.rare.leave_to_others(entry, hit(counts));
    }

    /// Entry with these contents.
    pub fn holder(&self, bytes: &[u8]) -> Option<EntryId> {
        self.contents.get(&hash_std(bytes)).copied()
    }

    /// Compares the cost of a run with the history anew, after an amount was measured again.
    pub fn judge_cost(&self, counts: &CountsObserver, novelty: &mut Novelty) {
        self.history.compare_costs(&self.counted(counts), &self.objective, novelty);
    }

    /// Cost of the last run that counts: all of it, or that of the places that the search works towards.
    fn counted(&self, counts: &CountsObserver) -> Cost {
        self.towards.region().map_or_else(|| counts.cost(), |region| region.cost(counts))
    }

    /// Corrects the amount of the noisy resource that the search follows, of an entry that was measured again: something had
    /// disturbed its runs, and nothing that costs less would be entered. Returns whether the amount was larger by more than the
    /// noise; otherwise it stays.
    pub fn correct(&mut self, entry: EntryId, amount: u64) -> bool {
        let Some(resource) = self.objective.noisy() else { return false };
        let is_wrong = self.top_rated.standing(entry).is_some_and(|of| self.objective.is_larger(of.key, amount));
        if is_wrong {
            let largest = self.top_rated.correct(entry, resource, amount);
            self.history.correct_key(largest);
            if self.towards.steers() {
                self.top_rated.rescore(entry, LEAST_SCORE + amount as f64);
            }
        }
        is_wrong
    }

    /// Changes the score of an entry, unless the search works towards places: scores are of costs there then.
    pub fn rescore(&mut self, entry: EntryId, score: f64) {
        if !self.towards.steers() {
            self.top_rated.rescore(entry, score);
        }
    }

    /// Number of top-rated entries that can be parents in rounds for cost: the last ones by score.
    pub fn parents_for_cost(&self) -> usize {
        let at_places = if self.towards.steers() { self.top_rated.scored_above(LEAST_SCORE) } else { 0 };
        if at_places > 0 { at_places } else { self.top_rated.active() }
    }

    /// Top-rated entries that hit places that the search works towards, the cheapest first; empty if there are none.
    pub fn at_places(&self) -> Vec<EntryId> {
        let region = self.towards.region().filter(|_| self.towards.is_reached());
        region.map_or_else(Vec::new, |region| self.rare.entries_at(&self.top_rated, |branch| region.has(branch)))
    }

    /// Compares the run in `counts` with the history, and returns the reasons to keep its input: a new bucket, also one
    /// that is new in a valid run, a new maximum of an edge or of memory, a new total.
    pub fn judge(&mut self, counts: &CountsObserver) -> Novelty {
        self.grow(counts.program().edges());
        let mut novelty = Novelty::default();
        for &function in counts.changed() {
            let (first, all) = counts.counts(function);
            self.history.compare(first, all, &mut novelty);
            let (first, charges) = counts.charges(function);
            self.history.compare_charges(first, charges, &mut novelty);
            for (first, amounts) in [counts.stack(function), counts.heap(function)] {
                self.history.compare_memory(first, amounts, &mut novelty);
            }
        }
        if counts.is_valid() && self.history.has_invalid() {
            for &function in counts.changed() {
                let (first, branches) = counts.branches(function);
                self.history.compare_valid(first, branches, &mut novelty);
            }
        }
        novelty.maximum &= !self.ignores_maxima;
        if let Some(region) = self.towards.region().filter(|_| novelty.maximum) {
            novelty.maximum = counts.changed().iter().any(|&function| {
                let of_region = |(first, counts): (usize, &[u32])| {
                    (first..).zip(counts).any(|(edge, &count)| region.has(edge) && self.history.is_maximum(edge, count))
                };
                of_region(counts.counts(function)) || of_region(counts.charges(function))
            });
        }
        self.history.compare_costs(&self.counted(counts), &self.objective, &mut novelty);
        novelty
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::entry::id;
    use crate::mask::{Computation, cache::Prepared};
    use quagmire_cost::resource::Resource;

    /// Knowledge of a search with entries 0, 1, ... of these instructions, heap and counts of three edges.
    pub(crate) fn made_up(entries: &[(u64, u64, [u32; 3])]) -> SearchState {
        let mut search = SearchState::default();
        search.grow(3);
        for (entry, &(instructions, heap_peak, counts)) in entries.iter().enumerate() {
            let cost = Cost::from([(Resource::Instructions, instructions), (Resource::Heap, heap_peak)]);
            let standing = Standing { cost, counted: cost, bytes: 1, key: instructions, score: instructions as f64 };
            search.top_rated.enter(
                EntryId::at(entry),
                standing,
                true,
                Maxima::All,
                std::iter::once(CountsOfFunction::branches(0, &counts)),
            );
        }
        search
    }

    #[test]
    fn what_was_prepared_with_other_options_is_not_used() {
        let mut search = SearchState::default();
        let goal = HitsBranch(1);
        let prepared = || Prepared { input: vec![0], computation: Computation::everything(1), lost: 0, walked: 0 };
        search.set_masking(Masking { no_mask: true, ..Masking::default() });
        search.prepared.put(id(0), goal, prepared());
        search.set_masking(Masking { no_mask: true, shadow: true, ..Masking::default() });
        assert!(search.prepared.get(id(0), goal).is_some());
        search.set_masking(Masking::default());
        assert!(search.prepared.get(id(0), goal).is_none());
    }
}
