//! Programs linked in every way that clang knows: their counts are correct.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use crate::common::{Scene, compiler, llvms, number, run, testdata};

/// Functions among `of` that are left in the program after linking.
fn functions_left(program: &Path, of: &[&str]) -> BTreeSet<String> {
    let symbols = run(Command::new("nm").arg(program)).ended().stdout;
    let names = symbols.lines().filter_map(|line| line.split_whitespace().last());
    names.filter(|name| of.contains(name)).map(str::to_owned).collect()
}

#[test]
fn with_link_time_optimisation_a_program_is_optimised_as_without_counters_and_counted_exactly() {
    let scene = Scene::new(&[("a", b"quagmire")]);
    let names = ["main", "mine", "other", "helper"];
    // LLVM 14 has no linker that loads passes
    for llvm in llvms().into_iter().filter(|llvm| *llvm > 14) {
        for lto in ["-flto", "-flto=thin"] {
            let build = |counting: Option<&str>| {
                let program = scene.path("program");
                let mut command = compiler("a.c", Some(llvm));
                command.env("QUAGMIRE_COUNTING", counting.unwrap_or_default());
                command.env("QUAGMIRE_NOOPT", if counting.is_none() { "1" } else { "0" });
                let sources = ["lto_main.c", "lto_helper.c"].map(testdata);
                run(command.args(sources).args(["-g", "-O2", lto, "-fuse-ld=lld", "-o"]).arg(&program)).ended();
                program
            };
            let left = functions_left(&build(None), &names);
            assert!(left.len() < names.len(), "LLVM {llvm} {lto}: nothing was inlined, which shows nothing: {left:?}");
            let counted = ["shared", "every-block"].map(|counting| {
                let program = build(Some(counting));
                assert_eq!(functions_left(&program, &names), left, "LLVM {llvm} {lto}");
                let input = scene.replay(&program, "-n 1", &[Path::new("seeds")]).swap_remove(0);
                ["instructions", "edges", "edges_hit"].map(|cost| number(&input[cost]))
            });
            assert_eq!(counted[0], counted[1], "LLVM {llvm} {lto}");
            assert!(counted[0][0] > 0, "LLVM {llvm} {lto}");
        }
    }
}

#[test]
fn link_time_optimisation_that_cannot_be_counted_is_refused_with_the_remedy() {
    let refused = |llvm: u32, options: &[&str]| {
        let mut command = compiler("a.c", Some(llvm));
        let run = run(command.arg(testdata("lto_helper.c")).args(options).args(["-o", "/dev/null"]));
        assert_eq!(run.code, Some(1), "{run:?}");
        run.stderr
    };
    for llvm in llvms() {
        let (option, remedy) = if llvm > 14 { ("-flto", "-fuse-ld=lld") } else { ("-flto", "LLVM 15 or newer") };
        let message = refused(llvm, &[option]);
        assert!(message.starts_with("quagmire-cc: -flto needs") && message.contains(remedy), "{message}");
    }
}

#[test]
fn programs_that_choose_functions_before_they_have_threads_start_however_they_are_linked() {
    let scene = Scene::new(&[("a", b"quagmire")]);
    for llvm in llvms() {
        for options in [["-static", "-O0"], ["-static", "-O2"], ["-static-pie", "-fPIE"], ["-pie", "-fPIE"]] {
            let program = scene.path("program");
            let mut command = compiler("a.c", Some(llvm));
            run(command.args(["-g", "-o"]).arg(&program).args(options).arg(testdata("ifunc.c"))).ended();
            let plain = run(&mut Command::new(&program)).ended();
            assert_eq!(plain.stdout, "65\n", "LLVM {llvm} {options:?}");
            let input = scene.replay(&program, "-n 1", &[Path::new("seeds")]).swap_remove(0);
            assert_eq!(input["status"], "returned", "LLVM {llvm} {options:?}");
            assert!(number(&input["instructions"]) > 0, "LLVM {llvm} {options:?}");
        }
    }
}
