//! `quagmire generate`: inputs that a grammar describes, or that a harness generates.

use std::{
    collections::HashSet,
    fs,
    hash::{BuildHasher, RandomState},
    path::PathBuf,
};

use clap::Parser;
use libafl_bolts::rands::{Rand, StdRand};
use quagmire_analysis::{
    command::{Command, EXIT_CODES, TargetOptions},
    generation::Generator,
    values,
};
use quagmire_base::{
    atomic::unwritable,
    error::{Error, ExitCode, Result},
    files::{Folder, FreeNames},
    plain::{self, Form, warn},
    seeds::{Seed, Seeds},
    units,
};
use quagmire_choices::grammar::{Grammar, Limits};
use quagmire_execution::{harness::Harness, info::TargetInfo};

use crate::options::drawn_seed;

/// Most inputs in a row that have been written before, until there are no others.
const MOST_REPEATS: u32 = 10_000;

/// Most inputs of one folder.
const MOST_INPUTS: u32 = 10_000_000;

/// Largest size of a generated input, in bytes.
const LARGEST_SIZE: u64 = 1 << 30;

/// Write inputs that a grammar describes, or a harness generates
#[derive(Debug, Parser)]
#[command(
    name = "generate",
    override_usage = "quagmire generate --grammar FILE -n N -o DIR [OPTIONS]\n       \
                      quagmire generate -n N -o DIR [OPTIONS] -- HARNESS\n       \
                      quagmire generate INPUTS... -o DIR [OPTIONS] -- HARNESS",
    long_about = "Writes inputs that a grammar describes, or that a harness generates, into a folder: 000000, 000001, ... \
                  A grammar is JSON in the form \
                  of the fuzzing book, of AFL++'s Grammar-Mutator or of Nautilus, or ANTLR's .g4. A harness writes what \
                  it hands to qgm_generated, for random bytes or for given inputs. With --generator, any program does.",
    after_help = EXIT_CODES
)]
pub(crate) struct Generate {
    /// The grammar; without one, a harness that draws makes the inputs, or the generator in front of a program
    #[arg(long, value_name = "FILE")]
    grammar: Option<PathBuf>,
    /// Write what the generator makes of these inputs, files or folders of files, under their names
    #[arg(value_name = "INPUTS")]
    inputs: Vec<PathBuf>,
    /// How many random inputs to write
    #[arg(short = 'n', long, value_name = "N", value_parser = number)]
    number: Option<u32>,
    /// The folder for the inputs: a new one, or an empty one
    #[arg(short = 'o', long, value_name = "DIR")]
    output: PathBuf,
    /// Size that inputs do not exceed, unless the simplest one does: 4096, 64KiB, 1MB. Of a harness, the number of random
    /// bytes that it can draw from
    #[arg(long, value_name = "SIZE", default_value = "4096", value_parser = size)]
    size: usize,
    /// How many parts may be in each other; deeper ones are as simple as they can be
    #[arg(long, value_name = "N", default_value = "32", value_parser = values::count::<u32>)]
    depth: u32,
    /// Write no input twice
    #[arg(long)]
    unique: bool,
    /// The number that all random choices follow from [default: a new one each time, printed]
    #[arg(long, value_name = "N", value_parser = values::seed)]
    seed: Option<u64>,
    /// Write inputs of the harness, and not what its generator makes of them
    #[arg(long)]
    draws: bool,
    /// The options that `fuzz` has as well.
    #[command(flatten)]
    target: TargetOptions,
}

fn number(text: &str) -> std::result::Result<u32, String> {
    match values::count(text)? {
        number if number <= MOST_INPUTS => Ok(number),
        _ => Err(format!("{text} is too many: give at most {MOST_INPUTS}")),
    }
}

fn size(text: &str) -> std::result::Result<usize, String> {
    match units::size(text)? {
        size if size <= LARGEST_SIZE => Ok(size as usize),
        _ => Err(format!("{text} is too large: give at most 1GiB")),
    }
}

impl Command for Generate {
    fn target(&mut self) -> Option<&mut TargetOptions> {
        Some(&mut self.target)
    }

    fn check(&self) -> Result<()> {
        if self.grammar.is_some() {
            if !self.target.program.is_empty() {
                return Err(Error::usage(
                    "a grammar or a harness makes the inputs: leave out --grammar, or `--` and what follows",
                ));
            }
            if self.draws {
                return Err(Error::usage(
                    "--draws is for harnesses, and a grammar draws nothing: leave one of them out",
                ));
            }
            if self.target.generator.is_some() || !self.inputs.is_empty() {
                return Err(Error::usage(
                    "a grammar makes inputs from nothing: leave out --generator and files, or --grammar",
                ));
            }
        }
        match self.number {
            Some(_) if !self.inputs.is_empty() => {
                Err(Error::usage("-n makes random inputs: leave it out, or the files"))
            }
            None if self.inputs.is_empty() => {
                Err(Error::usage("-n says how many inputs to write: give it, or files to generate from"))
            }
            _ => Ok(()),
        }
    }

    /// Writes inputs that a grammar describes.
    fn run_alone(&mut self) -> Option<Result<ExitCode>> {
        let path = self.grammar.as_deref()?;
        Some(self.check().and_then(|()| {
            let grammar = Grammar::load(path)?;
            for warning in &grammar.warnings {
                warn(&format!("{}: {warning}", path.display()));
            }
            let limits = Limits { size: self.size, depth: self.depth as usize };
            write(self, |rand| Ok(grammar.generate(rand, &limits).bytes))
        }))
    }

    /// Writes inputs that a harness generates.
    fn run(self: Box<Self>, target: TargetInfo, harness: &'static Harness) -> Result<ExitCode> {
        if self.grammar.is_some() {
            return Err(Error::usage("a harness needs no grammar: `quagmire generate --grammar FILE` uses one"));
        }
        if !self.inputs.is_empty() {
            return write_given(&self, &target, harness);
        }
        let mut generator = Generator::new(&self.target, self.draws, self.size.max(1), &target, harness)?;
        write(&self, |rand| generator.generate(&mut || rand.below_or_zero(256) as u8))
    }
}

/// Writes what a harness generates from given inputs, each under the name of its file.
///
/// # Errors
/// If an input cannot be read, nothing can be generated from it, or the folder is not empty or cannot be written.
fn write_given(options: &Generate, target: &TargetInfo, harness: &'static Harness) -> Result<ExitCode> {
    let given = Seeds::load_for_replay(&options.inputs)?;
    given.warnings.iter().for_each(|warning| warn(warning));
    let largest = usize::try_from(given.largest()).unwrap_or(usize::MAX);
    let mut generator = Generator::new(&options.target, options.draws, largest.max(1), target, harness)?;
    let folder = emptied(options)?;
    let mut names = FreeNames::default();
    let mut bytes = 0;
    for Seed { path, bytes: input } in &given.inputs {
        let generated = generator
            .generate_from(input)
            .map_err(|error| Error { message: format!("{}: {}", path.display(), error.message), ..error })?;
        let name = names.of(path);
        folder.write_whole(&name, &generated).map_err(|error| unwritable(&options.output.join(&name), &error))?;
        bytes += generated.len() as u64;
    }
    say_written(given.inputs.len() as u64, bytes, options, "")
}

/// Creates the folder for inputs, which has to be empty.
fn emptied(options: &Generate) -> Result<Folder> {
    let shown = options.output.display();
    fs::create_dir_all(&options.output).map_err(|error| unwritable(&options.output, &error))?;
    let folder = Folder::named(&options.output);
    if !folder.is_empty().map_err(|error| unwritable(&options.output, &error))? {
        return Err(Error::other(format!("{shown} holds files already: choose another folder with -o, or empty it")));
    }
    Ok(folder)
}

fn say_written(number: u64, bytes: u64, options: &Generate, seed: &str) -> Result<ExitCode> {
    let line = format!("Wrote {number} inputs ({bytes} bytes) to {}{seed}\n", options.output.display());
    plain::print(&line, Form::Lines)?;
    Ok(ExitCode::Ended)
}

/// Writes inputs into a folder, and prints how many.
///
/// # Errors
/// If no input can be made, the folder is not empty or cannot be written, or there are too few different inputs.
fn write(options: &Generate, mut make: impl FnMut(&mut StdRand) -> Result<Vec<u8>>) -> Result<ExitCode> {
    let shown = options.output.display();
    let folder = emptied(options)?;
    let seed = options.seed.unwrap_or_else(drawn_seed);
    let most = options.number.unwrap_or(0);
    let mut rand = StdRand::with_seed(seed);
    // a hash of each input; two that are taken for equal are one in 2^64
    let (hasher, mut known) = (RandomState::new(), HashSet::new());
    let (mut number, mut repeats, mut bytes) = (0, 0, 0);
    while number < most {
        let input = make(&mut rand)?;
        if options.unique && !known.insert(hasher.hash_one(&input)) {
            repeats += 1;
            if repeats == MOST_REPEATS {
                return Err(Error::other(format!(
                    "only {number} different inputs were found and written to {shown}: raise --size or --depth, or leave \
                     out --unique"
                )));
            }
            continue;
        }
        repeats = 0;
        let name = format!("{number:06}");
        folder.write_whole(&name, &input).map_err(|error| unwritable(&options.output.join(&name), &error))?;
        number += 1;
        bytes += input.len() as u64;
    }
    say_written(number.into(), bytes, options, &format!(", --seed {seed}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use super::*;

    /// Runs `generate` in a folder with a grammar, `g.json`, and the files of `out` after it.
    fn generate(folder: &Path, options: &str) -> (Result<ExitCode>, BTreeMap<String, Vec<u8>>) {
        let grammar = folder.join("g.json");
        if !grammar.exists() {
            fs::write(&grammar, r#"{"<start>": ["a", "b", "(<start>)"]}"#).expect("a file");
        }
        let (grammar, out) = (grammar.display(), folder.join("out"));
        let line = format!("generate --grammar {grammar} -o {} {options}", out.display());
        let mut parsed = Generate::try_parse_from(line.split_whitespace()).expect("options that clap takes");
        let result = parsed.run_alone().expect("a grammar");
        let entries = fs::read_dir(&out).into_iter().flatten().flatten();
        let file = |entry: fs::DirEntry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, fs::read(entry.path()).expect("a file"))
        };
        (result, entries.map(file).collect())
    }

    fn place() -> tempfile::TempDir {
        tempfile::tempdir().expect("a folder")
    }

    #[test]
    fn inputs_are_numbered_and_the_same_for_a_seed() {
        let (one, other) = (place(), place());
        let (result, files) = generate(one.path(), "-n 30 --seed 5 --size 9 --depth 3");
        assert_eq!(result, Ok(ExitCode::Ended));
        assert_eq!(files.len(), 30);
        assert_eq!(files.keys().next_back().map(String::as_str), Some("000029"));
        assert!(files.values().all(|input| input.len() <= 9));
        assert_eq!(generate(other.path(), "-n 30 --seed 5 --size 9 --depth 3").1, files);
        let error = generate(one.path(), "-n 1").0.expect_err("a folder that is not empty");
        assert!(error.message.contains("holds files already"), "{error}");
    }

    #[test]
    fn unique_inputs_are_different_or_the_command_says_how_many_there_are() {
        let folder = place();
        let (result, files) = generate(folder.path(), "-n 100 --unique --size 5");
        assert!(result.expect_err("too few").message.starts_with("only 6 different inputs"));
        let mut inputs: Vec<_> = files.into_values().collect();
        inputs.sort();
        assert_eq!(inputs, [&b"((a))"[..], b"((b))", b"(a)", b"(b)", b"a", b"b"]);
    }

    #[test]
    fn a_mistake_in_a_grammar_is_named_before_anything_is_written() {
        let folder = place();
        fs::write(folder.path().join("g.json"), "{\"<start>\": [\"<b>\"]}").expect("a file");
        let (result, files) = generate(folder.path(), "-n 1");
        assert!(result.expect_err("a mistake").message.contains("g.json:1: <b> is used by <start>"));
        assert!(files.is_empty());
    }
}
