//! `quagmire growth`: laws of inputs and of templates, and what it says of inputs that have none.

use crate::common::*;

/// Report of `quagmire growth --json`.
#[track_caller]
fn growth(scene: &Scene, options: &[&str]) -> Value {
    growth_of("growing.c", scene, options)
}

#[track_caller]
fn growth_of(source: &str, scene: &Scene, options: &[&str]) -> Value {
    let size: &[&str] = if options.contains(&"--max-size") { &[] } else { &["--max-size", "8k"] };
    let arguments = [&["growth", "--json"], size, options, &["--"]].concat();
    let run = run(scene.quagmire(&arguments).arg(harness(source))).succeeded();
    run.json()
}

#[test]
fn the_law_of_an_input_is_exact_and_names_what_repeats() {
    let scene = Scene::new(&[]);
    scene.write("slow", format!("q{}", "[".repeat(500)).as_bytes());
    let report = growth(&scene, &["slow"]);
    assert_eq!(report["words"], r#"exactly quadratic in the number of "[""#, "{report:#}");
    assert_eq!(report["fit"]["confidence"], "high");
    assert!(report["kept"].as_f64().is_some_and(|kept| kept > 0.9), "{report:#}");
    assert_eq!(report["functions"][0]["function"], "compare_pairs");
    assert!(report["functions"][0]["words"].as_str().is_some_and(|words| words.ends_with("quadratic")), "{report:#}");
    let generator = string(&report["generator"]);
    let made = Command::new("sh").args(["-c", generator]).output().expect("a shell");
    assert_eq!(made.stdout, format!("q{}", "[".repeat(500)).as_bytes(), "{generator}");
}

#[test]
fn a_text_that_counts_beside_what_repeats_has_part_in_the_law() {
    let scene = Scene::new(&[]);
    // a line in which nothing repeats
    let mut state = 1u32;
    let mut letter = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b'a' + (state >> 24) as u8 % 26)
    };
    let line: String = (0..600).map(|_| letter()).collect();
    scene.write("slow", format!("t{line}\n{}", ";".repeat(300)).as_bytes());
    let report = growth(&scene, &["slow"]);
    assert_eq!(report["class"], "quadratic", "{report:#}");
    assert_eq!(report["fit"]["confidence"], "medium");
    // where the text is the same each time
    let report = growth(&scene, &["--template", &format!(r#""t{line}\n" rep(N){{";"}}"#)]);
    assert_eq!(report["class"], "linear", "{report:#}");
}

#[test]
fn a_number_may_be_what_the_cost_depends_on() {
    let scene = Scene::new(&[]);
    // a campaign's folder: what the finding has and its seed has not is tried first
    scene.write("out/queue/id_000000,orig_seed", b"pic!!\x00\x10\x00\x10tail");
    scene.write("out/degradations/id_000001,src_000000,cost_9.0", b"pic!!\x03\x20\x07\xf0tail");
    let report = growth(&scene, &["out/degradations/id_000001,src_000000,cost_9.0"]);
    let words = string(&report["words"]);
    assert_eq!(report["class"], "linear", "{report:#}");
    // columns are at byte 5, rows at byte 7
    let place = ["5", "7"].map(|byte| format!("linear in the number at byte {byte} (2 bytes, the highest first)"));
    assert!(place.iter().any(|place| words.contains(place)), "{words}");
    assert_eq!(report["n"], if words.contains("byte 5") { 0x320 } else { 0x7f0 });
    scene.write("slow", b"x700");
    let report = growth(&scene, &["slow", "--hang-timeout", "500ms"]);
    let words = string(&report["words"]);
    assert!(words.ends_with("quadratic in the number at byte 1 (decimal)"), "{report:#}");
    assert_eq!((&report["template"], &report["generator"]), (&r#""x" #N"#.into(), &"printf 'x'; printf '700'".into()));
}

#[test]
fn caps_hangs_and_memory_have_laws_too() {
    let scene = Scene::new(&[]);
    let report = growth(&scene, &["--template", r#""c" rep(N){"["}"#]);
    // the bytes are counted one by one, also behind the cap
    let pairs = array(&report["functions"]).iter().find(|f| f["function"] == "compare_pairs");
    let cap = &pairs.expect("the function")["fit"]["cap"]["size"];
    assert!(cap.as_u64().is_some_and(|size| (290..=310).contains(&size)), "{report:#}");
    assert_eq!(report["class"], "linear", "{report:#}");

    let report = growth(&scene, &["--template", r#""d" rep(N){"["}"#, "--cost", "stack", "--max-size", "2k"]);
    assert_eq!([&report["class"], &report["resource"], &report["unit"]], ["linear", "stack", "bytes"], "{report:#}");

    // a run that hangs ends the sizes
    let report = growth(&scene, &["--template", r#""h" rep(N){"["}"#, "--hang-timeout", "500ms"]);
    assert!(string(&report["end"]).contains("hung") && report["class"] == "linear", "{report:#}");
    // of an input that hangs, the law is that of a part which returns
    scene.write("hangs", format!("h{}", "[".repeat(3_000)).as_bytes());
    let report = growth(&scene, &["hangs", "--hang-timeout", "100ms"]);
    assert_eq!([&report["class"], &report["template"]], ["linear", r#""h" rep(N){"["}"#], "{report:#}");
    assert!((1_000..=2_000).contains(&number(&report["n"])), "{report:#}");
}

#[test]
fn records_behind_a_length_have_the_law_of_their_parts_and_what_repeats_elsewhere_is_none() {
    let scene = Scene::new(&[]);
    // pairs of all records, if the length in front of them is right
    let records: Vec<u8> = (0..200).flat_map(|record| format!("rec{record:05}").into_bytes()).collect();
    scene.write("records", &[b"l\x00\x06\x40".as_slice(), &records].concat());
    let report = growth(&scene, &["records"]);
    let words = string(&report["words"]);
    assert!(words.starts_with("quadratic in the number of records, seen from "), "{report:#}");
    assert_eq!(report["law"]["confidence"], "medium", "{report:#}");
    // the cost is in its first byte, whatever follows
    scene.write("start", format!("s{}", "ab, ".repeat(40)).as_bytes());
    let report = growth(&scene, &["start"]);
    assert_eq!(report["law"], Value::Null, "{report:#}");
}

#[test]
fn fields_around_records_stay_right_in_many_forms() {
    let scene = Scene::new(&[]);
    for (name, input) in relation_fields() {
        scene.write(name, &input);
        let report = growth_of("relation_fields.c", &scene, &[name]);
        assert_eq!(report["class"], "quadratic", "{name}: {report:#}");
        // by parts of it, since larger inputs are unknown; with a rival where some of the head is among its units
        assert!(string(&report["words"]).contains(", seen from "), "{name}: {report:#}");
    }
    // without the one that it is behind, there is no smaller input
    let mut unknown = [b"x".as_slice(), &records(100)].concat();
    let sum = unknown.iter().fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(*byte)));
    unknown.extend(&sum.to_be_bytes()[2..]);
    scene.write("unknown", &unknown);
    let report = growth_of("relation_fields.c", &scene, &["unknown"]);
    assert_eq!(report["law"], Value::Null, "{report:#}");
}

#[test]
fn inputs_without_a_law_are_refused_in_one_line() {
    let scene = Scene::new(&[]);
    scene.write("nothing", b"");
    let nothing = growth(&scene, &["nothing"]);
    assert_eq!((&nothing["law"], &nothing["template"]), (&Value::Null, &Value::Null), "{nothing:#}");
    assert!(nothing["why"].as_str().is_some_and(|why| why.contains("--template")), "{nothing:#}");
    for (options, said) in [
        (&["--template", "rep(N){"][..], "--template: at byte"),
        (&["--template", r#""abc""#], "do not depend on N"),
        (&[], "name a file, or give a --template"),
        (&["nothing", "--cost", "lines"], "'lines' for '--cost <RESOURCE>' (write one of instructions"),
    ] {
        let run = run(scene.quagmire(&[&["growth"], options, &["--"]].concat()).arg(harness("growing.c")));
        assert!(run.code.is_some_and(|code| code > 0) && run.stderr.contains(said), "{run:#?}");
    }
}
