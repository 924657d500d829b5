//! Tests that a link names what another compiler has built, and nothing else.

use std::path::Path;
use std::process::Command;

use crate::common::{Llvm, installed, run};

/// Compiles functions that call each other, one object each, with clang or the wrapper.
fn compiled(llvm: &Llvm, folder: &Path) {
    for (name, code, is_counted) in [
        ("main.o", "int counted(int); int main(void) { return counted(0); }", true),
        ("calls.o", "int counted(int); int theirs(int); int main(void) { return counted(theirs(0)); }", true),
        ("counted.o", "int counted(int x) { return x; }", true),
        ("theirs.o", "int theirs(int x) { return x; }", false),
        ("data.o", "int data = 1;", false),
    ] {
        let compiler = if is_counted { llvm.wrapper() } else { llvm.clang() };
        let output = run(compiler, folder, &["-x", "c", "-c", "-", "-o", name], code);
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let coverage = ["-fsanitize-coverage=trace-pc-guard", "-x", "c", "-c", "-", "-o", "sancov.o"];
    assert!(run(llvm.clang(), folder, &coverage, "int theirs(int x) { return x; }").status.success());
    let assembly = ["-x", "assembler", "-c", "-", "-o", "assembly.o"];
    let code = ".globl theirs\ntheirs: ret\n.section .note.GNU-stack,\"\"\n";
    assert!(run(llvm.clang(), folder, &assembly, code).status.success());
    for (archive, kind) in [("libmixed.a", "rcs"), ("libthin.a", "rcsT")] {
        let mut ar = Command::new("ar");
        ar.args([kind, archive, "counted.o", "theirs.o"]).current_dir(folder);
        assert!(ar.status().expect("ar").success());
    }
}

#[test]
fn a_link_names_code_without_counts_that_ends_up_in_the_program() {
    let llvm = installed().into_iter().next().expect("an LLVM");
    let scratch = tempfile::tempdir().expect("a folder");
    compiled(&llvm, scratch.path());
    let warned = |wrapper: Command, arguments: &str| {
        let arguments: Vec<&str> = arguments.split(' ').chain(["-o", "program"]).collect();
        let output = run(wrapper, scratch.path(), &arguments, "");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && stderr.lines().count() <= 1, "{arguments:?}: {stderr}");
        let words = stderr.strip_prefix("quagmire-cc: warning: no counts in ").map(str::to_owned);
        assert!(words.is_some() || stderr.is_empty(), "{stderr}");
        words.map(|words| words.split(": ").next().expect("a name").to_owned())
    };
    for (arguments, named) in [
        ("calls.o counted.o theirs.o", Some("theirs.o")),
        ("calls.o libmixed.a", Some("1 of 2 members of libmixed.a")),
        ("calls.o libthin.a", Some("1 of 2 members of libthin.a")),
        ("calls.o -L. -lmixed", Some("1 of 2 members of ./libmixed.a")),
        ("main.o -Wl,--whole-archive libmixed.a -Wl,--no-whole-archive", Some("1 of 2 members of libmixed.a")),
        ("-shared theirs.o", Some("theirs.o")),
        // nothing pulls the member in
        ("main.o libmixed.a", None),
        ("main.o counted.o data.o -lm", None),
        ("calls.o counted.o assembly.o", None),
        ("calls.o counted.o sancov.o -Wl,--unresolved-symbols=ignore-all", None),
    ] {
        assert_eq!(warned(llvm.wrapper(), arguments).as_deref(), named, "{arguments}");
    }
    let mut silent = llvm.wrapper();
    silent.env("QUAGMIRE_WARN_UNCOUNTED", "0");
    assert_eq!(warned(silent, "calls.o counted.o theirs.o"), None);
}
