//! Reports of real campaigns: at their end, while they run, and after they were killed.

use std::fs;
use std::process::{Command, Stdio};

use crate::common::{Scene, binaries, built, children, ended, harness, run, signal, wait_until};

const SEED: &[(&str, &[u8])] = &[("greeting", b"hello world, hello")];

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
    let scene = Scene::new(SEED);
    let end = scene.fuzz(&harness("quadratic.c"), "--execs 5000 --seed 3 --max-size 1000").ended();
    assert!(end.stdout.contains("Report:     out/report.html"), "{end:#?}");
    assert!(end.stdout.contains("\nCause:      ") && end.stdout.contains("\nSmallest:   out/minimized/"), "{end:#?}");
    let page = fs::read_to_string(scene.path("out/report.html")).expect("a report");
    assert_page(&page, &["times slower", "count_pairs", "quadratic.c:", "class=\"histograms\"", "over time"]);
    let findings = scene.summary()["findings"].as_array().expect("a list").clone();
    assert!(!findings.is_empty());
    for finding in findings {
        let path = finding["path"].as_str().expect("a path");
        let name = path.strip_prefix("degradations/").expect("a degradation");
        let text = fs::read_to_string(scene.path(&format!("out/diffs/{name}.html"))).expect("its page");
        assert_page(&text, &["Against its seed", "report.html", path]);
    }
    let graphs = scene.files("out/graphs");
    assert_eq!(graphs.keys().collect::<Vec<_>>(), ["coverage_ts.svg", "degradations_ts.svg"]);
    // the same from what is on disk
    let report = run(&mut scene.quagmire(&["report", "out"])).ended();
    assert_eq!(report.stdout.lines().count(), 4, "{report:#?}");
    assert_eq!(fs::read_to_string(scene.path("out/report.html")).expect("a report"), page);
    for folder in ["out", "out/diffs", "out/graphs"] {
        let unfinished = scene.files(folder).into_keys().find(|name| name.starts_with(".unfinished"));
        assert_eq!(unfinished, None);
    }
}

#[test]
fn the_commands_of_a_report_work_as_they_are() {
    let scene = Scene::new(SEED);
    scene.fuzz(&harness("quadratic.c"), "--execs 5000 --seed 3 --max-size 1000").ended();
    let page = fs::read_to_string(scene.path("out/report.html")).expect("a report");
    let texts = page.split("<pre class=\"command\">").skip(1).map(|rest| rest.split("</pre>").next().expect("its end"));
    let shell = |text: &str| {
        let marks = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")];
        marks.iter().fold(text.to_owned(), |text, (mark, is)| text.replace(mark, is))
    };
    // the last one is that of the campaign itself
    let commands: Vec<String> = texts.map(shell).take_while(|command| !command.contains(" fuzz ")).collect();
    let path = std::env::join_paths([binaries(), "/usr/bin".into(), "/bin".into()]).expect("paths");
    for part in [" replay ", "compare out -- ", "cp out/minimized/", "costs.json --update ", "costs.json -- "] {
        let command = commands.iter().find(|command| command.contains(part)).expect(part);
        let mut bash = Command::new("bash");
        let end = run(bash.args(["-c", command]).env("PATH", &path).current_dir(scene.path("")));
        assert_eq!(end.code, Some(0), "{command}: {end:#?}");
    }
    assert_eq!(scene.files("regressions").len(), 1, "{commands:#?}");
}

#[test]
fn a_campaign_is_reported_though_a_score_lies_beside_it() {
    let scene = Scene::new(SEED);
    scene.fuzz(&harness("quadratic.c"), "--execs 500 --seed 3 --max-size 100 --no-plotting").ended();
    scene.write("out/score.json", b"{}");
    let report = run(&mut scene.quagmire(&["report", "out"])).ended();
    assert!(report.stdout.ends_with("out/report.html\n"), "{report:#?}");
    run(&mut scene.quagmire(&["report", "out", "--format", "jsonl"])).ended();
}

#[test]
fn the_program_is_named_before_the_library_that_does_its_work() {
    let scene = Scene::new(SEED);
    let program = built("library_below.cc", &["-g", "-O1", "-fsanitize=fuzzer"], None);
    let end = scene.fuzz(&program, "--execs 5000 --seed 3 --max-size 1000").ended();
    let below = end.stdout.lines().skip_while(|line| !line.starts_with("  spent in     count_pairs(")).nth(1);
    assert!(below.is_some_and(|line| line.starts_with("  below it     ") && line.contains("/c++/")), "{end:#?}");
    let finding = scene.summary()["findings"][0].clone();
    assert!(finding["hot_function"].as_str().is_some_and(|name| name.starts_with("count_pairs(")), "{finding:#}");
    assert!(finding["hot_location"].as_str().is_some_and(|place| place.contains("/library_below.cc:")), "{finding:#}");
    let around = finding["growth"]["around"].as_array().expect("a list");
    let hot = around.iter().find(|line| line["ordinary_count"].as_u64() < line["count"].as_u64());
    assert!(hot.is_some(), "{around:#?}");
    let csv = run(&mut scene.quagmire(&["report", "out", "--format", "csv"])).ended().stdout;
    assert!(csv.contains("count_pairs(") && csv.contains("/library_below.cc:"), "{csv}");
    let page = fs::read_to_string(scene.path("out/report.html")).expect("a report");
    assert_page(&page, &["pairs += std::count(data, data + size, data[i]);", "below it"]);
}

#[test]
fn a_harness_by_itself_calls_the_quagmire_that_a_shell_would_find_or_names_the_command() {
    let harness = harness("quadratic.c");
    for (path, is_found) in [(binaries().into_os_string(), true), ("".into(), false)] {
        let scene = Scene::new(SEED);
        let mut command = Command::new(&harness);
        command.args(["-i", "seeds", "-o", "out", "--execs", "500", "--seed", "3", "--max-size", "100"]);
        let end = run(command.current_dir(scene.path("")).env("PATH", path)).ended();
        let told = if is_found { "Report:     out/report.html" } else { "Report:     quagmire report out\n" };
        assert!(end.stdout.contains(told), "{end:#?}");
        assert_eq!(scene.path("out/report.html").is_file(), is_found);
    }
}

#[test]
fn without_plotting_there_is_a_report_without_graphs() {
    let scene = Scene::new(SEED);
    scene.fuzz(&harness("quadratic.c"), "--execs 500 --seed 3 --max-size 100 --no-plotting").ended();
    assert!(scene.path("out/report.html").is_file() && !scene.path("out/graphs").exists());
    run(&mut scene.quagmire(&["report", "out"])).ended();
    assert!(scene.path("out/graphs/coverage_ts.svg").is_file());
}

#[test]
fn campaigns_that_run_or_were_killed_are_reported() {
    let scene = Scene::new(SEED);
    let mut command = scene.campaign(&harness("quadratic.c"), "--seed 1 --max-size 200 --time 1h");
    let mut campaign =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    wait_until("there is a summary", || scene.path("out/summary.json").is_file().then_some(()));
    run(&mut scene.quagmire(&["report", "out"])).ended();
    let page = fs::read_to_string(scene.path("out/report.html")).expect("a report");
    assert_page(&page, &["not over when this was written"]);
    let workers = children(campaign.id());
    campaign.kill().expect("a child");
    campaign.wait().expect("a child");
    for worker in workers {
        // gone with the supervisor, which it may be already
        wait_until("the worker is gone", || {
            let state = fs::read_to_string(format!("/proc/{worker}/stat")).unwrap_or_default();
            (state.is_empty() || state.contains(") Z ")).then_some(())
        });
    }
    run(&mut scene.quagmire(&["report", "out"])).ended();
}

#[test]
fn a_campaign_that_is_interrupted_has_a_report() {
    let scene = Scene::new(SEED);
    let mut command = scene.campaign(&harness("quadratic.c"), "--seed 1 --max-size 200 --time 1h");
    let campaign =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    wait_until("the campaign has begun", || scene.path("out/logs/queue_data.txt").is_file().then_some(()));
    signal(campaign.id(), libc::SIGINT);
    let end = ended(campaign).ended();
    assert!(end.stdout.contains("out/report.html"), "{end:#?}");
    let page = fs::read_to_string(scene.path("out/report.html")).expect("a report");
    assert_page(&page, &["stopped on request"]);
}

#[test]
fn what_is_no_campaign_is_refused() {
    let scene = Scene::new(SEED);
    run(&mut scene.quagmire(&["report", "nowhere"])).refused(1, &["there is no folder nowhere", "output folder"]);
    run(&mut scene.quagmire(&["report", "seeds"])).refused(1, &["seeds holds no summary.json", "output folder"]);
    scene.write("odd/summary.json", b"{}");
    run(&mut scene.quagmire(&["report", "odd"])).refused(1, &["odd/summary.json is not a summary"]);
    run(&mut scene.quagmire(&["report"])).refused(2, &["OUT"]);
    let everything = scene.everything();
    assert_eq!(everything.len(), 2, "{everything:?}");
}

#[test]
fn a_report_that_cannot_be_written_is_an_error_with_the_place() {
    let scene = Scene::new(SEED);
    scene.fuzz(&harness("quadratic.c"), "--execs 300 --seed 3 --max-size 100 --no-plotting --no-confirm").ended();
    // a file where a folder should be
    scene.write("out/graphs", b"");
    run(&mut scene.quagmire(&["report", "out"])).refused(1, &["cannot write out/graphs"]);
}

#[test]
fn findings_are_exported_for_tools_that_do_not_read_the_summary() {
    let scene = Scene::new(SEED);
    scene.fuzz(&harness("quadratic.c"), "--execs 5000 --seed 3 --max-size 1000 --no-plotting").ended();
    let findings = scene.summary()["findings"].as_array().expect("a list").clone();
    assert!(!findings.is_empty());
    let report = |options: &[&str]| run(&mut scene.quagmire(&[&["report", "out", "--format"], options].concat()));
    let lines = report(&["jsonl"]).ended().stdout;
    let read: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(read, findings);
    let csv = report(&["csv"]).ended().stdout;
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| rows[0].iter().position(|&column| column == name).expect("a column");
    assert_eq!(rows.len(), 1 + findings.len(), "{csv}");
    for (row, finding) in rows[1..].iter().zip(&findings) {
        assert_eq!(row[column("kind")], finding["kind"].as_str().expect("a kind"));
        // fields after the paths, which are quoted for their commas, count from the end
        let from_the_end = rows[0].len() - column("instructions");
        let amount: u64 = row[row.len() - from_the_end].parse().expect("a number");
        assert_eq!(Some(amount), finding["costs"][0]["amount"].as_u64(), "{csv}");
    }
    for (format, text) in [("jsonl", &lines), ("csv", &csv)] {
        assert_eq!(report(&[format, "-o", "findings"]).ended().stdout, "");
        assert_eq!(&fs::read_to_string(scene.path("findings")).expect("a file"), text);
    }
}

#[test]
fn findings_that_cannot_be_exported_are_an_error_with_the_remedy() {
    let scene = Scene::new(SEED);
    let report = |options: &[&str]| run(&mut scene.quagmire(&[&["report"], options].concat()));
    report(&["seeds", "--format", "csv"]).refused(1, &["seeds holds no summary.json", "output folder"]);
    report(&["nowhere", "--format", "jsonl"]).refused(1, &["there is no folder nowhere", "output folder"]);
    report(&["nowhere", "--format", "xml"]).refused(2, &["'xml'", "write one of html"]);
    report(&["nowhere", "-o", "page.html"]).refused(2, &["-o:", "--format"]);
    scene.fuzz(&harness("quadratic.c"), "--execs 300 --seed 3 --max-size 100 --no-plotting --no-confirm").ended();
    report(&["out", "--format", "csv", "-o", "no/such"]).refused(1, &["cannot write no/such"]);
    // a campaign without findings
    assert_eq!(report(&["out", "--format", "jsonl"]).ended().stdout, "");
    assert_eq!(report(&["out", "--format", "csv"]).ended().stdout.lines().count(), 1);
}
