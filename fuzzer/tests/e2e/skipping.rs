//! The rule for tests that need something that a machine lacks: they fail, unless it is allowed to be missing.

use crate::common::*;

/// Values of `QUAGMIRE_TESTS_MAY_SKIP`, and whether `afl++` may be missing by each.
const CASES: [(&str, bool); 8] = [
    ("", false),
    ("0", false),
    ("1", true),
    ("afl++", true),
    ("lld,afl++", true),
    ("afl++,lld", true),
    ("afl", false),
    ("lld,afl++14", false),
];

#[test]
fn what_is_missing_is_a_failure_unless_it_is_named() {
    for (allowed, expected) in CASES {
        assert_eq!(may_skip("afl++", allowed), expected, "{allowed:?}");
    }
}

#[test]
fn scripts_have_the_same_rule_and_list_what_they_left_out() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/skip.sh");
    for (allowed, expected) in CASES {
        let scene = Scene::new(&[]);
        let mut command = Command::new("bash");
        command.args(["-euc", ". \"$1\"; skip afl++ 'install it'", "checks"]).arg(&script);
        command.env("QUAGMIRE_TESTS_MAY_SKIP", allowed).env("QUAGMIRE_TESTS_SKIPPED", scene.path("skipped"));
        let run = run(&mut command);
        assert_eq!(run.code, Some(if expected { 0 } else { 1 }), "{allowed:?}: {run:#?}");
        let listed = fs::read_to_string(scene.path("skipped")).unwrap_or_default();
        if expected {
            assert_eq!((listed.as_str(), run.stderr.as_str()), ("afl++: install it\n", ""));
        } else {
            assert!(listed.is_empty() && run.stderr.contains("install it, or set QUAGMIRE_TESTS_MAY_SKIP=afl++"));
        }
    }
}
