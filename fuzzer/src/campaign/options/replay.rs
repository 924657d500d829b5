//! The options of `replay`, as resolved.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use super::{defaults, flag, hang_timeout, memory_limit};
use crate::{
    cli::{args::ReplayArgs, units},
    cost::decision::Question,
    error::{Error, Result},
    replay::rounds::Rounds,
};

/// The options of `replay`, resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayOptions {
    /// Files and folders of inputs, as given; at least one.
    pub inputs: Vec<PathBuf>,
    /// Files and folders to compare with; may be empty.
    pub seeds: Vec<PathBuf>,
    /// How often to run each input.
    pub rounds: Rounds,
    /// Which verdicts are asked for.
    pub question: Question,
    /// Print JSON.
    pub json: bool,
    /// Source files to print with counts, as the user named them.
    pub annotate: Vec<PathBuf>,
    /// Print the mask of the one input instead of what it costs.
    pub mask: Option<MaskOptions>,
    /// A run that takes longer is a hang; at least [`SHORTEST_HANG_TIMEOUT`](super::SHORTEST_HANG_TIMEOUT).
    pub hang_timeout: Duration,
    /// Memory of the target in bytes; 0 for no limit.
    pub memory_limit: u64,
    /// Show what the target prints.
    pub debug_target: bool,
    /// The program and its arguments; empty in a harness that contains the engine.
    pub program: Vec<OsString>,
    /// The whole command line.
    pub command: Vec<String>,
}

impl ReplayOptions {
    /// Resolves what was typed.
    ///
    /// # Errors
    /// A usage error of one line that names the flag and the remedy.
    pub fn resolve(args: ReplayArgs) -> Result<Self> {
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
        let is_last_asked = args.against_all || args.ordinary.is_some() || args.joined;
        let question = if is_last_asked {
            Question::Last { ordinary: args.ordinary, is_joined: args.joined }
        } else {
            Question::First
        };
        Ok(Self {
            inputs: args.inputs,
            seeds: args.seeds,
            rounds,
            question,
            json: args.json,
            annotate: args.annotate,
            mask,
            hang_timeout: hang_timeout(&args.target)?,
            memory_limit: memory_limit(&args.target)?,
            debug_target: args.target.debug_target,
            program: args.program,
            command: args.command,
        })
    }
}

/// What `replay --mask` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaskOptions {
    /// The place that runs have to execute, as typed; nine tenths of the cost if there is none.
    pub branch: Option<String>,
    /// Probe each byte by itself.
    pub exact: bool,
    /// How long to probe.
    pub budget: Duration,
}

/// What is left of `--mask` and its like; refuses options that it would ignore.
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
