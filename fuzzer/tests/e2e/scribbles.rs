//! Programs that write to the memory that they share with the fuzzer.

use crate::common::*;

fn program() -> PathBuf {
    let runtime = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/../compiler-wrapper/runtime");
    built("scribbles.c", &["-g", "-O1", runtime], None)
}

/// Reports of all seeds by `replay --json`, in one process unless one of them ends it.
fn replayed(scene: &Scene, names: &[&str]) -> Vec<Value> {
    let mut command = scene.quagmire(&["replay", "--json", "-n", "1", "--hang-timeout", "300ms"]);
    command.args(names.iter().map(|name| format!("seeds/{name}"))).arg("--").arg(program());
    array(&run(&mut command).succeeded().json()["inputs"]).clone()
}

#[test]
fn only_the_child_is_killed_whatever_number_is_written() {
    let mut bystander = Command::new("sleep").arg("600").spawn().expect("sleep");
    let written = format!("child {}", bystander.id());
    let scene = Scene::new(&[("plain", b"plain"), ("child", written.as_bytes())]);
    let inputs = replayed(&scene, &["plain", "child", "plain"]);
    let alive = is_alive(bystander.id());
    bystander.kill().expect("ours");
    bystander.wait().expect("ours");
    assert!(alive, "it was killed: {inputs:#?}");
    assert_eq!((&inputs[0]["status"], &inputs[1]["status"]), (&"returned".into(), &"hung".into()), "{inputs:#?}");
}

#[test]
fn a_campaign_outlives_whatever_is_written_and_what_comes_after_it_is_counted_as_before() {
    for rude in [&b"f"[..], b"z", b"s", b"l", b"t"] {
        let scene = Scene::new(&[("plain", b"plain"), ("rude", rude), ("after", b"plain")]);
        let inputs = replayed(&scene, &["plain", "rude", "after"]);
        assert_eq!(inputs[2]["status"], "returned", "{}: {inputs:#?}", rude[0] as char);
        assert_eq!(inputs[0]["instructions"], inputs[2]["instructions"], "{}: {inputs:#?}", rude[0] as char);
    }
    let all: [(&str, &[u8]); 7] =
        [("0", b"plain"), ("1", b"f"), ("2", b"z"), ("3", b"s"), ("4", b"l"), ("5", b"t"), ("6", b"plainer")];
    let scene = Scene::new(&all);
    let options = "--execs 200 --seed 1 --max-size 9 --hang-timeout 100ms --no-confirm --no-plotting";
    scene.fuzz(&program(), options).succeeded();
    assert_eq!(scene.summary()["stopped_by"], "execs", "{:#}", scene.summary());
}
