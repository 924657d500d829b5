//! Goal of minimizing: a smaller input keeps the cost relative to its size or the early end, and the cause.

use crate::{cause::Cause, runner::Run};
use quagmire_cost::{resource::Resource, sizes::SizeModel};

/// Resources of which one is chosen: that whose excess over an ordinary input is the largest.
const RESOURCES: [Resource; 4] = [Resource::Instructions, Resource::Heap, Resource::HeapTotal, Resource::Stack];

/// Part of the input's own ratio that is kept if the input does not reach the threshold.
const OF_OWN_RATIO: f64 = 0.9;

/// Property that has to stay.
#[derive(Clone, Debug)]
pub(super) enum Kept {
    /// At least this multiple of an ordinary input's use of a resource.
    Cost {
        resource: Resource,
        /// Multiple of the cost of an ordinary input of the same size, above 0.
        ratio: f64,
    },
    /// The same early end.
    End,
}

/// Goal that a smaller input has to keep.
#[derive(Clone, Debug)]
pub(super) struct Goal {
    /// Property that has to stay.
    pub kept: Kept,
    /// Whether the cause has to stay.
    pub has_cause: bool,
    /// Cause of the input.
    pub cause: Cause,
    /// Cost of an ordinary input.
    pub ordinary: SizeModel,
    /// Run of the input.
    run: Run,
}

impl Goal {
    /// The goal for an input of `bytes`: its early end, or its cost relative to its size by `threshold`. A resource of
    /// `None` is chosen.
    pub(super) fn of(
        run: Run,
        bytes: u64,
        ordinary: SizeModel,
        resource: Option<Resource>,
        threshold: f64,
        has_cause: bool,
    ) -> Self {
        let cause = Cause::of(&run);
        let mut goal = Self { kept: Kept::End, has_cause, cause, ordinary, run };
        if goal.run.came_back() {
            let ratio = |one: &Resource| goal.excess(*one, goal.run.cost[*one], bytes);
            // of equal ones, the first; instructions are what most findings are about
            let is_slow = ratio(&Resource::Instructions) >= threshold;
            let chosen = RESOURCES.into_iter().rev().max_by(|a, b| ratio(a).total_cmp(&ratio(b)));
            let usual =
                if goal.run.cost[Resource::Instructions] > 0 { Resource::Instructions } else { Resource::Edges };
            let chosen = chosen.filter(|one| !is_slow && ratio(one) >= threshold).unwrap_or(usual);
            let resource = resource.unwrap_or(chosen);
            let own = ratio(&resource);
            goal.kept = Kept::Cost { resource, ratio: if own < threshold { own * OF_OWN_RATIO } else { threshold } };
        }
        goal
    }

    /// Amount as a multiple of that of an ordinary input of expensive content.
    fn excess(&self, resource: Resource, amount: u64, bytes: u64) -> f64 {
        self.ordinary.ratio(resource, amount, bytes) / self.ordinary.margin(resource, bytes)
    }

    /// Whether a run came back, is slow for its size, and that for the same reason.
    pub(super) fn is_slow(&self, run: &Run, bytes: u64, threshold: f64) -> bool {
        let is_reason = !self.has_cause || self.cause.keeps_hottest(&Cause::of(run));
        run.came_back()
            && is_reason
            && self.excess(Resource::Instructions, run.cost[Resource::Instructions], bytes) >= threshold
    }

    /// The resource that counts.
    pub(super) fn resource(&self) -> Resource {
        match self.kept {
            Kept::Cost { resource, .. } => resource,
            Kept::End => Resource::Instructions,
        }
    }

    /// Ratio of a run of an input of `bytes` to an ordinary input of its size; `None` for early ends.
    pub(super) fn ratio(&self, run: &Run, bytes: u64) -> Option<f64> {
        match self.kept {
            Kept::Cost { resource, .. } => Some(self.excess(resource, run.cost[resource], bytes)),
            Kept::End => None,
        }
    }

    /// Ratio that smaller inputs have to reach.
    pub(super) fn wanted_ratio(&self) -> Option<f64> {
        match self.kept {
            Kept::Cost { ratio, .. } => Some(ratio),
            Kept::End => None,
        }
    }

    /// Whether a run with edges, of an input of `bytes`, keeps all.
    pub(super) fn is_kept_by(&self, run: &Run, bytes: u64) -> bool {
        self.keeps_way(run) && self.ratio(run, bytes).is_none_or(|ratio| Some(ratio) >= self.wanted_ratio())
    }

    /// Whether a run ends in the same way and for the same reason, whatever it costs.
    pub(super) fn keeps_way(&self, run: &Run) -> bool {
        if run.status != self.run.status || run.is_valid != self.run.is_valid {
            return false;
        }
        match self.kept {
            Kept::Cost { .. } => !self.has_cause || self.cause.is_kept_by(&Cause::of(run)),
            Kept::End => run.detail == self.run.detail && (!self.has_cause || self.is_same_place(run)),
        }
    }

    /// Whether a run ended at the same instruction, or mostly was in the same function.
    fn is_same_place(&self, run: &Run) -> bool {
        let is_same_address = run.fault_address.is_some() && run.fault_address == self.run.fault_address;
        is_same_address || self.cause.keeps_hottest(&Cause::of(run))
    }

    /// Amount in a run that grows with the template: that of the hottest function, or of the resource.
    pub(super) fn hot_amount(&self, run: &Run) -> f64 {
        match self.kept {
            Kept::Cost { resource: Resource::Instructions | Resource::Edges, .. } if self.has_cause => {
                self.cause.hot_amount(&Cause::of(run))
            }
            _ => run.cost[self.resource()] as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::FunctionCount;
    use quagmire_cost::{resource::Cost, sizes::Series};

    fn run(instructions: u64, heap: u64) -> Run {
        Run {
            status: "returned".to_owned(),
            is_valid: true,
            cost: Cost::from([(Resource::Instructions, instructions), (Resource::Heap, heap)]),
            functions: vec![FunctionCount { function: 1, instructions }],
            ..Run::default()
        }
    }

    /// A program that takes 100 instructions and 10 for each byte.
    fn ordinary() -> SizeModel {
        let cost = |bytes: u64| (bytes, Cost::from([(Resource::Instructions, 100 + 10 * bytes)]));
        let parts = (0..8).map(|part| cost(part * 4)).collect();
        let series = Series { seed: cost(32), parts, joined: vec![cost(64)], cheapest: Some(cost(0).1) };
        SizeModel::new(cost(32).1, &[series])
    }

    #[test]
    fn half_the_size_needs_no_more_than_its_own_threshold() {
        let goal = Goal::of(run(1_000_000, 0), 1_000, ordinary(), None, 2.0, true);
        assert_eq!(goal.resource(), Resource::Instructions);
        assert!(goal.is_kept_by(&run(5_000, 0), 100) && !goal.is_kept_by(&run(2_000, 0), 100));
        // inputs smaller than the seeds cost as much as those at least
        assert!(!goal.is_kept_by(&run(800, 0), 1) && goal.is_kept_by(&run(900, 0), 1));
    }

    #[test]
    fn an_input_below_the_threshold_keeps_its_own_ratio() {
        let goal = Goal::of(run(15_150, 0), 1_000, ordinary(), None, 2.0, true);
        assert!(goal.wanted_ratio().is_some_and(|ratio| (1.3..1.4).contains(&ratio)), "{:?}", goal.wanted_ratio());
    }

    #[test]
    fn heap_counts_for_an_input_that_is_not_slow() {
        let goal = Goal::of(run(10_100, 1 << 24), 1_000, ordinary(), None, 2.0, true);
        assert_eq!(goal.resource(), Resource::Heap);
        let asked = Goal::of(run(10_100, 1 << 24), 1_000, ordinary(), Some(Resource::Stack), 2.0, true);
        assert_eq!(asked.resource(), Resource::Stack);
    }

    #[test]
    fn a_crash_keeps_its_signal_and_its_place() {
        let crash = |signal: &str, address, function| Run {
            status: "crashed".to_owned(),
            detail: Some(signal.to_owned()),
            fault_address: Some(address),
            functions: vec![FunctionCount { function, instructions: 10 }],
            ..Run::default()
        };
        let goal = Goal::of(crash("SIGSEGV", 7, 1), 10, SizeModel::default(), None, 2.0, true);
        assert!(goal.is_kept_by(&crash("SIGSEGV", 7, 2), 5) && goal.is_kept_by(&crash("SIGSEGV", 8, 1), 5));
        assert!(!goal.is_kept_by(&crash("SIGABRT", 7, 1), 5) && !goal.is_kept_by(&crash("SIGSEGV", 8, 2), 5));
        assert!(!goal.is_kept_by(&run(10, 0), 5));
        let any = Goal { has_cause: false, ..goal };
        assert!(any.is_kept_by(&crash("SIGSEGV", 8, 2), 5));
    }
}
