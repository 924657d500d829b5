//! Formats of campaigns, comparisons and growths for other tools. `scripts/check-formats` holds them against tools of others.

use crate::common::*;

fn sarif(scene: &Scene, result: &str) -> Value {
    let end = run(&mut scene.quagmire(&["report", result, "--format", "sarif", "--source-root", "/nowhere"])).ended();
    end.json()
}

/// Ids of the rules of all alerts.
fn rules(log: &Value) -> Vec<&str> {
    let results = array(&log["runs"][0]["results"]);
    results.iter().map(|one| string(&one["ruleId"])).collect()
}

#[test]
fn findings_of_a_campaign_are_alerts_test_cases_and_annotations() {
    let (scene, _) = finished();
    let log = sarif(&scene, "out");
    assert!(rules(&log).contains(&"degradation"), "{log:#}");
    let findings = array(&scene.summary()["findings"]).len();
    let report = |format: &str| run(&mut scene.quagmire(&["report", "out", "--format", format])).ended().stdout;
    assert_eq!(report("junit").matches("<testcase ").count(), findings + 1);
    assert!(report("github").starts_with("::"), "{}", report("github"));
    assert!(report("markdown").contains("<code>count&#95;pairs</code>"), "{}", report("markdown"));
    // sources below the given folder have relative paths
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    let inside = ["report", "out", "--format", "sarif", "--source-root", folder, "-o", "inside.sarif"];
    run(&mut scene.quagmire(&inside)).ended();
    let text = scene.read("inside.sarif");
    assert!(text.contains("\"uri\": \"testdata/quadratic.c\""), "{text}");
}

#[test]
fn a_comparison_and_a_growth_take_the_place_of_a_campaign() {
    let scene = Scene::new(&[("text", &[b'a'; 300])]);
    let program = built("compared.c", &["-g", "-O1", "-fsanitize=fuzzer", "-DQUADRATIC"], None);
    let mut compare = scene.quagmire(&["compare", "seeds", "-o", "comparison.json", "--"]);
    run(compare.arg(&program).arg("--and").arg(&program)).ended();
    assert!(!rules(&sarif(&scene, "comparison.json")).contains(&"slower"));
    let page = run(&mut scene.quagmire(&["report", "comparison.json"])).ended();
    assert_eq!(page.stdout, "comparison.html\n");
    assert!(scene.path("comparison.html").is_file());
    let growth = scene.ask("growth seeds/text --json", &program).ended();
    scene.write("growth.json", growth.stdout.as_bytes());
    let log = sarif(&scene, "growth.json");
    assert_eq!(rules(&log), ["superlinear"], "{log:#}");
    run(&mut scene.quagmire(&["report", "growth.json"])).ended();
    assert!(scene.read("growth.html").contains("<svg"));
    scene.write("odd.json", b"{}");
    run(&mut scene.quagmire(&["report", "odd.json"])).refused(1, &["odd.json is no result", "compare -o"]);
}
