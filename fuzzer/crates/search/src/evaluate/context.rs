//! State that all stages of one worker share, and what they look at between two runs: ticks, the end of the campaign,
//! failures.

use std::{cell::RefCell, rc::Rc, sync::atomic::Ordering::Relaxed};

use libafl::Error;

use super::hooks::{CampaignHooks, Interruption, Moment};
use crate::keep::kept::Kept;
use quagmire_base::error::{Error as OurError, Result as OurResult};
use quagmire_execution::{
    counts::CountsObserver,
    fork_server,
    timer::{TICKED, WORN_OUT},
};

/// State of one worker that stages share. LibAFL owns its stages and its scheduler, and hands neither of them anything of
/// the others: so they hold it together.
pub struct StageContext<H> {
    /// The campaign.
    pub hooks: Rc<RefCell<H>>,
    /// Knowledge of the search, which the scheduler holds as well.
    pub search: Rc<RefCell<Kept>>,
    interruption: Rc<RefCell<Interruption>>,
}

impl<H> Clone for StageContext<H> {
    fn clone(&self) -> Self {
        Self { hooks: self.hooks.clone(), search: self.search.clone(), interruption: self.interruption.clone() }
    }
}

impl<H: CampaignHooks> StageContext<H> {
    /// A context without an interruption.
    pub fn new(hooks: Rc<RefCell<H>>, search: Rc<RefCell<Kept>>) -> Self {
        Self { hooks, search, interruption: Rc::default() }
    }

    /// Gives up the current work.
    pub fn interrupt(&self, interruption: Interruption) {
        *self.interruption.borrow_mut() = interruption;
    }

    /// Gives up the current work after a run that ended early, unless it ran in a process of its own. In this one, nobody
    /// knows what it left in the target's memory, until the target is loaded afresh.
    pub fn ended_early(&self) {
        if !fork_server::is_used() {
            self.interrupt(Interruption::Restart);
        }
    }

    /// Reason for which the current work was given up.
    pub fn interruption(&self) -> Interruption {
        self.interruption.borrow().clone()
    }

    /// Whether the current work was given up.
    pub fn is_interrupted(&self) -> bool {
        *self.interruption.borrow() != Interruption::None
    }

    /// Turns our error into the end of LibAFL's loop.
    pub fn check<T>(&self, result: OurResult<T>) -> Result<T, Error> {
        result.map_err(|error| {
            self.interrupt(Interruption::Failed(error));
            Error::shutting_down()
        })
    }

    /// Turns the end of LibAFL's loop back into the error that was its reason.
    pub fn reason(&self, error: &Error) -> OurError {
        match &*self.interruption.borrow() {
            Interruption::Failed(reason) => reason.clone(),
            _ => OurError::other(format!("LibAFL: {error}")),
        }
    }

    /// Does what is due after a run, of which the campaign has had `executions`. Returns whether to give up.
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
