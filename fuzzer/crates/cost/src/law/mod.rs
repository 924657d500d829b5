//! Laws of growth: how an amount (the cost of a run, the count of one edge) grows with the size of an input.
//!
//! [`fit()`] finds the law of a series of sizes and amounts. All laws are compared in one space, that of relative errors,
//! and by one question: how well does a law that was fitted without the three largest sizes predict the amounts there?
//! Counts are exact, so what a law misses is drift of the model and not noise; that is why no information criterion is
//! used. [`Fit`] says which law it is, which other one would do as well, from which size on it holds, and where it
//! ends. [`sum()`] joins the laws of single edges to the law of the whole.

mod candidates;
mod cap;
mod class;
mod exact;
mod fit;
mod formula;
mod squares;
mod sum;
#[cfg(test)]
mod tests;

pub use cap::before_plateau;
pub use class::Class;
pub use exact::EqualSteps;
pub use fit::{Cap, Confidence, Fit, LARGEST_ERROR, LARGEST_SWING, Rival, fit, fit_noisy};
pub use formula::{Law, Term};
pub use sum::{Part, Total, sum};

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
