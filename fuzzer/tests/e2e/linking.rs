//! Programs linked in every way that clang knows: their counts are correct.

use crate::common::*;

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
fn objects_of_any_kind_are_counted_once_in_links_that_do_not_ask_for_optimisation() {
    let scene = Scene::new(&[("a", b"quagmire")]);
    let main = testdata("lto_main.c").into_os_string().into_string().expect("text");
    let helper = testdata("lto_helper.c").into_os_string().into_string().expect("text");
    for llvm in llvms().into_iter().filter(|llvm| *llvm > 14) {
        let compile = |words: &str| {
            let mut command = compiler("a.c", Some(llvm));
            let words = words.replace("MAIN", &main).replace("HELPER", &helper);
            run(command.current_dir(scene.path("")).args(words.split(' '))).ended();
        };
        let counted = |commands: &[&str], link: &str| {
            commands.iter().for_each(|words| compile(words));
            compile(&format!("main.o {link} -o program"));
            let input = scene.replay(&scene.path("program"), "-n 1", &[Path::new("seeds")]).swap_remove(0);
            ["instructions", "edges_hit"].map(|cost| number(&input[cost]))
        };
        compile("-O1 -c MAIN -o main.o");
        let plain = counted(&["-O1 -c HELPER -o helper.o"], "helper.o");
        let lto = "-flto -O1 -c HELPER -o helper.o";
        let merged = |merge: &'static str| [lto, merge];
        for (commands, link) in [
            (&[lto][..], "-fuse-ld=lld helper.o"),
            (&merged("-flto -fuse-ld=lld -r helper.o -o all.o")[..], "all.o"),
            (&merged("-fuse-ld=lld -r helper.o -o all.o")[..], "all.o"),
            (&["-O1 -emit-llvm -c HELPER -o helper.bc"], "-O1 helper.bc"),
            (&["-O1 -emit-llvm -c HELPER -o helper.bc"], "-O1 -fuse-ld=lld helper.bc"),
        ] {
            assert_eq!(counted(commands, link), plain, "LLVM {llvm}: {commands:?} {link}");
        }
    }
}

#[test]
fn a_harness_in_c_links_libraries_in_cxx_and_is_not_linked_statically() {
    let scene = Scene::new(&[]);
    scene.write(
        "lib.cc",
        b"#include <string>\nextern \"C\" int length(const char *text) { return std::string(text).size(); }\n",
    );
    scene.write("h.c", b"int length(const char *);\nint LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) { return length(n ? \"a\" : \"\") > 1; }\n");
    for llvm in llvms() {
        run(compiler("lib.cc", Some(llvm)).current_dir(scene.path("")).args(["-O1", "-c", "lib.cc"])).ended();
        let mut link = compiler("h.c", Some(llvm));
        link.current_dir(scene.path("")).args(["-O1", "-fsanitize=fuzzer", "h.c", "lib.o", "-o", "harness"]);
        run(&mut link).ended();
        let run = run(link.arg("-static"));
        assert!(run.code == Some(1) && run.stderr.contains("QUAGMIRE_DRIVER=1"), "{run:#?}");
    }
}

#[test]
fn link_time_optimisation_that_cannot_be_counted_is_refused_with_the_remedy() {
    for llvm in llvms() {
        let remedy = if llvm > 14 { "-fuse-ld=lld" } else { "LLVM 15 or newer" };
        let mut command = compiler("a.c", Some(llvm));
        let run = run(command.arg(testdata("lto_helper.c")).args(["-flto", "-o", "/dev/null"]));
        assert_eq!(run.code, Some(1), "{run:?}");
        assert!(run.stderr.starts_with("quagmire-cc: -flto needs") && run.stderr.contains(remedy), "{run:?}");
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
