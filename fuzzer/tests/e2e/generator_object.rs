//! Generators in front of programs: shared objects that the fork server opens.

use crate::common::*;

/// Builds `testdata/generator.c` with quagmire-cc.
fn generator() -> PathBuf {
    built("generator.c", &["-g", "-O1", "-shared", "-fPIC"], None)
}

/// Builds `testdata/letters.c` with these options.
fn letters(options: &[&str]) -> PathBuf {
    built("letters.c", &[&["-g", "-O1"], options].concat(), None)
}

/// Input from which the generator draws how it ends, its work, and a text.
fn drawn(end: u8, work: u16, text: &str) -> Vec<u8> {
    let [high, low] = work.to_be_bytes();
    let letters = text.bytes().flat_map(|letter| [1, letter - b'a']);
    // numbers are drawn from the back
    let mut bytes: Vec<u8> = [end, high, low].into_iter().chain(letters).chain([0]).collect();
    bytes.reverse();
    bytes
}

/// Runs a command of quagmire over a program behind a generator.
fn behind(scene: &Scene, generator: &Path, options: &str, program: &Path, arguments: &[&str]) -> Run {
    let (command, options) = options.split_once(' ').expect("a command and its options");
    let mut command = scene.quagmire(&[command, "--generator"]);
    command.arg(generator).args(options.split_whitespace()).arg("--").arg(program).args(arguments);
    run(&mut command)
}

const RESOURCES: [&str; 4] = ["instructions", "heap", "heap-total", "stack"];

#[test]
fn the_program_gets_what_is_generated_and_only_its_own_work_counts() {
    let text = "abcab".repeat(30);
    let scene =
        Scene::new(&[("little", &drawn(0, 0, &text)), ("much", &drawn(0, 60_000, &text)), ("one", &drawn(0, 9, "a"))]);
    scene.write("plain/text", text.as_bytes());
    scene.write("plain/one", b"a");
    let programs: [(&[&str], &[&str]); 6] = [
        (&[], &[]),
        (&[], &["@@"]),
        (&["-DMEMORY"], &[]),
        (&["-DLOOP"], &["@@"]),
        (&["-DLOOP", "-DMEMORY"], &[]),
        (&["-DDEFERRED"], &[]),
    ];
    for (options, arguments) in programs {
        let program = letters(options);
        let seeds = "replay --json -n 1 seeds/little seeds/much seeds/one seeds/little";
        let generated =
            array(&behind(&scene, &generator(), seeds, &program, arguments).ended().json()["inputs"]).clone();
        let mut plain = scene.quagmire(&["replay", "--json", "-n", "1", "plain/text", "plain/one", "--"]);
        let plain = inputs(plain.arg(&program).args(arguments));
        for (at, other) in [(0, 0), (1, 0), (2, 1), (3, 0)] {
            let costs = |input: &Value| RESOURCES.map(|name| number(&input["costs"][name]));
            assert_eq!(generated[at]["status"], json!("returned"), "{options:?} {arguments:?}: {generated:#?}");
            assert_eq!(
                costs(&generated[at]),
                costs(&plain[other]),
                "{options:?} {arguments:?} {at}: {generated:#?} {plain:#?}"
            );
        }
    }
}

#[test]
fn what_is_generated_can_be_written_for_others() {
    let scene = Scene::new(&[("a", &drawn(0, 1, "abc")), ("b", &drawn(0, 2, "")), ("c/a", &drawn(7, 3, "ccc"))]);
    let program = letters(&[]);
    behind(&scene, &generator(), "generate -o made seeds", &program, &[]).ended();
    let files = scene.files("made");
    assert_eq!(
        files.into_iter().collect::<Vec<_>>(),
        [("a".into(), b"abc".to_vec()), ("a.2".into(), b"ccc".to_vec()), ("b".into(), vec![])]
    );
    behind(&scene, &generator(), "generate -n 20 --seed 3 --size 60 -o random", &program, &["@@"]).ended();
    let files = scene.files("random");
    assert!(files.len() == 20 && files.values().flatten().all(|byte| b"abc".contains(byte)), "{files:?}");
    behind(&scene, &generator(), "generate -n 3 -o both seeds", &program, &[]).refused(2, &["-n", "files"]);
    behind(&scene, &generator(), "generate -o none", &program, &[]).refused(2, &["-n"]);
    scene.write("rejected", &drawn(250, 0, ""));
    behind(&scene, &generator(), "generate -o empty rejected", &program, &[]).refused(3, &["rejected", "no input"]);
}

#[test]
fn errors_of_the_generator_are_rejected_and_those_of_the_program_are_not() {
    let scene = Scene::new(&[]);
    let replayed = |name: &str, input: &[u8]| {
        scene.write(name, input);
        let options = format!("replay --json -n 1 --hang-timeout 200ms {name}");
        behind(&scene, &generator(), &options, &letters(&[]), &[])
    };
    for end in 251..=255 {
        let run = replayed("generator", &drawn(end, 0, "abc"));
        assert_eq!((run.code, &run.json()["inputs"][0]["status"]), (Some(0), &json!("rejected")), "{end}: {run:#?}");
        assert!(run.stderr.contains("the generator crashes, hangs"), "{end}: {run:#?}");
    }
    let rejected = replayed("invalid", &drawn(250, 0, "abc")).ended();
    assert_eq!(rejected.json()["inputs"][0]["status"], "rejected");
    let fault = replayed("fault", &drawn(0, 0, "ccc")).ended();
    assert_eq!(fault.json()["inputs"][0]["status"], "crashed");
}

#[test]
fn a_campaign_mutates_draws_and_its_findings_are_those_of_the_program() {
    let scene = Scene::new(&[("a", &drawn(0, 0, "abc")), ("b", &drawn(0, 0, "abcabcabcabc"))]);
    let options = "fuzz -i seeds -o out --execs 6000 --seed 1 --max-size 8000 --hang-timeout 500ms --threshold 1.5 --relative-to seed";
    behind(&scene, &generator(), options, &letters(&[]), &["@@"]).succeeded();
    let summary = scene.summary();
    let findings = array(&summary["findings"]);
    assert!(findings.iter().all(|finding| finding["kind"] == "degradation" || finding["detail"] == "SIGABRT"));
    let slow = findings.iter().find(|finding| finding["kind"] == "degradation").expect("a degradation");
    assert!(string(&slow["hot_function"]).contains("triples"), "{slow:#}");
    assert!(findings.iter().any(|finding| finding["parts"].to_string().contains("letter")), "{summary:#}");
    assert!(string(&slow["reproduce"]).contains("--generator"), "{slow:#}");
    assert!(scene.files("out/queue").keys().any(|name| name.contains("-part")), "no operator on parts");

    let resumed = "fuzz -i seeds -o out --execs 100 --seed 1 --max-size 400 --resume --no-confirm";
    behind(&scene, &generator(), resumed, &letters(&[]), &["@@"]).ended();
    let words: Vec<&str> = resumed.split_whitespace().collect();
    run(scene.quagmire(&words).arg("--").arg(letters(&[])).arg("@@")).refused(2, &["--generator", "out"]);
}

#[test]
fn campaigns_behind_a_generator_repeat_by_their_seed_and_other_compilers_build_generators() {
    let headers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../compiler-wrapper/include");
    let queue = |generator: &Path| {
        let scene = Scene::new(&[("a", &drawn(0, 0, "abc"))]);
        let options = "fuzz -i seeds -o out --execs 2000 --seed 1 --max-size 200 --hang-timeout 1s --no-confirm";
        let options = format!("{options} --rules regenerate,splice-part,repeat-part");
        assert_eq!(behind(&scene, generator, &options, &letters(&[]), &[]).code, Some(0));
        scene.files("out/queue")
    };
    assert_eq!(queue(&generator()), queue(&generator()));
    let scene = Scene::new(&[("a", &drawn(0, 0, "abcabc"))]);
    let other = scene.path("generator.so");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O1", "-I"]).arg(headers).arg(testdata("generator.c")).arg("-o").arg(&other);
    run(&mut compiler).ended();
    behind(&scene, &other, "generate --draws -o made seeds", &letters(&[]), &[]).ended();
    assert_eq!(scene.files("made")["a"], drawn(0, 0, "abcabc"), "draws are recorded");
}

#[test]
fn generators_that_cannot_be_used_are_refused() {
    let scene = Scene::new(&[("a", b"a")]);
    let fuzz = "fuzz -i seeds -o out --force --execs 10";
    let refused = |generator: &Path, program: &Path, code: i32, words: &[&str]| {
        behind(&scene, generator, fuzz, program, &[]).refused(code, words);
    };
    let program = letters(&[]);
    refused(Path::new("missing.so"), &program, 2, &["missing.so", "no such file"]);
    refused(&scene.write("text.so", b"text"), &program, 2, &["text.so", "no shared object", "-shared"]);
    let empty = scene.write("empty.c", b"int something;\n");
    let lacking = scene.path("empty.so");
    run(Command::new("cc").args(["-shared", "-fPIC"]).arg(&empty).arg("-o").arg(&lacking)).ended();
    refused(&lacking, &program, 2, &["qgm_generate", "quagmire/draws.h"]);
    let unknown = built("generator.c", &["-O1", "-shared", "-fPIC", "-DUNKNOWN"], None);
    refused(&unknown, &program, 3, &["cannot open the generator", "nowhere"]);
    refused(&generator(), &letters(&["-static"]), 3, &["cannot open the generator", "dynamically"]);
    refused(&generator(), &harness("rejects.c"), 2, &["--generator", "qgm_generated"]);
    let both = format!("{fuzz} --grammar g.json");
    behind(&scene, &generator(), &both, &program, &[]).refused(2, &["--grammar", "--generator"]);
    behind(&scene, &generator(), "mine -o g.json seeds", &program, &[]).refused(2, &["--generator", "grammar"]);
    let ends = Scene::new(&[("a", &drawn(254, 0, ""))]);
    behind(&ends, &generator(), fuzz, &program, &[]).refused(3, &["no seed can be used", "the generator crashes"]);
}
