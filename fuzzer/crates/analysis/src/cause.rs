//! The cause of a cost: which functions the instructions are in.

use std::collections::BTreeMap;

use crate::runner::Run;

/// Share of its own share that the hottest function keeps.
const LEAST_SHARE: f64 = 0.5;

/// Least cosine between the costs of all functions.
const LEAST_COSINE: f64 = 0.9;

/// Cost of a run by function; by edge if the target has no functions.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cause {
    amounts: BTreeMap<u32, f64>,
    total: f64,
    /// Number of the hottest function, and its share of the cost.
    hottest: Option<(u32, f64)>,
}

impl Cause {
    /// The cause of a run that has edges.
    pub(crate) fn of(run: &Run) -> Self {
        let functions = run.functions.iter().map(|one| (one.function, one.instructions as f64));
        let mut amounts: BTreeMap<u32, f64> = functions.filter(|(_, amount)| *amount > 0.0).collect();
        if amounts.is_empty() {
            let amount = |count: u64, weight: u32| count as f64 * f64::from(weight.max(1));
            amounts = run.edges.iter().map(|one| (one.edge, amount(one.count, one.weight))).collect();
        }
        let total: f64 = amounts.values().sum();
        // of equal ones, the first
        let most = amounts.iter().rev().max_by(|a, b| a.1.total_cmp(b.1));
        let hottest = most.map(|(&number, amount)| (number, amount / total));
        Self { amounts, total, hottest }
    }

    /// Cost of the hottest function of `self` in another run.
    pub(crate) fn hot_amount(&self, other: &Self) -> f64 {
        self.hottest.and_then(|(number, _)| other.amounts.get(&number)).copied().unwrap_or(0.0)
    }

    /// Share that the hottest function of `self` has in another run, relative to its own: 1 if it is the same.
    pub(crate) fn kept_share(&self, other: &Self) -> f64 {
        match self.hottest {
            Some((_, share)) if other.total > 0.0 => self.hot_amount(other) / other.total / share,
            _ => 1.0,
        }
    }

    /// Cosine of the angle between the costs by function, 0 to 1: 1 if all have the same shares.
    pub(crate) fn cosine(&self, other: &Self) -> f64 {
        let norm = |cause: &Self| cause.amounts.values().map(|amount| amount * amount).sum::<f64>().sqrt();
        let product: f64 = self
            .amounts
            .iter()
            .filter_map(|(number, amount)| other.amounts.get(number).map(|other| amount * other))
            .sum();
        let norms = norm(self) * norm(other);
        if norms > 0.0 { (product / norms).min(1.0) } else { 1.0 }
    }

    /// Whether a run is slow for the same reason: its hottest function keeps half of its share, and the costs of all
    /// functions have nearly the same ratios.
    pub(crate) fn is_kept_by(&self, other: &Self) -> bool {
        self.keeps_hottest(other) && self.cosine(other) >= LEAST_COSINE
    }

    /// Whether the hottest function keeps half of its share.
    pub(crate) fn keeps_hottest(&self, other: &Self) -> bool {
        self.kept_share(other) >= LEAST_SHARE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::{EdgeCount, FunctionCount};

    fn cause(amounts: &[(u32, u64)]) -> Cause {
        let function = |&(function, instructions): &(u32, u64)| FunctionCount { function, instructions };
        Cause::of(&Run { functions: amounts.iter().map(function).collect(), ..Run::default() })
    }

    #[test]
    fn the_same_ratios_at_another_size_are_the_same_cause() {
        let finding = cause(&[(1, 900), (2, 90), (3, 10)]);
        let small = cause(&[(1, 90), (2, 9), (3, 1)]);
        assert!((finding.kept_share(&small) - 1.0).abs() < 1e-9 && finding.cosine(&small) > 0.999);
        assert!(finding.is_kept_by(&small));
    }

    #[test]
    fn another_function_is_another_cause_though_the_cost_is_as_high() {
        let finding = cause(&[(1, 900), (2, 100)]);
        assert!(!finding.is_kept_by(&cause(&[(1, 100), (2, 900)])));
        assert!(!finding.is_kept_by(&cause(&[(7, 1_000)])));
    }

    #[test]
    fn half_of_the_share_is_too_little_if_another_function_takes_the_rest() {
        let finding = cause(&[(1, 800), (2, 200)]);
        let half = cause(&[(1, 450), (2, 550)]);
        assert!(finding.keeps_hottest(&half) && !finding.is_kept_by(&half), "{}", finding.cosine(&half));
    }

    #[test]
    fn edges_stand_for_functions_where_there_are_none() {
        let run = |count| Run { edges: vec![EdgeCount { edge: 4, count, weight: 0 }], ..Run::default() };
        let finding = Cause::of(&run(100));
        assert!(finding.is_kept_by(&Cause::of(&run(3))));
        assert_eq!(finding.hot_amount(&Cause::of(&run(3))), 3.0);
    }
}
