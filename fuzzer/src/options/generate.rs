//! Resolution of the options of `generate`.

use std::path::PathBuf;

use quagmire_analysis::generation::GeneratorOptions;
use quagmire_base::error::{Error, Result};
use quagmire_base::units;
use quagmire_choices::grammar::Limits;

use super::{args::GenerateArgs, drawn_seed, flag, given_seed, hang_timeout, memory_limit};

/// Most inputs of one folder.
const MOST_INPUTS: u32 = 10_000_000;

/// Largest size of a generated input, in bytes.
const LARGEST_SIZE: u64 = 1 << 30;

/// Maker of inputs.
#[derive(Clone, Debug)]
pub enum Source {
    /// The grammar in a file.
    Grammar(PathBuf),
    Harness(GeneratorOptions),
}

/// Work of `generate`, as resolved.
#[derive(Clone, Debug)]
pub struct GenerateOptions {
    /// Maker of the inputs.
    pub source: Source,
    /// Number of random inputs; at least one, unless `inputs` are given.
    pub number: u32,
    /// Files and folders of inputs of a harness, to write what it generates from them.
    pub inputs: Vec<PathBuf>,
    /// Folder for the inputs.
    pub output: PathBuf,
    /// Limits of each input.
    pub limits: Limits,
    /// Whether no input is written twice.
    pub is_unique: bool,
    /// Seed of all random choices.
    pub seed: u64,
}

impl GenerateArgs {
    /// Resolves options as typed.
    ///
    /// # Errors
    /// A usage error in one line that names the option and the remedy.
    pub fn resolve(&self) -> Result<GenerateOptions> {
        let count = |name: &str, text: &str, most: u32| match text.parse::<u32>() {
            Ok(0) => Err(Error::usage(format!("{name} 0 makes nothing: give at least 1"))),
            Ok(count) if count <= most => Ok(count),
            _ => Err(Error::usage(format!("{name}: `{text}` is not a count: write a whole number from 1 to {most}"))),
        };
        let size = flag("--size", units::size(&self.size))?;
        if size > LARGEST_SIZE {
            return Err(Error::usage(format!("--size {} is too large: give at most 1GiB", self.size)));
        }
        let source = match &self.grammar {
            Some(_) if !self.target.program.is_empty() => {
                return Err(Error::usage(
                    "a grammar or a harness makes the inputs: leave out --grammar, or `--` and what follows",
                ));
            }
            Some(_) if self.draws => {
                return Err(Error::usage(
                    "--draws is for harnesses, and a grammar draws nothing: leave one of them out",
                ));
            }
            Some(_) if self.target.generator.is_some() || !self.inputs.is_empty() => {
                return Err(Error::usage(
                    "a grammar makes inputs from nothing: leave out --generator and files, or --grammar",
                ));
            }
            Some(grammar) => Source::Grammar(grammar.clone()),
            None => Source::Harness(GeneratorOptions {
                draws: self.draws,
                hang_timeout: hang_timeout(&self.target)?,
                memory_limit: memory_limit(&self.target)?,
                debug_target: self.target.debug_target,
            }),
        };
        Ok(GenerateOptions {
            source,
            number: match &self.number {
                Some(_) if !self.inputs.is_empty() => {
                    return Err(Error::usage("-n makes random inputs: leave it out, or the files"));
                }
                Some(number) => count("-n", number, MOST_INPUTS)?,
                None if self.inputs.is_empty() => {
                    return Err(Error::usage("-n says how many inputs to write: give it, or files to generate from"));
                }
                None => 0,
            },
            inputs: self.inputs.clone(),
            output: self.output.clone(),
            limits: Limits { size: size as usize, depth: count("--depth", &self.depth, u32::MAX)? as usize },
            is_unique: self.unique,
            seed: self.seed.as_deref().map_or_else(|| Ok(drawn_seed()), given_seed)?,
        })
    }
}
