//! The file that `quagmire growth --json` prints, as far as exporters and pictures need it.

use quagmire_cost::resource::Resource;
use serde::{Deserialize, Serialize};

use crate::summary::{self, LawPoint};

/// Growth of the cost of an input, as `quagmire growth --json` prints it; further keys are left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GrowthFile {
    /// The input; `None` for a template given by the user.
    pub input: Option<String>,
    /// Template of which all inputs that were run are instances.
    pub template: String,
    /// Resource whose amount grows.
    pub resource: Resource,
    /// The law in words.
    pub words: String,
    /// Name of its class: `quadratic`, `n log n`, `n^1.5`.
    pub class: String,
    /// Sizes that the law is a law of: `repetitions` or `bytes`.
    #[serde(default = "repetitions")]
    pub axis: String,
    /// Size from which on the highest term is more than all others together.
    #[serde(default)]
    pub crossover: Option<f64>,
    /// Runs of the template.
    pub points: Vec<LawPoint>,
    /// Laws of the most expensive functions.
    #[serde(default)]
    pub functions: Vec<PlaceGrowth>,
    /// Laws of the most expensive source lines.
    #[serde(default)]
    pub lines: Vec<PlaceGrowth>,
    /// CPU times; `None` if they are not known.
    #[serde(default)]
    pub times: Option<GrowthTimes>,
    /// Command in one line that prints an instance.
    #[serde(default)]
    pub generator: String,
}

fn repetitions() -> String {
    "repetitions".into()
}

/// Law of a function or a source line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlaceGrowth {
    /// Demangled name of the function.
    pub function: String,
    /// `file:line`, if there is debug information.
    pub location: Option<String>,
    /// Share of the instructions at the largest size, 0 to 1.
    pub share: f64,
    /// The law in words.
    pub words: String,
}

/// Sizes that take given times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GrowthTimes {
    /// The sizes.
    pub sizes: Vec<GrowthTime>,
}

/// Size that takes a given time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GrowthTime {
    /// The time in seconds.
    pub seconds: f64,
    /// Size in bytes, and the least and the most by the measured times.
    pub bytes: [f64; 3],
    /// Whether it is near enough to the largest size that was run.
    pub is_safe: bool,
}

impl GrowthFile {
    /// Whether the cost grows faster than the size, by more than a logarithm.
    pub fn is_superlinear(&self) -> bool {
        summary::is_superlinear(&self.class)
    }
}

#[cfg(test)]
mod tests {
    use crate::outcomes::growth;

    #[test]
    fn laws_above_n_log_n_are_superlinear() {
        let mut growth = growth::tests::growth();
        for (class, expected) in [
            ("constant", false),
            ("linear", false),
            ("n log n", false),
            ("n^0.5", false),
            ("n^1.5", true),
            ("quadratic", true),
            ("cubic", true),
            ("exponential", true),
        ] {
            growth.class = class.into();
            assert_eq!(growth.is_superlinear(), expected, "{class}");
        }
    }
}
