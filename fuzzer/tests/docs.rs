//! Test that the generated tables of the book are up to date. These are the blocks in `docs/src` between
//! `<!-- generated: NAME -->` and `<!-- end -->`.
//!
//! `QUAGMIRE_UPDATE_DOCS=1 cargo test -p quagmire --test docs` writes them.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use clap::Arg;
use quagmire::{
    commands::quagmire,
    libfuzzer::flags::{FLAGS, FlagValue},
};
use quagmire_cost::resource::Resource;
use quagmire_mutators::{BUILT_IN, Rule};

const BEGIN: &str = "<!-- generated: ";
const END: &str = "<!-- end -->";

/// Families of rules, each of which has a block of its own.
const FAMILIES: [&str; 4] = ["T", "V", "B", "D"];

/// Text of a block; `None` for an unknown name.
fn generated(name: &str) -> Option<String> {
    match name.split_once(' ') {
        None if name == "rules" => Some(rules(|_| true)),
        None if name == "resources" => Some(resources()),
        None if name == "formats" => Some(formats()),
        None if name == "libfuzzer" => Some(flags()),
        Some(("rules", family)) if FAMILIES.contains(&family) => Some(rules(|label| label.starts_with(family))),
        Some(("options", command)) => options(command),
        _ => None,
    }
}

fn rules(is_wanted: impl Fn(&str) -> bool) -> String {
    let mut text = "| rule | name | example | aims at |\n|---|---|---|---|\n".to_owned();
    for rule in BUILT_IN.iter().filter(|rule| is_wanted(rule.label())) {
        let shown = if rule.label().starts_with('B') { hexadecimal } else { visible };
        let example = rule.example().map(|(before, after)| format!("`{}` → `{}`", shown(before), shown(after)));
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} |",
            rule.label(),
            rule.name(),
            example.unwrap_or_default(),
            cell(rule.aim())
        );
    }
    text
}

/// Text with leading, trailing and repeated blanks, tabs and line feeds made visible.
fn visible(bytes: &[u8]) -> String {
    let text: Vec<char> = String::from_utf8_lossy(bytes).chars().collect();
    let is_plain = |at: usize| text.get(at).is_some_and(|c| !c.is_whitespace());
    let one = |(at, &c): (usize, &char)| match c {
        ' ' if at > 0 && is_plain(at - 1) && is_plain(at + 1) => ' ',
        ' ' => '␣',
        '\t' => '⇥',
        '\n' => '⏎',
        c => c,
    };
    cell(&text.iter().enumerate().map(one).collect::<String>())
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

fn resources() -> String {
    let mut text =
        "| resource | what it is | unit | the same in every run | recorded |\n|---|---|---|---|---|\n".to_owned();
    for resource in Resource::ALL {
        let unit = if resource.unit().name().is_empty() { "-" } else { resource.unit().name() };
        let is_same = if resource.is_deterministic() { "yes" } else { "no" };
        let recorded = if resource.is_always_measured() { "always" } else { "if `--cost` names it" };
        let _ = writeln!(text, "| `{resource}` | {} | {unit} | {is_same} | {recorded} |", resource.describe().meaning);
    }
    text
}

/// Formats of `report`, as its help text has them.
fn formats() -> String {
    let quagmire = quagmire();
    let report = quagmire.find_subcommand("report").expect("a command");
    let format = report.get_arguments().find(|arg| arg.get_id() == "format").expect("an option");
    let mut text = "| `--format` | output |\n|---|---|\n".to_owned();
    for value in format.get_possible_values() {
        let help = value.get_help().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(text, "| `{}` | {} |", value.get_name(), cell(&help));
    }
    text
}

/// Flags of libFuzzer's command line: those with an effect, then the others.
fn flags() -> String {
    let mut text = "| flag | default | effect |\n|---|---|---|\n".to_owned();
    for flag in FLAGS {
        let Some(effect) = flag.effect else { continue };
        let default = if let FlagValue::Number(default) = flag.default { default.to_string() } else { String::new() };
        let _ = writeln!(text, "| `-{}` | {default} | {} |", flag.name, cell(effect));
    }
    let ignored = FLAGS.iter().filter(|flag| flag.effect.is_none());
    let ignored: Vec<String> = ignored.map(|flag| format!("`-{}`", flag.name)).collect();
    text + "\nAccepted, without effect: " + &ignored.join(", ") + ".\n"
}

/// Options of a command, under the headings of its help text.
fn options(name: &str) -> Option<String> {
    let quagmire = quagmire();
    let named = |all: &clap::Command, word: &str| all.get_subcommands().find(|one| one.get_name() == word).cloned();
    let command = name.split(' ').try_fold(quagmire, |command, word| named(&command, word))?;
    let shown: Vec<&Arg> = command.get_arguments().filter(|arg| !arg.is_positional() && !arg.is_hide_set()).collect();
    let mut headings: Vec<Option<&str>> = Vec::new();
    for heading in shown.iter().map(|arg| arg.get_help_heading()) {
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    let mut text = String::new();
    for heading in headings {
        if let Some(heading) = heading {
            let _ = writeln!(text, "### {heading}\n");
        }
        text += "| option | default | effect |\n|---|---|---|\n";
        for arg in shown.iter().filter(|arg| arg.get_help_heading() == heading) {
            text += &option(arg);
        }
        text.push('\n');
    }
    Some(text.trim_end().to_owned() + "\n")
}

fn option(arg: &Arg) -> String {
    let names = [arg.get_short().map(|short| format!("-{short}")), arg.get_long().map(|long| format!("--{long}"))];
    let values = if arg.get_action().takes_values() { arg.get_value_names().unwrap_or_default() } else { &[] };
    let repeated = if arg.get_num_args().is_some_and(|number| number.max_values() > 1) { "..." } else { "" };
    let values: String = values.iter().map(|value| format!(" {value}{repeated}")).collect();
    let names = names.into_iter().flatten().collect::<Vec<_>>().join("`, `");
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    // where clap does not know the default, the help text tells it
    let (mut help, told) = match help.rsplit_once(" [default: ") {
        Some((help, default)) => (help.to_owned(), Some(default.trim_end_matches(']').to_owned())),
        None => (help, None),
    };
    let choices: Vec<_> = arg.get_possible_values();
    if arg.get_action().takes_values() && !choices.is_empty() {
        let names: Vec<&str> = choices.iter().map(|choice| choice.get_name()).collect();
        let _ = write!(help, ": {}", names.join(", "));
    }
    let takes_values = arg.get_action().takes_values();
    let known =
        arg.get_default_values().first().filter(|_| takes_values).map(|value| value.to_string_lossy().into_owned());
    format!("| `{names}{values}` | {} | {} |\n", cell(&known.or(told).unwrap_or_default()), cell(&help))
}

/// Text with the characters escaped that would end a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// Markdown files below a folder.
fn chapters(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("docs/src").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(chapters(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Chapter with its blocks replaced by the generated ones, and the names of these.
fn up_to_date(path: &Path, text: &str) -> (String, Vec<String>) {
    let (mut whole, mut names, mut rest) = (String::new(), Vec::new(), text);
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let (name, after) = after.split_once(" -->\n").expect("the end of a marker");
        let (_, after) = after.split_once(END).unwrap_or_else(|| panic!("{}: no {END} after {name}", path.display()));
        let block = generated(name).unwrap_or_else(|| panic!("{}: nothing is generated for {name}", path.display()));
        let _ = write!(whole, "{before}{BEGIN}{name} -->\n\n{}\n\n{END}", block.trim_end());
        names.push(name.to_owned());
        rest = after;
    }
    (whole + rest, names)
}

#[test]
fn tables_in_the_book_are_those_of_the_code() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/src");
    let update = std::env::var_os("QUAGMIRE_UPDATE_DOCS").is_some_and(|value| value == "1");
    let (mut old, mut all) = (Vec::new(), BTreeSet::new());
    for path in chapters(&folder) {
        let text = fs::read_to_string(&path).expect("a chapter");
        let (wanted, names) = up_to_date(&path, &text);
        all.extend(names);
        if wanted == text {
            continue;
        }
        if update {
            fs::write(&path, wanted).expect("a chapter that can be written");
        } else {
            old.push(path.display().to_string());
        }
    }
    assert!(
        old.is_empty(),
        "tables in {} are not those of the code: QUAGMIRE_UPDATE_DOCS=1 cargo test -p quagmire --test docs writes them",
        old.join(", ")
    );
    let has_rules = all.contains("rules") || FAMILIES.iter().all(|family| all.contains(&format!("rules {family}")));
    assert!(has_rules, "the book does not show all rules: {all:?}");
    for name in ["resources", "formats", "libfuzzer", "options fuzz", "options replay", "options report"] {
        assert!(all.contains(name), "the book has no block `{BEGIN}{name} -->`");
    }
}

#[test]
fn the_schema_of_summaries_is_that_of_the_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/src/summary.schema.json");
    let schema = quagmire_results::testing::schema();
    if std::env::var_os("QUAGMIRE_UPDATE_DOCS").is_some_and(|value| value == "1") {
        fs::write(&path, schema).expect("a schema that can be written");
    } else {
        let known = fs::read_to_string(&path).expect("the schema");
        assert!(known == schema, "QUAGMIRE_UPDATE_DOCS=1 cargo test -p quagmire --test docs writes {}", path.display());
    }
}

#[test]
fn every_rule_is_of_a_family_that_has_a_table() {
    for rule in BUILT_IN {
        assert!(FAMILIES.iter().any(|family| rule.label().starts_with(family)), "{}", rule.label());
    }
}

#[test]
fn blanks_that_would_be_overlooked_are_shown() {
    assert_eq!(visible(b"a b  c\td \n"), "a b␣␣c⇥d␣⏎");
    assert_eq!(visible(b"a|b"), "a\\|b");
}
