//! What the stages need of the campaign around them, so that they do not know it.

use super::strategy::Yields;
use quagmire_base::error::Result;
use quagmire_cost::resource::Cost;
use quagmire_execution::{counts::CountsObserver, program::Program};

/// Numbers of one moment that only the state and the executor know.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moment {
    /// Of all sessions.
    pub executions: u64,
    /// Of the program: its branches.
    pub edges: u64,
    /// Of the program: how many steps of comparisons it shows.
    pub progress_slots: u64,
}

impl Moment {
    /// After so many executions of this program.
    pub fn of(executions: u64, program: &Program) -> Self {
        Self { executions, edges: program.branches() as u64, progress_slots: program.progress_slots() as u64 }
    }
}

/// A kept input, measured precisely.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// Of each resource the median over the runs.
    pub cost: Cost,
    /// Runs differed in what should be the same in every run.
    pub varies: bool,
}

/// The campaign, as the stages see it. Entries and operators go by their numbers.
pub trait Keeper {
    /// A round begins.
    fn begin_round(&mut self);

    /// The cost of an entry, as a multiple of the baseline.
    fn relative_cost(&self, entry: u32) -> f64;

    /// The entry that `entry` was made from.
    fn parent(&self, entry: u32) -> Option<u32>;

    /// What the operators have found lately.
    fn yields(&self) -> &Yields;

    /// A run ended: a mutant made by `operators`, or none for a run that only measures.
    fn executed(&mut self, operators: &[u16], counts: &CountsObserver);

    /// A mutant is worth keeping. Returns the entries that do not matter any more.
    ///
    /// # Errors
    /// If it cannot be written.
    fn keep_mutant(
        &mut self,
        parent: u32,
        operators: &[u16],
        bytes: &[u8],
        counts: &CountsObserver,
    ) -> Result<Vec<u32>>;

    /// The run of a mutant did not come back.
    ///
    /// # Errors
    /// If it cannot be written.
    fn mutant_ended(&mut self, parent: u32, operators: &[u16], bytes: &[u8], counts: &CountsObserver) -> Result<()>;

    /// Whether enough interesting inputs were gathered, or enough tried, for a phase of measuring.
    fn is_gathered(&self) -> bool;

    /// The next input to measure, and what its first run cost; `None` ends the phase, and gathering begins anew.
    ///
    /// # Errors
    /// If the log of phases cannot be written.
    fn next_to_measure(&mut self) -> Result<Option<(u32, Cost)>>;

    /// Whether something that was measured took clearly more time than all that is kept.
    fn is_slowest(&self, measured: &Measured) -> bool;

    /// An input was measured.
    fn measured(&mut self, entry: u32, measured: &Measured);

    /// A tick passed.
    ///
    /// # Errors
    /// If what is due cannot be written.
    fn tick(&mut self, moment: Moment) -> Result<()>;

    /// This input is not to be run: it ends the process.
    fn is_deadly(&self, bytes: &[u8]) -> bool;

    /// The campaign is over after this many executions, or if it says so.
    fn is_over(&self, executions: u64) -> bool;
}

/// Why a stage gave up before its work was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Interruption {
    /// It did not.
    #[default]
    None,
    /// The campaign is over.
    Over,
    /// The target's process is not to be trusted any more.
    Restart,
    /// Nothing can be written any more.
    Failed(quagmire_base::error::Error),
}
