//! Size is not slowness: inputs are compared with ordinary ones of their size.

use crate::common::*;

/// Seed without an `x`: for other bytes, the program uses no more than its ordinary share.
const SEED: &[(&str, &[u8])] = &[("greeting", b"hello world, hello, hello.")];

/// Options of campaigns that make no `x`: mutants consist of the seed's bytes and copies of them.
const NO_X: &str = "--execs 5000 --max-size 4096 --seed 3 --regex-rules rules --rules R --no-mask";

fn scene() -> Scene {
    let scene = Scene::new(SEED);
    scene.write("rules", b"'hello': 'hello hello'\n'l': 'll'\n'o': 'oo'\n");
    scene
}

#[test]
fn a_linear_program_has_large_inputs_and_no_degradation() {
    for (options, cost) in [("-DLINEAR", "instructions"), ("-DDOCUMENT", "instructions"), ("-DLINEAR", "heap")] {
        let scene = scene();
        scene.fuzz(&harness_with("sizes.c", &[options]), &format!("{NO_X} --cost {cost}")).ended();
        let summary = scene.summary();
        assert_eq!(number(&summary["degradations"]), 0, "{options:?}: {summary:#}");
        assert!(number(&summary["large"]) > 0, "{options:?}: {summary:#}");
        let largest = &summary["large_inputs"][0];
        assert!(largest["instructions_ratio"].as_f64() >= Some(2.0), "{largest:#}");
        assert!(largest["instructions_ratio_by_size"].as_f64() < Some(1.5), "{largest:#}");
        assert!(scene.path("out").join(string(&largest["path"])).is_file());
        assert!(scene.files("out/ordinary").is_empty());
    }
}

#[test]
fn what_costs_more_than_its_size_stays_a_degradation_and_is_shown_beside_an_ordinary_input() {
    let scene = Scene::new(SEED);
    let harness = harness("sizes.c");
    // of the heap: no clock decides
    scene.fuzz(&harness, "--execs 20000 --max-size 2000 --seed 1 --cost heap").ended();
    let summary = scene.summary();
    assert!(number(&summary["degradations"]) > 0, "{summary:#}");
    assert_eq!(summary["relative_to"], "size");
    let per_byte = |resource: &str| {
        let costs = array(&summary["sizes"]["costs"]);
        float(&costs.iter().find(|cost| cost["resource"] == resource).expect("it")["per_byte"])
    };
    assert!((per_byte("heap") - 100.0).abs() < 1.0, "{:#}", summary["sizes"]);
    let findings = array(&summary["findings"]);
    let finding = findings.iter().rfind(|finding| finding["kind"] == "degradation").expect("one");
    let heap = array(&finding["costs"]).iter().find(|cost| cost["resource"] == "heap").expect("it");
    let ratio = |key: &str| float(&heap[key]);
    assert!(ratio("ratio_by_size") >= 2.0 && ratio("ratio") > ratio("ratio_by_size"), "{heap:#}");
    assert_eq!(finding["ratio"], heap["ratio_by_size"]);
    let expected = 100.0 * number(&finding["bytes"]) as f64;
    assert!((float(&heap["ordinary"]) / expected - 1.0).abs() < 0.05, "{heap:#}");
    let ordinary = &finding["ordinary_input"];
    let path = string(&ordinary["path"]);
    assert!((float(&ordinary["scale"]) - 1.0).abs() < 0.1, "{ordinary:#}");
    let length = fs::metadata(scene.path("out").join(path)).expect("it is kept").len();
    assert_eq!(length, number(&finding["bytes"]));
    let reproduce = string(&finding["reproduce"]);
    assert!(reproduce.contains("replay --against-all") && reproduce.contains(path), "{reproduce}");
    let used: Vec<&str> = findings.iter().filter_map(|finding| finding["ordinary_input"]["path"].as_str()).collect();
    for name in scene.files("out/ordinary").keys() {
        assert!(used.contains(&format!("ordinary/{name}").as_str()), "{name} is in no finding");
    }
}

#[test]
fn relative_to_the_seed_nothing_is_only_large() {
    let scene = scene();
    scene.fuzz(&harness("sizes.c"), &format!("{NO_X} --cost heap --relative-to seed")).ended();
    let summary = scene.summary();
    assert_eq!((&summary["relative_to"], number(&summary["large"])), (&"seed".into(), 0));
    // 4 kB less and the seed's do not tell the resource's smallest amount
    assert!(number(&summary["degradations"]) > 0, "{summary:#}");
    let finding = &summary["findings"][0];
    assert!(finding["ordinary_input"].is_null() && finding["time_ratio_by_size"].is_null(), "{finding:#}");
    assert!(!string(&finding["reproduce"]).contains("--against-all"), "{finding:#}");
}

#[test]
fn parts_and_joined_seeds_that_end_early_are_findings_and_no_end_of_the_campaign() {
    // crashes on an input that ends in `!`, exits on one that is longer than 60 bytes
    let scene = Scene::new(&[("seed", b"123456!89012345")]);
    scene.fuzz(&harness("ends_by_size.c"), "--execs 300 --max-size 100 --seed 1 --rules T.1").ended();
    let summary = scene.summary();
    assert!(number(&summary["faults"]) >= 2, "{summary:#}");
    assert!(number(&summary["executions"]) >= 300, "{summary:#}");
    assert!(summary["sizes"]["largest"].as_u64() < Some(61), "{:#}", summary["sizes"]);
}

#[test]
fn without_a_limit_inputs_grow_where_that_pays_and_stay_small_where_it_does_not() {
    let limit = |harness: &Path| {
        let scene = Scene::new(&[("seed", b"\0\0\0\0pears\napples\nplums\n")]);
        scene.fuzz(harness, "--execs 60000 --seed 3 --no-confirm").ended();
        let (limit, queue) = (number(&scene.summary()["size_limit"]), scene.files("out/queue"));
        // a pattern that is known is run beyond it
        let below = queue.iter().filter(|(name, _)| !name.ends_with("op_growth"));
        let largest = below.map(|(_, bytes)| bytes.len()).max().expect("entries") as u64;
        assert!(largest <= limit, "{largest} bytes, the limit is {limit}");
        (limit, queue)
    };
    let first = 1024 + 23;
    let (grown, queue) = limit(&harness("options_first.c"));
    assert!(grown >= 8 * first && grown.is_multiple_of(first), "{grown}");
    assert_eq!(limit(&harness("options_first.c")), (grown, queue), "no clock decides");
    // of tiny inputs, what is alike in all of them is less than half: a step or two is taken for nothing
    let linear = harness_with("options_first.c", &["-DMOST=8"]);
    assert!(limit(&linear).0 <= 4 * first);
}

#[test]
fn a_seed_that_is_far_larger_than_the_others_is_named_and_left_out() {
    let scene = Scene::new(&[("large", &[b'l'; 80_000]), ("small", b"pears"), ("smaller", b"plum")]);
    let run = scene.fuzz(&harness("options_first.c"), "--execs 100 --seed 1 --no-confirm").ended();
    let warning = "1 of 3 seeds is far larger than the others (half of them have at most 5 bytes) and left out, the largest seeds/large \
                   with 80,000 bytes: --max-size 80000 takes it in";
    assert_eq!(run.stdout.matches(warning).count(), 1, "{run:#?}");
    assert!(scene.log().contains(warning));
    assert_eq!(number(&scene.summary()["size_limit"]), 1024 + 5);
}

#[test]
fn the_last_input_is_judged_beside_each_of_the_others() {
    let scene = Scene::new(&[("a", b"ab"), ("b", &[b'b'; 400]), ("c", &[b'x'; 400])]);
    let harness = harness("sizes.c");
    let inputs = ["seeds/a", "seeds/b", "seeds/c"].map(Path::new);
    let plain = scene.replay(&harness, "-n 3", &inputs);
    assert!(plain.iter().all(|input| input.get("against").is_none()), "{plain:#?}");
    let all = scene.replay(&harness, "-n 3 --against-all", &inputs);
    let against = array(&all[2]["against"]);
    let paths: Vec<_> = against.iter().map(|one| string(&one["path"])).collect();
    assert_eq!(paths, ["seeds/a", "seeds/b"]);
    assert!(against.iter().all(|one| one["scale"] == 1.0 && one["by_size"] == false), "{against:#?}");
    let expected = number(&all[1]["instructions"]) * 2;
    let sized = scene.replay(&harness, &format!("-n 3 --ordinary {expected} --joined"), &inputs);
    let against = array(&sized[2]["against"]);
    let shown: Vec<_> = against.iter().map(|one| (one["path"].as_str(), one["scale"].as_f64())).collect();
    assert_eq!(shown, [(Some("seeds/a"), Some(1.0)), (Some("seeds/b"), Some(2.0))]);
    let mut command = scene.quagmire(&["replay", "-n", "3", "--against-all"]);
    let text = run(command.args(inputs).arg("--").arg(&harness)).ended().stdout;
    assert!(text.contains("\n  against       seeds/b: "), "{text}");
}
