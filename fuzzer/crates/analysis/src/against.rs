//! The last of the inputs beside each of the others: what confirmation asks for.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::{measure::Input, measurement::Measurement};
use quagmire_cost::{
    decision::{Comparison, Question, judge_last},
    judgement::{Judgement, Verdict},
};

/// The last input beside one of the others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Against {
    /// The other one, as given.
    pub path: String,
    /// It stands for an ordinary input of the last one's size.
    #[serde(default)]
    pub by_size: bool,
    /// Its times were multiplied by this: 1, or what it lacks of the instructions of such an input.
    pub scale: f64,
    /// What the times come to.
    pub verdict: Option<Verdict>,
    /// CPU time over that of the other one.
    pub time_ratio: f64,
    /// Lower end of its 95 % interval.
    pub time_ratio_low: f64,
    /// Upper end.
    pub time_ratio_high: f64,
    /// Of the rank test, one-sided.
    pub p_value: f64,
    /// Why the verdict is what it is, in one line.
    pub explanation: String,
}

/// The last input beside each one that it is held against.
pub fn against(inputs: &[Input], measured: &[Measurement], question: Question, floor: Option<f64>) -> Vec<Against> {
    let costs: Vec<_> = measured.iter().map(|m| m.came_back().then_some(m.cost)).collect();
    let comparisons = question.comparisons(&costs);
    let times: Vec<&[f64]> = measured.iter().map(|m| m.seconds.as_slice()).collect();
    let judged = judge_last(&times, &comparisons, floor);
    let one = |(comparison, judgement): (&Comparison, Judgement)| Against {
        path: inputs[comparison.other].path.display().to_string(),
        by_size: comparison.by_size,
        scale: comparison.scale,
        verdict: Some(judgement.verdict),
        time_ratio: judgement.ratio.value,
        time_ratio_low: judgement.ratio.low,
        time_ratio_high: judgement.ratio.high,
        p_value: judgement.p_value,
        explanation: judgement.explanation(),
    };
    comparisons.iter().zip(judged).map(one).collect()
}

/// The verdict beside each of the others but the first, which has its own line: for people, in `width` columns, with
/// `column` before the values.
pub fn in_words(all: &[Against], column: &str, width: usize) -> String {
    let indented = textwrap::Options::new(width).initial_indent(column).subsequent_indent(column);
    let mut text = String::new();
    for one in all.iter().skip(1) {
        let words = one.verdict.map_or("", Verdict::words);
        let why = textwrap::fill(&one.explanation.replace("of the first", "of it"), indented.clone());
        let _ = writeln!(text, "  against       {}: {words}\n{why}", one.path);
    }
    text
}
