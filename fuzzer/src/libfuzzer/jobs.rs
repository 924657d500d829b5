//! `-jobs=N`: processes of their own with the same command line, some at a time, with output in `fuzz-N.log`.

use std::{
    fs::{self, File},
    os::unix::process::CommandExt as _,
    process::{Child, Stdio},
    time::Duration,
};

use quagmire_base::error::{Error, Result};
use quagmire_execution::{own_program, process};

use super::{
    console::Console,
    flags::{Flags, split},
};

/// Interval between two looks at the processes.
const LOOK: Duration = Duration::from_millis(20);

/// Runs `jobs` processes, and shows the output of each when it has ended. Returns the exit code of the process: that
/// of the last job that failed.
pub(super) fn run(jobs: u64, words: &[String], flags: &Flags, console: &Console) -> Result<i32> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as u64;
    let workers = flags.count("workers").unwrap_or((cores / 2).max(1)).min(jobs) as usize;
    let is_ours = |word: &&String| split(word).is_some_and(|(name, _)| matches!(name, "jobs" | "workers"));
    let arguments: Vec<&String> = words.iter().skip(1).filter(|word| !is_ours(word)).collect();
    let mut running: Vec<(u64, Child)> = Vec::new();
    let (mut next, mut code) = (0, 0);
    while next < jobs || !running.is_empty() {
        while next < jobs && running.len() < workers {
            running.push((next, start(next, &arguments, console)?));
            next += 1;
        }
        std::thread::sleep(LOOK);
        let mut still = Vec::new();
        for (job, mut child) in running {
            let ended =
                child.try_wait().map_err(|error| Error::other(format!("cannot wait for job {job}: {error}")))?;
            let Some(status) = ended else {
                still.push((job, child));
                continue;
            };
            let ended_with = status.code().unwrap_or(1);
            console.say(&format!("================== Job {job} exited with exit code {ended_with} ============"));
            let output = fs::read(log(job)).unwrap_or_default();
            console.say(String::from_utf8_lossy(&output).trim_end());
            code = if ended_with == 0 { code } else { ended_with };
        }
        running = still;
    }
    Ok(code)
}

/// Name of the file with a job's output.
fn log(job: u64) -> String {
    format!("fuzz-{job}.log")
}

fn start(job: u64, arguments: &[&String], console: &Console) -> Result<Child> {
    let name = log(job);
    let failed = |error: std::io::Error| Error::other(format!("{name} cannot be written: {error}"));
    let file = File::create(&name).map_err(failed)?;
    let output = file.try_clone().map_err(failed)?;
    console.say(&format!("Job {job}: output in {name}"));
    let mut command = own_program::again();
    command.args(arguments).stdin(Stdio::null()).stdout(output).stderr(file);
    let parent = std::process::id();
    // SAFETY: an async-signal-safe call.
    unsafe {
        command.pre_exec(move || {
            process::die_with_parent(parent);
            Ok(())
        });
    }
    command.spawn().map_err(|error| Error::other(format!("cannot start this harness again: {error}")))
}
