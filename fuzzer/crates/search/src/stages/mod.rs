//! LibAFL stages: the work on the entry that the scheduler has chosen.

/// Implements LibAFL's `Restartable` for a stage that begins anew when it was interrupted: its finds are in the
/// corpus.
macro_rules! begins_anew {
    ($stage:ident) => {
        impl<State> libafl::stages::Restartable<State> for $stage {
            fn should_restart(&mut self, _state: &mut State) -> Result<bool, libafl::Error> {
                Ok(true)
            }

            fn clear_progress(&mut self, _state: &mut State) -> Result<(), libafl::Error> {
                Ok(())
            }
        }
    };
}

pub mod checks;
pub mod choices;
pub mod comparisons;
pub mod deterministic;
mod families;
pub mod gathering;
pub mod measure;
pub mod mutate;
pub mod operators;
mod own_mutator;
pub mod prepare;
