//! Tests that need what this machine lacks: they fail, unless somebody has said that they may be left out.

use std::{fs::File, io::Write, panic::Location};

/// Names of what may be missing, with commas between them (`afl++,lld`), or `1` for anything.
const MAY_SKIP: &str = "QUAGMIRE_TESTS_MAY_SKIP";

/// The file that gets a line for each test that was left out: `scripts/test` shows it at its end.
const SKIPPED: &str = "QUAGMIRE_TESTS_SKIPPED";

/// Leaves out a test, or a part of one, since `what` (a short name without blanks) is missing. The caller returns, or goes
/// on with the next part.
///
/// # Panics
/// Unless `QUAGMIRE_TESTS_MAY_SKIP` names it, or is `1`.
#[track_caller]
pub(crate) fn skip(what: &str, remedy: &str) {
    let allowed = std::env::var(MAY_SKIP).unwrap_or_default();
    assert!(
        may_skip(what, &allowed),
        "{what} is missing: {remedy}, or set {MAY_SKIP}={what} to leave out what needs it"
    );
    let thread = std::thread::current();
    let line = format!("{what}: {} ({})\n", thread.name().unwrap_or("?"), Location::caller().file());
    print!("skipped: {line}");
    if let Some(path) = std::env::var_os(SKIPPED) {
        let file = File::options().append(true).create(true).open(path);
        file.and_then(|mut file| file.write_all(line.as_bytes())).expect("the list of skipped tests can be written");
    }
}

/// Whether `what` may be missing, by the value of `QUAGMIRE_TESTS_MAY_SKIP`. `scripts/skip.sh` has the same rule.
pub(crate) fn may_skip(what: &str, allowed: &str) -> bool {
    allowed == "1" || allowed.split(',').any(|name| name == what)
}
