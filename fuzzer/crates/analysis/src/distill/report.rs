//! Result of `distill`, as printed with `--json`.

use std::{collections::BTreeMap, path::PathBuf};

use serde::Serialize;

use super::{
    DistillOptions, Purpose, Weight,
    corpus::Corpus,
    inputs::{Candidate, Examined, Unfit},
    subsumed::Subsumers,
};
use quagmire_cost::resource::Resource;
/// Result of `quagmire distill`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct DistillReport {
    /// Properties that the corpus keeps.
    pub r#for: Purpose,
    /// Number of these properties that some input has.
    pub features: u64,
    /// Weight of inputs, of which the corpus has the least sum.
    pub weighed_by: Weight,
    /// Resource that `cost` is an amount of: `instructions`, or `edges` where instructions are not counted.
    pub cost: Resource,
    /// Sum of the weights in the corpus.
    pub weight: u64,
    /// Lower bound of the weight of a corpus that keeps everything.
    pub lower_bound: u64,
    /// `weight` as a multiple of `lower_bound`; 1 if both are 0.
    pub ratio: f64,
    /// Sums of all inputs that could be part of the corpus.
    pub all: Sums,
    /// Sums of the corpus.
    pub kept: Sums,
    /// Inputs of the corpus, in the order in which they were found.
    pub corpus: Vec<Kept>,
    /// Inputs that are not in the corpus; empty unless it is asked for.
    pub left_out: Vec<LeftOut>,
    /// For each reason to leave inputs out, their number.
    pub reasons: BTreeMap<&'static str, u64>,
    /// Number of inputs that were not looked at, since a signal came.
    pub not_examined: u64,
    /// Number of runs.
    pub executions: u64,
}

/// Sums over inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Sums {
    pub inputs: u64,
    pub bytes: u64,
    /// Amounts of the resource that the report names.
    pub cost: u64,
}

/// Input of the corpus.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Kept {
    /// File that it was read from.
    pub path: String,
    /// Its file in the corpus; `null` if it could not be written.
    pub name: Option<String>,
    pub bytes: u64,
    pub cost: u64,
    /// Number of its features.
    pub features: u64,
    /// Whether it has a feature that no other input has, unless that has the same features.
    pub essential: bool,
    /// Whether it did the same in a second run; `null` if it was not run again.
    pub stable: Option<bool>,
    /// Reason why it could not be written.
    pub lost: Option<String>,
}

/// Input that is not in the corpus.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct LeftOut {
    /// Its file.
    pub path: String,
    /// Reason: `subsumed`, `duplicate`, `ended-early`, `rejected`, `unreadable`.
    pub reason: &'static str,
    /// Details of the reason.
    pub detail: Option<String>,
    /// Inputs of the corpus that have all its features together; empty if it has none, and for other reasons than
    /// `subsumed`. For a duplicate, the first file with its contents.
    pub by: Vec<String>,
}

impl Unfit {
    fn reason(&self) -> &'static str {
        match self {
            Self::Duplicate(_) => "duplicate",
            Self::Unreadable(_) => "unreadable",
            Self::Rejected => "rejected",
            Self::EndedEarly(_) => "ended-early",
        }
    }
}

/// Number of inputs for each reason, in words.
pub(super) fn reasons(unfit: &[(PathBuf, Unfit)]) -> String {
    let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
    unfit.iter().for_each(|(_, why)| *reasons.entry(in_words(why.reason())).or_default() += 1);
    let parts: Vec<String> = reasons.iter().map(|(words, number)| format!("{number} {words}")).collect();
    parts.join(", ")
}

/// Reason of `--json` for people.
pub(super) fn in_words(reason: &str) -> &'static str {
    match reason {
        "duplicate" => "with the contents of another",
        "unreadable" => "unreadable",
        "rejected" => "rejected by the target",
        "ended-early" => "with a run that ended early",
        _ => "subsumed",
    }
}

fn sums<'a>(candidates: impl Iterator<Item = &'a Candidate>) -> Sums {
    candidates.fold(Sums::default(), |sums, one| Sums {
        inputs: sums.inputs + 1,
        bytes: sums.bytes.saturating_add(one.bytes),
        cost: sums.cost.saturating_add(one.cost),
    })
}

impl DistillReport {
    pub(super) fn new(options: &DistillOptions, examined: &Examined, corpus: &Corpus, executions: u64) -> Self {
        let candidates = &examined.candidates;
        let mut features = Vec::new();
        let kept = corpus.members.iter().map(|member| {
            let candidate = &candidates[member.candidate];
            examined.rows.read(candidate.row, &mut features);
            Kept {
                path: candidate.path.display().to_string(),
                name: member.name.clone(),
                bytes: candidate.bytes,
                cost: candidate.cost,
                features: features.len() as u64,
                essential: member.is_essential,
                stable: member.is_stable,
                lost: member.lost.clone(),
            }
        });
        let kept: Vec<Kept> = kept.collect();
        let mut reasons = BTreeMap::from([("subsumed", (candidates.len() - kept.len()) as u64)]);
        examined.unfit.iter().for_each(|(_, why)| *reasons.entry(why.reason()).or_default() += 1);
        let (weight, bound) = (corpus.weight, corpus.bound);
        Self {
            r#for: options.purpose(),
            features: examined.rows.features() as u64,
            weighed_by: options.weight(),
            cost: examined.resource,
            weight,
            lower_bound: bound,
            ratio: if bound == 0 { 1.0 } else { weight as f64 / bound as f64 },
            all: sums(candidates.iter()),
            kept: sums(corpus.members.iter().map(|member| &candidates[member.candidate])),
            corpus: kept,
            left_out: if options.verbose || options.json { left_out(examined, corpus) } else { Vec::new() },
            reasons,
            not_examined: examined.left as u64,
            executions,
        }
    }
}

/// All inputs that are not in the corpus, the subsumed ones first.
fn left_out(examined: &Examined, corpus: &Corpus) -> Vec<LeftOut> {
    let candidates = &examined.candidates;
    let kept: Vec<u32> = corpus.members.iter().map(|member| candidates[member.candidate].row).collect();
    let subsumers = Subsumers::new(&examined.rows, &kept);
    let path = |place: usize| candidates[corpus.members[place].candidate].path.display().to_string();
    let mut left_out = Vec::new();
    let mut members = corpus.members.iter().map(|member| member.candidate).peekable();
    for (index, candidate) in candidates.iter().enumerate() {
        if members.next_if_eq(&index).is_some() {
            continue;
        }
        let by = subsumers.of(candidate.row).into_iter().map(path).collect();
        let shown = candidate.path.display().to_string();
        left_out.push(LeftOut { path: shown, reason: "subsumed", detail: None, by });
    }
    for (file, why) in &examined.unfit {
        let (detail, by) = match why {
            Unfit::Duplicate(first) => (None, vec![first.display().to_string()]),
            Unfit::Unreadable(detail) | Unfit::EndedEarly(detail) => (Some(detail.clone()), Vec::new()),
            Unfit::Rejected => (None, Vec::new()),
        };
        left_out.push(LeftOut { path: file.display().to_string(), reason: why.reason(), detail, by });
    }
    left_out
}
