//! Choice of the rules of a campaign: those of `--rules`, those for `--input-type`, or all, and those of `--regex-rules`.

use std::sync::Arc;

use crate::options::Options;
use quagmire_base::error::{Error, Result};
use quagmire_mutators::{Rule, built_in_rules, custom, rules_for, select_rules};
use quagmire_search::choices::mode::Mode;
use quagmire_search::stages::operators::{mutates, names_own, rules_in};

/// Chooses the rules: without `--rules` and `--input-type` all, since a part of an input may be of any type.
///
/// `has_own` says whether there is a mutator of the harness or of a library, which is no rule. Custom rules are all used, unless
/// `--rules` names some of them.
///
/// # Errors
/// A usage error for a rule that is not known, or a file of rules that cannot be used.
pub fn choose(options: &Options, has_own: bool) -> Result<Vec<Arc<dyn Rule>>> {
    let custom = custom::load(&options.search.regex_rules)?;
    let mut rules = built_in_rules();
    let Some(selection) = &options.search.rules else {
        let of_type = options.search.input_type.map(|input_type| rules_for(input_type, &rules));
        return Ok(of_type.unwrap_or(rules).into_iter().chain(custom).collect());
    };
    rules.extend(custom.iter().cloned());
    let mut chosen = rules_in(selection).map_or(Ok(Vec::new()), |selection| select_rules(&selection, &rules))?;
    let is_custom = |rule: &Arc<dyn Rule>| custom.iter().any(|custom| custom.label() == rule.label());
    if !chosen.iter().any(is_custom) {
        chosen.extend(custom);
    }
    if names_own(selection) && !has_own {
        return Err(Error::usage(format!(
            "--rules {selection}: the target has no mutator of its own that could be called: define LLVMFuzzerCustomMutator in \
             the harness, build it without QUAGMIRE_DRIVER=1, give --custom-mutator, or leave custom out"
        )));
    }
    if chosen.is_empty() && !mutates(selection, !options.search.dict.is_empty(), has_own, has_choices(options)) {
        return Err(Error::usage(format!("--rules {selection}: nothing that makes mutants: add rules, or havoc")));
    }
    Ok(chosen)
}

/// Whether mutants may be made by choices: harnesses are not known to draw before they run.
fn has_choices(options: &Options) -> bool {
    options.search.choices != Mode::Off
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;
    use quagmire_base::error::ExitCode;

    /// Labels of the rules that are chosen for these options.
    fn chosen(options: &[&str]) -> Result<String> {
        let line = [&["fuzz", "-i", "a", "-o", "b"], options].concat();
        Ok(labels(&choose(&Options::try_parse_from(line).unwrap(), false)?))
    }

    fn labels(rules: &[Arc<dyn Rule>]) -> String {
        rules.iter().map(|rule| rule.label()).collect::<Vec<_>>().join(" ")
    }

    /// Labels of the built-in rules of these families.
    fn labels_of(families: &[char]) -> String {
        let rules = built_in_rules().into_iter().filter(|rule| rule.label().starts_with(families));
        labels(&rules.collect::<Vec<_>>())
    }

    #[test]
    fn all_rules_are_used_unless_a_type_or_rules_are_asked_for() {
        assert_eq!(chosen(&[]).unwrap(), labels_of(&['T', 'B', 'D', 'V']));
        for options in [&["--input-type", "binary"][..], &["--rules", "B"]] {
            assert_eq!(chosen(options).unwrap(), labels_of(&['B']));
        }
        assert_eq!(chosen(&["--input-type", "text"]).unwrap(), labels_of(&['T', 'V']));
    }

    #[test]
    fn custom_rules_are_always_used_unless_some_are_selected() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rules.yaml");
        std::fs::write(&file, "a: b\nc: d\n").unwrap();
        let file = file.to_str().unwrap();
        let with = |options: &[&str]| chosen(&[&["--regex-rules", file], options].concat());
        assert_eq!(with(&["--input-type", "binary"]).unwrap(), labels_of(&['B']) + " R.1 R.2");
        assert_eq!(with(&["--rules", "T.1"]).unwrap(), "T.1 R.1 R.2");
        assert_eq!(with(&["--rules", "havoc"]).unwrap(), "R.1 R.2");
        assert_eq!(with(&["--rules", "R.2,T.1"]).unwrap(), "T.1 R.2");
        assert_eq!(with(&["--rules", "R"]).unwrap(), "R.1 R.2");
        let without = |rules| chosen(&["--rules", rules]);
        assert_eq!(without("splice,tokens").unwrap(), "");
        for nothing in ["deterministic", "tokens"] {
            let message = without(nothing).unwrap_err().message;
            assert!(message.contains("nothing that makes mutants"), "{message}");
        }
        let unknown = with(&["--rules", "R.3"]).unwrap_err().message;
        assert!(unknown.starts_with("--rules: there is no rule 'R.3': known are T.1-T."), "{unknown}");
        assert!(unknown.ends_with(", R.1-R.2"), "{unknown}");
        std::fs::write(file, "a: b\n(c: d\n").unwrap();
        let bad = with(&[]).unwrap_err();
        assert_eq!(bad.code, ExitCode::Usage);
        assert!(bad.message.contains("rules.yaml:2: `(c`: unclosed group"), "{bad}");
    }
}
