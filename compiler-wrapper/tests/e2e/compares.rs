//! Tests of `QUAGMIRE_COMPARES=1`: which comparisons show their progress, and that nothing else changes.

use crate::common::{Llvm, copied, installed, must};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

const LEVELS: [&str; 3] = ["-O0", "-O1", "-O2"];

/// A wrapper with or without instrumented comparisons.
fn wrapper(llvm: &Llvm, source: &str, compares: bool) -> Command {
    let mut command = if source.ends_with(".cc") { llvm.wrapperxx() } else { llvm.wrapper() };
    command.env("QUAGMIRE_COMPARES", if compares { "1" } else { "0" });
    command.arg(concat!("-I", env!("CARGO_MANIFEST_DIR"), "/runtime"));
    command
}

/// Compiles a program of `testdata/compares`, and returns its output.
fn output(llvm: &Llvm, folder: &Path, source: &str, level: &str, compares: bool) -> String {
    must(wrapper(llvm, source, compares), folder, &[level, source, "-o", "program"]);
    must(Command::new("./program"), folder, &[])
}

/// Parses lines of the form `NAME: REST`.
fn lines(text: &str) -> BTreeMap<&str, &str> {
    text.lines().map(|line| line.split_once(':').expect("a name")).collect()
}

/// Expected hits with one slot for each of the first `most` of nine bytes.
fn up_to(most: usize) -> String {
    (0..=9).map(|right: usize| format!(" {}", right.min(most))).collect()
}

#[test]
fn every_right_byte_hits_a_slot_more_and_costs_are_the_same_with_and_without_slots() {
    for llvm in installed() {
        for level in LEVELS {
            let folder = copied("compares");
            let text = output(&llvm, folder.path(), "shapes.c", level, true);
            let optimised = level != "-O0";
            // name, number of slots, and the number of right bytes from which on no more slots are hit
            let expected = [
                // an int at -O0, with two bytes that are always right
                ("little16", if optimised { 1 } else { 3 }, 1),
                ("little32", 3, 3),
                ("little64", 7, 7),
                ("big32", 3, 3),
                ("folded", if optimised { 3 } else { 0 }, if optimised { 3 } else { 0 }),
                // the second of the two long cases has slots of its own
                ("cases", 6, 3),
                ("memory", 9, 9),
                ("memory_is_less", 9, 9),
                ("no_constant", 32, 9),
                ("text", 9, 9),
                ("some_text", 5, 5),
                ("folded_text", 9, 9),
                ("some_folded_text", 5, 5),
                ("library", 9, 9),
                ("some_of_library", 4, 4),
                ("nothing", if optimised { 6 } else { 38 }, 0),
                ("small", 0, 0),
                ("one_block", 0, 0),
                ("counter", if optimised { 0 } else { 3 }, 0),
            ];
            let printed = lines(&text);
            for (name, slots, most) in expected {
                let hits = printed.get(format!("{name} {slots}").as_str()).copied();
                assert_eq!(hits, Some(up_to(most).as_str()), "{name} {level} LLVM {}: {text}", llvm.major);
            }
            assert_eq!(printed.len(), expected.len() + 1, "{text}");
            // costs are the same without slots
            let without = output(&llvm, folder.path(), "shapes.c", level, false);
            let without = lines(&without);
            assert!(without.keys().all(|name| name.ends_with(" 0") || *name == "instructions"), "{without:?}");
            assert_eq!(printed["instructions"], without["instructions"], "{level} LLVM {}", llvm.major);
            assert!(printed["instructions"].trim().parse::<u64>().expect("a number") > 0);
        }
    }
}

#[test]
fn a_leaf_that_compares_calls_nothing_that_counts() {
    for llvm in installed() {
        let folder = copied("compares");
        std::fs::write(folder.path().join("leaf.c"), "int same(unsigned a, unsigned b) { return a == b; }\n")
            .expect("a file");
        for compares in [false, true] {
            let assembly = must(wrapper(&llvm, "leaf.c", compares), folder.path(), &["-O1", "-S", "leaf.c", "-o", "-"]);
            assert!(assembly.contains("__quagmire_recording"), "{assembly}");
            assert!(!assembly.contains("__quagmire_lowest_stack"), "{assembly}");
        }
    }
}

#[test]
fn nothing_is_read_that_the_comparison_would_not_read_and_strings_of_cxx_show_their_progress() {
    let strings = format!("literal:{0}\nother:{0}\n", up_to(9));
    for llvm in installed() {
        for level in LEVELS {
            for (source, expected) in [("page_end.c", "55 slots, 20 hit\n"), ("strings.cc", &strings)] {
                let printed = output(&llvm, copied("compares").path(), source, level, true);
                assert_eq!(printed, expected, "{level} LLVM {}", llvm.major);
            }
        }
    }
}

#[test]
fn a_shared_library_needs_no_runtime_and_uses_that_of_the_program() {
    for llvm in installed() {
        let folder = copied("compares");
        let shared = ["-O2", "-shared", "-fPIC", "-Wl,-z,defs", "library.c", "-o", "library.so"];
        must(wrapper(&llvm, "library.c", true), folder.path(), &shared);
        // the program itself need not show comparisons
        must(wrapper(&llvm, "opens.c", false), folder.path(), &["opens.c", "-ldl", "-o", "opens"]);
        assert_eq!(must(Command::new("./opens"), folder.path(), &["./library.so"]), "0, 3 of 7, 1\n");
        let mut plain = llvm.clang();
        plain.arg(concat!("-I", env!("CARGO_MANIFEST_DIR"), "/runtime"));
        must(plain, folder.path(), &["-w", "-DPLAIN", "opens.c", "-ldl", "-o", "plain"]);
        assert_eq!(must(Command::new("./plain"), folder.path(), &["./library.so"]), "0, 1\n");
        // without slots, it looks at a variable of the runtime
        must(wrapper(&llvm, "library.c", false), folder.path(), &shared);
        assert_eq!(must(Command::new("./plain"), folder.path(), &["./library.so"]), "0, 1\n");
    }
}

#[test]
fn sanitizers_and_debug_information_go_with_it() {
    for llvm in installed() {
        let folder = copied("compares");
        for flags in [["-O0", "-fsanitize=address,undefined"], ["-O2", "-fsanitize=address"], ["-O2", "-g"]] {
            let mut compiler = wrapper(&llvm, "shapes.c", true);
            compiler.args(flags);
            must(compiler, folder.path(), &["shapes.c", "-o", "program"]);
            let text = must(Command::new("./program"), folder.path(), &[]);
            for name in ["memory 9", "text 9"] {
                assert_eq!(lines(&text).get(name).copied(), Some(up_to(9).as_str()), "{flags:?}: {text}");
            }
        }
    }
}
