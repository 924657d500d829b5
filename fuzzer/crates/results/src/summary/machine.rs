//! Machine of a campaign in `summary.json`.

use serde::{Deserialize, Serialize};

/// Noise of time measurements on this machine: a seed compared with itself.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// Largest deviation from 1 of the interval of the time ratio: 0.03 is 3 %.
    pub floor: f64,
    /// Number of rounds of the measurement.
    pub rounds: u32,
}

/// Machine and system that a campaign ran on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Name and version of the system and its kernel.
    pub system: String,
    /// Model of the processor.
    pub processor: String,
    /// Processors that the campaign could use.
    pub processors: u64,
    /// Memory, in bytes.
    pub memory: u64,
    /// Load average over one minute at the start of the campaign.
    pub load: f64,
}
