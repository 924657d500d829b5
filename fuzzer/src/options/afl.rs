//! Adjustments for programs built by AFL++, which have edges and times only.

use super::Options;
use quagmire_base::error::{Error, Result};
use quagmire_cost::resource::Resource;
use quagmire_execution::info::{Instrumentation, TargetInfo};

impl Options {
    /// Adapts the costs to what the target's instrumentation measures: with AFL's map, edges and time instead of
    /// instructions.
    ///
    /// # Errors
    /// If a requested cost is not measured.
    pub fn for_target(mut self, target: &TargetInfo) -> Result<Self> {
        if target.instrumentation != Instrumentation::Afl {
            return Ok(self);
        }
        let mut costs = Vec::new();
        for cost in std::mem::take(&mut self.cost) {
            // the default
            let meant = if cost == Resource::Instructions { vec![Resource::Edges, Resource::Time] } else { vec![cost] };
            costs.extend(meant.into_iter().filter(|cost| !costs.contains(cost)).collect::<Vec<_>>());
        }
        if let Some(cost) = costs.iter().find(|cost| !Instrumentation::Afl.measures(**cost)) {
            let program = target.name();
            let measured = Resource::ALL.into_iter().filter(|&cost| Instrumentation::Afl.measures(cost));
            let measured: Vec<&str> = measured.map(Resource::name).collect();
            return Err(Error::usage(format!(
                "--cost {cost}: {program} was built by AFL++, which does not measure it: build it with quagmire-cc, or write \
                 {}",
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
