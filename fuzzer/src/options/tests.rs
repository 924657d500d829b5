//! Tests of resolved options and their errors.

use super::report::ReportTask;
use super::*;
use crate::cli::{Command, parse_for_quagmire};
use quagmire_analysis::{options::MaskOptions, rounds::Rounds};
use quagmire_base::error::ExitCode;
use quagmire_results::exporters::EXPORTERS;

/// The options of a command line with `-i seeds -o out` and `extra`.
fn resolve(extra: &[&str]) -> Result<Options> {
    resolve_exactly(&[&["-i", "seeds", "-o", "out"], extra].concat())
}

fn resolve_exactly(args: &[&str]) -> Result<Options> {
    match parse_for_quagmire([&["quagmire", "fuzz"], args, &["--", "./program"]].concat(), None) {
        Ok(Command::Fuzz(args)) => Options::resolve(args),
        other => panic!("not a fuzz command: {other:?}"),
    }
}

#[test]
fn the_defaults_are_those_of_the_help_text() {
    let options = resolve(&[]).unwrap();
    assert_eq!(options.time, Duration::from_secs(1800));
    assert_eq!(options.execs, None);
    assert_eq!(options.hang_timeout, Duration::from_secs(10));
    assert_eq!(options.memory_limit, 2 << 30);
    assert_eq!(options.cost, [Resource::Instructions]);
    assert_eq!(options.threshold, 2.0);
    assert_eq!(options.size, SizeLimit::Growing { first: 1024, most: 1_000_000 });
    assert_eq!(options.color, ColorChoice::Auto);
    assert!(options.confirm && !options.resume && !options.force && !options.quiet && !options.debug_target);
    assert!(options.rules.is_none() && options.input_type.is_none() && options.workloads_filter.is_none());
    assert_eq!(options.program, ["./program"]);
    assert_eq!(options.command, ["quagmire", "fuzz", "-i", "seeds", "-o", "out", "--", "./program"]);
}

#[test]
fn every_option_is_taken() {
    let options = resolve(&[
        "-i",
        "more",
        "and more",
        "--time",
        "1.5m",
        "--execs",
        "10",
        "--hang-timeout",
        "500ms",
        "--memory-limit",
        "0",
        "--cost",
        "time, instructions,time",
        "--threshold",
        "1.2",
        "--max-size-ratio",
        "2.5",
        "--rules",
        "T,B.6",
        "--regex-rules",
        "r.yaml",
        "--regex-rules=s.yaml",
        "--input-type",
        "xml",
        "--workloads-filter",
        r"\.xml$",
        "--dict",
        "a",
        "-x",
        "b",
        "--seed",
        "42",
        "--resume",
        "--quiet",
        "--color",
        "never",
        "--debug-target",
        "--no-confirm",
    ])
    .unwrap();
    assert_eq!(options.seeds, ["seeds", "more", "and more"].map(PathBuf::from));
    assert_eq!(options.time, Duration::from_secs(90));
    assert_eq!((options.execs, options.memory_limit, options.seed), (Some(10), 0, 42));
    assert_eq!(options.hang_timeout, Duration::from_millis(500));
    assert_eq!(options.cost, [Resource::Time, Resource::Instructions]);
    assert_eq!(options.size, SizeLimit::Ratio(2.5));
    assert_eq!(options.rules.as_deref(), Some("T,B.6"));
    assert_eq!(options.regex_rules, ["r.yaml", "s.yaml"].map(PathBuf::from));
    assert_eq!(options.input_type, Some(InputType::Xml));
    assert!(options.workloads_filter.unwrap().takes(std::path::Path::new("a/b.xml")).unwrap());
    assert_eq!(options.dictionaries, ["a", "b"].map(PathBuf::from));
    assert!(options.resume && options.quiet && options.debug_target && !options.confirm);
    assert_eq!(options.color, ColorChoice::Never);
}

#[test]
fn every_bad_value_is_one_line_that_names_the_flag_and_the_remedy() {
    for (args, flag, remedy) in [
        (&["--time", "0"] as &[&str], "--time", "give more"),
        (&["--time", "soon"], "--time", "write 90"),
        (&["--time", "-5"], "--time", "write 90"),
        (&["--execs", "0"], "--execs", "at least 1"),
        (&["--execs", "many"], "--execs", "write a whole number"),
        (&["--hang-timeout", "9ms"], "--hang-timeout", "at least 10ms"),
        (&["--hang-timeout", "x"], "--hang-timeout", "write 90"),
        (&["--memory-limit", "2"], "--memory-limit", "at least 16MiB"),
        (&["--memory-limit", "lots"], "--memory-limit", "write 4096"),
        (&["--cost", "money"], "--cost", "write one or more of instructions, edges, hottest-edge, cycles, time, heap"),
        (&["--cost", ""], "--cost", "write one or more of"),
        (&["--mutations-per-rule", "many"], "--mutations-per-rule", "write one of unitary, proportional"),
        (&["--coverage-increase-rate", "0.9"], "--coverage-increase-rate", "at least 1"),
        (&["--coverage-increase-rate", "NaN"], "--coverage-increase-rate", "a number from 1"),
        (&["--interesting-files-limit", "0"], "--interesting-files-limit", "at least 1"),
        (&["--exec-limit", "-3"], "--exec-limit", "a whole number"),
        (&["--focus", "bugs"], "--focus", "write cost, coverage or balanced"),
        (&["--parents", "mother"], "--parents", "write best, intervals or both"),
        (&["--threshold", "1"], "--threshold", "more than 1"),
        (&["--threshold", "-2"], "--threshold", "more than 1"),
        (&["--threshold", "-inf"], "--threshold", "more than 1"),
        (&["--threshold", "inf"], "--threshold", "a number above 1"),
        (&["--threshold", "NaN"], "--threshold", "a number above 1"),
        (&["--threshold", "two"], "--threshold", "a number above 1"),
        (&["--max-size", "0"], "--max-size", "at least 1"),
        (&["--max-size", "big"], "--max-size", "write 4096"),
        (&["--max-size-increase", "-1"], "--max-size-increase", "write 4096"),
        (&["--max-size-ratio", "0.5"], "--max-size-ratio", "at least 1"),
        (&["--max-size-ratio", "inf"], "--max-size-ratio", "a number from 1"),
        (&["--max-size", "9", "--max-size-ratio", "2"], "--max-size-ratio", "give one of them"),
        (&["--max-size", "9", "--max-size-increase", "2"], "--max-size-increase", "give one of them"),
        (&["--input-type", "json"], "--input-type", "write text, binary or xml"),
        (&["--workloads-filter", "(a"], "--workloads-filter", "parenthesis"),
        (&["--workloads-filter", "[b-a]"], "--workloads-filter", "correct it"),
        (&["--seed", "-1"], "--seed", "a whole number from 0"),
        (&["--seed", "18446744073709551616"], "--seed", "a whole number from 0"),
        (&["--resume", "--force"], "--resume", "give one of them"),
        (&["--color", "red"], "--color", "auto, always or never"),
        (&["--steer", "heap"], "--steer", "write instructions, time or cycles"),
        (&["--steer", "time", "--cost", "time,heap"], "--cost", "leave out one of them"),
        (&["--steer", "cycles", "--skip-coverage-testing"], "--steer", "leave out --skip-coverage-testing"),
    ] {
        // `--flag=value`, since values may start with a dash
        let joined: Vec<String> = match args {
            [flag, value, rest @ ..] if !value.starts_with("--") => {
                [vec![format!("{flag}={value}")], rest.iter().map(|s| s.to_string()).collect()].concat()
            }
            other => other.iter().map(|s| s.to_string()).collect(),
        };
        let error = resolve(&joined.iter().map(String::as_str).collect::<Vec<_>>()).unwrap_err();
        assert_eq!(error.code, quagmire_base::error::ExitCode::Usage, "{args:?}");
        let message = &error.message;
        assert!(message.contains(flag) && message.contains(remedy) && !message.contains('\n'), "{args:?}: {message}");
    }
}

#[test]
fn what_the_search_is_steered_by_is_a_cost_and_does_not_repeat() {
    let options = resolve(&[]).unwrap();
    assert_eq!((options.steer, options.objective().noisy(), options.is_repeatable()), (None, None, true));
    assert_eq!(resolve(&["--steer", "instructions", "--cost", "heap"]).unwrap().cost, [Resource::Heap]);
    let options = resolve(&["--steer", "time"]).unwrap();
    assert_eq!(options.cost, [Resource::Instructions, Resource::Time]);
    assert_eq!(options.objective().resources(), [Resource::Time]);
    assert!(!options.is_repeatable());
    assert_eq!(resolve(&["--steer", "cycles", "--cost", "cycles"]).unwrap().cost, [Resource::Cycles]);
    assert!(!resolve(&["--sync", "meeting"]).unwrap().is_repeatable());
}

#[test]
fn seeds_and_an_output_folder_are_needed() {
    assert!(resolve_exactly(&["-o", "out"]).unwrap_err().message.contains("-i"));
    assert!(resolve_exactly(&["-i", "seeds"]).unwrap_err().message.contains("-o"));
}

#[test]
fn size_limits_never_cut_the_largest_seed() {
    assert_eq!(SizeLimit::Absolute(10).resolve(100), 100);
    assert_eq!(SizeLimit::Absolute(1000).resolve(100), 1000);
    assert_eq!(SizeLimit::Increase(10).resolve(100), 110);
    assert_eq!(SizeLimit::Increase(u64::MAX).resolve(100), u64::MAX);
    assert_eq!(SizeLimit::Ratio(2.5).resolve(100), 250);
    assert_eq!(SizeLimit::Ratio(1e300).resolve(100), u64::MAX);
    assert_eq!(SizeLimit::Ratio(1.0).resolve((1 << 53) + 1), (1 << 53) + 1);
}

#[test]
fn a_seed_number_that_is_not_given_is_drawn_anew() {
    let drawn: std::collections::HashSet<u64> = (0..8).map(|_| resolve(&[]).unwrap().seed).collect();
    assert!(drawn.len() > 1 && drawn.iter().all(|&seed| seed <= u64::from(u32::MAX)));
}

#[test]
fn replay_refuses_no_inputs_and_no_repeats() {
    let replay = |args: &[&str]| match parse_for_quagmire([&["quagmire", "replay"], args, &["--", "p"]].concat(), None)
    {
        Ok(Command::Replay(args)) => args.resolve(),
        other => panic!("not a replay command: {other:?}"),
    };
    assert_eq!(replay(&["a"]).unwrap().rounds, Rounds::UntilClear(Duration::from_secs(2)));
    assert_eq!(replay(&["a", "-n", "7"]).unwrap().rounds, Rounds::Fixed(7));
    assert!(replay(&[]).unwrap_err().message.contains("no inputs"));
    for repeats in ["0", "-1", "x", "99999999999"] {
        let error = replay(&["a", &format!("-n{repeats}")]).unwrap_err();
        assert!(error.message.contains("a whole number from 1"), "{error}");
    }
}

#[test]
fn options_of_a_report_that_its_format_would_ignore_are_refused() {
    let report = |line: &str| match parse_for_quagmire(line.split_whitespace(), None) {
        Ok(Command::Report(args)) => args.resolve(),
        other => panic!("not a report: {other:?}"),
    };
    let page = report("quagmire report out --no-plotting --time 3s").unwrap();
    assert!(matches!(page, ReportTask::Page { shown: None, options } if !options.graphs), "{page:?}");
    for (line, called) in [("--brief=out /tmp/out", "out"), ("--brief -- out", "out")] {
        let page = report(&format!("quagmire report {line}")).unwrap();
        assert!(
            matches!(&page, ReportTask::Page { shown: Some(shown), .. } if shown.as_os_str() == called),
            "{page:?}"
        );
    }
    for exporter in EXPORTERS {
        let line = format!("quagmire report out --format {} -o file", exporter.name);
        match report(&line).unwrap() {
            ReportTask::Export { exporter: chosen, file, .. } => {
                assert_eq!((chosen.name, file), (exporter.name, Some(PathBuf::from("file"))));
            }
            page => panic!("{line}: {page:?}"),
        }
    }
    for (options, word) in [
        ("-o page.html", "-o"),
        ("--time soon", "--time"),
        ("--format csv --time 3s", "--time has no meaning with --format csv"),
        ("--format csv --source-root src", "--source-root"),
        ("--source-root src", "--source-root"),
        ("--format jsonl --no-plotting", "--no-plotting has no meaning with --format jsonl"),
    ] {
        let error = report(&format!("quagmire report out {options}")).unwrap_err();
        assert!(error.code == ExitCode::Usage && error.message.contains(word), "{error}");
    }
}

#[test]
fn a_tracefile_is_asked_for_alone() {
    let replay = |line: &str| match parse_for_quagmire(line.split_whitespace(), None) {
        Ok(Command::Replay(args)) => args.resolve().map(|options| options.lcov),
        other => panic!("not a replay command: {other:?}"),
    };
    assert_eq!(replay("quagmire replay a --lcov all.info -- p").unwrap(), Some(PathBuf::from("all.info")));
    for other in ["--annotate a.c", "--mask", "--json", "-i b", "-n 3", "--against-all"] {
        let error = replay(&format!("quagmire replay a --lcov all.info {other} -- p")).unwrap_err();
        assert!(error.code == ExitCode::Usage && error.message.contains("--lcov and --"), "{error}");
    }
}

#[test]
fn a_mask_is_asked_for_alone() {
    let replay = |line: &str| match parse_for_quagmire(line.split_whitespace(), None) {
        Ok(Command::Replay(args)) => args.resolve().map(|options| options.mask),
        other => panic!("not a replay command: {other:?}"),
    };
    let mask = replay("quagmire replay --mask --branch f:3 --budget 5s a -- p").unwrap();
    assert_eq!(mask, Some(MaskOptions { branch: Some("f:3".into()), exact: false, budget: Duration::from_secs(5) }));
    assert_eq!(replay("quagmire replay a -- p").unwrap(), None);
    for (options, word) in [
        ("--mask --annotate a.c", "--annotate"),
        ("--mask -i b", "--seeds"),
        ("--branch f", "--mask"),
        ("--exact", "--mask"),
    ] {
        let error = replay(&format!("quagmire replay a {options} -- p")).unwrap_err();
        assert!(error.message.contains(word), "{error}");
    }
}
