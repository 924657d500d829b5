//! Is this program a harness with the engine inside? Told from the file, without running it.

use std::{os::unix::fs::PermissionsExt, path::Path};

use object::{Object, ObjectSection};

use crate::error::{Error, Result};

/// Section that the runtime's `inprocess.c` leaves in a harness.
const MARK_SECTION: &str = ".note.quagmire";
/// Section that the pass leaves in everything it instruments.
const COUNTS_SECTION: &str = "__qgm_funcs";

/// Checks that `program` can be run in process.
///
/// # Errors
/// Says what is the matter with the file and what to do about it.
pub fn check_harness(program: &Path) -> Result<()> {
    let shown = program.display();
    let metadata = std::fs::metadata(program).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            Error::target(format!("{shown} does not exist: name the harness as a path, such as ./{shown}"))
        }
        _ => Error::target(format!("cannot look at {shown}: {error}")),
    })?;
    if metadata.is_dir() {
        return Err(Error::target(format!("{shown} is a folder: name the harness inside it")));
    }
    if metadata.permissions().mode() & 0o111 == 0 {
        return Err(Error::target(format!("{shown} is not executable: chmod +x it, or name another file")));
    }
    let data = std::fs::read(program).map_err(|error| Error::target(format!("cannot read {shown}: {error}")))?;
    let Ok(file) = object::File::parse(&*data) else {
        return Err(Error::target(format!(
            "{shown} is not a compiled program (a script?): name the program that it starts, built with quagmire-cc"
        )));
    };
    if file.section_by_name(MARK_SECTION).is_none() {
        return Err(Error::target(if file.sections().any(|s| s.name() == Ok(COUNTS_SECTION)) {
            format!(
                "{shown} is instrumented but has no engine inside: link it with -fsanitize=fuzzer (see README, Build your \
                 harness); programs without a harness come with the fork server, later"
            )
        } else {
            format!(
                "no edge counts in {shown}: it was not built with quagmire-cc -fsanitize=fuzzer (see README, Build your \
                 harness)"
            )
        }));
    }
    Ok(())
}
