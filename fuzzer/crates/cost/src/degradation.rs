//! Criteria that a confirmed measurement has to meet to count as a degradation.

use super::{
    judgement::Verdict,
    resource::{Resource, Unit},
};

/// Use of one resource by an input, measured in a process of its own beside its seed and an ordinary input.
#[derive(Clone, Copy, Debug)]
pub struct Excess {
    /// The resource that was measured.
    pub resource: Resource,
    /// Amount as a multiple of an ordinary input's; for time the lower end of the interval. Relative to size, without
    /// the share that expensive content explains ([`SizeModel::margin`](super::sizes::SizeModel::margin)).
    pub ratio: f64,
}

/// Threshold and resources that make a degradation (`--threshold`, `--cost`).
#[derive(Clone, Debug)]
pub struct Criteria {
    /// Smallest ratio to an ordinary input that counts; above 1.
    pub threshold: f64,
    /// Resources to look at; exceeding the threshold in any of them is enough.
    pub resources: Vec<Resource>,
}

impl Criteria {
    /// Whether an input is a degradation: its ratio reaches the threshold for one of the resources. Unless that
    /// resource is memory, its time must have been judged a degradation as well, so that instructions that take no
    /// measurable time do not count.
    pub fn are_met(&self, excesses: &[Excess], time: Verdict) -> bool {
        let is_met = |excess: &Excess| {
            let is_memory = excess.resource.unit() == Unit::Bytes;
            self.resources.contains(&excess.resource)
                && excess.ratio >= self.threshold
                && (is_memory || time == Verdict::Degradation)
        };
        excesses.iter().any(is_met)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_met(resources: &[Resource], resource: Resource, ratio: f64, time: Verdict) -> bool {
        let criteria = Criteria { threshold: 2.0, resources: resources.to_vec() };
        criteria.are_met(&[Excess { resource, ratio }], time)
    }

    #[test]
    fn any_of_the_chosen_costs_makes_a_degradation() {
        let chosen = [Resource::Instructions, Resource::Time];
        assert!(is_met(&chosen, Resource::Instructions, 2.0, Verdict::Degradation));
        assert!(is_met(&chosen, Resource::Time, 2.5, Verdict::Degradation));
        assert!(!is_met(&chosen, Resource::Edges, 9.0, Verdict::Degradation));
        assert!(!is_met(&chosen, Resource::Time, 1.9, Verdict::Degradation));
    }

    #[test]
    fn work_that_takes_no_time_is_none_and_memory_needs_no_time() {
        assert!(!is_met(&[Resource::Instructions], Resource::Instructions, 9.0, Verdict::NoChange));
        assert!(!is_met(&[Resource::Instructions], Resource::Instructions, 9.0, Verdict::Maybe));
        assert!(is_met(&[Resource::Stack], Resource::Stack, 9.0, Verdict::NoChange));
    }
}
