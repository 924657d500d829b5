//! The one way to run inputs in a child process: a watchdog ends runs that block signals, processes that the target leaves
//! behind do not keep anybody waiting, and a child that ends is told from one that answers.
//!
//! [`in_child`] has one result, a [`Session`] answers requests until a run has ended early, and [`fork`] with [`wait`] are
//! for children whose results are elsewhere. This process must have no other thread.

use std::{
    io::{Read, Write},
    marker::PhantomData,
    net::Shutdown,
    os::{fd::AsFd, unix::net::UnixStream},
    time::Duration,
};

use serde::{Serialize, de::DeserializeOwned};

use crate::{
    executor::HarnessExecutor,
    harness::Harness,
    input_page::InputPage,
    pipes,
    prepare::prepare_target,
    process::{self, End},
    timer::{HangClock, PATIENCE, RunLimits},
    watchdog::Watchdog,
};
use quagmire_base::error::{Error, ExitCode, Result};

/// Interval between two looks at a child.
const LOOK: Duration = Duration::from_millis(100);

/// Most bytes that are kept of what a child writes: a target may write into its stream, too.
const MOST: usize = 1 << 28;

/// Limits and output of the target's runs in a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Hang timeout of a run; at least 10 ms.
    pub hang_timeout: Duration,
    /// Clock of the hang timeout.
    pub clock: HangClock,
    /// Memory limit in bytes; 0 for none.
    pub memory_limit: u64,
    /// Whether to show the target's output.
    pub debug_target: bool,
}

impl Limits {
    /// Maps room for inputs of at most `capacity` bytes, whose runs the watchdog ends if the timer does not.
    pub fn page(&self, capacity: usize) -> Result<InputPage> {
        let page = InputPage::new(capacity.max(1))?;
        self.publish(&page);
        Ok(page)
    }

    /// Tells the watchdog of the hang timeout: it waits for twice of what it is told, and the timer for as long as this.
    pub fn publish(&self, page: &InputPage) {
        page.set_hang_timeout(match self.clock {
            HangClock::Wall => self.hang_timeout,
            HangClock::Cpu => self.hang_timeout.saturating_mul(PATIENCE / 2),
        });
    }

    /// Prepares the target in this process, which is a child. The limits hold from [`Self::start`] on.
    pub fn prepare(&self, harness: &'static Harness, page: &InputPage) -> Result<HarnessExecutor> {
        prepare_target(harness, page.share(), self.debug_target)
    }

    /// Starts the timer that enforces the limits.
    pub fn start(&self, harness: &Harness) {
        let Self { hang_timeout: hang, clock, memory_limit: memory, .. } = *self;
        harness.start_timer(RunLimits { hang, clock, memory, deadline: u64::MAX });
    }
}

/// How a child has ended that gave no answer.
#[derive(Clone, Copy, Debug)]
pub struct Gone {
    pub end: End,
    /// Whether the watchdog killed it.
    pub was_stuck: bool,
}

/// Forks a process for `work`, which returns its exit code. It is killed when this process ends.
pub fn fork(work: impl FnOnce() -> i32) -> Result<libc::pid_t> {
    let parent = std::process::id();
    // SAFETY: the commands that run inputs in a child have no other thread.
    let child = unsafe { process::fork()? };
    if child == 0 {
        process::die_with_parent(parent);
        process::leave(work());
    }
    Ok(child)
}

/// Waits until a child has ended, and reads what it writes until then, even if processes that the target has started keep the
/// stream open.
pub fn wait(child: libc::pid_t, mut stream: impl Read + AsFd, page: &InputPage) -> Result<(Vec<u8>, Gone)> {
    let mut bytes = Vec::new();
    loop {
        // nothing is enough
        if let Some(gone) = read(child, &mut stream, &mut bytes, page, |_| false)? {
            return Ok((bytes, gone));
        }
    }
}

/// Reads what a child writes until it is enough: then there is no result. Otherwise the child has ended. Kills a child
/// whose run does not end in spite of the timer.
fn read(
    child: libc::pid_t,
    stream: &mut (impl Read + AsFd),
    bytes: &mut Vec<u8>,
    page: &InputPage,
    is_enough: impl Fn(&[u8]) -> bool,
) -> Result<Option<Gone>> {
    let failed = |error| Error::other(format!("cannot read what another process has found: {error}"));
    let (mut was_stuck, mut is_open) = (false, true);
    let mut watchdog = Watchdog::new(page);
    loop {
        if !is_open {
            std::thread::sleep(Duration::from_millis(1));
        } else if pipes::readable([&*stream], LOOK) == [true] {
            // a child that ends before it has read a request resets the stream
            is_open = pipes::read_part(stream, bytes, MOST).or_else(|error| match error.kind() {
                std::io::ErrorKind::ConnectionReset => Ok(false),
                _ => Err(failed(error)),
            })?;
            if is_enough(bytes) {
                return Ok(None);
            }
        }
        if let Some(end) = process::poll(child)? {
            if is_open {
                pipes::read_rest(stream, bytes, MOST).map_err(failed)?;
            }
            return Ok(Some(Gone { end, was_stuck }));
        }
        if watchdog.is_stuck(page) {
            was_stuck = true;
            process::kill(child);
        }
    }
}

fn pair() -> Result<(UnixStream, UnixStream)> {
    UnixStream::pair().map_err(|error| Error::other(format!("cannot make a socket: {error}")))
}

/// An error of a child: its message, and whether the command line is the reason; otherwise it is the target.
type Told = (String, bool);

fn tell(error: Error) -> Told {
    (error.message, error.code == ExitCode::Usage)
}

fn told((message, is_usage): Told) -> Error {
    if is_usage { Error::usage(message) } else { Error::target(message) }
}

/// Does `work`, which runs inputs of `page`, in a child, and returns its result; or how the child has ended without one.
///
/// # Errors
/// Those of `work`, as errors of the command line or of the target; and if there can be no child.
pub fn in_child<T: Serialize + DeserializeOwned>(
    page: &InputPage,
    work: impl FnOnce() -> Result<T>,
) -> Result<Result<T, Gone>> {
    let (ours, mut theirs) = pair()?;
    let child = fork(move || {
        process::usual_signals();
        let bytes = postcard::to_stdvec(&work().map_err(tell));
        let is_sent = bytes.is_ok_and(|bytes| theirs.write_all(&bytes).is_ok());
        i32::from(!is_sent)
    })?;
    let (bytes, gone) = wait(child, ours, page)?;
    match postcard::from_bytes::<Result<T, Told>>(&bytes) {
        Ok(Ok(result)) if !gone.was_stuck => Ok(Ok(result)),
        Ok(Err(error)) => Err(told(error)),
        _ => Ok(Err(gone)),
    }
}

/// Child that answers requests `Q`, each with an input, with `A`.
#[derive(Debug)]
pub struct Session<Q, A> {
    child: libc::pid_t,
    stream: UnixStream,
    page: InputPage,
    kinds: PhantomData<fn(Q) -> A>,
}

impl<Q: Serialize + DeserializeOwned, A: Serialize + DeserializeOwned> Session<Q, A> {
    /// Starts a child, which prepares the target with `open` and then calls `answer` until that says that it is not good for
    /// more. Returns how the child has ended if `open` has ended it.
    ///
    /// # Errors
    /// Those of `open`, as errors of the command line or of the target; and if there can be no child.
    pub fn start<S>(
        page: &InputPage,
        open: impl FnOnce() -> Result<S>,
        mut answer: impl FnMut(&mut S, Q, &[u8]) -> (A, bool),
    ) -> Result<Result<Self, Gone>> {
        let (ours, mut theirs) = pair()?;
        let serve = move || -> Option<()> {
            process::usual_signals();
            let opened = open().map_err(tell);
            write(&mut theirs, &opened.as_ref().map(drop))?;
            let mut state = opened.ok()?;
            loop {
                let request = read_block(&mut theirs).and_then(|bytes| postcard::from_bytes(&bytes).ok())?;
                let (answer, is_good_for_more) = answer(&mut state, request, &read_block(&mut theirs)?);
                write(&mut theirs, &answer)?;
                if !is_good_for_more {
                    // it waits to be asked or left: an end that comes with an answer would be taken for the lack of one
                    let _ = read_block(&mut theirs);
                    return Some(());
                }
            }
        };
        // the exit code tells nothing: it ends if this end of the socket does
        let child = fork(move || i32::from(serve().is_none()))?;
        let session = Self { child, stream: ours, page: page.share(), kinds: PhantomData };
        match session.receive::<Result<(), Told>>()? {
            Ok((session, Ok(()))) => Ok(Ok(session)),
            Ok((session, Err(error))) => session.end().and_then(|_| Err(told(error))),
            Err(gone) => Ok(Err(gone)),
        }
    }

    /// Has the child answer a request; returns how it has ended if it did not.
    pub fn ask(mut self, request: &Q, input: &[u8]) -> Result<Result<(Self, A), Gone>> {
        let is_sent = write(&mut self.stream, request).and_then(|()| write_block(&mut self.stream, input));
        match is_sent {
            Some(()) => self.receive(),
            // it has ended
            None => self.end().map(Err),
        }
    }

    fn receive<T: DeserializeOwned>(mut self) -> Result<Result<(Self, T), Gone>> {
        let is_whole = |bytes: &[u8]| {
            let length = bytes.first_chunk().map(|length| u64::from_le_bytes(*length));
            length.is_some_and(|length| length > MOST as u64 || bytes.len() as u64 >= 8 + length)
        };
        let mut bytes = Vec::new();
        let gone = read(self.child, &mut self.stream, &mut bytes, &self.page, is_whole)?;
        match (read_block(&mut bytes.as_slice()).and_then(|bytes| postcard::from_bytes(&bytes).ok()), gone) {
            (Some(answer), None) => Ok(Ok((self, answer))),
            (_, Some(gone)) => Ok(Err(gone)),
            (None, None) => self.end().map(Err),
        }
    }

    /// Has the child end, and waits for that.
    pub fn end(self) -> Result<Gone> {
        // processes that the target has left may have a copy of it
        let _ = self.stream.shutdown(Shutdown::Both);
        Ok(Gone { end: process::wait(self.child)?, was_stuck: false })
    }
}

/// Writes a value in a block. `None` if the other end is gone.
pub fn write(stream: &mut impl Write, value: &impl Serialize) -> Option<()> {
    write_block(stream, &postcard::to_stdvec(value).ok()?)
}

/// Writes bytes after their number, 64 bits in little endian. `None` if the other end is gone.
pub fn write_block(stream: &mut impl Write, bytes: &[u8]) -> Option<()> {
    stream.write_all(&(bytes.len() as u64).to_le_bytes()).ok()?;
    stream.write_all(bytes).ok()
}

/// Reads bytes after their number. `None` if the other end is gone.
pub fn read_block(stream: &mut impl Read) -> Option<Vec<u8>> {
    let mut length = [0; 8];
    stream.read_exact(&mut length).ok()?;
    let length = u64::from_le_bytes(length);
    let mut bytes = Vec::new();
    stream.take(length).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 == length).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> InputPage {
        let page = InputPage::new(1).expect("memory");
        page.set_hang_timeout(Duration::from_secs(60));
        page
    }

    fn signal(number: i32) {
        // SAFETY: a signal for this process, a child.
        unsafe { libc::raise(number) };
    }

    #[test]
    fn a_child_has_a_result_an_error_or_an_end() {
        let page = page();
        let many = in_child(&page, || Ok(vec![7_u8; 1 << 20]));
        assert!(many.is_ok_and(|many| many.is_ok_and(|bytes| bytes.len() == 1 << 20)));
        for error in [Error::usage("typed wrongly"), Error::target("built wrongly")] {
            assert_eq!(in_child::<()>(&page, || Err(error.clone())).expect_err("its own"), error);
        }
        let work = || {
            signal(libc::SIGKILL);
            Ok(())
        };
        let Ok(Err(gone)) = in_child(&page, work) else { panic!("it has ended") };
        assert_eq!((gone.end, gone.was_stuck), (End::Signal(libc::SIGKILL), false));
    }

    #[test]
    fn a_session_answers_until_a_request_ends_it() {
        let page = page();
        let answer = |sum: &mut u32, number: u32, input: &[u8]| {
            *sum += number + input.len() as u32;
            if *sum > 100 {
                signal(libc::SIGKILL);
            }
            (*sum, true)
        };
        let session = Session::start(&page, || Ok(1_u32), answer).expect("a child").expect("it answers");
        let (session, sum) = session.ask(&2, b"abc").expect("a child").expect("it answers");
        assert_eq!(sum, 6);
        let (session, sum) = session.ask(&10, &[]).expect("a child").expect("it answers");
        assert_eq!(sum, 16);
        let gone = session.ask(&100, &[]).expect("a child").expect_err("it ends");
        assert_eq!(gone.end, End::Signal(libc::SIGKILL));
    }

    #[test]
    fn an_answer_that_is_the_last_one_arrives() {
        let page = page();
        // larger than what the socket holds: it is read in parts, and written before the last of them is read
        let answer = |(): &mut (), bytes: usize, _: &[u8]| (vec![7_u8; bytes], false);
        let session = Session::start(&page, || Ok(()), answer).expect("a child").expect("it answers");
        let (session, answer) = session.ask(&(4 << 20), &[]).expect("a child").expect("it answers");
        assert_eq!(answer.len(), 4 << 20);
        assert!(session.ask(&1, &[]).expect("a child").is_err(), "it is not good for more");
    }

    #[test]
    fn a_process_that_a_run_leaves_behind_keeps_nobody_waiting() {
        let page = page();
        let work = || {
            // SAFETY: a process of its own that sleeps, and a signal for this one.
            unsafe {
                if libc::fork() == 0 {
                    libc::sleep(20);
                    libc::_exit(0);
                }
            }
            signal(libc::SIGKILL);
            Ok(())
        };
        let began = std::time::Instant::now();
        assert!(in_child(&page, work).expect("a child").is_err());
        assert!(began.elapsed() < Duration::from_secs(10));
    }
}
