//! `-minimize_crash=1`: removes parts of an input as long as it fails as before.

use quagmire_base::error::Result;

use super::{
    Call,
    artifacts::Artifacts,
    attempt::{Attempts, Failure, only_input},
};

/// Minimizes the input that the command line names. Returns the exit code of the process.
pub(super) fn run(call: &Call) -> Result<i32> {
    let Call { flags, paths, console, .. } = call;
    let (path, mut input) = only_input("minimize_crash", paths)?;
    if flags.count("runs").is_none() && flags.count("max_total_time").is_none() {
        console.inform("INFO: you need to specify -max_total_time or -runs; will use -max_total_time=600");
    }
    let before = input.clone();
    console.inform(&format!("CRASH_MIN: minimizing crash input: '{path}' ({} bytes)", input.len()));
    let mut attempts = Attempts::new(call, input.len())?;
    let Some(failure) = attempts.failure(&input)? else {
        console.say(&format!("ERROR: the input {path} did not crash"));
        return Ok(1);
    };
    console.inform(&format!(
        "CRASH_MIN: '{path}' ({} bytes) caused a crash. Will try to minimize it further",
        input.len()
    ));
    attempts.begin_round();
    while shorten(&mut input, &failure, &mut attempts)? && !attempts.are_used_up() {}
    // the name is that of the input that was given
    let artifacts = Artifacts::new(flags);
    let shown = artifacts.write_as(&artifacts.path("minimized-from-", &before), &input, console)?;
    console.inform(&format!(
        "CRASH_MIN: failed to minimize beyond {} ({} bytes), exiting",
        shown.display(),
        input.len()
    ));
    Ok(0)
}

/// Removes parts of an input, large ones first. Returns whether any could be removed.
fn shorten(input: &mut Vec<u8>, failure: &Failure, attempts: &mut Attempts<'_>) -> Result<bool> {
    let mut is_shorter = false;
    let mut part = input.len().div_ceil(2);
    while part > 0 {
        let mut at = 0;
        while at < input.len() && input.len() > 1 {
            if attempts.are_used_up() {
                return Ok(is_shorter);
            }
            let mut candidate = input.clone();
            candidate.drain(at..(at + part).min(input.len()));
            if attempts.failure(&candidate)?.as_ref() == Some(failure) {
                *input = candidate;
                is_shorter = true;
                // as with libFuzzer, which begins anew with each smaller input
                attempts.begin_round();
            } else {
                at += part;
            }
        }
        part /= 2;
    }
    Ok(is_shorter)
}
