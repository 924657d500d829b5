//! Tests of the search for memory: maxima of each call of an allocator and of each function's stack, numbers that decide an
//! allocation, patterns under which memory grows.

use crate::common::*;

/// Summary of a campaign from one seed, whose first byte stays, and the most of a resource that an entry uses whose name has `made_by`
/// in it.
fn searched(seed: &[u8], options: &str, resource: &str, made_by: &str) -> (Value, u64) {
    let harness = harness_with("memory_places.c", &[&format!("-DONLY={}", seed[0])]);
    let scene = Scene::new(&[("seed", seed)]);
    scene.fuzz(&harness, &format!("--seed 3 {options}")).ended();
    let names = scene.files("out/queue").into_keys().filter(|name| name.contains(made_by));
    let entries: Vec<PathBuf> = names.map(|name| scene.path("out/queue").join(name)).collect();
    assert!(!entries.is_empty(), "no entry by {made_by}");
    let entries: Vec<&Path> = entries.iter().map(PathBuf::as_path).collect();
    let runs = scene.replay(&harness, "-n 1", &entries);
    let most = runs.iter().map(|run| number(&run["costs"][resource])).max();
    (scene.summary(), most.expect("entries"))
}

/// Asserts that a finding has a law of this class, by a template with this text in it.
fn has_law(summary: &Value, resource: &str, class: &str, text: &str) {
    let told = array(&summary["findings"]).iter().any(|finding| {
        let template = finding["template"].as_str().unwrap_or_default();
        finding["law"]["resource"] == resource && finding["law"]["class"] == class && template.contains(text)
    });
    assert!(told, "{:#}", summary["findings"]);
}

#[test]
fn blocks_are_gathered_one_by_one_behind_a_larger_one() {
    let options = "--cost heap --execs 400000 --explain 0 --no-confirm";
    let (_, most) = searched(b"H\x0b\x00", options, "heap-total", "");
    assert!(most >= (1 << 20) + 160 * 64, "{most}");
}

#[test]
fn functions_that_call_each_other_get_deeper_behind_a_larger_frame() {
    let options = "--cost stack --execs 600000 --explain 0 --no-confirm";
    let (_, most) = searched(b"D\x01\x00", options, "stack", "");
    assert!(most >= 60_000, "{most}");
}

#[test]
fn a_number_that_decides_an_allocation_is_raised_to_its_limit() {
    let options = "--cost heap --execs 20000 --explain 0 --no-confirm";
    let (_, most) = searched(b"N\x00\x00\x01\x2c", options, "heap", "op_comparisons");
    assert!(most >= 50_000 * 24, "{most}");
}

#[test]
fn memory_that_grows_faster_than_the_input_is_found_as_a_pattern_with_its_law() {
    let options = "--cost heap --execs 30000 --explain 20s --rules havoc,growth";
    let (summary, most) = searched(b"P#,a#,b", options, "heap", "op_growth");
    assert!(most >= 200_000, "{most}");
    has_law(&summary, "heap", "quadratic", "#,");
}

#[test]
fn a_stack_as_deep_as_the_input_is_long_is_found_as_a_pattern_with_its_law() {
    let options = "--cost stack --execs 30000 --explain 20s --rules havoc,growth";
    let (summary, most) = searched(b"L()()()()()()", options, "stack", "op_growth");
    assert!(most >= 30_000, "{most}");
    has_law(&summary, "stack", "linear", "rep(N){\"(\"}");
}
