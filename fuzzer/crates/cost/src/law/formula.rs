//! Formulas of laws: sums of terms, which can be evaluated, inverted, and compared by their highest term.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Class;

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
    terms: Vec<Term>,
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

    /// The terms, from the lowest to the highest. None: the amount is 0.
    pub fn terms(&self) -> &[Term] {
        &self.terms
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
