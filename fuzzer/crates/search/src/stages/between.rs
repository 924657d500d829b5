//! What every stage looks at between two runs: ticks, the end of the campaign, failures.

use std::{cell::RefCell, rc::Rc, sync::atomic::Ordering::Relaxed};

use libafl::Error;

use super::keeper::{Interruption, Keeper, Moment};
use quagmire_base::error::Result as OurResult;
use quagmire_execution::{
    counts::CountsObserver,
    fork_server,
    timer::{TICKED, WORN_OUT},
};

/// The campaign, and what interrupts the stages. Shared by all stages of one worker.
pub struct Between<K> {
    /// The campaign.
    pub keeper: Rc<RefCell<K>>,
    interruption: Rc<RefCell<Interruption>>,
}

impl<K> Clone for Between<K> {
    fn clone(&self) -> Self {
        Self { keeper: self.keeper.clone(), interruption: self.interruption.clone() }
    }
}

impl<K: Keeper> Between<K> {
    /// Leaves in `interruption` what stages were given up for.
    pub fn new(keeper: Rc<RefCell<K>>, interruption: Rc<RefCell<Interruption>>) -> Self {
        Self { keeper, interruption }
    }

    /// Gives up the current work.
    pub fn interrupt(&self, interruption: Interruption) {
        *self.interruption.borrow_mut() = interruption;
    }

    /// A run ended early. In this process, nobody knows what it left in the target's memory: the work is given up until the
    /// target is loaded afresh.
    pub fn ended_early(&self) {
        if !fork_server::is_used() {
            self.interrupt(Interruption::Restart);
        }
    }

    /// Whether it was given up.
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

    /// To be called after each run. `executions` are those of the campaign. Whether to give up.
    pub fn look(&self, executions: u64, counts: &CountsObserver) -> Result<bool, Error> {
        if TICKED.load(Relaxed) {
            TICKED.store(false, Relaxed);
            let done = self.keeper.borrow_mut().tick(Moment::of(executions, counts.program()));
            self.check(done)?;
            if WORN_OUT.load(Relaxed) {
                self.interrupt(Interruption::Restart);
            }
        }
        if self.keeper.borrow().is_over(executions) && !self.is_interrupted() {
            self.interrupt(Interruption::Over);
        }
        Ok(self.is_interrupted())
    }
}
