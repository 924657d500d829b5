//! Resolution of the options of `distill`.

use crate::options::args::DistillArgs;
use quagmire_analysis::distill::{DistillOptions, Purpose, Weight};
use quagmire_base::error::{Error, Result};

impl DistillArgs {
    /// Resolves options as typed.
    ///
    /// # Errors
    /// A usage error in one line that names the option and the remedy.
    pub fn resolve(self) -> Result<DistillOptions> {
        if self.inputs.is_empty() {
            return Err(Error::usage("no inputs to distill: name files or folders"));
        }
        let Some(output) = self.output else {
            return Err(Error::usage("no folder for the corpus: name one with -o"));
        };
        let purpose =
            self.purpose.parse().map_err(|()| one_of("for", &self.purpose, &Purpose::ALL.map(Purpose::name)))?;
        let weight = match (self.weight, purpose) {
            (Some(weight), _) => {
                weight.parse().map_err(|()| one_of("weight", &weight, &Weight::ALL.map(Weight::name)))?
            }
            (None, Purpose::Coverage) => Weight::Cost,
            (None, Purpose::Cost) => Weight::Size,
        };
        let runs = self.target.runner()?;
        let (inputs, verbose, json) = (self.inputs, self.verbose, self.json);
        Ok(DistillOptions { inputs, output, purpose, weight, verbose, json, runs })
    }
}

fn one_of(option: &str, typed: &str, names: &[&str]) -> Error {
    Error::usage(format!("--{option} {typed}: give {}", names.join(" or ")))
}
