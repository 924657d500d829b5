//! Resolution of the options of `minimize`.

use std::path::PathBuf;

use super::{flag, threshold};
use crate::options::args::MinimizeArgs;
use quagmire_analysis::minimize::MinimizeOptions;
use quagmire_base::{
    error::{Error, Result},
    units,
};
use quagmire_cost::resource::Resource;

impl MinimizeArgs {
    /// Resolves options as typed.
    ///
    /// # Errors
    /// A usage error in one line that names the option and the remedy.
    pub fn resolve(self) -> Result<MinimizeOptions> {
        let Some(input) = self.input else {
            return Err(Error::usage("no input to minimize: name a file"));
        };
        let budget = flag("--budget", units::duration(&self.budget))?;
        if budget.is_zero() {
            return Err(Error::usage("--budget 0 leaves no time for runs: give more, or leave it out for 60s"));
        }
        let executions = match self.execs.parse() {
            Ok(executions) if executions > 0 => executions,
            _ => {
                let text = &self.execs;
                return Err(Error::usage(format!(
                    "--execs: `{text}` is no number of runs: write a whole number above 0"
                )));
            }
        };
        let has_cause = match self.cause.as_str() {
            "same" => true,
            "any" => false,
            other => return Err(Error::usage(format!("--cause: `{other}` is not known: write same or any"))),
        };
        let beside = |path: &PathBuf| {
            let mut name = path.clone().into_os_string();
            name.push(".min");
            PathBuf::from(name)
        };
        Ok(MinimizeOptions {
            output: self.output.unwrap_or_else(|| beside(&input)),
            input,
            seeds: self.seeds,
            resource: self.cost.as_deref().map(resource).transpose()?,
            threshold: threshold(&self.threshold)?,
            has_cause,
            budget,
            executions,
            json: self.json,
            runs: self.target.runner()?,
        })
    }
}

fn resource(name: &str) -> Result<Resource> {
    let known: Option<Resource> = name.parse().ok();
    known.filter(|resource| resource.is_deterministic() && resource.is_always_measured()).ok_or_else(|| {
        let usable = Resource::ALL.into_iter().filter(|one| one.is_deterministic() && one.is_always_measured());
        let names: Vec<&str> = usable.map(Resource::name).collect();
        Error::usage(format!("--cost: inputs cannot be minimized by `{name}`: name one of {}", names.join(", ")))
    })
}
