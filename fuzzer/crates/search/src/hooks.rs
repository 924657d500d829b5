//! Interface of the campaign for the search.

use crate::{
    EntryId,
    corpus::{history::Novelty, search_state::SearchState},
    origin::Origin,
    strategy::Yields,
};
use quagmire_base::error::Result;
use quagmire_cost::resource::Cost;
use quagmire_execution::{counts::CountsObserver, own_mutator::MutatorFailure, program::Program};

/// Counts that only LibAFL's state and the executor know, at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moment {
    /// Executions of all sessions.
    pub executions: u64,
    /// Branches of the program.
    pub edges: u64,
    /// Progress slots of the program: steps of comparisons that it reports.
    pub progress_slots: u64,
}

impl Moment {
    /// Collects the counts after `executions` of this program.
    pub fn of(executions: u64, program: &Program) -> Self {
        Self { executions, edges: program.branches() as u64, progress_slots: program.progress_slots() as u64 }
    }
}

/// Precise measurement of an input.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// Median of each resource over the runs.
    pub cost: Cost,
    /// Whether the runs differed in instructions, which should be the same in every run.
    pub varies: bool,
}

/// Services of the campaign for the search: it records, writes files, and says when to stop.
pub trait CampaignHooks {
    /// Counts a round of mutation.
    fn begin_round(&mut self);

    /// Instructions of an entry as a multiple of the baseline, or the amount of the noisy resource that the search
    /// follows if that is a larger one; 1 before there is a baseline.
    fn relative_cost(&self, entry: EntryId) -> f64;

    /// Entry that `entry` was made from; `None` for a seed.
    fn parent(&self, entry: EntryId) -> Option<EntryId>;

    /// Name of the file of an entry in the queue; `None` if it has none.
    fn file(&self, entry: EntryId) -> Option<String>;

    /// Recent finds of the operators.
    fn yields(&self) -> &Yields;

    /// Counts a run that has just ended.
    fn executed(&mut self, origin: &Origin<'_>, moment: Moment, counts: &CountsObserver);

    /// Records the input of the last run as the next entry, and writes its file. Returns its score as a parent. Called
    /// before `search` knows the entry.
    ///
    /// # Errors
    /// If it cannot be written; then it is not recorded either.
    fn enter(
        &mut self,
        origin: &Origin<'_>,
        bytes: &[u8],
        novelty: Novelty,
        counts: &CountsObserver,
        search: &SearchState,
    ) -> Result<f64>;

    /// Writes down the template that an entry was made of.
    ///
    /// # Errors
    /// If it cannot be written.
    fn note_template(&mut self, entry: EntryId, template: &str) -> Result<()>;

    /// Records a run that ended early.
    fn ended_early(&mut self, origin: &Origin<'_>, bytes: &[u8], counts: &CountsObserver) -> Result<()>;

    /// Records that the harness's own mutator did not return when it was called for a mutant of `parent`.
    ///
    /// # Errors
    /// If the mutator fails too often, or the log cannot be written.
    fn mutator_failed(&mut self, parent: EntryId, failure: MutatorFailure) -> Result<()>;

    /// Whether the gathering phase is over: enough interesting inputs were gathered, or enough executions made.
    fn is_gathered(&self) -> bool;

    /// Next entry to measure, and the cost of its first run. `None` ends the measuring phase, and gathering begins
    /// anew.
    fn next_to_measure(&mut self) -> Result<Option<(EntryId, Cost)>>;

    /// Whether a measured time clearly exceeds the longest time of all entries.
    fn is_slowest(&self, measured: &Measured) -> bool;

    /// Records the precise cost of an entry. Returns its new score.
    fn measured(&mut self, entry: EntryId, measured: &Measured) -> f64;

    /// Updates the display and the files that are due after a timer tick.
    ///
    /// # Errors
    /// If that cannot be written.
    fn tick(&mut self, moment: Moment, search: &SearchState) -> Result<()>;

    /// Whether an input is not to be run: it is known to end the process, or an option leaves it out.
    fn is_left_out(&self, bytes: &[u8]) -> bool;

    /// Instructions of inputs in a process of their own; `None` if it was stopped or failed, or if one did not return.
    fn instructions_apart(&self, inputs: &[&[u8]]) -> Option<Vec<u64>>;

    /// Whether the campaign is over after this many executions.
    fn is_over(&self, executions: u64) -> bool;
}

/// Reason why a stage gives up before its work is done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Interruption {
    /// No reason: the work goes on.
    #[default]
    None,
    /// The campaign is over.
    Over,
    /// State of the target's process is unknown: the worker has to be restarted.
    Restart,
    /// Error that ends the campaign: something could not be written.
    Failed(quagmire_base::error::Error),
}
