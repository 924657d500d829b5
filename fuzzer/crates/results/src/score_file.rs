//! The file that `quagmire mutants score` writes, as far as exporters and the page need it.

use std::collections::BTreeMap;

use quagmire_base::format::{counted, grouped};
use serde::{Deserialize, Serialize};

/// Name of the file in the folder of a score.
pub const SCORE: &str = "score.json";

/// How good a corpus is by the mutants that it notices; further keys are left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScoreFile {
    /// Version of quagmire.
    pub version: String,
    /// Number of inputs that are used.
    pub inputs: u64,
    /// Sums over all mutants.
    pub all: MutantCounts,
    /// Sums by operator.
    pub operators: BTreeMap<String, MutantCounts>,
    /// Sums by file and function.
    pub functions: BTreeMap<String, BTreeMap<String, MutantCounts>>,
    /// For each way to notice a mutant, the number that it has killed.
    pub killed_by: BTreeMap<String, u64>,
    /// Whether it was stopped before all mutants were done.
    pub is_incomplete: bool,
    /// Multiple of an input's own cost from which on it kills; `None` unless the mutants are of the performance kind.
    #[serde(default)]
    pub cost_factor: Option<f64>,
    /// All mutants, in the order of the program.
    pub mutants: Vec<ScoredMutant>,
}

/// Numbers of mutants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MutantCounts {
    /// All of them.
    pub mutants: u64,
    /// Those that some input reaches.
    pub reached: u64,
    /// Those that some input infects.
    pub infected: u64,
    /// Those that some input tells from the original.
    pub killed: u64,
    /// Those that no input can tell: in no other number.
    #[serde(default)]
    pub equivalent: u64,
}

impl MutantCounts {
    /// Share of the reached ones that are killed, 0 to 1; `None` if none is reached.
    pub fn killed_of_reached(&self) -> Option<f64> {
        (self.reached > 0).then(|| self.killed as f64 / self.reached as f64)
    }
}

/// A mutant and its fate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScoredMutant {
    /// Path of the source file, as the debug information has it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 if it is not known.
    pub column: u32,
    /// Name of the function, demangled.
    pub function: String,
    /// Name of the operator.
    pub operator: String,
    /// Source text that changes, as far as the compiler knows it.
    pub was: String,
    /// Source text that it becomes.
    pub became: String,
    /// Amount past which a performance mutant slows something down.
    #[serde(default)]
    pub gate: Option<u64>,
    /// Unit of that amount: `rounds`, `elements`, `bytes`, `hashes` or `hits`.
    #[serde(default)]
    pub gate_unit: Option<String>,
    /// Largest multiple of an input's own cost, for a performance mutant.
    #[serde(default)]
    pub worst_factor: Option<f64>,
    /// How far it has got.
    pub state: MutantState,
    /// Number of inputs that infect it.
    pub infected_by: u64,
    /// How it was noticed.
    #[serde(default)]
    pub killed: Option<MutantKill>,
}

/// How far a mutant has got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MutantState {
    /// The compiler makes the same code of it as of the original.
    Equivalent,
    /// No input runs its place.
    #[default]
    NotReached,
    /// Its value is the original one with each input.
    NotInfected,
    /// It is infected, and was not run.
    NotRun,
    /// No input tells it from the original.
    Survived,
    /// An input tells it from the original.
    Killed,
}

/// How a mutant was noticed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MutantKill {
    /// Way: `signal`, `hang`, `status`, `output`, `cost`.
    pub by: String,
    /// Path of the input.
    pub input: String,
}

impl ScoredMutant {
    /// Description of the change: `` `<` became `<=` ``, or only what became of it if the compiler does not know the text. Of a
    /// performance mutant: `loop: each round repeats those before it past 16 rounds`.
    pub fn change(&self) -> String {
        if let (Some(gate), Some(unit)) = (self.gate, &self.gate_unit) {
            let past = if gate > 0 { format!(" past {} {unit}", grouped(gate)) } else { String::new() };
            return format!("{}: {}{past}", self.was, self.became);
        }
        match self.was.as_str() {
            "" => self.became.clone(),
            was => format!("`{was}` became `{}`", self.became),
        }
    }

    /// Place as `file:line:column`.
    pub fn location(&self) -> String {
        format!("{}:{}:{}", self.file, self.line, self.column)
    }
}

impl ScoreFile {
    /// Word for mutants that have an effect: `infected`, or `slower`.
    pub fn infected_in_words(&self) -> &'static str {
        if self.cost_factor.is_some() { "slower" } else { "infected" }
    }

    /// The score in one sentence: killed of all, of reached, and of infected ones; for performance mutants, of those that
    /// some input is slower with.
    pub fn headline(&self) -> String {
        let MutantCounts { mutants, reached, infected, killed, .. } = self.all;
        let share = |whole: u64| format!("{:.1} %", killed as f64 * 100.0 / whole.max(1) as f64);
        format!(
            "{} of {} killed by {}: {} of all, {} of the {} reached, {} of the {} {}",
            grouped(killed),
            counted(mutants, if self.cost_factor.is_some() { "performance mutant" } else { "mutant" }),
            counted(self.inputs, "input"),
            share(mutants),
            share(reached),
            grouped(reached),
            share(infected),
            grouped(infected),
            self.infected_in_words()
        )
    }
}
