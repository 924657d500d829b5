//! Commands of this program in processes of their own, which measure what the campaign wants to know of an input.

use std::{
    ffi::OsStr,
    os::unix::process::CommandExt,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use quagmire_base::error::{Error, Result};
use quagmire_execution::{huge_pages, info::TargetInfo, own_program, pipes, process};
use serde::de::DeserializeOwned;

/// Interval at which the process is polled.
const LOOK: Duration = Duration::from_millis(20);

/// Largest number of bytes that are kept of the process's error output; its first line is reported.
const MOST_ERRORS: usize = 1 << 16;

/// Begins a command of this program, the harness or `quagmire`, with the limits of the target's runs.
pub(super) fn command(
    target: &TargetInfo,
    name: impl AsRef<OsStr>,
    hang_timeout: Duration,
    memory_limit: u64,
) -> Command {
    let mut command = own_program::again();
    huge_pages::do_not_ask(&mut command);
    command
        .arg(name)
        .args(["--hang-timeout", &format!("{}ms", hang_timeout.as_millis())])
        .args(["--memory-limit", &memory_limit.to_string()])
        .args(target.uninstrumented())
        .args(target.file_options())
        .args(target.generator.iter().flat_map(|file| [OsStr::new("--generator"), file.as_os_str()]));
    command
}

/// Appends the inputs to a command, and the program unless it is the harness itself that runs the command.
pub(super) fn end(command: &mut Command, target: &TargetInfo, inputs: &[&Path]) {
    command.args(inputs).args(target.is_isolated().then_some("--")).args(&target.command);
}

/// Runs a command, and parses the JSON that it prints. `None` if it was stopped, at the deadline or because
/// `is_stopped` says so. `meanwhile` is called repeatedly while it runs. A command that prints what it knows by then when it
/// is interrupted has the time `grace` for that; without any, it is killed.
///
/// # Errors
/// If it cannot be started, or prints no JSON.
pub(super) fn output<T: DeserializeOwned>(
    mut command: Command,
    mut deadline: Instant,
    grace: Duration,
    is_stopped: &mut dyn FnMut() -> bool,
    meanwhile: &mut dyn FnMut() -> Result<()>,
) -> Result<Option<T>> {
    let cannot = |error: std::io::Error| Error::other(format!("cannot start the harness to measure: {error}"));
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // a process group of its own, so that it can be killed with the child that it measures in
        .process_group(0);
    let parent = std::process::id();
    // SAFETY: async-signal-safe calls. It does not outlive a worker that is killed.
    unsafe {
        command.pre_exec(move || {
            process::die_with_parent(parent);
            Ok(())
        })
    };
    let mut child = command.spawn().map_err(cannot)?;
    let (mut text, mut said) = (Vec::new(), Vec::new());
    let (Some(mut output), Some(mut errors)) = (child.stdout.take(), child.stderr.take()) else {
        return Err(Error::other("the measuring process has no pipes"));
    };
    let mut says_more = true;
    let mut is_interrupted = false;
    // until it ends, not until its pipes close: processes that the target has started may keep them open
    while child.try_wait().map_err(cannot)?.is_none() {
        let looked = meanwhile();
        if looked.is_err() || !is_interrupted && is_stopped() || Instant::now() >= deadline {
            let is_killed = is_interrupted || grace.is_zero() || looked.is_err();
            let signal = if is_killed { libc::SIGKILL } else { libc::SIGINT };
            // SAFETY: the group of a child that was not waited for.
            unsafe { libc::kill(-(child.id() as i32), signal) };
            if is_killed {
                let _ = child.wait();
                return looked.map(|()| None);
            }
            (is_interrupted, deadline) = (true, Instant::now() + grace);
        }
        let [is_output, is_error] = pipes::readable([&output, if says_more { &errors } else { &output }], LOOK);
        if is_output && !pipes::read_part(&mut output, &mut text, usize::MAX).map_err(cannot)? {
            break;
        }
        // a process whose error output nobody reads does not go on
        if is_error && says_more {
            says_more = pipes::read_part(&mut errors, &mut said, MOST_ERRORS).map_err(cannot)?;
        }
    }
    pipes::read_rest(&mut output, &mut text, usize::MAX).map_err(cannot)?;
    pipes::read_rest(&mut errors, &mut said, MOST_ERRORS).map_err(cannot)?;
    let said = String::from_utf8_lossy(&said);
    let status = child.wait().map_err(cannot)?;
    if is_interrupted && text.is_empty() {
        return Ok(None);
    }
    printed(&text)
        .map(Some)
        .ok_or_else(|| Error::other(format!("measuring failed ({status}): {}", said.lines().next().unwrap_or(""))))
}

/// The JSON in the output of a command, which begins a line: a program with a `main` of its own may print before and after it.
fn printed<T: DeserializeOwned>(text: &[u8]) -> Option<T> {
    let lines =
        text.split_inclusive(|byte| *byte == b'\n').scan(0, |at, line| Some(std::mem::replace(at, *at + line.len())));
    let begins = |at: &usize| text[*at..].starts_with(b"{");
    lines.filter(begins).find_map(|at| serde_json::Deserializer::from_slice(&text[at..]).into_iter().next()?.ok())
}
