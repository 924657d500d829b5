//! Adjustments for programs whose instrumentation measures less than quagmire's pass.

use super::Options;
use quagmire_base::error::{Error, Result};
use quagmire_cost::resource::Resource;
use quagmire_execution::info::{Instrumentation, TargetInfo};
use quagmire_search::corpus::effort::Focus;

impl Options {
    /// Adapts the costs to what the target's instrumentation measures: edges instead of instructions, and time as well
    /// where counts of edges are not exact. Without instrumentation, the search follows time, or what `--cost` names
    /// first.
    ///
    /// # Errors
    /// If a requested cost is not measured, or an option needs counts where there are none.
    pub fn for_target(mut self, target: &TargetInfo) -> Result<Self> {
        let by = target.instrumentation;
        if by == Instrumentation::Afl && !self.towards.wanted.is_empty() {
            return Err(Error::usage(format!(
                "--towards: {} was {}, and nothing says where its edges are: build it with quagmire-cc -g",
                target.name(),
                by.origin()
            )));
        }
        if by.measures(Resource::Instructions) {
            return self.only_measured(target);
        }
        let instead: &[Resource] = match by {
            Instrumentation::Uninstrumented => &[Resource::Time],
            _ if by.is_exact() => &[Resource::Edges],
            _ => &[Resource::Edges, Resource::Time],
        };
        let mut costs = Vec::new();
        for cost in std::mem::take(&mut self.cost) {
            // the default
            let meant = if cost == Resource::Instructions { instead.to_vec() } else { vec![cost] };
            costs.extend(meant.into_iter().filter(|cost| !costs.contains(cost)).collect::<Vec<_>>());
        }
        self.cost = costs;
        let adapted = self.only_measured(target)?;
        if by.counts() { Ok(adapted) } else { adapted.uncounted() }
    }

    /// Refuses costs that the target's instrumentation does not measure.
    fn only_measured(self, target: &TargetInfo) -> Result<Self> {
        let by = target.instrumentation;
        let Some(cost) = self.cost.iter().find(|cost| !by.measures(**cost)) else { return Ok(self) };
        let program = target.name();
        let measured = Resource::ALL.into_iter().filter(|&cost| by.measures(cost));
        let measured: Vec<&str> = measured.map(Resource::name).collect();
        let measured = alternatives(&measured);
        Err(Error::usage(match by {
            Instrumentation::Counts => format!("--cost {cost}: only --uninstrumented measures it: write {measured}"),
            _ => format!(
                "--cost {cost}: {program} was {}, which does not measure it: build it with quagmire-cc, or write {measured}",
                by.origin()
            ),
        }))
    }

    /// Follows a measured resource, as there are no counts, and refuses options that need some.
    fn uncounted(mut self) -> Result<Self> {
        let needing = [
            ("--valid-if-reached", self.valid_if_reached.is_some()),
            ("--towards", !self.towards.wanted.is_empty()),
            ("--diversity and --trace", self.trace.is_some() && self.grammar.is_none()),
            ("--experiment shadow-mask", self.masking.shadow),
            ("--skip-coverage-testing", self.skip_coverage_testing),
        ];
        if let Some((option, _)) = needing.into_iter().find(|&(_, is_typed)| is_typed) {
            return Err(Error::usage(format!(
                "--uninstrumented counts nothing that {option} could go by: leave out one of them"
            )));
        }
        self.trace = None;
        // coverage has nothing to find
        self.focus = Focus::Cost;
        let time = Some(Resource::Time).filter(|time| self.cost.contains(time));
        self.steer = self.steer.or(time).or(self.cost.first().copied());
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
