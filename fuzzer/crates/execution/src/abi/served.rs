//! Memory and descriptors that a fork server shares with the engine: the Rust side of `struct qgm_served`.

use std::{os::raw::c_int, sync::atomic::AtomicU64};

use super::MAX_MODULES;
#[cfg(doc)]
use super::{ABI, RawModules};

/// Environment variable with the file descriptor of the [`Served`] memory (`QGM_SERVE`).
pub const SERVE: &str = "QUAGMIRE_SERVE";

/// File descriptor from which a fork server reads requests (`QGM_REQUESTS`), as in AFL's protocol.
pub(crate) const REQUESTS: c_int = 198;

/// File descriptor to which a fork server writes answers (`QGM_ANSWERS`).
pub(crate) const ANSWERS: c_int = 199;

/// File descriptor, in the fork server, of the input that a generator gets (`QGM_CHOICES`).
pub(crate) const CHOICES: c_int = 195;

/// File descriptor of the input file in the fork server (`QGM_INPUT`).
pub const INPUT: c_int = 196;

/// Longest input that a target can take from shared memory, in bytes (`QGM_INPUT_BYTES`).
pub(crate) const INPUT_BYTES: usize = 1 << 30;

/// Value of `Served::looped` after a run of a child that is back in its loop (`enum qgm_looped`); 0 means that the
/// child has ended.
pub(crate) const WENT_ROUND: u64 = 1;

/// As [`WENT_ROUND`], and the target rejects the input.
pub(crate) const WENT_REJECT: u64 = 2;

/// The child has reached its loop; there was no run yet.
pub(crate) const STARTED: u64 = 3;

/// Value of `Served::status` if no child could be forked (`QGM_NO_CHILD`).
pub(crate) const NO_CHILD: u64 = u64::MAX;

/// Page size in bytes: counts in shared memory are aligned to it (`QGM_PAGE`).
pub(crate) const PAGE: usize = 4096;

/// Counts of an object in the fork server (`struct qgm_region`): address, length and offset in the shared file, in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region {
    pub address: u64,
    pub length: u64,
    pub offset: u64,
}

/// Heap use of a run (`struct qgm_heap`), in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Heap {
    /// Nonzero during a run.
    pub counting: i64,
    /// Bytes allocated now; negative if memory of earlier runs was freed.
    pub current: i64,
    /// Peak of `current`.
    pub peak: i64,
    /// Sum of all allocated bytes.
    pub total: u64,
}

/// Size of the buffer for paths of libraries, in bytes (`QGM_LIBRARIES_BYTES`).
pub(crate) const LIBRARIES_BYTES: usize = 65536;

/// Value of `Served::ready`: the server accepts requests (`QGM_READY`).
pub(crate) const READY: u64 = 1;

/// Value of `Served::ready`: counts are not on pages of their own and cannot be shared (`QGM_NOT_SHARED`).
pub(crate) const NOT_SHARED: u64 = 2;

/// Value of `Served::ready`: there are objects that SanitizerCoverage counts (`QGM_UNCOUNTED`).
pub(crate) const UNCOUNTED: u64 = 4;

/// Value of `Served::ready`: the generator cannot be used (`QGM_NO_GENERATOR`).
pub(crate) const NO_GENERATOR: u64 = 5;

/// Size of the buffer for a path, in bytes (`QGM_PATH_BYTES`).
pub(crate) const PATH_BYTES: usize = 4096;

/// Tables in the memory of the fork server (`struct qgm_server`).
#[repr(C)]
#[derive(Debug)]
pub(crate) struct ServerTables {
    /// Address of the server's [`RawModules`].
    pub modules: u64,
    /// Length of the shared memory in bytes.
    pub bytes: u64,
    /// Number of used items of `region`.
    pub region_count: u64,
    /// The counts of all objects.
    pub region: [Region; 2 * MAX_MODULES],
}

/// Header of the memory shared by a fork server, its children and the fuzzer (`struct qgm_served`). Every field may
/// have been overwritten by the target.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Served {
    /// [`ABI`]: set by the fuzzer first, then by the server.
    pub abi: u64,
    /// [`READY`], [`NOT_SHARED`], [`UNCOUNTED`], [`NO_GENERATOR`] or 0.
    pub ready: u64,
    /// Address of the server's [`ServerTables`].
    pub server: u64,
    /// Address, in the child, of the variable with the lowest stack address so far.
    pub lowest_stack: u64,
    /// Nonzero if the target reads its input from shared memory.
    pub takes_memory: u64,
    /// Length of the input in bytes; set by the fuzzer before a run, and by a generator.
    pub input_size: u64,
    /// Number of the last request.
    pub wanted: u64,
    /// Number of the last answer.
    pub answered: u64,
    /// Process that runs, or waits in its loop; 0 if there is none.
    pub child: AtomicU64,
    /// [`WENT_ROUND`], [`WENT_REJECT`] or [`STARTED`]; 0 if the child has ended.
    pub looped: u64,
    /// Wait status of a child that has ended.
    pub status: u64,
    /// Time stamp at the start of the last run.
    pub began: u64,
    /// CPU time of the child at that moment, in nanoseconds.
    pub cpu_began: u64,
    /// Nonzero if the child has stored `cycles` and `time_ns` itself.
    pub measured: u64,
    /// Address of the crashing instruction; 0 if unknown.
    pub pc: u64,
    /// Memory address whose access crashed.
    pub address: u64,
    /// Address where the stack began.
    pub top: u64,
    /// Deepest stack in bytes; 0 if the child was killed (see `lowest_stack`).
    pub stack: u64,
    /// Ticks of the time-stamp counter that the run took.
    pub cycles: u64,
    /// CPU time of the run in nanoseconds; 0 if it was so short that `cycles` is more precise.
    pub time_ns: u64,
    /// Heap use of the run.
    pub heap: Heap,
    /// Set by the fuzzer: the next request is to open libraries instead of running.
    pub opening: u64,
    /// Lock of `libraries`, used by the children only.
    pub libraries_locked: u64,
    /// Number of used bytes of `libraries`.
    pub libraries_end: AtomicU64,
    /// Nonzero if the library that was tried last can be opened; used by the server only.
    pub library_opens: u64,
    /// Nonzero if the generator has not returned, or failed: however the run ended, the program did nothing.
    pub generating: u64,
    /// Path of the generator, set by the fuzzer, or empty; with [`NO_GENERATOR`], the reason. Zero-terminated.
    pub generator: [u8; PATH_BYTES],
    /// Paths of the libraries that children have opened, zero-terminated.
    pub libraries: [u8; LIBRARIES_BYTES],
}
