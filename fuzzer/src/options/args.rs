//! Arguments as typed. Their meaning, defaults and conflicts are handled in [`crate::options`].

mod commands;
mod compare;
mod distill;
mod growth;
mod harness;
mod minimize;
mod mutants;
mod setup;
mod towards;

use crate::options::defaults;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use quagmire_base::error::Result;
use std::path::{Path, PathBuf};

pub use commands::{DiversityArgs, GenerateArgs, MineArgs, ReplayArgs, ReportArgs, TargetArgs, ValidityArgs};
pub use compare::{CompareArgs, ServeRunsArgs};
pub use distill::DistillArgs;
pub use growth::GrowthArgs;
pub use harness::{Harness, HarnessCommand, OF_HARNESS};
pub use minimize::MinimizeArgs;
pub(in crate::options) use mutants::INPUTS_PER_MUTANT;
pub use mutants::{BenchArgs, CompareScoresArgs, ListArgs, MutantsArgs, MutantsCommand, ScoreArgs};
pub use setup::{CompletionsArgs, DoctorArgs, InitArgs, ManArgs};
pub use towards::TowardsArgs;

/// Exit codes of commands that run a program, printed at the end of their help texts.
pub const EXIT_CODES: &str = "\
Exit codes:
  0  ended as asked: by time, executions or Ctrl-C, whatever was found
  1  an error: an unwritable folder, a full disk
  2  the command line does not make sense
  3  the target cannot be used: not instrumented, every seed fails";

/// Those of commands that run none.
const EXIT_CODES_ALONE: &str = "\
Exit codes:
  0  done
  1  an error: an unwritable folder, a full disk
  2  the command line does not make sense";

/// Those of all commands, which `compare` has.
const ALL_EXIT_CODES: &str = "\
Exit codes:
  0  ended as asked: by time, executions or Ctrl-C, whatever was found
  1  an error: an unwritable folder, a full disk
  2  the command line does not make sense
  3  the target cannot be used: not instrumented, every seed fails
  4  compare: the new build is slower
  5  compare --strict: an input is unstable, so that nothing can be said of it";

/// End of the short help, behind the options that most campaigns need.
const MORE_HELP: &str = "\
Example: quagmire fuzz -i seeds -o out --max-size 4000 -- ./harness
--help shows all options and the exit codes.";

/// Options of a search that `-h` shows.
const USUAL: [&str; 14] = [
    "help",
    "seeds",
    "output",
    "resume",
    "time",
    "jobs",
    "cost",
    "max_size",
    "grammar",
    "dict",
    "seed",
    "uninstrumented",
    "hang_timeout",
    "quiet",
];

/// The command line of `quagmire`.
pub fn quagmire() -> clap::Command {
    Quagmire::command().mut_subcommand("fuzz", with_short_help)
}

/// Leaves all but the usual options of a search out of the short help.
pub fn with_short_help(search: clap::Command) -> clap::Command {
    search.after_long_help(EXIT_CODES).after_help(MORE_HELP).mut_args(|arg| {
        let is_usual = USUAL.contains(&arg.get_id().as_str());
        arg.hide_short_help(!is_usual)
    })
}

/// `quagmire`.
#[derive(Debug, Parser)]
#[command(
    name = "quagmire",
    version,
    about = "Finds the inputs that bog a C or C++ program down",
    long_about = "Finds the inputs that bog a C or C++ program down, proves that they do, and keeps them.\n\n\
                  The program is built with quagmire-cc or quagmire-c++ instead of the usual compiler.",
    after_help = ALL_EXIT_CODES,
    disable_help_subcommand = true,
    max_term_width = 110
)]
pub struct Quagmire {
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
}

/// Subcommands of `quagmire`.
#[derive(Debug, Clone, Subcommand)]
#[expect(clippy::large_enum_variant, reason = "there is one, for a moment")]
pub enum Command {
    /// Search for inputs that make the program slow
    #[command(override_usage = "quagmire fuzz -i SEEDS... -o OUT [OPTIONS] -- PROGRAM [ARGS... @@]")]
    Fuzz(FuzzArgs),
    /// Show what given inputs cost
    #[command(
        override_usage = "quagmire replay [OPTIONS] INPUTS... -- PROGRAM [ARGS... @@]",
        after_help = EXIT_CODES
    )]
    Replay(ReplayArgs),
    /// Find the law by which the cost of an input grows with its size
    #[command(
        override_usage = "quagmire growth [OPTIONS] INPUT -- PROGRAM [ARGS... @@]",
        after_help = EXIT_CODES
    )]
    Growth(GrowthArgs),
    /// Find the smallest input with the same slowness and the same cause
    #[command(
        override_usage = "quagmire minimize [OPTIONS] INPUT [-o FILE] -- PROGRAM [ARGS... @@]",
        after_help = EXIT_CODES
    )]
    Minimize(MinimizeArgs),
    /// Find the smallest corpus that covers as much, or costs as much, as given inputs
    #[command(
        override_usage = "quagmire distill [OPTIONS] INPUTS... -o DIR -- PROGRAM [ARGS... @@]",
        after_help = EXIT_CODES
    )]
    Distill(DistillArgs),
    /// Compare two builds of a program over the same inputs
    #[command(
        override_usage = "quagmire compare [OPTIONS] INPUTS... -- OLD [ARGS... @@] --and NEW [ARGS... @@]\n       \
                          quagmire compare [OPTIONS] INPUTS... --baseline FILE -- NEW [ARGS... @@]",
        after_help = ALL_EXIT_CODES
    )]
    Compare(CompareArgs),
    /// Run inputs for `quagmire compare`, which starts it
    #[command(hide = true)]
    ServeRuns(ServeRunsArgs),
    /// Show how good a corpus is, by the small faults that it notices
    Mutants(MutantsArgs),
    /// Show how many distinct things given inputs do, and how evenly they exercise the program
    #[command(
        override_usage = "quagmire diversity [OPTIONS] INPUTS... -- PROGRAM [ARGS... @@]",
        after_help = EXIT_CODES
    )]
    Diversity(DiversityArgs),
    /// Mine a grammar from examples that the program accepts
    #[command(
        override_usage = "quagmire mine [OPTIONS] EXAMPLES... -o GRAMMAR -- PROGRAM [ARGS... @@]",
        long_about = "Mines a grammar from examples that the program accepts. A harness rejects an input by returning -1, any \
                      other program by exiting with a status other than 0.",
        after_help = EXIT_CODES
    )]
    Mine(MineArgs),
    /// Write report.html, graphs and differences of a campaign, or export its findings
    #[command(
        override_usage = "quagmire report [OPTIONS] OUT",
        long_about = "Writes report.html, graphs/ and diffs/ into the folder of a campaign, from what is on disk: it may \
                      still run, or have been killed. With another --format than html, \
                      prints its findings instead.",
        after_help = EXIT_CODES_ALONE
    )]
    Report(ReportArgs),
    /// Write inputs that a grammar describes, or a harness generates
    #[command(
        override_usage = "quagmire generate --grammar FILE -n N -o DIR [OPTIONS]\n       \
                          quagmire generate -n N -o DIR [OPTIONS] -- HARNESS\n       \
                          quagmire generate INPUTS... -o DIR [OPTIONS] -- HARNESS",
        long_about = "Writes inputs that a grammar describes, or that a harness generates, into a folder: 000000, 000001, ... \
                      A grammar is JSON in the form \
                      of the fuzzing book, of AFL++'s Grammar-Mutator or of Nautilus, or ANTLR's .g4. A harness writes what \
                      it hands to qgm_generated, for random bytes or for given inputs. With --generator, any program does.",
        after_help = EXIT_CODES
    )]
    Generate(GenerateArgs),
    /// Write, build and run a harness for the project in this folder
    #[command(
        override_usage = "quagmire init [FOLDER|HEADER] [--function NAME] [--build]",
        long_about = "Writes a harness for a function of the sources in a folder, the one that is named or the one that promises most, \
                      with seeds from the project's tests; builds and runs it, and prints the command that fuzzes it. What has to be \
                      built before (CMake, Meson, autotools, a Makefile) is printed, and done with --build. Harnesses, cargo-fuzz and \
                      OSS-Fuzz are recognised.",
        after_help = EXIT_CODES
    )]
    Init(InitArgs),
    /// Show what this machine and installation lack, and what each costs
    #[command(after_help = EXIT_CODES_ALONE)]
    Doctor(DoctorArgs),
    /// Print the completions for a shell
    #[command(after_help = EXIT_CODES_ALONE)]
    Completions(CompletionsArgs),
    /// Write the pages of the manual
    #[command(after_help = EXIT_CODES_ALONE)]
    Man(ManArgs),
}

impl Command {
    /// Its name on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Fuzz(_) => "fuzz",
            Self::Replay(_) => "replay",
            Self::Growth(_) => "growth",
            Self::Minimize(_) => "minimize",
            Self::Distill(_) => "distill",
            Self::Compare(_) => "compare",
            Self::ServeRuns(_) => "serve-runs",
            Self::Mutants(_) => "mutants",
            Self::Diversity(_) => "diversity",
            Self::Mine(_) => "mine",
            Self::Generate(_) => "generate",
            Self::Report(_) => "report",
            Self::Init(_) => "init",
            Self::Doctor(_) => "doctor",
            Self::Completions(_) => "completions",
            Self::Man(_) => "man",
        }
    }

    /// Its target as typed; `None` if it has none.
    pub fn target(&self) -> Option<&TargetArgs> {
        Some(match self {
            Self::Fuzz(fuzz) => &fuzz.target,
            Self::Replay(replay) => &replay.target,
            Self::Growth(growth) => &growth.target,
            Self::Minimize(minimize) => &minimize.target,
            Self::Distill(distill) => &distill.target,
            Self::Compare(compare) => &compare.target,
            Self::ServeRuns(serve) => &serve.target,
            Self::Mutants(mutants) => return mutants.target(),
            Self::Diversity(diversity) => &diversity.target,
            Self::Mine(mine) => &mine.target,
            Self::Generate(generate) => &generate.target,
            Self::Report(_) | Self::Init(_) | Self::Doctor(_) | Self::Completions(_) | Self::Man(_) => return None,
        })
    }

    /// Its target as typed, to be changed.
    pub fn target_mut(&mut self) -> Option<&mut TargetArgs> {
        Some(match self {
            Self::Fuzz(fuzz) => &mut fuzz.target,
            Self::Replay(replay) => &mut replay.target,
            Self::Growth(growth) => &mut growth.target,
            Self::Minimize(minimize) => &mut minimize.target,
            Self::Distill(distill) => &mut distill.target,
            Self::Compare(compare) => &mut compare.target,
            Self::ServeRuns(serve) => &mut serve.target,
            Self::Mutants(mutants) => return mutants.target_mut(),
            Self::Diversity(diversity) => &mut diversity.target,
            Self::Mine(mine) => &mut mine.target,
            Self::Generate(generate) => &mut generate.target,
            Self::Report(_) | Self::Init(_) | Self::Doctor(_) | Self::Completions(_) | Self::Man(_) => return None,
        })
    }

    /// Whether its options make sense, whatever the program is.
    ///
    /// # Errors
    /// A usage error in one line that names the option and the remedy.
    pub fn check(&self) -> Result<()> {
        match self.clone() {
            Self::Fuzz(fuzz) => super::Options::resolve(fuzz).map(drop),
            Self::Replay(replay) => replay.resolve().map(drop),
            Self::Growth(growth) => growth.resolve().map(drop),
            Self::Minimize(minimize) => minimize.resolve().map(drop),
            Self::Distill(distill) => distill.resolve().map(drop),
            Self::Compare(compare) => compare.resolve().map(drop),
            Self::ServeRuns(serve) => serve.resolve().map(drop),
            Self::Mutants(mutants) => mutants.command.check(),
            Self::Diversity(diversity) => diversity.resolve().map(drop),
            Self::Mine(mine) => mine.resolve().map(drop),
            Self::Generate(generate) => generate.resolve().map(drop),
            Self::Report(report) => report.resolve().map(drop),
            Self::Init(_) | Self::Doctor(_) | Self::Completions(_) | Self::Man(_) => Ok(()),
        }
    }

    /// Whether the program is run as it is.
    pub fn is_uninstrumented(&self) -> bool {
        match self {
            Self::Fuzz(fuzz) => fuzz.uninstrumented,
            Self::Replay(replay) => replay.uninstrumented,
            _ => false,
        }
    }

    /// The generator in front of the program, as typed.
    pub fn generator(&self) -> Option<&Path> {
        self.target()?.generator.as_deref()
    }
}

/// A change to the search that only measurements make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Experiment {
    /// Do not trim inputs to rare branches before they are mutated
    NoTrim,
    /// Go on with rare branches when they bring nothing new, without rounds of ordinary mutation
    NoBootstrap,
    /// Keep no input for executing an edge more often than all others
    NoEdgeMaxima,
    /// Run a mutant without mask beside each masked one, and report how many of each reach their goal
    ShadowMask,
    /// Count how many runs hit the places of --towards, and search as without them
    TowardsWatch,
}

/// `quagmire fuzz`, as typed.
#[derive(Debug, Clone, Args)]
pub struct FuzzArgs {
    /// Where the search starts: files, or folders of files (repeatable)
    #[arg(short = 'i', long, value_name = "PATHS", num_args = 1.., help_heading = "Input and output")]
    pub seeds: Vec<PathBuf>,
    /// The folder for everything that is found
    #[arg(short = 'o', long, value_name = "OUT", help_heading = "Input and output")]
    pub output: Option<PathBuf>,
    /// Go on with the campaign in OUT
    #[arg(long, help_heading = "Input and output")]
    pub resume: bool,
    /// Start anew if OUT holds a campaign, which is kept as OUT.old
    #[arg(long, help_heading = "Input and output")]
    pub force: bool,
    /// Use only those seeds whose path or file name matches; with look-around, as `^((?!error).)*$`
    #[arg(long, value_name = "REGEX", help_heading = "Input and output")]
    pub workloads_filter: Option<String>,

    /// Stop after this time: 90, 90s, 1.5m, 24h
    #[arg(long, value_name = "DURATION", default_value = defaults::TIME, help_heading = "When to stop")]
    pub time: String,
    /// Stop after this many executions [default: no limit]
    #[arg(long, value_name = "N", help_heading = "When to stop")]
    pub execs: Option<String>,
    /// After the search, look so long for the laws and the smallest inputs of the worst findings; 0 for not at all
    /// [default: what the worst one needs, up to 1 min, and a tenth of the search's time, 5 s to 1 min, for all]
    #[arg(long, value_name = "DURATION", help_heading = "When to stop")]
    pub explain: Option<String>,

    /// Fuzz on so many cores, one client pinned to each
    #[arg(short = 'j', value_name = "N", help_heading = "Many cores and machines")]
    pub jobs: Option<String>,
    /// Fuzz on these cores: all, 0-3, 0,2
    #[arg(long, value_name = "LIST", help_heading = "Many cores and machines")]
    pub cores: Option<String>,
    /// Share finds with the campaigns and afl-fuzz instances that meet in this folder, as the folder NAME in it
    #[arg(long, value_name = "DIR", help_heading = "Many cores and machines")]
    pub sync: Option<PathBuf>,
    /// Name of this campaign in that folder [default: the name of the machine]
    #[arg(long, value_name = "NAME", help_heading = "Many cores and machines")]
    pub name: Option<String>,

    /// Which costs make an input a degradation, any of them: instructions, edges, hottest-edge, cycles, time, heap,
    /// heap-total, stack, lines; resident with --uninstrumented
    #[arg(long, value_name = "LIST", default_value = defaults::COST, help_heading = "What counts as a degradation")]
    pub cost: String,
    /// How many times the cost of an ordinary input is a degradation; more than 1
    #[arg(long, value_name = "RATIO", default_value = defaults::THRESHOLD, help_heading = "What counts as a degradation")]
    pub threshold: String,
    /// Ordinary input to compare with: one of the same size, as estimated from the seeds, or the median seed whatever its
    /// size: size or seed
    #[arg(long, value_name = "WHAT", default_value = defaults::RELATIVE_TO, help_heading = "What counts as a degradation")]
    pub relative_to: String,
    /// Confirm nothing, for benchmarks: slow inputs are only in queue/, degradations/ stays empty
    #[arg(long, help_heading = "What counts as a degradation")]
    pub no_confirm: bool,

    /// Inputs grow to this size, or to that of the largest seed if it is larger: 4096, 64KiB, 1MB
    #[arg(long, value_name = "SIZE", help_heading = "Size of inputs (at most one of them)")]
    pub max_size: Option<String>,
    /// Inputs grow by this size beyond the largest seed [default: by 1024 at first, and on to 1000000 as far as that pays]
    #[arg(long, value_name = "SIZE", help_heading = "Size of inputs (at most one of them)")]
    pub max_size_increase: Option<String>,
    /// Inputs grow to this many times the largest seed; at least 1
    #[arg(long, value_name = "RATIO", help_heading = "Size of inputs (at most one of them)")]
    pub max_size_ratio: Option<String>,

    /// Mutate by these only: rules (T,B.6,T.1-T.5,insert_byte) and havoc, single, splice, tokens, deterministic, comparisons,
    /// custom, custom-crossover, and those of choices (regenerate, splice-part, ...) [default: all of them]
    #[arg(long, value_name = "LIST", help_heading = "Mutation")]
    pub rules: Option<String>,
    /// A file of rules of your own, YAML lines of `pattern: replacement`: R.1, R.2, ... (repeatable)
    #[arg(long, value_name = "FILE", help_heading = "Mutation")]
    pub regex_rules: Vec<PathBuf>,
    /// Take all of each input for text, binary or xml [default: each part of an input for what it is]
    #[arg(long, value_name = "TYPE", help_heading = "Mutation")]
    pub input_type: Option<String>,
    /// A grammar of the inputs: the fuzzing book's or AFL++ Grammar-Mutator's JSON, Nautilus' JSON, or a .g4 file of ANTLR.
    /// Inputs that it describes are mutated part by part; without -i, the first ones are made from it
    #[arg(long, value_name = "FILE", help_heading = "Mutation")]
    pub grammar: Option<PathBuf>,
    /// How choices are mutated, those of a grammar or those that a harness draws from its input: simple (structure or
    /// values, by what pays), structure (and new coverage counts only with a new structure), even (structure and values
    /// alike), zest (any choices), random (all inputs are made anew), recombine (parts of other inputs only), off (bytes
    /// only)
    #[arg(long, value_name = "MODE", default_value = defaults::CHOICES, help_heading = "Mutation")]
    pub choices: String,
    /// How many mutants each rule makes of a parent: unitary (one), proportional (one more than it has found lately),
    /// probabilistic (one, with the rule's share of all finds as the chance), mixed (both)
    #[arg(long, value_name = "STRATEGY", default_value = defaults::MUTATIONS_PER_RULE, help_heading = "Mutation")]
    pub mutations_per_rule: String,
    /// A file of tokens to insert, as AFL and libFuzzer take it (repeatable)
    #[arg(short = 'x', long, value_name = "FILE", help_heading = "Mutation")]
    pub dict: Vec<PathBuf>,
    /// Insert no tokens but those of --dict: not the constants and keywords that the code compares with, nor words that it
    /// compares in runs
    #[arg(long, help_heading = "Mutation")]
    pub no_auto_dict: bool,
    /// The number that all random choices follow from [default: a new one each time, printed]
    #[arg(long, value_name = "N", help_heading = "Mutation")]
    pub seed: Option<String>,

    /// Resource that the search raises, for programs whose cost lies in code that was built without the wrapper: instructions
    /// (what --cost names, with instructions for time and cycles), time (the least of repeated runs, beyond the noise: --seed
    /// does not repeat such a search) or cycles (likewise; needs hardware counters)
    #[arg(long, value_name = "RESOURCE", default_value = defaults::STEER, help_heading = "Search")]
    pub steer: String,
    /// Aim of the search: cost (four fifths of the work for the most expensive inputs), coverage (four fifths for rare
    /// branches), or balanced (by what each finds)
    #[arg(long, value_name = "AIM", default_value = defaults::FOCUS, help_heading = "Search")]
    pub focus: String,
    /// How parents are chosen when cost is the aim: best (mostly the highest scores), intervals (five, by score), both
    #[arg(long, value_name = "CHOICE", default_value = defaults::PARENTS, help_heading = "Search")]
    pub parents: String,
    /// Places that the search works towards.
    #[command(flatten)]
    pub towards: TowardsArgs,
    /// How much an input has to cost at first to be measured again, as a multiple of the baseline; it moves with success
    #[arg(long, value_name = "RATIO", default_value = defaults::COVERAGE_INCREASE_RATE, help_heading = "Search")]
    pub coverage_increase_rate: String,
    /// Measure precisely once so many interesting inputs are gathered
    #[arg(long, value_name = "N", default_value = defaults::INTERESTING_FILES_LIMIT, help_heading = "Search")]
    pub interesting_files_limit: String,
    /// ... or after so many executions
    #[arg(long, value_name = "N", default_value = defaults::EXEC_LIMIT, help_heading = "Search")]
    pub exec_limit: String,
    /// Use no masks: change any bytes, also those that the goal of the round needs
    #[arg(long, help_heading = "Search")]
    pub no_mask: bool,
    /// Leave out a part of the search, or watch it, to measure what it brings (repeatable)
    #[arg(long, value_name = "NAME", hide = true)]
    pub experiment: Vec<Experiment>,
    /// Measure every mutant precisely: slower, and sees what is slow without executing more of the program
    #[arg(long, help_heading = "Search")]
    pub skip_coverage_testing: bool,
    /// Mutate inputs that crash or exit as well, since handlers of errors can be slow too
    #[arg(long, help_heading = "Search")]
    pub keep_early_ends: bool,

    /// Count unique traces, and how evenly they exercise the program: a fifth of a microsecond for each run
    #[arg(long, help_heading = "Search")]
    pub diversity: bool,
    /// The difference between two runs, with --diversity, which this turns on: exact (how often each branch was executed),
    /// bucketed (in AFL's eight classes), edges (whether) [default: bucketed]
    #[arg(long, value_name = "KIND", help_heading = "Search")]
    pub trace: Option<String>,
    /// The options that `diversity` has as well.
    #[command(flatten)]
    pub validity: ValidityArgs,

    /// Run the program as it is, by CPU time and memory alone: any command, found in PATH, such as an interpreter and a script.
    /// Nothing is counted, so that the search is that of Perun's rules, and needs many runs
    #[arg(long, help_heading = "Running the program")]
    pub uninstrumented: bool,
    /// The options that `replay` has as well.
    #[command(flatten)]
    pub target: TargetArgs,

    /// Draw no graphs at the end (`quagmire report` does it later)
    #[arg(long, help_heading = "Display")]
    pub no_plotting: bool,
    /// Print nothing but the end
    #[arg(long, help_heading = "Display")]
    pub quiet: bool,
    /// Show the figures of the running campaign to Prometheus at this address: 127.0.0.1:9091, :9091 (for everybody who
    /// reaches this machine), 127.0.0.1:0 (a free port, printed)
    #[arg(long, value_name = "ADDR", help_heading = "Display")]
    pub metrics: Option<String>,
    /// When to use colours: auto (on a terminal), always (in pipes and files as well) or never
    #[arg(long, value_name = "WHEN", default_value = defaults::COLOR, help_heading = "Display")]
    pub color: String,
}
