//! Tests of all rules, and how others see what a rule makes.

use libafl_bolts::rands::StdRand;
use proptest::prelude::*;

use super::text::{lines, whitespace, words};
use super::{BUILT_IN, BuiltIn, Rule, select::split};

/// Number of seeds of [`made`].
pub(crate) const SEEDS: usize = 500;

/// Results of a rule on `text` with the first seeds, without those that are as before.
pub(crate) fn made(rule: &dyn Rule, text: &[u8], limit: usize) -> Vec<Vec<u8>> {
    let one = |seed| {
        let mut bytes = text.to_vec();
        let changed = rule.apply(&mut bytes, limit, &mut StdRand::with_seed(seed));
        assert!(changed || bytes == text);
        changed.then_some(bytes)
    };
    (0..SEEDS as u64).filter_map(one).collect()
}

/// The same of a rule that always changes something.
pub(crate) fn always_made(rule: &dyn Rule, text: &[u8], limit: usize) -> Vec<Vec<u8>> {
    let made = made(rule, text, limit);
    assert_eq!(made.len(), SEEDS);
    made
}

/// Generates typical inputs of rules: arbitrary bytes; text of few letters, numbers and many blanks and newlines;
/// mutated XML.
fn inputs() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop::sample::select(&b"ab019.-  \t\r\n\n\0\xff"[..]);
    prop_oneof![
        1 => prop::collection::vec(any::<u8>(), 0..300),
        3 => prop::collection::vec(byte, 0..300),
        2 => prop::collection::vec(piece_of_xml(), 0..40).prop_map(|pieces| pieces.concat()),
    ]
}

fn piece_of_xml() -> impl Strategy<Value = Vec<u8>> {
    let tag = "<(/?[ab:é]{1,2}|[ab]( {0,2}[a-c]( ?= ?('[^']?'|\"[^\"]{0,3}\"|[a1/]{0,2}))?){0,3} ?/?)>";
    let other = prop::sample::select(&["<!-- a -->", "<![CDATA[<a>]]>", "<?a b='1'?>", "<!DOCTYPE a [<!ELEMENT a>]>"]);
    prop_oneof![
        6 => tag.prop_map(String::into_bytes),
        1 => other.prop_map(|text| text.as_bytes().to_vec()),
        3 => prop::collection::vec(prop::sample::select(&b"<>/='\" -!?[]a\n\xc3"[..]), 0..4),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 2000 } else { 20_000 }))]

    #[test]
    fn a_rule_changes_the_input_within_the_limit_or_says_that_it_did_not(
        before in inputs(), limit in 0_usize..700, seed in any::<u64>(), which in 0..BUILT_IN.len(),
    ) {
        let rule = BUILT_IN[which];
        let mut bytes = before.clone();
        let changed = rule.apply(&mut bytes, limit, &mut StdRand::with_seed(seed));
        prop_assert_eq!(changed, bytes != before, "{} lied", rule.label());
        let mut again = before.clone();
        rule.apply(&mut again, limit, &mut StdRand::with_seed(seed));
        prop_assert_eq!(&again, &bytes, "{} does not repeat", rule.label());
        prop_assert!(limit == 0 || bytes.len() <= limit, "{} ignored the limit", rule.label());
        prop_assert!(!bytes.is_empty() || before.is_empty() || rule.label() == "T.13");
    }

    #[test]
    fn text_rules_add_no_newline_at_the_end(
        text in "[ab \n]{1,40}[ab]", seed in any::<u64>(), rule in prop::sample::select(KEEP_THE_END),
    ) {
        let mut bytes = text.into_bytes();
        rule.apply(&mut bytes, 100, &mut StdRand::with_seed(seed));
        prop_assert!(!bytes.ends_with(b"\n"), "{}", rule.label());
    }
}

/// The text rules that keep the end of the last line: T.13 to T.15 may remove it, and T.4 may draw a newline.
const KEEP_THE_END: &[&BuiltIn] = &[
    &lines::DOUBLE_LINE,
    &lines::DUPLICATE_LINE,
    &lines::DIVIDE_LINE,
    &words::REPEAT_WORD,
    &words::SORT_LINE,
    &words::SORT_LINE_IN_REVERSE,
    &whitespace::APPEND_WHITESPACE,
    &whitespace::PREPEND_WHITESPACE,
    &whitespace::INSERT_WHITESPACE,
    &whitespace::REPEAT_WHITESPACE,
    &words::BLOAT_WORDS,
];

#[test]
fn the_example_of_each_rule_is_what_it_does_for_some_seed() {
    for rule in BUILT_IN {
        let (before, after) = rule.example().expect("built-in rules have examples");
        let found = (0..500_000).any(|seed| {
            let mut bytes = before.to_vec();
            rule.apply(&mut bytes, 100, &mut StdRand::with_seed(seed)) && bytes == after
        });
        assert!(found, "{} never makes {after:?} of {before:?}", rule.label());
    }
}

#[test]
fn families_are_in_order_and_their_rules_are_numbered_from_1() {
    let mut families = Vec::new();
    for family in BUILT_IN.chunk_by(|a, b| split(a.label()).0 == split(b.label()).0) {
        let letter = split(family[0].label()).0;
        for (number, rule) in (1..).zip(family) {
            assert_eq!(rule.label(), format!("{letter}.{number}"));
        }
        families.push(letter);
    }
    assert_eq!(families, ["T", "B", "D", "V"]);
}

#[test]
fn an_empty_input_grows_by_the_rules_that_insert_something_new() {
    let grows: Vec<&str> = BUILT_IN
        .iter()
        .filter(|rule| rule.apply(&mut Vec::new(), 100, &mut StdRand::with_seed(0)))
        .map(|rule| rule.label())
        .collect();
    assert_eq!(grows, ["T.2", "T.3", "T.8", "T.9", "T.10", "B.2", "B.3"]);
}

#[test]
fn no_rule_takes_long_for_a_megabyte_of_fifty_thousand_lines() {
    let lines: Vec<u8> = b"some words 12 3 \0 in\n".repeat(50_000);
    let mut one_line = lines.clone();
    one_line.iter_mut().filter(|byte| **byte == b'\n').for_each(|byte| *byte = b' ');
    let newlines = vec![b'\n'; 1_000_000];
    for text in [&lines, &one_line, &newlines] {
        for rule in BUILT_IN {
            apply_often(*rule, text, 20);
        }
    }
}

/// Inputs that could make a scanner quadratic, since it may search the rest of the input again and again.
#[test]
fn no_rule_takes_long_for_a_megabyte_of_tags_and_pieces_of_them() {
    let pieces = [
        "<a b='1'>",
        "<a>",
        "</a>",
        "<a b=\"",
        "<a b='\"",
        "<a b='<c d=\"",
        "<a =",
        "<a ",
        "<a / ",
        "<",
        "</",
        "<!--",
        "<!-->",
        "<!-- <a>-",
        "<![CDATA[",
        "<![CDATA[>",
        "<?",
        "<?>",
        "<!DOCTYPE a [",
        "<!a '",
        "<![",
        "\"",
        "='\"",
        "<a 'b'",
    ];
    let mut documents: Vec<Vec<u8>> =
        pieces.iter().map(|piece| piece.repeat(1_000_000 / piece.len()).into_bytes()).collect();
    documents.push(format!("<a {}>", "b='1' ".repeat(160_000)).into_bytes());
    documents.push(format!("<a {}>", "b ".repeat(500_000)).into_bytes());
    documents.push(format!("<a b={}>", " ".repeat(1_000_000)).into_bytes());
    for document in &documents {
        for rule in BUILT_IN.iter().filter(|rule| rule.label().starts_with('D')) {
            apply_often(*rule, document, 5);
        }
    }
}

fn apply_often(rule: &dyn Rule, text: &[u8], times: usize) {
    let mut rand = StdRand::with_seed(1);
    for _ in 0..times {
        let mut bytes = text.to_vec();
        let changed = rule.apply(&mut bytes, 2_000_000, &mut rand);
        assert!(bytes.len() <= 2_000_000);
        assert!(changed || bytes == text);
    }
}
