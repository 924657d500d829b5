//! The instrumented program as the engine sees it: its functions and their edges, numbered.

use super::{
    abi::{RawFunction, RawLines, RawModules, RawSums},
    sums::Sums,
};

/// One instrumented function. Its edges have the numbers `first_edge .. first_edge + edges`, the entry first, then the
/// other branches, then the progress slots of its comparisons. A slot is 0, or 1 once its comparison got so far.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    entry: *mut u32,
    counts: *mut u32,
    weights: *const u32,
    /// For what is rarely asked for.
    record: *const RawFunction,
    /// Number of edges, the entry and the progress slots included: at least 1.
    pub edges: u32,
    /// Number of edges that are branches of the program, the entry included: at least 1. The others are progress slots.
    pub branches: u32,
    /// Number of its first edge in the program.
    pub first_edge: u32,
}

impl Function {
    /// The numbers of its edges in the program.
    pub fn edge_numbers(&self) -> std::ops::Range<usize> {
        let first = self.first_edge as usize;
        first..first + self.edges as usize
    }

    /// How often it was entered since the counts were cleared (modulo 2^32).
    #[inline]
    pub fn entered(&self) -> u32 {
        // SAFETY: points into the section of a loaded object (see `Program::update`); the target's own increments are
        // done by this thread, or racy by design.
        unsafe { self.entry.read_volatile() }
    }

    /// Counts of all edges but the entry, then its progress slots.
    #[inline]
    pub fn others(&self) -> &[u32] {
        if self.edges == 1 {
            return &[];
        }
        // SAFETY: the pass wrote `edges - 1` slots there; as for `entered`.
        unsafe { std::slice::from_raw_parts(self.counts, self.edges as usize - 1) }
    }

    /// Instructions that one execution of each branch stands for, the entry first.
    #[inline]
    pub fn weights(&self) -> &[u32] {
        // SAFETY: the pass wrote two items for each branch, these before the others.
        unsafe { std::slice::from_raw_parts(self.weights, self.branches as usize) }
    }

    /// Number of edges that have the count of each branch; 0 for a counter that is there for sums only.
    #[inline]
    pub fn edge_weights(&self) -> &[u32] {
        // SAFETY: as for `weights`; these are the second half.
        unsafe { std::slice::from_raw_parts(self.weights.add(self.branches as usize), self.branches as usize) }
    }

    /// Run-time address of the function.
    pub fn address(&self) -> usize {
        // SAFETY: a record of a loaded object.
        unsafe { (*self.record).address as usize }
    }

    /// Counts that follow from those of the branches.
    pub fn sums(&self) -> Sums<'_> {
        // SAFETY: a record of a loaded object; the pass wrote how far from it the table is, and how long that is.
        let words = unsafe {
            match (*self.record).sums {
                0 => &[],
                distance => {
                    let table: *const RawSums = self.record.byte_offset(distance as isize).cast();
                    std::slice::from_raw_parts(table.add(1).cast::<u16>(), (*table).words as usize)
                }
            }
        };
        Sums::new(words)
    }

    /// The table of its source lines, for [`super::lines`]; nothing without debug information.
    pub fn lines(&self) -> Option<*const RawLines> {
        // SAFETY: a record of a loaded object; the pass wrote how far from it the table is.
        unsafe {
            let distance = (*self.record).lines;
            (distance != 0).then(|| self.record.byte_offset(distance as isize).cast())
        }
    }

    #[inline]
    fn clear(&self) {
        // SAFETY: as for `entered` and `others`.
        unsafe {
            self.entry.write(0);
            if self.edges > 1 {
                std::ptr::write_bytes(self.counts, 0, self.edges as usize - 1);
            }
        }
    }
}

struct Entries {
    start: *mut u32,
    function_of: Vec<u32>,
}

/// Which functions there are, and which of them ran.
#[derive(Default)]
pub struct Program {
    raw: Option<&'static RawModules>,
    seen_generation: u64,
    seen_modules: usize,
    entries: Vec<Entries>,
    functions: Vec<Function>,
    edges: usize,
    progress_slots: usize,
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Program({} functions, {} edges)", self.functions.len(), self.edges)
    }
}

const NO_FUNCTION: u32 = u32::MAX;

impl Program {
    /// Reads the tables of every object that is loaded now.
    pub fn new(raw: &'static RawModules) -> Self {
        let mut program = Self { raw: Some(raw), ..Self::default() };
        program.update();
        program
    }

    /// All functions, in the order of their first edges.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The functions of the objects that are loaded now: the tables of the others are gone.
    pub fn loaded_functions(&self) -> impl Iterator<Item = &Function> {
        let indices = self.entries.iter().flat_map(|module| &module.function_of).filter(|f| **f != NO_FUNCTION);
        indices.map(|&f| &self.functions[f as usize])
    }

    /// Edges of the whole program, progress slots included: the numbers that are given out.
    pub fn edges(&self) -> usize {
        self.edges
    }

    /// Edges that are branches: what to tell users.
    pub fn branches(&self) -> usize {
        self.edges - self.progress_slots
    }

    /// Edges that are progress slots of comparisons.
    pub fn progress_slots(&self) -> usize {
        self.progress_slots
    }

    /// The function that an edge belongs to.
    pub fn function_of_edge(&self, edge: usize) -> usize {
        self.functions.partition_point(|f| f.first_edge as usize <= edge) - 1
    }

    /// Takes in objects that were opened since the last call: their edges come behind all others.
    /// Returns whether anything changed. Costs one load if not.
    #[inline]
    pub fn update(&mut self) -> bool {
        let Some(raw) = self.raw else { return false };
        // SAFETY: lives in the runtime for as long as the process; volatile because constructors change it behind us.
        let generation = unsafe { (&raw const raw.generation).read_volatile() };
        if generation == self.seen_generation {
            return false;
        }
        self.seen_generation = generation;
        // SAFETY: as above.
        let count = unsafe { (&raw const raw.count).read_volatile() } as usize;
        for (index, module) in raw.module[..count].iter().enumerate() {
            if index < self.seen_modules {
                if module.functions_start.is_null() && index < self.entries.len() {
                    self.entries[index].function_of.clear(); // unloaded: never looked at again
                }
                continue;
            }
            // SAFETY: bounds of one section each of a loaded object, as its constructor gave them.
            let (functions, entries): (&[RawFunction], usize) = unsafe {
                if module.functions_start.is_null() {
                    (&[], 0)
                } else {
                    (
                        std::slice::from_raw_parts(
                            module.functions_start,
                            module.functions_stop.offset_from(module.functions_start) as usize,
                        ),
                        module.entries_stop.offset_from(module.entries_start) as usize,
                    )
                }
            };
            let mut function_of = vec![NO_FUNCTION; entries];
            let mut order: Vec<&RawFunction> = functions.iter().filter(|f| !f.entry.is_null()).collect();
            order.sort_by_key(|f| f.entry);
            for f in order {
                // SAFETY: an entry count lies in its module's section of them.
                let at = unsafe { f.entry.offset_from(module.entries_start) } as usize;
                function_of[at] = self.functions.len() as u32;
                self.functions.push(Function {
                    entry: f.entry,
                    counts: f.counts,
                    weights: f.weights,
                    record: f,
                    edges: f.edges,
                    branches: f.edges - f.progress,
                    first_edge: self.edges as u32,
                });
                self.edges += f.edges as usize;
                self.progress_slots += f.progress as usize;
            }
            self.entries.push(Entries { start: module.entries_start, function_of });
        }
        self.seen_modules = count;
        true
    }

    /// Puts the indices of the functions that ran since the last clearing into `ran`. This scan over the entry counts
    /// is the only work after a run that grows with the program instead of with what ran.
    #[inline]
    pub fn collect_ran(&self, ran: &mut Vec<u32>) {
        ran.clear();
        for module in &self.entries {
            // SAFETY: a loaded object's section of entry counts; an unloaded one's table is empty.
            let counts = unsafe { std::slice::from_raw_parts(module.start, module.function_of.len()) };
            let (blocks, tail) = counts.as_chunks::<16>();
            for (index, block) in blocks.iter().enumerate() {
                if block.iter().fold(0, |all, count| all | count) == 0 {
                    continue;
                }
                for (offset, &count) in block.iter().enumerate() {
                    let function = module.function_of[index * 16 + offset];
                    if count != 0 && function != NO_FUNCTION {
                        ran.push(function);
                    }
                }
            }
            let rest = &module.function_of[blocks.len() * 16..];
            ran.extend(tail.iter().zip(rest).filter(|(count, f)| **count != 0 && **f != NO_FUNCTION).map(|(_, f)| f));
        }
    }

    /// Clears the counts of the given functions.
    #[inline]
    pub fn clear(&self, functions: &[u32]) {
        for &f in functions {
            self.functions[f as usize].clear();
        }
    }

    /// Clears all counts: before the first run, and after anything ran that was not an execution.
    pub fn clear_all(&self) {
        for function in &self.functions {
            function.clear();
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::{
        ptr::null,
        sync::atomic::{AtomicU32, Ordering::Relaxed},
    };

    use super::*;
    use crate::target::abi::{MAX_MODULES, RawModule};

    fn leaked<T>(all: impl Iterator<Item = T>) -> &'static [T] {
        Box::leak(all.collect())
    }

    fn zeros(number: usize) -> &'static [AtomicU32] {
        leaked((0..number).map(|_| AtomicU32::new(0)))
    }

    /// Counts of a program that is not there: a run is what a test writes here.
    pub(crate) struct Counts(Vec<(&'static AtomicU32, &'static [AtomicU32])>);

    impl Counts {
        /// A function has executed its edges so often.
        pub(crate) fn set(&self, function: usize, counts: &[u32]) {
            let (entry, others) = self.0[function];
            for (slot, &count) in std::iter::once(entry).chain(others).zip(counts) {
                slot.store(count, Relaxed);
            }
        }
    }

    /// A program of functions with so many edges, each of which stands for one instruction.
    pub(crate) fn made_up(edges: &[u32]) -> (Program, Counts) {
        let entries = zeros(edges.len());
        let counts: Vec<_> =
            entries.iter().zip(edges).map(|(entry, &edges)| (entry, zeros(edges as usize - 1))).collect();
        let functions = leaked(counts.iter().zip(edges).map(|((entry, others), &edges)| RawFunction {
            entry: entry.as_ptr(),
            counts: others.as_ptr().cast_mut().cast(),
            weights: leaked(std::iter::repeat_n(1_u32, 2 * edges as usize)).as_ptr(),
            address: null(),
            edges,
            lines: 0,
            progress: 0,
            sums: 0,
        }));
        let (functions, entries) = (functions.as_ptr_range(), entries.as_ptr_range());
        let module = RawModule {
            functions_start: functions.start,
            functions_stop: functions.end,
            entries_start: entries.start.cast_mut().cast(),
            entries_stop: entries.end.cast_mut().cast(),
        };
        let modules = RawModules { generation: 1, count: 1, module: [module; MAX_MODULES] };
        (Program::new(Box::leak(Box::new(modules))), Counts(counts))
    }
}
