//! Result of `distill`, as printed with `--json`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{
    DistillOptions, Purpose, Weight,
    corpus::{Corpus, Kept},
    inputs::{Examined, LeftOut},
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

/// Number of inputs for each reason, in words.
pub(super) fn reasons(unfit: &[LeftOut]) -> String {
    let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
    unfit.iter().for_each(|one| *reasons.entry(in_words(one.reason)).or_default() += 1);
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

impl DistillReport {
    pub(super) fn new(options: &DistillOptions, examined: Examined, corpus: Corpus, executions: u64) -> Self {
        let Corpus { weight, bound, .. } = corpus;
        let mut all = Sums::default();
        examined.candidates.iter().for_each(|one| all.add(one.bytes, one.cost));
        let mut kept = Sums::default();
        corpus.kept.iter().for_each(|one| kept.add(one.bytes, one.cost));
        let mut reasons = BTreeMap::from([("subsumed", all.inputs - kept.inputs)]);
        examined.unfit.iter().for_each(|one| *reasons.entry(one.reason).or_default() += 1);
        let mut left_out = Vec::new();
        if options.verbose || options.json {
            left_out = subsumed(&examined, &corpus);
            left_out.extend(examined.unfit);
        }
        Self {
            r#for: options.purpose(),
            features: examined.rows.features() as u64,
            weighed_by: options.weight(),
            cost: examined.resource,
            weight,
            lower_bound: bound,
            ratio: if bound == 0 { 1.0 } else { weight as f64 / bound as f64 },
            all,
            kept,
            corpus: corpus.kept,
            left_out,
            reasons,
            not_examined: examined.left as u64,
            executions,
        }
    }
}

impl Sums {
    fn add(&mut self, bytes: u64, cost: u64) {
        self.inputs += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        self.cost = self.cost.saturating_add(cost);
    }
}

/// Inputs that others of the corpus make superfluous.
fn subsumed(examined: &Examined, corpus: &Corpus) -> Vec<LeftOut> {
    let candidates = &examined.candidates;
    let rows: Vec<u32> = corpus.kept.iter().map(|one| candidates[one.candidate].row).collect();
    let subsumers = Subsumers::new(&examined.rows, &rows);
    let is_left_out = |index: &usize| corpus.kept.binary_search_by_key(index, |one| one.candidate).is_err();
    let left_out = |index: usize| LeftOut {
        path: candidates[index].path.display().to_string(),
        reason: "subsumed",
        detail: None,
        by: subsumers.of(candidates[index].row).into_iter().map(|place| corpus.kept[place].path.clone()).collect(),
    };
    (0..candidates.len()).filter(is_left_out).map(left_out).collect()
}
