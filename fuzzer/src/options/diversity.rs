//! Resolution of the options of `diversity`.

use super::{hang_timeout, memory_limit, trace};
use crate::options::args::DiversityArgs;
use quagmire_analysis::diversity::DiversityOptions;
use quagmire_base::error::{Error, Result};

impl DiversityArgs {
    /// Resolves options as typed.
    ///
    /// # Errors
    /// A usage error in one line that names the option and the remedy.
    pub fn resolve(self) -> Result<DiversityOptions> {
        if self.inputs.is_empty() {
            return Err(Error::usage("no inputs to look at: name files or folders"));
        }
        let traces = |text: String| match text.parse() {
            Ok(traces) if traces > 0 => Ok(traces),
            _ => Err(Error::usage(format!("--traces {text}: give a whole number from 1, such as 1000"))),
        };
        Ok(DiversityOptions {
            inputs: self.inputs,
            traces: self.traces.map(traces).transpose()?,
            trace: trace(&self.trace)?,
            valid_if_reached: self.validity.valid_if_reached,
            json: self.json,
            hang_timeout: hang_timeout(&self.target)?,
            memory_limit: memory_limit(&self.target)?,
            debug_target: self.target.debug_target,
        })
    }
}
