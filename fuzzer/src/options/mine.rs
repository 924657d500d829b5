//! Resolution of the options of `mine`.

use super::{executions, flag, given_seed, hang_timeout, memory_limit};
use crate::options::args::MineArgs;
use quagmire_analysis::mine::MineOptions;
use quagmire_base::{
    error::{Error, Result},
    units,
};

impl MineArgs {
    /// Resolves options as typed.
    ///
    /// # Errors
    /// A usage error in one line that names the option and the remedy.
    pub fn resolve(self) -> Result<MineOptions> {
        if self.target.generator.is_some() {
            return Err(Error::usage(
                "--generator: a grammar is mined from inputs of the program itself: leave it out",
            ));
        }
        if self.examples.is_empty() {
            return Err(Error::usage("no examples to mine: name files or folders"));
        }
        let Some(output) = self.output.filter(|path| !path.as_os_str().is_empty()) else {
            return Err(Error::usage("no file for the grammar: name one with -o"));
        };
        let time = flag("--time", units::duration(&self.time))?;
        if time.is_zero() {
            return Err(Error::usage("--time 0 leaves no time to mine: give more, or leave it out for 5m"));
        }
        Ok(MineOptions {
            examples: self.examples,
            output,
            check: self.check,
            time,
            execs: self.execs.as_deref().map(executions).transpose()?,
            seed: given_seed(&self.seed)?,
            hang_timeout: hang_timeout(&self.target)?,
            memory_limit: memory_limit(&self.target)?,
            debug_target: self.target.debug_target,
        })
    }
}
