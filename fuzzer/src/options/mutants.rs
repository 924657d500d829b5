//! Resolution of the options of `mutants`.

use std::{ffi::OsString, num::NonZero, path::PathBuf};

use super::{hang_timeout, memory_limit};
use crate::options::args::{CompareScoresArgs, ListArgs, MutantsCommand, ScoreArgs};
use quagmire_analysis::mutants::{CompareOptions, InputOrder, ListOptions, ScoreOptions};
use quagmire_base::error::{Error, Result};

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
        if self.target.generator.is_some() {
            return Err(Error::usage("--generator: mutants are run with inputs of the program itself: leave it out"));
        }
        if self.target.debug_target {
            return Err(Error::usage("--debug-target: what mutants print is compared, and not shown: leave it out"));
        }
        let all = std::thread::available_parallelism().map_or(1, NonZero::get);
        Ok(ScoreOptions {
            inputs: self.inputs,
            output: self.output,
            resume: self.resume,
            inputs_per_mutant: at_least_one("--inputs-per-mutant", &self.inputs_per_mutant)?,
            with_reached: self.reached,
            cost_factor: self.cost_factor.as_deref().map(cost_factor).transpose()?,
            order: self.in_order.as_deref().map(order).transpose()?,
            jobs: self.jobs.map_or(Ok(all), |jobs| at_least_one("-j", &jobs))?,
            json: self.json,
            hang_timeout: hang_timeout(&self.target)?,
            memory_limit: memory_limit(&self.target)?,
            program: self.target.program,
        })
    }
}

fn cost_factor(text: &str) -> Result<f64> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 1.0);
    number.ok_or_else(|| Error::usage(format!("--cost-factor {text}: give a number above 1, such as 2")))
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
        assert_eq!([cost_factor("2"), cost_factor("1.5")], [Ok(2.0), Ok(1.5)]);
        for wrong in ["1", "0.5", "-3", "inf", "nan", "much", ""] {
            assert!(cost_factor(wrong).unwrap_err().message.contains("above 1"), "{wrong}");
        }
        assert_eq!([order("cost"), order("mtime")], [Ok(InputOrder::Cost), Ok(InputOrder::Modified)]);
        assert!(order("name").unwrap_err().message.contains("cost or mtime"));
    }

    #[test]
    fn numbers_below_one_are_refused() {
        assert_eq!(at_least_one("-j", "3"), Ok(3));
        for wrong in ["0", "-1", "many", ""] {
            assert!(at_least_one("-j", wrong).unwrap_err().message.starts_with(&format!("-j {wrong}: give")));
        }
    }
}
