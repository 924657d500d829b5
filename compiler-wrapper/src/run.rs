//! Execution of a plan: builds what it needs and executes clang.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use rustix::process::{Signal, getpid, kill_process};

use crate::cache::Cache;
use crate::plan::{BuildPlan, Link, Linker, Pieces};
use crate::versions::OLDEST_WITH_LTO;
use crate::{Error, artefacts, options, response, toolchain, uncounted};

/// Runs clang, so that exit code, messages and signals are clang's own: in place of this process, unless a link may fail for
/// reasons that the wrapper knows. Returns the exit code of such a link.
pub fn run(plan: &BuildPlan) -> Result<ExitCode, Error> {
    let (clang, command) = prepare(plan, None)?;
    if let Some(warning) = plan.linked.as_ref().and_then(|linked| uncounted::warning(linked, plan.compiles)) {
        eprintln!("{}", crate::plain(&warning));
    }
    let run = |arguments: &[OsString]| {
        let mut clang = Command::new(&clang);
        clang.args(arguments);
        if plan.link.is_some() { clang.status() } else { Err(clang.exec()) }
    };
    let mut ended = run(&command);
    if ended.as_ref().is_err_and(|error| error.kind() == ErrorKind::ArgumentListTooLong) {
        // the contents of a response file that had to be changed
        ended = response::file(&command).and_then(|file| run(&[format!("@/proc/self/fd/{}", file.as_raw_fd()).into()]));
    }
    let status = ended.map_err(|error| Error::Exec { clang: clang.clone(), problem: error.to_string() })?;
    if let Some(signal) = status.signal().and_then(Signal::from_named_raw) {
        let _ = kill_process(getpid(), signal);
    }
    if let Some(hint) = plan.hint().filter(|_| !status.success()) {
        eprintln!("{}", crate::plain(&hint));
    }
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}

/// Appends a command to the file `QUAGMIRE_DEBUG`, of which `1` is one in the cache folder. What a compiler prints changes what
/// configure scripts find out: so it is not printed.
fn log(value: &OsStr, cache: &Cache, clang: &Path, command: &[OsString]) -> Result<(), Error> {
    let path = if value == "1" { cache.folder().join("commands.log") } else { value.into() };
    let line = format!("{}\n", crate::plain(&shown(clang, command)));
    let written =
        File::options().create(true).append(true).open(&path).and_then(|mut file| file.write_all(line.as_bytes()));
    written.map_err(|problem| Error::Log { path, problem: problem.to_string() })
}

/// Builds what a plan needs. Returns the path of clang and its arguments. Harnesses are linked with `engine`, if there
/// is one, instead of quagmire's.
pub(crate) fn prepare(plan: &BuildPlan, engine: Option<&Path>) -> Result<(PathBuf, Vec<OsString>), Error> {
    let variable = |name: &str| std::env::var_os(name);
    let cache = Cache::open(variable)?;
    let toolchain = toolchain::find(&cache, plan.untested_llvm, variable)?;

    if plan.lto && toolchain.major < OLDEST_WITH_LTO {
        return Err(Error::LtoVersion { major: toolchain.major });
    }
    if plan.lto && plan.linker == Some(Linker::Other) {
        return Err(Error::LtoLinker);
    }
    if plan.link == Some(Link::Engine) && plan.is_static {
        return Err(Error::StaticHarness);
    }
    let mut pieces = Pieces::default();
    if plan.instrument {
        pieces.plugin = match plan.mutants {
            Some(kind) => artefacts::mutants_plugin(&cache, &toolchain, kind)?,
            None => artefacts::plugin(&cache, &toolchain, plan.pass)?,
        };
    }
    // objects of -flto may come in a link that does not ask for it; an lld of another version would not load the plugin
    let may_optimise = || plan.mutants.is_none() && toolchain.lld;
    if plan.linker == Some(Linker::Lld) && (plan.lto || may_optimise()) {
        pieces.linker_plugin = artefacts::plugin(&cache, &toolchain, plan.pass)?;
    }
    if plan.link.is_some() {
        let compile_target = options::with_absolute_paths(&plan.compile_target);
        pieces.objects = artefacts::objects(&cache, &toolchain, &compile_target)?;
    }
    if plan.pages {
        pieces.script = artefacts::script(&cache)?;
    }
    if plan.macros {
        pieces.provider = artefacts::provider(&cache)?;
    }
    if plan.link == Some(Link::Engine) {
        let named = engine.map(OsString::from).or_else(|| variable("QUAGMIRE_ENGINE")).filter(|name| !name.is_empty());
        let is_ours = named.is_none();
        let archive = artefacts::engine(named, std::env::current_exe().ok(), artefacts::engine_of_user(variable))?;
        // the linker would pass over it, and say what it lacks then
        if !is_ours || !plan.compile_target.is_empty() {
            let of_runtime = pieces.objects.values().flatten().find_map(|object| uncounted::machine(object));
            match (uncounted::machine(&archive), of_runtime) {
                (Some(is), Some(wanted)) if is != wanted => return Err(Error::OtherMachine { archive, is, wanted }),
                _ => {}
            }
        }
        pieces.engine = if is_ours { artefacts::slim(&cache, archive)? } else { archive };
    }

    let clang = toolchain.driver(plan.language);
    let command = plan.command(&pieces);
    if let Some(value) = variable("QUAGMIRE_DEBUG").filter(|value| !value.is_empty() && value != "0") {
        log(&value, &cache, clang, &command)?;
    }
    Ok((clang.to_owned(), command))
}

/// Quotes a command for a shell.
fn shown(program: &Path, arguments: &[OsString]) -> String {
    let quoted = |word: &OsStr| {
        let word = word.to_string_lossy();
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,+:@%^".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            word.into_owned()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    let words = std::iter::once(program.as_os_str()).chain(arguments.iter().map(OsString::as_os_str));
    words.map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shown_command_can_be_pasted_into_a_shell() {
        let arguments = ["-DX=\"a b\"", "it's.c", "", "-Wl,-z,defs"].map(OsString::from);
        assert_eq!(
            shown(Path::new("/usr/bin/clang"), &arguments),
            r#"/usr/bin/clang '-DX="a b"' 'it'\''s.c' '' -Wl,-z,defs"#
        );
    }
}
