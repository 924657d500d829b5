//! Runs the program under test, in process or under a fork server, and observes counts, cost and how each run ends.

pub mod abi;
pub mod bucket;
pub mod build_settings;
pub mod clock;
mod code_tokens;
pub mod comparisons;
pub mod counts;
pub mod diversity;
pub mod draws;
pub mod executor;
pub mod fork_server;
pub mod harness;
pub mod hits;
pub mod huge_pages;
pub mod info;
pub mod input_page;
pub mod interruption;
pub mod known_lines;
#[cfg(test)]
mod layout;
pub mod line_table;
pub mod lines;
pub mod lookup;
pub mod mutator_library;
pub mod notices;
pub mod orphans;
pub mod own_mutator;
pub mod own_program;
pub mod perf;
pub mod pipes;
pub mod prepare;
mod proc_files;
pub mod process;
pub mod program;
pub mod recognise;
pub mod region;
pub mod sampled;
pub mod session;
pub mod sources;
pub mod sums;
pub mod symbols;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod timer;
mod validity;
pub mod watchdog;
