//! Helpers that run the wrapper and the clang that it stands for.

mod missing;

pub(crate) use missing::skip;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// An installed LLVM.
#[derive(Clone)]
pub(crate) struct Llvm {
    pub(crate) major: u32,
    pub(crate) bindir: PathBuf,
}

/// The installed ones of LLVM 22, 19 and 14.
#[track_caller]
pub(crate) fn installed() -> Vec<Llvm> {
    let mut all = Vec::new();
    for major in [22, 19, 14] {
        all.extend(llvm(major));
    }
    all
}

#[track_caller]
fn llvm(major: u32) -> Option<Llvm> {
    let output = Command::new(format!("llvm-config-{major}")).arg("--bindir").output().ok();
    let bindir = output.map(|o| PathBuf::from(String::from_utf8_lossy(&o.stdout).trim()));
    let bindir = bindir.filter(|bindir| bindir.join("clang").exists());
    if bindir.is_none() {
        skip(&format!("llvm-{major}"), "install clang and the LLVM headers: scripts/install-deps --test");
    }
    bindir.map(|bindir| Llvm { major, bindir })
}

impl Llvm {
    pub(crate) fn clang(&self) -> Command {
        Command::new(self.bindir.join("clang"))
    }

    pub(crate) fn wrapper(&self) -> Command {
        let mut command = Command::new(compiler("quagmire-cc"));
        self.choose(&mut command);
        command
    }

    pub(crate) fn wrapperxx(&self) -> Command {
        let mut command = Command::new(compiler("quagmire-cxx"));
        self.choose(&mut command);
        command
    }

    /// Makes every wrapper that this command starts choose this LLVM, with a cache folder shared by all tests.
    pub(crate) fn choose(&self, command: &mut Command) {
        command.env("QUAGMIRE_LLVM_CONFIG", format!("llvm-config-{}", self.major)).env("QUAGMIRE_CACHE", cache());
    }
}

/// Path of a compiler of `examples`, which cargo builds with the tests.
pub(crate) fn compiler(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("this test");
    let folder = test.parent().and_then(Path::parent).expect("a folder of cargo's");
    let program = folder.join("examples").join(name);
    assert!(
        program.exists(),
        "{} is not there: cargo build -p quagmire-compiler-wrapper --examples",
        program.display()
    );
    program
}

fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache")
}

/// Runs a command in a folder with this standard input.
pub(crate) fn run(mut command: Command, folder: &Path, arguments: &[&str], input: &str) -> Output {
    use std::io::Write;
    // the linker of the system, whatever scripts/test puts in its place elsewhere
    let command = command.current_dir(folder).args(arguments).env_remove("COMPILER_PATH");
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    // a compiler that reads no input may have ended already
    let _ = child.stdin.take().expect("piped").write_all(input.as_bytes());
    child.wait_with_output().expect("it ends")
}

/// Runs a command that must succeed with an empty standard error, and returns its standard output.
pub(crate) fn must(command: Command, folder: &Path, arguments: &[&str]) -> String {
    let output = run(command, folder, arguments, "");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stderr.is_empty(), "{arguments:?}, {}: {stderr}", output.status);
    String::from_utf8(output.stdout).expect("text")
}

/// Whether the runtime is linked into this executable.
pub(crate) fn has_runtime(executable: &Path) -> bool {
    let output = Command::new("nm").arg(executable).output().expect("nm");
    String::from_utf8_lossy(&output.stdout).lines().any(|line| line.ends_with(" __quagmire_register"))
}

/// Copies a folder of `tests/testdata` to a temporary folder.
pub(crate) fn copied(name: &str) -> tempfile::TempDir {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/testdata").join(name);
    for entry in std::fs::read_dir(from).expect("testdata").flatten() {
        std::fs::copy(entry.path(), scratch.path().join(entry.file_name())).expect("copied");
    }
    scratch
}
