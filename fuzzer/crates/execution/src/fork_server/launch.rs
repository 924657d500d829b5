//! Starting fork servers: pipes, environment, and errors of programs that do not get to their fork server.

use std::{
    ffi::OsString,
    io,
    os::{
        fd::{AsRawFd, FromRawFd, OwnedFd, RawFd},
        raw::c_int,
        unix::{ffi::OsStringExt, process::CommandExt},
    },
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    time::Duration,
};

use super::{INPUT_FILE, input::Input, is_input_file, reads_file};
use crate::{
    abi::{ANSWERS, INPUT, REQUESTS},
    pipes,
    process::{self, End, signal_name, usual_signals},
};
use quagmire_base::error::{Error, Result};

/// Longest time that a program may take to reach its fork server.
pub(crate) const START: Duration = Duration::from_secs(60);

/// Smallest number above those of the descriptors in servers.
const ABOVE_SERVERS: RawFd = 200;

/// Environment variable that keeps dynamic linking lazy, as without a fuzzer: a program may lack functions that it
/// never calls. Named as in AFL++.
const BINDS_LATE: &str = "LD_BIND_LAZY";

/// Settings of a fork server that differ by its kind.
pub(crate) struct Wanted<'a> {
    /// Additional descriptors: in this process, and in the server.
    pub descriptors: &'a [(RawFd, RawFd)],
    /// Additional environment variables.
    pub variables: &'a [(&'static str, String)],
    /// Descriptor under which the server holds the write end of its own requests, so that it never reads their end.
    pub own_requests: Option<RawFd>,
    /// Signal that the server gets when this process ends.
    pub last_signal: c_int,
    /// Whether the server gets an IPC namespace of its own, if permitted, so that System V segments and message
    /// queues that it leaves behind are freed. Not possible if it has to attach segments of this process.
    pub own_segments: bool,
    /// Whether what it prints before its runs goes to `/dev/null`.
    pub is_silent: bool,
}

/// A started process, and the pipes to it.
pub(crate) struct Started {
    pub process: Child,
    pub name: String,
    pub requests: io::PipeWriter,
    pub answers: io::PipeReader,
}

/// Makes the error of a failed system call that the user did not ask for.
pub(crate) fn cannot(what: &'static str) -> impl Fn(io::Error) -> Error {
    move |error| Error::other(format!("cannot {what}: {error}"))
}

/// Starts the program of `command` with its arguments.
pub(crate) fn start(command: &[OsString], input: &Input, wanted: &Wanted<'_>) -> Result<Started> {
    let [program, arguments @ ..] = command else {
        return Err(Error::usage("no program to run: end the command with `-- PROGRAM [ARGS... @@]`"));
    };
    let name = Path::new(program).display().to_string();
    let (server_requests, requests) = io::pipe().map_err(cannot("make a pipe"))?;
    let (answers, server_answers) = io::pipe().map_err(cannot("make a pipe"))?;
    let by_file = reads_file(command);
    let stdin = if by_file { Stdio::null() } else { Stdio::from(input.share().map_err(cannot("share inputs"))?) };
    let mut command = Command::new(program);
    let descriptor = format!("/proc/self/fd/{INPUT}");
    let path = input.path().unwrap_or(descriptor.as_bytes());
    command.args(arguments.iter().map(|argument| with_input_file(argument, path))).stdin(stdin);
    if let Some(folder) = input.working_folder() {
        command.current_dir(folder);
    }
    if wanted.is_silent {
        command.stdout(Stdio::null()).stderr(Stdio::null());
    }
    for (variable, value) in wanted.variables {
        command.env(variable, value);
    }
    // resolve symbols once in the server instead of in each child
    if !binds_late() {
        command.env("LD_BIND_NOW", "1");
    }
    for (variable, usual) in [
        ("ASAN_OPTIONS", "abort_on_error=1:symbolize=0:detect_leaks=0:allocator_may_return_null=1"),
        ("UBSAN_OPTIONS", "halt_on_error=1:abort_on_error=1:symbolize=0"),
    ] {
        if std::env::var_os(variable).is_none() {
            command.env(variable, usual);
        }
    }
    let mut given = vec![
        (server_requests.as_raw_fd(), REQUESTS),
        (server_answers.as_raw_fd(), ANSWERS),
        (input.as_raw_fd(), INPUT),
    ];
    given.extend(wanted.own_requests.map(|number| (requests.as_raw_fd(), number)));
    given.extend(wanted.descriptors);
    let sources = given.iter().map(|&(ours, _)| moved_up(ours)).collect::<io::Result<Vec<OwnedFd>>>();
    let sources = sources.map_err(cannot("share files with the program"))?;
    let given: Vec<(RawFd, RawFd)> =
        sources.iter().zip(given).map(|(source, (_, theirs))| (source.as_raw_fd(), theirs)).collect();
    let &Wanted { last_signal, own_segments, .. } = wanted;
    let parent = std::process::id();
    // SAFETY: async-signal-safe calls.
    unsafe {
        command.pre_exec(move || {
            for &(ours, theirs) in &given {
                if libc::dup2(ours, theirs) < 0 {
                    return Err(io::Error::last_os_error());
                }
            }
            detach(parent, last_signal)?;
            if own_segments {
                libc::unshare(libc::CLONE_NEWIPC);
            }
            Ok(())
        })
    };
    let child = command.spawn().map_err(|error| Error::target(format!("cannot start {name}: {error}")))?;
    process::note_child(child.id());
    drop(sources);
    Ok(Started { process: child, name, requests, answers })
}

/// Detaches this process, which `parent` has forked, from the terminal: Ctrl-C is for that one, and nothing in a run waits for
/// a key. It gets a signal when that one ends, and writes no core files. Async-signal-safe.
pub(super) fn detach(parent: u32, last_signal: c_int) -> io::Result<()> {
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: flags and limits of this process.
    unsafe {
        libc::setsid();
        libc::prctl(libc::PR_SET_PDEATHSIG, last_signal);
        libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
    }
    if std::os::unix::process::parent_id() != parent {
        return Err(io::ErrorKind::BrokenPipe.into()); // it has ended already
    }
    usual_signals();
    Ok(())
}

/// Duplicates a descriptor to a number above those that servers get. A process with many servers has descriptors of the
/// same numbers, which `dup2` would replace before their turn, or leave closed on `exec`.
pub(super) fn moved_up(descriptor: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: a plain system call.
    let moved = unsafe { libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, ABOVE_SERVERS) };
    if moved < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it is open, and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(moved) })
}

/// Waits for the first answer of the server, up to [`START`]. Returns whether it has written something or ended.
pub(crate) fn is_heard(answers: &io::PipeReader) -> bool {
    pipes::readable([answers], START) == [true]
}

/// Describes in parentheses how a program has ended too early, and what to do about it.
pub(crate) fn early_end(status: io::Result<ExitStatus>) -> String {
    // exit code of the dynamic linker
    let lacks = status.as_ref().is_ok_and(|status| status.code() == Some(127)) && !binds_late();
    let why = if lacks {
        format!(
            "with LD_BIND_NOW=1 to see why; if it ends so only then, it lacks what it never calls: set {BINDS_LATE}=1"
        )
    } else {
        "to see why, or build it again with quagmire-cc".to_owned()
    };
    format!("({}): run it by hand {why}", end_of(status))
}

fn binds_late() -> bool {
    std::env::var_os(BINDS_LATE).is_some()
}

/// Describes how a process that was waited for has ended.
fn end_of(status: io::Result<ExitStatus>) -> String {
    use std::os::unix::process::ExitStatusExt;
    match status {
        Err(error) => error.to_string(),
        Ok(status) => match status.signal() {
            Some(signal) => signal_name(signal),
            None => End::Code(status.code().unwrap_or(0)).to_string(),
        },
    }
}

/// Replaces `@@` in an argument by the path of the input file.
pub(super) fn with_input_file(argument: &OsString, path: &[u8]) -> OsString {
    if !is_input_file(argument) {
        return argument.clone();
    }
    let bytes = argument.clone().into_vec();
    let mut result = Vec::new();
    let mut rest = bytes.as_slice();
    while let Some((&first, others)) = rest.split_first() {
        if let Some(behind) = rest.strip_prefix(INPUT_FILE.as_bytes()) {
            result.extend_from_slice(path);
            rest = behind;
        } else {
            result.push(first);
            rest = others;
        }
    }
    OsString::from_vec(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_with_the_numbers_of_the_server_arrive_as_those_that_were_meant() {
        use std::io::Read;
        let (first, second) = (crate::process::memory_file(c"first"), crate::process::memory_file(c"second"));
        let (first, second) = (first.expect("memory"), second.expect("memory"));
        std::io::Write::write_all(&mut &first, b"first").expect("written");
        std::io::Write::write_all(&mut &second, b"second").expect("written");
        // the numbers of this process, exchanged in the server
        let (a, b) = (moved_up(first.as_raw_fd()).expect("moved"), moved_up(second.as_raw_fd()).expect("moved"));
        let (a, b) = (a.as_raw_fd(), b.as_raw_fd());
        let command = ["sh", "-c", &format!("cat /proc/self/fd/{a} /proc/self/fd/{b} >/proc/self/fd/{ANSWERS}")]
            .map(OsString::from);
        let wanted = Wanted {
            descriptors: &[(a, b), (b, a)],
            variables: &[],
            own_requests: None,
            last_signal: libc::SIGKILL,
            own_segments: false,
            is_silent: true,
        };
        let input = Input::new(false).expect("memory");
        let mut started = start(&command, &input, &wanted).expect("started");
        let mut text = String::new();
        started.answers.read_to_string(&mut text).expect("read");
        assert!(started.process.wait().expect("ended").success());
        assert_eq!(text, "secondfirst");
    }

    #[test]
    fn the_name_of_the_input_takes_the_place_of_its_sign() {
        let replaced = |text: &str| with_input_file(&text.into(), b"/proc/self/fd/196").into_string().expect("text");
        assert_eq!(replaced("@@"), "/proc/self/fd/196");
        assert_eq!(replaced("--in=@@,@@"), "--in=/proc/self/fd/196,/proc/self/fd/196");
        assert_eq!(replaced("a@b"), "a@b");
        assert!(reads_file(&["@@".into(), "@@".into()]) && !reads_file(&["@@".into(), "a".into()]));
    }
}
