//! The interface with C: the Rust side of `compiler-wrapper/runtime/quagmire.h`.

use std::{
    cell::Cell,
    mem::offset_of,
    os::raw::{c_int, c_void},
    ptr::{null, null_mut},
    sync::atomic::AtomicU64,
};

use quagmire_choices::draws::{Draw, Item};

/// Version of the interface. Must equal `QGM_ABI` of the harness.
pub(crate) const ABI: u64 = 16;

/// Maximum number of registered objects (`QGM_MAX_MODULES`).
pub(crate) const MAX_MODULES: usize = 256;

/// The tables of one function, as the pass wrote them (`struct qgm_function`).
#[repr(C)]
pub struct RawFunction {
    /// Count of edge 0, the entry.
    pub entry: *mut u32,
    /// Counts of the edges from 1 on; null if there are none.
    pub counts: *mut u32,
    /// Two numbers for each edge that is neither a progress slot nor a charge, in two consecutive arrays: the instructions that one
    /// execution stands for, and the number of edges counted with it, itself included.
    pub weights: *const u32,
    pub address: *const c_void,
    /// Number of edges, including the entry, the progress slots and the charges; at least 1.
    pub edges: u32,
    /// Distance in bytes from this record to the function's [`RawLines`]; 0 without debug information.
    pub lines: i32,
    /// Number of progress slots, which are the last edges before the charges: a slot is 1 once its comparison got so far, otherwise 0.
    pub progress: u32,
    /// Distance in bytes from this record to the function's [`RawSums`]; 0 if every count has a counter.
    pub sums: i32,
    /// Number of charges, which are the last edges: instructions that calls of the C library stand for, and memory.
    pub charges: u32,
    /// Number of the last ones of these, which are bytes: the depth of the stack at the entry, and for each call of an allocator what
    /// it got.
    pub memory: u32,
}

/// Header of the table of derived counts (section `__qgm_sums`, see `compiler-wrapper/passes/counts.cc`).
#[repr(C)]
pub(crate) struct RawSums {
    /// Number of 16-bit words that follow.
    pub words: u32,
}

/// Header of the source line table of one function (section `__qgm_lines`, see `compiler-wrapper/passes/lines.h`).
/// [`RawSourceFunction`]s and LEB128 numbers follow.
#[repr(C)]
pub struct RawLines {
    /// Number of source functions that follow.
    pub sources: u32,
    /// Length of the LEB128 numbers in bytes.
    pub bytes: u32,
}

/// A source function in a file: two distances in bytes from the start of the table to C strings.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct RawSourceFunction {
    /// Distance to the path of the file.
    pub file: i32,
    /// Distance to the function's linkage name, or its plain name if it has none.
    pub function: i32,
}

// what the pass writes as numbers, without a structure of C
const _: () = assert!(size_of::<RawSums>() == 4 && align_of::<RawSums>() == 4);
const _: () = assert!(size_of::<RawLines>() == 8 && offset_of!(RawLines, bytes) == 4);
const _: () = assert!(size_of::<RawSourceFunction>() == 8 && offset_of!(RawSourceFunction, function) == 4);

/// Sources of the counts of an object (`enum qgm_source`).
pub mod source {
    /// quagmire's pass.
    pub const PASS: u32 = 0;
    /// SanitizerCoverage's guards.
    pub const GUARDS: u32 = 1;
    /// SanitizerCoverage's 8-bit counters.
    pub const COUNTERS: u32 = 2;
    /// Hashes of return addresses (gcc's `trace-pc`).
    pub const PCS: u32 = 3;
    /// Counters of the harness's own (section `__libfuzzer_extra_counters`).
    pub const EXTRA: u32 = 4;
    /// SanitizerCoverage's 8-bit counters, which the runtime has made 32 bits wide.
    pub const WIDENED: u32 = 5;
    /// SanitizerCoverage's flags, 0 or 1 for each edge.
    pub const FLAGS: u32 = 6;
}

/// The tables of one linked object (`struct qgm_module`). After the object is closed they belong to a copy, or are
/// null.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawModule {
    pub functions_start: *const RawFunction,
    pub functions_stop: *const RawFunction,
    pub entries_start: *mut u32,
    pub entries_stop: *mut u32,
    /// Addresses of all edges, function by function, entry first; null for the pass, and where nothing says them.
    pub pcs: *const usize,
    /// One of [`source`].
    pub source: u32,
    /// Nonzero if there is a table of addresses, but for another number of edges.
    pub has_wrong_table: u32,
}

impl RawModule {
    /// An object that is not there.
    pub const UNLOADED: Self = Self {
        functions_start: null(),
        functions_stop: null(),
        entries_start: null_mut(),
        entries_stop: null_mut(),
        pcs: null(),
        source: source::PASS,
        has_wrong_table: 0,
    };
}

/// All registered objects (`struct qgm_modules`).
#[repr(C)]
pub struct RawModules {
    /// Incremented twice with every change, so that it is odd during one.
    pub generation: AtomicU64,
    /// Number of used items of `module`.
    pub count: AtomicU64,
    /// Number of registrations refused because the list was full.
    pub refused: AtomicU64,
    /// Set while the timer reads counts: objects are not unmapped meanwhile.
    pub reading: AtomicU64,
    /// Objects in order of registration; one that is opened again keeps its place. Constructors change them behind us.
    pub module: [Cell<RawModule>; MAX_MODULES],
}

impl RawModules {
    /// Makes an empty list.
    pub fn new() -> Self {
        let [generation, count, refused, reading] = [const { AtomicU64::new(0) }; 4];
        Self { generation, count, refused, reading, module: [const { Cell::new(RawModule::UNLOADED) }; MAX_MODULES] }
    }
}

impl Default for RawModules {
    fn default() -> Self {
        Self::new()
    }
}

/// How a run of the target ended (`enum qgm_status`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// The target returned.
    #[default]
    Returned = 0,
    /// The target returned -1: the input is not to be kept.
    Rejected = 1,
    /// A signal or a sanitizer's report ended the run.
    Crashed = 2,
    /// The run was cut off at the hang timeout.
    Hung = 3,
    /// The run was cut off above the memory limit.
    Memory = 4,
    /// The target called `exit` or one of its relatives.
    Exited = 5,
}

/// Why the last run ended early (`struct qgm_event`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Event {
    /// Signal of a crash; 0 for a sanitizer's report.
    pub signal: i64,
    /// Exit code, if the target exited; with [`Status::Memory`], the bytes of an allocation that was too large, or 0.
    pub exit_code: i64,
    /// Address where the run was cut off; 0 if unknown.
    pub pc: u64,
    /// Memory address whose access crashed.
    pub address: u64,
}

/// Resources that the last run used, however it ended (`struct qgm_resources`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// Ticks of the time-stamp counter.
    pub cycles: u64,
    /// Peak of the allocated bytes.
    pub heap_peak: u64,
    /// Sum of all allocated bytes.
    pub heap_total: u64,
    /// Deepest stack of the thread that ran the target, in bytes.
    pub stack: u64,
    /// CPU time in nanoseconds if the target ran in a process of its own; otherwise 0.
    pub time_ns: u64,
    /// Number of threads of the target that outlive this run and did not exist after the run before.
    pub threads: u64,
}

/// How a run ended, and what it used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    pub status: Status,
    /// Why it ended early; empty if it did not.
    pub event: Event,
    pub resources: Resources,
    /// Maximum resident set of the largest process of the run, in bytes; 0 if it is not known.
    pub resident: u64,
}

/// Callback of the timer, given the number of ticks in the run that is on, or 0: says how the run is to end, or
/// [`Status::Returned`] to go on. Called in a signal handler.
pub type OnTimer = unsafe extern "C" fn(u64) -> Status;

/// A call of the harness's own mutator or crossover (`struct qgm_mutation`).
#[repr(C)]
pub struct RawMutation {
    /// First input of a crossover, of `size` bytes.
    pub data: *const u8,
    /// Second input of a crossover, of `other_size` bytes.
    pub other: *const u8,
    /// Room for the result; a mutator finds its input there.
    pub out: *mut u8,
    /// Size of the (first) input in bytes; after the call what the harness has returned, which may be anything.
    pub size: u64,
    /// Size of the second input in bytes.
    pub other_size: u64,
    /// Size of the room in bytes.
    pub max_size: u64,
    /// Seed of the harness's random numbers.
    pub seed: u64,
}

/// Calls the harness's own mutator or crossover, whatever happens in it.
pub type Mutate = unsafe extern "C" fn(*mut RawMutation) -> Status;

/// Longest operand of a comparison that is recorded, in bytes (`QGM_OPERAND_BYTES`).
pub(crate) const OPERAND_BYTES: usize = 32;

/// Maximum number of recorded comparisons (`QGM_MAX_COMPARISONS`).
pub(crate) const MAX_COMPARISONS: usize = 2048;

/// Value of `RawComparison::kind`: the first operand is a number of bytes that was allocated (`QGM_SIZE`).
pub(crate) const SIZE: u8 = 2;

/// Value of `RawComparisons::is_recording` with which sizes of allocations are recorded too (`QGM_WITH_SIZES`).
pub(crate) const WITH_SIZES: u64 = 2;

/// Value of `RawComparison::kind`: the operands are bytes and no numbers (`QGM_BYTES`).
pub(crate) const BYTES: u8 = 1;

/// Two operands that were compared (`struct qgm_comparison`).
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RawComparison {
    /// [`BYTES`], or 0 for numbers in this machine's byte order.
    pub kind: u8,
    /// Nonzero if the first one is a constant of the program.
    pub is_constant: u8,
    /// Sizes in bytes.
    pub size: [u8; 2],
    /// Hash of the place in the program.
    pub place: u32,
    /// The operands; zero behind their size.
    pub operand: [[u8; OPERAND_BYTES]; 2],
}

/// Bytes that are recorded of those that a hash is made of (`QGM_HASHED_BYTES`).
pub const HASHED_BYTES: usize = 112;

/// Maximum number of recorded hashes (`QGM_MAX_HASHES`).
pub(crate) const MAX_HASHES: usize = 4096;

/// Values of `RawHash::kind`: it is used as it is (`QGM_FINAL`), or it is divided (`QGM_REDUCED`).
pub(crate) const FINAL_HASH: u8 = 1;
pub(crate) const REDUCED: u8 = 2;

/// A number that the program has made of bytes (`struct qgm_hash`).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct RawHash {
    pub value: u64,
    /// Hash of the place in the program.
    pub place: u32,
    /// 0 for the state of a loop.
    pub kind: u8,
    /// Size of `bytes`.
    pub size: u8,
    pub bytes: [u8; HASHED_BYTES + 2],
}

/// Comparisons and hashes of one run (`struct qgm_comparisons`).
#[repr(C)]
pub struct RawComparisons {
    /// Nonzero once the target has shown a comparison in a run.
    pub are_called: AtomicU64,
    /// Nonzero once the target has made a hash in a run that was recorded, or before it has shown a comparison.
    pub are_hashed: AtomicU64,
    /// Whether runs are recorded: 1, or [`WITH_SIZES`].
    pub is_recording: AtomicU64,
    /// Number of used items of `comparison`, and of those that found no room.
    pub count: AtomicU64,
    /// Comparisons in the order of their first execution.
    pub comparison: [Cell<RawComparison>; MAX_COMPARISONS],
    /// Number of used items of `hash`, and of those that found no room.
    pub hash_count: AtomicU64,
    /// Place whose hashes alone are recorded; 0 for all.
    pub hash_place: AtomicU64,
    /// Hashes in the order in which they were made.
    pub hash: [Cell<RawHash>; MAX_HASHES],
}

/// Callback where a run ends that ends the process: it does not return. Called in a signal handler, or by the target.
pub type OnEnd = unsafe extern "C" fn(Status, *const Event);

/// The functions and tables that a harness hands to the engine (`struct qgm_harness`).
#[repr(C)]
pub struct RawHarness {
    /// [`ABI`] that the harness was built with.
    pub abi: u64,
    /// The registered objects; valid for the lifetime of the process.
    pub modules: *const RawModules,
    /// Calls `LLVMFuzzerInitialize`, if the harness has one.
    pub initialize: Option<unsafe extern "C" fn() -> c_int>,
    /// Runs the target once and returns whatever happens in it.
    pub run: unsafe extern "C" fn(*const u8, usize) -> Status,
    /// Valid after a run that did not return; in the callback of the timer its `pc` is where the run was interrupted.
    pub event: *const Event,
    /// Installs the signal handlers and starts the timer with this interval in nanoseconds and this callback.
    pub guard: unsafe extern "C" fn(u64, OnTimer),
    /// Number of timer ticks in the current or last run.
    pub ticks_in_run: *const AtomicU64,
    /// Valid after a run.
    pub resources: *const Resources,
    /// `LLVMFuzzerCustomMutator`, if the harness has one.
    pub mutate: Option<Mutate>,
    /// `LLVMFuzzerCustomCrossOver`, if the harness has one.
    pub cross_over: Option<Mutate>,
    /// Makes whatever ends a run end this process: the callback is called where the run ends.
    pub end_process: unsafe extern "C" fn(OnEnd),
    /// Ends runs that allocate this many bytes or more at once; only sanitizers tell.
    pub limit_allocations: unsafe extern "C" fn(u64),
    /// The recorded comparisons; valid for the lifetime of the process.
    pub comparisons: *const RawComparisons,
    /// Nonzero if a sanitizer is linked, which reports errors itself.
    pub is_sanitized: u64,
    /// Draws of the last run; valid for the lifetime of the process.
    pub draws: *const RawDraws,
}

// Draws of a run, as the runtime records them.

/// Maximum number of recorded draws (`QGM_MAX_DRAWS`).
pub(crate) const MAX_DRAWS: usize = 65536;

/// Maximum number of items of an overlay (`QGM_MAX_OVERLAY_ITEMS`).
pub(crate) const MAX_OVERLAY_ITEMS: usize = 16384;

/// Room for the bytes of an overlay (`QGM_OVERLAY_BYTES`).
pub(crate) const OVERLAY_BYTES: usize = 1 << 20;

/// Room for what a generator makes, in bytes (`QGM_GENERATED_BYTES`).
pub(crate) const GENERATED_BYTES: usize = 1 << 20;

/// Draws of one run, and bytes that they are to take (`struct qgm_draws`). The target may have written anything to it.
#[repr(C)]
pub struct RawDraws {
    /// Nonzero once the target has drawn, or if it was compiled with a header that draws.
    pub are_used: AtomicU64,
    /// Nonzero if runs are to be recorded.
    pub is_recording: AtomicU64,
    /// Number of draws of the run, also of those that found no room.
    pub count: AtomicU64,
    /// Number of used items of `item`, sorted by key.
    pub items: AtomicU64,
    /// 0, or one more than the number of bytes that the generator has made.
    pub generated: AtomicU64,
    /// Ticks of the time-stamp counter that it took; 0 in processes of their own.
    pub generator_cycles: AtomicU64,
    pub draw: [Cell<Draw>; MAX_DRAWS],
    pub item: [Cell<Item>; MAX_OVERLAY_ITEMS],
    pub overlay: [Cell<u8>; OVERLAY_BYTES],
    /// Beginning of what the generator has made.
    pub made: [Cell<u8>; GENERATED_BYTES],
}

// Memory and descriptors that a fork server shares with the engine.

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

/// The largest page of this machine's systems in bytes, to which counts in shared memory are aligned (`QGM_PAGE`).
pub(crate) const PAGE: usize = if cfg!(target_arch = "aarch64") { 65536 } else { 4096 };

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
