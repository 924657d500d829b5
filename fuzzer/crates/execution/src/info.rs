//! Description of the program under test: its name, how it is run, and what is measured.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::own_program;
use quagmire_base::shell;

use quagmire_cost::resource::{Capability, Resource};

/// Source of the counts of a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Instrumentation {
    /// quagmire's pass: exact counts with weights.
    #[default]
    Counts,
    /// AFL++: eight bits for each edge, which wrap around. Instructions are edges then, and times are wall-clock
    /// times where no CPU clock is available.
    Afl,
    /// SanitizerCoverage's guards: exact counts of edges.
    SancovGuards,
    /// SanitizerCoverage's 8-bit counters, made 32 bits wide when the program starts: exact counts of edges.
    SancovWidened,
    /// SanitizerCoverage's 8-bit counters, some of which have stayed so and wrap around.
    SancovCounters,
    /// SanitizerCoverage's flags: whether an edge ran, not how often.
    SancovFlags,
    /// gcc's `trace-pc`: edges by the hash of their address, some of which share a count.
    SancovPcs,
    /// quagmire's pass in some objects, and SanitizerCoverage in others.
    Mixed,
    /// None: CPU time and peak memory of processes only (`--uninstrumented`).
    Uninstrumented,
}

impl Instrumentation {
    /// Whether it is quagmire's pass alone, so that reports need no remark.
    pub fn is_usual(&self) -> bool {
        *self == Self::Counts
    }

    /// Whether every edge has an exact count.
    pub fn is_exact(self) -> bool {
        matches!(self, Self::Counts | Self::SancovGuards | Self::SancovWidened)
    }

    /// How the program came to it, for people, after "was"; empty for quagmire's own pass.
    pub fn origin(self) -> &'static str {
        match self {
            Self::Counts => "",
            Self::Afl => "built by AFL++",
            Self::SancovGuards | Self::SancovWidened | Self::SancovCounters | Self::SancovFlags | Self::SancovPcs => {
                "compiled with SanitizerCoverage"
            }
            Self::Mixed => "compiled with SanitizerCoverage in part",
            Self::Uninstrumented => "run without instrumentation",
        }
    }

    /// Description of its counts for people, as a clause about the program; empty for quagmire's own pass.
    pub fn remark(self) -> &'static str {
        match self {
            Self::Counts => "",
            Self::Afl => "its counts have eight bits and wrap around, and times are not CPU times",
            Self::SancovGuards | Self::SancovWidened => "its counts are exact, of edges and not of instructions",
            Self::SancovCounters => "its counts are of edges, and some have eight bits and wrap around",
            Self::SancovFlags => "its flags say whether an edge ran, not how often",
            Self::SancovPcs => "its counts are of edges, some of which share one",
            Self::Uninstrumented => "nothing is counted, and costs are CPU time and peak memory of its processes",
            Self::Mixed => "its counts are instructions in one part and edges, which may wrap around, in the other",
        }
    }

    /// Advice on how to count more, for people; empty where there is none.
    pub fn advice(self) -> &'static str {
        match self {
            Self::Counts | Self::Mixed | Self::Uninstrumented => "",
            Self::Afl => "build it with quagmire-cc for exact counts and lines",
            Self::SancovCounters | Self::SancovFlags => "build it with quagmire-cc, or with guards, for exact counts",
            Self::SancovGuards | Self::SancovWidened | Self::SancovPcs => {
                "build C and C++ with quagmire-cc for instructions and all lines"
            }
        }
    }

    /// The unit of `instructions`, for people.
    pub fn work(self) -> &'static str {
        match self {
            Self::Counts | Self::Uninstrumented => "instructions",
            Self::Mixed => "instructions and edges",
            Self::Afl | Self::SancovGuards | Self::SancovWidened => "edges",
            Self::SancovCounters | Self::SancovFlags | Self::SancovPcs => "edges",
        }
    }

    /// The name of `time`, for people.
    pub fn time(self) -> &'static str {
        match self {
            Self::Afl => "time",
            _ => "CPU time",
        }
    }

    /// Whether anything is counted, so that there are edges and places in the code.
    pub fn counts(self) -> bool {
        self != Self::Uninstrumented
    }

    /// Abilities that it has, by which it is known what resources it measures.
    pub fn capabilities(self) -> &'static [Capability] {
        use Capability::*;
        match self {
            Self::Counts => &[Edges, Weights, Clock, Memory, Lines],
            Self::Mixed => &[Edges, Weights, Clock, Memory, Lines],
            // of those that have a PC table
            Self::SancovGuards | Self::SancovWidened | Self::SancovCounters | Self::SancovFlags => {
                &[Edges, Clock, Memory, Lines]
            }
            Self::SancovPcs => &[Edges, Clock, Memory],
            Self::Afl => &[Edges, Clock],
            Self::Uninstrumented => &[Clock, Processes],
        }
    }

    /// Whether it measures this resource.
    pub fn measures(self, resource: Resource) -> bool {
        self.capabilities().contains(&resource.describe().needs)
    }
}

/// How the target is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// Runs `LLVMFuzzerTestOneInput` in the engine's process.
    InProcess,
    /// Runs each input in a child of a fork server.
    ForkServer,
    /// Starts the command anew for each input.
    Processes,
}

impl Engine {
    /// Name of the engine in result files.
    pub fn name(self) -> &'static str {
        match self {
            Self::InProcess => "in-process",
            Self::ForkServer => "fork-server",
            Self::Processes => "processes",
        }
    }
}

/// Description of the program under test, for messages and results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetInfo {
    /// Name of the program as given by the user: a word of a command.
    pub program: OsString,
    /// The program and its arguments if it runs in processes of its own; empty for a harness, which runs in this process.
    pub command: Vec<OsString>,
    /// Generator in front of the program, as given by the user.
    pub generator: Option<PathBuf>,
    /// Extension of the file that stands for `@@`, without its dot; `None` if it has none.
    pub extension: Option<String>,
    /// Whether its runs have a working folder of their own.
    pub scratch: bool,
    /// Source of its counts.
    pub instrumentation: Instrumentation,
}

impl TargetInfo {
    /// Describes a harness, which runs in this process.
    pub fn of_harness(program: OsString, instrumentation: Instrumentation) -> Self {
        Self { program, command: Vec::new(), generator: None, extension: None, scratch: false, instrumentation }
    }

    /// Whether each run is a process of its own, so that a crash ends nothing else.
    pub fn is_isolated(&self) -> bool {
        !self.command.is_empty()
    }

    /// How it is run.
    pub fn engine(&self) -> Engine {
        match self.instrumentation {
            Instrumentation::Uninstrumented => Engine::Processes,
            _ if self.is_isolated() => Engine::ForkServer,
            _ => Engine::InProcess,
        }
    }

    /// Name of the program, for people.
    pub fn name(&self) -> String {
        self.program.to_string_lossy().into_owned()
    }

    /// Whether it reads its input from a file named by its arguments (`@@`) instead of standard input.
    pub fn reads_file(&self) -> bool {
        crate::fork_server::reads_file(&self.command)
    }

    /// The option by which commands run it as it is; `None` if it is instrumented.
    pub fn uninstrumented(&self) -> Option<&'static OsStr> {
        (!self.instrumentation.counts()).then(|| OsStr::new("--uninstrumented"))
    }

    /// The options by which commands run it with the same files.
    pub fn file_options(&self) -> Vec<&OsStr> {
        let mut words = Vec::new();
        if self.reads_file() {
            words.extend(["-e", self.extension.as_deref().unwrap_or_default()].map(OsStr::new));
        }
        words.extend(self.scratch.then_some(OsStr::new("--scratch")));
        words
    }

    /// The command that replays inputs with these options, quoted for a shell.
    pub fn replay_command(&self, options: &[&str], inputs: &[&Path]) -> String {
        self.own_command("replay", options, inputs)
    }

    /// The command of this name with these options and inputs, quoted for a shell.
    pub fn own_command(&self, name: &str, options: &[&str], inputs: &[&Path]) -> String {
        let inputs = options.iter().map(OsStr::new).chain(inputs.iter().map(|input| input.as_os_str()));
        if self.command.is_empty() {
            let first = own_program::first_arguments().iter().map(OsString::as_os_str);
            let program = std::iter::once(self.program.as_os_str());
            return shell::command(program.chain(first).chain([OsStr::new(name)]).chain(inputs));
        }
        let generator = self.generator.iter().flat_map(|file| [OsStr::new("--generator"), file.as_os_str()]);
        // without an extension, names of inputs do not share one
        let files = if self.extension.is_some() || self.scratch { self.file_options() } else { Vec::new() };
        let replay = ["quagmire", name].map(OsStr::new).into_iter().chain(self.uninstrumented());
        let replay = replay.chain(generator).chain(files);
        let target = self.command.iter().map(OsString::as_os_str);
        shell::command(replay.chain(inputs).chain([OsStr::new("--")]).chain(target))
    }
}
