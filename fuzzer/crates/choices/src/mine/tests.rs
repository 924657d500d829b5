//! Tests of mining with recognisers that are functions.

use super::{
    rules::{Item, Rules},
    *,
};

fn examples(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// Mines a grammar of examples that the function accepts, and looks at its precision and at what it describes.
#[track_caller]
fn check(texts: &[&str], accepts: fn(&[u8]) -> bool, precision: f64, described: &[&str], others: &[&str]) {
    let mined = mine(examples(texts), 1, &mut |input: &[u8]| Some(accepts(input))).unwrap();
    assert!(mined.precision > precision, "{}", mined.json);
    for (text, is_in) in described.iter().map(|text| (text, true)).chain(others.iter().map(|text| (text, false))) {
        assert_eq!(mined.grammar.parse(text.as_bytes()).is_some(), is_in, "{text}: {}", mined.json);
    }
}

/// Accepts lists of lists and of numbers in round brackets, `(1,(22,3))`.
fn is_list(input: &[u8]) -> bool {
    let (mut depth, mut needs_item) = (0_u32, true);
    let mut last = b' ';
    for (at, &byte) in input.iter().enumerate() {
        match byte {
            b'(' if needs_item && last != b')' => depth += 1,
            b')' if depth > 0 && !needs_item => depth -= 1,
            b',' if depth > 0 && !needs_item => needs_item = true,
            b'0'..=b'9' if depth > 0 && (needs_item || last.is_ascii_digit()) => needs_item = false,
            _ => return false,
        }
        last = byte;
        if depth == 0 && at + 1 < input.len() {
            return false;
        }
    }
    depth == 0 && !input.is_empty()
}

#[test]
fn one_seed_makes_one_grammar_in_the_form_of_the_fuzzing_book() {
    let grammar = || mine(examples(&["(1)", "(2,34)", "((5),6)"]), 7, &mut |input: &[u8]| Some(is_list(input)));
    let [one, other] = [grammar(), grammar()].map(|mined| mined.unwrap().json);
    assert_eq!(one, other);
    let parsed: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&one).unwrap();
    assert!(parsed.contains_key("<start>"));
    for alternatives in parsed.values() {
        for item in alternatives.as_array().unwrap().iter().flat_map(|alternative| alternative.as_array().unwrap()) {
            let item = item.as_str().unwrap();
            assert!(!item.starts_with('<') || parsed.contains_key(item), "{item} is not defined");
        }
    }
}

#[test]
fn a_budget_that_is_used_up_leaves_a_grammar_of_what_is_known() {
    let mut left = 500;
    let mut ask = |input: &[u8]| {
        left -= 1;
        (left > 0).then(|| is_list(input))
    };
    let mined = mine(examples(&["(1)", "(2,34)", "((5),6)"]), 1, &mut ask).unwrap();
    assert!(mined.is_cut_short);
    assert!(mined.grammar.parse(b"(2,34)").is_some(), "{}", mined.json);
}

#[test]
fn a_cycle_among_rules_is_cut_where_it_can_be() {
    let text = |text: &str| Item::Text(text.into());
    let mut rules = Rules::default();
    rules.add("start", vec![vec![Item::Rule(1)]]);
    rules.add("one", vec![vec![Item::Rule(2)], vec![text("x"), Item::Rule(1)]]);
    rules.add("two", vec![vec![Item::Rule(1)], vec![text("y")]]);
    rules.simplify();
    let grammar = rules.grammar().unwrap();
    for accepted in ["y", "xy", "xxy"] {
        assert!(grammar.parse(accepted.as_bytes()).is_some(), "{accepted}: {rules:?}");
    }
    assert!(grammar.parse(b"x").is_none());
}

#[test]
fn what_is_written_is_what_a_grammar_is_loaded_from() {
    let text = |text: &str| Item::Text(text.into());
    let mut rules = Rules::default();
    rules.add("start", vec![vec![text("<b>"), Item::Rule(1), text("</b>")], vec![text("<")], vec![text("\"\\\u{e9}")]]);
    rules.add("part", vec![vec![Item::Rule(2), Item::Rule(1), Item::Rule(2)], vec![text("x")]]);
    rules.add("part", vec![vec![], vec![text(" ")]]);
    rules.simplify();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mined.json");
    std::fs::write(&path, rules.json()).unwrap();
    let grammar = Grammar::load(&path).unwrap();
    for accepted in ["<b>x</b>", "<", "\"\\\u{e9}"] {
        assert!(grammar.parse(accepted.as_bytes()).is_some(), "{accepted}: {}", rules.json());
    }
    for rejected in ["x", "<b>", "<b></b>"] {
        assert!(grammar.parse(rejected.as_bytes()).is_none(), "{rejected}: {}", rules.json());
    }
}

/// Accepts `<a>` to `</a>` with others in it, and `<a/>`, for the names `a` and `bc`.
fn is_nested(input: &[u8]) -> bool {
    let mut text = std::str::from_utf8(input).unwrap_or("?");
    let mut open = Vec::new();
    while let Some(inner) = text.strip_prefix('<') {
        let Some((tag, rest)) = inner.split_once('>') else { return false };
        let (start, name, is_single) = (!tag.starts_with('/'), tag.trim_matches('/'), tag.ends_with('/'));
        if !matches!(name, "a" | "bc") || tag.len() > name.len() + 1 || (!start && open.pop() != Some(name)) {
            return false;
        }
        if start && !is_single {
            open.push(name);
        }
        text = rest;
        if open.is_empty() {
            break;
        }
    }
    open.is_empty() && text.is_empty() && !input.is_empty()
}

/// Accepts points of two numbers, with commas between them, in brackets: `(1 2,-3 4.5)`.
fn is_points(input: &[u8]) -> bool {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = |text: &str| {
        let text = text.strip_prefix('-').unwrap_or(text);
        text.split_once('.').map_or(is_digits(text), |(whole, part)| is_digits(whole) && is_digits(part))
    };
    let is_point = |text: &str| text.split_whitespace().count() == 2 && text.split_whitespace().all(is_number);
    let text = std::str::from_utf8(input).unwrap_or("?");
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    inner.is_some_and(|inner| inner.split(',').all(is_point))
}

/// Accepts lines of a name, `=` and any text, and of a name in square brackets.
fn is_settings(input: &[u8]) -> bool {
    let is_name = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_line = |line: &str| match line.strip_prefix('[') {
        Some(section) => section.strip_suffix(']').is_some_and(is_name),
        None => line.is_empty() || line.split_once('=').is_some_and(|(key, _)| is_name(key)),
    };
    std::str::from_utf8(input).is_ok_and(|text| text.is_ascii() && text.lines().all(is_line))
}

#[test]
fn what_is_mined_describes_more_than_the_examples_and_not_everything() {
    let lists = ["(1)", "(2,34)", "(5,(6,78),9)", "((1))", "((12,3),(4))"];
    let more = ["(0)", "(((123456)),7,8,9,10,11)", "(1,(2,(3,(4,(5)))))"];
    check(&lists, is_list, 0.95, &more, &["", "()", "(1", "(a)", "1,2"]);
    // forms of one name are tried with the other
    let more = ["<bc/>", "<a></a>", "<bc></bc>", "<bc><bc><a><bc/></a></bc></bc>"];
    check(&["<a><bc/></a>", "<bc><a></a><bc></bc></bc>"], is_nested, 0.0, &more, &["<a></bc>"]);
    // numbers take the sign of one and the fraction of another, and stay apart
    let more = ["(-12.5 3)", "(4 -0.75,8 123)", "(1 2,3 4,5 6)"];
    check(&["(1 2)", "(7.25 3,-4 11)", "(0 5)", "(-8 9, 6 1.5)"], is_points, 0.95, &more, &["(12)"]);
    // lines stay apart where a value may be any text
    let settings = ["[a]\nkey=1 2\n[b]\n", "key=value\n\nk=z", "[part]\n[other]\nx=", "y=some words\nz=7"];
    check(&settings, is_settings, 0.9, &["k=a+b;[c]", "[q]\nlong=7.5%\n[r]\n"], &["[a][b]"]);
}
