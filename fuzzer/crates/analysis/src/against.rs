//! Judgement of the last input against each of the others, as needed to confirm candidates.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::{explanation::explanation, measure::Input, measurement::Measurement};
use quagmire_cost::{
    decision::{Comparison, Question, judge_last},
    judgement::{Judgement, Verdict},
};

/// Judgement of the last input against one of the others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Against {
    /// Path of the other input, as given.
    pub path: String,
    /// Whether the other input stands for an ordinary input of the last one's size.
    #[serde(default)]
    pub by_size: bool,
    /// Factor on the times of the other input: 1, or what it lacks of the instructions of an ordinary input of that
    /// size.
    pub scale: f64,
    /// Verdict on the times.
    pub verdict: Option<Verdict>,
    /// CPU time as a multiple of the other input's.
    pub time_ratio: f64,
    /// Lower end of the ratio's 95 % interval.
    pub time_ratio_low: f64,
    /// Upper end of the ratio's 95 % interval.
    pub time_ratio_high: f64,
    /// P value of the one-sided rank test.
    pub p_value: f64,
    /// Reasons for the verdict, in one line.
    pub explanation: String,
}

/// Judges the last input against each input that `question` compares it with. Empty if a run of the last input did not
/// return.
pub fn against(inputs: &[Input], measured: &[Measurement], question: Question, floor: Option<f64>) -> Vec<Against> {
    if measured.last().is_none_or(|last| !last.came_back()) {
        return Vec::new();
    }
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
        explanation: explanation(&judgement),
    };
    comparisons.iter().zip(judged).map(one).collect()
}

/// Formats judgements in `width` columns with `column` before the values.
pub fn in_words(all: &[Against], column: &str, width: usize) -> String {
    let indented = textwrap::Options::new(width).initial_indent(column).subsequent_indent(column);
    let mut text = String::new();
    for one in all {
        let words = one.verdict.map_or("", Verdict::words);
        let why = textwrap::fill(&one.explanation.replace("of the first", "of it"), indented.clone());
        let _ = writeln!(text, "  against       {}: {words}\n{why}", one.path);
    }
    text
}
