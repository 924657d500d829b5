//! The finding whose law is looked for: which runs say something of it, and which laws explain it.

use super::sample::Axis;
use crate::{cause::Cause, runner::Run};
use quagmire_base::format::grouped;
use quagmire_cost::{law::Fit, resource::Resource};

/// Largest error of a law at the finding's own size: of counts, and of times, which vary.
const LARGEST_ERROR: f64 = 0.1;
const LARGEST_ERROR_OF_TIME: f64 = 0.35;
/// Part of what the finding costs beyond an ordinary input that has to grow with the size.
const LEAST_GROWING: f64 = 0.5;

/// Part of its hot cost that a smaller input of its kind has: half of one that is cubic has an eighth.
const LEAST_LEFT: f64 = 0.03;

/// A finding, and its run.
pub(crate) struct Finding<'a> {
    /// The input; the largest part of it that returns if the whole does not.
    pub bytes: &'a [u8],
    pub run: Run,
    /// Resource whose law is looked for.
    pub resource: Resource,
    /// Amount that an ordinary input uses up.
    pub ordinary: u64,
    /// Functions that its instructions are in; `None` where the law is not one of counts.
    cause: Option<Cause>,
}

impl<'a> Finding<'a> {
    pub(super) fn new(bytes: &'a [u8], run: Run, resource: Resource, ordinary: u64) -> Self {
        let is_counted = matches!(resource, Resource::Instructions | Resource::Edges);
        let cause = is_counted.then(|| Cause::of(&run));
        Self { bytes, run, resource, ordinary, cause }
    }

    /// Amount that it uses up.
    pub(super) fn amount(&self) -> u64 {
        self.run.amount(self.resource)
    }

    /// Whether a run ended and was accepted as the finding was.
    pub(super) fn ends_like(&self, run: &Run) -> bool {
        run.status == self.run.status && run.is_valid == self.run.is_valid
    }

    /// Whether a run, which has edges, ended as the finding did and is mostly in the same function.
    pub(super) fn is_like(&self, run: &Run) -> bool {
        self.ends_like(run) && self.cause.as_ref().is_none_or(|cause| cause.keeps_hottest(&Cause::of(run)))
    }

    /// Whether a run, which has edges, ended as the finding did and has been in the same function for a part of its cost there: a
    /// smaller input of its kind, in which something else may cost more.
    pub(super) fn is_akin(&self, run: &Run) -> bool {
        let is_left = |cause: &Cause| cause.hot_amount(&Cause::of(run)) >= LEAST_LEFT * cause.hot_amount(cause);
        self.ends_like(run) && self.cause.as_ref().is_none_or(is_left)
    }

    /// Whether an amount is the finding's own, but for the error that a law may have.
    pub(super) fn costs(&self, amount: f64) -> bool {
        let most = if self.resource.is_deterministic() { LARGEST_ERROR } else { LARGEST_ERROR_OF_TIME };
        let own = self.amount().max(1) as f64;
        (amount - own).abs() <= most * own
    }

    /// Checks that a law explains the finding, whose size it gives: at that size it gives the finding's own cost, and
    /// what grows makes up half of what the finding costs beyond an ordinary input.
    ///
    /// # Errors
    /// The reason why it does not, as a clause.
    pub(super) fn check(&self, fit: &Fit, size: u64, axis: Axis) -> Result<(), String> {
        let (own, said) = (self.amount(), fit.amount_at(size));
        if !self.costs(said) {
            let (own, said) = (grouped(own), grouped(said.round() as u64));
            return Err(format!("at its own size their law gives {said} {}, and it costs {own}", self.resource));
        }
        let beyond = own.saturating_sub(self.ordinary).max(1) as f64;
        let growing = fit.growth_at(size) / beyond;
        if growing < LEAST_GROWING {
            let along = if axis == Axis::Bytes { "their bytes" } else { "them" };
            return Err(format!(
                "only {:.0} % of what it costs beyond an ordinary input grows with {along}",
                growing * 100.0
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::FunctionCount;
    use quagmire_cost::{
        law::{Point, fit},
        resource::Cost,
    };

    fn run(status: &str, costs: &[(u32, u64)]) -> Run {
        let function = |&(function, instructions): &(u32, u64)| FunctionCount { function, instructions };
        let sum = costs.iter().map(|(_, cost)| cost).sum();
        Run {
            status: status.to_owned(),
            cost: Cost::from([(Resource::Instructions, sum)]),
            functions: costs.iter().map(function).collect(),
            ..Run::default()
        }
    }

    fn finding() -> Finding<'static> {
        Finding::new(&[], run("returned", &[(1, 10_000), (2, 100)]), Resource::Instructions, 100)
    }

    fn law(amount: impl Fn(u64) -> u64) -> Fit {
        let sizes = (1..14).map(|place| 5 * place * place);
        fit(&sizes.map(|size| Point { size, amount: amount(size) }).collect::<Vec<_>>(), None).expect("a law")
    }

    #[test]
    fn what_is_rejected_or_is_slow_elsewhere_says_nothing() {
        assert!(finding().is_like(&run("returned", &[(1, 50), (2, 40)])));
        assert!(!finding().is_like(&run("rejected", &[(1, 50), (2, 40)])));
        assert!(!finding().is_like(&run("returned", &[(1, 50), (2, 400)])));
        assert!(finding().is_akin(&run("returned", &[(1, 400), (2, 2_000)])));
        assert!(!finding().is_akin(&run("returned", &[(1, 50), (2, 40)])));
        assert!(!finding().is_akin(&run("rejected", &[(1, 400), (2, 40)])));
    }

    #[test]
    fn a_law_that_gives_another_cost_or_a_constant_one_explains_nothing() {
        let check = |amount: fn(u64) -> u64| finding().check(&law(amount), 100, Axis::Repetitions);
        assert_eq!(check(|n| n * n + 100), Ok(()));
        let twice = check(|n| 2 * n * n).expect_err("twice the cost");
        assert!(twice.contains("gives 20,000 instructions, and it costs 10,100"), "{twice}");
        assert!(check(|n| 25 * n + 7_600).is_err_and(|why| why.starts_with("only 25 %")));
        assert!(check(|_| 10_100).is_err_and(|why| why.starts_with("only 0 %")));
    }
}
