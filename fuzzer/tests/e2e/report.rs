//! Reports of real campaigns: at their end, while they run, and after they were killed.

use crate::common::*;

/// Asserts that a page is complete and contains all of these parts.
#[track_caller]
fn assert_page(page: &str, parts: &[&str]) {
    assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"), "{page}");
    for part in parts {
        assert!(page.contains(part), "no `{part}` in {page}");
    }
}

#[test]
fn a_campaign_ends_with_a_report_of_its_findings() {
    let (scene, printed) = finished();
    for part in ["Report:     out/report.html", "\nCause:      ", "\nSmallest:   out/minimized/"] {
        assert!(printed.contains(part), "no {part} in {printed}");
    }
    let page = scene.read("out/report.html");
    assert_page(&page, &["times slower", "count_pairs", "quadratic.c:", "class=\"histograms\"", "over time"]);
    for finding in array(&scene.summary()["findings"]) {
        let path = string(&finding["path"]);
        let name = path.strip_prefix("degradations/").expect("a degradation");
        assert_page(&scene.read(&format!("out/diffs/{name}.html")), &["Against its seed", "report.html", path]);
    }
    let graphs = scene.files("out/graphs");
    assert_eq!(graphs.keys().collect::<Vec<_>>(), ["coverage_ts.svg", "degradations_ts.svg"]);
    // the same from what is on disk
    let report = run(&mut scene.quagmire(&["report", "out"])).ended();
    assert_eq!(report.stdout.lines().count(), 4, "{report:#?}");
    assert_eq!(scene.read("out/report.html"), page);
    for folder in ["out", "out/diffs", "out/graphs"] {
        let unfinished = scene.files(folder).into_keys().find(|name| name.starts_with(".unfinished"));
        assert_eq!(unfinished, None);
    }
}

#[test]
fn the_commands_of_a_report_work_as_they_are() {
    let (scene, _) = finished();
    let page = scene.read("out/report.html");
    let texts = page.split("<pre class=\"command\">").skip(1).map(|rest| rest.split("</pre>").next().expect("its end"));
    let plain = |text: &str| {
        let marks = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")];
        marks.iter().fold(text.to_owned(), |text, (mark, is)| text.replace(mark, is))
    };
    // the last one is that of the campaign itself
    let commands: Vec<String> = texts.map(plain).take_while(|command| !command.contains(" fuzz ")).collect();
    for part in [" replay ", "compare out -- ", "cp out/minimized/", "costs.json --update ", "costs.json -- "] {
        let command = commands.iter().find(|command| command.contains(part)).expect(part);
        scene.shell(command).succeeded();
    }
    assert_eq!(scene.files("regressions").len(), 1, "{commands:#?}");
}

#[test]
fn the_program_is_named_before_the_library_that_does_its_work() {
    let scene = Scene::new(GREETING);
    let program = built("library_below.cc", &["-g", "-O1", "-fsanitize=fuzzer"], None);
    let end = scene.fuzz(&program, "--execs 5000 --seed 3 --max-size 1000").ended();
    let below = end.stdout.lines().skip_while(|line| !line.starts_with("  spent in     count_pairs(")).nth(1);
    assert!(below.is_some_and(|line| line.starts_with("  below it     ") && line.contains("/c++/")), "{end:#?}");
    let finding = scene.summary()["findings"][0].clone();
    assert!(finding["hot_function"].as_str().is_some_and(|name| name.starts_with("count_pairs(")), "{finding:#}");
    assert!(finding["hot_location"].as_str().is_some_and(|place| place.contains("/library_below.cc:")), "{finding:#}");
    let around = array(&finding["growth"]["around"]);
    let hot = around.iter().find(|line| line["ordinary_count"].as_u64() < line["count"].as_u64());
    assert!(hot.is_some(), "{around:#?}");
    let csv = run(&mut scene.quagmire(&["report", "out", "--format", "csv"])).ended().stdout;
    assert!(csv.contains("count_pairs(") && csv.contains("/library_below.cc:"), "{csv}");
    let page = scene.read("out/report.html");
    assert_page(&page, &["pairs += std::count(data, data + size, data[i]);", "below it"]);
}

#[test]
fn a_harness_by_itself_calls_the_quagmire_that_a_shell_would_find_or_names_the_command() {
    let harness = harness("quadratic.c");
    for (path, is_found) in [(binaries().into_os_string(), true), ("".into(), false)] {
        let scene = Scene::new(GREETING);
        let mut command = Command::new(&harness);
        command.args(["-i", "seeds", "-o", "out", "--execs", "500", "--seed", "3", "--max-size", "100"]);
        let end = run(command.current_dir(scene.path("")).env("PATH", path)).ended();
        let told = if is_found { "Report:     out/report.html" } else { "Report:     quagmire report out\n" };
        assert!(end.stdout.contains(told), "{end:#?}");
        assert_eq!(scene.path("out/report.html").is_file(), is_found);
    }
}

#[test]
fn without_plotting_there_is_a_report_without_graphs_which_a_later_one_has() {
    let scene = Scene::new(GREETING);
    scene.fuzz(&harness("quadratic.c"), "--execs 300 --seed 3 --max-size 100 --no-plotting --no-confirm").ended();
    assert!(scene.path("out/report.html").is_file() && !scene.path("out/graphs").exists());
    let report = |options: &[&str]| run(&mut scene.quagmire(&[&["report", "out"], options].concat()));
    // a campaign without findings
    report(&["--format", "csv", "-o", "no/such"]).refused(1, &["cannot write no/such"]);
    assert_eq!(report(&["--format", "jsonl"]).ended().stdout, "");
    assert_eq!(report(&["--format", "csv"]).ended().stdout.lines().count(), 1);
    // a file where a folder should be
    scene.write("out/graphs", b"");
    report(&[]).refused(1, &["cannot write out/graphs"]);
    fs::remove_file(scene.path("out/graphs")).expect("removed");
    // a score that lies beside it
    scene.write("out/score.json", b"{}");
    assert!(report(&[]).ended().stdout.ends_with("out/report.html\n"));
    report(&["--format", "jsonl"]).ended();
    assert!(scene.path("out/graphs/coverage_ts.svg").is_file());
}

#[test]
fn campaigns_that_run_or_were_killed_are_reported() {
    let scene = Scene::new(GREETING);
    let mut campaign = start(&mut scene.campaign(&harness("quadratic.c"), "--seed 1 --max-size 200 --time 1h"));
    wait_until("there is a summary", || scene.path("out/summary.json").is_file().then_some(()));
    run(&mut scene.quagmire(&["report", "out"])).ended();
    let page = scene.read("out/report.html");
    assert_page(&page, &["not over when this was written"]);
    let workers = children(campaign.id());
    campaign.kill().expect("a child");
    campaign.wait().expect("a child");
    // gone with the supervisor, which they may be already
    wait_for_end("the workers are gone", &workers);
    run(&mut scene.quagmire(&["report", "out"])).ended();
}

#[test]
fn what_is_no_campaign_is_refused() {
    let scene = Scene::new(GREETING);
    scene.write("odd/summary.json", b"{}");
    for (options, code, words) in [
        ("", 2, &["OUT"][..]),
        ("nowhere", 1, &["there is no folder nowhere", "output folder"]),
        ("nowhere --format jsonl", 1, &["there is no folder nowhere", "output folder"]),
        ("nowhere --format xml", 2, &["'xml'", "write one of html"]),
        ("nowhere -o page.html", 2, &["-o:", "--format"]),
        ("seeds", 1, &["seeds holds no summary.json", "output folder"]),
        ("seeds --format csv", 1, &["seeds holds no summary.json", "output folder"]),
        ("odd", 1, &["odd/summary.json is not a summary"]),
    ] {
        let words_of_command: Vec<&str> = ["report"].into_iter().chain(options.split_whitespace()).collect();
        run(&mut scene.quagmire(&words_of_command)).refused(code, words);
    }
    assert_eq!(scene.everything().len(), 2, "{:?}", scene.everything());
}

#[test]
fn findings_are_exported_for_tools_that_do_not_read_the_summary() {
    let (scene, _) = finished();
    let findings = array(&scene.summary()["findings"]).clone();
    assert!(!findings.is_empty());
    let report = |options: &[&str]| run(&mut scene.quagmire(&[&["report", "out", "--format"], options].concat()));
    let lines = report(&["jsonl"]).ended().stdout;
    let read: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(read, findings);
    let csv = report(&["csv"]).ended().stdout;
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| rows[0].iter().position(|&column| column == name).expect("a column");
    assert_eq!(rows.len(), 1 + findings.len(), "{csv}");
    for (row, finding) in rows[1..].iter().zip(&findings) {
        assert_eq!(row[column("kind")], string(&finding["kind"]));
        // fields after the paths, which are quoted for their commas, count from the end
        let from_the_end = rows[0].len() - column("instructions");
        let amount: u64 = row[row.len() - from_the_end].parse().expect("a number");
        assert_eq!(Some(amount), finding["costs"][0]["amount"].as_u64(), "{csv}");
    }
    for (format, text) in [("jsonl", &lines), ("csv", &csv)] {
        assert_eq!(report(&[format, "-o", "findings"]).ended().stdout, "");
        assert_eq!(&scene.read("findings"), text);
    }
}

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

fn sarif(scene: &Scene, result: &str) -> Value {
    let end = run(&mut scene.quagmire(&["report", result, "--format", "sarif", "--source-root", "/nowhere"])).ended();
    end.json()
}

/// Ids of the rules of all alerts.
fn rules(log: &Value) -> Vec<&str> {
    let results = array(&log["runs"][0]["results"]);
    results.iter().map(|one| string(&one["ruleId"])).collect()
}

#[test]
fn findings_of_a_campaign_are_alerts_test_cases_and_annotations() {
    let (scene, _) = finished();
    let log = sarif(&scene, "out");
    assert!(rules(&log).contains(&"degradation"), "{log:#}");
    let findings = array(&scene.summary()["findings"]).len();
    let report = |format: &str| run(&mut scene.quagmire(&["report", "out", "--format", format])).ended().stdout;
    assert_eq!(report("junit").matches("<testcase ").count(), findings + 1);
    assert!(report("github").starts_with("::"), "{}", report("github"));
    assert!(report("markdown").contains("<code>count&#95;pairs</code>"), "{}", report("markdown"));
    // sources below the given folder have relative paths
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    let inside = ["report", "out", "--format", "sarif", "--source-root", folder, "-o", "inside.sarif"];
    run(&mut scene.quagmire(&inside)).ended();
    let text = scene.read("inside.sarif");
    assert!(text.contains("\"uri\": \"testdata/quadratic.c\""), "{text}");
}

#[test]
fn a_comparison_and_a_growth_take_the_place_of_a_campaign() {
    let scene = Scene::new(&[("text", &[b'a'; 300])]);
    let program = built("compared.c", &["-g", "-O1", "-fsanitize=fuzzer", "-DQUADRATIC"], None);
    let mut compare = scene.quagmire(&["compare", "seeds", "-o", "comparison.json", "--"]);
    run(compare.arg(&program).arg("--and").arg(&program)).ended();
    assert!(!rules(&sarif(&scene, "comparison.json")).contains(&"slower"));
    let page = run(&mut scene.quagmire(&["report", "comparison.json"])).ended();
    assert_eq!(page.stdout, "comparison.html\n");
    assert!(scene.path("comparison.html").is_file());
    let growth = scene.ask("growth seeds/text --json", &program).ended();
    scene.write("growth.json", growth.stdout.as_bytes());
    let log = sarif(&scene, "growth.json");
    assert_eq!(rules(&log), ["superlinear"], "{log:#}");
    run(&mut scene.quagmire(&["report", "growth.json"])).ended();
    assert!(scene.read("growth.html").contains("<svg"));
    scene.write("odd.json", b"{}");
    run(&mut scene.quagmire(&["report", "odd.json"])).refused(1, &["odd.json is no result", "compare -o"]);
}
