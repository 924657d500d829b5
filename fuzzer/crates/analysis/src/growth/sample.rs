//! Runs at sizes, and what the sizes are.

use serde::Serialize;

use crate::runner::Run;
use quagmire_choices::template::Template;

/// A run at one size.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    /// Number of repetitions.
    pub n: u64,
    /// Size of the input in bytes.
    pub bytes: u64,
    pub run: Run,
}

/// Sizes of a template's runs: what laws are laws of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Axis {
    /// Number of repetitions.
    Repetitions,
    /// Bytes: where they do not grow in proportion to the number of repetitions.
    Bytes,
}

impl Axis {
    /// Axis of a template: bytes if twice the repetitions are clearly more than twice the bytes.
    pub(super) fn of(template: &Template) -> Self {
        let (once, twice, four) = (template.size(1_000), template.size(2_000), template.size(4_000));
        let ratio = (four - twice) as f64 / (twice - once).max(1) as f64;
        if ratio > 2.2 { Self::Bytes } else { Self::Repetitions }
    }

    /// Size of a sample on this axis.
    pub(super) fn size(self, sample: &Sample) -> u64 {
        if self == Self::Bytes { sample.bytes } else { sample.n }
    }
}
