//! Tests that need something that this machine lacks: they fail, unless it is allowed to be missing.

use std::{fs::File, io::Write, panic::Location};

/// Environment variable with the names of what may be missing, separated by commas (`afl++,lld`), or `1` for anything.
const MAY_SKIP: &str = "QUAGMIRE_TESTS_MAY_SKIP";

/// Environment variable with the path of a file that gets a line for each skipped test; `scripts/test` shows it at its
/// end.
const SKIPPED: &str = "QUAGMIRE_TESTS_SKIPPED";

/// Skips a test or a part of one, since `what` (a short name without blanks) is missing: reports it, and the caller
/// returns or continues with the next part.
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
