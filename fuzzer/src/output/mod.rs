//! The folder on disk and the screen: what a campaign leaves behind and what it says meanwhile.

pub mod afl_stats;
pub mod atomic;
pub mod ending;
pub mod folder;
pub mod format;
pub mod instrumentation;
pub mod lock;
pub mod logs;
pub mod names;
pub mod phases;
pub mod plain;
pub mod screen;
pub mod shell;
pub mod summary;
pub mod terminal;

pub use afl_stats::{AflStats, PlotData};
pub use atomic::write_whole;
pub use ending::final_report;
pub use folder::OutputFolder;
pub use instrumentation::Instrumentation;
pub use logs::Logs;
pub use names::EntryName;
pub use phases::Phases;
pub use screen::{Screen, Status, Style};
pub use summary::Summary;
pub use terminal::terminal_size;
