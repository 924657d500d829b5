//! Tests of custom rules and of rule files that are refused.

use std::collections::BTreeSet;
use std::path::PathBuf;

use proptest::prelude::*;

use super::*;
use quagmire_base::error::ExitCode;

fn rule(pattern: &str, replacement: &str) -> CustomRule {
    CustomRule::new(1, pattern, replacement).unwrap()
}

/// All results that a rule produces from a text.
fn made(pattern: &str, replacement: &str, text: &[u8]) -> BTreeSet<Vec<u8>> {
    crate::tests::made(&rule(pattern, replacement), text, 100).into_iter().collect()
}

#[track_caller]
fn makes(pattern: &str, replacement: &str, text: &[u8], expected: &[&[u8]]) {
    let expected: BTreeSet<Vec<u8>> = expected.iter().map(|bytes| bytes.to_vec()).collect();
    assert_eq!(made(pattern, replacement, text), expected);
}

#[test]
fn the_documented_rules_do_what_they_say() {
    makes("Back", "Front", b"the Back door", &[b"the Front door"]);
    makes(r"([0-9]{6}),([0-9]{2})", r"\1.\2", b"1234567,891", &[b"1234567.891"]);
    makes(r"(\w+)=(\w+)", r"\2=\1", b"key=value;", &[b"value=key;"]);
    makes(r"(\\w+)=(\\w+)", r"\\2=\\1", b"key=value;", &[b"value=key;"]);
    makes(r"(\w+)=(\w+)", "${2}=$1", b"key=value;", &[b"value=key;"]);
}

#[test]
fn one_to_all_matches_are_replaced() {
    makes(
        "a",
        "bc",
        b"a.a\na",
        &[b"bc.a\na", b"a.bc\na", b"a.a\nbc", b"bc.bc\na", b"bc.a\nbc", b"a.bc\nbc", b"bc.bc\nbc"],
    );
    makes("a+", "", b"aa baaa", &[b" baaa", b"aa b", b" b"]);
    makes("^", "> ", b"a\nb", &[b"> a\nb", b"a\n> b", b"> a\n> b"]);
    makes("x*", "-", b"a", &[b"-a", b"a-", b"-a-"]);
}

#[test]
fn a_rule_that_matches_nothing_or_changes_nothing_says_so() {
    makes("a", "b", b"xyz", &[]);
    makes("a", "a", b"aaa", &[]);
    makes(r"(\w)=(\w)", r"\2=\1", b"x=x\ny=y", &[]);
    makes(r"(\w)=(\w)", r"\2=\1", b"x=x\ny=z\nx=x", &[b"x=x\nz=y\nx=x"]);
    makes("a", "b", b"", &[]);
    // nothing would be left
    makes("a+", "", b"aaaa", &[]);
    // together, these changes would be none
    makes("(a)|b", "$1", b"ab", &[b"a"]);
}

#[test]
fn what_would_be_too_long_is_not_done() {
    let rule = rule("a", "aaaaa");
    for seed in 0..100 {
        let mut bytes = b"a a a a".to_vec();
        assert!(rule.apply(&mut bytes, 12, &mut StdRand::with_seed(seed)));
        assert_eq!(bytes.len(), 11);
        assert!(!rule.apply(&mut bytes, 12, &mut StdRand::with_seed(seed)));
        assert!(rule.apply(&mut bytes, 6, &mut StdRand::with_seed(seed)));
        assert!(bytes.len() <= 6);
    }
    let mut bytes = b"a".to_vec();
    assert!(!CustomRule::new(1, "a", &"$0".repeat(100_000)).unwrap().apply(&mut bytes, 10, &mut StdRand::with_seed(0)));
    assert!(!rule.apply(&mut bytes, 0, &mut StdRand::with_seed(0)));
}

#[test]
fn bytes_need_not_be_text() {
    makes(r".\xff", "ab", b"\xfe\xff\0", &[b"ab\0"]);
    makes("\u{e9}", "e", "caf\u{e9}\u{e9}".as_bytes(), &["cafe\u{e9}".as_bytes(), "caf\u{e9}e".as_bytes(), b"cafee"]);
    // needs Unicode: a class of letters, of which none is cut
    makes("[\u{e9}\u{e8}]", "e", "\u{e8}\u{ea}\u{c3}".as_bytes(), &["e\u{ea}\u{c3}".as_bytes()]);
    makes(r"\p{Lu}", "U", "\u{c9}\u{e9}".as_bytes(), &["U\u{e9}".as_bytes()]);
}

#[test]
fn a_match_can_be_longer_than_the_first_look() {
    let text = [b"<".repeat(10), b"a".repeat(5 * LOOKAHEAD), b">b".to_vec()].concat();
    let rule = rule("<a+>", "x");
    let mut bytes = text.clone();
    assert!(rule.apply(&mut bytes, 100_000, &mut StdRand::with_seed(0)));
    assert_eq!(bytes, b"<<<<<<<<<xb");
    let ends = CustomRule::new(1, "a$", "x").unwrap();
    let mut bytes = b"a".repeat(3 * LOOKAHEAD);
    assert!(ends.apply(&mut bytes, 100_000, &mut StdRand::with_seed(0)));
    assert!(bytes.ends_with(b"aax"));
    let word = CustomRule::new(1, r"a+\b", "x").unwrap();
    let mut bytes = b"a".repeat(3 * LOOKAHEAD);
    assert!(word.apply(&mut bytes, 100_000, &mut StdRand::with_seed(0)));
    assert_eq!(bytes, b"x");
    // a shorter match is not put off for what may come far behind
    let greedy = CustomRule::new(1, "ab(.*c)?", "x").unwrap();
    let mut bytes = [b"ab".to_vec(), b"-".repeat(3 * LOOKAHEAD), b"c".to_vec()].concat();
    assert!(greedy.apply(&mut bytes, 100_000, &mut StdRand::with_seed(0)));
    assert_eq!(bytes.len(), 1 + 3 * LOOKAHEAD + 1);
}

#[test]
fn matches_are_those_of_the_expression() {
    let text = [&b"aab aaab  b\nbaa\n".repeat(LOOKAHEAD / 4)[..], &b"a".repeat(2 * LOOKAHEAD), b"b\n\na"].concat();
    for pattern in ["a+", "a*", "b?", r"\b", r"(?s)a.*?b", r"\w+$", "^a?", r"(\w+) +(\w+)", r"a+b\n", r"\z", r"\A"] {
        let rule = rule(pattern, "");
        let found: Vec<Range<usize>> = rule.matches(&text, 0).map(|found| found.range).collect();
        let expected: Vec<Range<usize>> = rule.pattern.find_iter(&text).map(|found| found.range()).collect();
        assert_eq!(found, expected, "{pattern}");
    }
}

/// Expressions that read on after each match, to the end of the input unless something limits them.
#[test]
fn no_expression_takes_long_for_a_megabyte() {
    let text = b"a".repeat(1_000_000);
    for (pattern, replacement) in [
        ("a(.*b)?", "$1"),
        ("a", "b"),
        ("(a)(a)", "$2$1b"),
        ("a+?", "ab"),
        (".*[^a]|.", "x"),
        ("a+", "b"),
        ("", "x"),
        ("(a*)*b", ""),
    ] {
        let rule = rule(pattern, replacement);
        for seed in 0..4 {
            let mut bytes = text.clone();
            let changed = rule.apply(&mut bytes, 2_000_000, &mut StdRand::with_seed(seed));
            assert!(changed != (bytes == text) && bytes.len() <= 2_000_000);
        }
    }
}

#[test]
fn backslashes_are_single_or_all_doubled() {
    assert_eq!(undouble(r"(\\w+)\\."), r"(\w+)\.");
    assert_eq!(undouble(r"(\w+)\\"), r"(\w+)\\");
    assert_eq!(undouble(r"\\\\"), r"\\");
    assert_eq!(undouble("none"), "none");
    assert_eq!(undouble(r"\d"), r"\d");
}

#[test]
fn names_are_short_and_of_one_line() {
    assert_eq!(rule("a", "b").name(), "a -> b");
    let long = rule(&"ab\n".repeat(20), "\u{1b}[0m");
    assert_eq!(long.name(), r"ab\nab\nab\nab\nab\nab\nab\n... -> \u{1b}[0m");
    assert_eq!(long.label(), "R.1");
}

fn load_text(text: impl AsRef<[u8]>) -> Result<Vec<String>, String> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let loaded = load(&[file.path().to_owned()]);
    loaded.map(|rules| rules.iter().map(|rule| format!("{} {}", rule.label(), rule.name())).collect()).map_err(
        |error| {
            assert_eq!(error.code, ExitCode::Usage);
            assert!(!error.message.contains('\n'), "{error}");
            error.message.replace(&file.path().display().to_string(), "FILE")
        },
    )
}

#[test]
fn files_are_read_in_their_order() {
    let text = "# a comment\nBack: Front\ndel: add\n\nremove: create # why\n([0-9]{6}),([0-9]{2}): \\1.\\2\n(\\w+)=(\\w+): \\2=\\1\n";
    let expected = [
        "R.1 Back -> Front",
        "R.2 del -> add",
        "R.3 remove -> create",
        "R.4 ([0-9]{6}),([0-9]{2}) -> \\1.\\2",
        "R.5 (\\w+)=(\\w+) -> \\2=\\1",
    ];
    assert_eq!(load_text(text).unwrap(), expected);
    assert_eq!(load_text(text.replace('\n', "\r\n")).unwrap(), expected);
    assert_eq!(load_text(format!("\u{feff}---\n{text}...\n")).unwrap(), expected);
}

#[test]
fn texts_are_written_as_yaml_writes_them() {
    for (text, expected) in [
        ("'[a-z]: ': 'it''s'", "R.1 [a-z]:  -> it's"),
        ("\"(\\\\w+)\\t\": \"\\\\1\"", "R.1 (\\w+)\\t -> \\1"),
        ("a: 5", "R.1 a -> 5"),
        ("1.50: yes", "R.1 1.50 -> yes"),
        ("a: ~", "R.1 a -> ~"),
        ("a:", "R.1 a -> "),
        ("a: ''", "R.1 a -> "),
        ("{a: b}", "R.1 a -> b"),
        ("? a\n: b", "R.1 a -> b"),
        ("a: |-\n  x\n  y", "R.1 a -> x\\ny"),
    ] {
        assert_eq!(load_text(text).unwrap(), [expected], "{text}");
    }
    assert_eq!(load_text("a: b\na: c").unwrap(), ["R.1 a -> b", "R.2 a -> c"]);
}

#[test]
fn labels_go_on_in_the_next_file() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).unwrap();
        folder.path().join(name)
    };
    let paths = [write("one", "a: b\nc: d"), write("two", "e: f")];
    let labels: Vec<String> = load(&paths).unwrap().iter().map(|rule| rule.label().to_owned()).collect();
    assert_eq!(labels, ["R.1", "R.2", "R.3"]);
    assert!(load(&[]).unwrap().is_empty());
}

#[test]
fn what_is_wrong_is_said_with_its_line_and_pattern() {
    for (text, start, remedy) in [
        ("a: b\n'(a': c", "--regex-rules FILE:2: `(a`: unclosed group", "correct it"),
        ("a: b\n\n'(a)': '\\2'", "--regex-rules FILE:3: `(a)`: the replacement asks for group 2", "one group"),
        ("(a)\\1: b", "--regex-rules FILE:1: `(a)\\1`: backreferences are not supported", "correct it"),
        ("a: \\q", "--regex-rules FILE:1: `a`: `\\q` in the replacement means nothing", "write \\1"),
        ("a{1000}{1000}{1000}: b", "--regex-rules FILE:1: `a{1000}{1000}{1000}`: ", "correct it"),
        ("a: b\n[a-z]: c", "--regex-rules FILE:2: `[a-z]: c`: the pattern is a list for YAML", "single quotes"),
        ("a: b\n[a-z]+: c", "--regex-rules FILE:2: `[a-z]+: c`: the pattern is a list for YAML", "single quotes"),
        ("a: b\nc: d: e", "--regex-rules FILE:2: `c: d: e`: not YAML", "single quotes"),
        ("a: \"\\w\"", "--regex-rules FILE:1: `a: \"\\w\"`: not YAML", "single quotes"),
        ("a:\n  b: c", "--regex-rules FILE:2: `b: c`: the replacement is a mapping for YAML", "single quotes"),
        ("a: [b]", "--regex-rules FILE:1: `a: [b]`: the replacement is a list for YAML", "single quotes"),
        ("a: &x b\nc: *x", "--regex-rules FILE:2: `c: *x`: the replacement is an alias for YAML", "single quotes"),
        ("- a: b", "--regex-rules FILE:1: it is not a mapping", "pattern: replacement"),
        ("just text", "--regex-rules FILE:1: it is not a mapping", "pattern: replacement"),
        ("", "--regex-rules FILE:1: it holds no rules", "pattern: replacement"),
        ("# nothing\n", "--regex-rules FILE:1: it holds no rules", "pattern: replacement"),
        ("{}", "--regex-rules FILE:1: it holds no rules", "pattern: replacement"),
        ("a: b\n---\nc: d", "--regex-rules FILE:2: a second document begins", "leave out"),
        ("a: 'b", "--regex-rules FILE:", "single quotes"),
    ] {
        let error = load_text(text).unwrap_err();
        assert!(error.starts_with(start) && error.contains(remedy), "{text:?}: {error}");
    }
    assert!(load_text(b"a: b\nc\xff: d").unwrap_err().starts_with("--regex-rules FILE: line 2 is not UTF-8"));
    assert!(load_text("a: b\n".repeat(1001)).unwrap_err().starts_with("--regex-rules FILE:1001: more than 1000 rules"));
    let missing = load(&[PathBuf::from("/no/such/rules")]).unwrap_err();
    assert_eq!(missing.message, "--regex-rules /no/such/rules: it does not exist: name an existing file");
    assert!(load(&[PathBuf::from("/")]).unwrap_err().message.contains("it cannot be read"));
}

/// Generates rule files: valid ones, ones with typical mistakes, and arbitrary bytes.
fn files() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(
        &[
            "a", "b: c", "'", "\"", ": ", "- ", "\n", " ", "[", "{", "]", "}", "&x ", "*x", "!!", "---", "#", "|", ">",
            "%", "\\1", "(.*)", "\t", "\u{feff}",
        ][..],
    );
    prop_oneof![
        3 => prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat().into_bytes()),
        2 => "('[^'\n]{0,20}': '[^'\n]{0,20}'\n){0,5}".prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..200),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn a_custom_rule_changes_the_input_within_the_limit_or_says_that_it_did_not(
        before in prop::collection::vec(prop::sample::select(&b"ab=12 \n\0\xff"[..]), 0..200),
        limit in 0_usize..400,
        seed in any::<u64>(),
        (pattern, replacement) in prop::sample::select(&[
            ("a", "b"), ("a", "aaaa"), ("ab", ""), ("(a+)|b", "$1$1"), (r"(\w+)=(\w+)", r"\2=\1"), (r"\b", "-"), ("", "x"),
            (".*", "$0$0"), (r"\x00|\xff", "0"), ("^a?", "\n"), ("(?s).+", "a"), ("$", ""),
        ][..]),
    ) {
        let rule = rule(pattern, replacement);
        let (mut one, mut two) = (before.clone(), before.clone());
        let changed = rule.apply(&mut one, limit, &mut StdRand::with_seed(seed));
        prop_assert_eq!(changed, one != before);
        prop_assert!(limit == 0 || one.len() <= limit);
        prop_assert!(!one.is_empty() || before.is_empty());
        prop_assert_eq!(rule.apply(&mut two, limit, &mut StdRand::with_seed(seed)), changed);
        prop_assert_eq!(one, two);
    }

    #[test]
    fn any_file_gives_rules_or_one_line_that_says_where(bytes in files(), input: Vec<u8>, seed: u64) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &bytes).unwrap();
        match load(&[file.path().to_owned()]) {
            Ok(rules) => {
                for rule in rules {
                    rule.apply(&mut input.clone(), 1000, &mut StdRand::with_seed(seed));
                }
            }
            Err(error) => {
                prop_assert!(error.message.starts_with("--regex-rules "), "{}", error.message);
                prop_assert!(!error.message.chars().any(char::is_control), "{:?}", error.message);
                prop_assert!(error.message.len() < 2000, "{}", error.message.len());
            }
        }
    }

    #[test]
    fn any_pattern_and_replacement_keep_to_the_limit(
        pattern in "([ab.*+?|()\\[\\]{}0-9^$\\\\wdsx-]|\\(\\?|a\\{[0-9]{1,5}\\}){0,12}",
        replacement in "([ab$\\\\0-9gnx<>{}]){0,8}",
        input in "[ab0\\n ]{0,60}",
        seed: u64,
    ) {
        if let Ok(rule) = CustomRule::new(1, &pattern, &replacement) {
            let mut bytes = input.clone().into_bytes();
            let changed = rule.apply(&mut bytes, 100, &mut StdRand::with_seed(seed));
            prop_assert!(bytes.len() <= 100);
            prop_assert_eq!(changed, bytes != input.as_bytes());
        }
    }
}
