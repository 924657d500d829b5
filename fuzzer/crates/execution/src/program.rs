//! The instrumented program: its functions and edges, numbered.

use std::{
    cell::Cell,
    ops::Range,
    ptr::NonNull,
    sync::atomic::{AtomicU32, Ordering::SeqCst},
};

use super::{
    abi::{RawFunction, RawLines, RawModule, RawModules, RawSums, source},
    notices::Notice,
    sums::Sums,
};

/// An instrumented function. Its edges have the numbers `first_edge .. first_edge + edges`: the entry, then the other
/// branches, then the progress slots of its comparisons, then the charges of its calls of the C library, then its memory. A slot
/// is 0, or 1 once its comparison got so far. A charge is a number of instructions. Memory is a number of bytes: the depth of the
/// stack at its deepest entry, and for each of its calls of an allocator what that got.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    entry: *mut u32,
    /// Null if there are none.
    counts: *mut u32,
    weights: *const u32,
    /// Record with further tables. Null if the object was closed and no copy is left.
    record: *const RawFunction,
    /// Addresses of its edges, entry first; null if nothing says them.
    pcs: *const usize,
    /// Index of the record in its object.
    place: u32,
    /// Number of edges, including the entry, the progress slots, the charges and the memory; at least 1.
    pub edges: u32,
    /// Number of edges that are branches of the program, including the entry; at least 1. The others are progress
    /// slots, charges and memory.
    pub branches: u32,
    /// Number of charges.
    pub charges: u32,
    /// Number of amounts of memory, which come last.
    pub memory: u32,
    /// Number of its first edge in the program.
    pub first_edge: u32,
}

/// Entry count of functions of closed objects, which cannot be entered. Static, since they all point to it.
static NEVER_ENTERED: AtomicU32 = AtomicU32::new(0);

impl Function {
    /// Numbers of its edges in the program.
    pub(crate) fn edge_numbers(&self) -> std::ops::Range<usize> {
        let first = self.first_edge as usize;
        first..first + self.edges as usize
    }

    /// Numbers of its charges in the program.
    pub(crate) fn charge_numbers(&self) -> std::ops::Range<usize> {
        let end = self.memory_numbers().start;
        end - self.charges as usize..end
    }

    /// Numbers of its memory in the program.
    pub(crate) fn memory_numbers(&self) -> std::ops::Range<usize> {
        let end = self.edge_numbers().end;
        end - self.memory as usize..end
    }

    /// Number of times it was entered since the counts were cleared, modulo 2^32.
    #[inline]
    pub fn entered(&self) -> u32 {
        // SAFETY: points into the section of a loaded object (see `Program::update`); the target's own increments are
        // done by this thread, or racy by design.
        unsafe { self.entry.read_volatile() }
    }

    /// Counts of all edges except the entry, followed by the progress slots, the charges and the memory.
    #[inline]
    pub fn others(&self) -> &[u32] {
        if self.edges == 1 || self.counts.is_null() {
            return &[];
        }
        // SAFETY: the pass wrote `edges - 1` slots there; as for `entered`.
        unsafe { std::slice::from_raw_parts(self.counts, self.edges as usize - 1) }
    }

    /// Weights of the branches, entry first: the instructions that one execution stands for.
    #[inline]
    pub fn weights(&self) -> &[u32] {
        self.weights_from(0)
    }

    /// Number of edges that share the count of each branch; 0 for a counter that only serves sums.
    #[inline]
    pub(crate) fn edge_weights(&self) -> &[u32] {
        self.weights_from(self.branches as usize)
    }

    /// Weights of the branches from the item `first` on; empty if the object was closed.
    #[inline]
    fn weights_from(&self, first: usize) -> &[u32] {
        if self.weights.is_null() {
            return &[];
        }
        // SAFETY: the pass wrote two items for each branch, the instructions of all before the edges of all.
        unsafe { std::slice::from_raw_parts(self.weights.add(first), self.branches as usize) }
    }

    /// Run-time address of the function; 0 if the object was closed.
    pub fn address(&self) -> usize {
        // SAFETY: null, or a record of a loaded object.
        unsafe { self.record.as_ref() }.map_or(0, |record| record.address as usize)
    }

    /// Run-time address of an edge's block; `None` for the pass, whose line tables say more, and where nothing says it.
    pub(crate) fn pc(&self, edge: usize) -> Option<usize> {
        if self.pcs.is_null() || edge >= self.branches as usize {
            return None;
        }
        // SAFETY: the runtime made an address for each branch, and never frees them.
        Some(unsafe { *self.pcs.add(edge) })
    }

    /// Counts derived from those of the branches.
    pub(crate) fn sums(&self) -> Sums<'_> {
        // SAFETY: null, or a record of a loaded object; the pass wrote how far from it the table is, and how long that is.
        let words = unsafe {
            match self.record.as_ref().map_or(0, |record| record.sums) {
                0 => &[],
                distance => {
                    let table: *const RawSums = self.record.byte_offset(distance as isize).cast();
                    std::slice::from_raw_parts(table.add(1).cast::<u16>(), (*table).words as usize)
                }
            }
        };
        Sums::new(words)
    }

    /// Its source line table, for [`super::lines`]; `None` without debug information.
    pub(crate) fn lines(&self) -> Option<NonNull<RawLines>> {
        if self.record.is_null() {
            return None;
        }
        // SAFETY: a record of a loaded object; the pass wrote how far from it the table is.
        unsafe {
            let distance = (*self.record).lines;
            if distance == 0 {
                None
            } else {
                NonNull::new(self.record.byte_offset(distance as isize).cast_mut().cast())
            }
        }
    }

    /// Moves to the record at `place` of those that begin at `records`, or to nothing if that is null.
    ///
    /// # Safety
    /// `records` must be null, or point to the same records as before, in an object that stays loaded.
    unsafe fn move_to(&mut self, records: *const RawFunction) {
        if records.is_null() {
            (self.entry, self.counts) = (NEVER_ENTERED.as_ptr(), std::ptr::null_mut());
            (self.weights, self.record) = (std::ptr::null(), std::ptr::null());
            return;
        }
        // SAFETY: as promised.
        let record = unsafe { &*records.add(self.place as usize) };
        (self.entry, self.counts) = (record.entry, record.counts);
        (self.weights, self.record) = (record.weights, record);
    }

    #[inline]
    fn clear(&self) {
        // SAFETY: as for `entered` and `others`.
        unsafe {
            self.entry.write(0);
            if self.edges > 1 && !self.counts.is_null() {
                std::ptr::write_bytes(self.counts, 0, self.edges as usize - 1);
            }
        }
    }
}

/// The functions of all objects, and where their tables are. Objects can move: a closed one is replaced by a copy,
/// and may be opened again at another address.
#[derive(Clone, Default)]
pub struct Tables {
    raw: Option<&'static RawModules>,
    seen_generation: u64,
    /// For each object: the address of its records when last checked, and its functions.
    objects: Vec<(*const RawFunction, Range<usize>)>,
    functions: Vec<Function>,
}

impl Tables {
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The list of objects, if it has changed since it was last followed.
    #[inline]
    fn news(&self) -> Option<(&'static RawModules, u64)> {
        let raw = self.raw?;
        let generation = raw.generation.load(SeqCst);
        (generation != self.seen_generation).then_some((raw, generation))
    }

    /// Finds objects that have moved. Neither allocates nor locks.
    fn follow(&mut self) {
        let Some((raw, generation)) = self.news() else { return };
        for ((start, functions), module) in self.objects.iter_mut().zip(&raw.module) {
            let now = module.get().functions_start;
            if now == *start {
                continue;
            }
            *start = now;
            for function in &mut self.functions[functions.clone()] {
                // SAFETY: the same object has the same records, wherever it is.
                unsafe { function.move_to(now) };
            }
        }
        self.seen_generation = generation;
    }

    /// Calls `look` with the functions, unless the tables are about to change. For the timer: objects stay mapped
    /// until `look` returns.
    pub(crate) fn look_safely(&mut self, look: impl FnOnce(&[Function])) {
        let Some(raw) = self.raw else { return };
        raw.reading.store(1, SeqCst);
        if raw.generation.load(SeqCst) % 2 == 0 {
            self.follow();
            look(&self.functions);
        }
        raw.reading.store(0, SeqCst);
    }
}

struct Entries {
    /// Null while there are none.
    start: *mut u32,
    function_of: Vec<u32>,
}

/// All instrumented functions, and which of them ran.
#[derive(Default)]
pub struct Program {
    tables: Tables,
    entries: Vec<Entries>,
    edges: usize,
    progress_slots: usize,
    /// Number of charges, and of amounts of memory.
    charges: usize,
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Program({} functions, {} edges)", self.functions().len(), self.edges)
    }
}

const NO_FUNCTION: u32 = u32::MAX;

impl Program {
    /// Reads the tables of all loaded objects.
    ///
    /// # Safety
    /// The objects of the list must be as the pass and the runtime make them, or as copies of such: each in memory that
    /// stays mapped until the list, with an odd generation meanwhile, has something else or nothing in its place.
    pub unsafe fn new(raw: &'static RawModules) -> Self {
        let seen_generation = raw.generation.load(SeqCst).wrapping_sub(1);
        let tables = Tables { raw: Some(raw), seen_generation, ..Tables::default() };
        let mut program = Self { tables, ..Self::default() };
        program.update();
        program
    }

    /// All functions, ordered by first edge.
    pub fn functions(&self) -> &[Function] {
        &self.tables.functions
    }

    /// The functions that have tables: those of loaded objects and of copies.
    pub(crate) fn loaded_functions(&self) -> impl Iterator<Item = &Function> {
        self.functions().iter().filter(|function| !function.record.is_null())
    }

    /// The tables, for the timer to copy.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// Number of edges of the whole program, including progress slots, charges and memory. Edge numbers are below it.
    pub fn edges(&self) -> usize {
        self.edges
    }

    /// Number of edges that are branches of the program.
    pub fn branches(&self) -> usize {
        self.edges - self.progress_slots - self.charges
    }

    /// Number of edges that are progress slots of comparisons.
    pub fn progress_slots(&self) -> usize {
        self.progress_slots
    }

    /// Index of the function that an edge belongs to.
    pub(crate) fn function_of_edge(&self, edge: usize) -> usize {
        self.functions().partition_point(|f| f.first_edge as usize <= edge) - 1
    }

    /// Whether an edge of the program is a branch, and not a progress slot, a charge or memory.
    pub fn is_branch(&self, edge: usize) -> bool {
        let function = &self.functions()[self.function_of_edge(edge)];
        edge < (function.first_edge + function.branches) as usize
    }

    /// Number of objects refused because the list is full.
    fn refused(&self) -> u64 {
        self.tables.raw.map_or(0, |raw| raw.refused.load(SeqCst))
    }

    /// Reads the tables of objects that were opened, closed or opened again since the last call. Known edges keep
    /// their numbers, new ones are appended. Returns whether there are new ones. Costs one load if nothing has
    /// changed.
    #[inline]
    pub fn update(&mut self) -> bool {
        match self.tables.news() {
            Some((raw, _)) => self.take_in(raw),
            None => false,
        }
    }

    #[cold]
    fn take_in(&mut self, raw: &'static RawModules) -> bool {
        self.tables.follow();
        if self.refused() > 0 {
            Notice::TooManyLibraries.raise();
        }
        let before = self.functions().len();
        let count = raw.count.load(SeqCst) as usize;
        for (index, module) in raw.module[..count].iter().map(Cell::get).enumerate() {
            if index == self.entries.len() {
                self.entries.push(Entries { start: std::ptr::null_mut(), function_of: Vec::new() });
                self.tables.objects.push((module.functions_start, 0..0));
            }
            if self.tables.objects[index].1.is_empty() && !module.functions_start.is_null() {
                // SAFETY: of a loaded object, as its constructor gave it.
                unsafe { self.add(index, &module) };
            }
            self.entries[index].start = module.entries_start;
        }
        self.functions().len() > before
    }

    /// Numbers the functions of an object.
    ///
    /// # Safety
    /// The module must describe the sections of one object that stays loaded.
    unsafe fn add(&mut self, index: usize, module: &RawModule) {
        // SAFETY: as promised.
        let (functions, entries) = unsafe {
            let functions = module.functions_stop.offset_from(module.functions_start) as usize;
            let entries = module.entries_stop.offset_from(module.entries_start) as usize;
            (std::slice::from_raw_parts(module.functions_start, functions), entries)
        };
        let mut function_of = vec![NO_FUNCTION; entries];
        let first = self.tables.functions.len();
        let mut order: Vec<(usize, &RawFunction)> =
            functions.iter().enumerate().filter(|(_, f)| !f.entry.is_null()).collect();
        order.sort_by_key(|(_, f)| f.entry);
        let mut pcs = module.pcs;
        for (place, f) in order {
            // SAFETY: an entry count lies in its module's section of them.
            let at = unsafe { f.entry.offset_from(module.entries_start) } as usize;
            function_of[at] = self.tables.functions.len() as u32;
            self.tables.functions.push(Function {
                entry: f.entry,
                counts: f.counts,
                weights: f.weights,
                record: f,
                pcs: if module.source == source::PCS { (&raw const f.address).cast() } else { pcs },
                place: place as u32,
                edges: f.edges,
                branches: f.edges - f.progress - f.charges,
                charges: f.charges - f.memory,
                memory: f.memory,
                first_edge: self.edges as u32,
            });
            self.edges += f.edges as usize;
            if !pcs.is_null() {
                pcs = pcs.wrapping_add(f.edges as usize);
            }
            self.progress_slots += f.progress as usize;
            self.charges += f.charges as usize;
        }
        self.entries[index].function_of = function_of;
        self.tables.objects[index] = (module.functions_start, first..self.tables.functions.len());
    }

    /// Collects the indices of the functions that ran since the last clearing. This scan of the entry counts is the
    /// only work after a run that grows with the program instead of with what ran.
    #[inline]
    pub(crate) fn collect_ran(&self, ran: &mut Vec<u32>) {
        ran.clear();
        for module in self.entries.iter().filter(|module| !module.start.is_null()) {
            // SAFETY: the entry counts of an object that is loaded, or of a copy.
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

    /// Clears the counts of these functions.
    #[inline]
    pub fn clear(&self, functions: &[u32]) {
        for &f in functions {
            self.functions()[f as usize].clear();
        }
    }

    /// Clears all counts: before the first run, and after anything that was not a run of the campaign.
    pub(crate) fn clear_all(&self) {
        for function in self.functions() {
            function.clear();
        }
    }
}
