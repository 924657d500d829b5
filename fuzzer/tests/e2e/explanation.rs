//! Explanations at the end of campaigns: the law and the smallest input of the worst finding, or why they are not known, in the
//! same words everywhere.

use crate::common::*;

/// The line of the end of a campaign with this title.
#[track_caller]
fn line<'a>(stdout: &'a str, title: &str) -> &'a str {
    let title = format!("{title}:");
    let line = stdout.lines().find_map(|line| line.strip_prefix(&title));
    line.unwrap_or_else(|| panic!("no `{title}` in {stdout}")).trim()
}

/// The report of the campaign in a format.
fn report(scene: &Scene, format: &str) -> String {
    run(&mut scene.quagmire(&["report", "out", "--format", format])).ended().stdout
}

/// Text of a report without marks that escape characters.
fn plain(text: &str) -> String {
    let text = text.replace("&quot;", "\"").replace("\\\"", "\"").replace("&apos;", "'").replace("\\\\", "\\");
    (33..127).fold(text, |text, byte: u8| text.replace(&format!("&#{byte};"), &char::from(byte).to_string()))
}

#[test]
fn law_and_smallest_input_of_the_worst_cause_are_said_in_the_same_words_everywhere() {
    let (scene, printed) = finished();
    assert!(line(&printed, "Cause").contains("in count_pairs, "), "{printed}");
    let (law, place) = line(&printed, "Law").split_once(": degradations/").expect("its finding");
    assert!(law.contains("quadratic in the number of ") && law.ends_with("confidence)"), "{printed}");
    let smallest = line(&printed, "Smallest").strip_prefix("out/").expect("its folder");
    let summary = scene.summary();
    let index = number(&summary["groups"][0]["findings"][0]) as usize;
    let finding = &summary["findings"][index];
    assert_eq!(finding["path"], format!("degradations/{place}"), "{summary:#}");
    let small = scene.path(&format!("out/{}", string(&finding["minimized"]["path"])));
    assert_eq!(fs::read(small).expect("a file").len() as u64, number(&finding["minimized"]["bytes"]));
    for format in ["markdown", "junit", "sarif"] {
        let text = plain(&report(&scene, format));
        assert!(text.contains(law) && text.contains(smallest), "{format}: {law}, {smallest}: {text}");
    }
    let page = plain(&scene.read("out/report.html"));
    assert!(page.contains("quadratic in the number of ") && page.contains("minimized/"), "{page}");
}

#[test]
fn where_there_is_no_law_the_reason_and_the_command_are_said() {
    let scene = Scene::new(&[("seed", b"?")]);
    let end = scene.fuzz(&harness("unexplained.c"), "--execs 2000 --seed 1 --max-size 1 --quiet").ended();
    let said = line(&end.stdout, "No law");
    assert!(said.contains(" growth --budget 5m out/degradations/id_"), "{end:#?}");
    let summary = scene.summary();
    let index = number(&summary["groups"][0]["findings"][0]) as usize;
    let reason = &summary["findings"][index]["no_law"];
    let texts = ["why", "command"].map(|key| string(&reason[key]).to_owned());
    assert_eq!((format!("{} ({})", texts[0], texts[1]).as_str(), &reason["tried"]), (said, &Value::Bool(true)));
    for format in ["markdown", "junit", "sarif"] {
        let text = plain(&report(&scene, format));
        assert!(text.to_lowercase().contains("no law: ") && text.contains(&texts[1]), "{format}: {text}");
    }
    assert!(line(&end.stdout, "Smallest").ends_with("(1 byte: the input itself)"), "{end:#?}");
    // those that were not asked for are none
    let end = scene.fuzz(&harness("unexplained.c"), "--execs 2000 --seed 1 --max-size 1 --explain 0 --force").ended();
    assert!(line(&end.stdout, "Cause").contains("in count, ") && !end.stdout.contains("No law"), "{end:#?}");
    assert!(scene.summary()["findings"][0]["no_law"].is_null(), "{:#}", scene.summary());
}

#[test]
fn waiting_is_no_hang_within_a_few_hang_timeouts_where_cpu_time_is_limited() {
    let scene = Scene::new(&[]);
    scene.write("waits", b"30");
    scene.write("waits_long", b"9999");
    let minimize = |input: &str| {
        let arguments = ["minimize", "--json", "--hang-timeout", "100ms", "--execs", "1", input, "-o", "small", "--"];
        let run = run(scene.quagmire(&arguments).arg(harness("waits.c"))).succeeded();
        run.stdout
    };
    let status = |input: &str| serde_json::from_str::<Value>(&minimize(input)).expect("JSON")["status"].clone();
    assert_eq!([status("waits"), status("waits_long")], ["returned", "hung"]);
}
