//! Fuzzers that a bench can run: how a campaign is started, and where it leaves its inputs and its number of executions.

use std::{
    ffi::OsString,
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
    pub kind: &'static Kind,
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
pub(super) struct Kind {
    /// Its name on the command line.
    name: &'static str,
    title: &'static str,
    /// A program that it needs in `PATH`, and what to install.
    needs: Option<(&'static str, &'static str)>,
    /// Variables of its environment.
    pub environment: &'static [(&'static str, &'static str)],
    /// Whether it gives the program the arguments that `--` names.
    takes_arguments: bool,
    /// Whether an exit code other than 0 is an ordinary end.
    pub may_fail: bool,
    /// The words of its command: `{own}` is this program, `{program}` all words of the one that it fuzzes, `{path}` the first,
    /// `{extension}` the option for the extension of the input's file; see [`filled`] for others.
    command: &'static str,
    /// More words of its command, for `{further}`.
    further: &'static str,
    /// Folders that have to be there before it starts, below that of the campaign.
    pub prepared: &'static [&'static str],
    /// Folders that its inputs are in, below that of the campaign.
    folders: &'static [&'static str],
    /// Its number of executions, from the folder of the campaign.
    pub executions: fn(&Path) -> Option<u64>,
}

/// A fuzzer that a script runs, and what the known ones begin with.
const SCRIPT: Kind = Kind {
    name: "",
    title: "",
    needs: None,
    environment: &[],
    takes_arguments: false,
    may_fail: false,
    command: "{path} {seeds} {out} {seconds} {seed} {size}",
    further: "",
    prepared: &[],
    folders: &[],
    executions: |out| number_after(&out.join(PRINTED), EXECUTIONS),
};

/// A campaign of quagmire.
const QUAGMIRE: Kind = Kind {
    name: "quagmire",
    title: "quagmire",
    takes_arguments: true,
    // only the search is compared
    command: "{own} fuzz -i {seeds} -o {out}/out --seed {seed} --time {seconds}s --max-size {size} --quiet \
              --no-confirm --no-plotting {further} {extension} -- {program}",
    folders: &["out/queue", "out/degradations", "out/hangs", "out/faults"],
    executions: of_summary,
    ..SCRIPT
};

/// The known fuzzers: one more is one row, and the functions that it names.
static KINDS: [Kind; 4] = [
    QUAGMIRE,
    // Maxima of each edge's count and AFL's mutations alone, as PerfFuzz (Lemieux et al., ISSTA 2018) has them. Its own code
    // is of LLVM 4.
    Kind {
        name: "perffuzz",
        title: "PerfFuzz's feedback",
        further: "--rules havoc,splice,deterministic --no-mask --focus cost",
        ..QUAGMIRE
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
        command: "afl-fuzz -i {seeds} -o {out}/out -s {seed} -V {seconds} -G {size} -m none {extension} -- {program}",
        folders: &["out/default/queue", "out/default/hangs", "out/default/crashes"],
        executions: |out| number_after(&out.join("out/default/fuzzer_stats"), "execs_done"),
        ..SCRIPT
    },
    Kind {
        name: "libfuzzer",
        title: "libFuzzer",
        // it ends at the first input that crashes
        may_fail: true,
        command: "{program} -max_total_time={seconds} -seed={seed} -max_len={size} -report_slow_units=1 -timeout=60 \
                  -ignore_timeouts=1 -print_final_stats=1 -artifact_prefix={out}/slow/ {out}/corpus {seeds}",
        prepared: &["corpus", "slow"],
        folders: &["corpus", "slow"],
        executions: |out| number_after(&out.join(LOG), "stat::number_of_executed_units"),
        ..SCRIPT
    },
];

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
        let of = &contestant.name;
        let about =
            std::fs::metadata(&path).map_err(|error| Error::target(format!("cannot read {shown} of {of}: {error}")))?;
        if !about.is_file() || about.permissions().mode() & 0o111 == 0 {
            return Err(Error::target(format!("{shown} of {of} is no executable file")));
        }
        if !contestant.is_script && matches!(recognise(&path), Ok(ProgramKind::Mutants)) {
            return Err(Error::target(format!(
                "{shown} of {of} has mutants, which campaigns would not notice: build it without QUAGMIRE_MUTANTS"
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
        let mut words: Vec<OsString> = Vec::new();
        for word in self.kind.command.split_whitespace() {
            match word {
                "{own}" => words.push(std::env::current_exe().unwrap_or_else(|_| "quagmire".into()).into()),
                "{path}" => words.push(self.path.clone().into()),
                "{program}" => {
                    words.push(self.path.clone().into());
                    words.extend_from_slice(arguments);
                }
                "{further}" => words.extend(self.kind.further.split_whitespace().map(OsString::from)),
                "{extension}" => {
                    let extension = setup.options.score.files.extension.as_ref();
                    words.extend(extension.into_iter().flat_map(|extension| ["-e".into(), extension.into()]));
                }
                word => words.push(filled(word, setup)),
            }
        }
        Ok(words)
    }

    /// Whether a script runs it.
    pub(super) fn is_script(&self) -> bool {
        self.kind.name.is_empty()
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
}

/// A word of a command with what stands in it for parts of a campaign.
fn filled(word: &str, setup: &Setup) -> OsString {
    let mut filled = OsString::new();
    for part in word.split_inclusive('}') {
        let (text, name) = part.split_once('{').unwrap_or((part, ""));
        filled.push(text);
        match name {
            "seeds}" => filled.push(setup.seeds),
            "out}" => filled.push(setup.out),
            "seed}" => filled.push(setup.seed.to_string()),
            "seconds}" => filled.push(setup.options.seconds.to_string()),
            "size}" => filled.push(setup.options.max_size.to_string()),
            _ => {}
        }
    }
    filled
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
