//! Single runs in processes of their own, which tell whether an input still fails as it did.

use std::time::{Duration, Instant};

use quagmire_base::error::{Error, Result};
use quagmire_execution::{input_page::InputPage, prepare::prepare_uncounted, process::End, session};

use rustix::stdio::{dup2_stderr, dup2_stdout};

use super::{
    Call,
    console::Console,
    degradation::{Check, MARGIN},
    ends, limits, read,
};

/// Line of a sanitizer's report that is the same for the same error.
const TOKEN: &str = "DEDUP_TOKEN:";

/// Time for all attempts, in seconds, if neither `-runs` nor `-max_total_time` says more.
const USUAL_TIME: u64 = 600;

/// How a run failed: what has to stay the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    end: End,
    token: Option<String>,
}

/// Runs, within the limits of the flags.
pub(super) struct Attempts<'a> {
    call: &'a Call,
    check: Option<Check>,
    /// Percent by which a degradation has to exceed the threshold.
    margin: u64,
    left: u64,
    deadline: Instant,
}

impl<'a> Attempts<'a> {
    /// Begins to count. Inputs are not larger than `largest` bytes.
    ///
    /// # Errors
    /// If the ordinary inputs for `-degradations` cannot be measured.
    pub(super) fn new(call: &'a Call, largest: usize) -> Result<Self> {
        let (check, flags) = (Check::new(call, largest)?, &call.flags);
        let seconds = flags.count("max_total_time").unwrap_or(USUAL_TIME);
        let deadline = Instant::now() + Duration::from_secs(seconds.min(u64::from(u32::MAX)));
        let left = flags.count("runs").unwrap_or(u64::MAX);
        Ok(Self { call, check, margin: 0, left, deadline })
    }

    /// Begins a round, which has as many runs as `-runs` says.
    pub(super) fn begin_round(&mut self) {
        self.left = self.call.flags.count("runs").unwrap_or(u64::MAX);
    }

    /// Whether there is nothing left of the limits.
    pub(super) fn are_used_up(&self) -> bool {
        self.left == 0 || Instant::now() >= self.deadline
    }

    /// Runs an input in a process of its own; `None` if its run does not fail. A degradation fails as a timeout does; all
    /// but the first one have to exceed the threshold by a margin, so that noise does not decide which one is kept.
    pub(super) fn failure(&mut self, input: &[u8]) -> Result<Option<Failure>> {
        self.left = self.left.saturating_sub(1);
        let (reader, writer) = std::io::pipe().map_err(|error| Error::other(format!("cannot make a pipe: {error}")))?;
        let page = InputPage::new(input.len().max(1))?;
        page.set_hang_timeout(limits(&self.call.flags).hang);
        let child = session::fork(|| {
            let _ = (dup2_stdout(&writer), dup2_stderr(&writer));
            i32::from(run_once(self.call, input, page.share()).is_err())
        })?;
        drop(writer);
        let (output, session::Gone { end, .. }) = session::wait(child, reader, &page)?;
        let text = String::from_utf8_lossy(&output);
        let token = text.lines().find_map(|line| line.trim().strip_prefix(TOKEN)).map(|token| token.trim().to_owned());
        if end != End::Code(0) {
            return Ok(Some(Failure { end, token }));
        }
        let margin = std::mem::replace(&mut self.margin, MARGIN);
        let found = self.check.as_ref().map(|check| check.judge(input, margin)).transpose()?.flatten();
        Ok(found
            .map(|found| Failure { end: End::Code(ends::timeout_code(&self.call.flags)), token: Some(found.function) }))
    }
}

fn run_once(call: &Call, input: &[u8], page: InputPage) -> Result<()> {
    let console = Console::open(0, false)?;
    let mut executor = prepare_uncounted(call.harness, page)?;
    ends::end_process(call.harness, &call.flags, &console);
    executor.execute(input);
    Ok(())
}

/// The one input that a command line names.
///
/// # Errors
/// If there is another number of files, or it cannot be read.
pub(super) fn only_input<'a>(flag: &str, paths: &'a [String]) -> Result<(&'a str, Vec<u8>)> {
    let [path] = paths else {
        return Err(Error::other(format!("-{flag}=1 should be given one input file")));
    };
    Ok((path, read(path)?))
}
