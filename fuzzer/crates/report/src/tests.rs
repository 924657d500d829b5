//! Tests of whole reports, made from made-up folders.

use std::fs;

use super::*;
use quagmire_cost::{judgement::Verdict, resource::Resource};
pub(crate) use quagmire_results::testing::example;
use quagmire_results::{
    growth::{Grown, Growth},
    summary::{Finding, FindingCost, FindingKind, Group, Rule, Summary},
};
use tempfile::TempDir;

/// The campaign of the example, with its files.
pub(crate) fn example_folder() -> TempDir {
    folder_of(&example(), b"int main(void) {\n  return 0;                     \n}\n")
}

/// Makes a campaign's folder in which all findings are this input.
fn folder_of(summary: &Summary, input: &[u8]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for name in ["queue", "degradations", "faults", "hangs", "logs"] {
        fs::create_dir(path.join(name)).unwrap();
    }
    summary.write(&path.join("summary.json")).unwrap();
    fs::write(path.join("queue/id_000000,orig_seed.txt"), "int main(void) {\n  return 0;\n}\n").unwrap();
    fs::write(path.join("queue/id_000003,src_000000,cost_2.1,op_T.2"), "int main(void) {\n  return 0;\n}\n}\n")
        .unwrap();
    fs::write(path.join("logs/coverage_plot_data.txt"), "# seconds, ratio\n1.0, 2.5\n12.5, 41.38\n").unwrap();
    fs::write(path.join("logs/degradation_plot_data.txt"), "# seconds, n, ratio\n12.5, 1, 41.38\n").unwrap();
    fs::write(path.join("logs/phases_data.txt"), "0\t1\tseeds\n1\t88\tsearch\n88\t90\tconfirming\n").unwrap();
    for finding in &summary.findings {
        let _ = fs::write(path.join(&finding.path), input);
    }
    folder
}

/// Writes a report and returns its files, by path in the folder.
fn written(folder: &Path, options: ReportOptions) -> Vec<(String, String)> {
    let written = write(folder, None, options).unwrap();
    let paths = written.graphs.iter().chain(&written.diffs).chain([&written.report]);
    paths
        .map(|path| {
            let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect()
}

const ALL: ReportOptions = ReportOptions { deadline: None, graphs: true };

/// Asserts that a page loads nothing from elsewhere.
fn assert_self_contained(name: &str, text: &str) {
    // the namespace is no address that anything is loaded from
    let text = text.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
    for outside in ["http://", "https://", "src=", "url(", "@import", "<link", "<iframe", "<object", "<img", "<base"] {
        assert!(!text.contains(outside), "{outside} in {name}");
    }
    for number in ["NaN", ">inf", "\"inf", " inf"] {
        assert!(!text.contains(number), "{number} in {name}");
    }
}

#[test]
fn a_report_is_complete_and_loads_nothing() {
    let folder = example_folder();
    let files = written(folder.path(), ALL);
    let names: Vec<&str> = files.iter().map(|file| file.0.as_str()).collect();
    assert_eq!(
        names,
        [
            "graphs/coverage_ts.svg",
            "graphs/degradations_ts.svg",
            "graphs/diversity_ts.svg",
            "diffs/id_000013,src_000012,op_T.10.html",
            "diffs/id_000012,src_000003,cost_41.4,op_T.10+T.8.html",
            "report.html"
        ]
    );
    for (name, text) in &files {
        assert_self_contained(name, text);
    }
    let page = &files[5].1;
    for part in [
        "1 input makes <span class=\"code\">./trim</span> 27.1 times slower than is ordinary for its size",
        "./diffs/id_000012%2Csrc_000003%2Ccost_41.4%2Cop_T.10%2BT.8.html",
        "quagmire replay out/hangs/id_000013,src_000012,op_T.10 -- ./trim @@",
        "insert_whitespace",
        "trim.cpp:12",
        "97 %",
        "812,331",
        "29.5x instructions, 27.1x CPU time (26.2x to 27.9x)",
        "ordinary/size_004990",
        "id_000007,src_000003,cost_2.2,bysize_1.6,op_T.2",
        "250 instructions and 2.75 a byte",
        "2.1 %",
        "Example CPU",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn a_page_of_differences_shows_seed_and_parent() {
    let folder = example_folder();
    let files = written(folder.path(), ALL);
    let text = &files[4].1;
    // the style would clutter the snapshot
    let body = text.split_once("<body>").unwrap().1.replace("><", ">\n<");
    insta::assert_snapshot!(body);
}

#[test]
fn without_graphs_nothing_but_the_graphs_is_missing() {
    let folder = example_folder();
    let files = written(folder.path(), ReportOptions { graphs: false, ..ALL });
    assert!(!folder.path().join("graphs").exists());
    let page = &files.last().unwrap().1;
    assert!(!page.contains("Over time") && page.contains("2 causes") && page.contains("class=\"histograms\""));
}

#[test]
fn after_the_deadline_differences_are_left_out_and_the_report_says_so() {
    let folder = example_folder();
    let written = write(folder.path(), None, ReportOptions { deadline: Some(Instant::now()), ..ALL }).unwrap();
    assert_eq!((written.diffs.len(), written.left_out), (0, 2));
    let page = fs::read_to_string(written.report).unwrap();
    assert!(page.contains("2 findings without a page of differences") && !page.contains("href=\"./diffs/"), "{page}");
}

#[test]
fn a_campaign_that_found_nothing_says_what_was_searched() {
    let mut summary = Summary { findings: vec![], groups: vec![], rules: vec![], costs: vec![], ..example() };
    let folder = folder_of(&summary, b"");
    let files = written(folder.path(), ALL);
    let page = &files.last().unwrap().1;
    assert!(page.contains("Nothing that slows") && page.contains("812,331 inputs were run"), "{page}");
    assert!(!folder.path().join("diffs").exists());
    summary.command.push("--no-confirm".into());
    summary.worst = None;
    summary.write(&folder.path().join("summary.json")).unwrap();
    let page = written(folder.path(), ALL).pop().unwrap().1;
    assert!(page.contains("degradations were not judged"), "{page}");
}

#[test]
fn a_folder_of_a_killed_campaign_with_little_in_it_is_reported_too() {
    let folder = tempfile::tempdir().unwrap();
    let summary = Summary { stopped_by: None, noise: None, environment: Default::default(), ..example() };
    summary.write(&folder.path().join("summary.json")).unwrap();
    let files = written(folder.path(), ALL);
    assert!(files.last().unwrap().1.contains("still running, or killed"));
    assert!(files[3].1.contains("The file is not in the folder any more"));
    assert!(files[0].1.contains("nothing rose yet"));
}

/// Text that must never appear unescaped.
const HOSTILE: &str =
    "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>\"'`&lt;\u{202e}\u{2066}\0\n";

/// A campaign in which all text is hostile.
fn hostile() -> Summary {
    let text = || HOSTILE.to_owned();
    let grown = Grown {
        function: text(),
        file: Some(text()),
        line: Some(1),
        count: u64::MAX,
        first_count: 0,
        instructions: u64::MAX,
        first_instructions: 0,
        share: f64::MAX,
    };
    let finding = |kind, path: &str| Finding {
        kind,
        detail: Some(text()),
        path: path.to_owned(),
        parent: Some("javascript:alert(1)".into()),
        root: Some("../../etc/passwd".into()),
        rules: vec![text(), "R.1".into()],
        instructions_ratio: Some(f64::MAX),
        time_ratio: Some(f64::INFINITY),
        hot_function: Some(text()),
        hot_location: Some(text()),
        reproduce: text(),
        seconds: f64::MAX,
        p_value: Some(f64::MAX),
        verdict: Some(Verdict::Maybe),
        costs: vec![FindingCost {
            resource: Resource::Time,
            amount: u64::MAX,
            baseline: 0,
            ratio: f64::MAX,
            ordinary: Some(0),
            ratio_by_size: Some(f64::NAN),
        }],
        growth: Growth { functions: vec![grown.clone()], lines: vec![grown.clone()], around: vec![] },
        ..example().findings[0].clone()
    };
    let rule = Rule { label: "R.1".into(), name: text(), applied: 0, coverage_increases: u64::MAX, degradations: 0 };
    let mut summary = Summary {
        version: text(),
        command: vec![text(), text()],
        started: text(),
        seconds: f64::MAX,
        executions_per_second: f64::MAX,
        rules: vec![Rule { label: text(), ..rule.clone() }, rule],
        groups: vec![Group { title: text(), findings: vec![0, 1, usize::MAX] }],
        findings: vec![
            finding(FindingKind::Degradation, "degradations/<script>alert(1)<"),
            finding(FindingKind::Hang, "hangs/javascript:alert(1)\"onclick='x"),
            finding(FindingKind::Fault, &format!("faults/{}", "x".repeat(400))),
            finding(FindingKind::Fault, "faults/"),
        ],
        ..example()
    };
    summary.target.program = text();
    summary.costs[0].unit = text();
    summary.environment.system = text();
    summary.environment.processor = text();
    summary
}

#[test]
fn hostile_names_and_inputs_are_text_everywhere() {
    let folder = folder_of(&hostile(), HOSTILE.repeat(40).as_bytes());
    fs::write(folder.path().join("logs/phases_data.txt"), format!("0\t1\t{HOSTILE}\n")).unwrap();
    let binary = [HOSTILE.as_bytes(), &[0, 1, 2, 3, 4, 255]].concat();
    fs::write(folder.path().join(&hostile().findings[1].path), binary).unwrap();
    for (name, text) in written(folder.path(), ALL) {
        let scripts = text.matches("<script").count();
        assert_eq!(scripts, usize::from(name == "report.html"), "{name}");
        assert!(!text.contains("<img") && !text.contains("'owned'</script>"), "{name}");
        assert!(!text.contains("href=\"javascript") && !text.contains("passwd\" onclick"), "{name}");
        assert!(!text.contains(['\u{202e}', '\u{2066}', '\0']), "{name}");
        for number in ["NaN", "inf<", "inf\""] {
            assert!(!text.contains(number), "{number} in {name}");
        }
    }
}

#[test]
fn many_large_findings_are_reported_with_the_worst_in_full() {
    let mut summary = example();
    let worst_last = |index: u64| Finding {
        path: format!("degradations/id_{index:06},src_000000"),
        ratio: Some(2.0 + index as f64),
        time_ratio: None,
        costs: vec![],
        ..example().findings[0].clone()
    };
    summary.findings = (0..300).map(worst_last).collect();
    summary.groups.clear();
    let folder = folder_of(&summary, &b"int x; // a line of an ordinary size\n".repeat(300));
    let page = written(folder.path(), ReportOptions { deadline: Some(Instant::now()), graphs: true }).pop().unwrap().1;
    // each is a cause of its own
    assert_eq!(page.matches("<details class=\"finding\"").count(), 50);
    let link = |path: usize| page.find(&format!("degradations/id_{path:06}%2Csrc_000000"));
    assert!(link(299) < link(298) && link(249).is_none(), "{page}");
}

#[test]
fn the_page_answers_in_the_order_of_the_questions() {
    let folder = example_folder();
    let page = written(folder.path(), ALL).pop().unwrap().1;
    let places = [
        "27.1 times slower",
        "<table class=\"causes\">",
        "<h3>Where</h3>",
        "<h3>How the cost grows</h3>",
        "<h3>Next</h3>",
        "<h3>The input</h3>",
        "About the search",
        "<details class=\"about\" id=\"rules\"><summary>",
        "<details class=\"about\" id=\"masks\"><summary>",
    ]
    .map(|part| page.find(part).unwrap_or_else(|| panic!("no {part} in {page}")));
    assert!(places.is_sorted(), "{places:?}");
}
