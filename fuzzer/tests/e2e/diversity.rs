//! Validity and diversity: `quagmire diversity`, and the figures of campaigns.

use crate::common::*;

/// Inputs for `diverse.c`; the last one crashes.
const INPUTS: [&[u8]; 12] = [b"y", b"y1", b"yy1", b"y1y", b"y11", b"y12z", b"n", b"n1", b"1n", b"", b"?????", b"?!!y"];

/// Kinds of bytes in an input: letters, digits, others.
fn kinds(input: &[u8]) -> [usize; 3] {
    let count = |is: fn(&u8) -> bool| input.iter().filter(|byte| is(byte)).count();
    let (letters, digits) = (count(u8::is_ascii_lowercase), count(u8::is_ascii_digit));
    [letters, digits, input.len() - letters - digits]
}

fn inputs(folder: &'static str) -> Vec<(String, &'static [u8])> {
    INPUTS.iter().enumerate().map(|(at, input)| (format!("{folder}/{at:02}"), *input)).collect()
}

/// Report of `quagmire diversity --json`.
#[track_caller]
fn diversity(scene: &Scene, options: &[&str], program: &Path) -> Value {
    let arguments = [&["diversity", "--json"], options, &["--"]].concat();
    let run = run(scene.quagmire(&arguments).arg(program)).succeeded();
    run.json()
}

#[test]
fn unique_traces_are_what_inputs_make_a_program_do() {
    let scene = Scene::new(&[]);
    for (name, bytes) in inputs("all") {
        scene.write(&name, bytes);
    }
    scene.write("one/a", b"y1");
    let harness = harness("diverse.c");
    let returning = || INPUTS.iter().filter(|input| !input.ends_with(b"!!y"));
    // what the program does follows from the numbers of bytes of each kind, from the first byte, and from whether it looks
    // for the crash
    let exact: BTreeSet<_> = returning().map(|input| (kinds(input), input.first() == Some(&b'y'))).collect();
    let does = |input: &&[u8]| (kinds(input).map(|count| count > 0), input.len() > 2, input.first() == Some(&b'y'));
    let edges: BTreeSet<_> = returning().map(does).collect();
    let valid = exact.iter().filter(|(_, accepted)| *accepted).count() as u64;
    let options = ["all", "one", "--valid-if-reached", "accept", "--traces", "2", "--trace"];
    let of_exact = diversity(&scene, &[&options[..], &["exact"]].concat(), &harness);
    let [all, one] = [0, 1].map(|at: usize| &of_exact["corpora"][at]);
    assert_eq!([&all["inputs"], &all["valid"], &all["ended_early"]].map(number), [12, 6, 1]);
    assert_eq!(number(&all["unique_traces"]), exact.len() as u64);
    assert_eq!(number(&all["unique_valid_traces"]), valid);
    assert_eq!((number(&one["unique_traces"]), &one["sample"]), (1, &Value::Null));
    let b = |of: &Value| ["b0", "b1", "b2"].map(|key| float(&of[key]));
    assert!(b(all)[0] >= b(all)[1] && b(all)[1] >= b(all)[2] && b(all)[2] > 1.0, "{all}");
    assert!(b(one)[0] < b(all)[0], "one trace exercises all branches evenly: {one}");
    assert!((b(one)[0] - b(one)[2]).abs() < 1e-9, "one trace exercises all branches evenly: {one}");
    assert!(b(&all["sample"])[0] < b(all)[0]);
    let of_edges = diversity(&scene, &["all", "--trace", "edges"], &harness);
    assert_eq!(number(&of_edges["corpora"][0]["unique_traces"]), edges.len() as u64);
    let refused = |arguments: &[&str], words: &[&str]| {
        run(scene.quagmire(&[&["diversity", "all"], arguments, &["--"]].concat()).arg(&harness)).refused(2, words);
    };
    refused(&["--valid-if-reached", "nowhere"], &["--valid-if-reached", "nowhere", "accept"]);
    refused(&["--traces", "0"], &["--traces 0", "whole number"]);
}

#[test]
fn exit_statuses_tell_valid_inputs_of_programs_which_have_coverage_of_their_own() {
    let program = built("diverse.c", &["-O1", "-DPROGRAM"], None);
    let scene = Scene::new(&[("valid", b"y"), ("invalid", b"n1")]);
    scene.fuzz(&program, "--execs 1500 --seed 1 --max-size 20 --diversity --no-plotting").ended();
    let summary = scene.summary();
    let (validity, diversity) = (&summary["validity"], &summary["diversity"]);
    let [valid, invalid, edges] = ["valid", "invalid", "valid_edges"].map(|key| number(&validity[key]));
    assert!(valid > 100 && invalid > 100 && valid + invalid <= 1500, "{validity}");
    assert!(edges > 1 && edges <= number(&summary["edges_found"]), "{validity}");
    let [all, of_valid] = ["unique_traces", "unique_valid_traces"].map(|key| number(&diversity[key]));
    assert!(of_valid > 10 && of_valid < all && all <= valid + invalid, "{diversity}");
    let log = scene.files("out/logs").remove("diversity_plot_data.txt").expect("a log");
    let log = String::from_utf8(log).expect("text");
    let last: Vec<&str> = log.lines().last().expect("a line").split(", ").collect();
    assert_eq!((last.len(), last[5]), (9, &*of_valid.to_string()), "{log}");
    let off = Scene::new(&[("valid", b"y")]);
    off.fuzz(&program, "--execs 50 --seed 1").ended();
    assert_eq!(off.summary()["diversity"], Value::Null);
}
