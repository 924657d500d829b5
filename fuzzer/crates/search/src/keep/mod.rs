//! Which inputs are kept, and which of the kept ones still matter.
//!
//! Keeping follows three reasons: a new hit-count bucket of an edge (AFL's coverage), a new maximum of an edge's count
//! (PerfFuzz's), a new maximum of a total: of the cost that is looked for, of heap, of stack. What is kept but no longer best at anything is set aside.

pub mod champions;
pub mod effort;
pub mod history;
pub mod kept;
pub mod offspring;
pub mod rare;
pub mod round;
pub mod shadow;
pub mod steering;
