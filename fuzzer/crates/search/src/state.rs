//! State of a campaign, which LibAFL hands to the scheduler and to every stage.

mod libafl_traits;
pub mod saved;

use std::sync::atomic::Ordering::Relaxed;

use libafl::{
    Error,
    corpus::InMemoryCorpus,
    inputs::BytesInput,
    state::{HasExecutions, StdState},
};
use libafl_bolts::rands::StdRand;

use crate::{
    corpus::search_state::SearchState,
    hooks::{CampaignHooks, Interruption, Moment},
};
use quagmire_base::error::{Error as OurError, Result as OurResult};
use quagmire_execution::{
    counts::CountsObserver,
    timer::{TICKED, WORN_OUT},
};

/// Corpus of a campaign.
pub type InputCorpus = InMemoryCorpus<BytesInput>;

/// LibAFL's part of the state: corpus, random numbers, counters.
pub type LibaflState = StdState<InputCorpus, BytesInput, StdRand, InputCorpus>;

/// State of a campaign in one worker: LibAFL's, the knowledge of the search, and the services of the campaign.
pub struct CampaignState<H> {
    /// Corpus, random numbers, counters.
    pub libafl: LibaflState,
    /// Knowledge of the search.
    pub search: SearchState,
    /// Services of the campaign.
    pub hooks: H,
    interruption: Interruption,
    is_isolated: bool,
}

impl<H: CampaignHooks> CampaignState<H> {
    /// Creates a state without an interruption; `is_isolated` if each run is a process of its own.
    pub fn new(libafl: LibaflState, search: SearchState, hooks: H, is_isolated: bool) -> Self {
        Self { libafl, search, hooks, interruption: Interruption::None, is_isolated }
    }

    /// Whether each run is a process of its own, so that a crash ends nothing else.
    pub fn is_isolated(&self) -> bool {
        self.is_isolated
    }

    /// Records why the current work is given up; stages return when they see it.
    pub fn interrupt(&mut self, interruption: Interruption) {
        self.interruption = interruption;
    }

    /// Gives up the current work after a run that ended early in this process: the target's memory is in an unknown
    /// state until the target is loaded afresh. Does nothing if runs have processes of their own.
    pub fn ended_early(&mut self) {
        if !self.is_isolated {
            self.interrupt(Interruption::Restart);
        }
    }

    /// Reason why the current work was given up.
    pub fn interruption(&self) -> &Interruption {
        &self.interruption
    }

    /// Whether the current work was given up.
    pub fn is_interrupted(&self) -> bool {
        self.interruption != Interruption::None
    }

    /// Converts an error of quagmire into the error that ends LibAFL's loop, and remembers it as the interruption.
    ///
    /// # Errors
    /// If `result` is one.
    pub fn check<T>(&mut self, result: OurResult<T>) -> Result<T, Error> {
        result.map_err(|error| {
            self.interrupt(Interruption::Failed(error));
            Error::shutting_down()
        })
    }

    /// Converts LibAFL's error back into the error of quagmire that caused it.
    pub fn reason(&self, error: &Error) -> OurError {
        match &self.interruption {
            Interruption::Failed(reason) => reason.clone(),
            _ => OurError::other(format!("LibAFL: {error}")),
        }
    }

    /// Does the work that is due after a run, whose counts are given: reacts to a timer tick and to the end of the
    /// campaign. Returns whether to give up the current work.
    ///
    /// # Errors
    /// If a file that was due could not be written.
    pub fn look(&mut self, counts: &CountsObserver) -> Result<bool, Error> {
        let executions = *self.libafl.executions();
        if TICKED.load(Relaxed) {
            TICKED.store(false, Relaxed);
            let done = self.hooks.tick(Moment::of(executions, counts.program()), &self.search);
            self.check(done)?;
            if WORN_OUT.load(Relaxed) {
                self.interrupt(Interruption::Restart);
            }
        }
        if self.hooks.is_over(executions) && !self.is_interrupted() {
            self.interrupt(Interruption::Over);
        }
        Ok(self.is_interrupted())
    }
}
