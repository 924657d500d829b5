//! `-cleanse_crash=1`: overwrites bytes of an input as long as it fails, so that less of its origin is in it.

use quagmire_base::error::{Error, Result};

use super::{
    Call,
    artifacts::Artifacts,
    attempt::{Attempts, only_input},
};

/// Bytes that take the place of others, and what they are replaced by no more.
const PLAIN: [u8; 2] = [b' ', 0xff];

/// Number of passes over the input.
const PASSES: usize = 5;

/// Cleanses the input that the command line names. Returns the exit code of the process.
pub(super) fn run(call: &Call) -> Result<i32> {
    let Call { flags, paths, console, .. } = call;
    if flags.text("exact_artifact_path").is_none() {
        return Err(Error::other("-cleanse_crash=1 should be given one input file and -exact_artifact_path"));
    }
    let (_, mut input) = only_input("cleanse_crash", paths)?;
    let artifacts = Artifacts::new(flags);
    let mut attempts = Attempts::new(call, input.len())?;
    let Some(failure) = attempts.failure(&input)? else {
        console.say(&format!("ERROR: the input {} did not crash", paths[0]));
        // libFuzzer's exit code
        return Ok(0);
    };
    let before = input.clone();
    for pass in 0..PASSES {
        let mut has_changed = false;
        for at in 0..input.len() {
            if PLAIN.contains(&input[at]) {
                continue;
            }
            console.inform(&format!("CLEANSE[{pass}]: trying to replace byte {at} of {}", input.len()));
            for plain in PLAIN {
                if attempts.are_used_up() {
                    break;
                }
                let byte = std::mem::replace(&mut input[at], plain);
                if attempts.failure(&input)?.as_ref() == Some(&failure) {
                    has_changed = true;
                    break;
                }
                input[at] = byte;
            }
        }
        if !has_changed {
            break;
        }
    }
    // as libFuzzer does: no file says that there was nothing to overwrite
    if input != before {
        artifacts.write("", &input, console)?;
    }
    Ok(0)
}
