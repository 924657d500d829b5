//! `quagmire replay`: its options.

use std::{path::PathBuf, time::Duration};

use clap::Parser;
use quagmire_base::{
    error::{Error, ExitCode, Result},
    units,
};
use quagmire_cost::decision::Question;
use quagmire_execution::{harness::Harness, info::TargetInfo};

use crate::{
    command::{Command, EXIT_CODES, TargetOptions, need, refuse_beside, say_what_is_missing},
    rounds::Rounds,
    values,
};

/// Show what given inputs cost
#[derive(Clone, Debug, Parser)]
#[command(
    name = "replay",
    override_usage = "quagmire replay [OPTIONS] INPUTS... -- PROGRAM [ARGS... @@]",
    after_help = EXIT_CODES
)]
pub struct ReplayOptions {
    /// The inputs: files, or folders of files
    #[arg(value_name = "INPUTS")]
    pub inputs: Vec<PathBuf>,
    /// Compare with what these files cost: one file or folder (repeatable)
    #[arg(short = 'i', long, value_name = "PATH")]
    pub seeds: Vec<PathBuf>,
    /// Run each input this many times; auto: until the verdicts are clear or the budget is spent
    #[arg(short = 'n', long, value_name = "N", default_value = "auto", value_parser = repeats)]
    pub repeats: Repeats,
    /// CPU time for `-n auto`, all inputs together; time for the probes of --mask
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = units::duration)]
    pub budget: Duration,
    /// Judge the last input against each of the others, not each against the first
    #[arg(long)]
    pub against_all: bool,
    /// As --against-all, and against an ordinary input of its size of so many instructions: the one of the others that is
    /// nearest to that stands for it. How campaigns confirm.
    #[arg(long, value_name = "INSTRUCTIONS", hide = true)]
    pub ordinary: Option<u64>,
    /// The last input but one is there for --ordinary only.
    #[arg(long, hide = true, requires = "ordinary")]
    pub joined: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Print this source file with how often each line was executed: the end of its path (repeatable)
    #[arg(long, value_name = "FILE")]
    pub annotate: Vec<PathBuf>,
    /// With --annotate, print hot lines only, with this many lines before and behind each
    #[arg(long, value_name = "LINES", requires = "annotate", value_parser = values::whole)]
    pub context: Option<u32>,
    /// Run each input once, and write how often all of them together execute each line to this file, for genhtml of lcov
    /// and for services that show coverage
    #[arg(long, value_name = "FILE")]
    pub lcov: Option<PathBuf>,
    /// Print the one input with its mask: which bytes may be overwritten, inserted at and deleted so that the run still
    /// does nine tenths of its work
    #[arg(long)]
    pub mask: bool,
    /// With --mask: so that the run still executes this place: FUNCTION, FUNCTION:LINE or FILE:LINE
    #[arg(long, value_name = "PLACE")]
    pub branch: Option<String>,
    /// With --mask: probe each byte by itself, which takes longer, instead of blocks of bytes that do not matter
    #[arg(long)]
    pub exact: bool,
    /// Run the program as it is, by CPU time and memory alone: any command, found in PATH, such as an interpreter and a script.
    /// Nothing is counted, so that the search is that of Perun's rules, and needs many runs
    #[arg(long, help_heading = "Running the program")]
    pub uninstrumented: bool,
    /// The options that `fuzz` has as well.
    #[command(flatten)]
    pub target: TargetOptions,
}

/// Number of runs of each input; `None` until the verdicts are clear.
pub type Repeats = Option<u32>;

fn repeats(text: &str) -> Result<Repeats, String> {
    match text.parse() {
        _ if text == "auto" => Ok(None),
        Ok(repeats) if repeats > 0 => Ok(Some(repeats)),
        _ => Err(format!(
            "`{text}`: give a whole number from 1, such as 5, or -n auto to run until the verdict is clear"
        )),
    }
}

impl ReplayOptions {
    pub(crate) fn rounds(&self) -> Rounds {
        self.repeats.map_or(Rounds::UntilClear(self.budget), Rounds::Fixed)
    }

    /// The verdicts that are asked for.
    pub(crate) fn question(&self) -> Question {
        if self.against_all || self.ordinary.is_some() || self.joined {
            Question::Last { ordinary: self.ordinary, is_joined: self.joined }
        } else {
            Question::First
        }
    }
}

impl Command for ReplayOptions {
    fn target(&mut self) -> Option<&mut TargetOptions> {
        Some(&mut self.target)
    }

    fn inputs(&self) -> Vec<PathBuf> {
        [self.seeds.as_slice(), &self.inputs].concat()
    }

    fn is_uninstrumented(&self) -> bool {
        self.uninstrumented
    }

    fn check(&self) -> Result<()> {
        need(&self.inputs, "no inputs to replay: name files or folders")?;
        let ignored_by_both = [
            ("--annotate", !self.annotate.is_empty()),
            ("--seeds", !self.seeds.is_empty()),
            ("--repeats", self.repeats.is_some()),
        ];
        if self.mask {
            refuse_beside("--mask", &ignored_by_both)?;
        } else if let Some(branch) = &self.branch {
            return Err(Error::usage(format!("--branch {branch} says what a mask is for: add --mask")));
        } else if self.exact {
            return Err(Error::usage("--exact says how a mask is computed: add --mask"));
        }
        if self.lcov.is_some() {
            refuse_beside("--lcov", &ignored_by_both)?;
            let ignored = [("--mask", self.mask), ("--json", self.json), ("--against-all", self.against_all)];
            refuse_beside("--lcov", &ignored)?;
        }
        Ok(())
    }

    fn run(self: Box<Self>, target: TargetInfo, harness: &'static Harness) -> Result<ExitCode> {
        say_what_is_missing(&target, harness, self.json);
        crate::run(&self, &target, harness)
    }
}
