//! When an input counts as a degradation: only after it was measured outside the campaign, beside its seed.

use super::{
    judgement::Verdict,
    resource::{Resource, Unit},
};

/// What was measured of one input in a process of its own, beside its seed.
#[derive(Clone, Copy, Debug)]
pub struct Excess {
    /// Which resource.
    pub resource: Resource,
    /// How many times the amount of an ordinary input; for time the lower end of its interval. By size, without what dear
    /// content explains.
    pub ratio: f64,
}

/// Which costs make a degradation.
#[derive(Clone, Debug)]
pub struct Criteria {
    /// How many times the cost of an ordinary input; above 1.
    pub threshold: f64,
    /// Any of them is enough.
    pub resources: Vec<Resource>,
}

impl Criteria {
    /// Whether an input is a degradation: it uses one of the resources as many times as an ordinary one as
    /// the threshold says.
    /// Unless that is memory, its time must have been judged a degradation as well: instructions that take no time hurt
    /// nobody.
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
