//! Diversity of behaviour: traces of runs, the set of traces that were seen, and Hill numbers of what they cover.

pub mod hill;
pub mod table;
pub mod trace;
