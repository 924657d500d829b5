//! The turn of one finding: commands that look for its law and its smallest input, within a time.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use serde::{Deserialize, de::DeserializeOwned};

use super::{LEAST_TURN, Progress, Setup, command_line};
use crate::campaign::own_command;
use quagmire_base::{
    error::{Error, Result},
    files,
};
use quagmire_cost::resource::Resource;
use quagmire_results::summary::{Finding, FindingLaw, Minimized, Unexplained};
use quagmire_results::{folder::MINIMIZED, template_of};

/// Time for the law of a finding whose runs take no time, runs of it that are made besides (in a cold process, to choose a
/// template, and at sizes up to half of its own), and the largest share of its turn.
const FOR_LAW: Duration = Duration::from_secs(4);
const RUNS_FOR_LAW: f64 = 16.0;
const LAW_SHARE: f64 = 0.5;

/// Least time for the law of a finding whose template is known and whose runs take no time, runs of it besides, and the most for
/// both: programs that start slowly have run few sizes in the least time.
const FOR_KNOWN: Duration = Duration::from_millis(1500);
const RUNS_FOR_KNOWN: f64 = 8.0;
const LONGEST_FOR_KNOWN: Duration = Duration::from_secs(6);

/// Share of what is left for the smallest input of a finding without a telling law, which may have one.
const FOR_SMALLEST: f64 = 0.6;

/// Share of its time from which on a command has wanted for more.
const NEARLY_ALL: f64 = 0.8;

/// Time in which a command that has used up its budget, or was interrupted, still prints.
const GRACE: Duration = Duration::from_secs(2);

/// Part of the JSON of `growth` that campaigns keep.
#[derive(Debug, Default, Deserialize)]
struct Grown {
    law: Option<FindingLaw>,
    template: Option<String>,
    why: Option<String>,
}

/// Part of the JSON of `minimize` that campaigns keep, and the template that it followed, which `growth` need not look for again.
#[derive(Debug, Deserialize)]
struct Smallest {
    bytes: u64,
    instructions: u64,
    executions: u64,
    template: Option<String>,
    stopped: Option<String>,
}

/// Time for the law of a finding whose runs take so long, of what its turn has left.
fn time_for_law(run: Duration, left: Duration) -> Duration {
    (FOR_LAW + run.mul_f64(RUNS_FOR_LAW)).min(left.mul_f64(LAW_SHARE))
}

/// Time for the law of a finding whose template is known, of what is left for so many that wait, itself among them.
pub(super) fn time_for_known(finding: &Finding, left: Duration, waiting: usize) -> Duration {
    let least = FOR_KNOWN + run_time(finding).mul_f64(RUNS_FOR_KNOWN);
    (left / waiting.max(1) as u32).max(least).min(LONGEST_FOR_KNOWN).min(left)
}

/// Whether a finding has no law, and it, or else its nearest ancestor that was made of a template, was made of one.
pub(super) fn is_of_known_template(input: &Path, finding: &Finding) -> bool {
    finding.law.is_none() && template_of(input).is_some()
}

/// Answer of a command.
enum Answer<T> {
    /// Its output.
    Found(T),
    /// Nothing, for a reason.
    Nothing(Missing),
}

/// Reason why something was not found.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Missing {
    why: String,
    tried: bool,
}

impl Missing {
    fn late(time: Duration) -> Self {
        Self { why: format!("it was not found within {:.0} s", time.as_secs_f64().max(1.0)), tried: false }
    }

    fn skipped() -> Self {
        Self { why: "it was skipped on request".to_owned(), tried: false }
    }
}

/// The turn of one finding.
pub(super) struct Turn<'a> {
    /// The campaign.
    pub setup: &'a Setup,
    /// Resource that is explained.
    pub resource: Resource,
    /// Its start.
    pub begun: Instant,
    /// Its length.
    pub time: Duration,
    /// Whether the user asked for the end.
    pub is_stopped: &'a mut dyn FnMut() -> bool,
    /// Line of the screen meanwhile.
    pub progress: Progress,
}

impl Turn<'_> {
    fn left(&self) -> Duration {
        self.time.saturating_sub(self.begun.elapsed())
    }

    /// Looks for the law of a finding by its known template. Returns whether it found one.
    pub(super) fn law_of_known_template(mut self, finding: &mut Finding) -> bool {
        let input = self.setup.folder.path().join(&finding.path);
        let time = self.time;
        self.law(finding, &input, None, time);
        self.progress.clear();
        finding.law.is_some()
    }

    /// Looks for the law by smaller sizes, then for the smallest input; then, if there is no telling law, for that of the smallest
    /// input; and if there is none at all, for that of the finding once more with the time that is left.
    ///
    /// # Errors
    /// If the folder of smallest inputs cannot be made.
    pub(super) fn explain(mut self, finding: &mut Finding) -> Result<()> {
        let input = self.setup.folder.path().join(&finding.path);
        let mut missing = None;
        if finding.law.is_none() {
            let time = time_for_law(run_time(finding), self.left());
            missing = self.law(finding, &input, None, time);
        }
        let mut template = None;
        if finding.minimized.is_none() {
            let is_told = finding.law.as_ref().is_some_and(FindingLaw::is_telling);
            let time = if is_told { self.left() } else { self.left().mul_f64(FOR_SMALLEST) };
            template = self.smallest(finding, &input, time)?;
        }
        let smaller = finding.minimized.as_ref().filter(|smallest| smallest.bytes < finding.bytes);
        if let Some(smallest) = smaller.map(|smallest| self.setup.folder.path().join(&smallest.path))
            && finding.law.as_ref().is_none_or(|law| law.generator.is_none() || !law.is_telling())
        {
            let time = |turn: &Self| time_for_law(Duration::ZERO, turn.left().mul_f64(1.0 / LAW_SHARE));
            // the template that it followed is the shorter way, but may be of a law that tells little
            let known = template.filter(|_| finding.law.is_none());
            let is_known = known.is_some();
            let mut of_smallest = self.law(finding, &smallest, known, time(&self));
            if is_known && !finding.law.as_ref().is_some_and(FindingLaw::is_telling) {
                of_smallest = self.law(finding, &smallest, None, time(&self));
            }
            missing = missing.or(of_smallest);
        }
        if finding.law.is_none() && missing.as_ref().is_some_and(|one| !one.tried) && self.left() >= LEAST_TURN {
            missing = self.law(finding, &input, None, self.left());
        }
        self.progress.clear();
        finding.no_law = missing.filter(|_| finding.law.is_none()).map(|Missing { why, tried }| {
            let command = command_line(self.setup, "growth", self.resource, finding);
            Unexplained { why, command, tried }
        });
        Ok(())
    }

    /// Looks for the law of an input, and enters it into the finding; one that reports can carry replaces one that they
    /// cannot, and one that tells more one that tells less. Returns why there is none.
    fn law(
        &mut self,
        finding: &mut Finding,
        input: &Path,
        template: Option<String>,
        time: Duration,
    ) -> Option<Missing> {
        let mut words = vec!["growth".into(), "--cost".into(), self.resource.name().into()];
        words.extend(template.into_iter().flat_map(|text| [OsString::from("--template"), text.into()]));
        let begun = Instant::now();
        let Grown { law, template, why } = match self.ask("its law, by smaller sizes", &words, input, time) {
            Answer::Found(grown) => grown,
            Answer::Nothing(missing) => return Some(missing),
        };
        let Some(law) = law else {
            let tried = begun.elapsed() < time.mul_f64(NEARLY_ALL) && !(self.is_stopped)();
            return Some(Missing { why: why.unwrap_or_else(|| "its law is not known".to_owned()), tried });
        };
        let is_short = law.generator.is_some();
        let replaces = |known: &FindingLaw| match known.class == law.class {
            true => is_short,
            false => law.is_telling() && !known.is_telling(),
        };
        if finding.law.as_ref().is_none_or(replaces) {
            (finding.law, finding.template) = (Some(law), template);
        }
        None
    }

    /// Looks for the smallest input, and enters it or the reason why there is none. Returns the template that it follows.
    fn smallest(&mut self, finding: &mut Finding, input: &Path, time: Duration) -> Result<Option<String>> {
        let folder = self.setup.folder.path();
        let name = input.file_name().ok_or_else(|| Error::other(format!("{} has no name", input.display())))?;
        let relative = PathBuf::from(MINIMIZED).join(name);
        let output = folder.join(&relative);
        files::create_folder(&folder.join(MINIMIZED))
            .map_err(|error| Error::other(format!("cannot create a folder in {}: {error}", folder.display())))?;
        let threshold = self.setup.options.confirm.threshold.to_string();
        let mut words: Vec<OsString> =
            ["minimize", "--threshold", &threshold, "--cost", self.resource.name(), "-o"].map(OsString::from).to_vec();
        words.push(output.clone().into_os_string());
        if let Some(root) = &finding.root {
            words.extend(["-i".into(), folder.join(root).into_os_string()]);
        }
        let answer = match self.resource.is_deterministic() {
            true => self.ask("its smallest input", &words, input, time),
            false => {
                let why =
                    "its time is spent in code that is not counted, and inputs are made smaller by counts".to_owned();
                Answer::Nothing(Missing { why, tried: true })
            }
        };
        let missing = match answer {
            Answer::Found(Smallest { bytes, stopped: Some(_), .. }) if bytes >= finding.bytes => {
                if (self.is_stopped)() { Missing::skipped() } else { Missing::late(time) }
            }
            Answer::Found(Smallest { bytes, instructions, executions, template, .. }) => {
                let path = relative.display().to_string();
                finding.minimized = Some(Minimized { path, bytes, instructions, executions });
                finding.no_smallest = None;
                return Ok(template);
            }
            Answer::Nothing(missing) => missing,
        };
        // what a command leaves behind that was ended is not told of
        let _ = std::fs::remove_file(&output);
        let command = command_line(self.setup, "minimize", self.resource, finding);
        finding.no_smallest = Some(Unexplained { why: missing.why, command, tried: missing.tried });
        Ok(None)
    }

    /// Runs a command of this program, given as its name and options, on an input, within a time. `what` it looks for is
    /// shown.
    fn ask<T: DeserializeOwned>(&mut self, what: &str, words: &[OsString], input: &Path, time: Duration) -> Answer<T> {
        if (self.is_stopped)() {
            return Answer::Nothing(Missing::skipped());
        }
        let limits = &self.setup.options;
        let [name, options @ ..] = words else { return Answer::Nothing(Missing::skipped()) };
        let mut command =
            own_command::command(&self.setup.target, name, limits.target.hang_timeout, limits.target.memory_limit);
        command.args(["--json", "--budget", &format!("{}ms", time.as_millis().max(1))]).args(options);
        own_command::end(&mut command, &self.setup.target, &[input]);
        let (begun, most, progress) = (self.begun, self.time, &mut self.progress);
        let mut meanwhile = || {
            progress.show(what, begun.elapsed(), most);
            Ok(())
        };
        let deadline = Instant::now() + time + GRACE;
        match own_command::output(command, deadline, GRACE, self.is_stopped, &mut meanwhile) {
            Ok(Some(found)) => Answer::Found(found),
            Ok(None) if (self.is_stopped)() => Answer::Nothing(Missing::skipped()),
            Ok(None) => Answer::Nothing(Missing::late(time)),
            // one that does not come back when it is run by itself is no reason to fail
            Err(error) => Answer::Nothing(Missing { why: error.message.replace("quagmire: ", ""), tried: true }),
        }
    }
}

/// CPU time of a run of a finding.
fn run_time(finding: &Finding) -> Duration {
    let time = finding.costs.iter().find(|cost| cost.resource == Resource::Time);
    Duration::from_nanos(time.map_or(0, |cost| cost.amount))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn laws_of_slow_runs_get_more_time_but_leave_half_for_the_smallest_input() {
        let seconds = Duration::from_secs;
        assert_eq!(time_for_law(Duration::ZERO, seconds(60)), seconds(4));
        assert_eq!(time_for_law(seconds(1), seconds(60)), seconds(20));
        assert_eq!(time_for_law(seconds(8), seconds(60)), seconds(30));
        assert_eq!(time_for_law(Duration::ZERO, seconds(5)), seconds(5) / 2);
    }

    #[test]
    fn known_templates_share_the_time_that_is_left() {
        let seconds = Duration::from_secs;
        let finding = Finding::default();
        assert_eq!(time_for_known(&finding, seconds(30), 10), seconds(3));
        assert_eq!(time_for_known(&finding, seconds(30), 2), LONGEST_FOR_KNOWN);
        assert_eq!(time_for_known(&finding, seconds(30), 100), FOR_KNOWN);
        assert_eq!(time_for_known(&finding, seconds(1), 100), seconds(1));
    }
}
