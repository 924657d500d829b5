//! Resolution of the options that say how a target is run.

use super::{hang_timeout, memory_limit};
use crate::options::args::TargetArgs;
use quagmire_analysis::runner::RunnerOptions;
use quagmire_base::error::Result;

impl TargetArgs {
    /// Resolves options as typed, for commands that run inputs one after the other.
    ///
    /// # Errors
    /// A usage error in one line that names the option and the remedy.
    pub fn runner(&self) -> Result<RunnerOptions> {
        Ok(RunnerOptions {
            hang_timeout: hang_timeout(self)?,
            memory_limit: memory_limit(self)?,
            debug_target: self.debug_target,
            valid_if_reached: None,
        })
    }
}
