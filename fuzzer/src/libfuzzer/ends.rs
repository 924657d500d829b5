//! Runs that end their process, reported as libFuzzer does: the line that names the error, a stack trace, a summary,
//! and the exit code.

use std::{ffi::c_void, fmt::Write as _, os::fd::RawFd, sync::OnceLock};

use quagmire_execution::{
    abi::{Event, Status},
    harness::Harness,
    process,
    symbols::Symbols,
    timer::{self, RunLimits},
};

use super::{console::Console, flags::Flags, limits};

/// Exit code of a run out of memory.
pub(super) const OUT_OF_MEMORY: i32 = 71;

/// Exit code after SIGINT or SIGTERM.
pub(super) const INTERRUPTED: i32 = 72;

/// Largest number of frames in a stack trace.
const FRAMES: usize = 256;

/// Function of the harness, with which a stack trace ends: the frames above are the engine's.
pub(super) const TEST: &str = "LLVMFuzzerTestOneInput";

/// Values of the reports of this process.
struct Reports {
    console: RawFd,
    error_code: i32,
    timeout_code: i32,
    /// Timeout in seconds.
    timeout: i64,
    /// Memory limit in MiB.
    memory: i64,
}

/// Static, since the function that reports is called by signal handlers, which get no value.
static REPORTS: OnceLock<Reports> = OnceLock::new();

/// Exit code of crashes.
pub(super) fn error_code(flags: &Flags) -> i32 {
    flags.number("error_exitcode") as i32
}

/// Exit code of timeouts.
pub(super) fn timeout_code(flags: &Flags) -> i32 {
    flags.number("timeout_exitcode") as i32
}

/// Makes whatever ends a run end this process with a report, and starts the timer with the limits of the flags.
pub(super) fn end_process(harness: &'static Harness, flags: &Flags, console: &Console) {
    // loads what it needs now, not in a signal handler
    frames();
    let reports = Reports {
        console: console.descriptor(),
        error_code: error_code(flags),
        timeout_code: timeout_code(flags),
        timeout: flags.number("timeout"),
        memory: flags.number("rss_limit_mb"),
    };
    // only the first caller's values count: there is one
    let _ = REPORTS.set(reports);
    harness.end_process(ended);
    let limits = limits(flags);
    let hang = flags.count("cut_after").map_or(limits.hang, std::time::Duration::from_secs);
    timer::watch(std::process::id() as libc::pid_t);
    harness.limit_allocations(allocation_limit(flags));
    harness.start_timer(RunLimits { hang, ..limits });
}

/// Size in bytes from which one allocation is out of memory.
pub(super) fn allocation_limit(flags: &Flags) -> u64 {
    let limit = flags.count("malloc_limit_mb").or(flags.count("rss_limit_mb"));
    limit.map_or(u64::MAX, |mib| mib << 20)
}

/// Return addresses of the calling functions.
fn frames() -> Vec<usize> {
    let mut frames: Vec<*mut c_void> = vec![std::ptr::null_mut(); FRAMES];
    // SAFETY: writes at most so many pointers.
    let count = unsafe { libc::backtrace(frames.as_mut_ptr(), FRAMES as libc::c_int) };
    frames.truncate(count.max(0) as usize);
    frames.into_iter().map(|frame| frame as usize).collect()
}

/// Stack trace of the target in the form of the sanitizers, from the place of the event to the function of the harness.
fn stack(event: &Event) -> String {
    let frames = frames();
    let symbols = &mut Symbols::new();
    let interrupted = frames.iter().position(|&frame| frame as u64 == event.pc);
    let places: Vec<_> = frames
        .iter()
        .enumerate()
        .skip(interrupted.unwrap_or(0))
        // a return address is behind its call
        .map(|(at, &frame)| (frame, symbols.place(frame - usize::from(Some(at) != interrupted))))
        .collect();
    // without an interrupted instruction, the trace begins in the engine: its last function is the one that was called
    let is_exit = |function: &str| matches!(function, "exit" | "_exit" | "_Exit" | "quick_exit");
    let begin = match interrupted {
        Some(_) => 0,
        None => places.iter().position(|(_, place)| is_exit(&place.function)).map_or(0, |at| at + 1),
    };
    let end = places.iter().rposition(|(_, place)| place.function == TEST).map_or(places.len(), |at| at + 1);
    let mut text = String::new();
    for (number, (address, place)) in places.get(begin..end).unwrap_or_default().iter().enumerate() {
        let location = place.location.as_deref().unwrap_or("(<unknown module>)");
        let _ = writeln!(text, "    #{number} {address:#x} in {} {location}", place.function);
    }
    text + "\n"
}

/// The line that names an error, and the word of the summary.
fn words(reports: &Reports, status: Status, event: &Event) -> (String, &'static str) {
    let process = std::process::id();
    let error = |what: &str| format!("=={process}== ERROR: libFuzzer: {what}\n");
    let seconds = reports.timeout;
    match status {
        Status::Hung => (
            format!(
                "ALARM: working on the last Unit for {seconds} seconds\n       \
                 and the timeout value is {seconds} (use -timeout=N to change)\n{}",
                error(&format!("timeout after {seconds} seconds"))
            ),
            "timeout",
        ),
        Status::Memory => {
            let used = match event.exit_code {
                0 => format!("used: {}Mb; limit: {}Mb", peak_mib(), reports.memory),
                bytes => format!("malloc({bytes})"),
            };
            let remedy = "   To change the out-of-memory limit use -rss_limit_mb=<N>\n\n";
            (error(&format!("out-of-memory ({used})")) + remedy, "out-of-memory")
        }
        Status::Exited => (error("fuzz target exited"), "fuzz target exited"),
        Status::Crashed | Status::Returned | Status::Rejected => (error("deadly signal"), "deadly signal"),
    }
}

/// Largest resident memory of this process so far, in MiB.
pub(super) fn peak_mib() -> u64 {
    // SAFETY: fills the record.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    usage.ru_maxrss as u64 / 1024
}

fn print(console: RawFd, text: &str) {
    // SAFETY: writes bytes that are there; a failure to print is no reason to fail.
    unsafe { libc::write(console, text.as_ptr().cast(), text.len()) };
}

/// Reports the end of a run, and ends the process.
unsafe extern "C" fn ended(status: Status, event: *const Event) {
    // SAFETY: the runtime's record.
    let event = unsafe { *event };
    let Some(reports) = REPORTS.get() else { process::leave(1) };
    let (error, summary) = words(reports, status, &event);
    print(reports.console, &error);
    print(reports.console, &stack(&event));
    if summary == "deadly signal" {
        let note = "NOTE: libFuzzer has rudimentary signal handlers.\n      \
                    Combine libFuzzer with AddressSanitizer or similar for better crash reports.\n";
        print(reports.console, note);
    }
    print(reports.console, &format!("SUMMARY: libFuzzer: {summary}\n"));
    process::leave(match status {
        Status::Hung => reports.timeout_code,
        Status::Memory => OUT_OF_MEMORY,
        _ => reports.error_code,
    })
}

/// Reports a run that wrote to its input, and ends the process.
pub(super) fn overwritten(flags: &Flags, console: &Console) -> ! {
    let process = std::process::id();
    console.say(&format!("=={process}== ERROR: libFuzzer: fuzz target overwrites its const input"));
    console.say("SUMMARY: libFuzzer: overwrites-const-input");
    process::leave(error_code(flags))
}
