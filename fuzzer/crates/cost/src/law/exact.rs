//! Exact polynomials: amounts at equal steps of the size, whose differences vanish.

use super::{Class, Law, Point, Term};

/// The highest degree that is looked for.
const LARGEST_DEGREE: usize = 3;
/// Differences that must vanish, in addition to those that the polynomial takes: one alone may be chance.
const LEAST_ZEROS: usize = 2;

/// Amounts at sizes `start`, `start + step`, `start + 2 step` and so on, and at one far larger size.
///
/// A step that is a multiple of 64 leaves the same remainder to loops that handle several elements at once. The far size
/// should leave it too, and be several times as large: n times the whole part of log2 n is exactly linear between two
/// powers of two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EqualSteps {
    /// The first size.
    pub start: u64,
    /// The distance of neighbouring sizes, at least 1.
    pub step: u64,
    /// The amounts, in the order of the sizes; seven or more.
    pub amounts: Vec<u64>,
    /// An amount at a far larger size.
    pub far: Point,
}

impl EqualSteps {
    /// The polynomial of degree 0 to 3 which all amounts are on, exactly.
    pub fn polynomial(&self) -> Option<Law> {
        let mut row: Vec<i128> = self.amounts.iter().map(|&amount| i128::from(amount)).collect();
        let mut leading = Vec::new();
        while row.len() >= LEAST_ZEROS && row.iter().any(|&x| x != 0) {
            leading.push(row[0]);
            row = row.windows(2).map(|pair| pair[1] - pair[0]).collect();
        }
        if row.len() < LEAST_ZEROS || leading.len() > LARGEST_DEGREE + 1 || self.step == 0 {
            return None;
        }
        (self.far_amount(&leading)? == i128::from(self.far.amount)).then(|| self.expanded(&leading))
    }

    /// Newton's forward formula at the far size, in whole numbers.
    fn far_amount(&self, leading: &[i128]) -> Option<i128> {
        let distance = self.far.size.checked_sub(self.start).filter(|distance| distance % self.step == 0)?;
        let steps = i128::from(distance / self.step);
        let mut binomial = 1_i128;
        let mut sum = 0_i128;
        for (k, difference) in (0_i128..).zip(leading) {
            sum = sum.checked_add(binomial.checked_mul(*difference)?)?;
            binomial = binomial.checked_mul(steps - k)? / (k + 1);
        }
        Some(sum)
    }

    /// Newton's forward formula as a sum of powers of the size.
    fn expanded(&self, leading: &[i128]) -> Law {
        let (start, step) = (self.start as f64, self.step as f64);
        let mut powers = [0.0; LARGEST_DEGREE + 1];
        // the product (n - start)(n - start - step)... / (step^k k!), from the power 0 on
        let mut product = vec![1.0];
        for (k, difference) in leading.iter().enumerate() {
            product.iter().zip(&mut powers).for_each(|(x, power)| *power += *difference as f64 * x);
            let (root, divisor) = (start + step * k as f64, step * (k + 1) as f64);
            let mut next = vec![0.0; product.len() + 1];
            for (at, x) in product.iter().enumerate() {
                next[at] -= x * root / divisor;
                next[at + 1] += x / divisor;
            }
            product = next;
        }
        let classes = [Class::Constant, Class::Linear, Class::Quadratic, Class::Cubic];
        // what is left of terms that cancel each other is not a term
        let least = f64::EPSILON * 64.0 * powers.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let terms = classes.into_iter().zip(powers).take(leading.len());
        let highest = leading.len().saturating_sub(1);
        Law::new(
            terms
                .enumerate()
                .filter(|(at, (_, x))| *at == highest || x.abs() > least)
                .map(|(_, (class, coefficient))| Term { class, coefficient }),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(amount: impl Fn(u64) -> u64) -> EqualSteps {
        let far = 64 * 90 + 7;
        EqualSteps {
            start: 64 + 7,
            step: 64,
            amounts: (1..9).map(|i| amount(64 * i + 7)).collect(),
            far: Point { size: far, amount: amount(far) },
        }
    }

    #[test]
    fn pairs_of_elements_are_exactly_quadratic() {
        let law = steps(|n| n * (n - 1) / 2 + 3).polynomial().unwrap();
        assert_eq!(law.class(), Class::Quadratic);
        assert_eq!(law.to_string(), "0.5 n^2 - 0.5 n + 3");
        assert_eq!(law.amount_at(1e6), 1e6 * (1e6 - 1.0) / 2.0 + 3.0);
    }

    #[test]
    fn remainders_of_vectors_do_not_hide_a_polynomial() {
        let law = steps(|n| n / 16 * 5 + n % 16 + 40).polynomial().unwrap();
        assert_eq!(law.class(), Class::Linear);
        let triples = steps(|n| n * (n - 1) * (n - 2) / 6).polynomial().unwrap();
        assert_eq!(triples.class(), Class::Cubic);
    }

    #[test]
    fn what_is_a_polynomial_within_an_octave_only_is_none() {
        let law = EqualSteps {
            start: 1_024,
            step: 64,
            amounts: (0..8).map(|i: u64| (1_024 + 64 * i) * 10).collect(),
            far: Point { size: 1_024 + 64 * 64, amount: (1_024 + 64 * 64) * 12 },
        };
        assert_eq!(law.polynomial(), None);
        assert_eq!(steps(|n| n * n * n * n).polynomial(), None);
        assert_eq!(steps(|n| u64::from(n.ilog2()) * n).polynomial(), None);
    }

    #[test]
    fn nothing_and_a_constant_are_exactly_constant() {
        assert_eq!(steps(|_| 0).polynomial(), Some(Law::default()));
        assert_eq!(steps(|_| 12).polynomial(), Some(Law::constant(12.0)));
    }
}
