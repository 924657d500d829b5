//! Output of a campaign: the output folder with its files, the status display, and the Prometheus endpoint.

pub mod afl_stats;
pub mod comparison;
pub mod cost_tree;
pub mod damaged_logs;
pub mod ending;
pub mod explanation;
pub mod exporters;
pub mod folder;
pub mod growth;
pub mod growth_file;
pub mod growth_plot;
pub mod journal;
pub mod lock;
pub mod logs;
pub mod metrics;
pub mod names;
pub mod outcomes;
pub mod result_file;
pub mod score_file;
pub mod screen;
pub mod summary;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use afl_stats::{PlotData, write_fuzzer_stats};
pub use ending::final_report;
pub use explanation::{Explained, causes, explanation};
pub use folder::{OutputFolder, is_of_template, template_of};
pub use logs::{Logs, Phases};
pub use names::{Ancestry, EntryName};
pub use screen::{Screen, Style};
pub use summary::Summary;
