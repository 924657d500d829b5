//! The resources whose use is a cost. One more resource is one more variant here and the place where it is measured.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// What a run used. Amounts are of one run, in the unit that [`Resource::unit`] names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Sum of count x weight over all edges: IR instructions.
    pub instructions: u64,
    /// Sum of all counts.
    pub edges: u64,
    /// The largest count.
    pub hottest_edge: u64,
    /// Ticks of the time-stamp counter.
    pub cycles: u64,
    /// CPU time of the thread, in nanoseconds.
    pub time_ns: u64,
    /// Largest number of bytes that were allocated at one time.
    pub heap_peak: u64,
    /// All bytes that were allocated.
    pub heap_total: u64,
    /// Deepest stack, in bytes.
    pub stack: u64,
    /// Executed source lines; 0 if they are not measured ([`Resource::is_always_measured`]).
    pub lines: u64,
}

/// A resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resource {
    /// Instructions executed: the deterministic sum of counts and weights.
    Instructions,
    /// Edges executed: the sum of all counts.
    Edges,
    /// Executions of the hottest edge.
    HottestEdge,
    /// Ticks of the time-stamp counter.
    Cycles,
    /// CPU time of the thread that runs the target.
    Time,
    /// Peak of the bytes allocated by the target.
    Heap,
    /// All bytes allocated by the target.
    HeapTotal,
    /// Peak depth of the stack.
    Stack,
    /// Source lines executed, each as often as it is. A line's executions are those of its most executed block, in each copy
    /// of its function.
    Lines,
}

impl Resource {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 9] = [
        Self::Instructions,
        Self::Edges,
        Self::HottestEdge,
        Self::Cycles,
        Self::Time,
        Self::Heap,
        Self::HeapTotal,
        Self::Stack,
        Self::Lines,
    ];

    /// As in `--cost`, JSON and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Instructions => "instructions",
            Self::Edges => "edges",
            Self::HottestEdge => "hottest-edge",
            Self::Cycles => "cycles",
            Self::Time => "time",
            Self::Heap => "heap",
            Self::HeapTotal => "heap-total",
            Self::Stack => "stack",
            Self::Lines => "lines",
        }
    }

    /// Of its amounts: `ns`, `bytes`, or nothing for plain counts.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Time => "ns",
            Self::Heap | Self::HeapTotal | Self::Stack => "bytes",
            _ => "",
        }
    }

    /// What its amount is, for people: one line, without an article or a full stop.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Instructions => "sum over all edges of executions times LLVM instructions",
            Self::Edges => "sum of the executions of all edges",
            Self::HottestEdge => "executions of the most executed edge",
            Self::Cycles => "ticks of the time-stamp counter while the target ran",
            Self::Time => "CPU time of the thread that runs the target",
            Self::Heap => "most bytes that the target had allocated at one time",
            Self::HeapTotal => "all bytes that the target allocated",
            Self::Stack => "deepest stack of the thread that runs the target",
            Self::Lines => "source lines executed, each as often as it was; needs `-g`",
        }
    }

    /// The same in every run of a deterministic target, so that one run says it.
    pub fn is_deterministic(self) -> bool {
        !matches!(self, Self::Cycles | Self::Time)
    }

    /// Whether every run of a campaign measures it. Lines take work after each run that changes a count, and so are measured
    /// where they are asked for.
    pub fn is_always_measured(self) -> bool {
        self != Self::Lines
    }

    /// How much of it a run used.
    pub fn of(self, cost: &Cost) -> u64 {
        match self {
            Self::Instructions => cost.instructions,
            Self::Edges => cost.edges,
            Self::HottestEdge => cost.hottest_edge,
            Self::Cycles => cost.cycles,
            Self::Time => cost.time_ns,
            Self::Heap => cost.heap_peak,
            Self::HeapTotal => cost.heap_total,
            Self::Stack => cost.stack,
            Self::Lines => cost.lines,
        }
    }

    /// `amount` as a multiple of `baseline`. A baseline of nothing counts as a small amount of the resource: using
    /// 100 bytes where the seeds use none is not infinitely worse.
    pub fn ratio(self, amount: u64, baseline: u64) -> f64 {
        let least = match self {
            Self::Heap | Self::HeapTotal => 4096,
            Self::Stack => 256,
            _ => 1,
        };
        amount.max(least) as f64 / baseline.max(least) as f64
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Resource {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|resource| resource.name() == text).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for resource in Resource::ALL {
            assert_eq!(resource.name().parse(), Ok(resource));
            assert_eq!(serde_json::to_string(&resource).unwrap(), format!("\"{resource}\""));
        }
        assert!("memory".parse::<Resource>().is_err());
    }

    #[test]
    fn a_baseline_of_nothing_does_not_make_every_amount_infinite() {
        assert_eq!(Resource::Heap.ratio(100, 0), 1.0);
        assert_eq!(Resource::Heap.ratio(8192, 0), 2.0);
        assert_eq!(Resource::Instructions.ratio(30, 10), 3.0);
    }
}
