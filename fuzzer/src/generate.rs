//! `quagmire generate`: inputs that a grammar describes, or that a harness generates.

use std::collections::HashSet;
use std::fs;
use std::hash::{BuildHasher, RandomState};

use libafl_bolts::rands::{Rand, StdRand};
use quagmire_analysis::generation::{Generator, GeneratorOptions};
use quagmire_base::atomic::unwritable;
use quagmire_base::error::{Error, ExitCode, Result};
use quagmire_base::files::{Folder, FreeNames};
use quagmire_base::plain::{self, Form, warn};
use quagmire_base::seeds::{Seed, Seeds};
use quagmire_choices::grammar::Grammar;
use quagmire_execution::{harness::Harness, info::TargetInfo};

use crate::options::generate::{GenerateOptions, Source};

/// Most inputs in a row that have been written before, until there are no others.
const MOST_REPEATS: u32 = 10_000;

/// Writes inputs that a grammar describes.
///
/// # Errors
/// If the grammar cannot be used, or as [`write()`].
pub fn run(options: &GenerateOptions) -> Result<ExitCode> {
    let Source::Grammar(path) = &options.source else {
        return Err(Error::usage("no grammar: give one with --grammar, or a harness: -- ./HARNESS"));
    };
    let grammar = Grammar::load(path)?;
    for warning in &grammar.warnings {
        warn(&format!("{}: {warning}", path.display()));
    }
    write(options, |rand| Ok(grammar.generate(rand, &options.limits).bytes))
}

/// Writes inputs that a harness generates.
///
/// # Errors
/// If the harness cannot be used as a generator, or as [`write()`].
pub fn run_harness(options: &GenerateOptions, target: &TargetInfo, harness: &'static Harness) -> Result<ExitCode> {
    let Source::Harness(of_harness) = &options.source else {
        return Err(Error::usage("a harness needs no grammar: `quagmire generate --grammar FILE` uses one"));
    };
    if !options.inputs.is_empty() {
        return write_given(options, of_harness, target, harness);
    }
    let mut generator = Generator::new(of_harness, options.limits.size.max(1), target, harness)?;
    write(options, |rand| generator.generate(&mut || rand.below_or_zero(256) as u8))
}

/// Writes what a harness generates from given inputs, each under the name of its file.
///
/// # Errors
/// If an input cannot be read, nothing can be generated from it, or the folder is not empty or cannot be written.
fn write_given(
    options: &GenerateOptions,
    of_harness: &GeneratorOptions,
    target: &TargetInfo,
    harness: &'static Harness,
) -> Result<ExitCode> {
    let given = Seeds::load_for_replay(&options.inputs)?;
    given.warnings.iter().for_each(|warning| warn(warning));
    let largest = usize::try_from(given.largest()).unwrap_or(usize::MAX);
    let mut generator = Generator::new(of_harness, largest.max(1), target, harness)?;
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
fn emptied(options: &GenerateOptions) -> Result<Folder> {
    let shown = options.output.display();
    fs::create_dir_all(&options.output).map_err(|error| unwritable(&options.output, &error))?;
    let folder = Folder::named(&options.output);
    if !folder.is_empty().map_err(|error| unwritable(&options.output, &error))? {
        return Err(Error::other(format!("{shown} holds files already: choose another folder with -o, or empty it")));
    }
    Ok(folder)
}

fn say_written(number: u64, bytes: u64, options: &GenerateOptions, seed: &str) -> Result<ExitCode> {
    let line = format!("Wrote {number} inputs ({bytes} bytes) to {}{seed}\n", options.output.display());
    plain::print(&line, Form::Lines)?;
    Ok(ExitCode::Ended)
}

/// Writes inputs into a folder, and prints how many.
///
/// # Errors
/// If no input can be made, the folder is not empty or cannot be written, or there are too few different inputs.
fn write(options: &GenerateOptions, mut make: impl FnMut(&mut StdRand) -> Result<Vec<u8>>) -> Result<ExitCode> {
    let shown = options.output.display();
    let folder = emptied(options)?;
    let mut rand = StdRand::with_seed(options.seed);
    // a hash of each input; two that are taken for equal are one in 2^64
    let (hasher, mut known) = (RandomState::new(), HashSet::new());
    let (mut number, mut repeats, mut bytes) = (0, 0, 0);
    while number < options.number {
        let input = make(&mut rand)?;
        if options.is_unique && !known.insert(hasher.hash_one(&input)) {
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
    say_written(number.into(), bytes, options, &format!(", --seed {}", options.seed))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use super::*;
    use crate::cli::{Command, parse_for_quagmire};
    use quagmire_base::error::ExitCode;

    /// Runs `generate` in a folder with a grammar, `g.json`, and the files of `out` after it.
    fn generate(folder: &Path, options: &str) -> (Result<ExitCode>, BTreeMap<String, Vec<u8>>) {
        let grammar = folder.join("g.json");
        if !grammar.exists() {
            fs::write(&grammar, r#"{"<start>": ["a", "b", "(<start>)"]}"#).expect("a file");
        }
        let (grammar, out) = (grammar.display(), folder.join("out"));
        let line = format!("quagmire generate --grammar {grammar} -o {} {options}", out.display());
        let result = match parse_for_quagmire(line.split_whitespace(), None) {
            Ok(Command::Generate(args)) => args.resolve().and_then(|options| run(&options)),
            other => panic!("not a generation: {other:?}"),
        };
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
    fn wrong_options_name_themselves() {
        for (options, part) in [
            ("-n 0", "-n 0 makes nothing"),
            ("-n many", "-n: `many`"),
            ("-n 1 --size huge", "--size"),
            ("-n 1 --depth 0", "--depth 0"),
            ("-n 1 --seed x", "--seed"),
        ] {
            let error = generate(place().path(), options).0.expect_err(options);
            assert!(error.code == ExitCode::Usage && error.message.contains(part), "{error}");
        }
        let folder = place();
        fs::write(folder.path().join("g.json"), "{\"<start>\": [\"<b>\"]}").expect("a file");
        let (result, files) = generate(folder.path(), "-n 1");
        assert!(result.expect_err("a mistake").message.contains("g.json:1: <b> is used by <start>"));
        assert!(files.is_empty());
    }
}
