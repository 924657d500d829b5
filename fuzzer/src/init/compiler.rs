//! The compilers of quagmire, and what their messages say that can be mended.

use std::{
    fs,
    io::{BufReader, Read, Seek as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::LazyLock,
    thread,
    time::{Duration, Instant},
};

use quagmire_base::{
    error::{Error, Result},
    shell,
};
use regex::Regex;

use super::{declarations::Declarations, project::Project, syntax};

/// Longest time for one run of a compiler or a harness.
const PATIENCE: Duration = Duration::from_secs(120);

/// Most corrections of one command: each adds a folder of headers or an option.
const MOST_CORRECTIONS: usize = 24;

/// The remedy for a header of another project.
pub(super) const IS_MISSING: &str = "install its package";
/// The remedy for a header that is not there before the build.
pub(super) const IS_GENERATED: &str = "the build makes it";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    C,
    Cxx,
}

impl Language {
    pub(super) fn wrapper(self) -> &'static str {
        match self {
            Self::C => "quagmire-cc",
            Self::Cxx => "quagmire-c++",
        }
    }

    fn option(self) -> &'static str {
        match self {
            Self::C => "c",
            Self::Cxx => "c++",
        }
    }
}

/// Options of a compilation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags {
    /// Those with which the build compiles the project's sources.
    pub(super) of_build: Vec<String>,
    /// Folders with headers, below the project's.
    pub(super) folders: Vec<PathBuf>,
    /// Names of errors of this clang that older compilers had as warnings.
    pub(super) allowed: Vec<String>,
}

impl Flags {
    /// Those for a file that includes the project's headers: as the build compiles the source that is nearest to it.
    pub(super) fn of(project: &Project, file: &Path, language: Language) -> Self {
        Self { of_build: project.compilations.flags(file, language == Language::Cxx), ..Self::default() }
    }

    pub(super) fn arguments(&self) -> Vec<String> {
        let folders = self.folders.iter().map(|folder| format!("-I{}", folder.display()));
        let all = self.of_build.iter().cloned().chain(folders);
        all.chain(self.allowed.iter().map(|name| format!("-Wno-{name}"))).collect()
    }

    /// As words of a shell, with a blank before each.
    pub(super) fn words(&self) -> String {
        self.arguments().iter().map(|one| format!(" {}", shell::word(one.as_ref()))).collect()
    }

    /// Mends what a message complains of. Returns whether it is worth another try.
    fn mend(&mut self, messages: &str, project: &Project) -> bool {
        static MISSING: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r"([^\s:]*):\d+:\d+: (?:fatal )?error: '([^']+)' file not found").expect("a pattern")
        });
        let mut changed = false;
        for found in MISSING.captures_iter(messages) {
            let header = Path::new(&found[2]);
            let folder = project.folder_of(header, Path::new(&found[1])).or_else(|| system_folder(header));
            if let Some(folder) = folder
                && !self.folders.contains(&folder)
            {
                self.folders.push(folder);
                changed = true;
            }
        }
        for name in allowable(messages) {
            if !self.allowed.contains(&name) {
                self.allowed.push(name);
                changed = true;
            }
        }
        changed
    }
}

/// The folder of the system that has a header of a library in a folder of its own, such as `libxml2` or `glib-2.0`; `None` if there
/// are several.
fn system_folder(header: &Path) -> Option<PathBuf> {
    let machine = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
    let places = [("/usr/include", ""), ("/usr/local/include", ""), (&machine, "include")];
    let mut found = places.iter().flat_map(|(place, below)| {
        let folders = fs::read_dir(place).into_iter().flatten().flatten();
        folders.map(move |folder| folder.path().join(below)).filter(|folder| folder.join(header).is_file())
    });
    found.next().filter(|_| found.next().is_none())
}

/// Names of the errors in messages that an option turns off.
pub(super) fn allowable(messages: &str) -> Vec<String> {
    static NAMED: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?m)error: .*\[-W(?:error,-W)?([a-z+-]+)(?:=[^\]]*)?\]$").expect("a pattern"));
    let mut names: Vec<String> = NAMED.captures_iter(messages).map(|found| found[1].to_owned()).collect();
    names.sort();
    names.dedup();
    names
}

/// Clang's line behind the linker's own message.
pub(super) const ONLY_FAILED: &str = "linker command failed";

/// The first error in the messages of a compiler or linker, in one line.
pub(super) fn first_error(messages: &str) -> String {
    let lines = || messages.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_own = |line: &&str| line.starts_with("quagmire-c") && !line.contains("warning");
    let told = lines().find(|line| line.contains("error: ") && !line.contains(ONLY_FAILED));
    let undefined = lines().find(|line| {
        ["undefined reference", "undefined symbol", "cannot find -l"].iter().any(|one| line.contains(one))
    });
    let line = undefined.or(told).or_else(|| lines().find(is_own)).or_else(|| lines().next_back());
    line.unwrap_or("it says nothing").to_owned()
}

/// Output of a program.
pub(super) struct Output {
    pub(super) is_ok: bool,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// Compilers beside this program, started in the project's folder.
pub(super) struct Compiler<'a> {
    folder: PathBuf,
    project: &'a Project,
}

impl<'a> Compiler<'a> {
    /// # Errors
    /// If they are not there.
    pub(super) fn find(project: &'a Project) -> Result<Self> {
        let own = std::env::current_exe().ok().and_then(|own| own.parent().map(Path::to_path_buf));
        let folder = own.filter(|folder| folder.join("quagmire-cc").is_file());
        let folder =
            folder.ok_or_else(|| Error::other("quagmire-cc is not beside quagmire: install both (quagmire doctor)"))?;
        Ok(Self { folder, project })
    }

    /// A command in the project's folder that finds the compilers on its path.
    pub(super) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        let mut path = self.folder.clone().into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        command.current_dir(&self.project.root).env("PATH", path).env("QUAGMIRE_WARN_UNCOUNTED", "0");
        command
    }

    /// Repeats a compilation as long as its messages say how to mend it.
    ///
    /// # Errors
    /// The inner error is the first of the last one, in one line; the outer one says that there is no compiler.
    pub(super) fn mended<T>(
        &self,
        flags: &mut Flags,
        mut attempt: impl FnMut(&Flags) -> Result<Result<T, String>>,
    ) -> Result<Result<T, String>> {
        for _ in 0..MOST_CORRECTIONS {
            match attempt(flags)? {
                Ok(done) => return Ok(Ok(done)),
                Err(messages) if flags.mend(&messages, self.project) => {}
                Err(messages) => {
                    let why = first_error(&messages);
                    // of the wrapper itself: there is no clang
                    if why.starts_with("quagmire-c") {
                        return Err(Error::other(format!("{why} (quagmire doctor says what is missing)")));
                    }
                    return Ok(Err(self.with_remedy(why)));
                }
            }
        }
        Ok(Err("its headers include ever more headers".into()))
    }

    /// Compiles something as long as its messages say how to mend it: with these words before and behind the options.
    ///
    /// # Errors
    /// As [`Self::mended`].
    pub(super) fn compile(
        &self,
        language: Language,
        flags: &mut Flags,
        before: &[&str],
        behind: &[&str],
    ) -> Result<Result<(), String>> {
        self.mended(flags, |flags| {
            let words = |all: &[&str]| all.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
            let mut command = self.command(self.folder.join(language.wrapper()));
            let output = run(command.args([words(before), flags.arguments(), words(behind)].concat()), PATIENCE)?;
            Ok(if output.is_ok { Ok(()) } else { Err(output.stderr) })
        })
    }

    /// An error about a header that is not there, with what brings it.
    fn with_remedy(&self, message: String) -> String {
        let Some((_, rest)) = message.split_once("fatal error: '") else { return message };
        let name = rest.split('\'').next().unwrap_or_default();
        match self.project.is_generated(Path::new(name)) {
            true => format!("{message}; {IS_GENERATED}: build first"),
            false => format!("{message}; {IS_MISSING}, or give the folder (CPATH=FOLDER quagmire init ...)"),
        }
    }

    /// Declarations of a text that are in the files of the project.
    ///
    /// # Errors
    /// The inner error is the first that clang prints.
    pub(super) fn declarations(
        &self,
        text: &str,
        language: Language,
        flags: &mut Flags,
    ) -> Result<Result<Declarations, String>> {
        let unwritten = |error: std::io::Error| Error::other(format!("cannot write a file for clang: {error}"));
        let probe = tempfile::Builder::new().prefix("probe").suffix(".c").tempfile().map_err(unwritten)?;
        fs::write(probe.path(), text).map_err(unwritten)?;
        let path = probe.path().display().to_string();
        let is_wanted = |file: &str| self.project.is_own(Path::new(file));
        let end = ["-x", language.option(), "-fsyntax-only", "-w", "-I.", &path];
        // the tree of a header with errors is of no use, and takes longer
        if let Err(why) = self.compile(language, flags, &[], &end)? {
            return Ok(Err(why));
        }
        self.mended(flags, |flags| {
            let unmade = |error: std::io::Error| Error::other(format!("cannot make a file: {error}"));
            let mut errors = tempfile::tempfile().map_err(unmade)?;
            let messages = errors.try_clone().map_err(unmade)?;
            let mut command = self.command(self.folder.join(language.wrapper()));
            command.args(flags.arguments()).args(end).args(["-Xclang", "-ast-dump=json"]);
            let started = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(messages).spawn();
            let mut child =
                started.map_err(|error| Error::other(format!("cannot start {}: {error}", language.wrapper())))?;
            let read = syntax::read(BufReader::with_capacity(1 << 18, child.stdout.take().expect("piped")), is_wanted);
            if read.is_err() {
                let _ = child.kill();
            }
            let is_ok = child.wait().is_ok_and(|status| status.success());
            if !is_ok && read.is_ok() {
                let _ = errors.rewind();
                return Ok(Err(text_of(&mut errors)));
            }
            let nodes =
                read.map_err(|error| Error::other(format!("cannot read what clang knows of the header: {error}")))?;
            Ok(Ok(Declarations::of(nodes, &is_wanted)))
        })
    }
}

/// Runs a command to its end, with its output as text.
///
/// # Errors
/// If it cannot be started, or has to be ended because it takes too long.
pub(super) fn run(command: &mut Command, patience: Duration) -> Result<Output> {
    let name = Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let failed = |error: std::io::Error| Error::other(format!("cannot start {name}: {error}"));
    let started = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = started.map_err(failed)?;
    let (mut out, mut err) = (child.stdout.take().expect("piped"), child.stderr.take().expect("piped"));
    let (read_out, read_err) = (thread::spawn(move || text_of(&mut out)), thread::spawn(move || text_of(&mut err)));
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            break status;
        }
        if start.elapsed() > patience {
            let _ = child.kill();
            let _ = child.wait();
            return Err(Error::other(format!("{name} takes more than {} s", patience.as_secs())));
        }
        thread::sleep(Duration::from_millis(10));
    };
    Ok(Output {
        is_ok: status.success(),
        stdout: read_out.join().unwrap_or_default(),
        stderr: read_err.join().unwrap_or_default(),
    })
}

/// All that can be read, as text.
fn text_of(from: &mut impl Read) -> String {
    let mut bytes = Vec::new();
    let _ = from.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_old_c_is_refused_for_can_be_allowed() {
        let said = "a.c:1:2: error: incompatible function pointer types passing 'x' [-Wincompatible-function-pointer-types]\n\
                    b.c:2: warning: x [-Wunused]\nc.c:3: error: y [-Werror,-Wshadow]\n";
        assert_eq!(allowable(said), ["incompatible-function-pointer-types", "shadow"]);
    }

    #[test]
    fn the_first_error_is_the_one_that_tells() {
        assert_eq!(
            first_error(
                "x.o: in function `f':\nx.c:(.text+0x1): undefined reference to `g'\nclang: error: linker command failed with exit code 1"
            ),
            "x.c:(.text+0x1): undefined reference to `g'"
        );
        assert_eq!(first_error("a.c:1:1: warning: w\na.c:2:1: error: e\n"), "a.c:2:1: error: e");
    }
}
