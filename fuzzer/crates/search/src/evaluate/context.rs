//! State that all stages of one worker share, and the checks between two runs: timer ticks, the end of the campaign,
//! failures.

use std::{cell::RefCell, rc::Rc, sync::atomic::Ordering::Relaxed};

use libafl::Error;

use super::hooks::{CampaignHooks, Interruption, Moment};
use crate::keep::kept::Kept;
use quagmire_base::error::{Error as OurError, Result as OurResult};
use quagmire_execution::{
    counts::CountsObserver,
    timer::{TICKED, WORN_OUT},
};

/// Shared state of the stages and the scheduler of one worker. LibAFL owns them and passes none of them to the others,
/// so they hold this state by reference counting.
pub struct StageContext<H> {
    /// Services of the campaign.
    pub hooks: Rc<RefCell<H>>,
    /// Knowledge of the search, which the scheduler shares.
    pub search: Rc<RefCell<Kept>>,
    interruption: Rc<RefCell<Interruption>>,
    is_isolated: bool,
}

impl<H> Clone for StageContext<H> {
    fn clone(&self) -> Self {
        let Self { hooks, search, interruption, is_isolated } = self;
        let (hooks, search, interruption) = (hooks.clone(), search.clone(), interruption.clone());
        Self { hooks, search, interruption, is_isolated: *is_isolated }
    }
}

impl<H: CampaignHooks> StageContext<H> {
    /// Creates a context without an interruption; `is_isolated` if each run is a process of its own.
    pub fn new(hooks: Rc<RefCell<H>>, search: Rc<RefCell<Kept>>, is_isolated: bool) -> Self {
        Self { hooks, search, interruption: Rc::default(), is_isolated }
    }

    /// Whether each run is a process of its own, so that a crash ends nothing else.
    pub fn is_isolated(&self) -> bool {
        self.is_isolated
    }

    /// Records why the current work is given up; stages return when they see it.
    pub fn interrupt(&self, interruption: Interruption) {
        *self.interruption.borrow_mut() = interruption;
    }

    /// Gives up the current work after a run that ended early in this process: the target's memory is in an unknown
    /// state until the target is loaded afresh. Does nothing if runs have processes of their own.
    pub fn ended_early(&self) {
        if !self.is_isolated {
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
