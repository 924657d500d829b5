//! Explanation of findings after the search: the law and the smallest input of the worst finding of each group.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use serde::{Deserialize, de::DeserializeOwned};

use super::{Setup, own_command, recorder::reconcile::hash_of, supervisor};
use crate::options::Options;
use quagmire_base::{
    error::{Error, Result},
    files,
    format::{counted, grouped},
    plain::{self, Form},
};
use quagmire_cost::resource::Resource;
use quagmire_results::{
    Summary,
    journal::{Journal, Saved},
    summary::{Finding, FindingCost, FindingKind, FindingLaw, Minimized},
};

/// Share of the search's time that explanations take by default, and the bounds of it.
const SHARE: f64 = 0.1;
const SHORTEST: Duration = Duration::from_secs(5);
const LONGEST: Duration = Duration::from_secs(60);

/// Share of a finding's time for its smallest input.
const FOR_SMALLEST: f64 = 0.4;

/// Share of what is left then for the law of the smallest input; the rest is for that of the finding itself.
const FOR_LAW_OF_SMALLEST: f64 = 0.6;

/// Time in which a command that has used up its budget still prints.
const GRACE: Duration = Duration::from_secs(2);

/// Part of the JSON of `growth` that campaigns keep.
#[derive(Debug, Default, Deserialize)]
struct Grown {
    law: Option<FindingLaw>,
    template: Option<String>,
}

/// Part of the JSON of `minimize` that campaigns keep, and the template that it followed, which `growth` need not look for again.
#[derive(Debug, Deserialize)]
struct Smallest {
    bytes: u64,
    instructions: u64,
    executions: u64,
    template: Option<String>,
}

/// Explains the findings of a campaign that is over, and enters that into its summary. Stops at the next request to
/// stop; what is known by then is kept.
///
/// # Errors
/// If the summary cannot be read or written.
pub(super) fn explain(setup: &Setup) -> Result<()> {
    let path = setup.folder.summary();
    let mut summary = Summary::read(&path)?;
    let mut worst = unexplained(&summary, |finding| is_told_by_counts(finding, &setup.options));
    // what is left of the time of cheap ones is for those whose runs take long
    worst.sort_by_key(|&index| instructions(&summary.findings[index]));
    let searched = Duration::try_from_secs_f64(summary.seconds).unwrap_or_default();
    let budget = setup.options.explain.unwrap_or_else(|| searched.mul_f64(SHARE).clamp(SHORTEST, LONGEST));
    if worst.is_empty() || budget.is_zero() {
        return Ok(());
    }
    let mut journal = Journal::open(setup.folder.path(), &summary.campaign)?;
    let end = Instant::now() + budget;
    let mut was_asked = false;
    let mut is_stopped = || {
        was_asked |= supervisor::is_asked_to_stop();
        was_asked
    };
    for (place, index) in worst.iter().copied().enumerate() {
        let now = Instant::now();
        let share = end.saturating_duration_since(now) / (worst.len() - place) as u32;
        if share.is_zero() || is_stopped() {
            break;
        }
        let finding = &mut summary.findings[index];
        let name = finding.path.clone();
        let explained = of_finding(setup, finding, now, share, &mut is_stopped);
        summary.write(&path)?;
        let hash = |path: &str| hash_of(&setup.folder.path().join(path));
        journal.add(&Saved::of(&summary.findings[index], hash))?;
        match explained {
            Ok(()) => say(setup, &summary.findings[index]),
            // a finding that does not come back when it is run by itself is no reason to fail
            Err(error) if !setup.options.quiet => plain::warn(&format!("{name} is not explained: {error}")),
            Err(_) => {}
        }
    }
    Ok(())
}

/// Whether counts show that a finding is slow, by which laws and smallest inputs are found. A search that follows a measured
/// resource finds inputs that are slow in code that is not counted.
fn is_told_by_counts(finding: &Finding, options: &Options) -> bool {
    let is_told = |cost: &FindingCost| {
        cost.resource.is_deterministic() && cost.ratio_by_size.unwrap_or(cost.ratio) >= options.threshold
    };
    options.steer.is_none() || finding.costs.iter().any(is_told)
}

/// Instructions of a finding; 0 if they were not counted.
fn instructions(finding: &Finding) -> u64 {
    let is_counted = |cost: &&FindingCost| cost.resource == Resource::Instructions;
    finding.costs.iter().find(is_counted).map_or(0, |cost| cost.amount)
}

/// Resource whose law explains a finding: instructions if they are unusual, otherwise the memory that is.
fn explaining(finding: &Finding, threshold: f64) -> Resource {
    let is_unusual = |&resource: &Resource| {
        let mut costs = finding.costs.iter().filter(|cost| cost.resource == resource);
        costs.any(|cost| cost.ratio_by_size.unwrap_or(cost.ratio) >= threshold)
    };
    let known = [Resource::Instructions, Resource::Heap, Resource::HeapTotal, Resource::Stack];
    known.into_iter().find(is_unusual).unwrap_or(Resource::Instructions)
}

/// Indices of the worst degradation of each group, unless it is explained or cannot be, the worst group first.
fn unexplained(summary: &Summary, is_explicable: impl Fn(&Finding) -> bool) -> Vec<usize> {
    let leader = |group: &quagmire_results::summary::Group| group.findings.first().copied();
    let is_open = |&index: &usize| {
        let finding = summary.findings.get(index);
        finding.is_some_and(|finding| {
            finding.kind == FindingKind::Degradation
                && finding.template.is_none()
                && finding.minimized.is_none()
                && is_explicable(finding)
        })
    };
    summary.groups.iter().filter_map(leader).filter(is_open).collect()
}

/// Explains one finding within a time.
fn of_finding(
    setup: &Setup,
    finding: &mut Finding,
    start: Instant,
    time: Duration,
    is_stopped: &mut dyn FnMut() -> bool,
) -> Result<()> {
    let folder = setup.folder.path();
    let input = folder.join(&finding.path);
    let end = start + time;
    let left = || end.saturating_duration_since(Instant::now());
    let name = input.file_name().ok_or_else(|| Error::other(format!("{} has no name", input.display())))?;
    let relative = PathBuf::from("minimized").join(name);
    let smallest = folder.join(&relative);
    files::create_folder(&folder.join("minimized"))
        .map_err(|error| Error::other(format!("cannot create a folder in {}: {error}", folder.display())))?;
    let threshold = setup.options.threshold.to_string();
    let mut words: Vec<OsString> =
        ["minimize", "--threshold", &threshold, "-o"].into_iter().map(OsString::from).collect();
    words.push(smallest.clone().into_os_string());
    if let Some(root) = &finding.root {
        words.extend(["-i".into(), folder.join(root).into_os_string()]);
    }
    let made: Option<Smallest> = command(setup, &words, &input, time.mul_f64(FOR_SMALLEST), is_stopped)?;
    let mut template = None;
    if let Some(Smallest { bytes, instructions, executions, template: followed }) = made {
        finding.minimized = Some(Minimized { path: relative.display().to_string(), bytes, instructions, executions });
        template = followed;
    }
    let growth = ["growth", "--cost", explaining(finding, setup.options.threshold).name()].map(OsString::from);
    // what the search has left in a finding may hide the law, so the smallest input comes first
    let is_smaller = finding.minimized.as_ref().is_some_and(|smallest| smallest.bytes < finding.bytes);
    for input in is_smaller.then_some(&smallest).into_iter().chain([&input]) {
        let is_smallest = *input == smallest;
        let time = if is_smallest { left().mul_f64(FOR_LAW_OF_SMALLEST) } else { left() };
        let known = template.iter().filter(|_| is_smallest).flat_map(|text| ["--template".into(), text.into()]);
        let words: Vec<OsString> = growth.iter().cloned().chain(known).collect();
        let grown: Option<Grown> = command(setup, &words, input, time, is_stopped)?;
        if let Some(Grown { law: Some(law), template }) = grown {
            // one that no report can carry makes way for that of the finding
            let is_short = law.generator.is_some();
            (finding.law, finding.template) = (Some(law), template.filter(|_| is_short));
            if is_short {
                break;
            }
        }
    }
    Ok(())
}

/// Runs a command of this program, given as its name and options, on an input, within a time. `None` if it was
/// stopped.
fn command<T: DeserializeOwned>(
    setup: &Setup,
    words: &[OsString],
    input: &Path,
    time: Duration,
    is_stopped: &mut dyn FnMut() -> bool,
) -> Result<Option<T>> {
    let limits = &setup.options;
    let [name, options @ ..] = words else { return Ok(None) };
    let mut command = own_command::command(&setup.target, name, limits.hang_timeout, limits.memory_limit);
    command.args(["--json", "--budget", &format!("{}ms", time.as_millis().max(1))]).args(options);
    own_command::end(&mut command, &setup.target, &[input]);
    own_command::output(command, Instant::now() + time + GRACE, is_stopped, &mut || Ok(()))
}

/// Prints what is known of a finding now.
fn say(setup: &Setup, finding: &Finding) {
    if setup.options.quiet {
        return;
    }
    let mut text = String::new();
    if let Some(law) = &finding.law {
        let of = if law.resource == Resource::Instructions { String::new() } else { format!("{}: ", law.resource) };
        text += &format!("Law:        {of}{} ({} confidence): {}\n", law.words, law.confidence, finding.path);
    }
    if let Some(smallest) = finding.minimized.as_ref().filter(|smallest| smallest.bytes < finding.bytes) {
        let path = setup.options.output.join(&smallest.path);
        let bytes = counted(smallest.bytes, "byte");
        text += &format!("Smallest:   {} ({bytes} of {})\n", path.display(), grouped(finding.bytes));
    }
    // a failure to print is no reason to fail
    let _ = plain::print(&text, Form::Lines);
}

#[cfg(test)]
mod tests {
    use super::*;
    use quagmire_results::{summary::Group, testing};

    #[test]
    fn the_worst_degradation_of_each_group_is_explained_once() {
        let finding = |kind, template: Option<&str>| Finding {
            kind,
            template: template.map(str::to_owned),
            ..Finding::default()
        };
        let summary = Summary {
            findings: vec![
                finding(FindingKind::Fault, None),
                finding(FindingKind::Degradation, None),
                finding(FindingKind::Degradation, None),
                finding(FindingKind::Degradation, Some("rep(N){a}")),
            ],
            groups: [vec![2, 1], vec![3], vec![0], vec![]]
                .map(|findings| Group { title: String::new(), findings })
                .to_vec(),
            ..testing::example()
        };
        assert_eq!(unexplained(&summary, |_| true), [2]);
        assert!(unexplained(&summary, |_| false).is_empty());
    }
}
