//! The corpus: which inputs are kept, and which entries still matter.
//!
//! There are three reasons to keep an input: a new hit-count bucket of an edge (AFL's coverage), a new maximum of an
//! edge's count (PerfFuzz's), and a new maximum of a total: of the cost that is looked for, of heap, of stack. Once some
//! entries are invalid, a bucket that is new among valid ones is a fourth (Zest's). Entries that are best at nothing any
//! more are evicted.

pub mod arms;
pub mod choices;
pub mod collisions;
pub mod diversity;
pub mod effort;
pub mod finds;
pub mod growth;
pub mod history;
pub mod objective;
pub mod rare;
pub mod search_state;
pub mod shadow;
pub mod size_limit;
pub mod top_rated;
pub mod towards;
