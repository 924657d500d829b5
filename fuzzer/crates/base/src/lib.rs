//! Foundations of all quagmire crates: errors for users, safe access to files of others, text for terminals and
//! shells.

pub mod atomic;
pub mod corpus_folder;
pub mod dictionary;
pub mod error;
pub mod files;
pub mod format;
pub mod path_filter;
pub mod plain;
pub mod repeats;
pub mod seeds;
pub mod shell;
pub mod size_limit;
pub mod terminal;
pub mod units;
pub mod visible;

pub use atomic::write_whole;
