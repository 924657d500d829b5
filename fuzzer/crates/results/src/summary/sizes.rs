//! Expected costs by size in `summary.json`.

use serde::{Deserialize, Serialize};

use quagmire_cost::resource::Resource;

/// Expected cost of ordinary inputs of each size, measured with seeds, parts of them, and several of them joined.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sizes {
    /// Number of seeds that were measured.
    pub seeds: u64,
    /// Number of runs that were measured.
    pub runs: u64,
    /// Size of the largest input that was measured, in bytes.
    pub largest: u64,
    /// Expected amounts of each deterministic resource.
    pub costs: Vec<SizeCost>,
}

/// Expected amount of one resource: `fixed + per_byte x bytes`, and not less than the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SizeCost {
    /// The resource.
    pub resource: Resource,
    /// Amount at size 0.
    pub fixed: f64,
    /// Amount for each byte, the median over the seeds.
    pub per_byte: f64,
    /// Amount for each byte of expensive content: the cost that nine tenths of the pieces of the seeds do not exceed.
    /// The threshold refers to that.
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

/// Reason why an input above the threshold is no degradation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhyUnconfirmed {
    /// There was no time to measure it.
    NotMeasured,
    /// Its time did not tell it from the inputs that it was compared with.
    NotConfirmed,
    /// It did not return when it was run by itself.
    DidNotReturn,
    /// Parts of the seeds cost as much for their size.
    LikeSeeds,
    /// Its cost is in proportion to its size, and below the threshold for such content.
    Dense,
}

impl WhyUnconfirmed {
    /// The reason, for people.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::NotMeasured => "not measured in time",
            Self::NotConfirmed => "its time did not confirm it",
            Self::DidNotReturn => "it did not return when it was run by itself",
            Self::Dense => "its half costs half as much: expensive content, in proportion to its size",
            Self::LikeSeeds => "parts of the seeds cost as much for their size",
        }
    }
}

/// An input above the threshold for its size that was not confirmed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Unconfirmed {
    /// Its file, relative to the output folder.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Largest ratio among the resources of `--cost`; by size or by seed as `relative_to` says.
    pub ratio: f64,
    /// Its instructions as a multiple of the baseline.
    pub instructions_ratio: Option<f64>,
    /// Its instructions as a multiple of an ordinary input of its size.
    pub instructions_ratio_by_size: Option<f64>,
    /// Reason why it is no degradation.
    pub why: WhyUnconfirmed,
}

/// Input that served as an ordinary input of a finding's size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrdinaryInput {
    /// Its file, relative to the output folder: joined seeds, or the median seed.
    pub path: String,
    /// Factor on its times: 1 if it executes as many instructions as are expected of such an input.
    pub scale: f64,
}
