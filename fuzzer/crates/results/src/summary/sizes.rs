//! What `summary.json` says about the size of inputs.

use serde::{Deserialize, Serialize};

use quagmire_cost::resource::Resource;

/// What ordinary inputs of each size cost, as measured with seeds, parts of them, and several of them joined.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sizes {
    /// Seeds that were used.
    pub seeds: u64,
    /// Runs that were measured.
    pub runs: u64,
    /// The largest input among them, in bytes.
    pub largest: u64,
    /// Of each resource that is the same in every run.
    pub costs: Vec<SizeCost>,
}

/// What an ordinary input uses of a resource: `fixed + per_byte x bytes`, and not less than the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SizeCost {
    /// Which resource.
    pub resource: Resource,
    /// Of any input.
    pub fixed: f64,
    /// For each byte: the median of the seeds.
    pub per_byte: f64,
    /// For each byte of dear content: what nine tenths of the pieces of the seeds cost at most. The threshold is held against
    /// that.
    pub per_byte_high: f64,
}

/// An input that costs more than the median seed because it is larger.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Large {
    /// Its file, relative to the output folder.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its instructions as a multiple of the baseline.
    pub instructions_ratio: Option<f64>,
    /// Its instructions as a multiple of an ordinary input of its size.
    pub instructions_ratio_by_size: Option<f64>,
}

/// An input that stood for an ordinary one of a finding's size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrdinaryInput {
    /// Its file, relative to the output folder: seeds that were joined, or the median seed.
    pub path: String,
    /// What its times were multiplied by: 1 if it executes as many instructions as is expected of such an input.
    pub scale: f64,
}
