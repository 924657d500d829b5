//! The command `quagmire replay --mask`: the bytes that matter in an input.

use crate::common::*;

const TEXT: &[u8] = b"p, some text\n<!ATTLIST a b CDATA>\nand more of it\n";

/// Position of the keyword in [`TEXT`].
const KEYWORD: std::ops::Range<usize> = 13..22;

/// Runs `quagmire replay --mask` on `seeds/a`, which holds `input`, with a budget that does not end it.
fn masked(source: &str, input: &[u8], options: &str) -> Run {
    let scene = Scene::new(&[("a", input)]);
    let mut command = scene.quagmire(&["replay", "--mask", "--budget", "10m", "seeds/a"]);
    run(command.args(options.split_whitespace()).arg("--").arg(harness(source)))
}

fn json(input: &[u8], options: &str) -> Value {
    let text = masked("attlist.c", input, &format!("--json {options}")).ended().stdout;
    serde_json::from_str(&text).expect("JSON")
}

/// Edits allowed at each position, including the end.
fn allowed(report: &Value) -> Vec<String> {
    let mut letters = Vec::new();
    for run in array(&report["mask"]) {
        assert_eq!(number(&run[0]) as usize, letters.len(), "runs are in order and leave nothing out: {report:#}");
        letters.resize(number(&run[1]) as usize, string(&run[2]).to_owned());
    }
    assert_eq!(letters.len() as u64, number(&report["length"]) + 1);
    letters
}

/// Edits allowed at a position by a run that needs the keyword of [`TEXT`] and nothing else.
fn around_the_keyword(at: usize) -> &'static str {
    match at {
        _ if at == TEXT.len() || at == KEYWORD.start => "I",
        _ if KEYWORD.contains(&at) => "",
        _ => "OID",
    }
}

#[test]
fn a_keyword_may_not_be_changed_and_the_rest_may() {
    for options in ["", "--branch found", "--branch attlist.c:12", "--branch found:12"] {
        let report = json(TEXT, options);
        for (at, letters) in allowed(&report).iter().enumerate() {
            assert_eq!(letters, around_the_keyword(at), "{options}, position {at}: {report:#}");
        }
        assert_eq!((&report["complete"], &report["early_ends"]), (&true.into(), &0.into()), "{report:#}");
        assert_eq!(report["goal"]["kind"], if options.is_empty() { "cost" } else { "branch" });
        assert!(number(&report["executions"]) < 3 * TEXT.len() as u64, "{report:#}");
    }
    // an exact one probes each byte by itself
    let (blocks, exact) = (json(TEXT, ""), json(TEXT, "--exact"));
    assert_eq!(blocks["mask"], exact["mask"]);
    assert_eq!(number(&exact["executions"]), 3 * TEXT.len() as u64 + 1, "{exact:#}");
}

#[test]
fn a_mask_is_shown_under_its_input() {
    let text = masked("attlist.c", TEXT, "--branch found").ended().stdout;
    let expected = "
       0  p, some text↵
      13  <!ATTLIST a b CDATA>↵
       O  .........OOOOOOOOOOOO
       I  I........IIIIIIIIIIII
       D  .........DDDDDDDDDDDD
      34  and more of it↵
      49  the end: more may follow
";
    assert!(text.starts_with("seeds/a  49 bytes\n  goal        the run executes found of "), "{text}");
    assert!(text.contains("  needed      9 bytes: 13 \"<!ATTLIST\"\n") && text.ends_with(expected), "{text}");
}

#[test]
fn probes_that_crash_count_by_what_they_executed_and_an_input_that_crashes_has_a_mask_too() {
    let text = [b"c", &TEXT[1..]].concat();
    let report = json(&text, "--branch found");
    for (at, letters) in allowed(&report).iter().enumerate() {
        assert_eq!(letters, around_the_keyword(at), "position {at}: {report:#}");
    }
    assert!(report["complete"] == true && number(&report["early_ends"]) > 3, "{report:#}");
    let report = json(&[&text[..], b"\xff"].concat(), "--branch found");
    assert_eq!((&report["status"], &report["complete"]), (&"crashed".into(), &true.into()), "{report:#}");
    let allowed = allowed(&report);
    assert!(allowed[KEYWORD.start + 1].is_empty() && allowed[TEXT.len()] == "OID", "{report:#}");
}

#[test]
fn probes_that_take_the_process_along_satisfy_nothing() {
    let text = [b"k", &TEXT[1..]].concat();
    let report = json(&text, "");
    let allowed = allowed(&report);
    for (at, letters) in allowed.iter().enumerate().take(TEXT.len()) {
        // a block that the first byte belongs to may be overwritten: the run returns
        assert_eq!(letters.contains('O'), at < 4, "position {at}: {report:#}");
        assert_eq!(letters.contains('D'), !KEYWORD.contains(&at), "position {at}: {report:#}");
    }
    assert!(report["complete"] == true && number(&report["early_ends"]) > 3, "{report:#}");
}

#[test]
fn after_three_hangs_it_is_given_up_and_what_is_known_is_shown() {
    let text = [b"h", &TEXT[1..]].concat();
    let options = "--branch found --hang-timeout 1s";
    let report = json(&text, options);
    assert_eq!((&report["complete"], &report["early_ends"]), (&false.into(), &3.into()), "{report:#}");
    assert!(number(&report["known"]) < TEXT.len() as u64, "{report:#}");
    let text = masked("attlist.c", &text, options).ended().stdout;
    assert!(text.contains("  incomplete  3 probes hung\n") && text.contains("nothing is known from here on"), "{text}");
}

#[test]
fn what_makes_no_sense_is_refused_in_one_line() {
    for (options, words) in [
        ("--branch never", &["seeds/a does not execute never of ", "give an input that does"][..]),
        ("--branch foun", &["--branch foun: no function", "there is found of "]),
        ("--branch attlist.c:14", &["line 14 of ", "has no code", "nearest", "13, 15"]),
        ("--branch keyboard.c:12", &["--branch keyboard.c: no source file", "attlist.c"]),
        ("--branch found:9999", &["has no code in found"]),
        ("--annotate attlist.c", &["--mask and --annotate do not go together"]),
        ("-n 3", &["--mask and --repeats do not go together"]),
        ("seeds/a", &["--mask takes one input", "these are 2"]),
    ] {
        masked("attlist.c", TEXT, options).refused(2, words);
    }
    let text = [b"k", &TEXT[1..], b"\xff"].concat();
    masked("attlist.c", &text, "").refused(3, &["takes the target's process along (SIGKILL)"]);
    let scene = Scene::new(&[("a", TEXT)]);
    scene.ask("replay --branch found seeds/a", &harness("attlist.c")).refused(2, &["--branch found", "add --mask"]);
}

const SEED: &[(&str, &[u8])] = &[("plain", b"some text without any keyword in it")];

fn has_keyword(scene: &Scene) -> bool {
    scene.files("out/queue").values().any(|bytes| bytes.windows(7).any(|window| window == b"<!MASK>"))
}

#[test]
fn a_keyword_is_found_byte_by_byte_and_a_crash_beside_it_does_not_end_the_search() {
    let scene = Scene::new(SEED);
    scene.fuzz(&harness("keyword.c"), "--execs 300000 --seed 1 --max-size 200 --focus coverage --no-confirm").ended();
    assert!(has_keyword(&scene));
    let summary = scene.summary();
    assert!(number(&summary["faults"]) > 0, "{:#}", summary["findings"]);
    let masks = &summary["masks"];
    let of = |key: &str| number(&masks[key]);
    assert!(of("computed") > 5 && of("executions") > 100 && of("trimming") > 10, "{masks:#}");
    assert!(of("hits") * 2 > of("mutants") && of("mutants") > 10_000, "{masks:#}");
    assert!(number(&summary["rare"]["cutoff"]).is_power_of_two(), "{:#}", summary["rare"]);
}

#[test]
fn masks_can_be_left_out() {
    let scene = Scene::new(GREETING);
    let left_out = "--no-mask --experiment no-trim --experiment no-bootstrap";
    scene.fuzz(&harness("keyword.c"), &format!("--execs 5000 --seed 1 --max-size 200 --no-confirm {left_out}")).ended();
    let summary = scene.summary();
    for key in ["computed", "bytes", "executions", "trimming", "mutants"] {
        assert_eq!(number(&summary["masks"][key]), 0, "{key}");
    }
    assert_eq!(number(&summary["rare"]["bootstraps"]), 0);
}

#[test]
fn a_campaign_with_masks_repeats_itself_and_goes_on() {
    let campaign = |scene: &Scene, options: &str| {
        scene.fuzz(&harness("keyword.c"), &format!("--seed 3 --max-size 200 --no-confirm {options}")).ended();
        scene.files("out/queue")
    };
    let (one, another) = (Scene::new(SEED), Scene::new(SEED));
    assert_eq!(campaign(&one, "--execs 20000"), campaign(&another, "--execs 20000"));
    let before = number(&one.summary()["masks"]["executions"]);
    campaign(&one, "--execs 20000 --resume");
    assert!(number(&one.summary()["masks"]["executions"]) >= before);
    assert_eq!(number(&one.summary()["executions"]), 40_000);
}

#[test]
fn shadows_show_what_a_mask_is_good_for() {
    let scene = Scene::new(SEED);
    let options = "--execs 100000 --seed 1 --no-auto-dict --max-size 200 --experiment shadow-mask --no-confirm";
    scene.fuzz(&harness("keyword.c"), options).ended();
    let summary = scene.summary();
    let rows = array(&summary["shadow"]);
    let row = rows.iter().find(|row| row["goal"] == "branch" && row["stage"] == "havoc").expect("a row");
    let share = |kind: &str| {
        number(&row[format!("{kind}_hits").as_str()]) as f64 / number(&row[format!("{kind}_mutants").as_str()]) as f64
    };
    assert!(share("masked") > 1.2 * share("plain"), "{row:#}");
    scene
        .fuzz(&harness("keyword.c"), "--no-mask --experiment shadow-mask")
        .refused(2, &["--no-mask", "--experiment shadow-mask", "leave one of them out"]);
}

#[test]
fn no_probe_is_kept_that_is_larger_than_inputs_may_be() {
    let full = [&b"<slow><slower><slowest>"[..], &[b'.'; 77]].concat();
    let scene = Scene::new(&[("full", &full)]);
    let options = "--execs 20000 --seed 1 --max-size 100 --focus cost --no-confirm --rules havoc --experiment no-trim";
    scene.fuzz(&harness("fragile.c"), options).ended();
    assert!(number(&scene.summary()["masks"]["executions"]) > 100);
    for (name, bytes) in scene.files("out/queue") {
        assert!(bytes.len() <= 100, "{name}: {} bytes", bytes.len());
    }
}

#[test]
fn trimming_keeps_what_the_target_accepts() {
    let scene = Scene::new(&[("long", b"<some text without any keyword in it, and more")]);
    scene.fuzz(&harness("too_short.c"), "--execs 10000 --seed 2 --max-size 64 --focus coverage --no-confirm").ended();
    let masks = &scene.summary()["masks"];
    let of = |key: &str| number(&masks[key]);
    assert!(of("trimming") > 10 && of("bytes") >= 32 * of("computed"), "{masks:#}");
}
