//! What measurements of two inputs say about them.

use serde::{Deserialize, Serialize};

/// Whether an input costs more than its seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It costs more: the interval lies above the noise floor and the rank test agrees.
    Degradation,
    /// It may cost more; the measurements do not settle it.
    Maybe,
    /// No difference beyond the noise.
    NoChange,
    /// It costs less.
    Optimisation,
}

/// How much more it costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Less than twice as much.
    Minor,
    /// 2 to 10 times.
    Moderate,
    /// 10 to 100 times.
    Severe,
    /// More than 100 times.
    Critical,
}

impl Severity {
    /// Of an input that costs `ratio` times as much as its seed.
    pub fn of(ratio: f64) -> Self {
        match ratio {
            r if r >= 100.0 => Self::Critical,
            r if r >= 10.0 => Self::Severe,
            r if r >= 2.0 => Self::Moderate,
            _ => Self::Minor,
        }
    }
}
