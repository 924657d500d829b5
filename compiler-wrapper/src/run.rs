//! Execution of a plan: builds what it needs and executes clang.

use std::convert::Infallible;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cache::Cache;
use crate::plan::{BuildPlan, Link, Linker, Pieces};
use crate::versions::OLDEST_WITH_LTO;
use crate::{Error, artefacts, options, response, toolchain, uncounted};

/// Replaces this process with clang, so that exit code, messages and signals are clang's own. Returns only on
/// failure.
pub fn run(plan: &BuildPlan) -> Result<Infallible, Error> {
    let (clang, command) = prepare(plan, None)?;
    if let Some(warning) = plan.linked.as_ref().and_then(|linked| uncounted::warning(linked, plan.compiles)) {
        eprintln!("{}", crate::plain(&warning));
    }
    let mut error = Command::new(&clang).args(&command).exec();
    if error.kind() == ErrorKind::ArgumentListTooLong {
        // the contents of a response file that had to be changed
        error = match response::file(&command) {
            Ok(file) => Command::new(&clang).arg(format!("@/proc/self/fd/{}", file.as_raw_fd())).exec(),
            Err(error) => error,
        };
    }
    Err(Error::Exec { clang, problem: error.to_string() })
}

/// Builds what a plan needs. Returns the path of clang and its arguments. Harnesses are linked with `engine`, if there
/// is one, instead of quagmire's.
pub(crate) fn prepare(plan: &BuildPlan, engine: Option<&Path>) -> Result<(PathBuf, Vec<OsString>), Error> {
    let variable = |name: &str| std::env::var_os(name);
    let cache = Cache::open(variable)?;
    let toolchain = toolchain::find(&cache, variable)?;

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
        let named = engine.map(OsString::from).or_else(|| variable("QUAGMIRE_ENGINE"));
        pieces.engine = artefacts::engine(named, std::env::current_exe().ok())?;
    }

    let clang = toolchain.driver(plan.language);
    let command = plan.command(&pieces);
    if variable("QUAGMIRE_DEBUG").is_some_and(|value| value == "1") {
        eprintln!("{}", crate::plain(&shown(clang, &command)));
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
