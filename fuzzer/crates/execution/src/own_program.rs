//! The program that this process runs, to be started again: a harness may have a `main` of its own, such as that of a runner of
//! tests, which takes the first words of the command line and leaves the others to the engine.

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt,
    process::Command,
    sync::OnceLock,
};

static FIRST_ARGUMENTS: OnceLock<Vec<OsString>> = OnceLock::new();

/// Tells what the program has left to the engine, with its name: what stands before that on the command line is the program's.
pub fn leaves(arguments: &[OsString]) {
    let line = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    let words = line.strip_suffix(b"\0").unwrap_or(&line).split(|byte| *byte == 0).skip(1);
    let words: Vec<OsString> = words.map(|word| OsStr::from_bytes(word).to_owned()).collect();
    // a program may also change them
    let first = words.strip_suffix(arguments.get(1..).unwrap_or_default());
    let _ = FIRST_ARGUMENTS.set(first.unwrap_or_default().to_vec());
}

/// Words of the command line that are the program's.
pub fn first_arguments() -> &'static [OsString] {
    FIRST_ARGUMENTS.get().map_or(&[], Vec::as_slice)
}

/// Begins a command of this program, with those words.
pub fn again() -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.args(first_arguments());
    command
}
