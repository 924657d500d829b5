//! Made-up programs for tests of this crate and of others.

use std::{
    ptr::null,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

use crate::{
    abi::{RawFunction, RawModule, RawModules},
    program::Program,
};

fn leaked<T>(all: impl Iterator<Item = T>) -> &'static [T] {
    Box::leak(all.collect())
}

fn zeros(number: usize) -> &'static [AtomicU32] {
    leaked((0..number).map(|_| AtomicU32::new(0)))
}

/// Counts of a made-up program: tests write here what a run is to have executed.
pub struct Counts(Vec<(&'static AtomicU32, &'static [AtomicU32])>);

impl Counts {
    /// Sets the counts of a function's edges.
    pub fn set(&self, function: usize, counts: &[u32]) {
        let (entry, others) = self.0[function];
        for (slot, &count) in std::iter::once(entry).chain(others).zip(counts) {
            slot.store(count, Relaxed);
        }
    }
}

/// Makes a program of functions with so many edges, each of weight 1.
pub fn made_up(edges: &[u32]) -> (Program, Counts) {
    let entries = zeros(edges.len());
    let counts: Vec<_> = entries.iter().zip(edges).map(|(entry, &edges)| (entry, zeros(edges as usize - 1))).collect();
    let functions = leaked(counts.iter().zip(edges).map(|((entry, others), &edges)| RawFunction {
        entry: entry.as_ptr(),
        counts: others.as_ptr().cast_mut().cast(),
        weights: leaked(std::iter::repeat_n(1_u32, 2 * edges as usize)).as_ptr(),
        address: null(),
        edges,
        lines: 0,
        progress: 0,
        sums: 0,
        charges: 0,
        memory: 0,
    }));
    let (functions, entries) = (functions.as_ptr_range(), entries.as_ptr_range());
    let module = RawModule {
        functions_start: functions.start,
        functions_stop: functions.end,
        entries_start: entries.start.cast_mut().cast(),
        entries_stop: entries.end.cast_mut().cast(),
        ..RawModule::UNLOADED
    };
    let modules: &'static RawModules = Box::leak(Box::default());
    modules.module[0].set(module);
    modules.count.store(1, Relaxed);
    modules.generation.store(2, Relaxed);
    // SAFETY: tables as the pass makes them, which are never freed.
    (unsafe { Program::new(modules) }, Counts(counts))
}

/// Text of a file of the runtime, in a checkout.
#[cfg(test)]
pub(crate) fn runtime(name: &str) -> String {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../compiler-wrapper/runtime");
    std::fs::read_to_string(folder.join(name)).expect("a file of the runtime")
}
