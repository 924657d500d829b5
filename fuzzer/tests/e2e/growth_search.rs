//! Tests of the search by growth: patterns that grow faster than the input are found at small sizes, behind what the format
//! asks for, and findings have the law of their templates.

use crate::common::*;

const PATTERNS: &str = "growth_patterns.c";
const OPTIONS: &str = "--execs 60000 --seed 3 --explain 20s --rules havoc,growth";

/// The findings of a campaign from one seed, and the scene.
fn searched(source: &str, seed: &[u8], options: &str) -> (Value, Scene) {
    let scene = Scene::new(&[("seed", seed)]);
    scene.fuzz(&harness(source), options).ended();
    (scene.summary(), scene)
}

/// Asserts that a finding in a function has a law of about the square, by a template with these texts in it.
fn is_quadratic(summary: &Value, function: &str, texts: &[&str]) {
    let is_square = |class: &Value| class == "quadratic" || class == "n^1.9";
    let of_function = |finding: &&Value| finding["hot_function"] == function && is_square(&finding["law"]["class"]);
    let findings: Vec<&Value> = array(&summary["findings"]).iter().filter(of_function).collect();
    let told = findings.iter().any(|finding| {
        let template = finding["template"].as_str().unwrap_or_default();
        texts.iter().all(|text| template.contains(text))
    });
    assert!(told, "{:#}", summary["findings"]);
}

#[test]
fn a_pattern_behind_what_the_format_asks_for_is_found_with_its_law_and_again_by_its_seed() {
    let (summary, scene) = searched(PATTERNS, b"B: an [ordinary] line, and (its) end!\n", OPTIONS);
    is_quadratic(&summary, "look_for_end", &["\"B", "rep(N){", "[", "\\n\""]);
    let templates = scene.files("out/templates");
    assert!(!templates.is_empty());
    let same = searched(PATTERNS, b"B: an [ordinary] line, and (its) end!\n", OPTIONS).1;
    assert_eq!(scene.files("out/queue"), same.files("out/queue"));
    assert_eq!(templates, same.files("out/templates"));
}

#[test]
fn what_has_to_differ_is_numbered() {
    let (summary, _) = searched(PATTERNS, b"N width=1 height=2\n", OPTIONS);
    is_quadratic(&summary, "check_names", &["#i:"]);
}

#[test]
fn lengths_around_what_repeats_stay_right() {
    let (summary, _) = searched(PATTERNS, b"0\x09\x02\x01\x05\x02\x01\x06\x02\x01\x07", OPTIONS);
    is_quadratic(&summary, "compare_with_all", &["len:der{", "\\x02"]);
}

#[test]
fn a_number_of_what_repeats_stays_right_with_its_length() {
    let (summary, _) = searched("relation_fields.c", b"M\x00\x02\x00\x00\x08abcdefgh", OPTIONS);
    is_quadratic(&summary, "compare_pairs", &["#N:", "len:", "rep(N){"]);
}

#[test]
fn where_nothing_grows_faster_than_the_input_patterns_get_little() {
    let (summary, scene) = searched("keyword.c", b"a, list, of, items\n", "--execs 60000 --seed 2 --explain 0");
    let rules = array(&summary["rules"]);
    let growth = rules.iter().find(|rule| rule["label"] == "growth");
    // the share falls with the work that patterns took: an eighth here, in the first second
    let applied = growth.and_then(|growth| growth["applied"].as_u64());
    assert!(applied.is_some_and(|applied| (300..8000).contains(&applied)), "{growth:?}");
    assert!(!scene.path("out/templates").exists());
}

#[test]
fn a_selection_without_it_leaves_it_out() {
    let (_, scene) = searched(
        PATTERNS,
        b"B: an [ordinary] line, and (its) end!\n",
        "--execs 5000 --seed 2 --explain 0 --rules havoc",
    );
    assert!(!scene.path("out/templates").exists());
}
