//! Supervisor: the process above the worker, which starts it, starts it again after the target ended it, and passes
//! signals on. It never runs the target itself, so the target cannot reach it.

use std::{
    sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
    time::{Duration, Instant},
};

use libafl_bolts::hash_std;

use super::{checkpoint::Vault, keyboard::Keyboard};
use quagmire_base::error::{Error, ExitCode, Result};
use quagmire_execution::{
    input_page::InputPage,
    orphans::Orphans,
    process::{self, End},
    watchdog::Watchdog,
};

/// Exit code of a worker that asks to be started again from its checkpoint.
const RESTART: i32 = 100;

/// Number of workers in a row that may end without a run before the target is given up.
const FUTILE_STARTS: u32 = 3;

/// Number of workers in a row that may die within [`LASTING`] while no input makes them die again.
const DEATHS: u32 = 50;

/// Number of inputs that ended workers of which the bytes are kept: the worker after each one records it.
const UNRECORDED: usize = 16;

/// Time after which a worker has got further than the one before it.
const LASTING: Duration = Duration::from_secs(10);

/// Time in which a signal that comes again is the same wish: `timeout` sends it to the process and then to its group, and a terminal
/// to all processes of the group, which may pass it on.
const ONE_WISH: Duration = Duration::from_millis(500);

/// Number of requests to stop. Static, as all that the handler of signals uses.
static STOP_REQUESTS: AtomicU32 = AtomicU32::new(0);

/// Signals that are ignored by inheritance, as bits: by `nohup`, or by a shell for background jobs.
static IGNORED: AtomicU64 = AtomicU64::new(0);

/// Whether SIGINT or SIGTERM asked this process to stop.
#[inline]
pub fn stop_requested() -> bool {
    STOP_REQUESTS.load(Relaxed) > 0
}

unsafe extern "C" fn request_stop(signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    // SAFETY: the kernel's record; async-signal-safe calls.
    unsafe {
        if (*info).si_pid() == libc::getpid() {
            // The target's own doing: die of it as it would without us, and the supervisor sees a fault.
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
    }
    if IGNORED.load(Relaxed) & 1 << signal != 0 {
        return;
    }
    STOP_REQUESTS.fetch_add(1, Relaxed);
}

fn stop_on(signal: i32) {
    // SAFETY: a handler that is safe in signals; the zeroed mask is an empty one.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = request_stop as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART | libc::SA_SIGINFO | libc::SA_NODEFER;
        libc::sigaction(signal, &raw const action, std::ptr::null_mut());
    }
}

/// Signals that the supervisor waits for.
const WATCHED: [i32; 4] = [libc::SIGCHLD, libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// Signals of the terminal beside them: Ctrl-Z and Ctrl-\. They take their usual effect after the terminal was
/// restored.
const OF_TERMINAL: [i32; 2] = [libc::SIGTSTP, libc::SIGQUIT];

/// Blocks or unblocks signals in this thread; blocked ones can be waited for. Returns the set.
fn mask(how: i32, signals: impl IntoIterator<Item = i32>) -> libc::sigset_t {
    // SAFETY: works on a local set and this thread's mask.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        for signal in signals {
            libc::sigaddset(&raw mut set, signal);
        }
        libc::sigprocmask(how, &raw const set, std::ptr::null_mut());
        set
    }
}

/// Whether a signal asked the supervisor to stop since it was last looked. For the time after its workers.
pub(super) fn is_asked_to_stop() -> bool {
    let set = mask(libc::SIG_BLOCK, [libc::SIGINT, libc::SIGTERM, libc::SIGHUP]);
    next_signal(&set, Duration::ZERO).is_some()
}

/// Restores the usual effects of the watched signals. Pending ones are dropped: they asked for the end that has come.
pub fn release_signals() {
    let set = mask(libc::SIG_BLOCK, WATCHED);
    let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: valid pointers.
    while unsafe { libc::sigtimedwait(&raw const set, std::ptr::null_mut(), &raw const now) } > 0 {}
    mask(libc::SIG_UNBLOCK, WATCHED.into_iter().chain(OF_TERMINAL));
}

/// Waits for one of the signals in `set`, for `at_most`; `None` if none came.
fn next_signal(set: &libc::sigset_t, at_most: Duration) -> Option<i32> {
    let time = libc::timespec { tv_sec: at_most.as_secs() as _, tv_nsec: at_most.subsec_nanos().into() };
    // SAFETY: valid pointers.
    let signal = unsafe { libc::sigtimedwait(set, std::ptr::null_mut(), &raw const time) };
    (signal > 0).then_some(signal)
}

/// Lets a signal take its usual effect. Returns when this process continues after a stop.
fn has_its_effect(signal: i32) {
    // SAFETY: to this thread, which is the only one.
    unsafe { libc::raise(signal) };
    mask(libc::SIG_UNBLOCK, [signal]);
    mask(libc::SIG_BLOCK, [signal]);
}

/// Work of the supervisor beside watching its worker.
pub trait Meanwhile {
    /// Called whenever a child of this process ends, and after each interval.
    ///
    /// # Errors
    /// Errors that end the campaign.
    fn look(&mut self) -> Result<()>;

    /// Time between two calls of [`Self::look`].
    fn interval(&self) -> Duration {
        Duration::from_secs(1)
    }

    /// Keys of the terminal; `None` if they are not read.
    fn keys(&mut self) -> Option<&mut Keyboard> {
        None
    }
}

impl<F: FnMut() -> Result<()>> Meanwhile for F {
    fn look(&mut self) -> Result<()> {
        self()
    }
}

/// Arguments of a worker.
#[derive(Debug)]
pub struct Restart<'a> {
    /// Memory with the checkpoint of the worker before, into which this one stores its own.
    pub vault: &'a Vault,
    /// Inputs that ended a worker: they are not run again.
    pub lost: &'a [Lost],
    /// Number of workers before this one.
    pub workers: u32,
    /// Process id of the worker before, if it ended unexpectedly: the checkpoint does not know what it wrote last.
    pub died: Option<libc::pid_t>,
}

/// Input whose run ended its worker.
#[derive(Clone, Debug)]
pub struct Lost {
    /// Hash of the input.
    pub hash: u64,
    /// Bytes of the input; empty once the next workers have recorded it.
    pub input: Vec<u8>,
    /// Way in which the worker ended.
    pub end: End,
    /// Whether the worker was killed because the run did not end: a hang.
    pub stuck: bool,
}

impl Lost {
    /// Adds an input, and forgets the bytes of one that was recorded long ago.
    fn add(lost: &mut Vec<Self>, input: Vec<u8>, end: End, stuck: bool) {
        if let Some(recorded) = lost.len().checked_sub(UNRECORDED) {
            lost[recorded].input = Vec::new();
        }
        lost.push(Self { hash: hash_std(&input), input, end, stuck });
    }

    /// Whether one of `lost` is this input.
    pub fn is_among(lost: &[Self], bytes: &[u8]) -> bool {
        if lost.is_empty() {
            return false;
        }
        let hash = hash_std(bytes);
        lost.iter().any(|one| one.hash == hash)
    }

    /// Description of the end, for findings.
    pub fn in_words(&self) -> String {
        format!("process ended: {}", self.end)
    }
}

/// Way in which a worker ends by itself.
#[derive(Debug)]
pub enum Outcome {
    /// The campaign is over, and everything is written.
    Over,
    /// The worker has to be started again from its checkpoint.
    Again,
}

/// Runs `work` in child processes until the campaign is over. `kills` runs an input in a process of its own and
/// returns whether that ends the process; it tells inputs that end a worker from workers that somebody killed.
///
/// # Errors
/// If a process cannot be started, or the target never gets as far as one run.
pub fn supervise(
    page: &InputPage,
    work: &mut dyn FnMut(&Restart) -> Result<Outcome>,
    kills: &dyn Fn(&[u8]) -> bool,
    meanwhile: &mut dyn Meanwhile,
) -> Result<ExitCode> {
    let vault = Vault::new()?;
    let mut lost: Vec<Lost> = Vec::new();
    let (mut futile, mut deaths) = (0, 0);
    // SAFETY: children that nobody waits for would leave no word of how they ended.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    // SIGTERM is not ignored: the supervisor uses it to ask its worker to end
    let ignored = process::ENDING.into_iter().filter(|&signal| signal != libc::SIGTERM && process::ignores(signal));
    IGNORED.store(ignored.fold(0, |all, signal| all | 1 << signal), Relaxed);
    let of_terminal = meanwhile.keys().map_or(&[][..], |_| &OF_TERMINAL);
    let wanted = WATCHED.iter().chain(of_terminal).copied().filter(|&signal| !process::ignores(signal));
    let set = mask(libc::SIG_BLOCK, wanted);
    let supervisor = std::process::id();
    let mut orphans = Orphans::adopt();
    let (mut requests, mut died) = (Requests::default(), None);
    for workers in 0.. {
        let (runs, began) = (page.runs(), Instant::now());
        // SAFETY: the supervisor has no other thread.
        let child = unsafe { process::fork()? };
        if child == 0 {
            // nobody would watch whether its runs end, and it holds the lock of the folder; what it has found is in files
            process::die_with_parent(supervisor);
            mask(libc::SIG_UNBLOCK, WATCHED.into_iter().chain(OF_TERMINAL));
            for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
                stop_on(signal);
            }
            if requests.number > 0 {
                STOP_REQUESTS.store(1, Relaxed);
            }
            process::leave(match work(&Restart { vault: &vault, lost: &lost, workers, died }) {
                Ok(Outcome::Over) => ExitCode::Ended as i32,
                Ok(Outcome::Again) => RESTART,
                Err(error) => {
                    vault.set_error(&error);
                    error.code as i32
                }
            });
        }
        let (end, stuck) = watch(child, page, &set, &mut requests, &mut orphans, meanwhile)?;
        died = (end != End::Code(RESTART)).then_some(child);
        match end {
            End::Code(code) if code == ExitCode::Ended as i32 => return Ok(ExitCode::Ended),
            End::Code(RESTART) => (futile, deaths) = (0, 0),
            _ => {
                if let Some(error) = vault.take_error() {
                    return Err(error);
                }
                if requests.number > 1 {
                    return Err(Error::other("stopped at once: what was found until the last checkpoint is written"));
                }
                if page.is_calling() {
                    let how = if stuck { "does not return".to_owned() } else { format!("ends the process ({end})") };
                    return Err(Error::target(format!(
                        "a library of --custom-mutator {how}: repair it, and go on with --resume, with it or without"
                    )));
                }
                if began.elapsed() >= LASTING {
                    deaths = 0;
                }
                let interrupted = page.interrupted();
                page.end();
                match interrupted {
                    Some(input) if stuck || kills(&input) => {
                        deaths = 0;
                        Lost::add(&mut lost, input, end, stuck);
                    }
                    None if page.runs() == runs => futile += 1,
                    _ => deaths += 1,
                }
                if deaths >= DEATHS {
                    return Err(Error::other(format!(
                        "the fuzzing process died {deaths} times in a row soon after its start ({end}), and no input makes it die again: \
                         --resume goes on from the last checkpoint"
                    )));
                }
                if futile >= FUTILE_STARTS {
                    return Err(Error::target(format!(
                        "the target ends its process before the first run ({end}): look at LLVMFuzzerInitialize and the \
                         constructors, with --debug-target"
                    )));
                }
            }
        }
    }
    unreachable!("workers are started until one of them is the last")
}

/// Wishes of the user that the campaign ends.
#[derive(Default)]
struct Requests {
    number: u32,
    last: Option<Instant>,
}

impl Requests {
    /// Takes a signal. Returns whether it is a new wish.
    fn add(&mut self) -> bool {
        let is_new = self.last.is_none_or(|last| last.elapsed() >= ONE_WISH);
        if is_new {
            self.number += 1;
            self.last = Some(Instant::now());
        }
        is_new
    }
}

/// Waits for the end of the worker. Passes signals on: the first asks it to stop after the current run, the second
/// kills it. Returns the end, and whether the worker was killed because its run did not end.
fn watch(
    child: libc::pid_t,
    page: &InputPage,
    set: &libc::sigset_t,
    requests: &mut Requests,
    orphans: &mut Orphans,
    meanwhile: &mut dyn Meanwhile,
) -> Result<(End, bool)> {
    // SAFETY: a child of ours that was not waited for.
    let kill = |signal| unsafe { libc::kill(child, signal) };
    let mut watchdog = Watchdog::new(page);
    let mut stuck = false;
    loop {
        if let Some(end) = process::poll(child)? {
            return Ok((end, stuck));
        }
        meanwhile.look()?;
        orphans.look(page.patience());
        match next_signal(set, meanwhile.interval()) {
            Some(signal) if OF_TERMINAL.contains(&signal) => {
                meanwhile.keys().into_iter().for_each(Keyboard::leave);
                has_its_effect(signal);
            }
            Some(signal) if signal != libc::SIGCHLD => {
                if requests.add() {
                    kill(if requests.number > 1 { libc::SIGKILL } else { libc::SIGTERM });
                }
            }
            _ => {
                if watchdog.is_stuck(page) {
                    stuck = true;
                    kill(libc::SIGKILL);
                }
            }
        }
    }
}
