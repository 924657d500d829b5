//! A run, as a value.

use serde::{Deserialize, Serialize};

use crate::measurement::{KILLED, STUCK, describe, status_name};
use quagmire_cost::resource::{Cost, Resource};
use quagmire_execution::{
    abi::Status,
    counts::CountsObserver,
    lines::{self, SourceCosts},
    session::Gone,
    symbols::Symbols,
};

/// How much of a run is wanted; each includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Detail {
    /// How it ended, and its cost.
    Cost,
    /// How often it executed each edge.
    Edges,
    /// Its instructions by function and line. Takes milliseconds for a large program.
    Source,
}

/// Executions of one edge in one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdgeCount {
    /// Number of the edge in the program.
    pub edge: u32,
    /// Number of executions, exact; at least 1.
    pub count: u64,
    /// Instructions that one execution stands for.
    pub weight: u32,
}

impl EdgeCount {
    /// Instructions that all executions stand for.
    pub fn instructions(self) -> u64 {
        self.count.saturating_mul(self.weight.into())
    }
}

/// Instructions of one function in one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionCount {
    /// Number of the function in the program.
    pub function: u32,
    /// Instructions that it executed itself, without those of the functions that it called.
    pub instructions: u64,
}

/// A run of an input.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Run {
    /// How it ended, as in the JSON of `replay`: `returned`, `rejected`, `crashed`, `hung`, `out-of-memory`, `exited`
    /// or `killed`.
    pub status: String,
    /// Details of an early end, such as the signal.
    pub detail: Option<String>,
    /// Address of the instruction that crashed, relative to its object; `None` if it did not crash, and if it
    /// is not known.
    pub fault_address: Option<u64>,
    /// Whether it was valid: it returned, was not rejected, and entered the function that valid runs enter.
    pub is_valid: bool,
    /// Its cost; up to the end if it was cut off.
    pub cost: Cost,
    /// Its CPU time in seconds.
    pub seconds: f64,
    /// Edges that it executed and charges, by number; empty without [`Detail::Edges`].
    pub edges: Vec<EdgeCount>,
    /// Numbers of those of `edges` that are charges, ascending.
    pub charges: Vec<u32>,
    /// Functions that it entered; empty without [`Detail::Edges`].
    pub functions: Vec<FunctionCount>,
    /// Its cost by source; empty without [`Detail::Source`].
    pub source: SourceCosts,
    /// Function or object without counts in which it was most often when the timer ticked; `None` without [`Detail::Source`],
    /// and if it was too short.
    pub uncounted: Option<String>,
}

impl Run {
    /// Whether it returned, and was not cut off.
    pub fn came_back(&self) -> bool {
        [Status::Returned, Status::Rejected].into_iter().any(|status| self.status == status_name(status))
    }

    /// Amount of a resource that it used up.
    pub fn amount(&self, resource: Resource) -> u64 {
        if resource == Resource::Time { (self.seconds * 1e9) as u64 } else { self.cost[resource] }
    }

    /// Whether it ran into the hang timeout.
    pub fn hung(&self) -> bool {
        self.status == status_name(Status::Hung)
    }

    /// How it ended, in words: `returned`, `crashed (SIGSEGV)`.
    pub fn end_in_words(&self) -> String {
        match &self.detail {
            Some(detail) => format!("{} ({detail})", self.status),
            None => self.status.clone(),
        }
    }

    /// The run that the executor has just made.
    pub(crate) fn of(
        status: Status,
        counts: &CountsObserver,
        seconds: f64,
        wanted: Detail,
        symbols: &mut Symbols,
    ) -> Self {
        let described = describe(status, counts);
        let mut run = Self {
            status: described.status,
            detail: described.detail,
            fault_address: (status == Status::Crashed && counts.event().pc != 0)
                .then(|| symbols.relative(counts.event().pc).unwrap_or(counts.event().pc)),
            is_valid: counts.is_valid(),
            cost: described.cost,
            seconds,
            ..Self::default()
        };
        if wanted >= Detail::Edges {
            edges(counts, &mut run);
        }
        if wanted >= Detail::Source {
            symbols.update();
            run.source = lines::source_costs(counts, symbols);
        }
        run
    }

    /// A run that has ended the process it was in.
    pub(super) fn killed(gone: &Gone) -> Self {
        let (status, detail) = match gone.was_stuck {
            true => (status_name(Status::Hung), STUCK.to_owned()),
            false => (KILLED, gone.end.to_string()),
        };
        Self { status: status.to_owned(), detail: Some(detail), ..Self::default() }
    }
}

/// Adds all branches that the last run executed to `run`, and all charges for calls of the C library, which are
/// instructions: what [`EdgeCount`]s stand for adds up to the instructions of the run. Adds the functions that they are
/// in as well.
fn edges(counts: &CountsObserver, run: &mut Run) {
    let edges = &mut run.edges;
    for &index in counts.ran() {
        let function = &counts.program().functions()[index as usize];
        let exact = counts.exact_counts(index);
        let weights = function.weights().iter().copied().chain(std::iter::repeat(0));
        let executed = exact.iter().zip(weights).zip(function.first_edge..).filter(|((count, _), _)| **count > 0);
        let first = edges.len();
        edges.extend(executed.map(|((&count, weight), edge)| EdgeCount { edge, count, weight }));
        let charges = (counts.charges(index).0 as u32..).zip(counts.exact_charges(index));
        for (edge, count) in charges.filter(|&(_, count)| count > 0) {
            edges.push(EdgeCount { edge, count, weight: 1 });
            run.charges.push(edge);
        }
        let instructions = edges[first..].iter().fold(0, |sum: u64, edge| sum.saturating_add(edge.instructions()));
        run.functions.push(FunctionCount { function: index, instructions });
    }
    edges.sort_unstable_by_key(|one| one.edge);
    run.charges.sort_unstable();
}
