//! Tests that projects of the usual build systems configure and build with the wrapper as `CC` and `CXX`.

use crate::common::{Llvm, compiler, copied, has_runtime, installed, must, run, skip};
use std::path::Path;
use std::process::{Command, Output};

/// Runs one step of a build; `None` if the tool is not installed and may be missing.
#[track_caller]
fn step(llvm: &Llvm, folder: &Path, tool: &str, arguments: &[&str]) -> Option<Output> {
    let mut command = Command::new(tool);
    llvm.choose(&mut command);
    command.env("CC", compiler("quagmire-cc")).env("CXX", compiler("quagmire-cxx"));
    // the caller's environment is not the project's
    command.env_remove("CFLAGS").env_remove("CXXFLAGS").env_remove("LDFLAGS").env_remove("MAKEFLAGS");
    match command.current_dir(folder).args(arguments).output() {
        Ok(output) => {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            assert!(output.status.success(), "{tool}: {}{}", text(&output.stdout), text(&output.stderr));
            Some(output)
        }
        Err(_) => {
            skip(tool, "scripts/install-deps --test installs it");
            None
        }
    }
}

#[test]
fn projects_of_cmake_and_meson_configure_and_build() {
    for llvm in installed() {
        for (system, configure, build) in [
            ("cmake", "cmake -B build -DCMAKE_BUILD_TYPE=Release", "cmake --build build -j2"),
            ("meson", "meson setup build", "ninja -C build"),
        ] {
            let project = copied(system);
            let do_step = |command: &str| {
                let words: Vec<&str> = command.split(' ').collect();
                step(&llvm, project.path(), words[0], &words[1..])
            };
            if do_step(configure).and_then(|_| do_step(build)).is_none() {
                continue;
            }
            let program = project.path().join("build/tiny");
            assert!(has_runtime(&program));
            assert_eq!(must(Command::new(program), project.path(), &[]), "3\n");
            if system == "cmake" {
                let probes = std::fs::read_to_string(project.path().join("build/CMakeCache.txt")).unwrap();
                assert!(probes.contains("HAS_NONSENSE:INTERNAL=\n"), "a probe that has to fail succeeded");
            }
        }
    }
}

#[test]
fn an_autoconf_automake_libtool_project_configures_and_builds() {
    let Some(llvm) = installed().into_iter().next() else { return };
    let project = copied("autoconf");
    // the project needs automake and libtool as well
    let tools = ["automake", "libtoolize"];
    if tools.iter().any(|tool| step(&llvm, project.path(), tool, &["--version"]).is_none()) {
        return;
    }
    if step(&llvm, project.path(), "autoreconf", &["-i"]).is_none() {
        return;
    }
    step(&llvm, project.path(), "./configure", &[]);
    step(&llvm, project.path(), "make", &["-j2"]);
    assert_eq!(must(Command::new("./tiny"), project.path(), &[]), "3\n");
    assert!(has_runtime(&project.path().join(".libs/tiny")));
}

#[test]
fn the_probes_of_a_configure_script_succeed_and_fail_where_they_should() {
    for llvm in installed() {
        let scratch = tempfile::tempdir().unwrap();
        let main = "int main(void) { return 0; }";
        for (source, arguments, ok) in [
            (main, "conftest.c", true),
            (main, "-o conftest -g -O2 conftest.c -lm", true),
            (main, "-c -Werror -Qunused-arguments conftest.c", true),
            ("char snprintf(); int main(void) { return snprintf(); }", "-w -o conftest conftest.c", true),
            ("char no_such(); int main(void) { return no_such(); }", "-w -o conftest conftest.c", false),
            ("#include <stdio.h>\n", "-E conftest.c", true),
            ("#include <no_such.h>\n", "-E conftest.c", false),
            ("int size[(sizeof(long) == 8) ? 1 : -1];", "-c conftest.c", true),
            ("int size[(sizeof(long) == 4) ? 1 : -1];", "-c conftest.c", false),
            (main, "-Wl,--no-such-flag conftest.c", false),
            (main, "conftest.c -lno_such_library", false),
        ] {
            std::fs::write(scratch.path().join("conftest.c"), source).unwrap();
            let output = run(llvm.wrapper(), scratch.path(), &arguments.split(' ').collect::<Vec<_>>(), "");
            // configure scripts take any output on standard error for a warning
            let found = (output.status.success(), output.stderr.is_empty());
            assert_eq!(found, (ok, ok), "{arguments}: {source}");
        }
    }
}
