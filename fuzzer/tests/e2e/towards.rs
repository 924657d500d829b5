//! Campaigns towards places: `--towards` and `--towards-patch`.

use crate::common::*;

const SEED: &[(&str, &[u8])] = &[("plain", b"some text and nothing else")];

/// Options of all campaigns here.
const OPTIONS: &str = "--seed 1 --max-size 200 --no-confirm --no-plotting";

/// Change of the lines 16, and 18 and 19 of `testdata/towards.c`, of a file that is not in the program, and of a comment.
const PATCH: &str = "diff --git a/README b/README\n--- a/README\n+++ b/README\n@@ -1 +1 @@\n-old\n+new\n\
    diff --git a/tests/testdata/towards.c b/tests/testdata/towards.c\n--- a/tests/testdata/towards.c\n\
    +++ b/tests/testdata/towards.c\n@@ -1,2 +1,2 @@\n-// Some.\n+// Many.\n // More.\n\
    @@ -15,3 +15,3 @@ static void rare(const uint8_t *data, size_t size) {\n     if (data[i] == '+')\n-      work += 2;\n\
    +      work += 3;\n     if (data[i] == '-')\n";

/// Figures of the places in the summary.
fn places(scene: &Scene) -> Vec<Value> {
    array(&scene.summary()["towards"]).clone()
}

/// Hits of the first place, after a campaign with these options.
fn hits(options: &str) -> u64 {
    let scene = Scene::new(SEED);
    scene.fuzz(&harness("towards.c"), &format!("--execs 100000 {OPTIONS} {options}")).ended();
    number(&places(&scene)[0]["hits"])
}

#[test]
fn a_function_is_hit_many_times_as_often_as_without_also_if_it_was_inlined() {
    let (with, without) = (hits("--towards rare"), hits("--towards rare --experiment towards-watch"));
    assert!(without > 0 && with > 3 * without, "{with} and {without} runs");
    let inlined = hits("--towards spend");
    assert!(inlined > 10_000, "{inlined}");
}

#[test]
fn a_line_of_a_file_and_a_range_of_lines_are_places() {
    let scene = Scene::new(SEED);
    let options = format!("--execs 100000 {OPTIONS} --towards towards.c:16 --towards testdata/towards.c:14-19");
    let run = scene.fuzz(&harness("towards.c"), &options).ended();
    let places = places(&scene);
    let names: Vec<&str> = places.iter().filter_map(|place| place["place"].as_str()).collect();
    assert_eq!(names, ["towards.c:16", "testdata/towards.c:14-19"]);
    let [edges, hits, first] =
        ["edges", "hits", "first_hit"].map(|key| [number(&places[0][key]), number(&places[1][key])]);
    assert!(edges[0] >= 1 && edges[0] < edges[1], "{places:#?}");
    assert!(hits[0] > 10_000 && hits[0] <= hits[1] && hits[1] < 100_000, "{places:#?}");
    assert!(first[1] > 1 && first[1] <= first[0], "{places:#?}");
    assert!(run.stdout.contains("Towards: 2 of 2 places hit. Cost grew most at "), "{run:?}");
    for place in &places {
        let (least, most) = (number(&place["first_instructions"]), number(&place["most_instructions"]));
        assert!(least > 0 && most >= 2 * least, "{place:#}");
        assert!(number(&place["doubled"]) > number(&place["first_hit"]), "{place:#}");
    }
    // the line is one of the range
    assert!(number(&places[0]["most_instructions"]) < number(&places[1]["most_instructions"]), "{places:#?}");
}

#[test]
fn the_lines_of_a_patch_are_places_and_what_is_never_reached_is_said() {
    let scene = Scene::new(SEED);
    scene.write("change.patch", PATCH.as_bytes());
    let options = format!("--execs 100000 {OPTIONS} --towards never --towards-patch change.patch");
    let run = scene.fuzz(&harness("towards.c"), &options).ended();
    let places = places(&scene);
    assert_eq!(places.len(), 2, "{places:#?}");
    assert_eq!((&places[0]["place"], &places[0]["hits"]), (&"never".into(), &0.into()));
    assert_eq!((&places[0]["first_hit"], &places[0]["edges"]), (&Value::Null, &1.into()));
    assert_eq!((&places[0]["most_instructions"], &places[0]["doubled"]), (&Value::Null, &Value::Null));
    assert_eq!(places[1]["place"], "tests/testdata/towards.c:16");
    assert!(number(&places[1]["hits"]) > 10_000, "{places:#?}");
    assert!(run.stdout.contains("Towards: 1 of 2 places hit; never reached: never."), "{run:?}");
}

#[test]
fn costs_elsewhere_are_no_reason_to_keep_an_input() {
    let kept = |options: &str| {
        let scene = Scene::new(SEED);
        scene.fuzz(&harness("towards.c"), &format!("--execs 30000 {OPTIONS} {options}")).ended();
        float(&scene.summary()["worst"]["instructions_ratio"])
    };
    // the quadratic function makes an input of the largest size more than fifty times as expensive
    let (elsewhere, without) = (kept("--towards never"), kept(""));
    assert!(without > 50.0 && elsewhere < without, "{elsewhere} and {without}");
}

#[test]
fn programs_under_the_fork_server_have_places_too() {
    let scene = Scene::new(&[("near", b"<!A some text and nothing else")]);
    let program = built("towards.c", &["-g", "-O1", "-DPROGRAM"], None);
    scene.fuzz(&program, &format!("--execs 6000 {OPTIONS} --towards rare")).ended();
    assert_eq!(scene.summary()["target"]["engine"], "fork-server");
    assert!(number(&places(&scene)[0]["hits"]) > 2_000, "{:#?}", places(&scene));
}

#[test]
fn clients_work_towards_the_same_places_and_their_hits_are_added() {
    let _alone = alone();
    let scene = Scene::new(SEED);
    scene.fuzz(&harness("towards.c"), &format!("-j 2 --execs 200000 {OPTIONS} --towards rare")).ended();
    let other = scene.json("out/clients/client-1/summary.json");
    let (all, of_other) = (number(&places(&scene)[0]["hits"]), number(&other["towards"][0]["hits"]));
    assert!(of_other > 0 && all > of_other, "{all} and {of_other}");
}

#[test]
fn a_campaign_repeats_itself_goes_on_towards_the_same_places_and_starts_anew_towards_others() {
    let campaign = |scene: &Scene, options: &str| {
        scene.fuzz(&harness("towards.c"), &format!("--execs 50000 {OPTIONS} {options}")).ended()
    };
    let [scene, same] = [(); 2].map(|()| Scene::new(SEED));
    campaign(&scene, "--towards rare");
    campaign(&same, "--towards rare");
    assert_eq!(scene.files("out/queue"), same.files("out/queue"));
    let go_on = |options: &str| campaign(&scene, options);
    let first = places(&scene)[0].clone();
    let run = go_on("--towards rare --resume");
    assert!(!run.stdout.contains("cannot be used"), "{run:?}");
    let second = places(&scene)[0].clone();
    assert!(first["first_hit"].is_u64() && second["first_hit"] == first["first_hit"], "{second:#}");
    assert!(number(&second["hits"]) > number(&first["hits"]) + 10_000, "{second:#}");
    assert!(first["doubled"].is_u64() && second["doubled"] == first["doubled"], "{second:#}");
    let run = go_on("--towards usual --resume");
    assert!(run.stdout.contains("it is of other places of --towards"), "{run:?}");
    let usual = &places(&scene)[0];
    assert!(number(&usual["hits"]) > 40_000 && usual["place"] == "usual", "{usual:#}");
}

/// Runs a campaign with an option that is refused.
fn refused(scene: &Scene, program: &Path, option: &[&str]) -> Run {
    let mut command = scene.quagmire(&["fuzz", "-i", "seeds", "-o", "out", "--execs", "100"]);
    run(command.args(option).arg("--").arg(program))
}

#[test]
fn places_that_are_not_there_are_refused_with_what_is_like_them() {
    let scene = Scene::new(SEED);
    let source = testdata("towards.c");
    let of_file = format!("{}:2", source.display());
    for (place, words) in [
        ("raer", &["--towards raer", "no counted function", "nearest are rare"][..]),
        ("towards.c", &["no counted function", "write FILE:LINE"]),
        ("toward.c:7", &["no source file", "towards.c"]),
        ("elsewhere/towards.c:7", &["no source file", "testdata/towards.c"]),
        (&of_file, &["line 2 has no code", "nearest of the file with code: 9"]),
        ("towards.c:30-31", &["lines 30 to 31 have no code"]),
        ("", &["it is empty", "FILE:LINE"]),
    ] {
        refused(&scene, &harness("towards.c"), &["--towards", place]).refused(2, words);
    }
    refused(&scene, &harness("towards.c"), &["--experiment", "towards-watch"]).refused(2, &["nothing to watch"]);
}

#[test]
fn patches_that_cannot_be_used_are_refused_with_the_remedy() {
    let scene = Scene::new(SEED);
    for (patch, words) in [
        ("--- a/a.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", &["it changes no line", "give a patch that does"][..]),
        ("--- a/o.c\n+++ b/o.c\n@@ -1 +1 @@\n-a\n+b\n", &["none of the 1 file", "is compiled into the program"]),
        (
            "--- a/towards.c\n+++ b/towards.c\n@@ -1 +1 @@\n-// One.\n+// Two.\n",
            &["none of the lines", "build the program with the patch applied"],
        ),
    ] {
        scene.write("change.patch", patch.as_bytes());
        refused(&scene, &harness("towards.c"), &["--towards-patch", "change.patch"]).refused(2, words);
    }
    refused(&scene, &harness("towards.c"), &["--towards-patch", "missing.patch"]).refused(2, &["missing.patch"]);
}

#[test]
fn a_program_without_debug_information_has_functions_and_no_lines() {
    let scene = Scene::new(SEED);
    let program = built("towards.c", &["-O1", "-fsanitize=fuzzer"], None);
    refused(&scene, &program, &["--towards", "towards.c:16"]).refused(3, &["without -g", "build it again with -g"]);
    scene.write("change.patch", PATCH.as_bytes());
    refused(&scene, &program, &["--towards-patch", "change.patch"])
        .refused(3, &["without -g", "build it again with -g"]);
    scene.fuzz(&program, &format!("--execs 100000 {OPTIONS} --towards rare")).ended();
    assert!(number(&places(&scene)[0]["hits"]) > 10_000, "{:#?}", places(&scene));
}
