//! Measurement of heap and stack, exact or within the allocator's rounding.

use crate::common::*;

/// Costs of one run of each input.
fn costs(harness: &Path, inputs: &[&[u8]]) -> Vec<Value> {
    let scene = Scene::new(&[]);
    let name = |(number, bytes): (usize, &&[u8])| scene.write(&format!("input{number}"), bytes);
    let paths: Vec<PathBuf> = inputs.iter().enumerate().map(name).collect();
    let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    scene.replay(harness, "-n 3", &paths).into_iter().map(|input| input["costs"].clone()).collect()
}

#[track_caller]
fn about(amount: &Value, expected: u64) {
    let amount = number(amount);
    assert!(amount >= expected && amount <= expected + 64, "{amount} is not {expected}");
}

#[test]
fn heap_is_what_the_target_allocates_and_nothing_else() {
    for harness in [harness("resources.cc"), built("resources.cc", &["-O1", "-fsanitize=fuzzer,address"], None)] {
        let all = costs(&harness, &[b"x\x32", b"m\x32", b"n\x32", b"s\x32", b"g\x32"]);
        assert_eq!((number(&all[0]["heap"]), number(&all[0]["heap-total"])), (0, 0));
        for cost in &all[1..3] {
            about(&cost["heap"], 50_000);
            about(&cost["heap-total"], 50_000);
        }
        about(&all[3]["heap"], 1000);
        about(&all[3]["heap-total"], 50_000);
        assert!(number(&all[4]["heap"]) >= 50_000, "{}", all[4]);
    }
    // memory of earlier runs is not counted again
    let all = costs(&harness("resources.cc"), &[b"k\x32", b"x\x32"]);
    assert!(number(&all[0]["heap"]) <= 50_064, "{}", all[0]);
    assert_eq!(number(&all[1]["heap"]), 0);
}

#[test]
fn stack_grows_with_recursion_and_is_the_same_in_every_run() {
    for llvm in llvms() {
        for level in ["-O0", "-O1"] {
            let harness = built("resources.cc", &[level, "-fno-inline", "-fsanitize=fuzzer"], Some(llvm));
            let inputs: [&[u8]; 4] = [b"d\x0a", b"d\x14", b"d\x1e", b"d\x14"];
            let depths: Vec<u64> = costs(&harness, &inputs).iter().map(|cost| number(&cost["stack"])).collect();
            let frame = (depths[1] - depths[0]) / 10;
            assert!((16..1024).contains(&frame), "LLVM {llvm} {level}: {depths:?}");
            assert_eq!(depths[2] - depths[1], depths[1] - depths[0], "LLVM {llvm} {level}: {depths:?}");
            assert_eq!(depths[3], depths[1], "LLVM {llvm} {level}: {depths:?}");
        }
    }
}

#[test]
fn large_seeds_are_not_taken_for_memory_of_the_target() {
    // more than twice the limit
    let large: Vec<u8> = (0..34_000_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let scene = Scene::new(&[("large", &large), ("small", b"a few bytes")]);
    let options =
        "--execs 2 --seed 1 --max-size 40MB --memory-limit 16MiB --no-confirm --no-plotting --hang-timeout 60s";
    scene.fuzz(&harness("reads.c"), options).ended();
    let summary = scene.summary();
    assert_eq!((number(&summary["entries"]), number(&summary["faults"])), (2, 0), "{:#}\n{}", summary, scene.log());
}
