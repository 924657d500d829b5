//! The memory limit applies to the target's memory, not to the engine's.

use crate::common::*;

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
