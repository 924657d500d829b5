//! The program under test: its name, how it is run, and what can be said of its runs.

use std::{
    ffi::{OsStr, OsString},
    path::Path,
};

use serde::{Deserialize, Serialize};

use quagmire_base::shell;

use quagmire_cost::resource::{Capability, Resource};

/// What counts in the target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Instrumentation {
    /// Our pass: exact counts with weights.
    #[default]
    Counts,
    /// AFL++: eight bits for each edge, which wrap around. Instructions are edges then, and times are told by the clock on
    /// the wall where no CPU clock is at hand.
    Afl,
}

impl Instrumentation {
    /// Nothing to be said about.
    pub fn is_usual(&self) -> bool {
        *self == Self::Counts
    }

    /// What `instructions` are.
    pub fn work(self) -> &'static str {
        match self {
            Self::Counts => "instructions",
            Self::Afl => "edges",
        }
    }

    /// What `time` is.
    pub fn time(self) -> &'static str {
        match self {
            Self::Counts => "CPU time",
            Self::Afl => "time",
        }
    }

    /// Abilities that it has, by which it is known what resources it measures.
    pub fn capabilities(self) -> &'static [Capability] {
        use Capability::*;
        match self {
            Self::Counts => &[Edges, Weights, Clock, Memory, Lines],
            Self::Afl => &[Edges, Clock],
        }
    }

    /// Whether it tells what a run uses of a resource.
    pub fn measures(self, resource: Resource) -> bool {
        self.capabilities().contains(&resource.describe().needs)
    }
}

/// How the target is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// `LLVMFuzzerTestOneInput` in the process of the engine.
    InProcess,
    /// A fork server.
    ForkServer,
}

impl Engine {
    /// As in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::InProcess => "in-process",
            Self::ForkServer => "fork-server",
        }
    }
}

/// The program under test, as messages and results need it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetInfo {
    /// The program as the user calls it: a word of a command.
    pub program: OsString,
    /// The program and its arguments, if a fork server runs it; empty for a harness, which runs in this process.
    pub command: Vec<OsString>,
    /// What counts in it.
    pub instrumentation: Instrumentation,
}

impl TargetInfo {
    /// Whether each run is a process of its own, whose end is the end of nothing else.
    pub fn is_isolated(&self) -> bool {
        !self.command.is_empty()
    }

    /// How it is run, as results name it.
    pub fn engine(&self) -> Engine {
        if self.is_isolated() { Engine::ForkServer } else { Engine::InProcess }
    }

    /// The program's name, for people.
    pub fn name(&self) -> String {
        self.program.to_string_lossy().into_owned()
    }

    /// Whether it reads its input from a file that its arguments name, and not from standard input.
    pub fn reads_file(&self) -> bool {
        crate::fork_server::reads_file(&self.command)
    }

    /// The command that replays inputs with these options, as a shell takes it.
    pub fn replay_command(&self, options: &[&str], inputs: &[&Path]) -> String {
        let inputs = options.iter().map(OsStr::new).chain(inputs.iter().map(|input| input.as_os_str()));
        if self.command.is_empty() {
            return shell::command([self.program.as_os_str(), OsStr::new("replay")].into_iter().chain(inputs));
        }
        let replay = ["quagmire", "replay"].map(OsStr::new).into_iter();
        let target = self.command.iter().map(OsString::as_os_str);
        shell::command(replay.chain(inputs).chain([OsStr::new("--")]).chain(target))
    }
}
