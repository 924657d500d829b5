//! `quagmire mutants`: how good corpora are, by the small faults that they notice.

use std::{
    ffi::OsString,
    num::NonZero,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{Args, Parser, Subcommand};
use quagmire_analysis::{
    command::{Command, EXIT_CODES, TargetOptions},
    values,
};
use quagmire_base::{
    error::{Error, ExitCode, Result},
    units,
};
use quagmire_execution::{
    fork_server::{private_folder::PrivateFolder, run_folder::RunFiles},
    recognise::{ProgramKind, recognise},
};
use quagmire_mutants::{
    BenchOptions, CompareOptions, Contestant, InputOrder, ListOptions, ScoreOptions, known_fuzzers,
};

use crate::cli::with_folder;

/// Word between groups.
const AND: &str = "--and";

/// Inputs that a mutant is run with, if nobody says more.
pub(super) const INPUTS_PER_MUTANT: usize = 50;

const ORDERS: [(&str, InputOrder); 2] = [("cost", InputOrder::Cost), ("mtime", InputOrder::Modified)];

/// Show how good a corpus is, by the small faults that it notices
#[derive(Clone, Debug, Parser)]
#[command(name = "mutants", after_help = EXIT_CODES, disable_help_subcommand = true)]
pub(super) struct Mutants {
    /// Command on scores.
    #[command(subcommand)]
    command: Subcommands,
}

/// Subcommands of `quagmire mutants`.
#[derive(Clone, Debug, Subcommand)]
enum Subcommands {
    /// Show how many mutants of a program the inputs notice
    #[command(
        override_usage = "quagmire mutants score [OPTIONS] INPUTS... -- PROGRAM [ARGS... @@]",
        after_help = EXIT_CODES
    )]
    Score(Box<Score>),
    /// Show the mutants of a program, with the IDs by which QUAGMIRE_MUTANT chooses one
    #[command(override_usage = "quagmire mutants list [OPTIONS] -- PROGRAM [ARGS... @@]", after_help = EXIT_CODES)]
    List(List),
    /// Show results of `score` side by side
    #[command(
        override_usage = "quagmire mutants compare [OPTIONS] SCORE SCORE...\n       \
                          quagmire mutants compare [OPTIONS] -- SCORE... --and SCORE...",
        long_about = "Shows which mutants the results of `score` kill that others do not: each is a result of its own, or, with \
                      --and between them, they are groups, such as of repeated campaigns.",
        after_help = EXIT_CODES
    )]
    Compare(Compare),
    /// Make campaigns of several fuzzers, and show how many mutants each kills, and how soon
    #[command(
        override_usage = "quagmire mutants bench [OPTIONS] -i SEEDS -o DIR --fuzzer NAME=PROGRAM... -- PROGRAM [ARGS... @@]",
        after_help = EXIT_CODES
    )]
    Bench(Box<Bench>),
}

#[derive(Clone, Debug, Args)]
struct Bench {
    /// The seeds of all campaigns: one file or folder (repeatable)
    #[arg(short = 'i', long, value_name = "PATH", required = true)]
    seeds: Vec<PathBuf>,
    /// Write campaigns and bench.json to this folder
    #[arg(short = 'o', long, value_name = "DIR")]
    output: PathBuf,
    /// A fuzzer, and the program as it is built for it (repeatable): quagmire; perffuzz, quagmire with PerfFuzz's feedback;
    /// afl; libfuzzer
    #[arg(long, value_name = "NAME=PROGRAM")]
    #[arg(value_parser = fuzzer)]
    fuzzer: Vec<Contestant>,
    /// Another fuzzer, and a script that runs it (repeatable). The script gets the folder of the seeds, one to write to, seconds, seed
    /// and largest size, and prints the folders with its inputs, and a line `executions: N` if it knows
    #[arg(long, value_name = "NAME=FILE")]
    #[arg(value_parser = script)]
    script: Vec<Contestant>,
    /// Time of each campaign
    #[arg(long, value_name = "DURATION", default_value = "10m")]
    #[arg(value_parser = seconds)]
    time: Duration,
    /// Campaigns of each fuzzer
    #[arg(long, value_name = "N", default_value = "10")]
    #[arg(value_parser = values::count::<u64>)]
    runs: u64,
    /// Seed of the first campaign of each fuzzer; the others have those after it
    #[arg(long, value_name = "N", default_value = "1", value_parser = values::seed)]
    seed: u64,
    /// Largest size of an input
    #[arg(long, value_name = "SIZE", default_value = "4096")]
    #[arg(value_parser = units::size)]
    max_size: u64,
    /// Performance mutants: an input kills a mutant that makes it cost at least X times as much [default: 2]
    #[arg(long, value_name = "X")]
    #[arg(value_parser = values::above_one)]
    cost_factor: Option<f64>,
    /// Run a mutant with at most so many of the inputs that infect it, the cheapest first
    #[arg(long, value_name = "N", default_value = "50")]
    #[arg(value_parser = at_least_one)]
    inputs_per_mutant: usize,
    /// Run so many campaigns at a time
    #[arg(short = 'j', value_name = "N", default_value = "1")]
    #[arg(value_parser = at_least_one)]
    jobs: usize,
    /// Go on with the campaigns in the folder
    #[arg(long)]
    resume: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// The options that `fuzz` and `replay` have as well.
    #[command(flatten)]
    target: TargetOptions,
}

#[derive(Clone, Debug, Args)]
struct Score {
    /// The inputs: files, or folders of files
    #[arg(value_name = "INPUTS")]
    inputs: Vec<PathBuf>,
    /// Write the result to score.json in this folder, and what --resume needs
    #[arg(short = 'o', long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Go on with the score in the folder
    #[arg(long, requires = "output")]
    resume: bool,
    /// Run a mutant with at most so many of the inputs that infect it, the cheapest first; a degraded hash or a dropped cache,
    /// whose cost cannot be charged, with those that use it most
    #[arg(long, value_name = "N", default_value = "50")]
    #[arg(value_parser = at_least_one)]
    inputs_per_mutant: usize,
    /// Run a mutant with the inputs that only reach it, too: checks that nothing is lost by leaving them out
    #[arg(long)]
    reached: bool,
    /// Kill a mutant by its cost as well: by an input that takes X times the CPU time, and 5 ms more, in each of four runs
    #[arg(long, value_name = "X")]
    #[arg(value_parser = values::above_one)]
    slower: Option<f64>,
    /// Performance mutants: an input kills a mutant that makes it cost at least X times as much [default: 2]
    #[arg(long, value_name = "X")]
    #[arg(value_parser = values::above_one)]
    cost_factor: Option<f64>,
    /// Performance mutants: order of the inputs, of which the first that kills one is named: cost, the cheapest first; mtime,
    /// the oldest file first, as a campaign has found them [default: cost]
    #[arg(long, value_name = "ORDER")]
    #[arg(value_parser = values::choice(&ORDERS))]
    in_order: Option<InputOrder>,
    /// Run so many processes at a time [default: one for each core]
    #[arg(short = 'j', value_name = "N")]
    #[arg(value_parser = at_least_one)]
    jobs: Option<usize>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// The options that `fuzz` and `replay` have as well.
    #[command(flatten)]
    target: TargetOptions,
}

#[derive(Clone, Debug, Args)]
struct List {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// The program, built with QUAGMIRE_MUTANTS, and its arguments
    #[arg(last = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

#[derive(Clone, Debug, Args)]
struct Compare {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Results: files, or folders of `score -o`
    #[arg(value_name = "SCORE")]
    scores: Vec<PathBuf>,
    /// Groups of results, with --and between them.
    #[arg(last = true, value_name = "SCORE", hide = true)]
    groups: Vec<OsString>,
}

impl Command for Mutants {
    fn target(&mut self) -> Option<&mut TargetOptions> {
        match &mut self.command {
            Subcommands::Score(score) => Some(&mut score.target),
            Subcommands::Bench(bench) => Some(&mut bench.target),
            Subcommands::List(_) | Subcommands::Compare(_) => None,
        }
    }

    fn run_alone(&mut self) -> Option<Result<ExitCode>> {
        Some(match &self.command {
            Subcommands::Score(score) => score.run(),
            Subcommands::List(list) => list.run(),
            Subcommands::Compare(compare) => compare
                .groups()
                .and_then(|groups| quagmire_mutants::compare(&CompareOptions { groups, json: compare.json })),
            Subcommands::Bench(bench) => bench.run(),
        })
    }
}

impl Score {
    fn run(&self) -> Result<ExitCode> {
        if self.inputs.is_empty() {
            return Err(Error::usage("no inputs to score: name files or folders"));
        }
        check_target(&self.target)?;
        let usual = options(&self.inputs, &self.target);
        let mut options = ScoreOptions {
            output: self.output.clone(),
            resume: self.resume,
            inputs_per_mutant: self.inputs_per_mutant,
            with_reached: self.reached,
            slower: self.slower,
            cost_factor: self.cost_factor,
            order: self.in_order,
            jobs: self.jobs.unwrap_or(usual.jobs),
            json: self.json,
            ..usual
        };
        let _private = with_mutants(&mut options, &self.target, "mutants score")?;
        quagmire_mutants::score(&options)
    }
}

impl List {
    fn run(&self) -> Result<ExitCode> {
        if self.program.is_empty() {
            return Err(Error::usage("mutants list needs a program: end the command with -- ./PROGRAM"));
        }
        let mut options = ListOptions { program: self.program.clone(), json: self.json };
        check_mutants(&mut options.program, "mutants list")?;
        quagmire_mutants::list(&options)
    }
}

impl Bench {
    fn run(&self) -> Result<ExitCode> {
        check_target(&self.target)?;
        let mut fuzzers: Vec<Contestant> = Vec::new();
        for one in self.fuzzer.iter().chain(&self.script) {
            if fuzzers.iter().any(|known| known.name == one.name) {
                return Err(Error::usage(format!("{} is named twice: give one of them another name", one.name)));
            }
            fuzzers.push(one.clone());
        }
        if fuzzers.is_empty() {
            return Err(Error::usage("no fuzzer to bench: name one or more, such as --fuzzer quagmire=./HARNESS"));
        }
        let usual = options(&self.seeds, &self.target);
        let mut score = ScoreOptions {
            inputs_per_mutant: self.inputs_per_mutant,
            cost_factor: self.cost_factor,
            jobs: (usual.jobs / self.jobs).max(1),
            ..usual
        };
        let _private = with_mutants(&mut score, &self.target, "mutants bench")?;
        quagmire_mutants::bench(&BenchOptions {
            score,
            output: self.output.clone(),
            fuzzers,
            seconds: self.time.as_secs(),
            runs: self.runs,
            first_seed: self.seed,
            max_size: self.max_size,
            jobs: self.jobs,
            resume: self.resume,
            json: self.json,
        })
    }
}

impl Compare {
    fn groups(&self) -> Result<Vec<Vec<PathBuf>>> {
        let mut groups: Vec<Vec<PathBuf>> = self.scores.iter().map(|score| vec![score.clone()]).collect();
        if !self.groups.is_empty() {
            let group = |words: &[OsString]| words.iter().map(PathBuf::from).collect();
            groups.extend(self.groups.split(|word| word == AND).map(group));
        }
        if groups.len() < 2 || groups.iter().any(Vec::is_empty) {
            return Err(Error::usage(
                "several results are compared: name two of `mutants score -o DIR`, or groups: -- A1 A2 --and B1 B2",
            ));
        }
        Ok(groups)
    }
}

/// Options of a score as they are if nobody says more.
pub(super) fn options(inputs: &[PathBuf], target: &TargetOptions) -> ScoreOptions {
    ScoreOptions {
        inputs: inputs.to_vec(),
        output: None,
        resume: false,
        inputs_per_mutant: INPUTS_PER_MUTANT,
        with_reached: false,
        slower: None,
        cost_factor: None,
        order: None,
        since: None,
        jobs: std::thread::available_parallelism().map_or(1, NonZero::get),
        json: false,
        hang_timeout: target.hang_timeout,
        memory_limit: target.memory_limit,
        program: target.program.clone(),
        files: RunFiles::default(),
    }
}

/// Checks the options of a target that mutants do not have.
fn check_target(target: &TargetOptions) -> Result<()> {
    if target.generator.is_some() {
        return Err(Error::usage("--generator: mutants are run with inputs of the program itself: leave it out"));
    }
    if target.debug_target {
        return Err(Error::usage("--debug-target: what mutants print is compared, and not shown: leave it out"));
    }
    Ok(())
}

/// Checks that a command is that of a program with mutants, and gives the program a path that is not looked for.
fn check_mutants(command: &mut [OsString], name: &str) -> Result<()> {
    let program = command.first_mut().ok_or_else(|| Error::usage(format!("{name} runs no program")))?;
    let path = Path::new(program);
    if recognise(path)? != ProgramKind::Mutants {
        return Err(Error::target(format!(
            "{} has no mutants: build it with QUAGMIRE_MUTANTS=1 or =performance, CC=quagmire-cc CXX=quagmire-c++",
            path.display()
        )));
    }
    *program = with_folder(path).into_os_string();
    Ok(())
}

/// Checks that the program has mutants, and sets the files that its runs see. They are removed with what is returned.
pub(super) fn with_mutants(
    options: &mut ScoreOptions,
    target: &TargetOptions,
    name: &str,
) -> Result<Option<PrivateFolder>> {
    check_mutants(&mut options.program, name)?;
    let (files, private) = target.run_files(&options.inputs)?;
    options.program = target.started(&options.program);
    options.files = files;
    Ok(private)
}

fn at_least_one(text: &str) -> std::result::Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=1_000_000).contains(number));
    number.ok_or_else(|| format!("`{text}`: give a whole number from 1"))
}

fn seconds(text: &str) -> std::result::Result<Duration, String> {
    let time = units::duration(text)?;
    if time.subsec_nanos() > 0 || time.is_zero() {
        return Err(format!("`{text}`: give whole seconds, at least one"));
    }
    Ok(time)
}

fn fuzzer(word: &str) -> std::result::Result<Contestant, String> {
    contestant(word, false)
}

fn script(word: &str) -> std::result::Result<Contestant, String> {
    contestant(word, true)
}

/// A fuzzer as it is named by `NAME=PATH`.
fn contestant(word: &str, is_script: bool) -> std::result::Result<Contestant, String> {
    let known = || known_fuzzers().collect::<Vec<_>>().join(", ");
    let what = if is_script { "NAME=FILE" } else { "NAME=PROGRAM" };
    let (name, path) = word
        .split_once('=')
        .filter(|(name, path)| !name.is_empty() && !path.is_empty())
        .ok_or_else(|| format!("`{word}`: give {what}"))?;
    if !name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.+".contains(c)) || name.starts_with(['.', '-']) {
        return Err(format!("`{word}`: a name has letters, digits and - _ . + only"));
    }
    if !is_script && !known_fuzzers().any(|one| one == name) {
        let known = known();
        return Err(format!("it is {known}; others are run by --script {name}=FILE"));
    }
    Ok(Contestant { name: name.to_owned(), path: path.into(), is_script })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(scores: &str, groups: &str) -> Result<Vec<Vec<PathBuf>>> {
        let words = |text: &str| text.split_whitespace().map(OsString::from).collect::<Vec<_>>();
        let scores = words(scores).into_iter().map(PathBuf::from).collect();
        Compare { json: false, scores, groups: words(groups) }.groups()
    }

    #[test]
    fn results_are_groups_of_their_own_unless_there_is_an_and() {
        let of = |group: &[&str]| group.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(groups("a b", ""), Ok(vec![of(&["a"]), of(&["b"])]));
        assert_eq!(groups("", "a b --and c"), Ok(vec![of(&["a", "b"]), of(&["c"])]));
        for (scores, rest) in [("", ""), ("a", ""), ("", "a b"), ("", "a --and"), ("", "--and b")] {
            let error = groups(scores, rest).unwrap_err();
            assert!(error.message.contains("name two") && error.message.contains("--and"), "{error}");
        }
    }

    #[test]
    fn fuzzers_are_known_or_have_a_script() {
        let of = |name: &str, path: &str, is_script| Contestant { name: name.into(), path: path.into(), is_script };
        assert_eq!(contestant("afl=./a=b", false), Ok(of("afl", "./a=b", false)));
        assert_eq!(contestant("honggfuzz=run.sh", true), Ok(of("honggfuzz", "run.sh", true)));
        for (word, is_script, says) in [
            ("honggfuzz=x", false, "quagmire, perffuzz, afl, libfuzzer; others are run by --script honggfuzz=FILE"),
            ("afl", false, "give NAME=PROGRAM"),
            ("=x", true, "give NAME=FILE"),
            ("../a=x", true, "letters"),
        ] {
            let error = contestant(word, is_script).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }
}
