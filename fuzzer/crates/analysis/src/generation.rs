//! Generation of inputs by a harness that draws: `quagmire generate -- HARNESS`.

use crate::{command::TargetOptions, runner::Runner};
use quagmire_base::error::{Error, Result};
use quagmire_execution::{harness::Harness, info::TargetInfo};

/// Most runs in a row without an input.
const MOST_FAILURES: u32 = 1000;

/// Generator in a harness: random bytes decide what it draws, as in campaigns with `--choices random`.
pub struct Generator {
    runner: Runner,
    name: String,
    draws: bool,
    size: usize,
    buffer: Vec<u8>,
}

impl Generator {
    /// Makes a generator that draws from at most `size` bytes for each input.
    pub fn new(
        options: &TargetOptions,
        draws: bool,
        size: usize,
        target: &TargetInfo,
        harness: &'static Harness,
    ) -> Result<Self> {
        Ok(Self {
            runner: Runner::within(harness, size, options.limits())?,
            name: target.name(),
            draws,
            size,
            buffer: Vec::new(),
        })
    }

    /// Generates an input from given bytes.
    ///
    /// # Errors
    /// If the harness cannot be run, or makes no input of them.
    pub fn generate_from(&mut self, bytes: &[u8]) -> Result<Vec<u8>> {
        let run = self.runner.generate(bytes)?.unwrap_or_default();
        let made = if self.draws { run.has_drawn.then_some(run.read) } else { run.generated };
        made.ok_or_else(|| {
            Error::target(format!(
                "{} makes no input of it: its generator rejects it, ends the run, or does not call qgm_generated",
                self.name
            ))
        })
    }

    /// Generates an input from random bytes.
    ///
    /// # Errors
    /// If the harness cannot be run, draws nothing, or does not say what it has generated.
    pub fn generate(&mut self, random: &mut impl FnMut() -> u8) -> Result<Vec<u8>> {
        let (mut has_drawn, mut ended_early) = (false, true);
        for _ in 0..MOST_FAILURES {
            self.buffer.clear();
            self.buffer.extend((0..self.size).map(|_| random()));
            // a generator may give up, or crash
            let Some(run) = self.runner.generate(&self.buffer)? else { continue };
            has_drawn |= run.has_drawn;
            ended_early &= run.ended_early;
            match run.generated {
                Some(generated) if !self.draws => return Ok(generated),
                _ if self.draws && run.has_drawn => return Ok(run.read),
                _ => {}
            }
        }
        let why = match (has_drawn, ended_early) {
            (_, true) => {
                "has crashed or hung each time, before it had made an input: give it any file to `quagmire replay` to see where"
            }
            (false, _) => {
                "draws nothing: a generator draws by quagmire/draws.h or FuzzedDataProvider, and is built with quagmire-cc"
            }
            _ => {
                "does not say what it has generated: have it call qgm_generated, or write inputs of the harness itself \
                 with --draws"
            }
        };
        Err(Error::target(format!("in {MOST_FAILURES} runs, {} {why}", self.name)))
    }
}
