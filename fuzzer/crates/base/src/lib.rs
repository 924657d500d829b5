//! The ground of all crates of quagmire: errors for users, files that others may have written, text for terminals.

pub mod atomic;
pub mod error;
pub mod files;
pub mod format;
pub mod plain;
pub mod repeats;
pub mod seeds;
pub mod shell;
pub mod terminal;
pub mod units;
pub mod visible;

pub use atomic::write_whole;
