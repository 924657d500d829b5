//! Descriptions of rules by label.

use std::collections::HashMap;

use quagmire_choices::operator::Operator;
use quagmire_mutators::built_in_rules;
use quagmire_results::summary::{Rule, Summary};

/// A step in the history of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// Label of the operator, such as `T.11`.
    pub label: String,
    /// Name, such as `repeat_whitespace`; the pattern of a custom rule.
    pub name: String,
    /// The class of slowness that it aims at, if known.
    pub aim: Option<String>,
    /// Number of consecutive applications.
    pub times: usize,
}

/// Names and aims of all rules, by label.
#[derive(Debug)]
pub(crate) struct RuleWords {
    known: HashMap<String, (String, Option<String>)>,
}

impl RuleWords {
    /// Collects the built-in rules, and the names of all others in the summary.
    pub(crate) fn new(summary: &Summary) -> Self {
        let mut known = HashMap::new();
        for Rule { label, name, .. } in &summary.rules {
            known.insert(label.clone(), (name.clone(), None));
        }
        for rule in built_in_rules() {
            known.insert(rule.label().to_owned(), (rule.name().to_owned(), Some(rule.aim().to_owned())));
        }
        let on_choices = Operator::ALL.map(|operator| (operator.name(), operator.effect()));
        let others = [
            ("havoc", "small random changes, LibAFL's"),
            ("single", "one change of a bit, a byte or a number, LibAFL's"),
            ("splice", "parts of two inputs put together, LibAFL's"),
            ("tokens", "words of the dictionary put in, LibAFL's"),
            ("custom", "the harness's own mutator"),
            ("custom-crossover", "parts of two inputs put together by the harness"),
            ("deterministic", "every value beside the bytes that a rare branch needs"),
            ("comparisons", "what the program compared bytes of the input with"),
            ("growth", "patterns that grow faster than the input at small sizes"),
            ("mask", "tries which bytes a target needs"),
            ("trim", "removes what a rare branch does not need"),
        ];
        for (label, aim) in others.into_iter().chain(on_choices) {
            known.insert(label.to_owned(), (label.to_owned(), Some(aim.to_owned())));
        }
        Self { known }
    }

    /// The class of slowness that a rule aims at, if known.
    pub(crate) fn aim(&self, label: &str) -> Option<&str> {
        self.known.get(label)?.1.as_deref()
    }

    /// The history of an input, from the labels of its operators in order; consecutive equal ones are merged.
    pub(crate) fn steps(&self, labels: &[String]) -> Vec<Step> {
        let step = |same: &[String]| {
            let (label, times) = (same[0].clone(), same.len());
            let (name, aim) = self.known.get(&label).cloned().unwrap_or_default();
            Step { label, name, aim, times }
        };
        labels.chunk_by(|a, b| a == b).map(step).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::example;

    #[test]
    fn a_history_says_what_its_rules_do() {
        let mut summary = example();
        summary.rules.push(Rule {
            label: "R.1".into(),
            name: r"(\w+)=(\w+) -> \2=\1".into(),
            applied: 0,
            coverage_increases: 0,
            degradations: 0,
        });
        let labels = ["T.11", "T.11", "havoc", "T.11", "R.1", "X.9"].map(String::from);
        let steps = RuleWords::new(&summary).steps(&labels);
        let words: Vec<String> =
            steps.iter().map(|s| format!("{} {} x{}: {:?}", s.label, s.name, s.times, s.aim)).collect();
        insta::assert_snapshot!(words.join("\n"));
    }
}
