//! Flags of libFuzzer's command line: one table, and the values of a command line.

use std::{collections::BTreeMap, fmt::Write as _};

use quagmire_base::error::{Error, Result};

/// A flag, `-name=value`.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// Name, as typed.
    pub name: &'static str,
    /// Value if the flag is not typed.
    pub default: FlagValue,
    /// Effect in a few words; `None` if the flag is accepted without effect.
    pub effect: Option<&'static str>,
}

/// Kind of a flag's values, with the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagValue {
    /// A whole number.
    Number(i64),
    /// Text; empty by default.
    Text,
}

use FlagValue::{Number, Text};

const fn flag(name: &'static str, default: FlagValue, effect: Option<&'static str>) -> Flag {
    Flag { name, default, effect }
}

/// All flags: those of libFuzzer in the order of its help text, then those of quagmire.
pub static FLAGS: &[Flag] = &[
    flag("verbosity", Number(1), Some("0 prints no INFO lines and no progress")),
    flag("seed", Number(0), Some("the number that all random choices follow from; 0 draws one")),
    flag(
        "runs",
        Number(-1),
        Some("executions, seeds included; of files: runs of each. -1 for no limit; 0 runs the corpus only"),
    ),
    flag(
        "max_len",
        Number(0),
        Some(
            "largest size of inputs in bytes, to which seeds are cut; 0: that of the largest seed, at least 4096 and at most 1048576",
        ),
    ),
    flag("len_control", Number(100), None),
    flag(
        "seed_inputs",
        Text,
        Some("more files to start from, with commas between them; or @ and a file with such a list"),
    ),
    flag("keep_seed", Number(0), None),
    flag("cross_over", Number(1), None),
    flag("cross_over_uniform_dist", Number(0), None),
    flag("mutate_depth", Number(5), None),
    flag("reduce_depth", Number(0), None),
    flag("shuffle", Number(1), None),
    flag("prefer_small", Number(1), None),
    flag("timeout", Number(1200), Some("seconds after which a run is a timeout; 0 for no limit")),
    flag("error_exitcode", Number(77), Some("exit code for a crash")),
    flag("timeout_exitcode", Number(70), Some("exit code for a timeout")),
    flag("max_total_time", Number(0), Some("seconds after which fuzzing ends; 0 for no limit")),
    flag("help", Number(0), Some("prints this table")),
    flag(
        "fork",
        Number(0),
        Some("fuzzes on so many cores, and goes on after what -ignore_timeouts, -ignore_ooms and -ignore_crashes name"),
    ),
    flag("fork_corpus_groups", Number(0), None),
    flag("ignore_timeouts", Number(1), Some("with -fork: goes on after a timeout")),
    flag("ignore_ooms", Number(1), Some("with -fork: goes on after a run out of memory")),
    flag("ignore_crashes", Number(0), Some("with -fork: goes on after a crash")),
    flag("merge", Number(0), Some("copies those files of the other folders into the first that execute more")),
    flag("set_cover_merge", Number(0), None),
    flag("stop_file", Text, None),
    flag("merge_control_file", Text, Some("file with the state of a merge, which a later one continues or reuses")),
    flag("minimize_crash", Number(0), Some("makes the input that crashes smaller, within -runs or -max_total_time")),
    flag("cleanse_crash", Number(0), Some("overwrites bytes of the input that crashes, as far as it still crashes")),
    flag("mutation_graph_file", Text, None),
    flag("use_counters", Number(1), None),
    flag("use_memmem", Number(1), None),
    flag("use_value_profile", Number(0), None),
    flag("use_cmp", Number(1), None),
    flag("shrink", Number(0), None),
    flag("reduce_inputs", Number(1), None),
    flag("jobs", Number(0), Some("runs so many processes, with output in fuzz-N.log")),
    flag("workers", Number(0), Some("number of those that run at a time; 0: half as many as there are cores")),
    flag("reload", Number(1), Some("seconds between two looks for new files in the folders; 0 for none")),
    flag("report_slow_units", Number(10), None),
    flag("only_ascii", Number(0), None),
    flag("dict", Text, Some("file of tokens to insert")),
    flag("artifact_prefix", Text, Some("start of the paths of artifacts; a folder ends with /")),
    flag("exact_artifact_path", Text, Some("path of the artifact, instead of a prefix and a name")),
    flag("print_pcs", Number(0), None),
    flag("print_funcs", Number(2), None),
    flag("print_final_stats", Number(0), Some("prints stat:: lines at the end")),
    flag("print_corpus_stats", Number(0), None),
    flag("print_coverage", Number(0), None),
    flag("print_full_coverage", Number(0), None),
    flag("dump_coverage", Number(0), None),
    flag("handle_segv", Number(1), None),
    flag("handle_bus", Number(1), None),
    flag("handle_abrt", Number(1), None),
    flag("handle_ill", Number(1), None),
    flag("handle_fpe", Number(1), None),
    flag("handle_int", Number(1), None),
    flag("handle_term", Number(1), None),
    flag("handle_xfsz", Number(1), None),
    flag("handle_usr1", Number(1), None),
    flag("handle_usr2", Number(1), None),
    flag("handle_winexcept", Number(1), None),
    flag("close_fd_mask", Number(0), Some("takes the target its standard output (1), standard error (2), or both (3)")),
    flag("detect_leaks", Number(1), None),
    flag("purge_allocator_interval", Number(1), None),
    flag("trace_malloc", Number(0), None),
    flag("rss_limit_mb", Number(2048), Some("memory in MiB above which a run is out of memory; 0 for no limit")),
    flag(
        "malloc_limit_mb",
        Number(0),
        Some("size in MiB from which one allocation is out of memory, told by sanitizers only; 0: -rss_limit_mb"),
    ),
    flag("exit_on_src_pos", Text, None),
    flag("exit_on_item", Text, None),
    flag("ignore_remaining_args", Number(0), Some("ignores the arguments after it")),
    flag("focus_function", Text, None),
    flag("entropic", Number(1), None),
    flag("entropic_number_of_rarest_features", Number(100), None),
    flag("entropic_scale_per_exec_time", Number(0), None),
    flag("analyze_dict", Number(0), None),
    flag("use_clang_coverage", Number(0), None),
    flag("data_flow_trace", Text, None),
    flag("collect_data_flow", Text, None),
    flag("create_missing_dirs", Number(0), Some("creates folders of the command line that do not exist")),
    flag(
        "cut_after",
        Number(0),
        Some("own: cuts a run off after so many seconds, and reports it as one of -timeout; 0: -timeout"),
    ),
    flag(
        "degradations",
        Number(0),
        Some(
            "own: 1 makes a confirmed degradation fail as a timeout does, in fuzzing and in runs of files; ordinary inputs are those of NAME_seed_corpus.zip or the folder NAME_seed_corpus beside the harness",
        ),
    ),
    flag(
        "degradation_margin",
        Number(0),
        Some("own: percent by which an input has to exceed the threshold of degradations in runs of files"),
    ),
];

/// Flags whose negative values make no sense, unlike those that stand for no limit.
const NOT_NEGATIVE: [&str; 4] = ["max_len", "fork", "jobs", "workers"];

/// Values of the flags of one command line.
#[derive(Clone, Debug, Default)]
pub(super) struct Flags {
    numbers: BTreeMap<&'static str, i64>,
    texts: BTreeMap<&'static str, String>,
}

/// A command line: flags, and the paths of files and folders.
#[derive(Clone, Debug, Default)]
pub(super) struct Arguments {
    pub(super) flags: Flags,
    pub(super) paths: Vec<String>,
    /// One line for each flag that is not known.
    pub(super) warnings: Vec<String>,
}

/// Name and value of an argument of the form `-name=value`.
pub(super) fn split(argument: &str) -> Option<(&str, &str)> {
    let (name, value) = argument.strip_prefix('-')?.split_once('=')?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then_some((name, value))
}

impl Arguments {
    /// Parses the arguments after the program's name. The last of several values of a flag counts; arguments that begin
    /// with `--` are ignored.
    ///
    /// # Errors
    /// A usage error for an invalid number.
    pub(super) fn parse(arguments: &[String]) -> Result<Self> {
        let mut parsed = Self::default();
        for argument in arguments {
            if argument.starts_with("--") {
                continue;
            }
            if !argument.starts_with('-') || argument == "-" {
                parsed.paths.push(argument.clone());
                continue;
            }
            let known = split(argument).and_then(|(name, value)| {
                let flag = FLAGS.iter().find(|flag| flag.name == name)?;
                Some((flag, value))
            });
            match known {
                Some((flag, value)) => parsed.flags.set(flag, value)?,
                None => parsed
                    .warnings
                    .push(format!("WARNING: unrecognized flag '{argument}'; use -help=1 to list all flags")),
            }
            if parsed.flags.is_on("ignore_remaining_args") {
                break;
            }
        }
        Ok(parsed)
    }
}

impl Flags {
    fn set(&mut self, flag: &'static Flag, value: &str) -> Result<()> {
        match flag.default {
            Text => drop(self.texts.insert(flag.name, value.to_owned())),
            Number(default) => {
                let number = value.parse().map_err(|_| {
                    let name = flag.name;
                    Error::other(format!("-{name}={value}: not a whole number: write one such as -{name}={default}"))
                })?;
                if number < 0 && NOT_NEGATIVE.contains(&flag.name) {
                    let name = flag.name;
                    return Err(Error::other(format!("-{name}={value}: less than nothing: write a number from 0")));
                }
                self.numbers.insert(flag.name, number);
            }
        }
        Ok(())
    }

    /// Value of a flag that takes a number.
    ///
    /// # Panics
    /// If the table has no such flag.
    pub(super) fn number(&self, name: &str) -> i64 {
        let default = || match FLAGS.iter().find(|flag| flag.name == name).map(|flag| flag.default) {
            Some(Number(default)) => default,
            _ => unreachable!("-{name} is no flag with a number"),
        };
        self.numbers.get(name).copied().unwrap_or_else(default)
    }

    /// Value of a flag that takes a number, as a count: `None` for 0 and less.
    pub(super) fn count(&self, name: &str) -> Option<u64> {
        u64::try_from(self.number(name)).ok().filter(|&count| count > 0)
    }

    /// Flags that were typed with another value than their default, but have no effect.
    pub(super) fn without_effect(&self) -> impl Iterator<Item = &'static str> {
        let is_other = |flag: &&Flag| match flag.default {
            Number(default) => self.number(flag.name) != default,
            Text => self.text(flag.name).is_some(),
        };
        FLAGS.iter().filter(|flag| flag.effect.is_none()).filter(is_other).map(|flag| flag.name)
    }

    /// Whether a flag is on: its number is not 0.
    pub(super) fn is_on(&self, name: &str) -> bool {
        self.number(name) != 0
    }

    /// Value of a flag that takes text; `None` if it is not typed, or empty.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.texts.get(name).map(String::as_str).filter(|text| !text.is_empty())
    }
}

/// Help text: how to call `program`, and the table of flags.
pub(super) fn help(program: &str) -> String {
    let mut text = format!(
        "Usage:\n\n\
         To run fuzzing pass 0 or more directories.\n\
         {program} [-flag1=val1 [-flag2=val2 ...] ] [dir1 [dir2 ...] ]\n\n\
         To run individual tests without fuzzing pass 1 or more files:\n\
         {program} [-flag1=val1 [-flag2=val2 ...] ] file1 [file2 ...]\n\n\
         Flags: (strictly in form -flag=value)\n"
    );
    for flag in FLAGS {
        let default = match flag.default {
            Number(default) => default.to_string(),
            Text => String::new(),
        };
        let _ = writeln!(text, " {:<36}\t{default}\t{}", flag.name, flag.effect.unwrap_or("accepted, without effect"));
    }
    text + "\nFlags starting with '--' will be ignored.\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Arguments> {
        Arguments::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn the_last_value_of_a_flag_counts_and_two_dashes_are_ignored() {
        let parsed = parse("-- -runs=3 a --in=b -runs=-1 -dict=x b").unwrap();
        assert_eq!(parsed.flags.number("runs"), -1);
        assert_eq!(parsed.flags.text("dict"), Some("x"));
        assert_eq!((parsed.paths, parsed.warnings.len()), (vec!["a".to_owned(), "b".to_owned()], 0));
        assert_eq!((parsed.flags.number("timeout"), parsed.flags.text("artifact_prefix")), (1200, None));
    }

    #[test]
    fn unknown_flags_warn_and_numbers_that_are_none_are_refused() {
        let parsed = parse("-bogus=1 -x").unwrap();
        assert_eq!(parsed.warnings[0], "WARNING: unrecognized flag '-bogus=1'; use -help=1 to list all flags");
        assert_eq!(parsed.warnings.len(), 2);
        for wrong in ["-runs=abc", "-runs=", "-max_len=1k", "-seed=99999999999999999999"] {
            let error = parse(wrong).unwrap_err();
            assert_eq!(error.code as i32, 1, "{error}");
            assert!(error.message.contains(wrong) && error.message.contains("whole number"), "{error}");
        }
    }

    #[test]
    fn flags_without_effect_are_told_if_they_ask_for_something() {
        let flags = parse("-entropic=1 -use_value_profile=1 -stop_file=x -runs=3").unwrap().flags;
        assert_eq!(flags.without_effect().collect::<Vec<_>>(), ["stop_file", "use_value_profile"]);
        let error = parse("-max_len=-5").unwrap_err();
        assert!(error.message.contains("-max_len=-5: less than nothing"), "{error}");
    }

    #[test]
    fn what_follows_ignore_remaining_args_is_ignored() {
        let parsed = parse("a -ignore_remaining_args=1 b -nonsense=2").unwrap();
        assert_eq!((parsed.paths, parsed.warnings.len()), (vec!["a".to_owned()], 0));
    }

    #[test]
    fn every_flag_has_a_name_of_its_own_and_is_in_the_help_text() {
        let text = help("./h");
        for (at, flag) in FLAGS.iter().enumerate() {
            assert!(FLAGS[..at].iter().all(|other| other.name != flag.name), "{}", flag.name);
            assert!(split(&format!("-{}=1", flag.name)).is_some() && text.contains(&format!(" {} ", flag.name)));
        }
    }
}
