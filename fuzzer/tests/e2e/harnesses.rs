//! Harnesses of this project for masks: their seeds are accepted, and known inputs behave as documented.

use crate::common::*;

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Builds a harness of `harnesses/` in the folder of the scene, as `scripts/harness` does.
fn harness(scene: &Scene, name: &str) -> PathBuf {
    let program = scene.path(name);
    let source = project().join("harnesses").join(name).join("harness.c");
    let mut command = compiler("harness.c", None);
    run(command.args(["-O2", "-g", "-fsanitize=fuzzer"]).arg(source).arg("-o").arg(&program)).ended();
    program
}

/// Contents of a seed in `corpus/`.
fn seed(path: &str) -> Vec<u8> {
    fs::read(project().join("corpus").join(path)).expect("a seed")
}

/// A record in the format of the harness magic-checks.
fn record(tag: &[u8; 4], value: &[u8]) -> Vec<u8> {
    let length = u16::try_from(value.len()).expect("it fits");
    [&tag[..], &length.to_le_bytes(), value].concat()
}

/// A file in the format of the harness magic-checks.
fn file(records: &[u8]) -> Vec<u8> {
    let length = u16::try_from(8 + records.len()).expect("it fits");
    [b"\x89QBX", &1u16.to_le_bytes()[..], &length.to_le_bytes(), records].concat()
}

fn keys(count: u16) -> Vec<u8> {
    file(&record(b"keys", &(1..=count).flat_map(u16::to_le_bytes).collect::<Vec<u8>>()))
}

#[test]
fn the_seed_of_magic_checks_is_read_to_its_end_and_its_slow_input_is_quadratic() {
    let names = [record(b"name", b"left"), record(b"name", b"right")].concat();
    let list = [names, record(b"keys", &[1, 0, 2, 0, 3, 0]), record(b"link", b"right")].concat();
    let seed = seed("magic-checks/small.bin");
    assert_eq!(seed, file(&record(b"list", &list)), "scripts/generate-magic writes it");
    let mut bad_link = seed.clone();
    *bad_link.last_mut().expect("not empty") = b'T';
    let scene = Scene::new(&[("good", &seed), ("bad", &bad_link), ("short", &seed[..seed.len() - 1])]);
    let inputs = ["seeds/good", "seeds/bad", "seeds/short"].map(Path::new);
    let inputs = scene.replay(&harness(&scene, "magic-checks"), "-n 1", &inputs);
    assert!(inputs.iter().all(|input| input["status"] == "returned"), "{inputs:#?}");
    let ran = |index: usize, function: &str| {
        let functions = array(&inputs[index]["functions"]);
        functions.iter().any(|ran| ran["function"] == function)
    };
    assert!(ran(0, "read_link") && ran(0, "read_keys"), "{:#}", inputs[0]);
    assert_ne!(inputs[0]["edges"], inputs[1]["edges"], "a link that is not there is another path");
    assert!(!ran(2, "read_records"), "a length that does not agree: {:#}", inputs[2]);
    // the slow input is quadratic
    scene.write("a", &keys(500));
    scene.write("b", &keys(1000));
    let inputs = scene.replay(&scene.path("magic-checks"), "-n 1", &["a", "b"].map(Path::new));
    for (input, count) in inputs.iter().zip([500u64, 1000]) {
        assert_eq!(input["functions"][0]["function"], "read_keys");
        // comparisons; a loop that tests at its end goes back once less than it runs, for each key
        let (hottest, most) = (number(&input["hottest_edge"]), count * (count - 1) / 2);
        assert!((most - count..=most).contains(&hottest), "{hottest} of {most}");
    }
    assert!((3.9..4.1).contains(&float(&inputs[1]["instructions_ratio"])), "{:#}", inputs[1]);
}

#[test]
fn each_byte_of_a_keyword_is_a_new_edge_of_keyword_nest() {
    let text = b"<!ATTLIST";
    let names: Vec<String> = (1..=text.len()).map(|length| format!("prefix_{length}")).collect();
    let seeds: Vec<(&str, &[u8])> = names.iter().zip(1..).map(|(name, length)| (&name[..], &text[..length])).collect();
    let scene = Scene::new(&seeds);
    let program = harness(&scene, "keyword-nest");
    scene.fuzz(&program, "--execs 9 --seed 1 --focus coverage --no-confirm").ended();
    assert_eq!(scene.files("out/queue").len(), text.len());
    let found = number(&scene.summary()["edges_found"]);

    // without the prefixes in between there are fewer
    let scene = Scene::new(&[seeds[0], seeds[text.len() - 1]]);
    scene.fuzz(&program, "--execs 2 --seed 1 --focus coverage --no-confirm").ended();
    let without = number(&scene.summary()["edges_found"]);
    assert!(found >= without + text.len() as u64 - 2, "{found} against {without}");
}

#[test]
fn the_levels_of_keyword_nest_are_told_apart() {
    let levels: [(&str, &[u8]); 5] = [
        ("0", &seed("keyword-nest/small.xml")),
        ("0b", b"<a><!ATTLIS a b ID #FIXED"),
        ("1", b"<a><!ATTLIST a b X"),
        ("2", b"x<!ATTLIST\tlist item\nNMTOKENS #REQUIRE"),
        ("3", b"<!ATTLIST a b ID #FIXED>"),
    ];
    let scene = Scene::new(&levels);
    let program = harness(&scene, "keyword-nest");
    let paths: Vec<PathBuf> = levels.iter().map(|(name, _)| Path::new("seeds").join(name)).collect();
    let counter = scene.path("count");
    let source = project().join("harnesses/keyword-nest/count.c");
    run(Command::new("cc").arg("-O2").arg(source).arg("-o").arg(&counter)).ended();
    let counted = run(Command::new(&counter).args(&paths).current_dir(scene.path(""))).ended().stdout;
    for ((line, (name, _)), path) in counted.lines().zip(&levels).zip(&paths) {
        assert_eq!(line, format!("{} {}", &name[..1], path.display()));
    }
    let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    for (input, (name, _)) in scene.replay(&program, "-n 1", &paths).iter().zip(levels) {
        let functions = array(&input["functions"]);
        let reached = ["level_one", "level_two", "level_three"]
            .map(|level| functions.iter().filter(|ran| ran["function"] == level).count());
        let level: usize = name[..1].parse().expect("a number");
        assert_eq!(reached.iter().sum::<usize>(), level, "{name}: {input:#}");
    }
}
