//! `quagmire init`: looks at a folder of sources, and prints the commands that build it with the wrapper and fuzz it.

mod project;
mod template;

use std::path::{Path, PathBuf};

use quagmire::options::args::InitArgs;
use quagmire_base::{
    error::{Error, ExitCode, Result},
    plain::{self, Form},
    shell,
};

use self::project::{BuildSystem, Project, is_c};

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
        // a harness stands for a program of these sources
        project.system = project.system.filter(|&system| system != BuildSystem::Sources);
    }
    lines.extend(commands(folder, &project));
    let text = lines.join("\n") + "\n";
    plain::print(&text, Form::Lines).map_err(|error| Error::other(format!("cannot print: {error}")))?;
    Ok(ExitCode::Ended)
}

/// Commands to type, as lines of a script with comments.
fn commands(folder: &Path, project: &Project) -> Vec<String> {
    let mut lines = Vec::new();
    let mut program = "PROGRAM";
    if folder != Path::new(".") {
        lines.push(format!("cd {}", shown(folder)));
    }
    if let Some(system) = project.system {
        lines.push(format!("# build with the wrapper ({})", system.marker()));
        lines.extend(system.commands(project.is_built).into_iter().map(str::to_owned));
        if let Some(main) = project.programs.first().filter(|_| system == BuildSystem::Sources) {
            program = "program";
            lines.extend(compile(folder, project, main, "", program));
        }
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
        let name = name_of(harness, &project.harnesses);
        let out = format!("fuzz-{name}");
        lines.push(format!("# the harness {}", shown(harness)));
        lines.extend(compile(folder, project, harness, " -fsanitize=fuzzer", &out));
        lines.push(format!("quagmire fuzz -i {seeds} -o out-{name} --max-size 4000 -- ./{out}"));
    }
    let is_library = project.system == Some(BuildSystem::Sources) && project.programs.is_empty();
    if project.harnesses.is_empty() && !is_library {
        let path = if program == "PROGRAM" { ". Instead of PROGRAM, its path" } else { "" };
        lines.push(format!("# a program that reads a file; without @@, standard input{path}"));
        lines.push(format!("quagmire fuzz -i {seeds} -o out --max-size 4000 -- ./{program} @@"));
    }
    if project.harnesses.is_empty() {
        let or = if is_library { "no source here has a main function" } else { "or a function of a library" };
        lines.push(format!("# {or}: quagmire init --function NAME writes a harness"));
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

/// Commands that build a source with the libraries that the build system makes, or with the other sources in the folder.
fn compile(folder: &Path, project: &Project, source: &Path, options: &str, out: &str) -> Vec<String> {
    let include: String =
        project.include_folders(folder, source).iter().map(|folder| format!(" -I{}", shown(folder))).collect();
    let (mut files, mut libraries) = (vec![source], String::new());
    match project.system {
        None | Some(BuildSystem::Sources) => files.extend(project.sources.iter().map(PathBuf::as_path)),
        // in a group: one may need another, in any order
        Some(system) => {
            libraries = format!(
                " -Wl,--start-group $(find {} -name '*.a' -not -name '*fuzz*') -Wl,--end-group",
                system.folder()
            );
        }
    }
    let (c, mut others): (Vec<&Path>, Vec<&Path>) = files.into_iter().partition(|file| is_c(file));
    let objects: Vec<PathBuf> =
        c.iter().map(|file| Path::new(file.file_name().unwrap_or_default()).with_extension("o")).collect();
    let mut lines = Vec::new();
    let wrapper = if others.is_empty() {
        others = c;
        "quagmire-cc"
    } else {
        if !c.is_empty() {
            lines.push(format!("quagmire-cc -O2 -g -I.{include} -c {}", words(&c)));
            others.extend(objects.iter().map(PathBuf::as_path));
        }
        "quagmire-c++"
    };
    lines.push(format!("{wrapper} -O2 -g{options} -I.{include} {}{libraries} -o {out}", words(&others)));
    lines
}

/// Name for what is made of a harness: that of its file, or its path if another one has the same, without characters that
/// mean something to a shell.
fn name_of(harness: &Path, all: &[PathBuf]) -> String {
    let is_taken = all.iter().filter(|other| other.file_stem() == harness.file_stem()).count() > 1;
    let path = harness.with_extension("");
    let name = if is_taken { path.as_os_str() } else { path.file_name().unwrap_or_default() };
    let plain = |c: char| match c {
        '/' => '-',
        '.' | '_' | '-' => c,
        _ if c.is_alphanumeric() => c,
        _ => '_',
    };
    name.to_string_lossy().chars().map(plain).collect()
}

/// Paths for a shell.
fn words(paths: &[&Path]) -> String {
    paths.iter().map(|path| shown(path)).collect::<Vec<_>>().join(" ")
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
        ] {
            let text = printed(&[(file, "int main(void) {}")]);
            assert!(text.contains(words) && text.contains("./PROGRAM @@"), "{file}: {text}");
        }
        let text = printed(&[("main.c", "int main(void) {}")]);
        assert!(
            text.contains("quagmire-cc -O2 -g -I. main.c -o program\n") && text.ends_with("NAME writes a harness"),
            "{text}"
        );
        assert!(text.contains("-- ./program @@") && !text.contains("PROGRAM"), "{text}");
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
    fn sources_without_a_build_system_are_compiled_with_the_harness() {
        let harness = "int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return 0; }";
        let (c, both) = ([("fuzz.c", harness), ("p.c", "")], [("fuzz.cc", harness), ("p.c", ""), ("q.cc", "")]);
        let main = ("main.c", "/* the\nmain (and only) */\n  int\nmain(void) {}");
        let text = printed(&[&c[..], &[main]].concat());
        assert!(text.contains("quagmire-cc -O2 -g -fsanitize=fuzzer -I. fuzz.c p.c -o fuzz-fuzz\n"), "{text}");
        let text = printed(&both);
        let commands = "quagmire-cc -O2 -g -I. -c p.c\nquagmire-c++ -O2 -g -fsanitize=fuzzer -I. fuzz.cc q.cc p.o -o";
        assert!(text.contains(commands), "{text}");
        let program = printed(&[main, ("p.c", "// the\n// main (and only)"), ("q.cc", "")]);
        assert!(program.contains("-c main.c p.c\nquagmire-c++ -O2 -g -I. q.cc main.o p.o -o program\n"), "{program}");
        assert!(program.contains("./program @@"), "{program}");
        let library = printed(&[("p.c", "int domain(void);")]);
        assert!(library.contains("no source here has a main function") && !library.contains("PROGRAM"), "{library}");
    }

    #[test]
    fn names_are_plain_and_differ() {
        let harness = "int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size)\n{ return 0; }";
        let main = "int LLVMFuzzerTestOneInput(const char *, size_t);\nint main(void) { if (LLVMFuzzerTestOneInput(0, 0)) { } }";
        let text = printed(&[
            ("Makefile", ""),
            ("a/fuzz.c", harness),
            ("b/fuzz.c", harness),
            ("x;y z.c", harness),
            ("run.c", main),
        ]);
        for words in ["-o fuzz-a-fuzz\n", "-o fuzz-b-fuzz\n", "-o fuzz-x_y_z\n", "-o out-x_y_z ", "-- ./fuzz-b-fuzz"] {
            assert!(text.contains(words), "{words}: {text}");
        }
        assert!(!text.contains("run.c"), "{text}");
    }

    #[test]
    fn what_another_compiler_has_built_is_built_again_and_not_linked() {
        let harness = ("fuzz.c", "int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {}");
        let make = printed(&[("Makefile", ""), ("old.o", ""), harness]);
        assert!(make.contains("make clean && make -j2") && make.contains("$(find . "), "{make}");
        let cmake = printed(&[("CMakeLists.txt", ""), ("build/libp.a", ""), harness]);
        assert!(!cmake.contains("clean") && cmake.contains("$(find build-quagmire "), "{cmake}");
    }

    #[test]
    fn a_folder_without_sources_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(Project::look_at(folder.path()).unwrap_err().message.contains("nothing to build"));
        assert!(Project::look_at(Path::new("/nowhere/at/all")).is_err());
    }
}
