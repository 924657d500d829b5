//! Resolution of the options of `minimize`.

use std::path::{Path, PathBuf};

use super::{flag, threshold};
use crate::options::args::MinimizeArgs;
use quagmire_analysis::minimize::MinimizeOptions;
use quagmire_base::{
    error::{Error, Result},
    units,
};
use quagmire_cost::resource::Resource;
use quagmire_results::folder;

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
        Ok(MinimizeOptions {
            output: self.output.unwrap_or_else(|| smallest_of(&input, self.target.extension.as_deref())),
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

/// File for the smallest input: in `minimized/` of the campaign that the input is of, or beside it. It keeps the extension that
/// its program needs.
fn smallest_of(input: &Path, extension: Option<&str>) -> PathBuf {
    if let (Some(campaign), Some(name)) = (folder::of_file(input), input.file_name()) {
        return campaign.join(folder::MINIMIZED).join(name);
    }
    let extension = extension.filter(|extension| !extension.is_empty());
    let bare = match extension {
        Some(extension) if input.extension().is_some_and(|own| own == extension) => input.with_extension(""),
        _ => input.to_owned(),
    };
    let mut name = bare.into_os_string();
    name.push(".min");
    if let Some(extension) = extension {
        name.push(format!(".{extension}"));
    }
    name.into()
}

fn resource(name: &str) -> Result<Resource> {
    let known: Option<Resource> = name.parse().ok();
    known.filter(|resource| resource.is_deterministic() && resource.is_always_measured()).ok_or_else(|| {
        let usable = Resource::ALL.into_iter().filter(|one| one.is_deterministic() && one.is_always_measured());
        let names: Vec<&str> = usable.map(Resource::name).collect();
        Error::usage(format!("--cost: inputs cannot be minimized by `{name}`: name one of {}", names.join(", ")))
    })
}
