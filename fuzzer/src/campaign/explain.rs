//! Explanation of findings after the search: the law and the smallest input of the first finding of each group, or why they
//! are not known.

mod progress;
mod turn;

use std::time::{Duration, Instant};

use self::{progress::Progress, turn::Turn};
use super::{Setup, groups, recorder::reconcile::hash_of, supervisor};
use quagmire_base::{
    error::Result,
    plain::{self, Form},
};
use quagmire_cost::resource::Resource;
use quagmire_execution::info::Instrumentation;
use quagmire_results::{
    Summary, causes,
    explanation::NO_TURN,
    is_of_template,
    journal::{Journal, Saved},
    summary::{Finding, FindingKind, Group, Unexplained},
};

/// Share of the search's time that explanations of all causes but the worst take by default, and the bounds of it.
const SHARE: f64 = 0.1;
const SHORTEST: Duration = Duration::from_secs(5);
const LONGEST: Duration = Duration::from_secs(60);

/// Shortest turn: in less, hardly any finding gets its law.
const LEAST_TURN: Duration = Duration::from_secs(2);

/// Factor by which the worst finding of a group may be worse than one that is easier to explain and has the turn of the group.
const EASIER: f64 = 4.0;

/// Budget of the command that is to find what was not found.
const MORE: &str = "5m";

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
    let is_off = budget.first.is_zero();
    let is_easy = |finding: &Finding| is_of_template(&setup.folder.path().join(&finding.path));
    let has_law = |finding: &Finding| finding.law.is_some();
    if !is_off {
        groups::lead_by(&mut summary, 0.., EASIER, is_easy);
    }
    let mut journal = Journal::open(setup.folder.path(), &summary.campaign)?;
    let mut was_asked = false;
    let mut is_stopped = || {
        was_asked |= supervisor::is_asked_to_stop();
        was_asked
    };
    let mut keep = |summary: &Summary, index: usize| {
        summary.write(&path)?;
        let hash = |path: &str| hash_of(&setup.folder.path().join(path));
        journal.add(&Saved::of(&summary.findings[index], hash))
    };
    let begun = Instant::now();
    // laws of known templates take little time: all causes have theirs before the first one has all of its turn
    let is_known = |finding: &Finding| turn::is_of_known_template(&setup.folder.path().join(&finding.path), finding);
    let known = if is_off { Vec::new() } else { worst_of_each(&summary, is_known) };
    for (done, &index) in known.iter().enumerate() {
        let finding = &mut summary.findings[index];
        let left = budget.for_known().saturating_sub(begun.elapsed());
        let time = turn::time_for_known(finding, left, known.len() - done);
        if !time.is_zero()
            && !is_stopped()
            && turn(setup, finding, time, (done, known.len()), &mut is_stopped).law_of_known_template(finding)
        {
            keep(&summary, index)?;
        }
    }
    // the worst of all has a turn of its own whatever is known of others
    let leader = |group: &Group| summary.findings.get(*group.findings.first()?);
    let is_degradation = |group: &Group| leader(group).is_some_and(|finding| finding.kind == FindingKind::Degradation);
    let behind = summary.groups.iter().position(is_degradation).map_or(0, |worst| worst + 1);
    groups::lead_by(&mut summary, behind.., f64::INFINITY, has_law);
    let open = if is_off { Vec::new() } else { unexplained(&summary) };
    let of = open.len();
    let mut by_others = Duration::ZERO;
    for (place, &(is_worst, index)) in open.iter().enumerate() {
        let finding = &mut summary.findings[index];
        let begun_turn = Instant::now();
        let used = if is_worst || budget.is_shared { begun.elapsed() } else { by_others };
        match budget.turn(is_worst, of - place, used).filter(|_| !is_stopped()) {
            Some(time) => turn(setup, finding, time, (place, of), &mut is_stopped).explain(finding)?,
            None => without_a_turn(setup, finding),
        }
        if !is_worst {
            by_others += begun_turn.elapsed();
        }
        keep(&summary, index)?;
    }
    groups::lead_by(&mut summary, 0.., f64::INFINITY, has_law);
    groups::merge_by_law(&mut summary);
    summary.write(&path)?;
    // a failure to print is no reason to fail
    let _ = plain::print(&causes(&summary, setup.options.output()), Form::Lines);
    Ok(())
}

/// The turn of a finding, by its place among all.
fn turn<'a>(
    setup: &'a Setup,
    finding: &Finding,
    time: Duration,
    (place, of): (usize, usize),
    is_stopped: &'a mut dyn FnMut() -> bool,
) -> Turn<'a> {
    Turn {
        setup,
        resource: explaining(finding, setup.options.confirm.threshold, setup.target.instrumentation),
        begun: Instant::now(),
        time,
        is_stopped,
        progress: Progress::new(setup.options.display.quiet, place + 1, of),
    }
}

/// Time for explanations.
struct Budget {
    /// For the worst cause: what it needs, up to this.
    first: Duration,
    /// For all others together.
    others: Duration,
    /// Whether the one is the other: what the user gave is for all.
    is_shared: bool,
}

impl Budget {
    fn new(asked: Option<Duration>, searched: Duration) -> Self {
        let others = asked.unwrap_or_else(|| searched.mul_f64(SHARE).clamp(SHORTEST, LONGEST));
        Self { first: asked.unwrap_or(LONGEST), others, is_shared: asked.is_some() }
    }

    /// Time for the laws of known templates, of that of the worst cause: its law and a smallest input need the other half.
    fn for_known(&self) -> Duration {
        self.first / 2
    }

    /// Time for a cause after so much of its budget was used, where so many wait, itself among them: an equal share of the rest,
    /// but none that is of no use. `None` if nothing is left.
    fn turn(&self, is_worst: bool, waiting: usize, used: Duration) -> Option<Duration> {
        if is_worst {
            return Some(self.first.saturating_sub(used).max(self.first / 2));
        }
        let left = self.others.saturating_sub(used);
        (left >= LEAST_TURN).then(|| (left / waiting.max(1) as u32).max(LEAST_TURN))
    }
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
/// first; with each, whether it is that of the worst group.
fn unexplained(summary: &Summary) -> Vec<(bool, usize)> {
    let is_tried = |reason: &Option<Unexplained>| reason.as_ref().is_some_and(|reason| reason.tried);
    let is_open = |finding: &Finding| {
        finding.law.is_none() && !is_tried(&finding.no_law)
            || finding.minimized.is_none() && !is_tried(&finding.no_smallest)
    };
    let finding = |index: usize| summary.findings.get(index).map(|finding| (index, finding));
    let leaders = summary.groups.iter().filter_map(|group| finding(*group.findings.first()?));
    let degradations = leaders.filter(|(_, finding)| finding.kind == FindingKind::Degradation).enumerate();
    degradations.filter(|(_, (_, finding))| is_open(finding)).map(|(place, (index, _))| (place == 0, index)).collect()
}

/// Indices of the first finding of each group of degradations of which something `is_known`, if its first one has no law.
fn worst_of_each(summary: &Summary, is_known: impl Fn(&Finding) -> bool) -> Vec<usize> {
    let has_law = |&index: &usize| summary.findings.get(index).is_some_and(|finding| finding.law.is_some());
    let open = summary.groups.iter().filter(|group| !group.findings.first().is_some_and(has_law));
    let is_known = |&index: &usize| {
        let finding = summary.findings.get(index);
        finding.is_some_and(|finding| finding.kind == FindingKind::Degradation && is_known(finding))
    };
    open.filter_map(|group| group.findings.iter().copied().find(is_known)).collect()
}

/// Notes of a finding that there was no time for it, unless something of it is known.
fn without_a_turn(setup: &Setup, finding: &mut Finding) {
    if finding.law.is_none() && finding.minimized.is_none() {
        let resource = explaining(finding, setup.options.confirm.threshold, setup.target.instrumentation);
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
    setup.target.own_command(name, &options, &[&setup.options.output().join(&finding.path)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use quagmire_results::{
        summary::{FindingCost, FindingLaw},
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
        assert_eq!(unexplained(&summary), [(true, 2), (false, 5)]);
    }

    #[test]
    fn the_worst_cause_has_a_minute_and_the_others_share_the_rest_of_a_tenth() {
        let seconds = Duration::from_secs;
        let budget = Budget::new(None, seconds(120));
        assert_eq!(budget.turn(true, 3, Duration::ZERO), Some(seconds(60)));
        assert_eq!(budget.turn(false, 2, seconds(4)), Some(seconds(4)));
        assert_eq!(budget.turn(false, 29, seconds(4)), Some(LEAST_TURN));
        assert_eq!(budget.turn(false, 2, seconds(11)), None);
        let asked = Budget::new(Some(seconds(600)), seconds(1));
        assert_eq!(asked.turn(true, 2, Duration::ZERO), Some(seconds(600)));
        assert_eq!(asked.turn(false, 1, seconds(100)), Some(seconds(500)));
        assert!(Budget::new(Some(Duration::ZERO), seconds(60)).first.is_zero());
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
}
