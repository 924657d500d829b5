//! The search: which inputs are kept, which are mutated next and how, and which goals mutants should keep.

pub mod choices;
pub mod corpus;
pub mod entry;
pub mod evaluate;
pub mod hooks;
pub mod input_corpus;
pub mod mask;
pub mod origin;
pub mod schedule;
pub mod stages;
pub mod state;
pub mod strategy;

pub use entry::EntryId;
