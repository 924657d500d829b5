//! `quagmire init`: writes a harness for a function of a project, builds and runs it, and prints the command that fuzzes it;
//! or prints the commands that build the project with the wrapper.

mod call;
mod cargo;
mod compilations;
mod compiler;
mod declarations;
mod harness;
mod input;
mod interfaces;
mod paths;
mod project;
mod seeds;
mod session;
mod syntax;
mod systems;
mod trial;
mod types;
mod words;

use std::{
    io::IsTerminal as _,
    path::{Path, PathBuf},
};

use clap::Parser;
use quagmire_analysis::command::{Command, EXIT_CODES};
use quagmire_base::{
    error::{Error, ExitCode, Result},
    plain::{self, Form},
    shell,
};

use self::{
    compiler::{Compiler, ONLY_FAILED, allowable, first_error, run as run_command},
    project::Project,
    session::Session,
    systems::BuildSystem,
};

/// Folder in which the printed commands build, if the build system builds outside of its sources.
const BUILD: &str = "build-quagmire";

/// Folder for harnesses, with their seeds and programs.
const OWN: &str = "fuzz-quagmire";

/// Commands for a project of OSS-Fuzz.
const OSS_FUZZ: &str =
    "# a project of OSS-Fuzz: scripts/oss-fuzz in quagmire's checkout builds it (chapter \"Services\")";

/// Longest time for the build of a project.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(3600);

/// The variable by which clang takes options behind all others, so that warnings stay warnings.
const LENIENT: &str = "export CCC_OVERRIDE_OPTIONS='# +-Wno-error'\n";

/// Tools that builds start, and what brings them.
const TOOLS: [(&str, &str); 7] = [
    // GCC has its own
    ("-lomp", "install libomp-dev of clang's version"),
    ("OpenMP", "install libomp-dev of clang's version"),
    ("autoreconf:", "install autoconf, automake and libtool"),
    // a macro that autoconf did not know
    ("PKG_", "install pkg-config, and type autoreconf -fi"),
    ("cmake:", "install cmake"),
    ("meson:", "install meson and ninja-build"),
    ("make:", "install make"),
];

/// Write, build and run a harness for the project in this folder
#[derive(Debug, Parser)]
#[command(
    name = "init",
    override_usage = "quagmire init [FOLDER|HEADER] [--function NAME] [--build]",
    long_about = "Writes a harness for a function of the sources in a folder, the one that is named or the one that promises most, \
                  with seeds from the project's tests; builds and runs it, and prints the command that fuzzes it. What has to be \
                  built before (CMake, Meson, autotools, a Makefile) is printed, and done with --build. Harnesses, cargo-fuzz and \
                  OSS-Fuzz are recognised.",
    after_help = EXIT_CODES
)]
pub(crate) struct Init {
    /// The folder with the sources, or a header or source in the one that this is started in [default: this folder]
    #[arg(value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Write a harness for this function, with or without its namespace and class
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    /// Build the project with the wrapper first, by the commands that are printed otherwise
    #[arg(long)]
    build: bool,
}

impl Command for Init {
    fn run_alone(&mut self) -> Option<Result<ExitCode>> {
        Some(run(self))
    }
}

/// Runs `quagmire init`.
///
/// # Errors
/// If the folder cannot be read or holds nothing that can be built, if the compilers are missing, or if the function that is
/// asked for cannot be called or does not read its input.
fn run(args: &Init) -> Result<ExitCode> {
    let given = args.folder.as_deref().unwrap_or(Path::new("."));
    // a header or source, which lies in the project that this is started in
    let file = given.is_file().then(|| given.strip_prefix(".").unwrap_or(given).to_path_buf());
    let folder = if file.is_some() { Path::new(".") } else { given };
    let mut project = Project::look_at(folder)?;
    let mut lines = Vec::new();
    if folder != Path::new(".") {
        lines.push(format!("cd {}", shown(folder)));
    }
    let rust = cargo::lines(&project.root, &project.all, "seeds");
    let is_rust = project.root.join("Cargo.toml").is_file() || !project.has_sources();
    if !rust.is_empty() && is_rust && args.function.is_none() && file.is_none() {
        lines.extend(rust);
        return printed(&lines);
    }
    if !project.has_sources() && project.systems.is_empty() && !project.is_oss_fuzz {
        return Err(Error::usage(format!(
            "{}: nothing to build is known here (CMake, Meson, autotools, Makefile, cargo, C or C++ sources): start in the \
             folder of the sources, or name it",
            folder.display()
        )));
    }
    if !project.has_sources() && project.is_oss_fuzz {
        lines.push(OSS_FUZZ.into());
        return printed(&lines);
    }
    let mut built = Built { is_counted: true, ..Built::default() };
    if args.build {
        built = build(&Compiler::find(&project)?, &project)?;
        project = Project::look_at(folder)?;
    }
    if !built.is_counted {
        project.systems.clear();
    }
    let compiler = Compiler::find(&project)?;
    let session = Session::new(&compiler, &project, built.options);
    lines.extend(match (&args.function, file) {
        (Some(function), file) => session.function(function, file.as_deref())?,
        (None, None) if !project.harnesses.is_empty() => session.harnesses()?,
        (None, file) => session.best(file.as_deref())?,
    });
    if project.is_oss_fuzz {
        lines.push(OSS_FUZZ.into());
    }
    lines.extend(rust);
    printed(&lines)
}

fn printed(lines: &[String]) -> Result<ExitCode> {
    let text = lines.join("\n") + "\n";
    plain::print(&text, Form::Lines)?;
    Ok(ExitCode::Ended)
}

/// Result of a build.
#[derive(Default)]
struct Built {
    /// Options that the project's C needs.
    options: String,
    /// Whether anything has been compiled by the wrapper.
    is_counted: bool,
}

/// Builds a project with the wrapper.
fn build(compiler: &Compiler, project: &Project) -> Result<Built> {
    let (mut first, mut in_vain) = (None, None);
    for system in &project.systems {
        match build_by(compiler, project, system) {
            Ok(built) if built.is_counted => return Ok(built),
            Ok(built) => {
                plain::complain(&format!("# {}: it compiles nothing with quagmire-cc\n", system.name()));
                in_vain.get_or_insert(built);
            }
            Err(error) => drop(first.get_or_insert(error)),
        }
    }
    match (in_vain, first) {
        (Some(built), _) => Ok(built),
        (None, Some(error)) => Err(error),
        (None, None) => Ok(Built::default()),
    }
}

fn build_by(compiler: &Compiler, project: &Project, system: &BuildSystem) -> Result<Built> {
    let (mut options, mut is_parallel, mut is_strict) = (String::new(), true, true);
    for _ in 0..5 {
        let mut commands = system.commands(project.is_built, &options).join("\n");
        if commands.is_empty() {
            return Err(Error::target(system.advice().unwrap_or_default()));
        }
        if !is_strict {
            commands.insert_str(0, LENIENT);
        }
        if !is_parallel {
            commands = commands.replace(" -j2", "").replace(" --parallel 2", "");
        }
        plain::complain(&format!("{commands}\n"));
        let mut command = compiler.command("sh");
        let output = run_command(command.args(["-euc", &commands]), PATIENCE)?;
        let is_made = || Ok::<bool, Error>(Project::look_at(&project.root)?.is_counted(system.folder()));
        if output.is_ok {
            return Ok(Built { is_counted: is_made()?, options });
        }
        let said = output.stdout + &output.stderr;
        // warnings of another compiler than the project's
        if is_strict && said.contains("[-Werror") {
            is_strict = false;
            continue;
        }
        let known = options.clone();
        for name in allowable(&said).iter().map(|name| format!("-Wno-{name}")).filter(|name| !known.contains(name)) {
            options = format!("{options} {name}").trim_start().to_owned();
        }
        // rules of a makefile may not name all that they need
        let may_be_order = is_parallel && options == known && said.contains("***");
        is_parallel = !may_be_order;
        if options != known || may_be_order {
            continue;
        }
        let why = failure(&said);
        let folder = project.root.join(system.folder());
        if is_made()? {
            plain::complain(&format!(
                "# the build ends with an error ({why}): what it has made in {} is used\n",
                folder.display()
            ));
            return Ok(Built { is_counted: true, options });
        }
        return Err(Error::target(format!(
            "the build fails: {why}: build it by hand with CC=quagmire-cc CXX=quagmire-c++, and type `quagmire init` again"
        )));
    }
    Err(Error::target("the build fails each time for another reason: build it by hand with CC=quagmire-cc"))
}

/// The line that tells why a build fails, and what was looked for and not found.
fn failure(said: &str) -> String {
    let lines: Vec<&str> = said.lines().map(str::trim).collect();
    let telling = [
        ": error: ",
        ": fatal error: ",
        "CMake Error",
        "ERROR: ",
        ": not found",
        ": command not found",
        "is missing",
        ": No such file or directory",
        "Neither ",
        "not found",
        "annot find",
        "ould not find",
        "nable to",
    ];
    let tells = |line: &str, word: &str| line.contains(word) && !line.contains(ONLY_FAILED);
    let at = telling.iter().find_map(|word| lines.iter().position(|line| tells(line, word)));
    let mut why = at.map_or_else(|| first_error(said), |at| lines[at].to_owned());
    let package =
        lines.iter().find_map(|line| line.split_once("configuration file provided by \"")?.1.split('"').next());
    if let Some(package) = package {
        return format!("CMake finds no package {package} (install its development package)");
    }
    // CMake's message is in the lines behind
    if let Some(at) = at.filter(|_| why.starts_with("CMake Error")) {
        let mut behind = lines[at + 1..].iter().filter(|line| !line.is_empty());
        why = behind.next().map_or(why, |line| (*line).to_owned());
        if let Some(what) = behind.next().filter(|_| why.ends_with(':')) {
            why = format!("{why} {what}");
        }
    }
    let missing = lines.iter().filter_map(|line| line.split_once("Could NOT find ")?.1.split_whitespace().next());
    let missing: Vec<&str> = missing.collect();
    if !missing.is_empty() {
        why += &format!(" (not found: {})", missing.join(", "));
    }
    let is_meant = |(tool, remedy): &&(&str, &str)| {
        why.contains(tool) && (why.contains("not found") || why.contains("cannot find")) && !why.contains(remedy)
    };
    if let Some((_, remedy)) = TOOLS.iter().find(is_meant) {
        why += &format!(" ({remedy})");
    }
    why
}

/// Tells people at a terminal what takes time.
fn tell(what: &str) {
    if std::io::stderr().is_terminal() {
        plain::complain(&format!("# {what}\n"));
    }
}

/// A path for a shell.
fn shown(path: &Path) -> String {
    shell::word(path.as_os_str())
}

/// Name for what is made of a function or harness, without characters that mean something to a shell.
fn plain_name(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "._-".contains(c) { c } else { '_' };
    name.replace("::", "-").replace('/', "-").chars().map(plain).collect()
}

/// Folder for a harness.
fn own_folder(name: &str) -> PathBuf {
    Path::new(OWN).join(plain_name(name))
}

#[cfg(test)]
mod tests {
    use super::failure;

    #[test]
    fn what_a_build_lacks_is_told_with_what_brings_it() {
        for (said, told) in [
            ("sh: 1: autoreconf: not found\n", "sh: 1: autoreconf: not found (install autoconf, automake and libtool)"),
            (
                "checking for cc\n./configure: line 9: PKG_CHECK_MODULES: command not found\n",
                "./configure: line 9: PKG_CHECK_MODULES: command not found (install pkg-config, and type autoreconf -fi)",
            ),
            (
                "make: no-such-tool: No such file or directory\nmake: *** [Makefile:2: all] Error 127\n",
                "make: no-such-tool: No such file or directory",
            ),
            (
                "CMake Error at CMakeLists.txt:30 (find_package):\n  By not providing \"Findabsl.cmake\" in CMAKE_MODULE_PATH\n\n  \
                 Could not find a package configuration file provided by \"absl\" with any of\n",
                "CMake finds no package absl (install its development package)",
            ),
            (
                "enabling avx\nNeither yasm nor nasm have been found. See the README.\n\nConfiguration failed. It died.\n",
                "Neither yasm nor nasm have been found. See the README.",
            ),
            ("werror: yes\na.c:1:2: error: no such thing\n", "a.c:1:2: error: no such thing"),
        ] {
            assert_eq!(failure(said), told);
        }
    }
}
