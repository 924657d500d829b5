//! Tests that the wrapper behaves as the clang that it stands for.

use crate::common::{Llvm, compiler, copied, has_runtime, installed, must, run};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Runs the same command with clang and with the wrapper, each in its own copy of `testdata/commands`, and compares
/// exit code, output, messages and the named files.
fn same(llvm: &Llvm, arguments: &str, input: &str, files: &str) {
    let arguments: &[&str] = &arguments.split_whitespace().collect::<Vec<_>>();
    let (plain, ours) = (copied("commands"), copied("commands"));
    let expected = run(llvm.clang(), plain.path(), arguments, input);
    let found = run(llvm.wrapper(), ours.path(), arguments, input);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(text(&found.stderr), text(&expected.stderr), "messages of {arguments:?}");
    assert_eq!(text(&found.stdout), text(&expected.stdout), "output of {arguments:?}");
    assert_eq!(found.status.code(), expected.status.code(), "exit code of {arguments:?}");
    for file in files.split_whitespace() {
        let read = |folder: &Path| std::fs::read(folder.join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
        assert_eq!(text(&read(ours.path())), text(&read(plain.path())), "{file} of {arguments:?}");
    }
}

#[test]
fn what_is_no_instrumented_code_is_the_same_to_the_byte() {
    for llvm in installed() {
        for (arguments, input, files) in [
            ("-E a.c", "", ""),
            ("-E -", "int x;", ""),
            ("-E a.c -o a.i", "", "a.i"),
            ("-M a.c", "", ""),
            ("-MM a.c -MF a.d", "", "a.d"),
            ("-MMD -MP -c a.c", "", "a.d"),
            ("-MD -MT x -MF x.d -c -o x.o b.c", "", "x.d"),
            ("-fsyntax-only -Wall broken.c", "", ""),
            ("-c answer.s", "", "answer.o"),
            ("-c answer.S", "", "answer.o"),
            ("-v", "", ""),
            ("--version", "", ""),
            ("-dumpversion", "", ""),
            ("-print-search-dirs", "", ""),
            ("-print-prog-name=ld", "", ""),
            ("-Wl,--version", "", ""),
        ] {
            same(&llvm, arguments, input, files);
        }
    }
}

#[test]
fn failures_say_and_return_what_clang_does() {
    for llvm in installed() {
        for arguments in [
            "",
            "-Wall -c broken.c",
            "-Wall -Werror -S -fno-color-diagnostics broken.c",
            "-Wall -fcolor-diagnostics broken.c -o broken",
            "-c missing.c",
            "a.c missing.c",
            "-c -fno-such-option-at-all a.c",
            "-o",
            "-c a.c -o",
            "-c @missing.rsp",
            "-c -o x.o a.c b.c",
            "-c -",
        ] {
            same(&llvm, arguments, "", "");
        }
    }
}

#[test]
fn nothing_that_is_added_is_reported_as_unused() {
    for llvm in installed() {
        let folder = copied("commands");
        must(llvm.wrapper(), folder.path(), &["-Werror", "-c", "a.c", "b.c"]);
        must(llvm.wrapper(), folder.path(), &["-Werror", "-emit-llvm", "-c", "b.c", "-o", "b.bc"]);
        for arguments in [
            "-c answer.s",
            "-c answer.S",
            "-S a.c",
            "-S -emit-llvm a.c",
            "-c b.bc",
            "-E a.c -o a.i",
            "-c a.i",
            "-MM a.c -o a.d",
            "-x c-header a.h -o a.pch",
            "a.o b.o -o a",
            "a.o -x c b.c -o a",
            "-r a.o b.o -o all.o",
            "-flto -c a.c -o lto.o",
        ] {
            // LLVM 14 has no linker that loads the pass
            if llvm.major < 15 && arguments.contains("-flto") {
                continue;
            }
            let arguments: Vec<&str> = ["-Werror"].into_iter().chain(arguments.split(' ')).collect();
            for mode in ["0", "1"] {
                let mut wrapper = llvm.wrapper();
                wrapper.env("QUAGMIRE_FUZZING_MODE", mode);
                let output = run(wrapper, folder.path(), &arguments, "");
                assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
            }
        }
    }
}

#[test]
fn programs_are_built_in_every_usual_way_and_have_the_runtime() {
    for llvm in installed() {
        let folder = copied("commands");
        let folder = folder.path();
        for commands in [
            "a.c b.c -o a",
            "-c a.c b.c; a.o b.o -o a",
            "-S a.c b.c; a.s b.s -o a",
            "-o a -- a.c b.c",
            "-x c -o a -- a.c b.c",
            "-r -nostdlib a.c b.c -o all.o; all.o -o a",
            "-static a.c b.c -o a",
            "-no-pie a.c b.c -o a",
            "-fuse-ld=gold a.c b.c -o a",
            "-O2 -fsanitize=address a.c b.c -o a",
            "-fsanitize=fuzzer-no-link a.c b.c -o a",
        ] {
            for arguments in commands.split("; ") {
                must(llvm.wrapper(), folder, &arguments.split(' ').collect::<Vec<_>>());
            }
            assert!(has_runtime(&folder.join("a")), "{commands:?}");
            assert_eq!(must(Command::new("./a"), folder, &[]), "2\n", "{commands:?}");
            std::fs::remove_file(folder.join("a")).unwrap();
        }
    }
}

#[test]
fn defines_standard_input_and_the_wrappers_name_arrive_as_they_would_at_clang() {
    for llvm in installed() {
        let folder = copied("commands");
        let folder = folder.path();
        must(llvm.wrapper(), folder, &[r#"-DTEXT="a b""#, "define.c", "-o", "define"]);
        assert_eq!(must(Command::new("./define"), folder, &[]), "a b\n");
        must(llvm.wrapper(), folder, &["@define.rsp"]);
        assert_eq!(must(Command::new("./define"), folder, &[]), "from a file\n");

        let source = "#include <iostream>\nint main() { std::cout << 42; }";
        let output = run(llvm.wrapperxx(), folder, &["-x", "c++", "-", "-o", "p"], source);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(must(Command::new("./p"), folder, &[]), "42");
        assert!(has_runtime(&folder.join("p")));

        // a name that ends in two plus signs compiles C++
        let name = folder.join("quagmire-c++");
        std::os::unix::fs::symlink(compiler("quagmire-cc"), &name).unwrap();
        let mut command = Command::new(name);
        llvm.choose(&mut command);
        must(command, folder, &["-shared", "-fPIC", "-Wl,-z,defs", "plugin.cc", "-o", "libplugin.so"]);
    }
}

#[test]
fn a_shared_library_has_no_runtime_and_finds_the_programs_when_it_is_opened() {
    for llvm in installed() {
        let folder = copied("commands");
        let library = folder.path().join("libplugin.so");
        must(llvm.wrapperxx(), folder.path(), &["-shared", "-fPIC", "-Wl,-z,defs", "plugin.cc", "-o", "libplugin.so"]);
        assert!(!String::from_utf8_lossy(&nm(&library)).contains(" T __quagmire_register"));
        must(llvm.wrapper(), folder.path(), &["opens.c", "-o", "opens", "-ldl"]);
        assert!(String::from_utf8_lossy(&nm(&folder.path().join("opens"))).contains(" T __quagmire_register"));
        assert_eq!(must(Command::new("./opens"), folder.path(), &["./libplugin.so"]), "3\n");
        // and a program that plain clang built can open it too
        must(llvm.clang(), folder.path(), &["opens.c", "-o", "plain", "-ldl"]);
        assert_eq!(must(Command::new("./plain"), folder.path(), &["./libplugin.so"]), "3\n");
    }
}

/// The dynamic symbols of a file.
fn nm(file: &Path) -> Vec<u8> {
    Command::new("nm").arg("-D").arg(file).output().expect("nm").stdout
}

#[test]
fn a_fuzzer_sanitizer_links_the_engine_instead_of_libfuzzer() {
    for llvm in installed() {
        let folder = copied("commands");
        let engine = folder.path().join("libengine.a");
        std::fs::write(&engine, "!<arch>\n").unwrap();
        let mut wrapper = llvm.wrapperxx();
        wrapper.env("QUAGMIRE_ENGINE", &engine);
        let output = run(wrapper, folder.path(), &["-###", "-fsanitize=fuzzer,address", "plugin.cc", "-o", "f"], "");
        let shown = String::from_utf8_lossy(&output.stderr);
        for part in
            ["quagmire-inprocess.o", "quagmire-runtime.o", "libengine.a", "-fpass-plugin=", "-fsanitize=address"]
        {
            assert!(shown.contains(part), "{part} in {shown}");
        }
        assert!(!shown.contains("fuzzer"), "{shown}");

        let mut wrapper = llvm.wrapperxx();
        wrapper.env("QUAGMIRE_ENGINE", "/nowhere/libquagmire.a");
        let output = run(wrapper, folder.path(), &["-fsanitize=fuzzer", "plugin.cc", "-o", "f"], "");
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(
            String::from_utf8_lossy(&output.stderr),
            "quagmire-cc: -fsanitize=fuzzer needs the engine libquagmire.a (tried /nowhere/libquagmire.a): \
             run quagmire setup, which builds it (in a checkout: scripts/build), or name it with QUAGMIRE_ENGINE\n"
        );
    }
}

#[test]
fn plain_mode_is_plain_clang() {
    for llvm in installed() {
        let folder = copied("commands");
        let mut wrapper = llvm.wrapper();
        wrapper.env("QUAGMIRE_NOOPT", "1").env("QUAGMIRE_DEBUG", "commands.log");
        let output = run(wrapper, folder.path(), &["a.c", "b.c", "-o", "a"], "");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "what is printed changes what configure finds out");
        let shown = format!("{} a.c b.c -o a\n", llvm.bindir.join("clang").display());
        assert_eq!(fs::read_to_string(folder.path().join("commands.log")).unwrap(), shown);
        assert!(!has_runtime(&folder.path().join("a")));
    }
}

#[test]
fn a_linker_script_of_the_users_is_used_however_it_is_named() {
    let llvm = installed().into_iter().next().expect("an LLVM");
    let folder = copied("commands");
    for (shared, output) in [(None, "a"), (Some("-shared"), "libplugin.so")] {
        let mut linker = Command::new("ld");
        let printed = linker.args(shared).arg("--verbose").output().expect("ld").stdout;
        let printed = String::from_utf8(printed).expect("text");
        let script = printed.split("==================================================").nth(1).expect("a script");
        fs::write(folder.path().join("own.ld"), script).expect("written");
        for how in ["-T own.ld", "-Wl,-T,own.ld", "-Wl,--script=own.ld", "-Xlinker -T -Xlinker own.ld"] {
            let sources = if shared.is_some() { ["-fPIC", "b.c"] } else { ["a.c", "b.c"] };
            let words: Vec<&str> = how.split(' ').chain(shared).chain(sources).chain(["-o", output]).collect();
            must(llvm.wrapper(), folder.path(), &words);
        }
    }
}

#[test]
fn a_failed_link_names_the_remedy_that_the_linker_does_not_know() {
    let llvm = installed().into_iter().next().expect("an LLVM");
    let folder = copied("commands");
    let last_line = |arguments: &[&str], code: &str| {
        fs::write(folder.path().join("code.c"), code).expect("written");
        let output = run(llvm.wrapper(), folder.path(), arguments, "");
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        String::from_utf8(output.stderr).expect("text").lines().last().unwrap_or_default().to_owned()
    };
    let harness =
        "int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size) { return size && data[0]; }";
    let said = last_line(&["code.c", "-o", "harness"], harness);
    assert!(said.starts_with("quagmire-cc: ") && said.contains("add -fsanitize=fuzzer"), "{said}");
    let said = last_line(&["-nostdlib", "code.c", "-o", "program"], "void _start(void) {}");
    assert!(said.starts_with("quagmire-cc: with -nostdlib "), "{said}");
    let said = last_line(&["code.c", "-o", "program"], "int main(void) { return missing(); }");
    assert!(!said.starts_with("quagmire-cc: "), "{said}");
}
