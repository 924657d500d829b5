//! Choice of the rules of a campaign: those of `--rules`, or those for the type of its seeds, and those of
//! `--regex-rules`.

use std::{cmp::Reverse, sync::Arc};

use crate::options::Options;
use quagmire_base::error::{Error, Result};
use quagmire_base::seeds::{Seed, Seeds};
use quagmire_mutators::{InputType, Rule, built_in_rules, custom, rules_for, select_rules};
use quagmire_search::choices::mode::Mode;
use quagmire_search::stages::operators::{mutates, names_own, rules_in};

/// Number of seeds of another type that a warning names.
const MOST_NAMED: usize = 3;

/// Chooses the rules. Without `--rules` and `--input-type`, adds a warning to the seeds if they are of several types.
///
/// `has_own` says whether the harness has a mutator of its own, which is no rule. Custom rules are all used, unless
/// `--rules` names some of them.
///
/// # Errors
/// A usage error for a rule that is not known, or a file of rules that cannot be used.
pub fn choose(options: &Options, has_own: bool, seeds: &mut Seeds) -> Result<Vec<Arc<dyn Rule>>> {
    let custom = custom::load(&options.regex_rules)?;
    let mut rules = built_in_rules();
    let Some(selection) = &options.rules else {
        let input_type = options.input_type.unwrap_or_else(|| type_of(seeds));
        return Ok(rules_for(input_type, &rules).into_iter().chain(custom).collect());
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
             the harness, build it without QUAGMIRE_DRIVER=1, or leave custom out"
        )));
    }
    if chosen.is_empty() && !mutates(selection, !options.dictionaries.is_empty(), has_own, has_choices(options)) {
        return Err(Error::usage(format!("--rules {selection}: nothing that makes mutants: add rules, or havoc")));
    }
    Ok(chosen)
}

/// Whether mutants may be made by choices: harnesses are not known to draw before they run.
fn has_choices(options: &Options) -> bool {
    options.choices != Mode::Off
}

/// Type of most seeds; of several types with as many, the first. Empty seeds count only if all are empty.
fn type_of(seeds: &mut Seeds) -> InputType {
    let detect = |seed: &Seed| InputType::detect(&seed.bytes, &seed.path);
    let filled: Vec<&Seed> = seeds.inputs.iter().filter(|seed| !seed.bytes.is_empty()).collect();
    if filled.is_empty() {
        return seeds.inputs.first().map_or(InputType::Binary, detect);
    }
    let mut types: Vec<(InputType, Vec<&Seed>)> = Vec::new();
    for &seed in &filled {
        let found = detect(seed);
        match types.iter_mut().find(|(known, _)| *known == found) {
            Some((_, same)) => same.push(seed),
            None => types.push((found, vec![seed])),
        }
    }
    // the sort is stable: of types with as many seeds, the first stays first
    types.sort_by_key(|(_, same)| Reverse(same.len()));
    let most = types[0].0;
    let others: Vec<String> = types[1..]
        .iter()
        .flat_map(|(found, same)| same.iter().map(move |seed| format!("{} ({found})", seed.path.display())))
        .collect();
    let warning = warning(most, &others, filled.len());
    seeds.warnings.extend(warning);
    most
}

/// Warning that names seeds of other types; `None` if there are none.
fn warning(most: InputType, others: &[String], all: usize) -> Option<String> {
    let (named, more) = others.split_at(MOST_NAMED.min(others.len()));
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    if named.is_empty() {
        return None;
    }
    let named = named.join(", ");
    let (are, count) = (if others.len() == 1 { "is" } else { "are" }, others.len());
    Some(format!(
        "{count} of {all} seeds {are} not {most}: {named}{more}; used as well, with the rules for {most} \
         (--input-type chooses others)"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Command, parse_for_quagmire};
    use quagmire_base::error::ExitCode;

    fn seeds(files: &[(&str, &str)]) -> Seeds {
        let seed = |(path, text): &(&str, &str)| Seed { path: path.into(), bytes: text.as_bytes().to_vec() };
        Seeds { inputs: files.iter().map(seed).collect(), warnings: Vec::new() }
    }

    /// Labels of the rules that are chosen for these seeds and options.
    fn chosen(seeds: &mut Seeds, options: &[&str]) -> Result<String> {
        let line = [&["quagmire", "fuzz", "-i", "a", "-o", "b"], options, &["--", "./program"]].concat();
        let Ok(Command::Fuzz(args)) = parse_for_quagmire(line, None) else { panic!("not a fuzz command") };
        let rules = choose(&Options::resolve(args)?, false, seeds)?;
        Ok(rules.iter().map(|rule| rule.label()).collect::<Vec<_>>().join(" "))
    }

    const TEXT: (&str, &str) = ("note.txt", "a few words\n");
    const XML: (&str, &str) = ("doc.xml", "<?xml version='1.0'?><a/>");
    const BINARY: (&str, &str) = ("blob", "\0\u{1}\u{2}");
    const FOR_BINARY: &str = "B.1 B.2 B.3 B.4 B.5 B.6";

    #[test]
    fn the_type_of_most_seeds_decides_and_the_others_are_named() {
        let mut mixed = seeds(&[BINARY, TEXT, ("b.txt", "b"), XML]);
        assert!(chosen(&mut mixed, &[]).unwrap().ends_with("T.15 V.1 V.2 V.3 V.4"));
        let expected = "2 of 4 seeds are not text: blob (binary), doc.xml (xml); used as well, with the rules for text \
                        (--input-type chooses others)";
        assert_eq!(mixed.warnings, [expected]);
        let mut many = seeds(&[TEXT, XML, XML, XML, XML, XML, BINARY, BINARY, BINARY]);
        assert!(chosen(&mut many, &[]).unwrap().ends_with("D.4 V.1 V.2 V.3 V.4"));
        let expected = "4 of 9 seeds are not xml: blob (binary), blob (binary), blob (binary) and 1 more; ";
        assert!(many.warnings[0].starts_with(expected), "{:?}", many.warnings);
        let mut one = seeds(&[XML, TEXT, XML]);
        chosen(&mut one, &[]).unwrap();
        assert!(one.warnings[0].starts_with("1 of 3 seeds is not xml: note.txt (text); "), "{:?}", one.warnings);
        assert_eq!(chosen(&mut seeds(&[BINARY, TEXT]), &[]).unwrap(), FOR_BINARY);
    }

    #[test]
    fn seeds_of_one_type_or_rules_that_are_asked_for_need_no_warning() {
        for options in [&["--input-type", "binary"][..], &["--rules", "B"]] {
            let mut mixed = seeds(&[TEXT, BINARY, XML]);
            assert_eq!(chosen(&mut mixed, options).unwrap(), FOR_BINARY);
            assert!(mixed.warnings.is_empty());
        }
        let mut same = seeds(&[("a.bin", ""), TEXT, ("b", "b b")]);
        assert!(chosen(&mut same, &[]).unwrap().starts_with("T.1"));
        assert!(same.warnings.is_empty());
        assert!(chosen(&mut seeds(&[("a.svg", "")]), &[]).unwrap().ends_with("D.4 V.1 V.2 V.3 V.4"));
    }

    #[test]
    fn custom_rules_are_always_used_unless_some_are_selected() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rules.yaml");
        std::fs::write(&file, "a: b\nc: d\n").unwrap();
        let file = file.to_str().unwrap();
        let with = |options: &[&str]| chosen(&mut seeds(&[BINARY]), &[&["--regex-rules", file], options].concat());
        assert_eq!(with(&[]).unwrap(), format!("{FOR_BINARY} R.1 R.2"));
        assert_eq!(with(&["--rules", "T.1"]).unwrap(), "T.1 R.1 R.2");
        assert_eq!(with(&["--rules", "havoc"]).unwrap(), "R.1 R.2");
        assert_eq!(with(&["--rules", "R.2,T.1"]).unwrap(), "T.1 R.2");
        assert_eq!(with(&["--rules", "R"]).unwrap(), "R.1 R.2");
        let without = |rules| chosen(&mut seeds(&[BINARY]), &["--rules", rules]);
        assert_eq!(without("splice,tokens").unwrap(), "");
        for nothing in ["deterministic", "tokens"] {
            let message = without(nothing).unwrap_err().message;
            assert!(message.contains("nothing that makes mutants"), "{message}");
        }
        let unknown = with(&["--rules", "R.3"]).unwrap_err();
        assert_eq!(
            unknown.message,
            "--rules: there is no rule 'R.3': known are T.1-T.15, B.1-B.6, D.1-D.4, V.1-V.4, R.1-R.2"
        );
        std::fs::write(file, "a: b\n(c: d\n").unwrap();
        let bad = with(&[]).unwrap_err();
        assert_eq!(bad.code, ExitCode::Usage);
        assert!(bad.message.contains("rules.yaml:2: `(c`: unclosed group"), "{bad}");
    }
}
