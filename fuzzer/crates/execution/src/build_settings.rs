//! Settings of a build that change what a program costs: compiler, optimization level, sanitizers. Read from the file,
//! where the pass has left them (`compiler-wrapper/passes/settings.h`), without running it.

use std::{collections::BTreeSet, path::Path};

use object::{Object, ObjectSection};

use quagmire_base::error::{Error, Result};

/// Section with the texts of the pass.
pub(crate) const SETTINGS_SECTION: &str = ".GCC.command.line";
/// Beginning of those texts.
const MARK: &str = "quagmire-settings: ";
/// Section with the names of all compilers of a program.
const COMPILERS_SECTION: &str = ".comment";

/// Compiler and settings of each part of a program, such as `clang version 14.0.6 -O2`; compilers alone where nothing
/// says more, and empty where the file was stripped of that, too.
///
/// # Errors
/// A target error if the file cannot be read.
pub fn build_settings(program: &Path) -> Result<BTreeSet<String>> {
    let shown = program.display();
    let data = std::fs::read(program).map_err(|error| Error::target(format!("cannot read {shown}: {error}")))?;
    let Ok(file) = object::File::parse(&*data) else { return Ok(BTreeSet::new()) };
    let texts = |section: &str| -> Vec<String> {
        let data = file.section_by_name(section).and_then(|section| section.data().ok()).unwrap_or_default();
        data.split(|byte| *byte == 0).map(|text| String::from_utf8_lossy(text).trim().to_owned()).collect()
    };
    let settings = settings_among(&texts(SETTINGS_SECTION));
    Ok(if settings.is_empty() { compilers_among(&texts(COMPILERS_SECTION)) } else { settings })
}

fn settings_among(texts: &[String]) -> BTreeSet<String> {
    texts.iter().filter_map(|text| text.strip_prefix(MARK)).map(str::to_owned).collect()
}

/// Every program has parts by gcc (the C library's) and by rustc (the engine): those of clang tell builds apart.
fn compilers_among(texts: &[String]) -> BTreeSet<String> {
    texts.iter().filter(|text| text.contains("clang version")).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn settings_are_those_that_the_pass_has_left_each_once() {
        let found = texts(&[
            "",
            "quagmire-settings: clang version 14 -O2",
            "clang -c a.c",
            "quagmire-settings: clang version 14 -O2",
        ]);
        assert_eq!(settings_among(&found), BTreeSet::from(["clang version 14 -O2".to_owned()]));
    }

    #[test]
    fn parts_of_the_c_library_and_of_the_engine_are_left_out() {
        let found = texts(&["GCC: (Debian 12.2.0-14) 12.2.0", "rustc version 1.93.1", "Debian clang version 14.0.6"]);
        assert_eq!(compilers_among(&found), BTreeSet::from(["Debian clang version 14.0.6".to_owned()]));
    }
}
