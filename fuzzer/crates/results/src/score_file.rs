//! The file that `quagmire mutants score` writes, as far as exporters and the page need it.

use std::collections::BTreeMap;

use quagmire_base::format::{counted, grouped};
use serde::{Deserialize, Serialize};

/// Name of the file in the folder of a score.
pub const SCORE: &str = "score.json";

/// How good a corpus is by the mutants that it notices, as printed with `--json` and written to [`SCORE`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScoreFile {
    /// Version of quagmire.
    pub version: String,
    /// SHA-256 of the program and its arguments: results of the same one can be compared.
    pub program: String,
    /// Number of inputs that are used.
    pub inputs: u64,
    /// Inputs that are not used.
    pub left_out: Vec<LeftOut>,
    /// Sums over all mutants.
    pub all: MutantCounts,
    /// Sums by operator.
    pub operators: BTreeMap<String, MutantCounts>,
    /// Sums by file and function.
    pub functions: BTreeMap<String, BTreeMap<String, MutantCounts>>,
    /// For each way to notice a mutant, the number that it has killed.
    pub killed_by: BTreeMap<String, u64>,
    /// Number of runs of mutants.
    pub runs: u64,
    /// Most inputs that a mutant was run with.
    pub inputs_per_mutant: u64,
    /// Whether it was stopped before all mutants were done.
    pub is_incomplete: bool,
    /// Multiple of the CPU time from which on a mutant is killed by it, of small faults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slower: Option<f64>,
    /// Multiple of an input's own cost from which on it kills; `None` unless the mutants are of the performance kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_factor: Option<f64>,
    /// Sums by operator and gate, for performance mutants.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ladder: Vec<Rung>,
    /// All mutants, in the order of the program.
    pub mutants: Vec<ScoredMutant>,
}

/// An input that is not used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Its file.
    pub path: String,
    /// Why.
    pub reason: Unfit,
}

/// Reasons not to use an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unfit {
    /// Its runs differ.
    Unstable,
    /// It runs into the hang timeout.
    Hang,
    /// It ends the process that serves runs.
    Lost,
    /// It does something else where the program is not optimised.
    DiffersUnoptimised,
}

impl Unfit {
    /// The reason for people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Unstable => "not the same in each run",
            Self::Hang => "longer than --hang-timeout",
            Self::Lost => "ended its server",
            Self::DiffersUnoptimised => "does something else where it is not optimised",
        }
    }
}

/// Numbers of mutants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MutantCounts {
    /// All of them.
    pub mutants: u64,
    /// Those that some input reaches.
    pub reached: u64,
    /// Those that some input infects: their value differs from the original one. Of performance mutants: some input costs more.
    pub infected: u64,
    /// Those that some input tells from the original.
    pub killed: u64,
    /// Those that no input can tell: in no other number.
    #[serde(default)]
    pub equivalent: u64,
}

/// Performance mutants of one operator with one gate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rung {
    /// Name of the operator.
    pub operator: String,
    /// Amount past which they slow something down.
    pub gate: u64,
    /// Their numbers.
    #[serde(flatten)]
    pub counts: MutantCounts,
    /// Number of mutants with which some input costs at least 2 times what it does without.
    pub at_2: u64,
    /// The same for 10 times.
    pub at_10: u64,
    /// The same for 100 times.
    pub at_100: u64,
}

impl MutantCounts {
    /// Counts a mutant.
    pub fn add(&mut self, one: &ScoredMutant) {
        if one.state == MutantState::Equivalent {
            self.equivalent += 1;
            return;
        }
        self.mutants += 1;
        self.reached += u64::from(one.state > MutantState::NotReached);
        self.infected += u64::from(one.infected_by > 0);
        self.killed += u64::from(one.state == MutantState::Killed);
    }

    /// Share of the reached ones that are killed, 0 to 1; `None` if none is reached.
    pub fn killed_of_reached(&self) -> Option<f64> {
        (self.reached > 0).then(|| self.killed as f64 / self.reached as f64)
    }
}

/// A small fault in the source, or a place that could be slower.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mutant {
    /// Name by which `QUAGMIRE_MUTANT` chooses it: the same in each build of a source.
    #[serde(default)]
    pub id: String,
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
    /// Amount past which a performance mutant slows something down: 0, 16, 256 or 4,096.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<u64>,
    /// Unit of that amount: `rounds`, `elements`, `bytes`, `hashes` or `hits`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate_unit: Option<String>,
    /// Whether a performance mutant is run, since its cost cannot be charged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_run: bool,
}

/// A mutant and its fate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScoredMutant {
    /// The mutant.
    #[serde(flatten)]
    pub mutant: Mutant,
    /// How far it has got.
    pub state: MutantState,
    /// Number of inputs that infect it; of a performance mutant, that cost more with it.
    pub infected_by: u64,
    /// Number of its runs.
    pub runs: u64,
    /// Number of the runs of a performance mutant that end, answer or write differently: they say nothing of its cost.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub changed_runs: u64,
    /// How it was noticed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub killed: Option<MutantKill>,
    /// Largest multiple of an input's own cost, for a performance mutant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst_factor: Option<f64>,
    /// The instructions that the mutant adds to that input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst_added: Option<u64>,
    /// That input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst_input: Option<String>,
    /// With `--in-order mtime`: age of the input that kills it, in seconds since the first input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_killed_at: Option<f64>,
}

/// Whether a number need not be written.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands references over")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// How far a mutant has got: each state but the last includes those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MutantKill {
    /// The way.
    pub by: KilledBy,
    /// Path of the input.
    pub input: String,
    /// Details, such as the signal; may be empty.
    #[serde(default)]
    pub detail: String,
}

/// Ways to notice a mutant, the first that applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KilledBy {
    /// A signal: a crash, or a report of a sanitizer.
    Signal,
    /// It takes more than ten times the CPU time, or waits for too long, twice in a row.
    Hang,
    /// Another exit status, or another return value of the harness.
    Status,
    /// Another output, or something else that the harness has shown.
    Output,
    /// The cost, a multiple of that of the original: of a performance mutant, or CPU time if that is asked for.
    Cost,
}

impl KilledBy {
    /// All ways.
    pub const ALL: [Self; 5] = [Self::Signal, Self::Hang, Self::Status, Self::Output, Self::Cost];

    /// Name in texts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Signal => "signal",
            Self::Hang => "hang",
            Self::Status => "status",
            Self::Output => "output",
            Self::Cost => "cost",
        }
    }
}

impl Mutant {
    /// Description of the change: `` `<` became `<=` ``, or only what became of it if the compiler does not know the text. Of a
    /// performance mutant: `loop: each round repeats those before it past 16 rounds`.
    pub fn change(&self) -> String {
        if self.gate.is_some() {
            return format!("{}: {}{}", self.was, self.became, self.past());
        }
        match self.was.as_str() {
            "" => self.became.clone(),
            was => format!("`{was}` became `{}`", self.became),
        }
    }

    /// Its gate in words, after a blank; empty without one.
    pub fn past(&self) -> String {
        match (self.gate, &self.gate_unit) {
            (Some(gate @ 1..), Some(unit)) => format!(" past {} {unit}", grouped(gate)),
            _ => String::new(),
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
