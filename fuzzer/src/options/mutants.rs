//! Resolution of the options of `mutants`.

use std::{ffi::OsString, num::NonZero, path::PathBuf};

use super::{hang_timeout, memory_limit};
use crate::options::args::{BenchArgs, CompareScoresArgs, ListArgs, MutantsCommand, ScoreArgs, TargetArgs};
use quagmire_base::{
    error::{Error, Result},
    units,
};
use quagmire_execution::fork_server::run_folder::RunFiles;
use quagmire_mutants::{
    BenchOptions, CompareOptions, Contestant, InputOrder, ListOptions, ScoreOptions, known_fuzzers,
};

/// Word between groups.
const AND: &str = "--and";

impl MutantsCommand {
    /// Whether its options make sense.
    ///
    /// # Errors
    /// A usage error in one line that names the option and the remedy.
    pub fn check(self) -> Result<()> {
        match self {
            Self::Score(score) => score.resolve().map(drop),
            Self::List(list) => list.resolve().map(drop),
            Self::Compare(compare) => compare.resolve().map(drop),
            Self::Bench(bench) => bench.resolve().map(drop),
        }
    }
}

impl ScoreArgs {
    /// Resolves options as typed.
    ///
    /// # Errors
    /// A usage error in one line that names the option and the remedy.
    pub fn resolve(self) -> Result<ScoreOptions> {
        if self.inputs.is_empty() {
            return Err(Error::usage("no inputs to score: name files or folders"));
        }
        check_target(&self.target)?;
        Ok(ScoreOptions {
            inputs: self.inputs,
            output: self.output,
            resume: self.resume,
            inputs_per_mutant: at_least_one("--inputs-per-mutant", &self.inputs_per_mutant)?,
            with_reached: self.reached,
            slower: self.slower.as_deref().map(|text| above_one("--slower", text)).transpose()?,
            cost_factor: self.cost_factor.as_deref().map(|text| above_one("--cost-factor", text)).transpose()?,
            order: self.in_order.as_deref().map(order).transpose()?,
            since: None,
            jobs: self.jobs.map_or_else(|| Ok(cores()), |jobs| at_least_one("-j", &jobs))?,
            json: self.json,
            hang_timeout: hang_timeout(&self.target)?,
            memory_limit: memory_limit(&self.target)?,
            program: self.target.program,
            files: RunFiles::default(),
        })
    }
}

/// Checks the options of a target that mutants do not have.
fn check_target(target: &TargetArgs) -> Result<()> {
    if target.generator.is_some() {
        return Err(Error::usage("--generator: mutants are run with inputs of the program itself: leave it out"));
    }
    if target.debug_target {
        return Err(Error::usage("--debug-target: what mutants print is compared, and not shown: leave it out"));
    }
    Ok(())
}

/// Number of cores that there are.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

impl BenchArgs {
    /// Resolves options as typed.
    ///
    /// # Errors
    /// A usage error in one line that names the option and the remedy.
    pub fn resolve(self) -> Result<BenchOptions> {
        check_target(&self.target)?;
        let mut fuzzers = Vec::new();
        for (words, is_script) in [(&self.fuzzer, false), (&self.script, true)] {
            for word in words {
                let one = contestant(word, is_script)?;
                if fuzzers.iter().any(|known: &Contestant| known.name == one.name) {
                    return Err(Error::usage(format!("{} is named twice: give one of them another name", one.name)));
                }
                fuzzers.push(one);
            }
        }
        if fuzzers.is_empty() {
            return Err(Error::usage("no fuzzer to bench: name one or more, such as --fuzzer quagmire=./HARNESS"));
        }
        let wrong = |option: &str, text: &str, error: String| Error::usage(format!("{option} {text}: {error}"));
        let time = units::duration(&self.time).map_err(|error| wrong("--time", &self.time, error))?;
        if time.subsec_nanos() > 0 || time.is_zero() {
            return Err(wrong("--time", &self.time, "give whole seconds, at least one".to_owned()));
        }
        let max_size = units::size(&self.max_size).map_err(|error| wrong("--max-size", &self.max_size, error))?;
        let jobs = at_least_one("-j", &self.jobs)?;
        let score = ScoreOptions {
            inputs: self.seeds,
            output: None,
            resume: false,
            inputs_per_mutant: at_least_one("--inputs-per-mutant", &self.inputs_per_mutant)?,
            with_reached: false,
            slower: None,
            cost_factor: self.cost_factor.as_deref().map(|text| above_one("--cost-factor", text)).transpose()?,
            order: None,
            since: None,
            jobs: (cores() / jobs).max(1),
            json: false,
            hang_timeout: hang_timeout(&self.target)?,
            memory_limit: memory_limit(&self.target)?,
            program: self.target.program,
            files: RunFiles::default(),
        };
        Ok(BenchOptions {
            score,
            output: self.output,
            fuzzers,
            seconds: time.as_secs(),
            runs: at_least_one("--runs", &self.runs)? as u64,
            first_seed: self.seed,
            max_size,
            jobs,
            resume: self.resume,
            json: self.json,
        })
    }
}

/// A fuzzer as it is named by `NAME=PATH`.
fn contestant(word: &str, is_script: bool) -> Result<Contestant> {
    let known = || known_fuzzers().collect::<Vec<_>>().join(", ");
    let (option, what) = if is_script { ("--script", "NAME=FILE") } else { ("--fuzzer", "NAME=PROGRAM") };
    let (name, path) = word
        .split_once('=')
        .filter(|(name, path)| !name.is_empty() && !path.is_empty())
        .ok_or_else(|| Error::usage(format!("{option} {word}: give {what}")))?;
    if !name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.+".contains(c)) || name.starts_with(['.', '-']) {
        return Err(Error::usage(format!("{option} {word}: a name has letters, digits and - _ . + only")));
    }
    if !is_script && !known_fuzzers().any(|one| one == name) {
        let known = known();
        return Err(Error::usage(format!("--fuzzer {name}: it is {known}; others are run by --script {name}=FILE")));
    }
    Ok(Contestant { name: name.to_owned(), path: path.into(), is_script })
}

fn above_one(option: &str, text: &str) -> Result<f64> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 1.0);
    number.ok_or_else(|| Error::usage(format!("{option} {text}: give a number above 1, such as 2")))
}

fn order(text: &str) -> Result<InputOrder> {
    match text {
        "cost" => Ok(InputOrder::Cost),
        "mtime" => Ok(InputOrder::Modified),
        _ => Err(Error::usage(format!("--in-order {text}: it is cost or mtime"))),
    }
}

impl ListArgs {
    /// Resolves options as typed.
    ///
    /// # Errors
    /// A usage error if no program is named.
    pub fn resolve(self) -> Result<ListOptions> {
        if self.program.is_empty() {
            return Err(Error::usage("mutants list needs a program: end the command with -- ./PROGRAM"));
        }
        Ok(ListOptions { program: self.program, json: self.json })
    }
}

pub(super) fn at_least_one(option: &str, text: &str) -> Result<usize> {
    let number = text.parse().ok().filter(|number| (1..=1_000_000).contains(number));
    number.ok_or_else(|| Error::usage(format!("{option} {text}: give a whole number from 1")))
}

impl CompareScoresArgs {
    /// Resolves options as typed.
    ///
    /// # Errors
    /// A usage error in one line that names the remedy.
    pub fn resolve(self) -> Result<CompareOptions> {
        let path = |word: &OsString| PathBuf::from(word);
        let mut groups: Vec<Vec<PathBuf>> = self.scores.into_iter().map(|score| vec![score]).collect();
        if !self.groups.is_empty() {
            groups.extend(self.groups.split(|word| word == AND).map(|group| group.iter().map(path).collect()));
        }
        if groups.len() < 2 || groups.iter().any(Vec::is_empty) {
            return Err(Error::usage(
                "several results are compared: name two of `mutants score -o DIR`, or groups: -- A1 A2 --and B1 B2",
            ));
        }
        Ok(CompareOptions { groups, json: self.json })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(scores: &str, groups: &str) -> Result<Vec<Vec<PathBuf>>> {
        let words = |text: &str| text.split_whitespace().map(OsString::from).collect::<Vec<_>>();
        let scores = words(scores).into_iter().map(PathBuf::from).collect();
        CompareScoresArgs { json: false, scores, groups: words(groups) }.resolve().map(|options| options.groups)
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
    fn factors_are_above_one_and_orders_are_known() {
        assert_eq!(["2", "1.5"].map(|text| above_one("--slower", text)), [Ok(2.0), Ok(1.5)]);
        for wrong in ["1", "0.5", "-3", "inf", "nan", "much", ""] {
            assert!(above_one("--slower", wrong).unwrap_err().message.contains("above 1"), "{wrong}");
        }
        assert_eq!([order("cost"), order("mtime")], [Ok(InputOrder::Cost), Ok(InputOrder::Modified)]);
        assert!(order("name").unwrap_err().message.contains("cost or mtime"));
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
            assert!(error.message.contains(says), "{error}");
        }
    }

    #[test]
    fn numbers_below_one_are_refused() {
        assert_eq!(at_least_one("-j", "3"), Ok(3));
        for wrong in ["0", "-1", "many", ""] {
            assert!(at_least_one("-j", wrong).unwrap_err().message.starts_with(&format!("-j {wrong}: give")));
        }
    }
}
