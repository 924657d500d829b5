//! Adjustments for programs whose instrumentation measures less than quagmire's pass.

use super::Options;
use quagmire_base::error::{Error, Result};
use quagmire_cost::resource::Resource;
use quagmire_execution::info::TargetInfo;

impl Options {
    /// Adapts the costs to what the target's instrumentation measures: edges instead of instructions, and time as well
    /// where counts of edges are not exact.
    ///
    /// # Errors
    /// If a requested cost is not measured.
    pub fn for_target(mut self, target: &TargetInfo) -> Result<Self> {
        let by = target.instrumentation;
        if by.measures(Resource::Instructions) {
            return Ok(self);
        }
        let instead: &[Resource] = if by.is_exact() { &[Resource::Edges] } else { &[Resource::Edges, Resource::Time] };
        let mut costs = Vec::new();
        for cost in std::mem::take(&mut self.cost) {
            // the default
            let meant = if cost == Resource::Instructions { instead.to_vec() } else { vec![cost] };
            costs.extend(meant.into_iter().filter(|cost| !costs.contains(cost)).collect::<Vec<_>>());
        }
        if let Some(cost) = costs.iter().find(|cost| !by.measures(**cost)) {
            let program = target.name();
            let measured = Resource::ALL.into_iter().filter(|&cost| by.measures(cost));
            let measured: Vec<&str> = measured.map(Resource::name).collect();
            return Err(Error::usage(format!(
                "--cost {cost}: {program} was {}, which does not measure it: build it with quagmire-cc, or write {}",
                by.origin(),
                alternatives(&measured)
            )));
        }
        self.cost = costs;
        Ok(self)
    }
}

/// `a, b or c`.
fn alternatives(names: &[&str]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        names => names.concat(),
    }
}
