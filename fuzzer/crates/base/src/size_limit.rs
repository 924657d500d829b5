//! Size limit of the inputs of a campaign, as the command line sets it.

use std::fmt;

/// Limit of the size of inputs, as set on the command line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SizeLimit {
    /// `--max-size`: this many bytes, at least 1.
    Absolute(u64),
    /// `--max-size-increase`: this many bytes beyond the largest seed.
    Increase(u64),
    /// `--max-size-ratio`: this many times the largest seed, at least 1.0.
    Ratio(f64),
    /// None of these options: `first` bytes beyond the largest seed, and up to `most` as far as that pays.
    Growing {
        /// Bytes beyond the largest seed at first.
        first: u64,
        /// Bytes beyond it in the end.
        most: u64,
    },
}

impl fmt::Display for SizeLimit {
    /// The option, as typed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absolute(bytes) => write!(f, "--max-size {bytes}"),
            Self::Increase(bytes) => write!(f, "--max-size-increase {bytes}"),
            Self::Ratio(ratio) => write!(f, "--max-size-ratio {ratio:?}"),
            Self::Growing { most, .. } => write!(f, "a size limit of {most} bytes beyond the largest seed"),
        }
    }
}

/// Factor by which a seed is far larger than it should be: what is quadratic then takes 256 times as long.
const FAR: u64 = 16;

/// Bytes beyond that factor at which a seed is not far larger than others, which may be tiny.
const NOT_FAR: u64 = 65_536;

impl SizeLimit {
    /// Resolves the limit to bytes, given the size of the largest seed in bytes. Never below that size: seeds are not
    /// cut.
    pub fn resolve(&self, largest_seed: u64) -> u64 {
        match *self {
            Self::Absolute(bytes) => bytes.max(largest_seed),
            Self::Increase(bytes) | Self::Growing { most: bytes, .. } => largest_seed.saturating_add(bytes),
            // the conversion saturates
            Self::Ratio(ratio) => ((largest_seed as f64 * ratio) as u64).max(largest_seed),
        }
    }

    /// The limit that a campaign begins with, in bytes.
    pub fn first(&self, largest_seed: u64) -> u64 {
        match *self {
            Self::Growing { first, .. } => largest_seed.saturating_add(first),
            _ => self.resolve(largest_seed),
        }
    }

    /// Size above which a seed is left out, where half of the seeds are no larger than `median`; `None` if all are taken.
    pub(crate) fn far_beyond(&self, median: u64) -> Option<u64> {
        match *self {
            Self::Absolute(bytes) => Some(bytes.saturating_mul(FAR)),
            Self::Growing { .. } => Some(median.saturating_mul(FAR).saturating_add(NOT_FAR)),
            Self::Increase(_) | Self::Ratio(_) => None,
        }
    }
}
