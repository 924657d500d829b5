//! Mined rules as text: the JSON of the fuzzing book, in which each nonterminal has a list of alternatives.

use super::{
    cycles,
    rules::{Item, Rules},
};
use crate::grammar::Grammar;
use quagmire_base::error::Result;
use std::collections::BTreeMap;

/// Reads rules as they are written.
///
/// # Errors
/// The mistake in them.
pub(crate) fn grammar(rules: &Rules) -> Result<Grammar> {
    Grammar::read(&json(rules), "the mined grammar")
}

/// Writes rules as JSON, one nonterminal a line, the start first. Bytes beyond ASCII are the characters of these numbers.
pub(crate) fn json(rules: &Rules) -> String {
    let rules = &cycles::removed(rules, false);
    let names = names(rules);
    let string = |text: &str| serde_json::Value::from(text).to_string();
    let characters = |bytes: &[u8]| string(&bytes.iter().map(|&byte| char::from(byte)).collect::<String>());
    let item = |item: &Item| match item {
        // it would be read as a name
        Item::Text(text) if text.len() > 1 && text.starts_with(b"<") => {
            format!("{}, {}", characters(b"<"), characters(&text[1..]))
        }
        Item::Text(text) => characters(text),
        Item::Rule(rule) => string(&names[*rule]),
    };
    let alternative = |items: &Vec<Item>| format!("[{}]", items.iter().map(item).collect::<Vec<_>>().join(", "));
    let line = |(number, rule): (usize, &super::rules::Rule)| {
        let alternatives = rule.alternatives.iter().map(alternative).collect::<Vec<_>>().join(", ");
        format!("  {}: [{alternatives}]", string(&names[number]))
    };
    let lines: Vec<String> = rules.rules.iter().enumerate().map(line).collect();
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}

/// Names in angle brackets: those that several rules have get numbers.
fn names(rules: &Rules) -> Vec<String> {
    let mut total: BTreeMap<&str, usize> = BTreeMap::new();
    rules.rules.iter().for_each(|rule| *total.entry(&rule.name).or_default() += 1);
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let name = |rule: &'_ super::rules::Rule| rule.name.clone();
    let mut named = Vec::with_capacity(rules.rules.len());
    for rule in &rules.rules {
        let number = seen.entry(&rule.name).or_default();
        *number += 1;
        named.push(if total[&*rule.name] > 1 {
            format!("<{}-{number}>", name(rule))
        } else {
            format!("<{}>", name(rule))
        });
    }
    named
}
