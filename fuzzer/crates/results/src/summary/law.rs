//! Law by which the cost of a finding grows, and the smallest input with the same cause.

use quagmire_cost::resource::Resource;
use serde::{Deserialize, Serialize};

/// Law by which the cost of a finding grows with how often the pump of its template repeats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FindingLaw {
    /// The law in words, such as `exactly quadratic in the number of "["`.
    pub words: String,
    /// Name of its class, such as `quadratic` or `n log n`.
    pub class: String,
    /// The resource whose amount grows.
    pub resource: Resource,
    /// Confidence: `high`, `medium` or `low`.
    pub confidence: String,
    /// Class of another law that does as well.
    pub rival: Option<String>,
    /// Number of repetitions from which the law holds; `null` if it holds from the smallest that was run.
    pub onset: Option<u64>,
    /// Number of repetitions from which the cost does not grow any more.
    pub cap: Option<u64>,
    /// Expected size in bytes of an input that takes a second of CPU time.
    pub bytes_of_second: Option<u64>,
    /// Expected size in bytes of an input that takes a minute of CPU time.
    pub bytes_of_minute: Option<u64>,
    /// Command in one line that prints such an input; the number of repetitions is its argument.
    pub generator: Option<String>,
    /// Number of repetitions, size in bytes, and amount of each run.
    pub points: Vec<LawPoint>,
}

/// A run of a template.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LawPoint {
    /// How often the pump repeats.
    pub n: u64,
    /// Size of the input in bytes.
    pub bytes: u64,
    /// Amount of the resource that was used.
    pub amount: u64,
    /// Amount that the law says.
    pub expected: f64,
}

impl LawPoint {
    /// Number of repetitions of the first of these runs with at least so many bytes, for laws of bytes; `bytes` if there is
    /// none.
    pub fn repetitions_of(runs: &[Self], bytes: u64) -> u64 {
        runs.iter().find(|run| run.bytes >= bytes).map_or(bytes, |run| run.n)
    }
}

/// Reason why the law or the smallest input of a finding is not known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unexplained {
    /// The reason in a sentence, without a full stop.
    pub why: String,
    /// Command that looks for it once more, with more time.
    pub command: String,
    /// Whether it was looked for to the end; if not, the time was up or the user asked for the end.
    pub tried: bool,
}

/// The smallest input that is known to be slow for the same reason as a finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Minimized {
    /// Its file, relative to the output folder.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Instructions of its run.
    pub instructions: u64,
    /// Runs of the target that were made for it.
    pub executions: u64,
}
