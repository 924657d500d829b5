//! Laws of growth: how an amount (the cost of a run, the count of one edge) grows with the size of an input.
//!
//! [`fit()`] finds the law of a series of sizes and amounts. All laws are compared in one space, that of relative errors,
//! and by one question: how well does a law that was fitted without the three largest sizes predict the amounts there?
//! Counts are exact, so what a law misses is drift of the model and not noise; that is why no information criterion is
//! used. [`Fit`] says which law it is, which other one would do as well, from which size on it holds, and where it
//! ends. [`sum()`] joins the laws of single edges to the law of the whole.

mod candidates;
mod exact;
mod fit;

pub use exact::EqualSteps;
pub use fit::{Cap, Confidence, Fit, LARGEST_ERROR, LARGEST_SWING, Rival, before_plateau, fit, fit_noisy};

use std::{cmp::Ordering, fmt};

use serde::{Deserialize, Serialize};

/// An amount at a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// The size: bytes, or how often a part repeats.
    pub size: u64,
    /// Amount that was used up, or number of executions of an edge.
    pub amount: u64,
}

impl Point {
    /// The points of sizes and the amounts at them.
    pub fn series(sizes: &[u64], amounts: &[u64]) -> Vec<Self> {
        sizes.iter().zip(amounts).map(|(&size, &amount)| Self { size, amount }).collect()
    }
}

/// Exponents that are closer than this are not told apart: sizes that span a factor of a thousand give no more.
const SAME_EXPONENT: f64 = 0.05;

/// The class of a law, by its term of the highest order.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// The amount does not depend on the size.
    Constant,
    /// log n
    Logarithmic,
    /// n
    Linear,
    /// n log n
    Linearithmic,
    /// n²
    Quadratic,
    /// n³
    Cubic,
    /// n to a power that is none of the above.
    Power(f64),
    /// The amount is multiplied by this factor whenever the size grows by one.
    Exponential(f64),
}

impl Class {
    /// Compares how fast amounts grow in the end. Powers that differ by less than 0.05 are equal.
    pub fn compare(&self, other: &Self) -> Ordering {
        let (a, b) = (self.order(), other.order());
        if a.0 == b.0 && (a.1 - b.1).abs() >= SAME_EXPONENT {
            return a.1.total_cmp(&b.1);
        }
        a.0.cmp(&b.0).then(a.2.cmp(&b.2))
    }

    /// Whether amounts of this class outgrow those of `other`.
    pub fn is_worse_than(&self, other: &Self) -> bool {
        self.compare(other) == Ordering::Greater
    }

    /// Whether twice the size means more than twice the amount in the end.
    pub fn is_superlinear(&self) -> bool {
        self.is_worse_than(&Self::Linear)
    }

    /// The value of the term of this class at a size, without its coefficient.
    fn value(&self, size: f64) -> f64 {
        match self {
            Self::Constant => 1.0,
            Self::Logarithmic => size.max(1.0).log2(),
            Self::Linear => size,
            Self::Linearithmic => size * size.max(1.0).log2(),
            Self::Quadratic => size * size,
            Self::Cubic => size * size * size,
            Self::Power(exponent) => size.powf(*exponent),
            Self::Exponential(base) => (size * base.ln()).exp(),
        }
    }

    /// The number of free coefficients, exponents and bases of the laws of this class.
    fn parameters(&self) -> usize {
        match self {
            Self::Constant => 1,
            Self::Logarithmic | Self::Linear => 2,
            Self::Linearithmic | Self::Quadratic => 3,
            Self::Cubic | Self::Power(_) | Self::Exponential(_) => 4,
        }
    }

    /// Whether the laws of one of the two classes contain those of the other: a better fit of the larger one says
    /// nothing against the smaller one.
    fn is_nested(&self, other: &Self) -> bool {
        let chain = |class: &Self| match class {
            Self::Constant => Some(0),
            Self::Linear => Some(1),
            Self::Quadratic => Some(2),
            Self::Cubic => Some(3),
            _ => None,
        };
        let with_linear = |class: &Self| match class {
            Self::Logarithmic => false,
            Self::Power(exponent) => *exponent > 1.0,
            _ => true,
        };
        match (chain(self), chain(other)) {
            (Some(_), Some(_)) => true,
            (Some(low), None) => low == 0 || low == 1 && with_linear(other),
            (None, Some(low)) => low == 0 || low == 1 && with_linear(self),
            (None, None) => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }

    /// Compares without tolerance, for sorting.
    fn compare_exactly(&self, other: &Self) -> Ordering {
        let (a, b) = (self.order(), other.order());
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2))
    }

    /// Exponential or not, the exponent, logarithmic factors.
    fn order(&self) -> (bool, f64, u8) {
        match self {
            Self::Constant => (false, 0.0, 0),
            Self::Logarithmic => (false, 0.0, 1),
            Self::Linear => (false, 1.0, 0),
            Self::Linearithmic => (false, 1.0, 1),
            Self::Quadratic => (false, 2.0, 0),
            Self::Cubic => (false, 3.0, 0),
            Self::Power(exponent) => (false, *exponent, 0),
            Self::Exponential(base) => (true, *base, 0),
        }
    }
}

/// `constant`, `n log n`, `n^1.58`, `exponential (1.62^n)`
impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let digits = f.precision().unwrap_or(2);
        let rounded = |x: f64| {
            let text = format!("{x:.digits$}");
            if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
        };
        match self {
            Self::Constant => f.write_str("constant"),
            Self::Logarithmic => f.write_str("logarithmic"),
            Self::Linear => f.write_str("linear"),
            Self::Linearithmic => f.write_str("n log n"),
            Self::Quadratic => f.write_str("quadratic"),
            Self::Cubic => f.write_str("cubic"),
            Self::Power(exponent) => write!(f, "n^{}", rounded(*exponent)),
            Self::Exponential(base) => write!(f, "exponential ({}^n)", rounded(*base)),
        }
    }
}

/// Sizes above this are not looked for: no input is so large.
const LARGEST_SIZE: f64 = 1e15;

/// A term of a law: a coefficient times a function of the size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Term {
    /// The function of the size.
    pub class: Class,
    /// Its factor. Only that of the highest term is never negative: comparing all pairs is n²/2 - n/2.
    pub coefficient: f64,
}

impl Term {
    pub fn amount_at(&self, size: f64) -> f64 {
        self.coefficient * self.class.value(size)
    }
}

/// A sum of terms, from the lowest to the highest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Law {
    /// The terms, from the lowest to the highest. None: the amount is 0.
    pub terms: Vec<Term>,
}

impl Law {
    /// A sum of terms, which are put into order; those of the same class are added. Terms with coefficient 0 are left out.
    pub fn new(terms: impl IntoIterator<Item = Term>) -> Self {
        let mut sum: Vec<Term> = Vec::new();
        for term in terms {
            match sum.iter_mut().find(|known| known.class == term.class) {
                Some(known) => known.coefficient += term.coefficient,
                None => sum.push(term),
            }
        }
        sum.retain(|term| term.coefficient != 0.0);
        sum.sort_by(|a, b| a.class.compare_exactly(&b.class));
        Self { terms: sum }
    }

    /// The same amount at all sizes.
    pub fn constant(amount: f64) -> Self {
        Self::new([Term { class: Class::Constant, coefficient: amount }])
    }

    /// The class of the highest term.
    pub fn class(&self) -> Class {
        self.terms.last().map_or(Class::Constant, |term| term.class)
    }

    /// The term of the highest order, if the amount is not 0.
    pub fn highest(&self) -> Option<&Term> {
        self.terms.last()
    }

    /// The amount at a size; 0 where the formula is below 0, which it can be only below the sizes that it was fitted to.
    pub fn amount_at(&self, size: f64) -> f64 {
        self.terms.iter().map(|term| term.amount_at(size)).sum::<f64>().max(0.0)
    }

    /// The smallest size, from `from` on, at which the amount reaches `amount`; none below 10^15.
    pub fn size_for(&self, amount: f64, from: f64) -> Option<f64> {
        first_size(from, |size| self.amount_at(size) >= amount)
    }

    /// The size at which the highest term overtakes all others together. None: it never does, or there is one term only.
    /// Negative terms do not count as others.
    pub fn crossover(&self) -> Option<f64> {
        let (highest, others) = self.terms.split_last()?;
        if others.is_empty() {
            return None;
        }
        let rest = |size: f64| others.iter().map(|term| term.amount_at(size).max(0.0)).sum::<f64>();
        first_size(1.0, |size| highest.amount_at(size) >= rest(size))
    }

    /// The sum of this law and another one.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self::new(self.terms.iter().chain(&other.terms).copied())
    }

    /// This law with every amount multiplied.
    #[must_use]
    pub fn times(&self, factor: f64) -> Self {
        Self::new(self.terms.iter().map(|t| Term { class: t.class, coefficient: t.coefficient * factor }))
    }
}

/// The smallest size, from `from` on, at which `holds` becomes true, which stays true from there on.
fn first_size(from: f64, holds: impl Fn(f64) -> bool) -> Option<f64> {
    let mut low = from.max(1.0);
    if holds(low) {
        return Some(low);
    }
    let mut high = low * 2.0;
    while !holds(high) {
        low = high;
        high *= 2.0;
        if high > LARGEST_SIZE {
            return None;
        }
    }
    for _ in 0..100 {
        let middle = low.midpoint(high);
        if holds(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

/// `0.5 n^2 + 12 n + 300`, from the highest term to the lowest, with four significant digits.
impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if self.terms.is_empty() {
            return f.write_str("0");
        }
        for (at, term) in self.terms.iter().rev().enumerate() {
            let sign = match (at, term.coefficient < 0.0) {
                (0, false) => "",
                (0, true) => "-",
                (_, false) => " + ",
                (_, true) => " - ",
            };
            let coefficient = significant(term.coefficient.abs());
            let function = match term.class {
                Class::Constant => {
                    write!(f, "{sign}{coefficient}")?;
                    continue;
                }
                Class::Logarithmic => "log2 n".to_owned(),
                Class::Linear => "n".to_owned(),
                Class::Linearithmic => "n log2 n".to_owned(),
                Class::Quadratic => "n^2".to_owned(),
                Class::Cubic => "n^3".to_owned(),
                Class::Power(exponent) => format!("n^{exponent:.3}"),
                Class::Exponential(base) => format!("{base:.4}^n"),
            };
            write!(f, "{sign}{coefficient} {function}")?;
        }
        Ok(())
    }
}

/// Four significant digits, in the shortest form.
fn significant(x: f64) -> String {
    if x == 0.0 {
        return "0".to_owned();
    }
    let magnitude = x.abs().log10().floor() as i32;
    if !(-4..=9).contains(&magnitude) {
        return format!("{x:.3e}");
    }
    let decimals = usize::try_from(3 - magnitude).unwrap_or(0);
    let text = format!("{x:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

// Sums of laws: from the edges to the law of the whole.

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
        terms.extend(law.terms.iter().map(|&term| (term, fit.is_sure())));
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

#[cfg(test)]
mod tests;
