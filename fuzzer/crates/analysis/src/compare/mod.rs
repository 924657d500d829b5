//! `quagmire compare`: two builds of a program over the same inputs, run in turn in one job. Counts come first, since they
//! are exact; times are measured where counts moved, and decide whether that matters.

mod baseline;
mod builds;
mod evidence;
mod law;
mod moved;
mod observe;
mod report;
mod subject;
mod times;
mod tolerated;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use self::{builds::Builds, times::Limits};
use clap::Parser;

use crate::{
    command::{ALL_EXIT_CODES, Command, TargetOptions, need},
    interruption, values,
};
use quagmire_base::{
    atomic::write_whole,
    error::{Error, ExitCode, Result},
    files,
    plain::{self, Form, warn},
};
use quagmire_results::comparison::{Comparison, ComparisonVerdict, Reference};

/// Word between the builds.
const AND: &str = "--and";

/// Options of `compare` that are looked for where they would have no effect.
const OPTIONS: [&str; 7] = ["--time", "--threshold", "--json", "--strict", "--output", "--tolerated", "--hang-timeout"];

/// Compare two builds of a program over the same inputs
#[derive(Clone, Debug, Parser)]
#[command(
    name = "compare",
    override_usage = "quagmire compare [OPTIONS] INPUTS... -- OLD [ARGS... @@] --and NEW [ARGS... @@]\n       \
                      quagmire compare [OPTIONS] INPUTS... --baseline FILE -- NEW [ARGS... @@]",
    after_help = ALL_EXIT_CODES
)]
pub struct CompareOptions {
    /// The inputs: files, folders of files, or the output folder of a campaign
    #[arg(value_name = "INPUTS")]
    pub inputs: Vec<PathBuf>,
    /// Compare with what this file says instead of with an old build
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Write what the inputs cost in the build to the file of --baseline
    #[arg(long, requires = "baseline")]
    pub update: bool,
    /// Regressions that are known: a JSON list of records with input (the beginning of its hash) or function, reason, and
    /// expires (a date)
    #[arg(long, value_name = "FILE")]
    pub tolerated: Option<PathBuf>,
    /// How many times the instructions are a regression, if CPU time confirms it; more than 1
    // smaller differences matter to nobody, and a layout of the code can make them in time (`judgement::LEAST_EFFECT`)
    #[arg(long, value_name = "RATIO", default_value = "1.05", value_parser = values::above_one)]
    pub threshold: f64,
    /// Measure no times after this time: what is not confirmed by then is not red
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = values::some_time)]
    pub time: Duration,
    /// Exit with 5 if an input is unstable and nothing is red
    #[arg(long)]
    pub strict: bool,
    /// Compare builds with other compilers, flags or instrumentation, too
    #[arg(long)]
    pub force: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Write the result to this file as well, as JSON
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The options that `fuzz` and `replay` have as well.
    #[command(flatten)]
    pub target: TargetOptions,
}

impl Command for CompareOptions {
    fn target(&mut self) -> Option<&mut TargetOptions> {
        Some(&mut self.target)
    }

    fn inputs(&self) -> Vec<PathBuf> {
        self.inputs.iter().flat_map(|path| inside_campaign(path)).collect()
    }

    fn run_alone(&mut self) -> Option<Result<ExitCode>> {
        Some(self.builds().and_then(|(old, new)| {
            self.target.extension = self.target.extension(&self.inputs())?;
            run(self, &old, &new)
        }))
    }
}

impl CompareOptions {
    /// The reference, and the command of the new build.
    fn builds(&self) -> Result<(Old, Vec<OsString>)> {
        need(&self.inputs, "no inputs to compare builds over: name files, folders or the output of a campaign")?;
        let (old, new) = builds(&self.target.program)?;
        let old = match (old, self.baseline.clone()) {
            (Some(_), Some(_)) => {
                return Err(Error::usage("--baseline stands for the old build: leave out OLD and --and"));
            }
            (Some(old), None) => Old::Build(old),
            (None, Some(file)) if self.update => Old::Update(file),
            (None, Some(file)) => Old::Baseline(file),
            (None, None) => Old::Campaign,
        };
        Ok((old, new))
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
    let Some(second) = second else { return Ok((None, first)) };
    let is_ours = |word: &&OsString| OPTIONS.iter().any(|option| *word == option) && !first.contains(word);
    if let Some(option) = second.iter().skip(1).find(is_ours) {
        return Err(Error::usage(format!(
            "{} behind --and would be the program's: options of compare come before `--`",
            option.display()
        )));
    }
    Ok((Some(first), second))
}

/// Folders of inputs in the output folder of a campaign; any other path by itself.
fn inside_campaign(path: &Path) -> Vec<PathBuf> {
    let parts = ["queue", "degradations", "faults", "hangs"].map(|part| path.join(part));
    let parts: Vec<PathBuf> = parts.into_iter().filter(|part| files::is_folder(part)).collect();
    if path.join("summary.json").is_file() && !parts.is_empty() { parts } else { vec![path.to_owned()] }
}

/// Reference that a new build is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Old {
    /// Another build: the program and its arguments.
    Build(Vec<OsString>),
    /// A file of costs.
    Baseline(PathBuf),
    /// Nothing: the costs of the new build are written to this file.
    Update(PathBuf),
    /// The findings of the campaign whose folder is the only input.
    Campaign,
}

/// Runs `quagmire compare`.
///
/// # Errors
/// If an input, the baseline or the list of tolerated regressions cannot be read, builds differ in more than the program,
/// or a target cannot be run.
fn run(options: &CompareOptions, old: &Old, new: &[OsString]) -> Result<ExitCode> {
    interruption::watch();
    let tolerated = options.tolerated.as_deref().map(tolerated::read).transpose()?.unwrap_or_default();
    let (mut subjects, reference) = match old {
        Old::Campaign => subject::findings(&options.inputs)?,
        Old::Build(_) => (subject::load(&options.inputs)?, Reference::Build),
        Old::Baseline(file) | Old::Update(file) => {
            (subject::load(&options.inputs)?, Reference::Baseline(file.display().to_string()))
        }
    };
    let largest = subjects.iter().map(|subject| subject.bytes.len()).max().unwrap_or(0);
    let mut builds = Builds::open(options, old, new, largest)?;
    if let Old::Update(file) = old {
        return baseline::update(file, &mut builds, &subjects);
    }
    if let Old::Baseline(file) = old {
        baseline::read(file)?.take_over(file, &builds, &mut subjects, options.force)?;
    }
    let limits = Limits {
        threshold: options.threshold,
        until: Instant::now() + options.time,
        hang_timeout: options.target.hang_timeout,
    };
    let is_complete = observe::all(&mut builds, &mut subjects, &limits)?;
    let comparison = report::of(&builds, options, subjects, reference, &tolerated, !is_complete);
    tell(options, &comparison, &tolerated)
}

/// Writes and prints a result. Returns the exit code.
fn tell(options: &CompareOptions, comparison: &Comparison, tolerated: &tolerated::Tolerated) -> Result<ExitCode> {
    let json = plain::printed(&comparison.to_json(), Form::Json).into_owned();
    if let Some(file) = &options.output {
        write_whole(file, json.as_bytes())?;
    }
    for line in tolerated.unused(comparison) {
        warn(&line);
    }
    let (text, form) = if options.json { (json, Form::Json) } else { (report::table(comparison), Form::Lines) };
    plain::print(&text, form)?;
    let left_out = comparison.count(ComparisonVerdict::Unfinished);
    if comparison.is_incomplete {
        let remedy = if interruption::has_come() { "it was stopped" } else { "give more time with --time" };
        let what = match left_out {
            0 => "whether cost grows faster was not looked at for all that grew".to_owned(),
            _ => format!("{left_out} of the inputs have no verdict"),
        };
        warn(&format!("the comparison is not complete: {what}; {remedy}"));
    }
    Ok(exit_code(comparison, options.strict))
}

/// Exit code of a result. An interruption is no success: what was not compared may be slower.
fn exit_code(comparison: &Comparison, is_strict: bool) -> ExitCode {
    let has = |wanted: fn(ComparisonVerdict) -> bool| comparison.verdicts.iter().any(|one| wanted(one.verdict));
    let is_unsettled = |verdict| matches!(verdict, ComparisonVerdict::Unstable | ComparisonVerdict::Unfinished);
    if has(ComparisonVerdict::is_regression) {
        ExitCode::Regression
    } else if interruption::has_come() {
        ExitCode::Error
    } else if is_strict && has(is_unsettled) {
        ExitCode::Unstable
    } else {
        ExitCode::Ended
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
