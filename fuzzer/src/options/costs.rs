//! Options `--cost` and `--steer`: what makes an input a degradation, and what the search raises.

use super::{Options, args::FuzzArgs};
use quagmire_base::error::{Error, Result};
use quagmire_cost::{
    noise::NoiseFloor,
    resource::{Resource, Unit},
};
use quagmire_search::corpus::objective::Objective;

/// Resources of `--cost`, and that of `--steer`: a search for time whose finds were no degradations would be in vain.
pub(super) fn costs(args: &FuzzArgs) -> Result<Vec<Resource>> {
    let mut costs = Vec::new();
    for name in args.cost.split(',').map(str::trim) {
        let cost = name.parse::<Resource>().map_err(|()| {
            let names = Resource::ALL.map(Resource::name).join(", ");
            Error::usage(format!("--cost: `{name}` is not a cost: write one or more of {names}, with commas"))
        })?;
        if !costs.contains(&cost) {
            costs.push(cost);
        }
    }
    let Some(steered) = steer(&args.steer)? else { return Ok(costs) };
    if let Some(other) = costs.iter().find(|cost| cost.unit() == Unit::Bytes) {
        return Err(Error::usage(format!(
            "--steer {steered} follows {steered} alone, and not {other} of --cost: leave out one of them"
        )));
    }
    if args.skip_coverage_testing {
        return Err(Error::usage(format!(
            "--steer {steered} runs slow mutants again by itself: leave out --skip-coverage-testing"
        )));
    }
    if !costs.contains(&steered) {
        costs.push(steered);
    }
    Ok(costs)
}

/// The measured resource of `--steer`; `None` for instructions.
pub(super) fn steer(name: &str) -> Result<Option<Resource>> {
    match name.parse::<Resource>() {
        Ok(Resource::Instructions) => Ok(None),
        Ok(measured @ (Resource::Time | Resource::Cycles)) => Ok(Some(measured)),
        _ => Err(Error::usage(format!("--steer: `{name}` is not a choice: write instructions, time or cycles"))),
    }
}

impl Options {
    /// Objective of the search, with the noise of a resource whose noise was not measured yet.
    pub fn objective(&self) -> Objective {
        let measured = self.steer.map(|resource| Objective::steered(resource, NoiseFloor::default()));
        measured.unwrap_or_else(|| Objective::new(&self.cost))
    }

    /// Whether the same seed repeats the search: one client that follows counts and takes nothing in from others.
    pub fn is_repeatable(&self) -> bool {
        self.steer.is_none() && self.cores.len() < 2 && self.sync.is_none()
    }
}
