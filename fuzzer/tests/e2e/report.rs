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
