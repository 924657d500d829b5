//! `quagmire distill`, whose corpus keeps what inputs execute and cost, or the mutants that they kill.

use std::path::PathBuf;

use clap::Parser;
use quagmire_analysis::{
    command::{Command, TargetOptions},
    distill::DistillOptions,
};
use quagmire_base::error::{ExitCode, Result};
use quagmire_execution::{harness::Harness, info::TargetInfo};
use quagmire_mutants::ScoreOptions;

use super::mutants::{options, with_mutants};

/// Find the smallest corpus that covers as much, or costs as much, as given inputs
#[derive(Clone, Debug, Parser)]
#[command(name = "distill")]
pub(super) struct Distill {
    #[command(flatten)]
    options: DistillOptions,
}

impl Command for Distill {
    fn target(&mut self) -> Option<&mut TargetOptions> {
        Some(&mut self.options.target)
    }

    fn inputs(&self) -> Vec<PathBuf> {
        self.options.inputs.clone()
    }

    fn check(&self) -> Result<()> {
        self.options.check()
    }

    /// Distills by the mutants that are killed, which need a build of their own.
    fn run_alone(&mut self) -> Option<Result<ExitCode>> {
        let wanted = &self.options;
        wanted.purpose.is_none().then(|| {
            wanted.check()?;
            let mut options = ScoreOptions { json: wanted.json, ..options(&wanted.inputs, &wanted.target) };
            let _private = with_mutants(&mut options, &wanted.target, "distill --for mutants")?;
            quagmire_mutants::distill(&options, wanted.output())
        })
    }

    fn run(self: Box<Self>, target: TargetInfo, harness: &'static Harness) -> Result<ExitCode> {
        Box::new(self.options).run(target, harness)
    }
}
