//! The campaign around the search, as the search sees it.

use super::origin::Origin;
use crate::{
    EntryId,
    keep::{history::Novelty, kept::Kept},
    schedule::strategy::Yields,
};
use quagmire_base::error::Result;
use quagmire_cost::resource::Cost;
use quagmire_execution::{counts::CountsObserver, program::Program};

/// Numbers of one moment that only the state and the executor know.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moment {
    /// Executions of all sessions.
    pub executions: u64,
    /// Branches of the program.
    pub edges: u64,
    /// Steps of comparisons that the program shows.
    pub progress_slots: u64,
}

impl Moment {
    /// The moment after so many executions of this program.
    pub fn of(executions: u64, program: &Program) -> Self {
        Self { executions, edges: program.branches() as u64, progress_slots: program.progress_slots() as u64 }
    }
}

/// A kept input, measured precisely.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// Median of each resource over the runs.
    pub cost: Cost,
    /// Whether runs differed in what should be the same in every run.
    pub varies: bool,
}

/// Services of the campaign for the search: it records, writes, and says when to stop.
pub trait CampaignHooks {
    /// Counts a round.
    fn begin_round(&mut self);

    /// Cost of an entry, as a multiple of the baseline.
    fn relative_cost(&self, entry: EntryId) -> f64;

    /// The entry that `entry` was made from.
    fn parent(&self, entry: EntryId) -> Option<EntryId>;

    /// Finds of the operators lately.
    fn yields(&self) -> &Yields;

    /// Counts a run that has just ended.
    fn executed(&mut self, origin: &Origin<'_>, moment: Moment, counts: &CountsObserver);

    /// Records and writes the input of the last run as the next entry. Returns its score as a parent. `search` does not know
    /// the entry yet.
    ///
    /// # Errors
    /// If it cannot be written; then it is not recorded either.
    fn enter(
        &mut self,
        origin: &Origin<'_>,
        bytes: &[u8],
        novelty: Novelty,
        counts: &CountsObserver,
        search: &Kept,
    ) -> Result<f64>;

    /// Records a run that did not come back.
    ///
    /// # Errors
    /// If its input cannot be written.
    fn ended_early(&mut self, origin: &Origin<'_>, bytes: &[u8], counts: &CountsObserver) -> Result<()>;

    /// Whether enough interesting inputs were gathered, or enough tried, for a phase of measuring.
    fn is_gathered(&self) -> bool;

    /// The next input to measure, and what its first run cost; `None` ends the phase, and gathering begins anew.
    ///
    /// # Errors
    /// If the log of phases cannot be written.
    fn next_to_measure(&mut self) -> Result<Option<(EntryId, Cost)>>;

    /// Whether something that was measured took clearly more time than all that is kept.
    fn is_slowest(&self, measured: &Measured) -> bool;

    /// Records what an entry costs by precise measurement. Returns its score from now on.
    fn measured(&mut self, entry: EntryId, measured: &Measured) -> f64;

    /// Shows and writes what is due after a tick.
    ///
    /// # Errors
    /// If that cannot be written.
    fn tick(&mut self, moment: Moment, search: &Kept) -> Result<()>;

    /// Whether an input is known to end the process.
    fn is_deadly(&self, bytes: &[u8]) -> bool;

    /// Whether the campaign is over after this many executions.
    fn is_over(&self, executions: u64) -> bool;
}

/// Reason for a stage to give up before its work is done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Interruption {
    /// There is none.
    #[default]
    None,
    /// The campaign is over.
    Over,
    /// The target's process is not to be trusted any more.
    Restart,
    /// Something could not be written.
    Failed(quagmire_base::error::Error),
}
