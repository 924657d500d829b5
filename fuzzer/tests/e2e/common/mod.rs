//! Shared parts of the tests: harnesses built with quagmire-cc, campaigns in scratch folders, and their results.

mod browser;
mod fields;
mod missing;

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::io::{ErrorKind, Read};
use std::os::unix::process::CommandExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
// what nearly every test needs
pub(crate) use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::LazyLock,
};

pub(crate) use browser::{Browser, View};
pub(crate) use fields::{records, relation_fields};
pub(crate) use missing::{may_skip, skip};
pub(crate) use serde_json::{Value, json};

/// A seed for harnesses that take any text.
pub(crate) const GREETING: &[(&str, &[u8])] = &[("greeting", b"hello world, hello")];

/// Timeout of all waits: long enough for any machine, and reached only by tests that fail.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);

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
    // another machine, whose programs this one can run: scripts/test-aarch64
    command.args(std::env::var("QUAGMIRE_TESTS_TARGET").map(|target| format!("--target={target}")));
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
        skip(what, "scripts/test installs it");
    }
    found
}

/// Versions of LLVM to test, the newest first, without those that may be missing.
#[track_caller]
pub(crate) fn llvms() -> Vec<u32> {
    let mut versions = vec![22, 19, 14];
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
    harness_with(source, &[])
}

/// Builds a harness from a file of `tests/testdata` with the usual options and these.
pub(crate) fn harness_with(source: &str, options: &[&str]) -> PathBuf {
    built(source, &[&["-g", "-O1", "-fsanitize=fuzzer"], options].concat(), None)
}

/// Builds a harness of `tests/testdata` by clang with its own libFuzzer.
pub(crate) fn reference(source: &str) -> PathBuf {
    made_once("of-clang", source, |path| {
        let mut command = Command::new("clang");
        run(command.args(["-g", "-O1", "-fsanitize=fuzzer"]).arg(testdata(source)).arg("-o").arg(path)).ended();
    })
}

/// Builds a file of `tests/testdata` with these options, and returns the program. Builds once, and again when anything
/// that goes into it has changed.
pub(crate) fn built(source: &str, options: &[&str], llvm: Option<u32>) -> PathBuf {
    let stem = source.split('.').next().expect("a name");
    let text = fs::read(testdata(source)).expect("testdata");
    made_once(stem, (source, options, llvm, text), |path| {
        // the source comes first: the order in which libraries have to follow it
        let mut command = compiler(source, llvm);
        let output = command.arg(testdata(source)).args(options).arg("-o").arg(path).output();
        let output = output.expect("quagmire-cc starts");
        assert!(output.status.success(), "{source} {options:?}: {}", String::from_utf8_lossy(&output.stderr));
    })
}

/// Path in the folder of this build that `make` has created, once for all tests with this name and key.
fn made_once(name: &str, key: impl Hash, make: impl FnOnce(&Path)) -> PathBuf {
    // two tests may make something at a time, but not the same thing
    static MAKING: Mutex<BTreeMap<PathBuf, Arc<Mutex<()>>>> = Mutex::new(BTreeMap::new());
    let mut hash = DefaultHasher::new();
    key.hash(&mut hash);
    let path = FOLDER.join(format!("{name}-{:016x}", hash.finish()));
    let lock = MAKING.lock().unwrap_or_else(PoisonError::into_inner).entry(path.clone()).or_default().clone();
    let _one_at_a_time = lock.lock().unwrap_or_else(PoisonError::into_inner);
    if !path.exists() {
        let unfinished = FOLDER.join(format!("{name}-{:016x}-{}", hash.finish(), std::process::id()));
        make(&unfinished);
        // another process of tests may have been faster
        assert!(fs::rename(&unfinished, &path).is_ok() || path.exists(), "{}", path.display());
    }
    path
}

/// Folder for harnesses and campaigns of this build.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(folder_of_build);

/// Creates the folder of this build. Those of other builds are removed: they are of no more use, and take hundreds of
/// megabytes.
fn folder_of_build() -> PathBuf {
    let mut key = DefaultHasher::new();
    for part in ["quagmire", "quagmire-cc", "libquagmire.a"] {
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

/// A copy of the folder of a campaign over `quadratic.c` that started from [`GREETING`] and found degradations, and what the
/// campaign has printed. It is run once for all tests, with the machine for itself.
pub(crate) fn finished() -> (Scene, String) {
    let kept = made_once("campaign", (), |path| {
        let _alone = alone();
        let scene = Scene::new(GREETING);
        let end = scene.fuzz(&harness("quadratic.c"), "--execs 5000 --seed 3 --max-size 1000").ended();
        scene.write("printed", end.stdout.as_bytes());
        run(Command::new("cp").arg("-r").arg(scene.path("")).arg(path)).ended();
    });
    let scene = Scene { folder: tempfile::tempdir().expect("a scratch folder") };
    run(Command::new("cp").arg("-rT").arg(&kept).arg(scene.path(""))).ended();
    let printed = scene.read("printed");
    fs::remove_file(scene.path("printed")).expect("removed");
    (scene, printed)
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

    /// Asserts that the command succeeded, whatever it wrote to standard error.
    #[track_caller]
    pub(crate) fn succeeded(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:#?}");
        self
    }

    /// Standard output as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
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
    ended(start(command))
}

/// Starts a command without input, whose output is piped.
pub(crate) fn start(command: &mut Command) -> Child {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
}

/// Starts a command without input, whose output nobody reads.
pub(crate) fn start_silently(command: &mut Command) -> Child {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts")
}

/// Interrupts a command whose output is piped, as Ctrl-C does, and waits for its end.
pub(crate) fn interrupted(child: Child) -> Run {
    signal(child.id(), libc::SIGINT);
    ended(child)
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

/// Waits until processes have gone.
#[track_caller]
pub(crate) fn wait_for_end(what: &str, processes: &[u32]) {
    wait_until(what, || (!processes.iter().any(|process| is_alive(*process))).then_some(()));
}

/// Waits until a campaign has a worker that is none of these, and returns its id.
#[track_caller]
pub(crate) fn worker(campaign: &Child, but: &[u32]) -> u32 {
    wait_until("there is a worker", || children(campaign.id()).into_iter().find(|process| !but.contains(process)))
}

/// Whether a process is `quagmire replay`.
pub(crate) fn is_replay(process: &u32) -> bool {
    let words = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    words.split(|byte| *byte == 0).any(|word| word == b"replay")
}

/// Runs a command where not a byte is free in `/dev/shm`; `None` if this system cannot do that.
#[track_caller]
pub(crate) fn with_full_dev_shm(command: &Command, variables: &[(&str, &Path)]) -> Option<Run> {
    const SKIPPED: i32 = 77;
    let script = "mount -t tmpfs -o size=4k quagmire-test /dev/shm && head -c 4096 /dev/zero >/dev/shm/full &&
        ! echo more >/dev/shm/more 2>/dev/null && exec \"$@\"; exit 77";
    let mut shell = Command::new("unshare");
    shell.args(["--mount", "sh", "-c", script, "sh"]).arg(command.get_program()).args(command.get_args());
    let run = run(shell.current_dir(command.get_current_dir().expect("that of a scene")).envs(variables.to_vec()));
    let is_possible = is_root() && run.code != Some(SKIPPED) && !run.stderr.contains("unshare failed");
    if !is_possible {
        skip("mounts", MOUNTS);
    }
    is_possible.then_some(run)
}

/// Remedy for tests that mount a small file system.
pub(crate) const MOUNTS: &str = "run the tests as root, in a container that may mount file systems";

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

    /// Text of a file.
    #[track_caller]
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Contents of a file of JSON.
    #[track_caller]
    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).expect("JSON")
    }

    /// Compiles a file of this folder or of `tests/testdata` to `name`, with these options and environment variables.
    #[track_caller]
    pub(crate) fn compile(&self, name: &str, source: &str, options: &[&str], variables: &[(&str, &str)]) -> PathBuf {
        let (own, program) = (self.path(source), self.path(name));
        let source_file = if own.is_file() { own } else { testdata(source) };
        let mut command = compiler(source, None);
        command.current_dir(&self.folder).envs(variables.to_vec()).arg(source_file).args(options);
        run(command.arg("-o").arg(&program)).ended();
        program
    }

    /// Writes a source to this folder, and compiles it with this compiler.
    #[track_caller]
    pub(crate) fn compile_by(&self, compiler: &str, name: &str, source: &str, options: &[&str]) -> PathBuf {
        let (file, program) = (self.write(&format!("{name}.c"), source.as_bytes()), self.path(name));
        run(Command::new(compiler).args(options).arg(file).arg("-o").arg(&program)).succeeded();
        program
    }

    /// Runs lines of the shell in this folder, with quagmire and its compilers on the path.
    pub(crate) fn shell(&self, lines: &str) -> Run {
        shell(self.folder.path(), lines)
    }

    /// Command `quagmire` with these arguments, in the scratch folder.
    pub(crate) fn quagmire(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(binaries().join("quagmire"));
        command.current_dir(&self.folder).args(arguments).env_remove("QUAGMIRE_PROGRAM").env_remove("QUAGMIRE_COMMAND");
        // whoever started the tests may ignore some
        with_signals(&mut command, libc::SIG_DFL);
        command
    }

    /// Runs `quagmire` with these words and the program behind `--`.
    pub(crate) fn ask(&self, words: &str, program: &Path) -> Run {
        let words: Vec<&str> = words.split_whitespace().chain(["--"]).collect();
        run(self.quagmire(&words).arg(program))
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
    pub(crate) fn replay(&self, harness: &Path, options: &str, files: &[&Path]) -> Vec<Value> {
        let mut command = self.quagmire(&["replay", "--json"]);
        inputs(command.args(options.split_whitespace()).args(files).arg("--").arg(harness))
    }

    /// Contents of `summary.json`.
    pub(crate) fn summary(&self) -> Value {
        self.json("out/summary.json")
    }

    /// Contents of `logs/quagmire.log`.
    pub(crate) fn log(&self) -> String {
        self.read("out/logs/quagmire.log")
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

/// Runs lines of the shell in a folder, with quagmire and its compilers on the path.
pub(crate) fn shell(folder: &Path, lines: &str) -> Run {
    let path = format!("{}:{}", binaries().display(), std::env::var("PATH").unwrap_or_default());
    run(Command::new("sh").args(["-euc", lines]).current_dir(folder).env("PATH", path))
}

/// Runs a command `quagmire replay --json`, and returns the reports of the inputs.
#[track_caller]
pub(crate) fn inputs(command: &mut Command) -> Vec<Value> {
    array(&run(command).ended().json()["inputs"]).clone()
}

/// Executions of a line in the report of an input, in a function if one is named; 0 if it has none.
pub(crate) fn executions(input: &Value, function: &str, line: u64) -> u64 {
    let is_it = |one: &&Value| one["line"] == line && (function.is_empty() || one["function"] == function);
    array(&input["lines"]).iter().filter(is_it).map(|one| number(&one["count"])).max().unwrap_or(0)
}

/// Values of a list in a report.
#[track_caller]
pub(crate) fn array(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap_or_else(|| panic!("{value} is not a list"))
}

/// Value of a text in a report.
#[track_caller]
pub(crate) fn string(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is not a text"))
}

/// Value of a fraction in a report.
#[track_caller]
pub(crate) fn float(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"))
}

/// Value of a count in a report.
#[track_caller]
pub(crate) fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is not a count"))
}
