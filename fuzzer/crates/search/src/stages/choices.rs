//! Operators on choices in a campaign: how the choices of an entry are found, and how mutants of them are made.

use std::sync::Arc;

use libafl::{
    Error,
    inputs::{BytesInput, HasMutatorBytes},
    state::{HasMaxSize, HasRand},
};
use libafl_bolts::{
    hash_std,
    rands::{Rand, StdRand},
};

use super::{families::Families, operators::first_on_choices};
use crate::{
    EntryId,
    choices::{
        mode::Mode,
        model::{Model, Models},
    },
    corpus::{
        choices::Structures,
        effort::{Aim, work},
    },
    evaluate::{Campaign, Evaluation, Parts, see_trimmed},
    state::CampaignState,
    strategy::Yields,
};
use quagmire_choices::{
    draws::{self, Log, Mutant, Mutator, Overlay, Sites},
    grammar::{Grammar, Limits},
    operator::{Arm, Operator},
    tree::{Role, Tree},
    tree_mutation,
};
use quagmire_execution::{draws::DrawsObserver, executor::Observers};
use quagmire_mutators::{
    draw::place_of,
    mask::{Edit, Mask},
    rule::Rule,
};

/// Share of the mutants that are made by choices where a grammar or draws tell them: bytes change what no grammar says
/// (BeDivFuzz: nine tenths).
const SHARE: f64 = 0.9;

/// The same in rounds with a mask, which only mutants of bytes respect.
const SHARE_BESIDE_MASK: f64 = 0.5;

/// Longest chain of operators on one tree; each link is the last one in half of the cases.
const LONGEST_CHAIN: usize = 4;

/// Depth of derivations that are made anew.
const DEPTH: usize = 64;

/// Source of choices beside the draws of a harness.
#[derive(Clone, Debug, Default)]
pub enum Language {
    /// None.
    #[default]
    Unknown,
    Grammar(Arc<Grammar>),
}

/// Knowledge of choices that a campaign begins with.
#[derive(Clone, Debug, Default)]
pub struct ChoiceOptions {
    /// Mode in which they are mutated.
    pub mode: Mode,
    /// Source of choices.
    pub language: Language,
    /// Rules for text in choices.
    pub rules: Vec<Arc<dyn Rule>>,
    /// Tokens for text in choices.
    pub tokens: Vec<Vec<u8>>,
    /// Operators that are used.
    pub operators: Vec<Operator>,
}

/// Weights of the operators of an arm in rounds for coverage and in rounds for cost. Splicing has the largest effect in
/// published comparisons (Zeugma); what repeats and nests is what costs.
const fn weight(operator: Operator, aim: Aim) -> usize {
    match (operator, aim) {
        (Operator::SplicePart, Aim::Coverage) => 5,
        (Operator::SplicePart, Aim::Cost) | (Operator::Regenerate, Aim::Coverage) => 3,
        (Operator::RepeatPart | Operator::NestPart, Aim::Cost) => 4,
        (Operator::ChangeValues, _) => 4,
        (Operator::Regenerate | Operator::DeletePart | Operator::RepeatPart | Operator::NestPart, _) => 2,
        (Operator::EqualValues | Operator::DifferentValues, Aim::Cost) => 2,
        (Operator::ShuffleParts | Operator::EqualValues | Operator::DifferentValues, _) => 1,
    }
}

/// Hash of a tree without its values.
fn structure(tree: &Tree) -> u64 {
    let inner = tree.nodes.iter().filter(|node| matches!(node.role, Role::Part | Role::List));
    let decisions: Vec<u8> = inner
        .flat_map(|node| [node.symbol.to_le_bytes(), node.choice.to_le_bytes(), node.nodes.to_le_bytes()])
        .flatten()
        .collect();
    hash_std(&decisions)
}

/// Whether a mask forbids to change any byte of a draw.
fn is_protected(log: &Log, draw: u32, mask: &Mask) -> bool {
    log.draw_range(draw as usize).is_some_and(|mut range| range.any(|at| !mask.allows(Edit::Overwrite, at)))
}

/// Mutant that was made by choices.
pub(super) struct Made {
    arm: Option<Arm>,
    tree: Option<Tree>,
    /// Draws that were changed, for learning.
    changed: Vec<u32>,
}

/// Operators on choices, with what they need to know of the entries.
pub(super) struct ChoiceOperators {
    options: ChoiceOptions,
    /// The rules as they suit values that are binary, and values that are text.
    families: [Families; 2],
    first: u16,
    trees: tree_mutation::Bank,
    draws: draws::Bank,
    models: Models,
    current: Option<Arc<Model>>,
    overlay: Overlay,
}

impl ChoiceOperators {
    /// Creates the operators of a campaign with `rules` rules.
    pub(super) fn new(options: ChoiceOptions, rules: usize) -> Self {
        let families = [0.0, 1.0].map(|text| {
            let mut families = Families::new(&options.rules);
            families.weigh(text, &Yields::default());
            families
        });
        Self {
            options,
            families,
            first: first_on_choices(rules),
            trees: tree_mutation::Bank::default(),
            draws: draws::Bank::default(),
            models: Models::default(),
            current: None,
            overlay: Overlay::default(),
        }
    }

    /// Finds the choices of an input, from which the mutants of a round are made; runs it to see its draws, if it makes
    /// some. Removes bytes that nobody reads.
    pub(super) fn begin<C: Campaign>(
        &mut self,
        entry: EntryId,
        parts: &mut Parts<'_, C>,
        bytes: &mut Vec<u8>,
    ) -> Result<(), Error> {
        self.current = None;
        if self.options.mode == Mode::Off || !(self.has_grammar() || parts.is_drawn()) {
            return Ok(());
        }
        let content = hash_std(bytes);
        if let Some(known) = self.models.get(content) {
            if let Some(Model::Draws(log, _)) = known.as_deref() {
                log.bytes.clone_into(bytes);
            }
            self.current = known;
            self.note(entry, parts);
            return Ok(());
        }
        let model = if parts.is_drawn() {
            see_trimmed(parts, bytes)?.map(|log| Model::of_draws(log, bytes.len()))
        } else {
            self.parse(bytes).map(Model::Tree)
        };
        let CampaignState { libafl, search, .. } = &mut *parts.state;
        match &model {
            Some(Model::Tree(tree)) => self.trees.add(tree, libafl.rand_mut()),
            Some(Model::Draws(log, _)) => {
                self.draws.add(log, libafl.rand_mut());
                search.choices.sites.learn_counts(log);
            }
            None => {}
        }
        self.current = self.models.put(content, model);
        self.note(entry, parts);
        Ok(())
    }

    /// Notes whether the current parent has choices.
    fn note<C: Campaign>(&self, entry: EntryId, parts: &mut Parts<'_, C>) {
        let is_drawn = parts.is_drawn();
        let choices = &mut parts.state.search.choices;
        if self.current.is_some() {
            choices.are_found = true;
            choices.opaque.remove(&entry);
        } else if is_drawn || self.has_grammar() {
            choices.opaque.insert(entry);
        }
    }

    fn parse(&self, bytes: &[u8]) -> Option<Tree> {
        match &self.options.language {
            Language::Unknown => None,
            Language::Grammar(grammar) => grammar.parse(bytes),
        }
    }

    /// Mask under which bytes of the input are mutated: a generator's draws are overwritten where they are, since what is
    /// moved is drawn by others, and bytes that nobody draws are left alone. `None` for other inputs.
    pub(super) fn readable(&self) -> Option<&Mask> {
        match self.current.as_deref() {
            Some(Model::Draws(_, readable)) => Some(readable),
            _ => None,
        }
    }

    /// Whether the next mutant of the round is made by choices.
    pub(super) fn are_next(&self, is_masked: bool, rand: &mut StdRand) -> bool {
        if self.current.is_none() {
            return false;
        }
        rand.next_float() < if is_masked { SHARE_BESIDE_MASK } else { SHARE }
    }

    /// Whether inputs are described by a grammar.
    pub(super) fn has_grammar(&self) -> bool {
        self.options.mode != Mode::Off && matches!(self.options.language, Language::Grammar(_))
    }

    /// Makes a mutant of `parent` in `input`, and writes the operators that made it into `applied`. With a mask, draws that it
    /// protects keep their values. `None` if nothing could be changed.
    pub(super) fn make<H>(
        &mut self,
        parent: EntryId,
        mask: Option<&Mask>,
        state: &mut CampaignState<H>,
        input: &mut BytesInput,
        applied: &mut Vec<u16>,
    ) -> Option<Made> {
        applied.clear();
        self.overlay = Overlay::default();
        let model = self.current.clone()?;
        let CampaignState { libafl, search, .. } = state;
        let (limit, rand) = (libafl.max_size(), libafl.rand_mut());
        let aim = search.effort.aim();
        let arm = match self.options.mode {
            Mode::Simple | Mode::Structure => Some(search.choices.arms.choose(parent, aim, rand)),
            Mode::Even => Some(if rand.coinflip(0.5) { Arm::Structure } else { Arm::Value }),
            _ => None,
        };
        if let Some((tree, operator)) = self.as_others_do(&model, limit, input, rand) {
            applied.push(self.number(operator));
            return Some(Made { arm, tree, changed: Vec::new() });
        }
        // an entry may have no values, or nothing but values
        let arms = [Some(arm), arm.map(|arm| Some(arm.other()))];
        arms.into_iter().flatten().find_map(|arm| match &*model {
            Model::Tree(tree) => {
                let tree = self.change_tree(tree, (arm, aim), limit, applied, rand)?;
                input.as_mut().clone_from(&tree.bytes);
                Some(Made { arm, tree: Some(tree), changed: Vec::new() })
            }
            Model::Draws(log, _) => {
                let mutant = self.change_draws(log, (arm, aim), &search.choices.sites, limit, applied, rand)?;
                if mask.is_some_and(|mask| mutant.changed.iter().any(|&draw| is_protected(log, draw, mask))) {
                    applied.clear();
                    return None;
                }
                *input.as_mut() = mutant.bytes;
                self.overlay = mutant.overlay;
                Some(Made { arm, tree: None, changed: mutant.changed })
            }
        })
    }

    /// Prepares the run of the mutant that was made last: its structure; or its overlay, and the recording of its draws.
    pub(super) fn prepare(&mut self, made: &Made, draws: &mut DrawsObserver, structures: &mut Structures) {
        structures.current = made.tree.as_ref().filter(|_| structures.are_required).map(structure);
        if made.tree.is_none() {
            draws.record(true);
            draws.set_overlay(&mut self.overlay);
        }
    }

    /// Draws an operator of the arm, or of both.
    fn operator(&self, arm: Option<Arm>, aim: Aim, rand: &mut StdRand) -> Option<Operator> {
        let is_possible = |operator: &Operator| match self.options.mode {
            Mode::Recombine => *operator == Operator::SplicePart,
            Mode::Zest | Mode::Random => matches!(operator, Operator::Regenerate | Operator::ChangeValues),
            _ => arm.is_none_or(|arm| operator.arm() == arm) && self.options.operators.contains(operator),
        };
        let possible: Vec<Operator> = Operator::ALL.into_iter().filter(is_possible).collect();
        let weights = || possible.iter().map(|&operator| weight(operator, aim));
        place_of(weights(), rand.below_or_zero(weights().sum())).map(|place| possible[place])
    }

    fn number(&self, operator: Operator) -> u16 {
        self.first + operator as u16
    }

    /// Makes a mutant in a way of other tools that has no operator here; `None` in other modes.
    fn as_others_do(
        &self,
        model: &Model,
        limit: usize,
        input: &mut BytesInput,
        rand: &mut StdRand,
    ) -> Option<(Option<Tree>, Operator)> {
        let (bytes, tree, operator) = match (self.options.mode, model, &self.options.language) {
            (Mode::Random, Model::Draws(..), _) => (random_bytes(limit, rand), None, Operator::Regenerate),
            (Mode::Random, Model::Tree(_), Language::Grammar(grammar)) => {
                let tree = grammar.generate(rand, &Limits { size: limit, depth: DEPTH });
                (tree.bytes.clone(), Some(tree), Operator::Regenerate)
            }
            (Mode::Zest, Model::Draws(log, _), _) => (change_any(log, rand)?, None, Operator::ChangeValues),
            _ => return None,
        };
        *input.as_mut() = bytes;
        Some((tree, operator))
    }

    /// Applies a chain of operators to a copy of `tree`.
    fn change_tree(
        &self,
        tree: &Tree,
        (arm, aim): (Option<Arm>, Aim),
        limit: usize,
        applied: &mut Vec<u16>,
        rand: &mut StdRand,
    ) -> Option<Tree> {
        let grammar = match &self.options.language {
            Language::Grammar(grammar) => Some(&**grammar),
            Language::Unknown => None,
        };
        let context = tree_mutation::Context { grammar, bank: &self.trees };
        let mut text = |bytes: &mut Vec<u8>, rand: &mut StdRand| self.change_text(bytes, limit, rand);
        let mut changed: Option<Tree> = None;
        for _ in 0..LONGEST_CHAIN {
            let operator = self.operator(arm, aim, rand)?;
            let from = changed.as_ref().unwrap_or(tree);
            if let Some(next) = tree_mutation::mutate(from, operator, &context, limit, &mut text, rand) {
                applied.push(self.number(operator));
                changed = Some(next);
                if rand.coinflip(0.5) {
                    break;
                }
            }
        }
        changed
    }

    /// Applies one operator to the draws of `log`.
    fn change_draws(
        &self,
        log: &Log,
        (arm, aim): (Option<Arm>, Aim),
        sites: &Sites,
        limit: usize,
        applied: &mut Vec<u16>,
        rand: &mut StdRand,
    ) -> Option<Mutant> {
        let mut text = |bytes: &mut Vec<u8>, rand: &mut StdRand| self.change_text(bytes, limit, rand);
        let mut mutator = Mutator { sites, bank: &self.draws, limit, has_overlay: true, text: &mut text };
        for _ in 0..LONGEST_CHAIN {
            let operator = self.operator(arm, aim, rand)?;
            if let Some(mutant) = mutator.mutate(log, operator, rand) {
                applied.push(self.number(operator));
                return Some(mutant);
            }
        }
        None
    }

    /// Changes a text by a rule, or by a token that is put into it or takes its place.
    fn change_text(&self, bytes: &mut Vec<u8>, limit: usize, rand: &mut StdRand) {
        let ChoiceOptions { rules, tokens, .. } = &self.options;
        let draw = rand.below_or_zero(rules.len() + usize::from(!tokens.is_empty()));
        if draw < rules.len() {
            let families = &self.families[usize::from(std::str::from_utf8(bytes).is_ok())];
            rules[families.draw(rand)].apply(bytes, limit, rand);
        } else if let Some(token) = tokens.get(rand.below_or_zero(tokens.len())) {
            if rand.coinflip(0.5) {
                bytes.clear();
            }
            let place = rand.below_or_zero(bytes.len() + 1);
            bytes.splice(place..place, token.iter().copied());
        }
    }

    /// Learns from the run of a mutant of `parent`: which arm pays, what its draws depend on, and which parts there are.
    pub(super) fn learn<H>(
        &mut self,
        parent: EntryId,
        made: Made,
        evaluation: &Evaluation,
        input: &BytesInput,
        observers: &Observers,
        state: &mut CampaignState<H>,
    ) {
        let search = &mut state.search;
        let aim = search.effort.aim();
        let novelty = evaluation.novelty;
        let is_find = match aim {
            Aim::Coverage => evaluation.is_valid && evaluation.trace_is_new,
            Aim::Cost => evaluation.entry.is_some() && (novelty.maximum || novelty.total || novelty.memory),
        };
        if let Some(arm) = made.arm {
            let done = work(evaluation.cost.work(), input.mutator_bytes().len());
            search.choices.arms.count(parent, aim, arm, done, is_find);
        }
        if let Some(Model::Draws(log, _)) = self.current.as_deref().filter(|_| !made.changed.is_empty()) {
            search.choices.sites.observe(log, observers.1.0.log(), &made.changed);
        }
        if let Some(tree) = made.tree.filter(|_| evaluation.entry.is_some()) {
            self.trees.add(&tree, state.libafl.rand_mut());
            self.models.put(hash_std(input.mutator_bytes()), Some(Model::Tree(tree)));
        }
    }
}

/// Mean number of places that Zest changes, and of bytes that it changes at each.
const PLACES: f64 = 8.0;
const BYTES: f64 = 4.0;

/// Longest input of random draws, in bytes: JQF's generators get as many.
const LONGEST: usize = 10_240;

/// Draws a number of at least 1 from the geometric distribution with this mean, which is more than 1.
pub(super) fn geometric(mean: f64, rand: &mut StdRand) -> usize {
    let trials = (1.0 - rand.next_float()).ln() / (1.0 - 1.0 / mean).ln();
    (trials.ceil() as usize).max(1)
}

/// Bytes for a generator that is to make any input.
pub(super) fn random_bytes(limit: usize, rand: &mut StdRand) -> Vec<u8> {
    (0..limit.min(LONGEST)).map(|_| rand.below_or_zero(256) as u8).collect()
}

/// Changes any bytes of the draws of `log`, as Zest does. `None` if it has drawn no bytes.
pub(super) fn change_any(log: &Log, rand: &mut StdRand) -> Option<Vec<u8>> {
    let ranges: Vec<_> = log.draw_ranges().map(|(_, range)| range).collect();
    let total: usize = ranges.iter().map(ExactSizeIterator::len).sum();
    if total == 0 {
        return None;
    }
    let mut bytes = log.bytes.to_vec();
    let is_zero = rand.next_float() < 0.1;
    for _ in 0..geometric(PLACES, rand) {
        let mut place = rand.below_or_zero(total);
        let range = ranges.iter().find(|range| {
            let is_here = place < range.len();
            place = if is_here { place } else { place - range.len() };
            is_here
        })?;
        let length = geometric(BYTES, rand);
        for byte in bytes[range.clone()].iter_mut().skip(place).take(length) {
            *byte = if is_zero { 0 } else { rand.below_or_zero(256) as u8 };
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geometric_numbers_have_their_mean() {
        let mut rand = StdRand::with_seed(1);
        let drawn: Vec<usize> = (0..20_000).map(|_| geometric(8.0, &mut rand)).collect();
        let mean = drawn.iter().sum::<usize>() as f64 / drawn.len() as f64;
        assert!((7.8..8.2).contains(&mean) && drawn.contains(&1), "{mean}");
    }
}
