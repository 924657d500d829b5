//! Harnesses that draw from their input by FuzzedDataProvider or `quagmire/draws.h`.

use quagmire_choices::{draws::Kind, draws::Overlay};
use quagmire_execution::{
    abi::Status, fork_server::Builder, fork_server::run_folder::RunFiles, harness::Harness, input_page::InputPage,
    prepare::prepare_uncounted,
};

use crate::common::*;

/// Builds a harness with the engine, or with a `main` for the fork server.
fn built(scene: &Scene, source: &Path, options: &[&str], is_served: bool) -> PathBuf {
    let (name, driver) = if is_served { ("served", "1") } else { ("harness", "0") };
    let options = [&["-g", "-O1", "-fsanitize=fuzzer"], options].concat();
    scene.compile(name, source.to_str().expect("text"), &options, &[("QUAGMIRE_DRIVER", driver)])
}

#[test]
fn a_run_under_the_fork_server_leaves_its_draws_and_takes_an_overlay() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../compiler-wrapper/tests/testdata/draws/harness.cc");
    let scene = Scene::new(&[]);
    let program = built(&scene, &source, &[], true);
    let command = vec!["env".into(), "DRAWS=list".into(), program.into()];
    let harness = Harness::of_program(command, RunFiles::default(), Builder::Quagmire);
    let mut executor = prepare_uncounted(harness, InputPage::new(1 << 16).expect("memory")).expect("it starts");
    let input = b"ab\\x-cd\\xrest\x01\x01\x02";

    assert_eq!(executor.execute(input), Status::Returned);
    assert!(executor.draws().are_used() && executor.draws().log().is_empty(), "nothing is recorded unasked");
    executor.draws_mut().record(true);
    assert_eq!(executor.execute(input), Status::Returned);
    let log = executor.draws().log().to_vec();
    let kinds: Vec<_> = log.iter().filter_map(|draw| draw.kind()).collect();
    assert_eq!(kinds, [Kind::Integer, Kind::Flip, Kind::Text, Kind::Flip, Kind::Text, Kind::Integer]);
    assert_eq!(log.iter().map(|draw| draw.part).collect::<Vec<_>>(), [0, 1, 1, 3, 3, 3]);
    assert_eq!((log[2].offset, log[2].length, log[4].offset, log[4].length), (0, 4, 4, 5));
    assert_eq!((executor.draws().patched(), executor.draws().generated()), (None, None));

    let mut overlay = Overlay::default();
    overlay.set(log[4].key, b"EFGH\\x");
    overlay.set(log[0].key, &[1]);
    overlay.set(log[2].key, b"A\\x");
    executor.draws_mut().record(false);
    executor.draws_mut().set_overlay(&mut overlay);
    assert_eq!(executor.execute(input), Status::Returned);
    // one round only: the second text is not drawn
    assert_eq!(executor.draws().patched(), Some(&b"A\\xx-cd\\xrest\x01\x01\x01"[..]));
    assert_eq!(executor.draws().log().len(), 4);
    executor.execute(input);
    assert_eq!(executor.draws().patched(), None, "an overlay is of one run");
}

#[test]
fn what_comes_before_the_generated_input_costs_nothing() {
    for is_served in [false, true] {
        let little: &[u8] = &[0, 0, 9];
        let scene = Scene::new(&[("little", little), ("much", &[0xff, 0x7f, 9]), ("more", &[0xff, 0x7f, 99])]);
        let program = built(&scene, &testdata("generated.c"), &[], is_served);
        let inputs = ["seeds/little", "seeds/much", "seeds/more", "seeds/little"].map(|name| scene.path(name));
        let inputs: Vec<&Path> = inputs.iter().map(|path| path.as_path()).collect();
        let replayed = scene.replay(&program, "-n 1", &inputs);
        let costs = |at: usize| {
            ["instructions", "heap-total", "heap", "stack"].map(|name| number(&replayed[at]["costs"][name]))
        };
        assert_eq!(costs(0), costs(1), "{is_served}: {replayed:#?}");
        assert_eq!(costs(0), costs(3), "{is_served}: {replayed:#?}");
        let instructions = number(&replayed[0]["instructions"]);
        assert_eq!(replayed[0]["instructions_range"], json!([instructions, instructions]), "{is_served}");
        assert!(costs(2)[0] > costs(0)[0], "{is_served}: {replayed:#?}");
        assert!(costs(2)[1] == costs(0)[1] + 90 && costs(0)[3] > 0, "{is_served}: {replayed:#?}");
        let whole = built(&scene, &testdata("generated.c"), &["-DEMPTY"], is_served);
        let whole: Vec<Value> = scene.replay(&whole, "-n 1", &inputs[..2]);
        assert!(number(&whole[1]["instructions"]) > 10 * number(&whole[0]["instructions"]), "{whole:#?}");
    }
}

#[test]
fn a_generator_in_a_harness_writes_what_it_generates_or_its_choices() {
    let scene = Scene::new(&[]);
    let generated = |program: &Path, out: &str, options: &str| {
        let options = ["generate", "-n", "20", "--size", "40", "-o", out].into_iter().chain(options.split_whitespace());
        run(scene.quagmire(&options.chain(["--"]).collect::<Vec<_>>()).arg(program))
    };
    for is_served in [true, false] {
        let program = built(&scene, &testdata("generated.c"), &[], is_served);
        let [made, drawn] = ["made", "drawn"].map(|name| format!("{name}-{is_served}"));
        generated(&program, &made, "--seed 3").ended();
        generated(&program, &drawn, "--seed 3 --draws").ended();
        let [made, drawn] = [made, drawn].map(|folder| scene.files(&folder));
        assert_eq!((made.len(), drawn.len()), (20, 20), "{is_served}");
        for (name, choices) in &drawn {
            // the size is the last byte, the work of the generator the two before it
            assert_eq!(choices.len(), 3, "{name}");
            assert_eq!(made[name].len(), usize::from(choices[2]), "{name}");
            assert!(made[name].iter().skip(1).all(|byte| matches!(byte, b'a' | b'b')), "{name}");
        }
    }
    assert_eq!(scene.files("made-true"), scene.files("made-false"));
    let program = scene.path("served");
    let differing: BTreeSet<Vec<u8>> = {
        generated(&program, "unique", "--unique").ended();
        scene.files("unique").into_values().collect()
    };
    assert_eq!(differing.len(), 20);
    generated(&program, "both", "--grammar g.json").refused(2, &["--grammar", "harness"]);
    let silent = built(&scene, &testdata("generated.c"), &["-DEMPTY"], true);
    generated(&silent, "silent", "").refused(3, &["qgm_generated", "--draws"]);
    let other = built(&scene, &testdata("rejects.c"), &[], true);
    generated(&other, "other", "").refused(3, &["draws nothing", "quagmire/draws.h"]);
}
