//! Outcomes of a campaign: each finding is one.

use std::{cmp::Reverse, collections::HashMap, path::Path};

use quagmire_base::format::{counted, grouped, ratio, short};
use quagmire_cost::{judgement::Severity, resource::Resource};

use super::{Kind, Level, Outcome, Outcomes, Place, SourceRoot, Step};
use crate::{
    explanation::{explanation, special_cost},
    growth::Grown,
    summary::{Finding, FindingKind, StoppedBy, Summary},
};

/// Largest number of places where the cost grew.
const STEPS: usize = 20;

/// Smallest share of the growth that is a step.
const SMALLEST: f64 = 0.01;

impl Outcomes {
    /// Outcomes of a campaign, the worst first. Paths of sources become relative to `root`.
    pub fn of_campaign(summary: &Summary, root: &mut SourceRoot) -> Self {
        let mut all: Vec<Outcome> = summary.findings.iter().map(|finding| outcome(summary, finding, root)).collect();
        share_laws(summary, &mut all);
        // of equal ones, the worst of its group comes first: it is the one that is explained
        let places: HashMap<usize, usize> =
            summary.groups.iter().flat_map(|group| group.findings.iter().copied()).zip(0..).collect();
        let mut all: Vec<(usize, Outcome)> = all.into_iter().enumerate().collect();
        all.sort_by_key(|(index, one)| {
            let rank = one.rank.unwrap_or(0.0) as u64;
            (Reverse(one.level), Reverse(rank), places.get(index).copied().unwrap_or(usize::MAX))
        });
        let all = all.into_iter().map(|(_, outcome)| outcome).collect();
        let stopped_by_error = summary.stopped_by == Some(StoppedBy::Error);
        Self {
            command: "fuzz".into(),
            version: summary.version.clone(),
            target: summary.target.program.clone(),
            headline: headline(summary),
            started: Some(summary.started.clone()),
            seconds: Some(summary.seconds).filter(|seconds| seconds.is_finite()),
            error: stopped_by_error.then(|| "the campaign was ended by an error".into()),
            all,
        }
    }
}

/// Gives all findings of a group the class of its law, which is looked for in the worst one only.
fn share_laws(summary: &Summary, all: &mut [Outcome]) {
    for group in &summary.groups {
        let class = group.findings.iter().find_map(|&index| all.get(index)?.law_class.clone());
        for &index in &group.findings {
            if let Some(outcome) = all.get_mut(index).filter(|outcome| outcome.law_class.is_none()) {
                outcome.law_class.clone_from(&class);
            }
        }
    }
}

fn headline(summary: &Summary) -> String {
    let found = [(summary.degradations, "degradation"), (summary.faults, "fault"), (summary.hangs, "hang")];
    let found: Vec<String> =
        found.iter().filter(|one| one.0 > 0).map(|&(number, what)| counted(number, what)).collect();
    let found = if found.is_empty() { "nothing".to_owned() } else { found.join(", ") };
    format!("{found} found in {}", counted(summary.executions, "execution"))
}

fn outcome(summary: &Summary, finding: &Finding, root: &mut SourceRoot) -> Outcome {
    let steps = steps(finding, root);
    let kind = match finding.kind {
        FindingKind::Degradation => Kind::Degradation,
        FindingKind::Fault => Kind::Fault,
        FindingKind::Hang => Kind::Hang,
    };
    let level = match finding.severity {
        Some(Severity::Severe | Severity::Critical) => Level::Error,
        Some(Severity::Moderate) => Level::Warning,
        Some(Severity::Minor) => Level::Note,
        None => kind.describe().level,
    };
    let time = finding.costs.iter().find(|cost| cost.resource == Resource::Time);
    Outcome {
        kind,
        level,
        input: finding.path.clone(),
        message: message(summary, finding),
        place: place(finding, &steps, root),
        cause: finding.hot_function.clone().or_else(|| finding.detail.clone()),
        explained: explanation(finding, Path::new("")),
        law: finding.law.as_ref().map(|law| law.words.clone()),
        law_class: finding.law.as_ref().map(|law| law.class.clone()),
        steps,
        figures: figures(finding),
        rank: Some(rank(finding)),
        seconds: time.map(|time| time.amount as f64 / 1e9),
        reproduce: Some(finding.reproduce.clone()).filter(|command| !command.is_empty()),
        tolerated: None,
        since: None,
    }
}

/// Places where the cost grew: lines of known files, or functions of known files without those.
fn steps(finding: &Finding, root: &mut SourceRoot) -> Vec<Step> {
    let grown = |all: &[Grown]| -> Vec<Grown> {
        all.iter().filter(|grown| grown.file.is_some() && grown.share >= SMALLEST).take(STEPS).cloned().collect()
    };
    let lines = grown(&finding.growth.lines);
    let places = if lines.is_empty() { grown(&finding.growth.functions) } else { lines };
    let step = |grown: Grown| Step {
        place: root.place(grown.file.as_deref().unwrap_or_default(), grown.line, Some(&grown.function)),
        message: format!(
            "{:.1} % of the growth: executed {} times, {} times by the seed",
            grown.share * 100.0,
            grouped(grown.count),
            grouped(grown.first_count)
        ),
        share: grown.share,
    };
    places.into_iter().map(step).collect()
}

/// The place that is shown first, if it is in the project, or else its hottest line: services show places of their own
/// sources only.
fn place(finding: &Finding, steps: &[Step], root: &mut SourceRoot) -> Option<Place> {
    let named = finding
        .hot_location
        .as_deref()
        .and_then(|location| location.rsplit_once(':'))
        .map(|(file, line)| root.place(file, line.parse().ok(), finding.hot_function.as_deref()));
    let is_inside = |place: &&Place| place.is_inside() && place.line.is_some();
    let inside = named.iter().chain(steps.iter().map(|step| &step.place)).find(is_inside).cloned();
    inside.or(named).or_else(|| steps.first().map(|step| step.place.clone()))
}

fn message(summary: &Summary, finding: &Finding) -> String {
    let by = summary.target.instrumentation;
    let special = special_cost(finding, by);
    let ratios = |instructions: Option<f64>, time: Option<f64>| -> Vec<String> {
        let instructions = instructions.map(|value| format!("{} the {}", ratio(value), by.work()));
        let instructions = special.clone().or(instructions);
        let time = time.map(|value| format!("{} the {}", ratio(value), by.time()));
        instructions.into_iter().chain(time).collect()
    };
    let by_size = ratios(finding.instructions_ratio_by_size, finding.time_ratio_by_size);
    let by_seed = ratios(finding.instructions_ratio, finding.time_ratio);
    let cause = finding
        .hot_function
        .as_ref()
        .map(|function| format!(", most of it in {}", short(function)))
        .unwrap_or_default();
    let size = counted(finding.bytes, "byte");
    let ended = finding.detail.as_deref().filter(|detail| *detail != finding.kind.label());
    match (finding.kind, by_size.is_empty(), by_seed.is_empty()) {
        (FindingKind::Hang, ..) => format!("An input of {size} runs into the hang timeout{cause}."),
        (FindingKind::Fault, ..) => {
            format!("An input of {size} ends the program: {}{cause}.", ended.unwrap_or("a fault"))
        }
        (_, false, _) => {
            format!("An input of {size} takes {} of an ordinary input of its size{cause}.", by_size.join(" and "))
        }
        (_, true, false) => format!("An input of {size} takes {} of the median seed{cause}.", by_seed.join(" and ")),
        (_, true, true) => format!("An input of {size} is slow{cause}."),
    }
}

fn figures(finding: &Finding) -> Vec<(String, f64)> {
    let named = [
        ("ratio", finding.ratio),
        ("instructions_ratio_by_size", finding.instructions_ratio_by_size),
        ("time_ratio_by_size", finding.time_ratio_by_size),
        ("instructions_ratio", finding.instructions_ratio),
        ("time_ratio", finding.time_ratio),
        ("p_value", finding.p_value),
        ("bytes", Some(finding.bytes as f64)),
    ];
    let known = named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value.filter(|v| v.is_finite())?)));
    let amounts = finding.costs.iter().map(|cost| (cost.resource.name().to_owned(), cost.amount as f64));
    known.chain(amounts).collect()
}

/// Importance: 20 for each factor of ten by which it is slow, and 100 for faults and hangs, whose cost is not known.
fn rank(finding: &Finding) -> f64 {
    match finding.kind {
        FindingKind::Degradation => {
            let slowness = finding.ratio.filter(|ratio| ratio.is_finite()).unwrap_or_else(|| finding.slowness());
            (20.0 * slowness.max(1.0).log10()).min(100.0).round()
        }
        FindingKind::Fault | FindingKind::Hang => 100.0,
    }
}
