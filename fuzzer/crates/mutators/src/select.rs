//! Selection of rules: by the type that all inputs are taken for, or by labels and names.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::rule::Rule;
use quagmire_base::error::{Error, Result};

/// Type that all inputs are taken for as a whole (`--input-type`), which selects the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InputType {
    /// Lines and words.
    Text,
    /// Bytes without structure.
    Binary,
    /// Text with tags: XML, SVG, HTML.
    Xml,
}

impl InputType {
    /// Whether the built-in rules of a family (`T`, `B`, `D`, `V`) suit inputs of this type.
    fn wants(self, family: &str) -> bool {
        match self {
            Self::Text => matches!(family, "T" | "V"),
            Self::Binary => family == "B",
            Self::Xml => matches!(family, "T" | "D" | "V"),
        }
    }
}

impl fmt::Display for InputType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "text",
            Self::Binary => "binary",
            Self::Xml => "xml",
        })
    }
}

impl FromStr for InputType {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "text" => Ok(Self::Text),
            "binary" => Ok(Self::Binary),
            "xml" => Ok(Self::Xml),
            _ => Err(Error::usage(format!("--input-type: `{text}` is not a type: write text, binary or xml"))),
        }
    }
}

/// The built-in rules for inputs of this type, without custom rules. XML gets the rules for text and the family D.
pub fn rules_for(input_type: InputType, all: &[Arc<dyn Rule>]) -> Vec<Arc<dyn Rule>> {
    all.iter().filter(|rule| input_type.wants(split(rule.label()).0)).cloned().collect()
}

/// Selects the rules that `--rules` asks for from `all`, in the order of `all`.
///
/// `selection` is a comma-separated list of families (`T`), labels (`T.10`), names (`insert_whitespace`) and ranges
/// (`T.1-T.5`, `T.1-5`).
///
/// # Errors
///
/// A usage error that names an unknown item and lists the known ones.
pub fn select_rules(selection: &str, all: &[Arc<dyn Rule>]) -> Result<Vec<Arc<dyn Rule>>> {
    let mut chosen = vec![false; all.len()];
    for item in selection.split(',').map(str::trim) {
        let mut found = false;
        for (rule, chosen) in all.iter().zip(&mut chosen) {
            if asks_for(item, rule.as_ref()) {
                *chosen = true;
                found = true;
            }
        }
        if !found {
            return Err(Error::usage(format!("--rules: there is no rule '{item}': known are {}", known(all))));
        }
    }
    Ok(all.iter().zip(chosen).filter(|(_, chosen)| *chosen).map(|(rule, _)| rule.clone()).collect())
}

/// Whether an item of a selection matches this rule.
fn asks_for(item: &str, rule: &dyn Rule) -> bool {
    let (family, number) = split(rule.label());
    if let Some((first, last)) = item.split_once('-') {
        let (first_family, first) = split(first.trim());
        let (last_family, last) = match last.trim().parse() {
            Ok(last) => (first_family, Some(last)),
            Err(_) => split(last.trim()),
        };
        let same = [first_family, last_family].iter().all(|other| other.eq_ignore_ascii_case(family));
        return same && first.is_some() && last.is_some() && first <= number && number <= last;
    }
    [family, rule.label(), rule.name()].iter().any(|text| text.eq_ignore_ascii_case(item))
}

/// Splits a label into family and number: `T.10` is number 10 of the family `T`.
pub fn split(label: &str) -> (&str, Option<u32>) {
    label.split_once('.').map_or((label, None), |(family, number)| (family, number.parse().ok()))
}

/// Lists the labels of all rules as ranges: `T.1-T.3, B.1-B.2, R.1`.
fn known(all: &[Arc<dyn Rule>]) -> String {
    let families = all.chunk_by(|a, b| split(a.label()).0 == split(b.label()).0);
    let ranges: Vec<String> = families
        .filter_map(|family| match family {
            [] => None,
            [only] => Some(only.label().to_owned()),
            [first, .., last] => Some(format!("{}-{}", first.label(), last.label())),
        })
        .collect();
    ranges.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::built_in_rules;

    fn labels(rules: &[Arc<dyn Rule>]) -> String {
        rules.iter().map(|rule| rule.label()).collect::<Vec<_>>().join(" ")
    }

    /// Labels of the built-in rules of these families.
    fn labels_of(families: &[char]) -> String {
        let rules = built_in_rules().into_iter().filter(|rule| rule.label().starts_with(families));
        labels(&rules.collect::<Vec<_>>())
    }

    fn selected(selection: &str) -> String {
        match select_rules(selection, &built_in_rules()) {
            Ok(rules) => labels(&rules),
            Err(error) => error.message,
        }
    }

    #[test]
    fn each_type_gets_its_families() {
        let all = built_in_rules();
        for (input_type, families) in
            [(InputType::Binary, &['B'][..]), (InputType::Text, &['T', 'V']), (InputType::Xml, &['T', 'D', 'V'])]
        {
            assert_eq!(labels(&rules_for(input_type, &all)), labels_of(families));
        }
    }

    #[test]
    fn input_types_are_read_as_they_are_written() {
        for input_type in [InputType::Text, InputType::Binary, InputType::Xml] {
            assert_eq!(input_type.to_string().parse(), Ok(input_type));
        }
        let error = "pdf".parse::<InputType>().unwrap_err();
        assert_eq!(error.message, "--input-type: `pdf` is not a type: write text, binary or xml");
    }

    #[test]
    fn rules_are_selected_by_family_label_name_and_range() {
        assert_eq!(selected("B"), labels_of(&['B']));
        assert_eq!(selected("T,B"), labels_of(&['T', 'B']));
        assert_eq!(selected("B.6, T.1-T.3,t.10"), "T.1 T.2 T.3 T.10 B.6");
        assert_eq!(selected("T.14-15,delete_word,T.14"), "T.14 T.15");
        assert_eq!(selected("T.1"), "T.1");
    }

    #[test]
    fn an_unknown_rule_is_named_with_those_that_are_known() {
        let all = built_in_rules();
        for unknown in ["X.3", "R.1", "T.999", "", "T.5-T.2", "T.1-B.2", "T.", "T-B"] {
            let expected = format!("--rules: there is no rule '{unknown}': known are {}", known(&all));
            assert_eq!(selected(&format!("T.1,{unknown}")), expected);
        }
        assert_eq!(known(&select_rules("T.1-T.3,B.6,V.1-2", &all).unwrap()), "T.1-T.3, B.6, V.1-V.2");
    }
}
