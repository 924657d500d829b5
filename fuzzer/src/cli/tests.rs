//! Tests of command lines as typed.

use super::*;
use crate::commands::{parse_for_quagmire, quagmire};
use quagmire_results::exporters::EXPORTERS;
use std::any::Any;
use std::{fs, path::PathBuf};

fn of_quagmire(line: &str) -> Result<Parsed, Stop> {
    parse_for_quagmire(line.split_whitespace(), None)
}

fn harness(line: &str) -> Result<Parsed, Stop> {
    parse_for_harness(line.split_whitespace())
}

fn parsed<T: Command>(parsed: Result<Parsed, Stop>) -> T {
    let command = parsed.unwrap_or_else(|stop| panic!("{}", stop.text)).command;
    *(command as Box<dyn Any>).downcast::<T>().expect("another command")
}

fn replay(command: Result<Parsed, Stop>) -> ReplayOptions {
    parsed(command)
}

fn fuzz(command: Result<Parsed, Stop>) -> Options {
    parsed(command)
}

fn refused(command: Result<Parsed, Stop>) -> Stop {
    match command.and_then(|parsed| Ok(parsed.command.check()?)) {
        Err(stop) => stop,
        Ok(()) => panic!("this is no error"),
    }
}

/// Output of a command line at a width independent of the terminal.
fn printed(command: clap::Command, line: &str) -> String {
    let stop = Stop::from(command.term_width(100).try_get_matches_from(line.split_whitespace()).unwrap_err());
    assert_eq!(stop.code, ExitCode::Ended);
    stop.text
}

#[test]
fn help_texts() {
    insta::assert_snapshot!("quagmire", printed(quagmire(), "quagmire --help"));
    insta::assert_snapshot!("quagmire_fuzz", printed(quagmire(), "quagmire fuzz --help"));
    insta::assert_snapshot!("quagmire_replay", printed(quagmire(), "quagmire replay --help"));
    insta::assert_snapshot!("quagmire_compare", printed(quagmire(), "quagmire compare --help"));
    insta::assert_snapshot!("quagmire_mine", printed(quagmire(), "quagmire mine --help"));
    insta::assert_snapshot!("quagmire_report", printed(quagmire(), "quagmire report --help"));
    insta::assert_snapshot!("quagmire_generate", printed(quagmire(), "quagmire generate --help"));
    let harness = || harness_command(&["./harness".into()]);
    insta::assert_snapshot!("harness", printed(harness(), "./harness --help"));
    insta::assert_snapshot!("harness_mine", printed(harness(), "./harness mine --help"));
    insta::assert_snapshot!("harness_replay", printed(harness(), "./harness replay --help"));
}

#[test]
fn what_follows_the_dashes_belongs_to_the_program() {
    let args = fuzz(of_quagmire("quagmire fuzz -i a b -i c -o out -- ./xmllint --huge -o x @@"));
    assert_eq!(args.seeds, ["a", "b", "c"].map(PathBuf::from));
    assert_eq!(args.target.program, ["./xmllint", "--huge", "-o", "x", "@@"]);
    let args = replay(of_quagmire("quagmire replay -n 3 --json a -i seed b -- ./xmllint @@"));
    assert_eq!(args.inputs, ["a", "b"].map(PathBuf::from));
    assert_eq!(args.seeds, [PathBuf::from("seed")]);
    assert_eq!((args.repeats, args.json), (Some(3), true));
}

#[test]
fn a_missing_program_is_a_usage_error_that_shows_where_it_goes() {
    for line in ["quagmire fuzz -i a -o b", "quagmire replay a"] {
        let stop = refused(of_quagmire(line));
        assert_eq!(stop.code, ExitCode::Usage);
        assert!(stop.text.starts_with("quagmire: no program") && stop.text.contains("-- PROGRAM"), "{}", stop.text);
    }
}

#[test]
fn unknown_options_and_commands_are_usage_errors() {
    for line in ["quagmire fuzz --tiem 3 -- p", "quagmire bake", "quagmire", "quagmire fuzz -i -- p"] {
        let stop = refused(of_quagmire(line));
        assert_eq!(stop.code, ExitCode::Usage, "{line}: {}", stop.text);
    }
    assert!(refused(of_quagmire("quagmire fuzz --tiem 3 -- p")).text.starts_with("quagmire: unexpected argument"));
}

#[test]
fn a_format_that_does_not_exist_is_a_usage_error_that_lists_those_that_do() {
    let stop = refused(of_quagmire("quagmire report out --format cvs"));
    assert_eq!(stop.code, ExitCode::Usage);
    let names: Vec<&str> = EXPORTERS.iter().map(|exporter| exporter.name).collect();
    let remedy = format!("(write one of html, {})\n", names.join(", "));
    assert!(stop.text.contains("'cvs'") && stop.text.ends_with(&remedy), "{}", stop.text);
}

#[test]
fn a_harness_takes_the_options_of_fuzz() {
    let args = fuzz(harness("./harness -i a b -o out --time 3s"));
    assert_eq!(args.seeds.len(), 2);
    assert_eq!(args.time.as_secs(), 3);
    assert_eq!(args.target.command, ["./harness", "-i", "a", "b", "-o", "out", "--time", "3s"]);
    assert!(args.target.program.is_empty());
}

#[test]
fn a_harness_replays_the_files_that_it_is_given_once() {
    let args = replay(harness("./harness --hang-timeout 3s slow1 slow2"));
    assert_eq!(args.inputs, ["slow1", "slow2"].map(PathBuf::from));
    assert_eq!((args.repeats, args.target.hang_timeout.as_secs()), (Some(1), 3));
    assert_eq!(args.target.command.len(), 5);
    let args = replay(harness("./harness replay -n 7 --json slow1 slow2"));
    assert_eq!((args.repeats, args.json, args.inputs.len()), (Some(7), true, 2));
}

#[test]
fn a_harness_refuses_options_that_a_replay_would_ignore() {
    for (line, flag) in [
        ("./harness --time 3s file", "--time"),
        ("./harness -o out file", "--output"),
        ("./harness --max-size 3 file", "--max-size"),
    ] {
        let stop = refused(harness(line));
        assert_eq!(stop.code, ExitCode::Usage);
        assert!(stop.text.contains(flag) && stop.text.contains("-i"), "{}", stop.text);
    }
}

#[test]
fn flags_of_libfuzzer_are_answered_with_the_option_that_does_the_same() {
    for (flag, words) in [
        ("-runs=10", "write --execs 10"),
        ("-max_total_time=60", "write --time 60"),
        ("-max_len=4096", "write --max-size 4096"),
        ("-seed=1", "write --seed 1"),
        ("-dict=words", "write -x words"),
        ("-timeout=25", "write --hang-timeout 25"),
        ("-rss_limit_mb=512", "write --memory-limit 512MiB"),
        ("-jobs=2", "write -j 2"),
        ("-workers=2", "write -j 2"),
        ("-fork=2", "write -j 2"),
        ("-print_final_stats=1", "no option does the same"),
        ("-only_ascii=1", "no option does the same"),
    ] {
        for stop in [harness(&format!("./harness {flag}")), of_quagmire(&format!("quagmire fuzz -i a {flag} -- ./h"))] {
            let stop = refused(stop);
            assert_eq!(stop.code, ExitCode::Usage, "{flag}");
            let start = format!("quagmire: {flag} is a flag of libFuzzer: ");
            assert!(stop.text.starts_with(&start), "{}", stop.text);
            assert!(stop.text.contains(words), "{}", stop.text);
            assert_eq!(stop.text.lines().count(), 1);
        }
    }
    // what follows the dashes is the program's, and a short option may have its value behind it
    assert_eq!(fuzz(of_quagmire("quagmire fuzz -i a -o b -- ./h -runs=10")).target.program, ["./h", "-runs=10"]);
    assert_eq!(fuzz(harness("./harness -i a -oout=x")).output, Some(PathBuf::from("out=x")));
}

#[test]
fn commands_that_a_harness_does_not_have_are_answered_with_what_to_write() {
    for (line, words) in [("./harness fuzz -i a -o b", "directly"), ("./harness report out", "`quagmire report OUT`")] {
        let stop = refused(harness(line));
        assert!(stop.code == ExitCode::Usage && stop.text.contains(words), "{}", stop.text);
    }
    // a file that exists is an input, whatever its name
    assert_eq!(replay(harness("./harness src")).inputs, [PathBuf::from("src")]);
}

#[test]
fn habits_from_other_fuzzers_are_answered_with_our_options() {
    for (line, words) in [
        ("quagmire fuzz --corpus in -o out -- ./p", "write -i DIR"),
        ("quagmire fuzz --corpus=in -o out -- ./p", "write -i DIR"),
        ("quagmire fuzz -i in -o out -t 1000 -- ./p", "write --hang-timeout DURATION"),
        ("quagmire fuzz -i in -o out -m none -- ./p", "write --memory-limit SIZE"),
        ("quagmire fuzz -i in -o out -S one -- ./p", "write --sync DIR --name NAME"),
        ("quagmire fuzz -i in -o out ./prog @@", "follows `--`: -- ./program @@"),
        ("quagmire fuzz -i in -o out --jobs 4 -- ./p", "write -j N"),
        ("quagmire fuzz -w in -o out -- ./p", "write -i FILE"),
        ("quagmire fuzz -i in -o out -mpr unitary -- ./p", "write --mutations-per-rule STRATEGY"),
        ("quagmire fuzz -i in -o out -np -- ./p", "write --no-plotting"),
        ("quagmire fuzz -i in -o out -V 60 -- ./p", "write --time DURATION"),
        ("quagmire fuzz -i in -o out -Q -- ./p", "write --uninstrumented"),
        ("quagmire fuzz -i in ./prog @@", "end the command with `-- PROGRAM [ARGS... @@]`"),
    ] {
        let stop = refused(of_quagmire(line));
        assert!(stop.code == ExitCode::Usage && stop.text.contains(words), "{line}: {}", stop.text);
    }
    let stop = refused(harness("./harness --corpus in -o out"));
    assert!(stop.text.contains("write -i DIR"), "{}", stop.text);
}

#[test]
fn an_option_without_its_value_names_no_empty_list() {
    let stop = refused(of_quagmire("quagmire fuzz -i in -o out --mutations-per-rule"));
    assert!(stop.code == ExitCode::Usage && !stop.text.contains("write one of )"), "{}", stop.text);
}

#[test]
fn a_harness_refuses_a_program() {
    for line in ["./harness -i a -o b -- ./other", "./harness replay a -- ./other", "./harness a -- ./other"] {
        let stop = refused(harness(line));
        assert!(stop.code == ExitCode::Usage && stop.text.contains("leave out"), "{}", stop.text);
    }
}

#[test]
fn arguments_that_are_not_utf8_do_not_panic() {
    use std::os::unix::ffi::OsStringExt;
    let odd = OsString::from_vec(b"se\xffed".to_vec());
    let args = ["quagmire", "fuzz", "-i"].map(OsString::from).into_iter().chain([odd.clone()]);
    let args = args.chain(["-o", "out", "--", "p"].map(OsString::from));
    let args = fuzz(parse_for_quagmire(args, None));
    assert_eq!(args.seeds, [PathBuf::from(odd.clone())]);
    assert!(parse_for_quagmire(["quagmire".into(), "fuzz".into(), "--time".into(), odd], None).is_err());
    assert!(parse_for_harness(Vec::<OsString>::new()).is_ok());
}

/// Extension of the file that stands for `@@`.
fn extension(line: &str) -> quagmire_base::error::Result<Option<String>> {
    let words = line.split_whitespace().map(|word| if word == "''" { "" } else { word });
    let mut command = parse_for_quagmire(words, None).map_err(|stop| Error::usage(stop.text))?.command;
    let inputs = command.inputs();
    command.target().expect("a command with a target").extension(&inputs)
}

#[test]
fn an_extension_is_as_typed_or_that_of_all_inputs() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, name).unwrap();
    };
    ["seeds/a.json", "seeds/b.json", "other/c.xml"].into_iter().for_each(write);
    let at = |text: &str| text.replace("DIR", folder.path().to_str().unwrap());
    for (line, expected) in [
        ("fuzz -i DIR/seeds -o DIR/out -- p @@", Some("json")),
        ("fuzz -i DIR/seeds -o DIR/out -- p --in=@@", Some("json")),
        ("fuzz -i DIR/seeds -o DIR/out -- p", None),
        ("fuzz -i DIR/seeds DIR/other -o DIR/out -- p @@", None),
        ("fuzz -i DIR/seeds DIR/other --workloads-filter xml$ -o DIR/out -- p @@", Some("xml")),
        ("fuzz -i DIR/missing -o DIR/out -- p @@", None),
        ("fuzz -e '' -i DIR/seeds -o DIR/out -- p @@", None),
        ("fuzz -e .tar.gz -i DIR/seeds -o DIR/out -- p @@", Some("tar.gz")),
        ("fuzz --generator g.so -i DIR/seeds -o DIR/out -- p @@", None),
        ("fuzz --generator g.so -e xml -i DIR/seeds -o DIR/out -- p @@", Some("xml")),
        ("replay DIR/seeds/a.json -- p @@", Some("json")),
        ("replay -i DIR/other DIR/seeds/a.json -- p @@", None),
        ("growth DIR/seeds/a.json -- p @@", Some("json")),
        ("minimize DIR/seeds/a.json -- p @@", Some("json")),
        ("distill DIR/seeds -o DIR/out -- p @@", Some("json")),
        ("diversity DIR/seeds -- p @@", Some("json")),
        ("mine DIR/seeds -o g -- p @@", Some("json")),
        ("compare DIR/seeds -- p @@ --and q @@", Some("json")),
        ("serve-runs --capacity 1 -e json -- p @@", Some("json")),
    ] {
        assert_eq!(extension(&at(&format!("quagmire {line}"))).unwrap().as_deref(), expected, "{line}");
    }
    for (line, word) in [
        ("replay -e json DIR/seeds/a.json -- p", "-e json has no effect"),
        ("fuzz -e a/b -i DIR/seeds -o DIR/out -- p @@", "-e a/b"),
    ] {
        let error = extension(&at(&format!("quagmire {line}"))).unwrap_err();
        assert!(error.message.contains(word), "{error}");
    }
}

#[test]
fn a_resumed_campaign_keeps_its_extension() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str| fs::write(folder.path().join(name), "x").unwrap();
    fs::create_dir_all(folder.path().join("out/queue")).unwrap();
    write("a.json");
    let at = |text: &str| extension(&text.replace("DIR", folder.path().to_str().unwrap())).unwrap();
    let line = "quagmire fuzz --resume -i DIR/a.json -o DIR/out -- p @@";
    assert_eq!(at(line).as_deref(), Some("json"));
    write("out/queue/.unfinished-1-2");
    assert_eq!(at(line).as_deref(), Some("json"));
    write("out/queue/id_000000,orig_a.json");
    write("out/queue/id_000001,src_000000,cost_1.0,op_T.1");
    assert_eq!(at(line), None);
    fs::remove_file(folder.path().join("out/queue/id_000000,orig_a.json")).unwrap();
    write("out/queue/id_000001,src_000000,cost_1.0,op_T.1.xml");
    fs::remove_file(folder.path().join("out/queue/id_000001,src_000000,cost_1.0,op_T.1")).unwrap();
    assert_eq!(at(line).as_deref(), Some("xml"));
    assert_eq!(at(&line.replace("--resume", "--force")).as_deref(), Some("json"));
}

#[test]
fn options_that_a_command_would_ignore_are_refused() {
    for (line, word) in [
        ("replay -- p", "no inputs"),
        ("replay a -n0 -- p", "--repeats 0: give a whole number from 1"),
        ("replay a --lcov all.info --annotate a.c -- p", "--lcov and --annotate"),
        ("replay a --lcov all.info --mask -- p", "--lcov and --mask"),
        ("replay a --lcov all.info --json -- p", "--lcov and --json"),
        ("replay a --lcov all.info -i b -- p", "--lcov and --seeds"),
        ("replay a --lcov all.info -n 3 -- p", "--lcov and --repeats"),
        ("replay a --lcov all.info --against-all -- p", "--lcov and --against-all"),
        ("replay a --mask -i b -- p", "--mask and --seeds"),
        ("replay a --branch f -- p", "add --mask"),
        ("replay a --exact -- p", "add --mask"),
        ("growth a --verify=ten -- p", "such as 10x"),
        ("growth a --verify=0x -- p", "such as 10x"),
        ("growth a --cost lines -- p", "write one of instructions"),
        ("generate --grammar g -o o -n 0", "--number 0 is not a count"),
        ("generate --grammar g -o o -n 1 --size 2GiB", "--size 2GiB is too large"),
        ("mutants score a --in-order name -- p", "write one of cost, mtime"),
        ("mutants score a --slower inf -- p", "a number above 1"),
        ("mutants bench -i a -o b --fuzzer honggfuzz=x -- p", "are run by --script honggfuzz=FILE"),
    ] {
        let stop = refused(of_quagmire(&format!("quagmire {line}")));
        assert!(stop.code == ExitCode::Usage && stop.text.contains(word), "{line}: {}", stop.text);
    }
    for (options, word) in [
        ("-o page.html", "-o"),
        ("--format csv --time 3s", "--time has no meaning with --format csv"),
        ("--format csv --source-root src", "--source-root"),
        ("--source-root src", "--source-root"),
        ("--format jsonl --no-plotting", "--no-plotting has no meaning with --format jsonl"),
    ] {
        let report =
            of_quagmire(&format!("quagmire report out {options}")).unwrap_or_else(|stop| panic!("{}", stop.text));
        let mut report = report.command;
        let error = report.run_alone().expect("a command of quagmire").unwrap_err();
        assert!(error.code == ExitCode::Usage && error.message.contains(word), "{error}");
    }
}
