//! Output of a campaign: the output folder with its files, the status display, and the Prometheus endpoint.

pub mod afl_stats;
pub mod ending;
pub mod exporters;
pub mod folder;
pub mod growth;
pub mod lock;
pub mod logs;
pub mod metrics;
pub mod names;
pub mod phases;
pub mod screen;
pub mod summary;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use afl_stats::{AflStats, PlotData};
pub use ending::final_report;
pub use folder::OutputFolder;
pub use logs::Logs;
pub use names::EntryName;
pub use phases::Phases;
pub use screen::{Screen, Status, Style};
pub use summary::Summary;
