//! Tests of the options of a campaign and their errors.

use std::any::Any;

use super::*;
use crate::{cli::Parsed, commands::parse_for_quagmire};

/// The options of a command line with `-i seeds -o out` and `extra`.
fn resolve(extra: &[&str]) -> Result<Options> {
    resolve_exactly(&[&["-i", "seeds", "-o", "out"], extra].concat())
}

fn resolve_exactly(args: &[&str]) -> Result<Options> {
    let line = [&["quagmire", "fuzz"], args, &["--", "./program"]].concat();
    let error = |stop: crate::cli::Stop| Error { code: stop.code, message: stop.text.trim_end().to_owned() };
    let Parsed { command, .. } = parse_for_quagmire(line, None).map_err(error)?;
    command.check()?;
    Ok(*(command as Box<dyn Any>).downcast::<Options>().expect("a fuzz command"))
}

#[test]
fn the_defaults_are_those_of_the_help_text() {
    let options = resolve(&[]).unwrap();
    assert_eq!(options.time, Duration::from_secs(1800));
    assert_eq!(options.execs, None);
    assert_eq!(options.target.hang_timeout, Duration::from_secs(10));
    assert_eq!(options.target.memory_limit, 2 << 30);
    assert_eq!(options.confirm.cost, [Resource::Instructions]);
    assert_eq!(options.confirm.threshold, 2.0);
    assert_eq!(options.search.size.limit(), SizeLimit::Growing { first: 1024, most: 1_000_000 });
    assert_eq!(options.display.color, ColorChoice::Auto);
    assert!(
        !options.confirm.no_confirm
            && !options.resume
            && !options.force
            && !options.display.quiet
            && !options.target.debug_target
    );
    assert!(
        options.search.rules.is_none() && options.search.input_type.is_none() && options.workloads_filter.is_none()
    );
    assert_eq!(options.target.program, ["./program"]);
    assert_eq!(options.target.command, ["quagmire", "fuzz", "-i", "seeds", "-o", "out", "--", "./program"]);
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
    assert_eq!((options.execs, options.target.memory_limit, options.search.seed()), (Some(10), 0, 42));
    assert_eq!(options.target.hang_timeout, Duration::from_millis(500));
    assert_eq!(options.confirm.cost, [Resource::Time, Resource::Instructions]);
    assert_eq!(options.search.size.limit(), SizeLimit::Ratio(2.5));
    assert_eq!(options.search.rules.as_deref(), Some("T,B.6"));
    assert_eq!(options.search.regex_rules, ["r.yaml", "s.yaml"].map(PathBuf::from));
    assert_eq!(options.search.input_type, Some(InputType::Xml));
    assert!(options.workloads_filter.unwrap().takes(std::path::Path::new("a/b.xml")).unwrap());
    assert_eq!(options.search.dict, ["a", "b"].map(PathBuf::from));
    assert!(options.resume && options.display.quiet && options.target.debug_target && options.confirm.no_confirm);
    assert_eq!(options.display.color, ColorChoice::Never);
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
        (&["--coverage-increase-rate", "0.9"], "--coverage-increase-rate", "a number from 1"),
        (&["--coverage-increase-rate", "NaN"], "--coverage-increase-rate", "a number from 1"),
        (&["--interesting-files-limit", "0"], "--interesting-files-limit", "at least 1"),
        (&["--exec-limit", "-3"], "--exec-limit", "a whole number"),
        (&["--focus", "bugs"], "--focus", "write one of cost, coverage, balanced"),
        (&["--parents", "mother"], "--parents", "write one of best, intervals, both"),
        (&["--threshold", "1"], "--threshold", "a number above 1"),
        (&["--threshold", "-2"], "--threshold", "a number above 1"),
        (&["--threshold", "-inf"], "--threshold", "a number above 1"),
        (&["--threshold", "inf"], "--threshold", "a number above 1"),
        (&["--threshold", "NaN"], "--threshold", "a number above 1"),
        (&["--threshold", "two"], "--threshold", "a number above 1"),
        (&["--max-size", "0"], "--max-size", "at least 1"),
        (&["--max-size", "big"], "--max-size", "write 4096"),
        (&["--max-size-increase", "-1"], "--max-size-increase", "write 4096"),
        (&["--max-size-ratio", "0.5"], "--max-size-ratio", "a number from 1"),
        (&["--max-size-ratio", "inf"], "--max-size-ratio", "a number from 1"),
        (&["--max-size", "9", "--max-size-ratio", "2"], "--max-size-ratio", "leave one of them out"),
        (&["--max-size", "9", "--max-size-increase", "2"], "--max-size-increase", "leave one of them out"),
        (&["--input-type", "json"], "--input-type", "write one of text, binary, xml"),
        (&["--workloads-filter", "(a"], "--workloads-filter", "parenthesis"),
        (&["--workloads-filter", "[b-a]"], "--workloads-filter", "correct it"),
        (&["--seed", "-1"], "--seed", "a whole number from 0"),
        (&["--seed", "18446744073709551616"], "--seed", "a whole number from 0"),
        (&["--resume", "--force"], "--resume", "leave one of them out"),
        (&["--color", "red"], "--color", "write one of auto, always, never"),
        (&["--steer", "heap"], "--steer", "write one of instructions, time, cycles"),
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
    let options = |extra: &[&str]| {
        let target = TargetInfo::of_harness("./program".into(), Instrumentation::Counts);
        resolve(extra).unwrap().for_target(&target).unwrap()
    };
    let usual = options(&[]);
    assert_eq!((usual.search.steer, usual.objective().noisy(), usual.is_repeatable()), (None, None, true));
    assert_eq!(options(&["--steer", "instructions", "--cost", "heap"]).confirm.cost, [Resource::Heap]);
    let steered = options(&["--steer", "time"]);
    assert_eq!(steered.confirm.cost, [Resource::Instructions, Resource::Time]);
    assert_eq!(steered.objective().resources(), [Resource::Time]);
    assert!(!steered.is_repeatable());
    assert_eq!(options(&["--steer", "cycles", "--cost", "cycles"]).confirm.cost, [Resource::Cycles]);
    assert!(!options(&["--sync", "meeting"]).is_repeatable());
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
    let drawn: std::collections::HashSet<u64> = (0..8).map(|_| resolve(&[]).unwrap().search.seed()).collect();
    assert!(drawn.len() > 1 && drawn.iter().all(|&seed| seed <= u64::from(u32::MAX)));
}

#[test]
fn cores_are_numbers_that_may_be_used() {
    assert_eq!(resolve(&[]).unwrap().cores(), [0usize; 0]);
    let all = core_list("all").unwrap();
    assert_eq!(jobs(&all.len().to_string()).unwrap(), all);
    assert_eq!(resolve(&["-j", "1"]).unwrap().cores(), &all[..1]);
    assert_eq!(core_list(&format!("{0},{0}-{0}", all[0])).unwrap(), all[..1]);
    for wrong in ["", "x", "3-1", "1-", "-", "0,,1", "70000", "1-2-3"] {
        assert!(core_list(wrong).unwrap_err().contains("write all, 0-3 or 0,2"), "{wrong}");
    }
    assert!(core_list("65000").unwrap_err().contains("may not use core 65000"));
    for wrong in ["0", "-1", "two"] {
        assert!(jobs(wrong).unwrap_err().contains("write 1 or more"));
    }
    assert!(jobs("100000").unwrap_err().contains("--cores all"));
    assert!(resolve(&["-j", "1", "--cores", "0"]).unwrap_err().message.contains("-j"));
}

#[test]
fn campaigns_meet_under_plain_names() {
    let meeting = |extra: &[&str]| {
        resolve(extra).map(|options| options.meeting().map(|(folder, name)| (folder.to_owned(), name)))
    };
    assert_eq!(meeting(&[]).unwrap(), None);
    let named = |name: &str| meeting(&["--sync", "dir", &format!("--name={name}")]);
    assert_eq!(named("a-1_B").unwrap(), Some(("dir".into(), "a-1_B".into())));
    for wrong in ["", "a/b", "..", "a b", &"x".repeat(33)] {
        assert!(named(wrong).unwrap_err().message.contains("name of a folder"), "{wrong}");
    }
    assert!(!meeting(&["--sync", "dir"]).unwrap().unwrap().1.is_empty());
    assert!(meeting(&["--name", "a"]).unwrap_err().message.contains("--sync"));
    let inside = resolve_exactly(&["-i", "a", "-o", "dir/out", "--sync", "dir"]).unwrap_err();
    assert!(inside.message.contains("inside of the --sync"), "{inside}");
}
