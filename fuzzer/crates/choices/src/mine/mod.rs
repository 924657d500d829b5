//! Mining of grammars from examples and a program that accepts or rejects inputs.
//!
//! The way is that of Arvada and its successors TreeVada and Kedavra, with a table in place of a greedy search, since a
//! program that runs in process answers many thousands of questions a second:
//!
//!  1. [`spans`]: examples are divided by brackets, quotes and separators.
//!  2. [`variants`]: parts with words that have to agree become more examples: without something, with something that
//!     stands between the same neighbours elsewhere, with other words.
//!  3. [`table`]: texts of all parts are tried in the places of all parts. Places that accept the same texts are one
//!     nonterminal: labels are merged if swapped samples are accepted both ways.
//!  4. [`infer`]: parts, lists that can be longer, and [`blanks`] between parts become rules.
//!  5. [`leaves`]: values are generalised to the characters that are accepted in their places.
//!  6. [`refuse_wrong`]: alternatives whose fresh samples are rejected are refused.
//!  7. Of narrow and wide grammars, with cycles cut or joined, the one is taken that has the best balance of precision and
//!     of the share of accepted inputs of step 3 that it describes, among those of use if there are some.

mod blanks;
mod infer;
mod leaves;
mod rules;
mod spans;
mod table;
mod variants;

use std::collections::HashMap;

use self::{
    rules::{Item, Rules},
    spans::Forest,
    table::Table,
};
use crate::grammar::{Grammar, Limits};
use libafl_bolts::rands::{Rand, StdRand};
use quagmire_base::error::{Error, Result};

/// Number of samples by which the precision of a grammar is measured.
const SAMPLES: usize = 300;

/// Number of accepted inputs by which grammars are compared.
const KNOWN: usize = 200;

/// Least precision of a grammar that is of use.
pub const LEAST_PRECISION: f64 = 0.5;

/// Limits of the samples by which the precision of a grammar is measured.
const LIMITS: Limits = Limits { size: 400, depth: 14 };

/// A mined grammar.
#[derive(Debug)]
pub struct Mined {
    pub grammar: Grammar,
    /// The grammar as the fuzzing book writes it: `{"<start>": [["x", "<other>"], ...], ...}`.
    pub json: String,
    /// Number of nonterminals.
    pub nonterminals: usize,
    /// Number of examples that were used.
    pub examples: usize,
    /// Share of 300 fresh samples of the grammar that the program accepts.
    pub precision: f64,
    /// Whether the budget was used up before the end.
    pub is_cut_short: bool,
}

impl Mined {
    /// Measures the precision again, by a program whose budget was used up before.
    pub fn measure(&mut self, seed: u64, accepts: &mut dyn FnMut(&[u8]) -> Option<bool>) {
        self.precision = precision(&self.grammar, &mut Oracle::new(accepts), &mut StdRand::with_seed(seed));
    }
}

/// Share of fresh samples that the program accepts.
fn precision(grammar: &Grammar, oracle: &mut Oracle, random: &mut StdRand) -> f64 {
    let accepted = (0..SAMPLES).filter(|_| oracle.accepts(&grammar.generate(random, &LIMITS).bytes)).count();
    accepted as f64 / SAMPLES as f64
}

/// Mines a grammar from examples, which have to be accepted. `accepts` runs the program; it returns `None` once its budget
/// is used up. The same `seed`, the same grammar.
///
/// # Errors
/// If no example has anything in it.
pub fn mine(examples: Vec<Vec<u8>>, seed: u64, accepts: &mut dyn FnMut(&[u8]) -> Option<bool>) -> Result<Mined> {
    let mut oracle = Oracle::new(accepts);
    let mut random = StdRand::with_seed(seed);
    let mut forest = Forest::new(examples);
    let examples = forest.examples.len();
    variants::add(&mut forest, &mut oracle);
    let table = Table::new(&forest, &mut oracle);
    // inputs that no grammar has made
    let known = oracle.accepted();
    let known: Vec<&Vec<u8>> = known.iter().step_by(known.len().div_ceil(KNOWN).max(1)).collect();
    let mut best: Option<((bool, f64), Rules, Grammar)> = None;
    let candidates = [(false, false), (false, true), (true, false), (true, true)];
    for (is_wide, is_joined) in candidates.into_iter().filter(|_| !forest.spans.is_empty()) {
        let rules = infer::infer(&forest, &table, is_wide, &mut oracle, &mut random);
        let mut rules = rules.without_cycles(is_joined);
        refuse_wrong(&mut rules, &forest.examples, &mut oracle, &mut random);
        let grammar = rules.grammar()?;
        let precision = precision(&grammar, &mut oracle, &mut random);
        let described = known.iter().filter(|input| grammar.parse(input).is_some()).count();
        let recall = described as f64 / known.len().max(1) as f64;
        let both = 2.0 * precision * recall / (precision + recall).max(1e-9);
        let score = (precision >= LEAST_PRECISION, both);
        if best.as_ref().is_none_or(|best| score > best.0) {
            best = Some((score, rules, grammar));
        }
    }
    let (_, rules, grammar) =
        best.ok_or_else(|| Error::usage("no example has anything in it: give files of the format"))?;
    Ok(Mined {
        json: rules.json(),
        nonterminals: rules.rules.len(),
        examples,
        is_cut_short: oracle.is_exhausted(),
        precision: precision(&grammar, &mut oracle, &mut random),
        grammar,
    })
}

/// Number of answers that are remembered.
const REMEMBERED: usize = 1 << 20;

/// Counts the questions to a program, remembers its answers, and stops asking when the budget is used up.
pub(crate) struct Oracle<'a> {
    /// Whether the program accepts an input; `None` if the budget is used up.
    ask: &'a mut dyn FnMut(&[u8]) -> Option<bool>,
    answers: HashMap<Vec<u8>, bool>,
    is_exhausted: bool,
}

impl<'a> Oracle<'a> {
    pub(crate) fn new(ask: &'a mut dyn FnMut(&[u8]) -> Option<bool>) -> Self {
        Self { ask, answers: HashMap::new(), is_exhausted: false }
    }

    /// Whether the program accepts an input. Once the budget is used up, it accepts nothing more that is not known.
    pub(crate) fn accepts(&mut self, input: &[u8]) -> bool {
        if let Some(&answer) = self.answers.get(input) {
            return answer;
        }
        if self.is_exhausted {
            return false;
        }
        let Some(answer) = (self.ask)(input) else {
            self.is_exhausted = true;
            return false;
        };
        if self.answers.len() == REMEMBERED {
            self.answers.clear();
        }
        self.answers.insert(input.to_vec(), answer);
        answer
    }

    /// Whether the budget is used up.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.is_exhausted
    }

    /// Inputs that were accepted so far, in the order of their bytes.
    pub(crate) fn accepted(&self) -> Vec<Vec<u8>> {
        let mut accepted: Vec<Vec<u8>> =
            self.answers.iter().filter(|answer| *answer.1).map(|answer| answer.0.clone()).collect();
        accepted.sort();
        accepted
    }
}

// Samples of mined rules, and the alternatives that they were made by.

/// Number of rules, one inside of the other, from which on the shortest way to an end is taken.
const DEEP: usize = 14;
/// Size from which on the shortest way to an end is taken, in bytes.
const LARGE: usize = 400;
/// Number of samples in a round of refusals.
const ROUND: usize = 200;
/// Rounds of refusals.
const ROUNDS: usize = 24;
/// Standard deviations by which an alternative has to be rejected more often than others.
const LEAST_EXCESS: f64 = 2.0;
/// Share of accepted samples from which on no alternative is refused.
const GOOD: f64 = 0.97;

/// Makes up one input. Adds the alternatives that it uses, as rule and number.
fn sample(
    rules: &Rules,
    depths: &[Vec<Option<usize>>],
    random: &mut StdRand,
    used: &mut Vec<(usize, usize)>,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    let start = Item::Rule(0);
    let mut waiting = vec![(&start, 0)];
    while let Some((item, depth)) = waiting.pop() {
        let rule = match item {
            Item::Text(text) => {
                bytes.extend(text);
                continue;
            }
            Item::Rule(rule) => *rule,
        };
        let ends = || (0..depths[rule].len()).filter(|&place| depths[rule][place].is_some());
        let least = ends().filter_map(|place| depths[rule][place]).min();
        let is_late = depth > DEEP || bytes.len() > LARGE;
        let choices: Vec<usize> = ends().filter(|&place| !is_late || depths[rule][place] == least).collect();
        let Some(&choice) = choices.get(random.below_or_zero(choices.len())) else { continue };
        used.push((rule, choice));
        // characters do not make an input deep
        let is_tail = |inner: &Item| *inner == Item::Rule(rule);
        let alternative = &rules.rules[rule].alternatives[choice];
        waiting.extend(alternative.iter().rev().map(|inner| (inner, depth + usize::from(!is_tail(inner)))));
    }
    bytes
}

/// Refuses alternatives whose samples are rejected more often than others, until most samples are accepted.
/// An alternative that an example needs is not refused.
fn refuse_wrong(rules: &mut Rules, examples: &[Vec<u8>], oracle: &mut Oracle, random: &mut StdRand) {
    let described = |rules: &Rules| {
        let count = |grammar: Grammar| examples.iter().filter(|example| grammar.parse(example).is_some()).count();
        rules.grammar().map_or(0, count)
    };
    let mut known = described(rules);
    let mut needed: Vec<(usize, usize)> = Vec::new();
    for _ in 0..ROUNDS {
        if oracle.is_exhausted() {
            break;
        }
        let depths = rules.depths();
        // samples and rejected samples by rule and alternative
        let mut counts: Vec<Vec<[usize; 2]>> =
            rules.rules.iter().map(|rule| vec![[0; 2]; rule.alternatives.len()]).collect();
        let mut rejected = 0;
        for _ in 0..ROUND {
            let mut used = Vec::new();
            let input = sample(rules, &depths, random, &mut used);
            let is_rejected = usize::from(!oracle.accepts(&input));
            rejected += is_rejected;
            used.sort_unstable();
            used.dedup();
            for (rule, choice) in used {
                counts[rule][choice][0] += 1;
                counts[rule][choice][1] += is_rejected;
            }
        }
        if (rejected as f64) < (1.0 - GOOD) * ROUND as f64 {
            break;
        }
        needed.iter().for_each(|&(rule, choice)| counts[rule][choice] = [0; 2]);
        let Some((rule, choice)) = worst(&counts, rejected) else { break };
        let mut without = rules.clone();
        without.rules[rule].alternatives.remove(choice);
        without.simplify();
        let left = described(&without);
        if left < known {
            needed.push((rule, choice));
        } else {
            (*rules, known) = (without, left);
            needed.clear();
        }
    }
}

/// The alternative whose samples are rejected most often in comparison with those that do without it.
fn worst(counts: &[Vec<[usize; 2]>], rejected: usize) -> Option<(usize, usize)> {
    let mut worst = (LEAST_EXCESS, None);
    for (rule, counts) in counts.iter().enumerate().filter(|(_, counts)| counts.len() > 1) {
        for (choice, &[uses, failures]) in counts.iter().enumerate().filter(|(_, count)| count[0] >= 4) {
            let others = ROUND - uses;
            let with = failures as f64 / uses as f64;
            let without = (rejected - failures) as f64 / others.max(1) as f64;
            // test of two shares
            let all = rejected as f64 / ROUND as f64;
            let deviation = (all * (1.0 - all) * (1.0 / uses as f64 + 1.0 / others.max(1) as f64)).sqrt();
            let excess = (with - without) / deviation.max(1e-9);
            if with > 0.1 && excess > worst.0 {
                worst = (excess, Some((rule, choice)));
            }
        }
    }
    worst.1
}

#[cfg(test)]
mod tests;
