//! Table of the resources whose use is a cost. A new resource is a new row here, and the place where it is measured.

use std::{
    fmt,
    ops::{Index, IndexMut},
    str::FromStr,
};

use serde::{Deserialize, Serialize};

/// Properties of one resource: a row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Description {
    /// Name in `--cost`, JSON and files.
    pub name: &'static str,
    /// Title in reports.
    pub title: &'static str,
    /// Explanation in one line, without an article or a full stop.
    pub meaning: &'static str,
    /// Unit of its amounts.
    pub unit: Unit,
    /// Smallest amount that ratios distinguish from 0: 100 bytes where the seeds use none are not infinitely worse.
    pub least: u64,
    /// Whether every run of a deterministic target gives the same amount, so that one run is enough. The others depend
    /// on a clock.
    pub is_deterministic: bool,
    /// Whether every run of a campaign measures it. Otherwise only where `--cost` asks for it, since it takes work
    /// after runs.
    pub is_always_measured: bool,
    /// Smallest amount from which every campaign keeps an input that uses clearly more of it than all others. `None`
    /// if only campaigns that name it in `--cost` do so.
    pub kept_from: Option<u64>,
    /// Ability of the instrumentation that measuring it needs.
    pub needs: Capability,
    /// Name of its histogram for Prometheus, with the base unit as suffix, and the help text.
    pub metric: (&'static str, &'static str),
}

/// Unit of amounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A plain number, without a unit.
    Count,
    Nanoseconds,
    Bytes,
}

impl Unit {
    /// Name of the unit as in JSON; empty for plain counts.
    pub fn name(self) -> &'static str {
        match self {
            Self::Count => "",
            Self::Nanoseconds => "ns",
            Self::Bytes => "bytes",
        }
    }

    /// How many of this unit make one of Prometheus' base units (seconds, bytes).
    pub fn per_base_unit(self) -> f64 {
        if self == Self::Nanoseconds { 1e9 } else { 1.0 }
    }
}

/// Ability of an instrumentation that a resource needs to be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// Counts of edges, exact or in AFL's buckets.
    Edges,
    /// Weights: the instructions that a count stands for.
    Weights,
    /// Clocks that are read before and after a run.
    Clock,
    /// A runtime in the target that follows allocations and the stack.
    Memory,
    /// Tables of source lines.
    Lines,
    /// A tree of processes for each run, of which the system tells the memory.
    Processes,
}

/// Declares the resources, each with its row of the table.
macro_rules! resources {
    ($($(#[$about:meta])* $resource:ident: $row:expr,)*) => {
        /// A resource that a run uses and that is measured.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum Resource {
            $($(#[$about])* $resource,)*
        }

        impl Resource {
            /// All resources, in the order in which they are shown.
            pub const ALL: [Self; TABLE.len()] = [$(Self::$resource),*];
        }

        const TABLE: &[Description] = &[$($row),*];
    };
}

resources![
    /// Instructions executed: the sum of count times weight over all edges.
    Instructions: Description {
        name: "instructions",
        title: "instructions",
        meaning: "sum over all edges of executions times LLVM instructions",
        needs: Capability::Weights,
        metric: ("run_instructions", "Instructions of a run."),
        ..COUNTED
    },
    /// Edges executed: the sum of all counts.
    Edges: Description {
        name: "edges",
        title: "edges executed",
        meaning: "sum of the executions of all edges",
        metric: ("run_edges", "Edges executed by a run, each as often as it is."),
        ..COUNTED
    },
    /// Executions of the hottest edge: the largest count.
    HottestEdge: Description {
        name: "hottest-edge",
        title: "hottest edge",
        meaning: "executions of the most executed edge",
        metric: ("run_hottest_edge", "Executions of a run's hottest edge."),
        ..COUNTED
    },
    /// Ticks of the time-stamp counter.
    Cycles: Description {
        name: "cycles",
        title: "cycles",
        meaning: "ticks of the time-stamp counter while the target ran",
        is_deterministic: false,
        needs: Capability::Clock,
        metric: ("run_cycles", "Ticks of the time-stamp counter in a run."),
        ..COUNTED
    },
    /// CPU time of the thread that runs the target.
    Time: Description {
        name: "time",
        title: "CPU time",
        meaning: "CPU time of the thread that runs the target",
        unit: Unit::Nanoseconds,
        is_deterministic: false,
        needs: Capability::Clock,
        metric: ("run_time_seconds", "CPU time of a run."),
        ..COUNTED
    },
    /// Peak of the bytes allocated by the target.
    Heap: Description {
        name: "heap",
        title: "heap, peak",
        meaning: "most bytes that the target had allocated at one time",
        metric: ("run_heap_bytes", "Most memory that a run had allocated at one time."),
        ..MEMORY
    },
    /// All bytes allocated by the target.
    HeapTotal: Description {
        name: "heap-total",
        title: "heap, all",
        meaning: "all bytes that the target allocated",
        metric: ("run_heap_total_bytes", "Memory that a run allocated, all in all."),
        ..MEMORY
    },
    /// Peak depth of the stack.
    Stack: Description {
        name: "stack",
        title: "stack, peak",
        meaning: "deepest stack of the thread that runs the target",
        least: 256,
        metric: ("run_stack_bytes", "Deepest stack of a run."),
        ..MEMORY
    },
    /// Source lines executed, each as often as it is. A line's executions are those of its most executed block, in
    /// each copy of its function.
    Lines: Description {
        name: "lines",
        title: "lines executed",
        meaning: "source lines executed, each as often as it was; needs `-g`",
        is_always_measured: false,
        needs: Capability::Lines,
        metric: ("run_lines", "Source lines executed by a run, each as often as it is."),
        ..COUNTED
    },
    /// Peak memory of the largest process of a run: its maximum resident set.
    Resident: Description {
        name: "resident",
        title: "resident memory, peak",
        meaning: "most memory that the largest process of the run had at one time; needs `--uninstrumented`",
        least: 1 << 20,
        is_deterministic: false,
        is_always_measured: false,
        kept_from: Some(1 << 20),
        needs: Capability::Processes,
        metric: ("run_resident_bytes", "Most memory that the largest process of a run had at one time."),
        ..MEMORY
    },
];

/// Defaults of a row for a resource that is computed from counts of edges.
const COUNTED: Description = Description {
    name: "",
    title: "",
    meaning: "",
    unit: Unit::Count,
    least: 1,
    is_deterministic: true,
    is_always_measured: true,
    kept_from: None,
    needs: Capability::Edges,
    metric: ("", ""),
};

/// Defaults of a row for memory, which the runtime in the target measures. Every campaign keeps the inputs that use
/// most of it.
const MEMORY: Description =
    Description { unit: Unit::Bytes, least: 4096, kept_from: Some(4096), needs: Capability::Memory, ..COUNTED };

impl Resource {
    /// Resources of which every campaign keeps the largest amounts, each with the smallest amount that counts
    /// ([`Description::kept_from`]).
    pub const KEPT: [(Self, u64); kept_count()] = kept();

    /// Hash of the names and order of all resources: part of the version of files that hold costs, so that files of
    /// another table are not read.
    pub const LAYOUT: u32 = layout();

    /// Row of this resource in the table.
    #[inline]
    pub const fn describe(self) -> &'static Description {
        &TABLE[self as usize]
    }

    /// Name as in `--cost`, JSON and files.
    pub const fn name(self) -> &'static str {
        self.describe().name
    }

    /// Its title as a noun in a sentence: `peak heap`, `heap in all`.
    pub fn noun(self) -> String {
        match self.describe().title.split_once(", ") {
            Some((what, "all")) => format!("{what} in all"),
            Some((what, which)) => format!("{which} {what}"),
            None => self.describe().title.to_owned(),
        }
    }

    /// Unit of its amounts.
    pub const fn unit(self) -> Unit {
        self.describe().unit
    }

    /// Whether it is the same in every run of a deterministic target ([`Description::is_deterministic`]).
    pub const fn is_deterministic(self) -> bool {
        self.describe().is_deterministic
    }

    /// Whether every run of a campaign measures it ([`Description::is_always_measured`]).
    pub const fn is_always_measured(self) -> bool {
        self.describe().is_always_measured
    }

    /// `amount` as a multiple of `baseline`, both raised to at least [`Description::least`].
    pub fn ratio(self, amount: u64, baseline: u64) -> f64 {
        let least = self.describe().least;
        amount.max(least) as f64 / baseline.max(least) as f64
    }
}

const fn kept_count() -> usize {
    let (mut count, mut row) = (0, 0);
    while row < TABLE.len() {
        count += TABLE[row].kept_from.is_some() as usize;
        row += 1;
    }
    count
}

const fn kept() -> [(Resource, u64); kept_count()] {
    let mut kept = [(Resource::Instructions, 0); kept_count()];
    let (mut count, mut row) = (0, 0);
    while row < TABLE.len() {
        if let Some(from) = TABLE[row].kept_from {
            kept[count] = (Resource::ALL[row], from);
            count += 1;
        }
        row += 1;
    }
    kept
}

/// FNV-1a hash over the names, each with a zero byte behind it.
const fn layout() -> u32 {
    let (mut hash, mut row) = (0x811c_9dc5_u32, 0);
    while row < TABLE.len() {
        let name = TABLE[row].name.as_bytes();
        let mut at = 0;
        while at <= name.len() {
            hash = (hash ^ if at < name.len() { name[at] as u32 } else { 0 }).wrapping_mul(0x0100_0193);
            at += 1;
        }
        row += 1;
    }
    hash
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

/// Heap that a process gets from its own free memory, in bytes: glibc maps larger allocations anew.
const RECYCLED: u64 = 128 << 10;

/// Amounts of all resources in one run, each in the unit that [`Resource::unit`] names; 0 for resources that were not
/// measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost([u64; Resource::ALL.len()]);

impl Cost {
    /// Creates a cost by calling `amount` for every resource.
    pub fn from_fn(amount: impl FnMut(Resource) -> u64) -> Self {
        Self(Resource::ALL.map(amount))
    }

    /// Work of the machine for the run, as far as counts tell it, in instructions: those that were executed, and one for each
    /// byte of new memory. The system takes one or two microseconds to map and clear a page of 4 KiB; with instructions
    /// alone, inputs that allocate hundreds of megabytes take nearly all of the time.
    #[inline]
    pub fn work(&self) -> u64 {
        self[Resource::Instructions] + self[Resource::Heap].saturating_sub(RECYCLED)
    }
}

/// Creates a cost from these amounts; all other resources are 0.
impl<const N: usize> From<[(Resource, u64); N]> for Cost {
    #[inline]
    fn from(amounts: [(Resource, u64); N]) -> Self {
        let mut cost = Self::default();
        for (resource, amount) in amounts {
            cost[resource] = amount;
        }
        cost
    }
}

impl Index<Resource> for Cost {
    type Output = u64;

    #[inline]
    fn index(&self, resource: Resource) -> &u64 {
        &self.0[resource as usize]
    }
}

impl IndexMut<Resource> for Cost {
    #[inline]
    fn index_mut(&mut self, resource: Resource) -> &mut u64 {
        &mut self.0[resource as usize]
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
    fn every_row_is_complete_and_tells_its_resource_from_others() {
        let columns: [fn(&Description) -> &'static str; 4] =
            [|row| row.name, |row| row.title, |row| row.meaning, |row| row.metric.0];
        for column in columns {
            let texts: std::collections::BTreeSet<&str> = TABLE.iter().map(column).collect();
            assert!(texts.len() == TABLE.len() && !texts.contains(""), "{texts:?}");
        }
        for row in TABLE {
            assert!(row.least > 0 && row.metric.1.ends_with('.'), "{row:?}");
            let unit = match row.unit {
                Unit::Count => "",
                Unit::Nanoseconds => "_seconds",
                Unit::Bytes => "_bytes",
            };
            assert!(row.metric.0.ends_with(unit), "{row:?}");
        }
    }

    #[test]
    fn memory_is_kept_in_every_campaign() {
        let kept = [
            (Resource::Heap, 4096),
            (Resource::HeapTotal, 4096),
            (Resource::Stack, 4096),
            (Resource::Resident, 1 << 20),
        ];
        assert_eq!(Resource::KEPT, kept);
    }

    #[test]
    fn a_baseline_of_nothing_does_not_make_every_amount_infinite() {
        assert_eq!(Resource::Heap.ratio(100, 0), 1.0);
        assert_eq!(Resource::Heap.ratio(8192, 0), 2.0);
        assert_eq!(Resource::Instructions.ratio(30, 10), 3.0);
    }

    #[test]
    fn new_memory_is_work() {
        let cost = |heap| Cost::from([(Resource::Instructions, 10), (Resource::Heap, heap)]);
        assert_eq!(
            [cost(0), cost(RECYCLED), cost(1 << 20)].map(|cost| cost.work()),
            [10, 10, 10 + (1 << 20) - RECYCLED]
        );
    }

    #[test]
    fn amounts_are_those_that_were_set() {
        let mut cost = Cost::from([(Resource::Edges, 3), (Resource::Lines, 5)]);
        cost[Resource::Edges] += 1;
        let used = Resource::ALL.into_iter().filter(|&resource| cost[resource] > 0);
        let used: Vec<(Resource, u64)> = used.map(|resource| (resource, cost[resource])).collect();
        assert_eq!(used, [(Resource::Edges, 4), (Resource::Lines, 5)]);
        assert_eq!(Cost::from_fn(|resource| cost[resource]), cost);
    }
}
