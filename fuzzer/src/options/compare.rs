//! Resolution of the options of `compare`, and of the hidden command that it starts.

use std::ffi::OsString;

use super::{flag, threshold};
use crate::options::args::{CompareArgs, ServeRunsArgs};
use quagmire_analysis::{
    compare::{CompareOptions, Old},
    runner::offer::OfferOptions,
};
use quagmire_base::{
    error::{Error, Result},
    files::LARGEST_INPUT,
    units,
};

/// Options of `compare` that are looked for where they would have no effect.
const OPTIONS: [&str; 7] = ["--time", "--threshold", "--json", "--strict", "--output", "--tolerated", "--hang-timeout"];

/// Word between the builds.
const AND: &str = "--and";

impl CompareArgs {
    /// Resolves options as typed.
    ///
    /// # Errors
    /// A usage error in one line that names the option and the remedy.
    pub fn resolve(self) -> Result<CompareOptions> {
        if self.inputs.is_empty() {
            return Err(Error::usage(
                "no inputs to compare builds over: name files, folders or the output of a campaign",
            ));
        }
        let runs = self.target.runner()?;
        let (old, new) = builds(&self.target.program)?;
        let old = match (old, self.baseline) {
            (Some(_), Some(_)) => {
                return Err(Error::usage("--baseline stands for the old build: leave out OLD and --and"));
            }
            (Some(old), None) => Old::Build(old),
            (None, Some(file)) if self.update => Old::Update(file),
            (None, Some(file)) => Old::Baseline(file),
            (None, None) => Old::Campaign,
        };
        let time = flag("--time", units::duration(&self.time))?;
        if time.is_zero() {
            return Err(Error::usage(
                "--time 0 leaves no time to confirm anything: give more, or leave it out for 10m",
            ));
        }
        Ok(CompareOptions {
            inputs: self.inputs,
            old,
            new,
            generator: self.target.generator.map(OsString::from),
            // that of the inputs, if none is typed: see `options::files`
            extension: None,
            scratch: self.target.scratch,
            tolerated: self.tolerated,
            threshold: threshold(&self.threshold)?,
            time,
            is_strict: self.strict,
            is_forced: self.force,
            json: self.json,
            output: self.output,
            runs,
        })
    }
}

/// The commands of the builds: the old one, if there is one, and the new one.
fn builds(words: &[OsString]) -> Result<(Option<Vec<OsString>>, Vec<OsString>)> {
    let mut builds = words.split(|word| word == AND).map(<[OsString]>::to_vec);
    let (first, second, third) = (builds.next().unwrap_or_default(), builds.next(), builds.next());
    let is_empty = first.is_empty() || second.as_ref().is_some_and(Vec::is_empty);
    if is_empty || third.is_some() {
        return Err(Error::usage(
            "two builds are compared: end the command with `-- OLD [ARGS... @@] --and NEW [ARGS... @@]`",
        ));
    }
    if let Some(second) = &second {
        let is_ours = |word: &&OsString| OPTIONS.iter().any(|option| *word == option) && !first.contains(word);
        if let Some(option) = second.iter().skip(1).find(is_ours) {
            return Err(Error::usage(format!(
                "{} behind --and would be the program's: options of compare come before `--`",
                option.display()
            )));
        }
    }
    Ok(match second {
        Some(second) => (Some(first), second),
        None => (None, first),
    })
}

impl ServeRunsArgs {
    /// Resolves options as typed.
    ///
    /// # Errors
    /// A usage error in one line that names the option and the remedy.
    pub fn resolve(self) -> Result<OfferOptions> {
        let capacity = flag("--capacity", units::size(&self.capacity))?;
        Ok(OfferOptions { capacity: capacity.min(LARGEST_INPUT) as usize, runs: self.target.runner()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn builds_are_what_stands_on_both_sides_of_and() {
        assert_eq!(builds(&words("./old @@ --and ./new -x @@")), Ok((Some(words("./old @@")), words("./new -x @@"))));
        assert_eq!(builds(&words("./new -x")), Ok((None, words("./new -x"))));
        let late = builds(&words("./old @@ --and ./new @@ --time 20m")).unwrap_err();
        assert!(late.message.starts_with("--time behind --and"), "{late}");
        let both = words("./p --time 1 --and ./q --time 1");
        assert_eq!(builds(&both), Ok((Some(words("./p --time 1")), words("./q --time 1"))));
        for wrong in ["", "--and ./new", "./old --and", "./a --and ./b --and ./c"] {
            let error = builds(&words(wrong)).unwrap_err();
            assert!(error.message.contains("OLD") && error.message.contains("--and NEW"), "{wrong}: {error}");
        }
    }
}
