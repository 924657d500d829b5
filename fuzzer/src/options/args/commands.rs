//! Arguments of the commands beside `fuzz`, and those that several commands have.

use std::{ffi::OsString, path::PathBuf};

use clap::Args;

use crate::options::{defaults, format::Format};

/// The target, and how it is run, as typed.
#[derive(Debug, Clone, Args)]
pub struct TargetArgs {
    /// A run that takes longer is a hang; at least 10ms
    #[arg(long, value_name = "DURATION", default_value = defaults::HANG_TIMEOUT, help_heading = "Running the program")]
    pub hang_timeout: String,
    /// Memory that the program may use; 0 for no limit
    #[arg(long, value_name = "SIZE", default_value = defaults::MEMORY_LIMIT, help_heading = "Running the program")]
    pub memory_limit: String,
    /// Show what the program prints
    #[arg(long, help_heading = "Running the program")]
    pub debug_target: bool,
    /// `@@` stands for a file input.EXT, and saved inputs end in .EXT: for programs that go by the name of a file; '' for none
    /// [default: the extension that all inputs given have]
    #[arg(short = 'e', long, value_name = "EXT", help_heading = "Running the program")]
    pub extension: Option<String>,
    /// Run the program in a folder of its own, emptied after each run, for programs that write files. It does not find files by
    /// paths relative to this folder then
    #[arg(long, help_heading = "Running the program")]
    pub scratch: bool,
    /// A generator in front of the program: a shared object with qgm_generate of quagmire/draws.h. Inputs are what it draws
    /// from; the program gets what it makes of them
    #[arg(long, value_name = "FILE", help_heading = "Running the program")]
    pub generator: Option<PathBuf>,
    /// The harness, built with quagmire-cc -fsanitize=fuzzer; or any program built with quagmire-cc, and its arguments: @@
    /// stands for the file with the input, without it the program reads standard input
    #[arg(last = true, value_name = "PROGRAM")]
    pub program: Vec<OsString>,
    /// The whole command line, for the record.
    #[arg(skip)]
    pub command: Vec<String>,
}

/// `quagmire replay`, as typed.
#[derive(Debug, Clone, Args)]
pub struct ReplayArgs {
    /// The inputs: files, or folders of files
    #[arg(value_name = "INPUTS")]
    pub inputs: Vec<PathBuf>,
    /// Compare with what these files cost: one file or folder (repeatable)
    #[arg(short = 'i', long, value_name = "PATH")]
    pub seeds: Vec<PathBuf>,
    /// Run each input this many times; auto: until the verdicts are clear or the budget is spent
    #[arg(short = 'n', long, value_name = "N", default_value = defaults::REPEATS)]
    pub repeats: String,
    /// CPU time for `-n auto`, all inputs together; time for the probes of --mask
    #[arg(long, value_name = "DURATION", default_value = defaults::BUDGET)]
    pub budget: String,
    /// Judge the last input against each of the others, not each against the first
    #[arg(long)]
    pub against_all: bool,
    /// As --against-all, and against an ordinary input of its size of so many instructions: the one of the others that is
    /// nearest to that stands for it. How campaigns confirm.
    #[arg(long, value_name = "INSTRUCTIONS", hide = true)]
    pub ordinary: Option<u64>,
    /// The last input but one is there for --ordinary only.
    #[arg(long, hide = true, requires = "ordinary")]
    pub joined: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Print this source file with how often each line was executed: the end of its path (repeatable)
    #[arg(long, value_name = "FILE")]
    pub annotate: Vec<PathBuf>,
    /// With --annotate, print hot lines only, with this many lines before and behind each
    #[arg(long, value_name = "LINES", requires = "annotate")]
    pub context: Option<u32>,
    /// Run each input once, and write how often all of them together execute each line to this file, for genhtml of lcov
    /// and for services that show coverage
    #[arg(long, value_name = "FILE")]
    pub lcov: Option<PathBuf>,
    /// Print the one input with its mask: which bytes may be overwritten, inserted at and deleted so that the run still
    /// does nine tenths of its work
    #[arg(long)]
    pub mask: bool,
    /// With --mask: so that the run still executes this place: FUNCTION, FUNCTION:LINE or FILE:LINE
    #[arg(long, value_name = "PLACE")]
    pub branch: Option<String>,
    /// With --mask: probe each byte by itself, which takes longer, instead of blocks of bytes that do not matter
    #[arg(long)]
    pub exact: bool,
    /// Run the program as it is, by CPU time and memory alone: any command, found in PATH, such as an interpreter and a script.
    /// Nothing is counted, so that the search is that of Perun's rules, and needs many runs
    #[arg(long, help_heading = "Running the program")]
    pub uninstrumented: bool,
    /// The options that `fuzz` has as well.
    #[command(flatten)]
    pub target: TargetArgs,
}

/// `quagmire diversity`, as typed.
#[derive(Debug, Clone, Args)]
pub struct DiversityArgs {
    /// The inputs: files, or folders of files; each folder is a corpus of its own
    #[arg(value_name = "INPUTS")]
    pub inputs: Vec<PathBuf>,
    /// Compare random samples of so many unique valid traces of each corpus [default: as many as the smallest has, if
    /// there are several]
    #[arg(long, value_name = "N")]
    pub traces: Option<String>,
    /// The difference between two runs: exact (how often each branch was executed), bucketed (in AFL's eight classes), edges
    /// (whether)
    #[arg(long, value_name = "KIND", default_value = defaults::TRACE)]
    pub trace: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// The options that `fuzz` has as well.
    #[command(flatten)]
    pub validity: ValidityArgs,
    /// The options that `fuzz` and `replay` have as well.
    #[command(flatten)]
    pub target: TargetArgs,
}

/// `quagmire mine`, as typed.
#[derive(Debug, Clone, Args)]
pub struct MineArgs {
    /// The examples: files, or folders of files; ten small ones of different kinds are enough
    #[arg(value_name = "EXAMPLES")]
    pub examples: Vec<PathBuf>,
    /// Write the grammar to this file, as JSON of the fuzzing book
    #[arg(short = 'o', long, value_name = "GRAMMAR")]
    pub output: Option<PathBuf>,
    /// Say how many of these files the grammar describes (files or folders that are no examples; repeatable)
    #[arg(long, value_name = "PATH")]
    pub check: Vec<PathBuf>,
    /// Stop after this time and write what is known then
    #[arg(long, value_name = "DURATION", default_value = defaults::MINE_TIME)]
    pub time: String,
    /// Stop after this many executions and write what is known then [default: no limit]
    #[arg(long, value_name = "N")]
    pub execs: Option<String>,
    /// Seed of random choices: the same seed, the same grammar
    #[arg(long, value_name = "N", default_value = "1")]
    pub seed: String,
    /// The options that `fuzz` has as well.
    #[command(flatten)]
    pub target: TargetArgs,
}

/// `quagmire report`, as typed.
#[derive(Debug, Clone, Args)]
pub struct ReportArgs {
    /// The output folder of the campaign, or a file with what `compare -o` wrote or `growth --json` printed
    #[arg(value_name = "OUT")]
    pub output: PathBuf,

    /// Write the report, or the findings for other tools to standard output
    #[arg(long, value_name = "FORMAT", default_value = defaults::FORMAT, value_parser = Format::parser())]
    pub format: Format,

    /// Write the findings to this file instead
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub file: Option<PathBuf>,

    /// The folder of the project when it was built: its sources have paths relative to it in sarif, junit, github and
    /// markdown [default: the repository around the working folder]
    #[arg(long, value_name = "DIR")]
    pub source_root: Option<PathBuf>,

    /// Do not draw graphs
    #[arg(long)]
    pub no_plotting: bool,

    /// Compare findings with their seeds for at most so long; the worst ones come first
    #[arg(long, value_name = "DURATION")]
    pub time: Option<String>,

    /// Print where the report is, and nothing else, in a folder whose user calls it so: how campaigns end
    #[arg(long, hide = true, value_name = "OUT", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub brief: Option<PathBuf>,
}

/// `quagmire generate`, as typed.
#[derive(Debug, Clone, Args)]
pub struct GenerateArgs {
    /// The grammar; without one, a harness that draws makes the inputs, or the generator in front of a program
    #[arg(long, value_name = "FILE")]
    pub grammar: Option<PathBuf>,
    /// Write what the generator makes of these inputs, files or folders of files, under their names
    #[arg(value_name = "INPUTS")]
    pub inputs: Vec<PathBuf>,
    /// How many random inputs to write
    #[arg(short = 'n', long, value_name = "N")]
    pub number: Option<String>,
    /// The folder for the inputs: a new one, or an empty one
    #[arg(short = 'o', long, value_name = "DIR")]
    pub output: PathBuf,
    /// Size that inputs do not exceed, unless the simplest one does: 4096, 64KiB, 1MB. Of a harness, the number of random
    /// bytes that it can draw from
    #[arg(long, value_name = "SIZE", default_value = defaults::GENERATED_SIZE)]
    pub size: String,
    /// How many parts may be in each other; deeper ones are as simple as they can be
    #[arg(long, value_name = "N", default_value = defaults::GENERATED_DEPTH)]
    pub depth: String,
    /// Write no input twice
    #[arg(long)]
    pub unique: bool,
    /// The number that all random choices follow from [default: a new one each time, printed]
    #[arg(long, value_name = "N")]
    pub seed: Option<String>,
    /// Write inputs of the harness, and not what its generator makes of them
    #[arg(long)]
    pub draws: bool,
    /// The options that `fuzz` has as well.
    #[command(flatten)]
    pub target: TargetArgs,
}

/// Which runs are valid, as typed.
#[derive(Debug, Clone, Args)]
pub struct ValidityArgs {
    /// Only runs that enter this function are valid: its name, or a regular expression
    #[arg(long, value_name = "FUNCTION", help_heading = "Search")]
    pub valid_if_reached: Option<String>,
}
