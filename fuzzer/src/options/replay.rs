//! Resolution of the options of `replay`.

use std::time::Duration;

use super::{defaults, flag, hang_timeout, memory_limit};
use crate::options::args::ReplayArgs;
use quagmire_analysis::{
    options::{MaskOptions, ReplayOptions},
    rounds::Rounds,
};
use quagmire_base::{
    error::{Error, Result},
    units,
};
use quagmire_cost::decision::Question;

impl ReplayArgs {
    /// Resolves options as typed.
    ///
    /// # Errors
    /// A usage error in one line that names the option and the remedy.
    pub fn resolve(self) -> Result<ReplayOptions> {
        let args = self;
        if args.inputs.is_empty() {
            return Err(Error::usage("no inputs to replay: name files or folders"));
        }
        let budget = flag("--budget", units::duration(&args.budget))?;
        let rounds = match args.repeats.as_str() {
            "auto" => Rounds::UntilClear(budget),
            count => match count.parse::<u32>() {
                Ok(repeats) if repeats > 0 => Rounds::Fixed(repeats),
                _ => {
                    return Err(Error::usage(format!(
                        "-n {count}: give a whole number from 1, such as 5, or auto to run until the verdict is clear"
                    )));
                }
            },
        };
        let mask = mask(&args, budget)?;
        refuse_beside_lcov(&args)?;
        let is_last_asked = args.against_all || args.ordinary.is_some() || args.joined;
        let question = if is_last_asked {
            Question::Last { ordinary: args.ordinary, is_joined: args.joined }
        } else {
            Question::First
        };
        Ok(ReplayOptions {
            inputs: args.inputs,
            seeds: args.seeds,
            rounds,
            question,
            json: args.json,
            annotate: args.annotate,
            context: args.context,
            lcov: args.lcov,
            mask,
            hang_timeout: hang_timeout(&args.target)?,
            memory_limit: memory_limit(&args.target)?,
            debug_target: args.target.debug_target,
            program: args.target.program,
            command: args.target.command,
        })
    }
}

/// Refuses options that `--lcov` would ignore.
fn refuse_beside_lcov(args: &ReplayArgs) -> Result<()> {
    let ignored = [
        ("--annotate", !args.annotate.is_empty()),
        ("--mask", args.mask),
        ("--json", args.json),
        ("--seeds", !args.seeds.is_empty()),
        ("--repeats", args.repeats != defaults::REPEATS),
        ("--against-all", args.against_all),
    ];
    match ignored.into_iter().find(|&(_, is_typed)| is_typed) {
        Some((other, _)) if args.lcov.is_some() => {
            Err(Error::usage(format!("--lcov and {other} do not go together: leave one of them out")))
        }
        _ => Ok(()),
    }
}

/// Resolves `--mask` and its options; refuses other options that it would ignore.
fn mask(args: &ReplayArgs, budget: Duration) -> Result<Option<MaskOptions>> {
    if !args.mask {
        return match &args.branch {
            Some(branch) => Err(Error::usage(format!("--branch {branch} says what a mask is for: add --mask"))),
            None if args.exact => Err(Error::usage("--exact says how a mask is computed: add --mask")),
            None => Ok(None),
        };
    }
    let other = if !args.annotate.is_empty() {
        Some("--annotate")
    } else if !args.seeds.is_empty() {
        Some("--seeds")
    } else if args.repeats != defaults::REPEATS {
        Some("--repeats")
    } else {
        None
    };
    match other {
        Some(other) => Err(Error::usage(format!("--mask and {other} do not go together: leave one of them out"))),
        None => Ok(Some(MaskOptions { branch: args.branch.clone(), exact: args.exact, budget })),
    }
}
