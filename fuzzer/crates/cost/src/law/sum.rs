//! Sums of laws: from the edges to the law of the whole.

use serde::{Deserialize, Serialize};

use super::{Class, Confidence, Fit, Law, Term};

/// Terms of laws that fit well count towards the law of the whole from this share of the amount at the largest size on:
/// n²/5000 beside 300 n is one percent at n = 16,000.
const LEAST_SHARE: f64 = 0.001;
/// Terms of laws that fit badly count from this share on: they may be of another order than they seem.
const LEAST_UNSURE_SHARE: f64 = 0.05;

/// One edge, line or function of a sum.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// Its law.
    pub fit: &'a Fit,
    /// Amount for each execution: the weight of an edge, or 1.
    pub weight: u64,
}

/// A sum of laws.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Total {
    /// The sum.
    pub law: Law,
    /// The part of the amount at the largest size whose laws are sure, 0 to 1.
    pub sure: f64,
    /// How sure the class is: the confidence of the part whose highest term, of the class of the sum, carries most.
    pub confidence: Confidence,
}

/// Adds laws. Terms whose order is not sure, or that carry less than a thousandth at `largest`, are not part of the
/// formula: amounts of edges that do not count are added to the constant, and the rest keeps its order.
pub fn sum<'a>(parts: impl IntoIterator<Item = Part<'a>>, largest: u64) -> Total {
    let size = largest as f64;
    let mut terms: Vec<(Term, bool)> = Vec::new();
    let mut highest: Vec<(Term, f64, Confidence)> = Vec::new();
    let (mut whole, mut sure) = (0.0, 0.0);
    for Part { fit, weight } in parts {
        let law = fit.final_law().times(weight as f64);
        let amount = law.amount_at(size);
        whole += amount;
        if fit.is_sure() {
            sure += amount;
        }
        highest.extend(law.highest().map(|term| (*term, term.amount_at(size), fit.confidence)));
        terms.extend(law.terms().iter().map(|&term| (term, fit.is_sure())));
    }
    let carried = |class: Class, only_sure: bool| -> f64 {
        let those = terms.iter().filter(|(term, sure)| term.class.compare(&class).is_eq() && (*sure || !only_sure));
        those.map(|(term, _)| term.amount_at(size)).sum()
    };
    let counts = |class: Class| {
        class == Class::Constant
            || carried(class, true) >= LEAST_SHARE * whole
            || carried(class, false) >= LEAST_UNSURE_SHARE * whole
    };
    // negative terms belong to a higher one of the same edge, and stay
    let kept = |term: &Term| term.coefficient < 0.0 || counts(term.class);
    let left_out: f64 = terms.iter().filter(|(term, _)| !kept(term)).map(|(term, _)| term.amount_at(size)).sum();
    let rest = Term { class: Class::Constant, coefficient: left_out };
    let law = Law::new(terms.iter().map(|(term, _)| *term).filter(|term| kept(term)).chain([rest]));
    let of_class = highest.iter().filter(|(term, ..)| term.class.compare(&law.class()).is_eq());
    let confidence =
        of_class.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(Confidence::High, |(.., confidence)| *confidence);
    Total { law, confidence, sure: if whole > 0.0 { sure / whole } else { 1.0 } }
}
