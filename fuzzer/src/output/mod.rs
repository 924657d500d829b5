//! The folder on disk and the screen: what a campaign leaves behind and what it says meanwhile.

pub mod afl_stats;
pub mod atomic;
pub mod folder;
pub mod logs;
pub mod names;
pub mod screen;
pub mod summary;

pub use afl_stats::{AflStats, PlotData};
pub use atomic::write_whole;
pub use folder::OutputFolder;
pub use logs::Logs;
pub use names::EntryName;
pub use screen::{Screen, Status, final_report};
pub use summary::Summary;
