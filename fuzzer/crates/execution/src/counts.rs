//! Observer of edge counts: reads and sums up the counts after each run, in time proportional to what ran.
//!
//! Mutants of one parent behave nearly alike, so most functions that run have the same counts as when they ran last.
//! These are recognised by one comparison and contribute known sums; only the other functions (*changed* ones) are
//! summed up again and shown to the feedback.

use std::{borrow::Cow, time::Duration};

use libafl::{Error, executors::ExitKind, observers::Observer};
use libafl_bolts::Named;
use serde::{Deserialize, Serialize};

use super::{
    abi::{Event, Resources, Status},
    diversity::trace::TraceKind,
    hits::FreshHits,
    known_lines::LineCounter,
    notices::Notice,
    program::{Function, Program},
    sums::add_up,
    timer,
    validity::Validity,
};
use quagmire_cost::resource::{Cost, Resource};

/// State of threads of the target that outlive their run.
#[derive(Debug, Default)]
struct Threads {
    /// Some thread has outlived its run.
    are_left: bool,
    /// The last run has left threads.
    are_new: bool,
    /// Sum of all counts after the last run, modulo 2^64.
    sum: u64,
}

/// How long to wait for leftover threads to execute counted code.
const THREADS_SHOW: Duration = Duration::from_millis(10);

/// Cost of one function for its last known counts.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    cost: Cost,
    /// Its part of the trace of a run; 0 if there are no traces.
    trace: u64,
    /// No feedback has judged these counts yet.
    unjudged: bool,
    /// No feedback has judged these counts in a valid run yet.
    unjudged_in_valid: bool,
}

/// LibAFL observer of the edge counts of a program (see the module documentation).
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct CountsObserver {
    #[serde(skip)]
    program: Program,
    /// Counts of each function when it ran last, by edge number.
    #[serde(skip)]
    last: Vec<u32>,
    #[serde(skip)]
    known: Vec<Known>,
    #[serde(skip)]
    ran: Vec<u32>,
    /// Buffer for the counts of one function.
    #[serde(skip)]
    exact: Vec<u64>,
    #[serde(skip)]
    changed: Vec<u32>,
    #[serde(skip)]
    hits: FreshHits,
    /// Set if runs have traces.
    #[serde(skip)]
    trace_kind: Option<TraceKind>,
    #[serde(skip)]
    trace: u64,
    /// Hits by runs with new traces.
    #[serde(skip)]
    hits_of_traces: FreshHits,
    #[serde(skip)]
    validity: Validity,
    #[serde(skip)]
    is_valid: bool,
    /// Set if the stack of functions is observed, and what calls of allocators get.
    #[serde(skip)]
    follows_stack: bool,
    #[serde(skip)]
    follows_heap: bool,
    /// Set if the campaign counts source lines.
    #[serde(skip)]
    lines: Option<LineCounter>,
    #[serde(skip)]
    cost: Cost,
    #[serde(skip)]
    measured: Cost,
    #[serde(skip)]
    status: Status,
    #[serde(skip)]
    event: Event,
    #[serde(skip)]
    threads: Threads,
}

impl CountsObserver {
    /// Creates an observer of `program` and clears its counts.
    pub fn new(program: Program) -> Self {
        program.clear_all();
        let mut observer = Self { program, ..Self::default() };
        observer.grow();
        observer
    }

    fn grow(&mut self) {
        self.last.resize(self.program.edges(), 0);
        self.known.resize(self.program.functions().len(), Known::default());
        self.hits.grow(self.program.functions().len(), self.program.edges());
        self.hits_of_traces.grow(self.program.functions().len(), self.program.edges());
        timer::prepare(&self.program);
    }

    /// Makes room for a program that has grown between two runs, and clears all counts.
    pub(crate) fn start_over(&mut self) {
        if self.program.update() {
            self.grow();
        }
        self.program.clear_all();
    }

    /// The observed program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Counts executed source lines in every run from now on. Call it before the first run.
    pub fn count_lines(&mut self) {
        self.lines = Some(LineCounter::default());
    }

    /// Observes the memory of functions from now on, as far as one of these resources is it. To be called before the first run.
    pub fn follow_memory(&mut self, resources: &[Resource]) {
        self.follows_stack = resources.contains(&Resource::Stack);
        self.follows_heap = [Resource::Heap, Resource::HeapTotal].iter().any(|one| resources.contains(one));
    }

    /// Whether it is observed what calls of allocators get.
    pub fn follows_heap(&self) -> bool {
        self.follows_heap
    }

    /// Computes traces of runs from now on. To be called before the first run.
    pub fn trace(&mut self, kind: TraceKind) {
        self.trace_kind = Some(kind);
    }

    /// Trace of the last run: equal for runs with equal counts, as far as its kind distinguishes them; `None` if off.
    pub fn last_trace(&self) -> Option<u64> {
        self.trace_kind.map(|_| self.trace)
    }

    /// Makes only those runs valid that execute at least one of these edges.
    pub fn require(&mut self, edges: &[u32]) {
        self.validity.require(&self.program, edges);
    }

    /// Whether the last run was valid: it returned without rejecting its input, with exit status 0 if a process ended,
    /// and executed a required edge, if there is one.
    pub fn is_valid(&self) -> bool {
        self.is_valid
    }

    /// Cost of the last run, also of one that was cut off.
    pub fn cost(&self) -> Cost {
        self.cost
    }

    /// Replaces the amount of a resource in the cost of the last run, by what several runs of its input have shown.
    pub fn set_amount(&mut self, resource: Resource, amount: u64) {
        self.cost[resource] = amount;
    }

    /// How the last run ended.
    pub fn status(&self) -> Status {
        self.status
    }

    /// Why the last run ended early; of a run that returned, it has the exit status.
    pub fn event(&self) -> Event {
        self.event
    }

    /// Stores the measurements of the run that just ended, apart from counts. For the executor only.
    pub fn set_measured(&mut self, cycles: u64, time_ns: u64, memory: &Resources, resident: u64) {
        if memory.threads > 0 {
            Notice::Threads.raise();
            (self.threads.are_left, self.threads.are_new) = (true, true);
        }
        self.measured = Cost::from([
            (Resource::Cycles, cycles),
            (Resource::Time, time_ns),
            (Resource::Heap, memory.heap_peak),
            (Resource::HeapTotal, memory.heap_total),
            (Resource::Stack, memory.stack),
            (Resource::Resident, resident),
        ]);
    }

    /// Stores how the run ended. For the executor only.
    pub fn set_end(&mut self, status: Status, event: Event) {
        self.status = status;
        self.event = event;
    }

    /// Indices of the functions that ran.
    pub fn ran(&self) -> &[u32] {
        &self.ran
    }

    /// Indices of the functions that ran with counts that no feedback has judged yet, or not yet in a valid run if this
    /// one is.
    pub fn changed(&self) -> &[u32] {
        &self.changed
    }

    /// Number of the first edge, and counts of a function that ran, progress slots last, without charges and memory. Counts
    /// saturate at `u32::MAX`.
    #[inline]
    pub fn counts(&self, function: u32) -> (usize, &[u32]) {
        let f = &self.program.functions()[function as usize];
        let first = f.first_edge as usize;
        (first, &self.last[first..f.charge_numbers().start])
    }

    /// Number of the first charge, and the charges of a function that ran: instructions that its calls of the C library
    /// stand for, call by call.
    #[inline]
    pub fn charges(&self, function: u32) -> (usize, &[u32]) {
        let numbers = self.program.functions()[function as usize].charge_numbers();
        (numbers.start, &self.last[numbers])
    }

    /// Its number, and how deep the stack was at the deepest entry of a function that ran, in bytes; empty unless that is observed.
    #[inline]
    pub fn stack(&self, function: u32) -> (usize, &[u32]) {
        let numbers = self.program.functions()[function as usize].memory_numbers();
        let is_there = self.follows_stack && !numbers.is_empty();
        (numbers.start, &self.last[numbers.start..numbers.start + usize::from(is_there)])
    }

    /// Number of the first one, and what each call of an allocator got in a function that ran, in bytes: in all, or of calls that move
    /// a block the largest one. Empty unless that is observed.
    #[inline]
    pub fn heap(&self, function: u32) -> (usize, &[u32]) {
        let numbers = self.program.functions()[function as usize].memory_numbers();
        let first = (numbers.start + 1).min(numbers.end);
        (first, &self.last[first..if self.follows_heap { numbers.end } else { first }])
    }

    /// Number of executions of an edge in the last run, saturating at `u32::MAX`. Valid until the next run starts.
    pub fn count(&self, edge: usize) -> u32 {
        let function = &self.program.functions()[self.program.function_of_edge(edge)];
        if function.entered() == 0 { 0 } else { self.last[edge] }
    }

    /// Turns the counting of runs as hits of branches on or off; it is on at first.
    pub fn count_hits(&mut self, on: bool) {
        self.hits.set_counting(on);
    }

    /// Adds the number of runs that hit each branch since the last call to `hits`. Takes time proportional to the
    /// functions that ran since.
    pub fn settle_hits(&mut self, hits: &mut Vec<u64>) {
        hits.resize(hits.len().max(self.program.edges()), 0);
        self.hits.settle(self.program.functions(), &self.last, hits);
    }

    /// Counts the last run for [`Self::settle_hits_of_traces`].
    pub fn count_trace(&mut self) {
        self.ran.iter().for_each(|&function| self.hits_of_traces.ran(function));
    }

    /// Adds, for each branch, the number of runs that were counted with new traces since the last call and hit it.
    /// Progress slots are no branches, nor are charges.
    pub fn settle_hits_of_traces(&mut self, hits: &mut Vec<u64>) {
        hits.resize(hits.len().max(self.program.edges()), 0);
        self.hits_of_traces.settle(self.program.functions(), &self.last, hits);
        for function in self.program.functions().iter().filter(|function| function.branches < function.edges) {
            let slots = function.edge_numbers().start + function.branches as usize..function.edge_numbers().end;
            hits[slots].fill(0);
        }
    }

    /// Number of the first edge, and counts of a function that ran, without the progress slots.
    pub fn branches(&self, function: u32) -> (usize, &[u32]) {
        let (first, counts) = self.counts(function);
        (first, &counts[..self.program.functions()[function as usize].branches as usize])
    }

    /// Number of the first progress slot, and the progress slots of a function that ran.
    pub fn progress(&self, function: u32) -> (usize, &[u32]) {
        let (first, counts) = self.counts(function);
        let branches = self.program.functions()[function as usize].branches as usize;
        (first + branches, &counts[branches..])
    }

    /// Exact 64-bit counts of the branches of a function that ran. Valid until the next run starts.
    pub fn exact_counts(&self, function: u32) -> Vec<u64> {
        let (first, last) = self.branches(function);
        self.exact(function, first..first + last.len())
    }

    /// Exact 64-bit charges of a function that ran. Valid until the next run starts.
    pub fn exact_charges(&self, function: u32) -> Vec<u64> {
        self.exact(function, self.program.functions()[function as usize].charge_numbers())
    }

    /// Exact 64-bit counts of edges of a function that ran.
    fn exact(&self, function: u32, edges: std::ops::Range<usize>) -> Vec<u64> {
        // SAFETY: counts are read between runs.
        let folded = unsafe { timer::folded() };
        let Some(folded) = folded else { return self.last[edges].iter().map(|&count| count.into()).collect() };
        let f = &self.program.functions()[function as usize];
        let slots = std::iter::once(f.entered()).chain(f.others().iter().copied());
        let numbered = (f.first_edge as usize..).zip(slots).skip_while(|(edge, _)| *edge < edges.start);
        numbered.take(edges.len()).map(|(edge, slot)| folded.count(edge, slot)).collect()
    }

    /// Number of edges that the last run executed, including those without a counter.
    pub fn edges_hit(&self) -> u64 {
        let hit = |count: u64, edges: u64| if count > 0 { edges } else { 0 };
        let of_function = |&index: &u32| {
            let f = &self.program.functions()[index as usize];
            let mut counts = self.exact_counts(index);
            let counters = counts.len();
            f.sums().complete(&mut counts);
            let own = counts.iter().zip(f.edge_weights()).map(|(&count, &edges)| hit(count, edges.into()));
            let sums = counts[counters..].iter().zip(f.sums().iter());
            own.chain(sums.map(|(&count, (edges, _))| hit(count, edges.into()))).sum::<u64>()
        };
        self.ran.iter().map(of_function).sum()
    }

    /// Marks the counts of all changed functions as judged. Call it when the feedback's history contains them.
    pub fn commit(&mut self) {
        for &f in &self.changed {
            let known = &mut self.known[f as usize];
            known.unjudged = false;
            known.unjudged_in_valid &= !self.is_valid;
        }
        self.changed.clear();
    }

    /// Instructions, edges, hottest edge and lines of a function that ran.
    #[inline]
    pub fn cost_of(&self, function: u32) -> Cost {
        self.known[function as usize].cost
    }

    /// The function with most executed instructions in the last run, and its share of all (0 to 1); `None` if nothing
    /// ran.
    pub fn hottest_function(&self) -> Option<(u32, f64)> {
        let instructions = |f: u32| self.known[f as usize].cost[Resource::Instructions];
        let hottest = self.ran.iter().copied().max_by_key(|&f| instructions(f))?;
        Some((hottest, instructions(hottest) as f64 / self.cost[Resource::Instructions].max(1) as f64))
    }

    /// Sum of all current counts, modulo 2^64.
    fn sum(&self) -> u64 {
        let mut ran = Vec::new();
        self.program.collect_ran(&mut ran);
        let functions = ran.iter().map(|&f| &self.program.functions()[f as usize]);
        let sum = |f: &Function| u64::from(f.entered()) + f.others().iter().map(|&count| u64::from(count)).sum::<u64>();
        functions.map(sum).fold(0, u64::wrapping_add)
    }

    /// Stores the sum of all counts after a run that has left threads, or compares it before the next run. If threads
    /// have executed code of the program in between, requests a restart of the process.
    #[cold]
    fn watch_threads(&mut self, has_just_ended: bool) {
        if has_just_ended {
            self.threads.sum = self.sum();
        }
        if std::mem::take(&mut self.threads.are_new) {
            std::thread::sleep(THREADS_SHOW);
        }
        if self.threads.sum != self.sum() {
            timer::wear_out();
        }
    }

    /// Clears the counts of the last run.
    #[inline]
    pub fn clear(&mut self) {
        if self.threads.are_left {
            self.watch_threads(false);
            // functions that leftover threads have run since
            self.program.collect_ran(&mut self.ran);
        }
        self.program.clear(&self.ran);
    }

    /// Clears the counts of code of the target that has run between two runs, such as a mutator of the harness. Takes time proportional to the number of functions.
    pub fn clear_between_runs(&mut self) {
        self.program.collect_ran(&mut self.ran);
        self.program.clear(&self.ran);
        self.threads.sum = 0;
    }

    /// Reads the counts of the run that just ended.
    pub fn digest(&mut self) {
        if self.program.update() {
            self.grow();
        }
        self.program.collect_ran(&mut self.ran);
        self.changed.clear();
        self.cost = self.measured;
        self.trace = 0;
        self.is_valid = self.validity.holds(self.status, &self.event, &self.program);
        // SAFETY: counts are read between runs.
        let folded = unsafe { timer::folded() };
        for &index in &self.ran {
            let f = &self.program.functions()[index as usize];
            let first = f.first_edge as usize;
            let last = &mut self.last[first..first + f.edges as usize];
            let known = &mut self.known[index as usize];
            // memory that nobody looks at makes no function a changed one
            let follows_memory = self.follows_stack || self.follows_heap;
            let seen = if follows_memory { last.len() } else { last.len() - f.memory as usize };
            if folded.is_some() || last[0] != f.entered() || last[1..seen] != f.others()[..seen - 1] {
                self.hits.change(index, first, last);
                self.hits_of_traces.change(index, first, last);
                self.exact.clear();
                let branches = f.branches as usize;
                if let Some(folded) = &folded {
                    for (at, slot) in last.iter_mut().enumerate() {
                        let now = if at == 0 { f.entered() } else { f.others()[at - 1] };
                        let count = folded.count(first + at, now);
                        let now = u32::try_from(count).unwrap_or(u32::MAX);
                        if let Some(kind) = self.trace_kind.filter(|_| at < branches) {
                            known.trace = known.trace.wrapping_add(kind.change(first + at, *slot, now));
                        }
                        *slot = now;
                        self.exact.push(count);
                    }
                } else {
                    if let Some(kind) = self.trace_kind {
                        let of_entry = kind.change(first, last[0], f.entered());
                        let of_others = kind.changes(first + 1, &last[1..branches], &f.others()[..branches - 1]);
                        known.trace = known.trace.wrapping_add(of_entry).wrapping_add(of_others);
                    }
                    last[0] = f.entered();
                    last[1..].copy_from_slice(f.others());
                    self.exact.extend(last.iter().map(|&count| u64::from(count)));
                }
                let charges = last.len() - (f.charges + f.memory) as usize..last.len() - f.memory as usize;
                let charged: u64 = self.exact[charges].iter().sum();
                self.exact.truncate(branches);
                known.cost = add_up(&mut self.exact, f.weights(), f.edge_weights(), f.sums());
                known.cost[Resource::Instructions] += charged;
                if let Some(lines) = &mut self.lines {
                    known.cost[Resource::Lines] = lines.executed(index, f, &self.exact);
                }
                (known.unjudged, known.unjudged_in_valid) = (true, true);
            }
            self.hits.ran(index);
            self.trace = self.trace.wrapping_add(known.trace);
            if known.unjudged || (known.unjudged_in_valid && self.is_valid) {
                self.changed.push(index);
            }
            for resource in [Resource::Instructions, Resource::Edges, Resource::Lines] {
                self.cost[resource] += known.cost[resource];
            }
            let hottest = known.cost[Resource::HottestEdge];
            self.cost[Resource::HottestEdge] = self.cost[Resource::HottestEdge].max(hottest);
        }
        if self.threads.are_left {
            self.watch_threads(true);
        }
    }
}

impl Named for CountsObserver {
    fn name(&self) -> &Cow<'static, str> {
        const NAME: &Cow<'static, str> = &Cow::Borrowed("counts");
        NAME
    }
}

impl<I, S> Observer<I, S> for CountsObserver {
    fn pre_exec(&mut self, _state: &mut S, _input: &I) -> Result<(), Error> {
        self.clear();
        Ok(())
    }

    fn post_exec(&mut self, _state: &mut S, _input: &I, _exit_kind: &ExitKind) -> Result<(), Error> {
        self.digest();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::made_up;

    #[test]
    fn hits_are_those_of_all_runs_that_count_whether_their_counts_changed_or_not() {
        let (program, counts) = made_up(&[3, 1]);
        let mut observer = CountsObserver::new(program);
        let mut run = |first: [u32; 3], second: u32, counting: bool| {
            observer.clear();
            counts.set(0, &first);
            counts.set(1, &[second]);
            observer.count_hits(counting);
            observer.digest();
            observer.count_hits(true);
        };
        run([1, 2, 0], 1, true);
        run([1, 2, 0], 0, true);
        run([1, 0, 3], 1, true);
        run([1, 5, 4], 1, false);
        run([1, 0, 4], 1, true);
        let mut hits = vec![10];
        observer.settle_hits(&mut hits);
        assert_eq!(hits, [14, 2, 2, 3]);
        observer.settle_hits(&mut hits);
        assert_eq!(hits, [14, 2, 2, 3], "once");
    }
}
