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
//!  6. [`sample`]: alternatives whose fresh samples are rejected are refused.
//!  7. Of narrow and wide grammars, with [`cycles`] cut or joined, the one is taken that has the best balance of precision and
//!     of the share of accepted inputs of step 3 that it describes, among those of use if there are some.

mod blanks;
mod cycles;
mod infer;
mod leaves;
mod oracle;
mod rules;
mod sample;
mod spans;
mod table;
mod variants;
mod write;

use self::{oracle::Oracle, rules::Rules, spans::Forest, table::Table};
use crate::grammar::{Grammar, Limits};
use libafl_bolts::rands::StdRand;
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
        let mut rules = cycles::removed(&rules, is_joined);
        sample::refuse_wrong(&mut rules, &forest.examples, &mut oracle, &mut random);
        let grammar = write::grammar(&rules)?;
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
        json: write::json(&rules),
        nonterminals: rules.rules.len(),
        examples,
        is_cut_short: oracle.is_exhausted(),
        precision: precision(&grammar, &mut oracle, &mut random),
        grammar,
    })
}

#[cfg(test)]
mod tests;
