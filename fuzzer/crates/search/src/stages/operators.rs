//! Mutation operators: Perun's rules beside LibAFL's havoc, splicing and tokens and the harness's own mutator, and how they
//! are mixed.

use std::{num::NonZeroUsize, sync::Arc};

use libafl::{
    Error,
    corpus::Corpus,
    inputs::BytesInput,
    mutators::{MutationResult, Mutator},
    state::{HasCorpus, HasMaxSize, HasRand},
};
use libafl_bolts::rands::{Rand, StdRand};

use super::{families::Families, own_mutator::OwnOperators};
use crate::{
    state::LibaflState,
    strategy::{Strategy, Yields},
};
use quagmire_choices::operator::Operator;
use quagmire_execution::{
    mutator_library::StartedLibrary,
    own_mutator::{MutatorFailure, OwnMutator},
};
use quagmire_mutators::{
    draw::place_of,
    havoc::{havoc, single, splice, tokens},
    mask::Mask,
    masked::MaskedMutations,
    parts::{Shell, TextParts},
    room::make_room,
    rule::{Rule, RuleMutator},
};

/// Weight of the rules in the choice of an operator, beside those of [`OTHERS`]. Rules and havoc share most of it
/// evenly: rules make the large, structured steps that cost needs, havoc the small blind ones that coverage needs.
const RULES: usize = 10;

/// That weight where nothing is counted, so that small blind steps show nothing.
const RULES_UNCOUNTED: usize = 40;

/// Operators beside the rules, LibAFL's and the harness's own: name in results and in `--rules`, and weight. A harness
/// with a mutator of its own has structured inputs, which bytes rarely keep intact: nearly half of the mutants are its own.
const OTHERS: [(&str, usize); 6] =
    [("havoc", 7), ("splice", 2), (TOKENS_NAME, 3), (CUSTOM_MUTATOR, 18), (CUSTOM_CROSSOVER, 4), ("single", 4)];
const HAVOC: usize = 0;
const SPLICE: usize = 1;
const TOKENS: usize = 2;
const CUSTOM: usize = 3;
const CROSSOVER: usize = 4;
/// The last one: the others can follow each other in a chain.
const SINGLE: usize = 5;

/// Name of the operator that puts in words of dictionaries.
pub const TOKENS_NAME: &str = "tokens";

/// Name of the harness's own mutator in results and in `--rules`; that of its crossover begins with it.
pub const CUSTOM_MUTATOR: &str = "custom";

/// Name of the harness's own crossover, likewise.
const CUSTOM_CROSSOVER: &str = "custom-crossover";

/// Numbers of the operators on choices in a campaign with `rules` rules: those of [`Operator::ALL`] from this one on.
pub(super) fn first_on_choices(rules: usize) -> u16 {
    (rules + OTHERS.len() + OWN.len()) as u16
}

/// Whether a `--rules` selection names the harness's own mutator or crossover.
pub fn names_own(selection: &str) -> bool {
    [CUSTOM_MUTATOR, CUSTOM_CROSSOVER].iter().any(|name| is_used(Some(selection), name))
}

/// Part of a `--rules` selection that names rules, without the names of the other operators. `None` if nothing is left.
pub fn rules_in(selection: &str) -> Option<String> {
    let others = || {
        let on_choices = Operator::ALL.map(Operator::name);
        OTHERS.iter().map(|(name, _)| *name).chain([DETERMINISTIC, COMPARISONS, GROWTH, COLLISIONS]).chain(on_choices)
    };
    let is_other = |item: &&str| others().any(|name| name.eq_ignore_ascii_case(item));
    let rules: Vec<&str> = selection.split(',').map(str::trim).filter(|item| !is_other(item)).collect();
    (!rules.is_empty()).then(|| rules.join(","))
}

/// Whether a `--rules` selection names an operator beside the rules that can be used: tokens can be if there are any, the
/// harness's own ones if it has some, those on choices if there are choices.
pub fn mutates(selection: &str, has_tokens: bool, has_own: bool, has_choices: bool) -> bool {
    if has_choices && Operator::ALL.iter().any(|operator| is_used(Some(selection), operator.name())) {
        return true;
    }
    let usable = OTHERS.iter().enumerate().filter(|&(place, _)| match place {
        TOKENS => has_tokens,
        CUSTOM | CROSSOVER => has_own,
        _ => true,
    });
    usable.into_iter().any(|(_, (name, _))| is_used(Some(selection), name))
}

/// Whether a `--rules` selection names this operator; without a selection all are used.
pub fn is_used(selection: Option<&str>, name: &str) -> bool {
    selection.is_none_or(|selection| selection.split(',').any(|item| item.trim().eq_ignore_ascii_case(name)))
}

/// Sources of mutants that are no operators: numbered after those, and listed with them in results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Own {
    /// The deterministic stage.
    Deterministic,
    /// A probe for a mask.
    Mask,
    /// A probe for trimming.
    Trim,
    /// The stage that replaces operands of comparisons.
    Comparisons,
    /// The stage that searches by growth.
    Growth,
    /// The stage that makes inputs of keys that collide.
    Collisions,
}

/// Name of the deterministic stage in results and in `--rules`.
pub const DETERMINISTIC: &str = "deterministic";

/// Name of the stage that replaces operands of comparisons, likewise.
pub const COMPARISONS: &str = "comparisons";

/// Name of the stage that searches by growth, likewise.
pub const GROWTH: &str = "growth";

/// Name of the stage that makes inputs of keys that collide, likewise.
pub const COLLISIONS: &str = "collisions";

const OWN: [&str; 6] = [DETERMINISTIC, "mask", "trim", COMPARISONS, GROWTH, COLLISIONS];

impl Own {
    /// Its number in a campaign with `rules` rules.
    pub fn number(self, rules: usize) -> u16 {
        (rules + OTHERS.len() + self as usize) as u16
    }
}

/// Probability, in quarters, that a chain of mutations ends after a link, and the largest number of links.
const END_CHANCE_OF_4: usize = 2;
const LONGEST_CHAIN: usize = 6;

/// All mutation operators of a campaign. Their numbers are those of the rules in the record.
pub struct Operators {
    all: Vec<Box<dyn Mutator<BytesInput, LibaflState>>>,
    masked: MaskedMutations,
    single: Box<dyn Mutator<BytesInput, LibaflState>>,
    own: Option<OwnOperators>,
    /// Number of the rules, which come first.
    pub(super) rules: usize,
    /// Weight of the rules together; 0 without any.
    weight_of_rules: usize,
    /// Weights of the operators beside the rules; 0 for those that are not used.
    weights: [usize; OTHERS.len()],
    strategy: Strategy,
    families: Families,
    /// Parts of the parent of the round that rules for text change.
    parts: TextParts,
    /// Whether all of each input is taken for what the rules are for (`--input-type`).
    are_whole: bool,
}

impl Operators {
    /// Creates the operators: the given rules, and those beside them for whose names `uses` returns true; tokens only
    /// if the state has some, `own` ones and those of `libraries` if there are some. Rules for text change the text parts of an
    /// input; all of it if inputs `are_whole`.
    pub fn new(
        rules: &[Arc<dyn Rule>],
        uses: impl Fn(&str) -> bool,
        has_tokens: bool,
        own: Option<OwnMutator>,
        libraries: Vec<StartedLibrary>,
        strategy: Strategy,
        are_whole: bool,
    ) -> Self {
        let mut all: Vec<Box<dyn Mutator<BytesInput, LibaflState>>> = Vec::new();
        all.extend(rules.iter().map(|rule| Box::new(RuleMutator::new(rule.clone())) as _));
        all.extend([Box::new(havoc()) as _, Box::new(splice()) as _, Box::new(tokens()) as _]);
        let mut weights = OTHERS.map(|(name, weight)| if uses(name) { weight } else { 0 });
        if !has_tokens {
            weights[TOKENS] = 0;
        }
        let has_own = own.is_some() || !libraries.is_empty();
        let own = has_own.then(|| OwnOperators::new(own, libraries));
        if !own.as_ref().is_some_and(OwnOperators::mutates) {
            weights[CUSTOM] = 0;
        }
        if !own.as_ref().is_some_and(OwnOperators::crosses_over) {
            weights[CROSSOVER] = 0;
        }
        let weight_of_rules = if rules.is_empty() { 0 } else { RULES };
        Self {
            all,
            masked: MaskedMutations::default(),
            single: Box::new(single()),
            own,
            rules: rules.len(),
            weight_of_rules,
            weights,
            strategy,
            families: Families::new(rules),
            parts: TextParts::default(),
            are_whole,
        }
    }

    /// Looks at the parent of the next mutants, whose name in the queue is `file`: its text parts, and which rules and libraries
    /// suit it.
    pub fn begin(&mut self, parent: &[u8], file: &dyn Fn() -> Option<String>, yields: &Yields) {
        if let Some(own) = &mut self.own {
            own.begin_round(file, parent);
        }
        if !self.are_whole {
            self.parts.find(parent);
            self.families.weigh(self.parts.share(), yields);
        }
    }

    /// Tells libraries of an entry; `files` are its name in the queue and that of its parent.
    pub fn entered(&self, files: &dyn Fn() -> [Option<String>; 2]) {
        if let Some(own) = &self.own {
            own.entered(files);
        }
    }

    /// Prefers rules to the operators beside them, for programs of which nothing is counted.
    pub fn prefer_rules(self) -> Self {
        Self { weight_of_rules: if self.rules == 0 { 0 } else { RULES_UNCOUNTED }, ..self }
    }

    /// Labels and names of all operators and of [`Own`], in the order of their numbers.
    pub fn names(rules: &[Arc<dyn Rule>]) -> Vec<(String, String)> {
        let one = |label: &str, name: &str| (label.to_owned(), name.to_owned());
        let rules = rules.iter().map(|rule| one(rule.label(), rule.name()));
        let others = OTHERS.map(|(name, _)| name).into_iter().chain(OWN).chain(Operator::ALL.map(Operator::name));
        rules.chain(others.map(|name| one(name, name))).collect()
    }

    /// Draws an operator by weight: a rule, or one of the first `others` beside them.
    fn any(&self, others: usize, rand: &mut StdRand) -> usize {
        let rules = self.weight_of_rules;
        let weight: usize = self.weights[..others].iter().sum();
        let Some(total) = NonZeroUsize::new(rules + weight) else { return self.rules };
        let draw = rand.below(total);
        if draw < rules { self.families.draw(rand) } else { self.other(draw - rules) }
    }

    /// Draws one of the harness's own operators by weight: bytes that others change afterwards lose their structure.
    fn any_own(&self, rand: &mut StdRand) -> usize {
        let [mutator, crossover] = [self.weights[CUSTOM], self.weights[CROSSOVER]];
        let place = if rand.below_or_zero(mutator + crossover) < mutator { CUSTOM } else { CROSSOVER };
        self.rules + place
    }

    /// Operator beside the rules for `draw`, a number below the sum of their weights.
    fn other(&self, draw: usize) -> usize {
        self.rules + place_of(self.weights, draw).unwrap_or(0)
    }

    /// Draws the leading operators of the mutants of a round for coverage: `most` operators, by weight.
    pub fn lead_evenly(&self, most: usize, rand: &mut StdRand, leading: &mut Vec<u16>) {
        leading.clear();
        leading.extend((0..most).map(|_| self.any(OTHERS.len(), rand) as u16));
    }

    /// Draws the leading operators of the mutants of a round for cost: each rule as often as the strategy says, and
    /// the other operators but `single` beside them by weight, in random order. At most `most`, and at least one.
    pub fn lead(&self, yields: &Yields, most: usize, rand: &mut StdRand, leading: &mut Vec<u16>) {
        if self.rules == 0 {
            return self.lead_evenly(most, rand, leading);
        }
        leading.clear();
        let total = yields.total(self.rules);
        for rule in 0..self.rules {
            if !self.families.has_turn(rule, rand) {
                continue;
            }
            let mutants = self.strategy.mutants(yields.of(rule), total, rand);
            leading.extend((0..mutants).map(|_| rule as u16));
        }
        if leading.is_empty() {
            leading.push(self.families.draw(rand) as u16);
        }
        let weight: usize = self.weights[..SINGLE].iter().sum();
        for _ in 0..(leading.len() * weight).div_ceil(self.weight_of_rules) {
            leading.push(self.other(rand.below_or_zero(weight)) as u16);
        }
        for place in 0..most.min(leading.len()) {
            let other = place + rand.below_or_zero(leading.len() - place);
            leading.swap(place, other);
        }
        leading.truncate(most);
    }

    /// Whether an operator makes one small change and no mask holds it back: of bytes that must not be just anything, few
    /// values are right, and a mask is closed there.
    pub fn is_single(&self, operator: u16) -> bool {
        usize::from(operator) == self.rules + SINGLE
    }

    /// Whether an operator is a rule.
    pub fn is_rule(&self, operator: u16) -> bool {
        usize::from(operator) < self.rules
    }

    /// Changes `input` by the operator `leading` and a random chain of others (none behind a single change), and writes
    /// their numbers into `applied`. With a mask, all changes but a single one respect it, and it follows them.
    /// Returns whether anything changed.
    pub fn mutate(
        &mut self,
        leading: u16,
        state: &mut LibaflState,
        input: &mut BytesInput,
        mut mask: Option<&mut Mask>,
        applied: &mut Vec<u16>,
    ) -> Result<bool, Error> {
        applied.clear();
        let limit = state.max_size();
        let shell = self.parts.draw(state.rand_mut());
        let mut operator = usize::from(leading);
        if !self.is_own(operator) && !self.is_single(leading) {
            let whole = 0..input.as_ref().len();
            let part = shell.and_then(|shell| shell.part(whole.end)).filter(|_| mask.is_none()).unwrap_or(whole);
            make_room(input.as_mut(), part, mask.as_deref_mut(), limit, state.rand_mut());
        }
        for _ in 0..LONGEST_CHAIN {
            let result = match &mut mask {
                _ if self.is_single(operator as u16) => self.single.mutate(state, input)?,
                _ if self.is_own(operator) => self.mutate_by_own(operator, state, input, mask.as_deref_mut())?,
                None => self.mutate_freely(operator, state, input, shell)?,
                Some(mask) => self.mutate_masked(operator, state, input, mask)?,
            };
            if self.own.as_ref().is_some_and(|own| own.failure.is_some()) {
                return Ok(false);
            }
            if result == MutationResult::Mutated {
                applied.push(operator as u16);
            }
            let is_single = self.is_single(operator as u16);
            if is_single || (state.rand_mut().below_or_zero(4) < END_CHANCE_OF_4 && !applied.is_empty()) {
                break;
            }
            operator = if self.is_own(leading.into()) {
                self.any_own(state.rand_mut())
            } else {
                self.any(SINGLE, state.rand_mut())
            };
        }
        let is_run = |own: &mut OwnOperators| own.post_process(limit, input);
        Ok(!applied.is_empty() && self.own.as_mut().is_none_or(is_run))
    }

    /// Whether an operator is the harness's own.
    fn is_own(&self, operator: usize) -> bool {
        (CUSTOM..=CROSSOVER).any(|own| operator == self.rules + own)
    }

    /// Whether code of the target has run for a mutant since the last call: its counts belong to no run.
    pub fn has_run_target(&mut self) -> bool {
        self.own.as_mut().is_some_and(|own| std::mem::take(&mut own.has_run))
    }

    /// Why the harness's own mutator did not return, if it did not since the last call.
    pub fn failure(&mut self) -> Option<MutatorFailure> {
        self.own.as_mut()?.failure.take()
    }

    /// Applies an operator of the harness's own. With a mask, undoes what the mask does not allow: the harness knows the
    /// structure of its inputs, but not what the goal needs.
    fn mutate_by_own(
        &mut self,
        operator: usize,
        state: &mut LibaflState,
        input: &mut BytesInput,
        mask: Option<&mut Mask>,
    ) -> Result<MutationResult, Error> {
        let Some(own) = &mut self.own else { return Ok(MutationResult::Skipped) };
        let mut mutate = |input: &mut BytesInput| match operator - self.rules {
            CUSTOM => own.mutate(state, input),
            _ => own.cross_over(state, input),
        };
        match mask {
            None => mutate(input),
            Some(mask) => self.masked.undone(mutate, input, mask),
        }
    }

    /// Applies an operator without a mask: a rule for text to the part inside of the shell, the others to all of the input.
    fn mutate_freely(
        &mut self,
        operator: usize,
        state: &mut LibaflState,
        input: &mut BytesInput,
        shell: Option<Shell>,
    ) -> Result<MutationResult, Error> {
        if operator == self.rules + SPLICE && state.corpus().count_all() < 2 {
            return Ok(MutationResult::Skipped);
        }
        let mutator = self.all[operator].as_mut();
        let shell = shell.filter(|_| operator < self.rules && self.families.is_for_text(operator));
        match shell.and_then(|shell| shell.part(input.as_ref().len())) {
            Some(part) => self.masked.mutate_part(mutator, state, input, part),
            None => mutator.mutate(state, input),
        }
    }

    fn mutate_masked(
        &mut self,
        operator: usize,
        state: &mut LibaflState,
        input: &mut BytesInput,
        mask: &mut Mask,
    ) -> Result<MutationResult, Error> {
        match operator.checked_sub(self.rules) {
            None => self.masked.held(self.all[operator].as_mut(), state, input, mask),
            Some(HAVOC) => self.masked.havoc(state, input, mask),
            Some(TOKENS) => Ok(self.masked.tokens(state, input, mask)),
            Some(_) => self.masked.splice(state, input, mask),
        }
    }
}

#[cfg(test)]
mod tests {
    use libafl::corpus::Testcase;

    use super::*;
    use crate::evaluate::tests::libafl_state;

    #[test]
    fn a_single_change_is_alone_and_no_mask_holds_it_back() {
        let mut operators = Operators::new(&[], |_| true, false, None, Vec::new(), Strategy::Mixed, false);
        let (mut state, mut applied) = (libafl_state(), Vec::new());
        let single = SINGLE as u16;
        for _ in 0..1000 {
            let before = vec![100; 40];
            let mut input = BytesInput::new(before.clone());
            let mut mask = Mask::nothing(before.len());
            operators.mutate(single, &mut state, &mut input, Some(&mut mask), &mut applied).unwrap();
            let bytes: &[u8] = input.as_ref();
            let changed: Vec<usize> = (0..40).filter(|&at| bytes[at] != before[at]).collect();
            assert_eq!((bytes.len(), applied.as_slice()), (40, &[single][..]));
            assert!(changed.is_empty() || changed[changed.len() - 1] - changed[0] < 4, "{changed:?}");
        }
    }

    #[test]
    fn there_is_no_splicing_without_another_input() {
        for others in 0..3 {
            let mut operators = Operators::new(&[], |_| true, false, None, Vec::new(), Strategy::Mixed, false);
            let (mut state, mut applied, splice) = (libafl_state(), Vec::new(), SPLICE as u16);
            for other in 0..others {
                state.corpus_mut().add(Testcase::new(BytesInput::new(vec![other; 40]))).unwrap();
            }
            let mut is_spliced = |_| {
                let mut input = BytesInput::new(vec![100; 40]);
                operators.mutate(splice, &mut state, &mut input, None, &mut applied).unwrap();
                applied.contains(&splice)
            };
            assert_eq!((0..200).any(&mut is_spliced), others > 1, "{others}");
        }
    }

    #[test]
    fn a_selection_names_rules_and_the_mutations_beside_them() {
        assert_eq!(rules_in("T, havoc,B.6"), Some("T,B.6".to_owned()));
        assert_eq!(rules_in("havoc,Splice"), None);
        assert!(is_used(None, "havoc") && is_used(Some("T,Havoc"), "havoc") && !is_used(Some("T"), "havoc"));
    }
}
