//! Tests of the runtime under AddressSanitizer and UndefinedBehaviorSanitizer.

use std::{path::Path, process::Command};

use crate::common::{Llvm, copied, installed, must};

/// Units of the runtime that every program has.
const RUNTIME: [&str; 7] = ["runtime.c", "objects.c", "comparisons.c", "hashes.c", "draws.c", "parts.c", "window.c"];

/// Compiles C files, including those of the runtime, so that any error ends the program.
fn build(llvm: &Llvm, folder: &Path, sources: &[&str], options: &[&str], program: &str) {
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("runtime");
    let mut command = llvm.clang();
    command.args(["-g", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", "-rdynamic", "-fno-builtin"]);
    command.args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]).arg("-I").arg(&runtime);
    command.arg("-I").arg(runtime.with_file_name("include/quagmire"));
    for source in sources {
        let own = folder.join(source);
        command.arg(if own.exists() { own } else { runtime.join(source) });
    }
    must(command, folder, &[options, &["-ldl", "-o", program]].concat());
}

/// Runs a program and checks that it ends as intended.
fn check(mut command: Command, folder: &Path) {
    command
        .env("ASAN_OPTIONS", "detect_leaks=0:handle_segv=0:abort_on_error=0")
        .env("UBSAN_OPTIONS", "print_stacktrace=1");
    let said = must(command, folder, &[]);
    assert!(said.ends_with("done\n"), "{said}");
}

#[test]
fn objects_come_and_go_and_runs_end_in_every_way_in_process() {
    for llvm in installed() {
        let folder = copied("runtime");
        let parts = "inprocess.c mutator.c extra.c closed.c sancov.c widen.c sancov_comparisons.c main.c";
        let parts: Vec<&str> = parts.split(' ').collect();
        let sources = [&["engine.c"], &RUNTIME[..], &parts[..]].concat();
        build(&llvm, folder.path(), &sources, &[], "program");
        check(Command::new("./program"), folder.path());
    }
}

#[test]
fn the_fork_server_answers_every_request() {
    for llvm in installed() {
        let folder = copied("runtime");
        let parts =
            "run.c counts.c active.c afl.c diversity.c testcase.c generator.c loop.c opened.c sancov_refused.c serve.c";
        let parts: Vec<&str> = parts.split(' ').collect();
        let sources = [&["served.c"], &RUNTIME[..], &parts[..]].concat();
        build(&llvm, folder.path(), &sources, &[], "program");
        build(&llvm, folder.path(), &["served.c"], &["-DFUZZER"], "fuzzer");
        let mut command = Command::new("./fuzzer");
        command.arg("./program");
        check(command, folder.path());
    }
}
