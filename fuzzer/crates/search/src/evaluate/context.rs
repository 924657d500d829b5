//! State that all stages of one worker share, and the checks between two runs: timer ticks, the end of the campaign,
//! failures.

use std::{cell::RefCell, rc::Rc, sync::atomic::Ordering::Relaxed};

use libafl::Error;

use super::hooks::{CampaignHooks, Interruption, Moment};
use crate::corpus::search_state::SearchState;
use quagmire_base::error::{Error as OurError, Result as OurResult};
use quagmire_execution::{
    counts::CountsObserver,
    fork_server,
    timer::{TICKED, WORN_OUT},
};

/// Shared state of the stages and the scheduler of one worker. LibAFL owns them and passes none of them to the others,
/// so they hold this state by reference counting.
pub struct StageContext<H> {
    /// Services of the campaign.
    pub hooks: Rc<RefCell<H>>,
    /// Knowledge of the search, which the scheduler shares.
    pub search: Rc<RefCell<SearchState>>,
    interruption: Rc<RefCell<Interruption>>,
}

impl<H> Clone for StageContext<H> {
    fn clone(&self) -> Self {
        Self { hooks: self.hooks.clone(), search: self.search.clone(), interruption: self.interruption.clone() }
    }
}

impl<H: CampaignHooks> StageContext<H> {
    /// Creates a context without an interruption.
    pub fn new(hooks: Rc<RefCell<H>>, search: Rc<RefCell<SearchState>>) -> Self {
        Self { hooks, search, interruption: Rc::default() }
    }

    /// Records why the current work is given up; stages return when they see it.
    pub fn interrupt(&self, interruption: Interruption) {
        *self.interruption.borrow_mut() = interruption;
    }

    /// Gives up the current work after a run that ended early in this process: the target's memory is in an unknown
    /// state until the target is loaded afresh. Does nothing if runs have processes of their own.
    pub fn ended_early(&self) {
        if !fork_server::is_used() {
            self.interrupt(Interruption::Restart);
        }
    }

    /// Reason why the current work was given up.
    pub fn interruption(&self) -> Interruption {
        self.interruption.borrow().clone()
    }

    /// Whether the current work was given up.
    pub fn is_interrupted(&self) -> bool {
        *self.interruption.borrow() != Interruption::None
    }

    /// Converts an error of quagmire into the error that ends LibAFL's loop, and remembers it as the interruption.
    pub fn check<T>(&self, result: OurResult<T>) -> Result<T, Error> {
        result.map_err(|error| {
            self.interrupt(Interruption::Failed(error));
            Error::shutting_down()
        })
    }

    /// Converts LibAFL's error back into the error of quagmire that caused it.
    pub fn reason(&self, error: &Error) -> OurError {
        match &*self.interruption.borrow() {
            Interruption::Failed(reason) => reason.clone(),
            _ => OurError::other(format!("LibAFL: {error}")),
        }
    }

    /// Does the work that is due after a run: reacts to a timer tick and to the end of the campaign. `executions` is
    /// the campaign's count. Returns whether to give up the current work.
    pub fn look(&self, executions: u64, counts: &CountsObserver) -> Result<bool, Error> {
        if TICKED.load(Relaxed) {
            TICKED.store(false, Relaxed);
            let moment = Moment::of(executions, counts.program());
            let done = self.hooks.borrow_mut().tick(moment, &self.search.borrow());
            self.check(done)?;
            if WORN_OUT.load(Relaxed) {
                self.interrupt(Interruption::Restart);
            }
        }
        if self.hooks.borrow().is_over(executions) && !self.is_interrupted() {
            self.interrupt(Interruption::Over);
        }
        Ok(self.is_interrupted())
    }
}
