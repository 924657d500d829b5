//! `quagmire init`: looks at a folder of sources, and prints the commands that build it with the wrapper and fuzz it.

mod project;
mod template;

use std::path::Path;

use quagmire::options::args::InitArgs;
use quagmire_base::{
    error::{Error, ExitCode, Result},
    plain::{self, Form},
    shell,
};

use self::project::Project;

/// Folder in which the printed commands build, if the build system builds outside of its sources.
const BUILD: &str = "build-quagmire";

/// Runs `quagmire init`.
///
/// # Errors
/// If the folder cannot be read, holds nothing that can be built, or the template of a harness cannot be written.
pub(crate) fn run(args: &InitArgs) -> Result<ExitCode> {
    let folder = args.folder.as_deref().unwrap_or(Path::new("."));
    let mut project = Project::look_at(folder)?;
    let mut lines = Vec::new();
    if let Some(function) = &args.function {
        let harness = template::write(folder, &project, function)?;
        lines.push(format!("# wrote {}: see what it passes to {function}", harness.display()));
        project.harnesses.insert(0, harness);
    }
    lines.extend(commands(folder, &project));
    let text = lines.join("\n") + "\n";
    plain::print(&text, Form::Lines).map_err(|error| Error::other(format!("cannot print: {error}")))?;
    Ok(ExitCode::Ended)
}

/// Commands to type, as lines of a script with comments.
fn commands(folder: &Path, project: &Project) -> Vec<String> {
    let mut lines = Vec::new();
    if folder != Path::new(".") {
        lines.push(format!("cd {}", shown(folder)));
    }
    if let Some(system) = project.system {
        lines.push(format!("# build with the wrapper ({})", system.marker()));
        lines.extend(system.commands(project).into_iter().map(str::to_owned));
    }
    let seeds = match &project.seeds {
        Some(seeds) => shown(seeds),
        None => {
            lines.push("# seeds: a few small ordinary inputs; one line is a beginning".to_owned());
            lines.push("mkdir -p seeds && echo 'an ordinary input' > seeds/first".to_owned());
            "seeds".to_owned()
        }
    };
    if project.is_oss_fuzz {
        lines.push(
            "# a project of OSS-Fuzz: scripts/oss-fuzz in quagmire's checkout builds it (chapter \"Services\")"
                .to_owned(),
        );
    }
    for harness in &project.harnesses {
        let name = harness.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let wrapper =
            if harness.extension().is_some_and(|ending| ending == "c") { "quagmire-cc" } else { "quagmire-c++" };
        // in a group: one may need another, in any order
        let libraries = match project.system {
            Some(_) => " -Wl,--start-group $(find . -name '*.a' -not -name '*fuzz*') -Wl,--end-group",
            None => "",
        };
        let include: String =
            project.include_folders(folder, harness).iter().map(|folder| format!(" -I{}", shown(folder))).collect();
        let out = format!("fuzz-{name}");
        lines.push(format!("# the harness {}", shown(harness)));
        lines.push(format!("{wrapper} -O2 -g -fsanitize=fuzzer -I.{include} {}{libraries} -o {out}", shown(harness)));
        lines.push(format!("quagmire fuzz -i {seeds} -o out-{name} --max-size 4000 -- ./{out}"));
    }
    if project.harnesses.is_empty() {
        lines
            .push("# a program that reads a file; without @@, standard input. Instead of PROGRAM, its path".to_owned());
        lines.push(format!("quagmire fuzz -i {seeds} -o out --max-size 4000 -- ./PROGRAM @@"));
        lines.push("# or a function of a library: quagmire init --function NAME writes a harness".to_owned());
    }
    if project.has_cargo_fuzz {
        lines.push(
            "# targets of cargo-fuzz, by scripts/cargo-fuzz in quagmire's checkout (chapter \"Targets in Rust\")"
                .to_owned(),
        );
        lines.push("# scripts/cargo-fuzz fuzz TARGET -i seeds -o out".to_owned());
    }
    lines
}

/// A path for a shell.
fn shown(path: &Path) -> String {
    shell::word(path.as_os_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn printed(files: &[(&str, &str)]) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("inside")).expect("created");
            fs::write(path, text).expect("written");
        }
        let project = Project::look_at(folder.path()).expect("a project");
        commands(folder.path(), &project).join("\n")
    }

    #[test]
    fn every_build_system_has_its_commands() {
        for (file, words) in [
            ("CMakeLists.txt", "cmake -S . -B build-quagmire -DCMAKE_C_COMPILER=quagmire-cc"),
            ("meson.build", "CC=quagmire-cc CXX=quagmire-c++ meson setup build-quagmire"),
            ("configure.ac", "autoreconf -fi"),
            ("configure", "CC=quagmire-cc CXX=quagmire-c++ ./configure --disable-shared"),
            ("Makefile", "make -j2 CC=quagmire-cc CXX=quagmire-c++"),
            ("main.c", "quagmire-cc -O2 -g *.c -o program"),
        ] {
            let text = printed(&[(file, "")]);
            assert!(text.contains(words) && text.contains("./PROGRAM @@"), "{file}: {text}");
        }
    }

    #[test]
    fn harnesses_and_seeds_are_found_and_named() {
        let harness = "#include <a.h>\n #  include \"b.h\"\n#include \"c.h\"\n#include <api/d.h>\n#include <stdint.h>\nint LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return 0; }";
        let text = printed(&[
            ("CMakeLists.txt", ""),
            ("fuzz/parse.cc", harness),
            ("tests/data/a.json", "{}"),
            ("include/a.h", ""),
            ("src/deep/b.h", ""),
            ("src/deep/c.h", ""),
            ("lib/api/d.h", ""),
        ]);
        let flags = "quagmire-c++ -O2 -g -fsanitize=fuzzer -I. -Iinclude -Isrc/deep -Ilib fuzz/parse.cc -Wl,--start-group $(find";
        assert!(text.contains(flags), "{text}");
        assert!(text.contains("quagmire fuzz -i tests/data -o out-parse --max-size 4000 -- ./fuzz-parse"), "{text}");
        assert!(!text.contains("PROGRAM"), "{text}");
    }

    #[test]
    fn a_folder_without_sources_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(Project::look_at(folder.path()).unwrap_err().message.contains("nothing to build"));
        assert!(Project::look_at(Path::new("/nowhere/at/all")).is_err());
    }
}
