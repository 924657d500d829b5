//! Fuzzers that a bench can run: how a campaign is started, and where it leaves its inputs and its number of executions.

use std::{
    ffi::{OsStr, OsString},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use super::{BenchOptions, Contestant};
use quagmire_base::{
    error::{Error, Result},
    files,
};
use quagmire_execution::recognise::{ProgramKind, recognise};

/// One fuzzer of a bench.
#[derive(Clone, Debug)]
pub(super) struct Fuzzer {
    pub name: String,
    /// Name in tables.
    pub title: String,
    path: PathBuf,
    kind: &'static Kind,
}

/// Surroundings of a campaign.
pub(super) struct Setup<'a> {
    /// Folder of the seeds.
    pub seeds: &'a Path,
    /// Folder that the campaign may write to.
    pub out: &'a Path,
    pub seed: u64,
    pub options: &'a BenchOptions,
}

/// A kind of fuzzer.
#[derive(Debug)]
struct Kind {
    /// Its name on the command line.
    name: &'static str,
    title: &'static str,
    /// A program that it needs in `PATH`, and what to install.
    needs: Option<(&'static str, &'static str)>,
    /// Variables of its environment.
    environment: &'static [(&'static str, &'static str)],
    /// Whether it gives the program the arguments that `--` names.
    takes_arguments: bool,
    /// Whether an exit code other than 0 is an ordinary end.
    may_fail: bool,
    /// The words of its command, after those of the program that it fuzzes were made.
    command: fn(&Setup, &[OsString]) -> Vec<OsString>,
    /// Folders that have to be there before it starts, below that of the campaign.
    prepared: &'static [&'static str],
    /// Folders that its inputs are in, below that of the campaign.
    folders: &'static [&'static str],
    /// Its number of executions, from the folder of the campaign.
    executions: fn(&Path) -> Option<u64>,
}

/// The known fuzzers: one more is one row, and the functions that it names.
static KINDS: [Kind; 4] = [
    Kind {
        name: "quagmire",
        title: "quagmire",
        needs: None,
        environment: &[],
        takes_arguments: true,
        may_fail: false,
        command: |setup, program| quagmire(setup, program, &[]),
        prepared: &[],
        folders: &["out/queue", "out/degradations", "out/hangs", "out/faults"],
        executions: of_summary,
    },
    // Maxima of each edge's count and AFL's mutations alone, as PerfFuzz (Lemieux et al., ISSTA 2018) has them. Its own code
    // is of LLVM 4.
    Kind {
        name: "perffuzz",
        title: "PerfFuzz's feedback",
        needs: None,
        environment: &[],
        takes_arguments: true,
        may_fail: false,
        command: |setup, program| {
            quagmire(setup, program, &["--rules", "havoc,splice,deterministic", "--no-mask", "--focus", "cost"])
        },
        prepared: &[],
        folders: &["out/queue", "out/degradations", "out/hangs", "out/faults"],
        executions: of_summary,
    },
    Kind {
        name: "afl",
        title: "AFL++",
        needs: Some(("afl-fuzz", "AFL++ (Debian: afl++)")),
        environment: &[
            ("AFL_NO_UI", "1"),
            ("AFL_NO_AFFINITY", "1"),
            ("AFL_SKIP_CPUFREQ", "1"),
            ("AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES", "1"),
        ],
        takes_arguments: true,
        may_fail: false,
        command: afl,
        prepared: &[],
        folders: &["out/default/queue", "out/default/hangs", "out/default/crashes"],
        executions: |out| number_after(&out.join("out/default/fuzzer_stats"), "execs_done"),
    },
    Kind {
        name: "libfuzzer",
        title: "libFuzzer",
        needs: None,
        environment: &[],
        takes_arguments: false,
        // it ends at the first input that crashes
        may_fail: true,
        command: libfuzzer,
        prepared: &["corpus", "slow"],
        folders: &["corpus", "slow"],
        executions: |out| number_after(&out.join(LOG), "stat::number_of_executed_units"),
    },
];

/// Another fuzzer, which a script runs.
static SCRIPT: Kind = Kind {
    name: "",
    title: "",
    needs: None,
    environment: &[],
    takes_arguments: false,
    may_fail: false,
    command: script,
    prepared: &[],
    folders: &[],
    executions: |out| number_after(&out.join(PRINTED), EXECUTIONS),
};

/// Name of the file with what a campaign prints to standard error, and to standard output as well unless it is a script.
pub(super) const LOG: &str = "log";
/// Name of the file with what a script prints to standard output.
pub(super) const PRINTED: &str = "printed";
/// Beginning of the line in which a script prints its number of executions.
const EXECUTIONS: &str = "executions:";
/// Largest file of a fuzzer that is read for its number of executions, in bytes.
const LARGEST: u64 = 1 << 28;

/// Names of the fuzzers that need no script.
pub fn known_fuzzers() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|kind| kind.name)
}

impl Fuzzer {
    /// The fuzzer that the command line names.
    ///
    /// # Errors
    /// If it is not installed, or its program is not there or no executable.
    pub(super) fn of(contestant: &Contestant) -> Result<Self> {
        let kind = match KINDS.iter().find(|kind| kind.name == contestant.name && !contestant.is_script) {
            Some(kind) => kind,
            None if contestant.is_script => &SCRIPT,
            None => return Err(Error::usage(format!("--fuzzer {}: there is no such fuzzer", contestant.name))),
        };
        let path = std::path::absolute(&contestant.path).unwrap_or_else(|_| contestant.path.clone());
        let shown = contestant.path.display();
        let is_executable =
            std::fs::metadata(&path).map(|data| data.is_file() && data.permissions().mode() & 0o111 != 0);
        match is_executable {
            Ok(true) => {}
            Ok(false) => return Err(Error::target(format!("{shown} of {} is no executable file", contestant.name))),
            Err(error) => return Err(Error::target(format!("cannot read {shown} of {}: {error}", contestant.name))),
        }
        if !contestant.is_script && matches!(recognise(&path), Ok(ProgramKind::Mutants)) {
            return Err(Error::target(format!(
                "{shown} of {} has mutants, which campaigns would not notice: build it without QUAGMIRE_MUTANTS",
                contestant.name
            )));
        }
        if let Some((command, remedy)) = kind.needs
            && !is_in_path(command)
        {
            return Err(Error::target(format!("{command} is not in PATH: install {remedy}")));
        }
        let title = if kind.title.is_empty() { contestant.name.clone() } else { kind.title.to_owned() };
        Ok(Self { name: contestant.name.clone(), title, path, kind })
    }

    /// The words of the command of a campaign.
    ///
    /// # Errors
    /// If the program has arguments, and the fuzzer cannot give them.
    pub(super) fn command(&self, setup: &Setup) -> Result<Vec<OsString>> {
        let arguments = setup.options.score.program.get(1..).unwrap_or_default();
        if !arguments.is_empty() && !self.kind.takes_arguments && !self.is_script() {
            return Err(Error::usage(format!("{} gives a harness no arguments: leave this fuzzer out", self.title)));
        }
        let program: Vec<OsString> =
            std::iter::once(self.path.clone().into_os_string()).chain(arguments.iter().cloned()).collect();
        Ok((self.kind.command)(setup, &program))
    }

    /// Whether a script runs it.
    pub(super) fn is_script(&self) -> bool {
        std::ptr::eq(self.kind, &raw const SCRIPT)
    }

    pub(super) fn environment(&self) -> &'static [(&'static str, &'static str)] {
        self.kind.environment
    }

    /// Folders that have to be there before a campaign starts.
    pub(super) fn prepared(&self) -> &'static [&'static str] {
        self.kind.prepared
    }

    pub(super) fn may_fail(&self) -> bool {
        self.kind.may_fail
    }

    /// Folders with the inputs of a campaign, those that are there.
    pub(super) fn folders(&self, out: &Path) -> Vec<PathBuf> {
        let named: Vec<PathBuf> = if self.is_script() {
            let printed = lines(&out.join(PRINTED));
            printed.iter().filter(|line| !line.starts_with(EXECUTIONS)).map(|line| out.join(line)).collect()
        } else {
            self.kind.folders.iter().map(|folder| out.join(folder)).collect()
        };
        named.into_iter().filter(|folder| files::is_folder(folder)).collect()
    }

    /// Number of executions of a campaign, if the fuzzer says it.
    pub(super) fn executions(&self, out: &Path) -> Option<u64> {
        (self.kind.executions)(out)
    }
}

fn words(parts: &[&dyn AsRef<OsStr>]) -> Vec<OsString> {
    parts.iter().map(|part| part.as_ref().to_owned()).collect()
}

fn quagmire(setup: &Setup, program: &[OsString], further: &[&str]) -> Vec<OsString> {
    let own = std::env::current_exe().unwrap_or_else(|_| "quagmire".into());
    let out = setup.out.join("out");
    let [time, seed, size] =
        [format!("{}s", setup.options.seconds), setup.seed.to_string(), setup.options.max_size.to_string()];
    let mut command = words(&[&own, &"fuzz", &"-i", &setup.seeds, &"-o", &out, &"--seed", &seed, &"--time", &time]);
    // only the search is compared
    command.extend(words(&[&"--max-size", &size, &"--quiet", &"--no-confirm", &"--no-plotting"]));
    command.extend(further.iter().map(OsString::from));
    command.extend(extension(setup));
    command.push("--".into());
    command.extend_from_slice(program);
    command
}

/// The option for the extension of the input's file, which AFL++ has as well.
fn extension(setup: &Setup) -> impl Iterator<Item = OsString> {
    let extension = setup.options.score.files.extension.as_ref();
    extension.into_iter().flat_map(|extension| ["-e".into(), extension.into()])
}

fn afl(setup: &Setup, program: &[OsString]) -> Vec<OsString> {
    let out = setup.out.join("out");
    let [time, seed, size] =
        [setup.options.seconds, setup.seed, setup.options.max_size].map(|number| number.to_string());
    let mut command = words(&[&"afl-fuzz", &"-i", &setup.seeds, &"-o", &out, &"-s", &seed, &"-V", &time, &"-G", &size]);
    command.extend(words(&[&"-m", &"none"]));
    command.extend(extension(setup));
    command.push("--".into());
    command.extend_from_slice(program);
    command
}

fn libfuzzer(setup: &Setup, program: &[OsString]) -> Vec<OsString> {
    let (corpus, slow) = (setup.out.join("corpus"), setup.out.join("slow"));
    let mut command = program.to_vec();
    let mut prefix = OsString::from("-artifact_prefix=");
    prefix.push(slow);
    prefix.push("/");
    let BenchOptions { seconds, max_size, .. } = setup.options;
    for option in [
        format!("-max_total_time={seconds}"),
        format!("-seed={}", setup.seed),
        format!("-max_len={max_size}"),
        "-report_slow_units=1".to_owned(),
        "-timeout=60".to_owned(),
        "-ignore_timeouts=1".to_owned(),
        "-print_final_stats=1".to_owned(),
    ] {
        command.push(option.into());
    }
    command.push(prefix);
    command.extend(words(&[&corpus, &setup.seeds]));
    command
}

fn script(setup: &Setup, program: &[OsString]) -> Vec<OsString> {
    let [time, seed, size] =
        [setup.options.seconds, setup.seed, setup.options.max_size].map(|number| number.to_string());
    let mut command = program.get(..1).unwrap_or_default().to_vec();
    command.extend(words(&[&setup.seeds, &setup.out, &time, &seed, &size]));
    command
}

fn is_in_path(command: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(command).is_file()))
}

fn of_summary(out: &Path) -> Option<u64> {
    let text = files::read_named(&out.join("out/summary.json"), LARGEST).ok()?;
    serde_json::from_slice::<serde_json::Value>(&text).ok()?.get("executions")?.as_u64()
}

fn lines(path: &Path) -> Vec<String> {
    let text = files::read_named(path, LARGEST).unwrap_or_default();
    String::from_utf8_lossy(&text).lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// The number in the last line of a file that begins with `key`, after a colon.
fn number_after(path: &Path, key: &str) -> Option<u64> {
    let found = lines(path).into_iter().rfind(|line| line.starts_with(key))?;
    found.rsplit_once(':')?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_command_line_and_each_is_there_once() {
        let mut names: Vec<&str> = known_fuzzers().collect();
        assert_eq!(names, ["quagmire", "perffuzz", "afl", "libfuzzer"]);
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), KINDS.len());
    }

    #[test]
    fn the_last_line_of_a_log_has_the_number() {
        let folder = tempfile::tempdir().expect("a folder");
        let log = folder.path().join(LOG);
        std::fs::write(&log, "execs_done        : 12\nother: 5\nexecs_done : 34\nstat::units: 7\n").expect("written");
        assert_eq!(number_after(&log, "execs_done"), Some(34));
        assert_eq!(number_after(&log, "stat::units"), Some(7));
        assert_eq!(number_after(&log, "stat::number"), None);
        assert_eq!(number_after(&folder.path().join("none"), "execs_done"), None);
    }
}
