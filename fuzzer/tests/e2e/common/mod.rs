//! Shared parts of the tests: harnesses built with quagmire-cc, campaigns in scratch folders, and their results.

mod browser;
mod missing;

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::io::{ErrorKind, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub(crate) use browser::{Browser, View};
pub(crate) use missing::{may_skip, skip};
use serde_json::Value;

/// Timeout of all waits: long enough for any machine, and reached only by tests that fail.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// Folder with `quagmire`, `quagmire-cc` and the engine, as a user has them.
pub(crate) fn binaries() -> PathBuf {
    let usual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/release");
    let folder = std::env::var_os("QUAGMIRE_BIN").map_or(usual, PathBuf::from);
    for name in ["quagmire", "quagmire-cc", "quagmire-c++", "libquagmire.a"] {
        let path = folder.join(name);
        assert!(path.exists(), "{} is not there: run scripts/build first, or set QUAGMIRE_BIN", path.display());
    }
    folder.canonicalize().expect("it exists")
}

/// Path of a file of `tests/testdata`.
pub(crate) fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/testdata").join(name)
}

/// Command of the compiler wrapper for a source file, with this version of LLVM if one is given.
pub(crate) fn compiler(source: &str, llvm: Option<u32>) -> Command {
    let wrapper = if source.ends_with(".c") { "quagmire-cc" } else { "quagmire-c++" };
    let mut command = Command::new(binaries().join(wrapper));
    // many tests link objects of other compilers on purpose
    command.env("QUAGMIRE_WARN_UNCOUNTED", "0");
    if let Some(llvm) = llvm {
        command.env("QUAGMIRE_LLVM_CONFIG", format!("llvm-config-{llvm}"));
    }
    command
}

/// Whether a program can be started; if not, skips the test because of `what`.
#[track_caller]
pub(crate) fn has_program(program: &str, what: &str) -> bool {
    // looked for, not run: csmith writes a file where it runs, whatever it is asked
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).any(|folder| folder.join(program).is_file());
    if !found {
        skip(what, "scripts/install-deps --test installs it");
    }
    found
}

/// Versions of LLVM to test, 19 and 14, without those that may be missing.
#[track_caller]
pub(crate) fn llvms() -> Vec<u32> {
    let mut versions = vec![19, 14];
    versions.retain(|version| has_program(&format!("llvm-config-{version}"), &format!("llvm-{version}")));
    versions
}

/// Whether this process is root, for which file permissions have no effect.
pub(crate) fn is_root() -> bool {
    // SAFETY: asks for a number.
    unsafe { libc::geteuid() == 0 }
}

/// Builds a harness from a file of `tests/testdata` with the usual options, `-g -O1 -fsanitize=fuzzer`.
pub(crate) fn harness(source: &str) -> PathBuf {
    built(source, &["-g", "-O1", "-fsanitize=fuzzer"], None)
}

/// Builds a file of `tests/testdata` with these options, and returns the program. Builds once, and again when anything
/// that goes into it has changed.
pub(crate) fn built(source: &str, options: &[&str], llvm: Option<u32>) -> PathBuf {
    // two tests may build at a time, but not the same thing
    static BUILDING: Mutex<BTreeMap<PathBuf, Arc<Mutex<()>>>> = Mutex::new(BTreeMap::new());
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(folder_of_engine);
    let folder = &*FOLDER;
    let source_file = testdata(source);
    let mut key = DefaultHasher::new();
    (source, options, llvm, fs::read(&source_file).expect("testdata")).hash(&mut key);
    let stem = source.split('.').next().expect("a name");
    let path = folder.join(format!("{stem}-{:016x}", key.finish()));
    if path.exists() {
        return path;
    }
    let lock = BUILDING.lock().unwrap_or_else(PoisonError::into_inner).entry(path.clone()).or_default().clone();
    let _one_at_a_time = lock.lock().unwrap_or_else(PoisonError::into_inner);
    if path.exists() {
        return path;
    }
    let unfinished = folder.join(format!("{stem}-{:016x}-{}", key.finish(), std::process::id()));
    let mut command = compiler(source, llvm);
    // the source comes first: the order in which libraries have to follow it
    let output =
        command.arg(&source_file).args(options).arg("-o").arg(&unfinished).output().expect("quagmire-cc starts");
    assert!(output.status.success(), "{source} {options:?}: {}", String::from_utf8_lossy(&output.stderr));
    fs::rename(&unfinished, &path).expect("renamed");
    path
}

/// Folder for harnesses that link this build of the engine. Those of other builds are removed: they are of no more use, and
/// take hundreds of megabytes.
fn folder_of_engine() -> PathBuf {
    let mut key = DefaultHasher::new();
    for part in ["quagmire-cc", "libquagmire.a"] {
        fs::metadata(binaries().join(part)).and_then(|file| file.modified()).expect("a time").hash(&mut key);
    }
    let all = Path::new(env!("CARGO_TARGET_TMPDIR")).join("built");
    let folder = all.join(format!("{:016x}", key.finish()));
    fs::create_dir_all(&folder).expect("a folder for harnesses");
    for other in fs::read_dir(&all).expect("it was made").map(|entry| entry.expect("an entry").path()) {
        if other != folder {
            fs::remove_dir_all(&other).expect("removed");
        }
    }
    folder
}

/// Copies a program by another process. A file that this process has open for writing, and that a child which another
/// test is just starting has inherited, could not be executed.
pub(crate) fn copy_program(from: &Path, to: &Path) {
    run(Command::new("cp").arg("--").arg(from).arg(to)).ended();
}

/// Lock for tests that need two cores, or depend on the clock: only one of them runs at a time.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    // a test that failed has left nothing half done
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Exit code and output of a command.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// Asserts that the command succeeded and wrote nothing to standard error.
    #[track_caller]
    pub(crate) fn ended(self) -> Self {
        assert!(self.code == Some(0) && self.stderr.is_empty(), "{self:#?}");
        self
    }

    /// Asserts that the command was refused with this exit code, and with one line that contains all of these words.
    #[track_caller]
    pub(crate) fn refused(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:#?}");
        assert!(self.stderr.starts_with("quagmire: ") && self.stderr.ends_with('\n'), "{self:#?}");
        assert_eq!(self.stderr.lines().count(), 1, "more than one line: {self:#?}");
        for word in words {
            assert!(self.stderr.contains(word), "no `{word}` in {self:#?}");
        }
        for word in ["panicked", "RUST_BACKTRACE", "stack backtrace", "LibAFL", "Os {", "unwrap"] {
            assert!(!self.stderr.contains(word), "`{word}` in {self:#?}");
        }
    }
}

/// Runs a command to its end; fails if it does not end in time.
pub(crate) fn run(command: &mut Command) -> Run {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    ended(child.expect("it starts"))
}

/// Waits for the end of a command whose output is piped; fails if it does not end in time.
pub(crate) fn ended(mut child: Child) -> Run {
    let (mut out, mut err) = (child.stdout.take().expect("piped"), child.stderr.take().expect("piped"));
    let read = |stream: &mut dyn Read| {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("it can be read");
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let stderr = std::thread::spawn(move || read(&mut err));
    let stdout = std::thread::spawn(move || read(&mut out));
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break status;
        }
        if start.elapsed() > PATIENCE {
            child.kill().expect("a child");
            panic!("the command does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    Run { code: status.code(), stdout: stdout.join().expect("read"), stderr: stderr.join().expect("read") }
}

/// Makes the command start with this effect of SIGHUP, SIGINT and SIGQUIT.
pub(crate) fn with_signals(command: &mut Command, effect: libc::sighandler_t) {
    // SAFETY: async-signal-safe calls.
    unsafe {
        command.pre_exec(move || {
            for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT] {
                libc::signal(signal, effect);
            }
            Ok(())
        });
    }
}

/// Calls `ask` until it returns a value; fails if that takes too long.
#[track_caller]
pub(crate) fn wait_until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(start.elapsed() < PATIENCE, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// [`wait_until`] beside a campaign whose output is piped: fails with what the campaign has said.
#[track_caller]
pub(crate) fn wait_beside<T>(campaign: &mut Child, what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        if start.elapsed() > PATIENCE || campaign.try_wait().expect("a child").is_some() {
            let processes = fs::read_to_string(format!("/proc/{0}/task/{0}/children", campaign.id()));
            campaign.kill().expect("a child");
            let mut said = [String::new(), String::new()];
            campaign.stdout.take().expect("piped").read_to_string(&mut said[0]).expect("text");
            campaign.stderr.take().expect("piped").read_to_string(&mut said[1]).expect("text");
            panic!("waited in vain until {what}, {:?}; children: {processes:?}; {said:#?}", start.elapsed());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Sends a signal to a process.
pub(crate) fn signal(process: u32, signal: i32) {
    // SAFETY: a process that this test started.
    assert_eq!(unsafe { libc::kill(process as i32, signal) }, 0);
}

/// Whether a process exists and is no zombie.
pub(crate) fn is_alive(process: u32) -> bool {
    let state = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    state.rsplit(')').next().is_some_and(|rest| !rest.trim_start().starts_with('Z') && !rest.is_empty())
}

/// Ids of the processes that run this program.
pub(crate) fn processes(program: &Path) -> Vec<u32> {
    let listed = fs::read_dir("/proc").expect("processes").flatten();
    let numbers = listed.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter(|number| fs::read_link(format!("/proc/{number}/exe")).is_ok_and(|exe| exe == *program)).collect()
}

/// Ids of the children of a process.
pub(crate) fn children(process: u32) -> Vec<u32> {
    let listed = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
    listed.split_whitespace().map(|number| number.parse().expect("a number")).collect()
}

/// A scratch folder in which campaigns run: seeds in `seeds/`, output in `out/`.
pub(crate) struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    /// Creates a scratch folder with these seeds.
    pub(crate) fn new(seeds: &[(&str, &[u8])]) -> Self {
        let scene = Self { folder: tempfile::tempdir().expect("a scratch folder") };
        fs::create_dir(scene.path("seeds")).expect("created");
        for (name, bytes) in seeds {
            scene.write(&format!("seeds/{name}"), bytes);
        }
        scene
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("inside")).expect("created");
        fs::write(&path, bytes).expect("written");
        path
    }

    /// Command `quagmire` with these arguments, in the scratch folder.
    pub(crate) fn quagmire(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(binaries().join("quagmire"));
        command.current_dir(&self.folder).args(arguments).env_remove("QUAGMIRE_PROGRAM").env_remove("QUAGMIRE_COMMAND");
        // whoever started the tests may ignore some
        with_signals(&mut command, libc::SIG_DFL);
        command
    }

    /// Command for a campaign from `seeds` to `out` with these options.
    pub(crate) fn campaign(&self, harness: &Path, options: &str) -> Command {
        let mut command = self.quagmire(&["fuzz", "-i", "seeds", "-o", "out"]);
        command.args(options.split_whitespace()).arg("--").arg(harness);
        command
    }

    /// Runs a campaign to its end.
    pub(crate) fn fuzz(&self, harness: &Path, options: &str) -> Run {
        run(&mut self.campaign(harness, options))
    }

    /// Runs `quagmire replay --json` on these inputs with these options, and returns the reports of the inputs.
    pub(crate) fn replay(&self, harness: &Path, options: &str, inputs: &[&Path]) -> Vec<Value> {
        let mut command = self.quagmire(&["replay", "--json"]);
        let run = run(command.args(options.split_whitespace()).args(inputs).arg("--").arg(harness)).ended();
        let report: Value = serde_json::from_str(&run.stdout).expect("JSON");
        report["inputs"].as_array().expect("inputs").clone()
    }

    /// Contents of `summary.json`.
    pub(crate) fn summary(&self) -> Value {
        let text = fs::read_to_string(self.path("out/summary.json")).expect("a summary");
        serde_json::from_str(&text).expect("JSON")
    }

    /// Contents of `logs/quagmire.log`.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.path("out/logs/quagmire.log")).expect("a log")
    }

    /// Names and contents of the files in a folder, including hidden ones, without those that a campaign is just renaming.
    pub(crate) fn files(&self, folder: &str) -> BTreeMap<String, Vec<u8>> {
        let entries = fs::read_dir(self.path(folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
        let file = |entry: fs::DirEntry| match fs::read(entry.path()) {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            read => Some((entry.file_name().into_string().expect("text"), read.expect("a file"))),
        };
        entries.flatten().filter(|entry| entry.path().is_file()).filter_map(file).collect()
    }

    /// Names and contents of all files in the scratch folder except locks: they must survive a refusal.
    pub(crate) fn everything(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let kind = entry.file_type().expect("a type");
                if kind.is_dir() {
                    folders.push(entry.path());
                } else if kind.is_file() && entry.file_name() != ".lock" {
                    files.insert(entry.path(), fs::read(entry.path()).unwrap_or_default());
                }
            }
        }
        files
    }
}

/// Value of a count in a report.
#[track_caller]
pub(crate) fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is not a count"))
}
