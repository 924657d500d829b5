//! Files of costs that stand for an old build: JSON, sorted by the hashes of inputs, so that a change of one input is a
//! change of a few lines.

use std::{collections::BTreeMap, path::Path};

use serde::{Deserialize, Serialize};

use super::{
    builds::{Builds, check},
    evidence::Source,
    observe::MOST_RUNS,
    subject::Subject,
};
use crate::{
    interruption,
    runner::{Detail, Run},
};
use quagmire_base::{
    atomic::write_json,
    error::{Error, ExitCode, Result},
    files,
    format::counted,
    plain::{complain, warn},
};
use quagmire_cost::resource::{Cost, Resource};
use quagmire_execution::lines::{FunctionCost, SourceCosts};
use quagmire_results::comparison::Build;

/// Version of the format.
const FORMAT: u32 = 1;
/// Share of a run's instructions from which on a function is in the file.
const LEAST_SHARE: f64 = 0.005;

/// A file of costs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Baseline {
    /// Version of the format.
    format: u32,
    /// Version of quagmire.
    quagmire: String,
    /// Name of the program, without its folder.
    program: String,
    arguments: Vec<String>,
    /// Compiler and flags of each part, and what is counted.
    build: Build,
    /// Costs of each input, by the hash of its contents.
    inputs: BTreeMap<String, Known>,
}

/// Costs of an input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Known {
    /// Its name, for people.
    name: String,
    /// How its run ended.
    status: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    /// Amounts of resources.
    costs: BTreeMap<Resource, u64>,
    /// Instructions of its functions, without the smallest.
    functions: BTreeMap<String, u64>,
}

impl Known {
    fn of(subject: &Subject, run: &Run) -> Self {
        let all = run.cost[Resource::Instructions] as f64;
        let is_large = |one: &&FunctionCost| one.instructions as f64 >= LEAST_SHARE * all;
        // heap and stack vary with the system's libraries
        let known = [Resource::Instructions, Resource::Edges];
        Self {
            name: subject.path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            status: run.status.clone(),
            detail: run.detail.clone(),
            costs: known.into_iter().map(|one| (one, run.cost[one])).collect(),
            functions: run
                .source
                .functions
                .iter()
                .filter(is_large)
                .map(|one| (one.function.clone(), one.instructions))
                .collect(),
        }
    }

    fn run(&self) -> Run {
        let functions = self.functions.iter().map(|(function, instructions)| FunctionCost {
            function: function.clone(),
            instructions: *instructions,
            ..FunctionCost::default()
        });
        Run {
            status: self.status.clone(),
            detail: self.detail.clone(),
            cost: Cost::from_fn(|one| self.costs.get(&one).copied().unwrap_or(0)),
            source: SourceCosts { lines: Vec::new(), functions: functions.collect() },
            ..Run::default()
        }
    }
}

/// Name of a program without its folder, and its arguments.
fn words(build: &Build) -> (String, Vec<String>) {
    let (program, arguments) =
        build.command.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
    let name = Path::new(program).file_name().unwrap_or_default().to_string_lossy().into_owned();
    (name, arguments.to_vec())
}

/// Reads a file of costs.
///
/// # Errors
/// If it cannot be read, is something else, or another version of quagmire wrote it.
pub(super) fn read(path: &Path) -> Result<Baseline> {
    let shown = path.display();
    let text = files::read_named(path, files::LARGEST_TEXT).map_err(|error| {
        Error::usage(format!("cannot read the baseline {shown}: {error}; write it with --update and the old build"))
    })?;
    parse(&text).map_err(|problem| {
        Error::usage(format!("the baseline {shown} {problem}: write it again with --update and the old build"))
    })
}

fn parse(text: &[u8]) -> Result<Baseline, String> {
    // the version first: another one may have other keys
    let value: serde_json::Value = serde_json::from_slice(text).map_err(|error| format!("is not whole ({error})"))?;
    let version = value.get("quagmire").and_then(serde_json::Value::as_str);
    if version.is_none() || value.get("format").and_then(serde_json::Value::as_u64).is_none() {
        return Err("is no baseline of quagmire".to_owned());
    }
    if version != Some(env!("CARGO_PKG_VERSION")) || value["format"] != FORMAT {
        let (version, own) = (version.unwrap_or_default(), env!("CARGO_PKG_VERSION"));
        return Err(format!("was written by quagmire {version}, which may count otherwise than {own}"));
    }
    serde_json::from_value(value).map_err(|error| format!("is not whole ({error})"))
}

impl Baseline {
    /// Gives inputs the costs of the old build.
    ///
    /// # Errors
    /// If the file is of another program, or of another build and that is not allowed.
    pub(super) fn take_over(
        &self,
        path: &Path,
        builds: &Builds,
        subjects: &mut Vec<Subject>,
        is_forced: bool,
    ) -> Result<()> {
        let (program, arguments) = words(&builds.new.about);
        if (&program, &arguments) != (&self.program, &self.arguments) {
            let shown = |program: &str, arguments: &[String]| [&[program.to_owned()], arguments].concat().join(" ");
            return Err(Error::usage(format!(
                "the baseline {} is of `{}`, and not of `{}`: name the baseline of this program, or write one with --update",
                path.display(),
                shown(&self.program, &self.arguments),
                shown(&program, &arguments)
            )));
        }
        check(&self.build, &builds.new.about, is_forced)?;
        let all = subjects.len();
        subjects.retain_mut(|subject| {
            let known = self.inputs.get(&subject.hash);
            subject.evidence.old = known.map(Known::run);
            subject.evidence.source = Source::Baseline;
            known.is_some()
        });
        let new = all - subjects.len();
        if subjects.is_empty() {
            return Err(Error::usage(format!(
                "the baseline {} knows none of the inputs: write it again with --update and the old build",
                path.display()
            )));
        }
        if new > 0 {
            warn(&format!(
                "the baseline does not know {}: they are left out; --update adds them",
                counted(new as u64, "input")
            ));
        }
        Ok(())
    }
}

/// Writes what the inputs cost in the build to the file.
pub(super) fn update(path: &Path, builds: &mut Builds, subjects: &[Subject]) -> Result<ExitCode> {
    let (program, arguments) = words(&builds.new.about);
    let mut baseline = Baseline {
        format: FORMAT,
        quagmire: env!("CARGO_PKG_VERSION").to_owned(),
        program,
        arguments,
        // paths are of this machine
        build: Build { command: Vec::new(), ..builds.new.about.clone() },
        inputs: BTreeMap::new(),
    };
    let mut unstable = 0;
    for subject in subjects {
        if interruption::has_come() {
            return Err(Error::other(format!(
                "{} was not written: interrupted before all inputs were run",
                path.display()
            )));
        }
        match stable(builds, subject)? {
            Some(known) => drop(baseline.inputs.insert(subject.hash.clone(), known)),
            None => unstable += 1,
        }
    }
    if unstable > 0 {
        warn(&format!("{} left out, whose runs differ", counted(unstable, "input")));
    }
    let before = if path.exists() { read(path).ok() } else { None };
    write_json(path, &baseline)?;
    complain(&format!("quagmire: {}: {}\n", path.display(), changes(before.as_ref(), &baseline)));
    Ok(ExitCode::Ended)
}

/// Costs of an input in the new build: those of two runs in a row, since the first may fill what later ones find. `None` if
/// no two agree.
fn stable(builds: &mut Builds, subject: &Subject) -> Result<Option<Known>> {
    let mut last = None;
    for _ in 0..MOST_RUNS {
        let run = builds.new.run(&subject.bytes, Detail::Source, 1)?;
        let known = Known::of(subject, &run);
        if !run.came_back() || last.as_ref() == Some(&known) {
            return Ok(Some(known));
        }
        last = Some(known);
    }
    Ok(None)
}

/// Describes the differences of a new file in words.
fn changes(before: Option<&Baseline>, now: &Baseline) -> String {
    let all = counted(now.inputs.len() as u64, "input");
    let Some(before) = before else { return all };
    let added = now.inputs.keys().filter(|hash| !before.inputs.contains_key(*hash)).count();
    let gone = before.inputs.keys().filter(|hash| !now.inputs.contains_key(*hash)).count();
    let is_changed = |(hash, known): &(&String, &Known)| before.inputs.get(*hash).is_some_and(|old| old != *known);
    let changed = now.inputs.iter().filter(is_changed).count();
    format!("{all}: {added} added, {changed} changed, {gone} removed")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn baseline(instructions: &[(&str, u64)]) -> Baseline {
        let known = |amount| Known { costs: BTreeMap::from([(Resource::Instructions, amount)]), ..Known::default() };
        Baseline {
            format: FORMAT,
            quagmire: env!("CARGO_PKG_VERSION").to_owned(),
            program: "xmllint".into(),
            arguments: vec!["@@".into()],
            build: Build::default(),
            inputs: instructions.iter().map(|(hash, amount)| ((*hash).to_owned(), known(*amount))).collect(),
        }
    }

    #[test]
    fn a_file_is_read_as_it_was_written_and_damaged_or_other_ones_are_refused() {
        let json = serde_json::to_string(&baseline(&[("ab", 3), ("cd", 4)])).unwrap();
        assert_eq!(parse(json.as_bytes()), Ok(baseline(&[("ab", 3), ("cd", 4)])));
        let other = json.replace(&format!("\"{}\"", env!("CARGO_PKG_VERSION")), "\"0.0.1\"");
        for (text, word) in [
            (&json[..json.len() / 2], "not whole"),
            ("{}", "no baseline"),
            (other.as_str(), "quagmire 0.0.1"),
            (&json.replace("\"inputs\"", "\"input\""), "not whole"),
        ] {
            let problem = parse(text.as_bytes()).unwrap_err();
            assert!(problem.contains(word), "{problem}");
        }
    }

    #[test]
    fn an_update_says_what_is_new() {
        let now = baseline(&[("ab", 3), ("cd", 4), ("ef", 5)]);
        assert_eq!(changes(None, &now), "3 inputs");
        assert_eq!(
            changes(Some(&baseline(&[("ab", 3), ("cd", 1), ("x", 1)])), &now),
            "3 inputs: 1 added, 1 changed, 1 removed"
        );
    }
}
