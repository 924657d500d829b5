//! Trial of a harness: compiled, linked and run with its seeds.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use quagmire_base::{
    error::{Error, Result},
    shell,
};
use serde::Deserialize;

use super::{
    compiler::{Compiler, Flags, IS_GENERATED, Language, first_error, run},
    paths::{has_ending, is_aside, is_c},
    project::Project,
};

/// Longest time for all seeds of a harness.
const PATIENCE: Duration = Duration::from_secs(60);

/// Length of the campaign that shows whether a program reads its input: as many runs, or as long.
const RUNS: &str = "20000";
const TIME: &str = "3s";

/// Sources that are compiled without the project's build system.
const MOST_SOURCES: usize = 60;

/// Archives of tests and of other harnesses have functions of their own.
const LIBRARIES: &str =
    "-name '*.a' -not -name '*fuzz*' -not -name '*test*' -not -name '*gmock*' -not -path './fuzz-quagmire/*'";

/// Sources that can be compiled without the build system, and their options, by the header they belong to.
pub(super) type Compilable = RefCell<BTreeMap<PathBuf, (Vec<PathBuf>, Flags)>>;

/// A harness with its folder.
pub(super) struct Trial<'a> {
    pub(super) compiler: &'a Compiler<'a>,
    pub(super) project: &'a Project,
    /// Folder for what is made, below the project's.
    pub(super) folder: PathBuf,
    pub(super) source: PathBuf,
    pub(super) language: Language,
    pub(super) flags: Flags,
    pub(super) compilable: &'a Compilable,
}

/// Objects and libraries that a harness is linked with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum With {
    Nothing,
    /// Libraries that the build system has made, and options for more.
    Libraries(Vec<String>),
    /// Objects that the build system has made, and options for libraries: it makes no static one.
    Objects(Vec<String>),
    /// Sources, compiled here: in C and in C++.
    Sources {
        files: Vec<PathBuf>,
        flags: Flags,
    },
}

/// Results of the runs of the seeds.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Outcome {
    pub(super) returned: usize,
    pub(super) failed: Vec<PathBuf>,
    /// Least and most instructions of a seed that returned.
    pub(super) instructions: (u64, u64),
    /// How the first seed that did not return ended.
    pub(super) failure: Option<String>,
    pub(super) reach: Reach,
}

/// How far inputs get in a program, by a short campaign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reach {
    pub(super) edges: u64,
    /// Whether nearly all runs execute the same.
    pub(super) is_alike: bool,
}

#[derive(Deserialize)]
struct Summary {
    edges_found: u64,
    unseen: Unseen,
}

#[derive(Deserialize)]
struct Unseen {
    runs: u64,
    runs_alike: u64,
}

#[derive(Deserialize)]
struct Replay {
    inputs: Vec<Run>,
}

#[derive(Deserialize)]
struct Run {
    path: String,
    status: String,
    detail: Option<String>,
    #[serde(default)]
    instructions: Option<u64>,
}

impl Trial<'_> {
    fn in_folder(&self, name: &str) -> String {
        shell::word(self.folder.join(name).as_os_str())
    }

    /// Compiles the harness to an object.
    ///
    /// # Errors
    /// The inner error is the first of the compiler.
    pub(super) fn compile(&mut self) -> Result<Result<(), String>> {
        let (source, object) = (self.source.display().to_string(), self.folder.join("harness.o").display().to_string());
        let behind = ["-c", &source, "-o", &object];
        self.compiler.compile(self.language, &mut self.flags, &["-O2", "-g", "-I."], &behind)
    }

    /// Writes the script that builds the harness.
    pub(super) fn write_script(&self, with: &With) -> Result<()> {
        let path = self.project.root.join(&self.folder).join("build");
        let text = self.script(with);
        fs::write(&path, text).map_err(|error| Error::other(format!("cannot write {}: {error}", path.display())))
    }

    fn script(&self, with: &With) -> String {
        let up = "/..".repeat(self.folder.components().count());
        let mut lines = vec![
            "#!/bin/sh".to_owned(),
            "# Builds the harness in this folder: quagmire-cc and quagmire-c++ have to be on the path.".to_owned(),
            "set -eu".to_owned(),
            format!("cd \"$(dirname \"$0\"){up}\""),
        ];
        let source = shell::word(self.source.as_os_str());
        let compile = |language: Language, flags: &Flags, source: &str, object: &str| {
            format!("{} -O2 -g -I.{} -c {source} -o {object}", language.wrapper(), flags.words())
        };
        let (harness, object) = (self.in_folder("harness"), self.in_folder("harness.o"));
        lines.push(compile(self.language, &self.flags, &source, &object));
        let build = self.project.system().map_or(".", super::systems::BuildSystem::folder);
        let archive = self.in_folder("objects.a");
        let (libraries, more) = match with {
            With::Nothing => (String::new(), &Vec::new()),
            With::Libraries(more) => (format!(" -Wl,--start-group $(find {build} {LIBRARIES}) -Wl,--end-group"), more),
            With::Objects(more) => {
                lines.push(format!("rm -f {archive}"));
                lines.push(format!(
                    "find {build} -name '*.o' -not -path './fuzz-quagmire/*' | while read -r object; do\n  \
                     nm \"$object\" | grep -q ' T main$' || ar qcs {archive} \"$object\"\ndone"
                ));
                (format!(" {archive}"), more)
            }
            With::Sources { files, flags } => {
                lines.push(format!("rm -f {archive}"));
                let objects = shell::word(Path::new(super::OWN).join("objects").as_os_str());
                lines.push(format!("mkdir -p {objects}"));
                for file in files {
                    let name = super::plain_name(&format!("{}.o", file.display()));
                    let object = format!("{objects}/{}", shell::word(name.as_ref()));
                    let source = shell::word(file.as_os_str());
                    // init tries several harnesses with the same sources
                    let compile = compile(language_of(file), flags, &source, &object);
                    lines.push(format!("[ -n \"${{keep_objects-}}\" ] && [ {object} -nt {source} ] || {compile}"));
                    lines.push(format!("ar qcs {archive} {object}"));
                }
                (format!(" {archive}"), &Vec::new())
            }
        };
        let more: String = more.iter().map(|one| format!(" {one}")).collect();
        let linker = if self.language == Language::Cxx || self.project.has_cxx { Language::Cxx } else { Language::C };
        lines.push(format!("{} -g -fsanitize=fuzzer {object}{libraries}{more} -lm -o {harness}", linker.wrapper()));
        lines.join("\n") + "\n"
    }

    /// Writes the script and runs it.
    ///
    /// # Errors
    /// The inner error is the first of the compiler or linker.
    pub(super) fn link(&self, with: &With) -> Result<Result<(), String>> {
        self.write_script(with)?;
        let script = self.folder.join("build");
        let mut command = self.compiler.command("sh");
        let output = run(command.arg(&script).env("keep_objects", "1"), Duration::from_secs(600))?;
        Ok(if output.is_ok { Ok(()) } else { Err(first_error(&output.stderr)) })
    }

    /// Links with whatever there is: nothing, what has been built, sources.
    ///
    /// # Errors
    /// The inner error is that of the last try, or why there was none.
    pub(super) fn link_with_any(&self, header: &Path) -> Result<Result<With, String>> {
        let mut why = match self.link(&With::Nothing)? {
            Ok(()) => return Ok(Ok(With::Nothing)),
            Err(why) => why,
        };
        let build = self.project.system().map_or(".", super::systems::BuildSystem::folder);
        if self.project.is_counted(build) {
            let more = wanted_libraries(self.project);
            let all = [With::Libraries as fn(Vec<String>) -> With, With::Objects];
            for with in all.iter().flat_map(|with| [with(Vec::new()), with(more.clone())]) {
                match self.link(&with)? {
                    Ok(()) => return Ok(Ok(with)),
                    Err(told) => why = told,
                }
            }
            return Ok(Err(why));
        }
        let files = self.project.sources_of(header);
        if !files.is_empty() && files.len() <= MOST_SOURCES {
            let known = self.compilable.borrow().get(header).cloned();
            let (mut files, flags) = known.map_or_else(|| self.compilable(files), Ok)?;
            self.compilable.borrow_mut().insert(header.to_owned(), (files.clone(), flags.clone()));
            // what the harness includes is compiled with it
            files.retain(|file| file != header);
            if files.is_empty() {
                return Ok(Err(why));
            }
            let with = With::Sources { files, flags };
            match self.link(&with)? {
                Ok(()) => return Ok(Ok(with)),
                Err(told) => why = told,
            }
        }
        Ok(Err(why))
    }

    /// Those of the sources that can be compiled, and the options that they need.
    fn compilable(&self, files: Vec<PathBuf>) -> Result<(Vec<PathBuf>, Flags)> {
        let mut flags = self.flags.clone();
        let mut good = Vec::new();
        for file in files.into_iter().filter(|file| *file != self.source) {
            let name = file.display().to_string();
            match self.compiler.compile(language_of(&file), &mut flags, &["-fsyntax-only", "-w", "-I."], &[&name])? {
                Ok(()) => good.push(file),
                // the others need the build as well
                Err(why) if why.contains(IS_GENERATED) => return Ok((Vec::new(), flags)),
                Err(_) => {}
            }
        }
        Ok((good, flags))
    }

    /// Runs the seeds, and a short campaign with those that return.
    ///
    /// # Errors
    /// If the harness cannot be started, or says nothing that can be read.
    pub(super) fn run(&self, seeds: &[PathBuf]) -> Result<std::result::Result<Outcome, String>> {
        let program = self.project.root.join(&self.folder).join("harness");
        let mut command = self.compiler.command(&program);
        command.args(["replay", "--json", "-n", "1", "--hang-timeout", "5s"]).args(seeds);
        let output = run(&mut command, PATIENCE)?;
        let Ok(replay) = serde_json::from_str::<Replay>(&output.stdout) else {
            return Ok(Err(refusal(&output.stderr)));
        };
        let mut outcome = judge(&replay);
        if outcome.returned > 0 {
            let returned: Vec<&PathBuf> = seeds.iter().filter(|seed| !outcome.failed.contains(seed)).collect();
            match reach(self.compiler, &returned, &[program.into_os_string()])? {
                Ok(reach) => outcome.reach = reach,
                Err(why) => return Ok(Err(why)),
            }
        }
        Ok(Ok(outcome))
    }
}

/// Fuzzes a program for a moment.
///
/// # Errors
/// If the campaign cannot be started; the inner error is why it refuses the program.
pub(super) fn reach(
    compiler: &Compiler,
    seeds: &[&PathBuf],
    program: &[OsString],
) -> Result<std::result::Result<Reach, String>> {
    let folder = tempfile::tempdir().map_err(|error| Error::other(format!("cannot make a folder: {error}")))?;
    let out = folder.path().join("out");
    let mut command = compiler.command(std::env::current_exe().unwrap_or_else(|_| "quagmire".into()));
    command.args(["fuzz", "--execs", RUNS, "--time", TIME, "--seed", "1", "--no-confirm", "--quiet", "-o"]).arg(&out);
    for seed in seeds {
        command.arg("-i").arg(seed);
    }
    let output = run(command.arg("--").args(program), PATIENCE)?;
    let summary = fs::read(out.join("summary.json")).unwrap_or_default();
    let Ok(Summary { edges_found, unseen }) = serde_json::from_slice(&summary) else {
        return Ok(Err(refusal(&output.stderr)));
    };
    Ok(Ok(Reach { edges: edges_found, is_alike: unseen.runs_alike * 20 >= unseen.runs * 19 }))
}

/// Reason that a harness or `quagmire` gives for not running.
fn refusal(said: &str) -> String {
    let line = said.lines().find(|line| line.contains("quagmire:")).or_else(|| said.lines().next());
    line.unwrap_or("it cannot be run").trim_start_matches("quagmire: ").to_owned()
}

/// Judges what a replay has shown of seeds.
fn judge(replay: &Replay) -> Outcome {
    let mut outcome = Outcome { instructions: (u64::MAX, 0), ..Outcome::default() };
    for run in &replay.inputs {
        if run.status == "returned" {
            let count = run.instructions.unwrap_or(0);
            outcome.returned += 1;
            outcome.instructions = (outcome.instructions.0.min(count), outcome.instructions.1.max(count));
        } else {
            outcome.failed.push(run.path.clone().into());
            let how = run.detail.as_ref().map_or(run.status.clone(), |detail| format!("{} ({detail})", run.status));
            outcome.failure.get_or_insert(how);
        }
    }
    outcome
}

pub(super) fn language_of(file: &Path) -> Language {
    if is_c(file) { Language::C } else { Language::Cxx }
}

/// Programs that the wrapper has made, those that are named like the project first and tests last.
pub(super) fn built_programs(project: &Project, hints: &[String]) -> Vec<PathBuf> {
    let is_program = |path: &&PathBuf| {
        let full = project.root.join(path);
        let may_run = fs::metadata(&full).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0);
        may_run && !path.starts_with(super::OWN) && path.extension().is_none() && {
            let bytes = fs::read(&full).unwrap_or_default();
            let has = |text: &[u8]| memchr::memmem::find(&bytes, text).is_some();
            bytes.starts_with(b"\x7fELF") && has(b"/ld-linux") && has(b"__quagmire")
        }
    };
    let mut found: Vec<PathBuf> = project.all.iter().filter(is_program).cloned().collect();
    found.sort_by_key(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        (is_aside(path), !hints.iter().any(|hint| name.contains(hint.as_str())), path.clone())
    });
    found
}

/// Libraries of the system that the build's own files name.
fn wanted_libraries(project: &Project) -> Vec<String> {
    let named = regex::Regex::new(r"(?:^|[\s'=])-l([A-Za-z0-9_+.-]+)|/lib([A-Za-z0-9_+-]+)\.so\b").expect("a pattern");
    let own: BTreeSet<String> = project
        .all
        .iter()
        .filter_map(|path| {
            path.file_name()?.to_str()?.strip_prefix("lib")?.split_once(".a").map(|(name, _)| format!("-l{name}"))
        })
        .collect();
    let mut found = Vec::new();
    let is_told = |path: &&PathBuf| {
        has_ending(path, &["la", "pc", "txt"]) && !path.ends_with("CMakeLists.txt")
            || path.file_name().is_some_and(|name| name == "Makefile" || name == "build.ninja" || name == "link.txt")
    };
    for path in project.all.iter().filter(is_told) {
        let text = fs::read(project.root.join(path)).unwrap_or_default();
        for line in String::from_utf8_lossy(&text).lines().filter(|line| !line.starts_with('#')) {
            for one in
                named.captures_iter(line).filter_map(|one| Some(format!("-l{}", one.get(1).or(one.get(2))?.as_str())))
            {
                if !own.contains(&one) && !found.contains(&one) && is_installed(&one[2..]) {
                    found.push(one);
                }
            }
        }
    }
    found
}

/// Whether a library is in one of the usual folders.
fn is_installed(name: &str) -> bool {
    let folders = ["/usr/lib", "/usr/local/lib", "/lib", "/usr/lib64"];
    let machine = format!("{}-linux-gnu", std::env::consts::ARCH);
    folders
        .iter()
        .flat_map(|folder| [PathBuf::from(folder), Path::new(folder).join(&machine)])
        .any(|folder| ["so", "a"].iter().any(|ending| folder.join(format!("lib{name}.{ending}")).exists()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_that_do_not_return_are_told_from_the_others() {
        let run = |path: &str, status: &str, count| Run {
            path: path.into(),
            status: status.into(),
            detail: None,
            instructions: Some(count),
        };
        let outcome = judge(&Replay {
            inputs: vec![run("a", "returned", 100), run("b", "returned", 250), run("c", "crashed", 9)],
        });
        assert_eq!((outcome.returned, outcome.instructions), (2, (100, 250)));
        assert_eq!((&*outcome.failed, outcome.failure.as_deref()), (&["c".into()][..], Some("crashed")));
    }
}
