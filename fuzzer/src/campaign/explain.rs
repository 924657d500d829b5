//! Explanation of findings after the search: the law and the smallest input of the worst finding of each group, or why they
//! are not known.

use std::{
    ffi::OsString,
    io::{IsTerminal, Write},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use serde::{Deserialize, de::DeserializeOwned};

use super::{Setup, groups, own_command, supervisor};
use quagmire_base::{
    error::{Error, Result},
    files,
    plain::{self, Form},
    terminal::terminal_width,
};
use quagmire_cost::resource::Resource;
use quagmire_execution::info::Instrumentation;
use quagmire_results::{
    Summary, causes,
    explanation::{NO_TURN, leaders},
    summary::{Finding, FindingKind, FindingLaw, Minimized, Unexplained},
};

/// Share of the search's time that explanations take by default, and the bounds of it.
const SHARE: f64 = 0.1;
const SHORTEST: Duration = Duration::from_secs(5);
const LONGEST: Duration = Duration::from_secs(60);

/// Shortest turn: in less, hardly any finding gets its law.
const LEAST_TURN: Duration = Duration::from_secs(2);

/// Time for the law of a finding whose runs take no time, runs of it that are made besides (in a cold process, to choose a
/// template, and at sizes up to half of its own), and the largest share of its turn.
const FOR_LAW: Duration = Duration::from_secs(4);
const RUNS_FOR_LAW: f64 = 16.0;
const LAW_SHARE: f64 = 0.5;

/// Share of what is left for the smallest input of a finding without a law, which may have one.
const FOR_SMALLEST: f64 = 0.6;

/// Share of its time from which on a command has wanted for more.
const NEARLY_ALL: f64 = 0.8;

/// Time in which a command that has used up its budget, or was interrupted, still prints.
const GRACE: Duration = Duration::from_secs(2);

/// Budget of the command that is to find what was not found.
const MORE: &str = "5m";

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

/// Explains the findings of a campaign that is over, enters that into its summary, and prints it. Stops at the next request to
/// stop; what is known by then is kept.
///
/// # Errors
/// If the summary cannot be read or written.
pub(super) fn explain(setup: &Setup) -> Result<()> {
    let path = setup.folder.summary();
    let mut summary = Summary::read(&path)?;
    let searched = Duration::try_from_secs_f64(summary.seconds).unwrap_or_default();
    let budget = Budget::new(setup.options.explain, searched);
    let open = if budget.first.is_zero() { Vec::new() } else { unexplained(&summary) };
    let mut was_asked = false;
    let mut is_stopped = || {
        was_asked |= supervisor::is_asked_to_stop();
        was_asked
    };
    let begun = Instant::now();
    // an earlier session may have explained the worst cause
    let first = leaders(&summary).next().is_some_and(|(worst, _)| open.first().is_some_and(|&at| summary.findings[at] == *worst));
    let (before, of) = (usize::from(!first), open.len() + usize::from(!first));
    for (place, index) in (before..).zip(open) {
        let finding = &mut summary.findings[index];
        let turn = budget.turn(place, of, begun.elapsed()).filter(|_| !is_stopped());
        match turn {
            Some(time) => Turn {
                setup,
                resource: explaining(finding, setup.options.threshold, setup.target.instrumentation),
                begun: Instant::now(),
                time,
                is_stopped: &mut is_stopped,
                progress: Progress::new(setup.options.quiet, place + 1, of),
            }
            .explain(finding)?,
            None => without_a_turn(setup, finding),
        }
        summary.write(&path)?;
    }
    if groups::merge_by_law(&mut summary) {
        summary.write(&path)?;
    }
    // a failure to print is no reason to fail
    let _ = plain::print(&causes(&summary, &setup.options.output), Form::Lines);
    Ok(())
}

/// Time for explanations.
struct Budget {
    /// For the worst cause: what it needs, up to this.
    first: Duration,
    /// For all, unless the worst one needs more.
    all: Duration,
}

impl Budget {
    fn new(asked: Option<Duration>, searched: Duration) -> Self {
        let all = asked.unwrap_or_else(|| searched.mul_f64(SHARE).clamp(SHORTEST, LONGEST));
        Self { first: asked.unwrap_or(LONGEST), all }
    }

    /// Time for the cause at `place` of `count`, the worst first, after so much was used: an equal share of the rest, but
    /// none that is of no use. `None` if nothing is left.
    fn turn(&self, place: usize, count: usize, used: Duration) -> Option<Duration> {
        if place == 0 {
            return Some(self.first);
        }
        let left = self.all.saturating_sub(used);
        let share = left / count.saturating_sub(place).max(1) as u32;
        (left >= LEAST_TURN).then_some(share.max(LEAST_TURN))
    }
}

/// Time for the law of a finding whose runs take so long, of what its turn has left.
fn time_for_law(run: Duration, left: Duration) -> Duration {
    (FOR_LAW + run.mul_f64(RUNS_FOR_LAW)).min(left.mul_f64(LAW_SHARE))
}

/// Resource whose law explains a finding: the one that made it a finding. Of those that counts of edges tell, instructions, or
/// edges where nothing else is counted; a time only if nothing that is counted exceeds the threshold as well.
fn explaining(finding: &Finding, threshold: f64, by: Instrumentation) -> Resource {
    let counted = if by.measures(Resource::Instructions) { Resource::Instructions } else { Resource::Edges };
    let is_counted = || {
        let mut costs = finding.costs.iter().filter(|cost| cost.resource.is_deterministic());
        costs.any(|cost| cost.multiple() >= threshold)
    };
    match finding.decisive().map(|cost| cost.resource) {
        Some(memory @ (Resource::Heap | Resource::HeapTotal | Resource::Stack)) => memory,
        Some(Resource::Time | Resource::Cycles) if !is_counted() => Resource::Time,
        _ => counted,
    }
}

/// Indices of the worst degradation of each group, unless all is known of it or was looked for to the end, the worst group
/// first.
fn unexplained(summary: &Summary) -> Vec<usize> {
    let is_tried = |reason: &Option<Unexplained>| reason.as_ref().is_some_and(|reason| reason.tried);
    let is_open = |&index: &usize| {
        summary.findings.get(index).is_some_and(|finding| {
            let wants_law = finding.law.is_none() && !is_tried(&finding.no_law);
            let wants_smallest = finding.minimized.is_none() && !is_tried(&finding.no_smallest);
            finding.kind == FindingKind::Degradation && (wants_law || wants_smallest)
        })
    };
    summary.groups.iter().filter_map(|group| group.findings.first().copied()).filter(is_open).collect()
}

/// Notes of a finding that there was no time for it, unless something of it is known.
fn without_a_turn(setup: &Setup, finding: &mut Finding) {
    if finding.law.is_none() && finding.minimized.is_none() {
        let resource = explaining(finding, setup.options.threshold, setup.target.instrumentation);
        let command = command_line(setup, "growth", resource, finding);
        finding.no_law = Some(Unexplained { why: NO_TURN.to_owned(), command, tried: false });
    }
}

/// A command of this program on a finding, for people, with more time.
fn command_line(setup: &Setup, name: &str, resource: Resource, finding: &Finding) -> String {
    let mut options = vec!["--budget", MORE];
    if resource != Resource::Instructions {
        options.extend(["--cost", resource.name()]);
    }
    setup.target.own_command(name, &options, &[&setup.options.output.join(&finding.path)])
}

/// Answer of a command.
enum Answer<T> {
    /// What it printed.
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
struct Turn<'a> {
    setup: &'a Setup,
    resource: Resource,
    begun: Instant,
    time: Duration,
    is_stopped: &'a mut dyn FnMut() -> bool,
    progress: Progress,
}

impl Turn<'_> {
    fn left(&self) -> Duration {
        self.time.saturating_sub(self.begun.elapsed())
    }

    /// Looks for the law by smaller sizes, then for the smallest input; then, if there is no law, for that of the smallest
    /// input, and for that of the finding once more with the time that is left.
    ///
    /// # Errors
    /// If the folder of smallest inputs cannot be made.
    fn explain(mut self, finding: &mut Finding) -> Result<()> {
        let input = self.setup.folder.path().join(&finding.path);
        let mut missing = None;
        if finding.law.is_none() {
            let time = time_for_law(run_time(finding), self.left());
            missing = self.law(finding, &input, None, time);
        }
        let mut template = None;
        if finding.minimized.is_none() {
            let time = if finding.law.is_some() { self.left() } else { self.left().mul_f64(FOR_SMALLEST) };
            template = self.smallest(finding, &input, time)?;
        }
        let smaller = finding.minimized.as_ref().filter(|smallest| smallest.bytes < finding.bytes);
        if let Some(smallest) = smaller.map(|smallest| self.setup.folder.path().join(&smallest.path))
            && finding.law.as_ref().is_none_or(|law| law.generator.is_none())
        {
            let time = time_for_law(Duration::ZERO, self.left().mul_f64(1.0 / LAW_SHARE));
            let of_smallest = self.law(finding, &smallest, template, time);
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
    /// cannot. Returns why there is none.
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
        let replaces = |known: &FindingLaw| is_short && known.class == law.class;
        if finding.law.as_ref().is_none_or(replaces) {
            (finding.law, finding.template) = (Some(law), template);
        }
        None
    }

    /// Looks for the smallest input, and enters it or the reason why there is none. Returns the template that it follows.
    fn smallest(&mut self, finding: &mut Finding, input: &Path, time: Duration) -> Result<Option<String>> {
        let folder = self.setup.folder.path();
        let name = input.file_name().ok_or_else(|| Error::other(format!("{} has no name", input.display())))?;
        let relative = PathBuf::from("minimized").join(name);
        let output = folder.join(&relative);
        files::create_folder(&folder.join("minimized"))
            .map_err(|error| Error::other(format!("cannot create a folder in {}: {error}", folder.display())))?;
        let threshold = self.setup.options.threshold.to_string();
        let mut words: Vec<OsString> =
            ["minimize", "--threshold", &threshold, "--cost", self.resource.name(), "-o"].map(OsString::from).to_vec();
        words.push(output.clone().into_os_string());
        if let Some(root) = &finding.root {
            words.extend(["-i".into(), folder.join(root).into_os_string()]);
        }
        let answer = match self.resource.is_deterministic() {
            true => self.ask("its smallest input", &words, input, time),
            false => {
                let why = "its time is spent in code that is not counted, and inputs are made smaller by counts".to_owned();
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
        let mut command = own_command::command(&self.setup.target, name, limits.hang_timeout, limits.memory_limit);
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

/// One line on a terminal that says what is looked for, and how long that may take.
struct Progress {
    place: usize,
    of: usize,
    /// Width of the terminal; `None` if nothing is shown.
    columns: Option<usize>,
    /// Second that was shown last.
    shown: Option<(u64, String)>,
}

impl Progress {
    fn new(quiet: bool, place: usize, of: usize) -> Self {
        let stdout = std::io::stdout();
        let columns = (!quiet && stdout.is_terminal()).then(|| terminal_width(&stdout).unwrap_or(80));
        Self { place, of, columns, shown: None }
    }

    fn show(&mut self, what: &str, since: Duration, most: Duration) {
        let now = Some((since.as_secs(), what.to_owned()));
        let Some(columns) = self.columns.filter(|_| self.shown != now) else { return };
        self.shown = now;
        let line = progress(self.place, self.of, what, since, most);
        let line: String = line.chars().take(columns.saturating_sub(1)).collect();
        write(&format!("\r\x1b[K{line}"));
    }

    /// Erases the line.
    fn clear(&mut self) {
        if self.shown.take().is_some() {
            write("\r\x1b[K");
        }
    }
}

fn progress(place: usize, of: usize, what: &str, since: Duration, most: Duration) -> String {
    let cause = if of > 1 { format!("cause {place} of {of}") } else { "the cause".to_owned() };
    let (since, most) = (since.as_secs(), most.as_secs().max(1));
    format!("Explaining {cause}: {what}; {since} s of at most {most} s (Ctrl-C skips the rest)")
}

/// Writes to the terminal; a failure is no reason to fail.
fn write(text: &str) {
    let mut stdout = std::io::stdout();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}

#[cfg(test)]
mod tests {
    use super::*;
    use quagmire_results::{
        summary::{FindingCost, Group},
        testing,
    };

    #[test]
    fn the_worst_degradation_of_each_group_is_explained_once() {
        let finding = |kind, law: Option<FindingLaw>, tried: Option<bool>| Finding {
            kind,
            no_law: tried.map(|tried| Unexplained { why: String::new(), command: String::new(), tried }),
            no_smallest: tried.map(|tried| Unexplained { why: String::new(), command: String::new(), tried }),
            law,
            ..Finding::default()
        };
        let known = testing::example().findings[0].clone();
        let summary = Summary {
            findings: vec![
                finding(FindingKind::Fault, None, None),
                finding(FindingKind::Degradation, None, None),
                finding(FindingKind::Degradation, None, Some(false)),
                known.clone(),
                finding(FindingKind::Degradation, None, Some(true)),
                finding(FindingKind::Degradation, known.law, None),
            ],
            groups: [vec![2, 1], vec![3], vec![0], vec![], vec![4], vec![5]]
                .map(|findings| Group { title: String::new(), findings })
                .to_vec(),
            ..testing::example()
        };
        assert_eq!(unexplained(&summary), [2, 5]);
    }

    #[test]
    fn the_worst_cause_has_a_minute_and_the_others_share_the_rest_of_a_tenth() {
        let seconds = Duration::from_secs;
        let budget = Budget::new(None, seconds(120));
        assert_eq!(budget.turn(0, 3, Duration::ZERO), Some(seconds(60)));
        assert_eq!(budget.turn(1, 3, seconds(4)), Some(seconds(4)));
        assert_eq!(budget.turn(1, 30, seconds(4)), Some(LEAST_TURN));
        assert_eq!(budget.turn(1, 3, seconds(11)), None);
        assert_eq!(budget.turn(2, 3, seconds(40)), None);
        let asked = Budget::new(Some(seconds(600)), seconds(1));
        assert_eq!(asked.turn(0, 2, Duration::ZERO), Some(seconds(600)));
        assert_eq!(asked.turn(1, 2, seconds(100)), Some(seconds(500)));
        assert!(Budget::new(Some(Duration::ZERO), seconds(60)).first.is_zero());
    }

    #[test]
    fn laws_of_slow_runs_get_more_time_but_leave_half_for_the_smallest_input() {
        let seconds = Duration::from_secs;
        assert_eq!(time_for_law(Duration::ZERO, seconds(60)), seconds(4));
        assert_eq!(time_for_law(seconds(1), seconds(60)), seconds(20));
        assert_eq!(time_for_law(seconds(8), seconds(60)), seconds(30));
        assert_eq!(time_for_law(Duration::ZERO, seconds(5)), seconds(5) / 2);
    }

    #[test]
    fn the_law_is_that_of_the_resource_that_made_it_a_finding() {
        let finding = |ratio: f64, costs: &[(Resource, f64)]| Finding {
            ratio: Some(ratio),
            costs: costs
                .iter()
                .map(|&(resource, ratio)| FindingCost {
                    resource,
                    amount: 1,
                    baseline: 1,
                    ratio: 1.0,
                    ordinary: Some(1),
                    ratio_by_size: Some(ratio),
                })
                .collect(),
            ..Finding::default()
        };
        let chosen = |ratio, costs: &[_], by| explaining(&finding(ratio, costs), 2.0, by);
        let (pass, guards) = (Instrumentation::Counts, Instrumentation::SancovGuards);
        let slow = [(Resource::Instructions, 1.0), (Resource::Time, 9.0), (Resource::Heap, 255.0)];
        assert_eq!(chosen(255.0, &slow, pass), Resource::Heap);
        assert_eq!(chosen(9.0, &slow[..2], pass), Resource::Time);
        assert_eq!(chosen(9.0, &[(Resource::Instructions, 8.0), (Resource::Time, 9.0)], pass), Resource::Instructions);
        assert_eq!(chosen(9.0, &[(Resource::Edges, 9.0)], guards), Resource::Edges);
        assert_eq!(chosen(9.0, &[(Resource::Edges, 9.0)], pass), Resource::Instructions);
    }

    #[test]
    fn the_screen_says_what_is_looked_for_and_how_long_it_may_take() {
        let seconds = Duration::from_secs;
        assert_eq!(
            progress(1, 3, "its law, by smaller sizes", seconds(7), seconds(60)),
            "Explaining cause 1 of 3: its law, by smaller sizes; 7 s of at most 60 s (Ctrl-C skips the rest)"
        );
    }
}
