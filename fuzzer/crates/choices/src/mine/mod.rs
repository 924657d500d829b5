//! Mining of grammars from examples and a program that accepts or rejects inputs.
//!
//! The way is that of Arvada and its successors TreeVada and Kedavra, with a table in place of a greedy search, since a
//! program that runs in process answers many thousands of questions a second:
//!
//!  1. [`spans`]: examples are divided by brackets, quotes and separators.
//!  2. [`table`]: texts of all parts are tried in the places of all parts. Places that accept the same texts are one
//!     nonterminal: labels are merged if swapped samples are accepted both ways.
//!  3. [`infer`]: parts, lists that can be longer, and [`blanks`] between parts become rules.
//!  4. [`leaves`]: values are generalised to the characters that are accepted in their places.
//!  5. [`sample`]: alternatives whose fresh samples are rejected are refused.
//!  6. Of a narrow and a wide grammar the one is taken that has the better balance of precision and of the share of accepted
//!     inputs of step 2 that it describes.

mod blanks;
mod infer;
mod leaves;
mod oracle;
mod recognise;
mod rules;
mod sample;
mod spans;
mod table;
mod write;

use self::{oracle::Oracle, rules::Rules, spans::Forest, table::Table};
use libafl_bolts::rands::StdRand;

/// Number of samples by which the precision of a grammar is measured.
const SAMPLES: usize = 300;

/// Number of accepted inputs by which grammars are compared.
const KNOWN: usize = 200;

/// A mined grammar.
#[derive(Debug)]
pub struct Mined {
    rules: Rules,
    /// Number of examples that were used.
    pub examples: usize,
    /// Share of 300 fresh samples of the grammar that the program accepts.
    pub precision: f64,
    /// Whether the budget was used up before the end.
    pub is_cut_short: bool,
}

impl Mined {
    /// The grammar as the fuzzing book writes it: `{"<start>": [["x", "<other>"], ...], ...}`.
    pub fn json(&self) -> String {
        write::json(&self.rules)
    }

    /// Number of nonterminals.
    pub fn nonterminals(&self) -> usize {
        self.rules.rules.len()
    }

    /// Measures the precision again, by a program whose budget was used up before.
    pub fn measure(&mut self, seed: u64, accepts: &mut dyn FnMut(&[u8]) -> Option<bool>) {
        let mut oracle = Oracle::new(accepts);
        self.precision = sample::precision(&self.rules, SAMPLES, &mut oracle, &mut StdRand::with_seed(seed));
    }

    /// Whether the grammar derives exactly these bytes.
    pub fn recognises(&self, bytes: &[u8]) -> bool {
        recognise::recognises(&self.rules, bytes)
    }
}

/// Mines a grammar from examples, which have to be accepted. `accepts` runs the program; it returns `None` once its budget
/// is used up. The same `seed`, the same grammar.
pub fn mine(examples: Vec<Vec<u8>>, seed: u64, accepts: &mut dyn FnMut(&[u8]) -> Option<bool>) -> Option<Mined> {
    let mut oracle = Oracle::new(accepts);
    let mut random = StdRand::with_seed(seed);
    let forest = Forest::new(examples);
    if forest.spans.is_empty() {
        return None;
    }
    let table = Table::new(&forest, &mut oracle);
    // inputs that no grammar has made
    let known = oracle.accepted();
    let known: Vec<&Vec<u8>> = known.iter().step_by(known.len().div_ceil(KNOWN).max(1)).collect();
    let mut best: Option<(f64, Rules)> = None;
    for is_wide in [false, true] {
        let mut rules = infer::infer(&forest, &table, is_wide, &mut oracle, &mut random);
        sample::refuse_wrong(&mut rules, &forest.examples, &mut oracle, &mut random);
        let precision = sample::precision(&rules, SAMPLES, &mut oracle, &mut random);
        let described = known.iter().filter(|input| recognise::recognises(&rules, input)).count();
        let recall = described as f64 / known.len().max(1) as f64;
        let both = 2.0 * precision * recall / (precision + recall).max(1e-9);
        if best.as_ref().is_none_or(|best| both > best.0) {
            best = Some((both, rules));
        }
    }
    let rules = best?.1;
    let is_cut_short = oracle.is_exhausted();
    let precision = sample::precision(&rules, SAMPLES, &mut oracle, &mut random);
    Some(Mined { rules, examples: forest.examples.len(), precision, is_cut_short })
}

#[cfg(test)]
mod tests;
