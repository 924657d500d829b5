//! Classes of laws: constant, logarithmic, linear and so on, and which of two is worse.

use std::{cmp::Ordering, fmt};

use serde::{Deserialize, Serialize};

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
    pub(super) fn value(&self, size: f64) -> f64 {
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
    pub(super) fn parameters(&self) -> usize {
        match self {
            Self::Constant => 1,
            Self::Logarithmic | Self::Linear => 2,
            Self::Linearithmic | Self::Quadratic => 3,
            Self::Cubic | Self::Power(_) | Self::Exponential(_) => 4,
        }
    }

    /// Whether the laws of one of the two classes contain those of the other: a better fit of the larger one says
    /// nothing against the smaller one.
    pub(super) fn is_nested(&self, other: &Self) -> bool {
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
    pub(super) fn compare_exactly(&self, other: &Self) -> Ordering {
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
