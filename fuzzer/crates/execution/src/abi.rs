//! Mirror of `compiler-wrapper/runtime/quagmire.h`.

use std::{
    os::raw::{c_char, c_int, c_void},
    sync::atomic::AtomicU64,
};

/// Must equal `QGM_ABI` of the harness.
pub(crate) const ABI: u64 = 8;

/// `QGM_MAX_MODULES`.
pub(crate) const MAX_MODULES: usize = 256;

/// The tables of one function, as the pass wrote them.
#[repr(C)]
pub struct RawFunction {
    /// Count of edge 0.
    pub entry: *mut u32,
    /// Counts of the edges 1.. (null if there are none).
    pub counts: *mut u32,
    /// Of each edge that is no progress slot: instructions that one execution stands for; behind those of all, the number of
    /// edges that are counted with it, itself among them.
    pub weights: *const u32,
    /// Address of the function.
    pub address: *const c_void,
    /// Number of edges, the entry and the progress slots included: at least 1.
    pub edges: u32,
    /// Distance in bytes from this record to the function's [`RawLines`]; 0 without debug information.
    pub lines: i32,
    /// How many of the edges, the last ones, are progress slots: 1 once a comparison got so far, otherwise 0.
    pub progress: u32,
    /// Distance in bytes from this record to the function's [`RawSums`]; 0 if every count has a counter.
    pub sums: i32,
}

/// Start of the table of counts that follow from others (section `__qgm_sums`, see `compiler-wrapper/passes/counts.cc`).
#[repr(C)]
pub(crate) struct RawSums {
    /// How many numbers of 16 bits follow.
    pub words: u32,
}

/// Start of the table of source lines of one function (section `__qgm_lines`, see `compiler-wrapper/passes/lines.h`).
/// Behind it follow the places and the numbers.
#[repr(C)]
pub struct RawLines {
    /// Number of source functions.
    pub places: u32,
    /// Length of the numbers in bytes.
    pub bytes: u32,
}

/// A source function in a file: distances in bytes from the start of the table to a C string.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct RawPlace {
    /// To the path of the file.
    pub file: i32,
    /// To the name of the function, for the linker if it has one.
    pub function: i32,
}

/// The tables of one linked object. Once it was closed, they are those of a copy, or null pointers.
#[repr(C)]
#[derive(Clone, Copy)]
#[expect(missing_docs, reason = "named after the sections they bound")]
pub struct RawModule {
    pub functions_start: *const RawFunction,
    pub functions_stop: *const RawFunction,
    pub entries_start: *mut u32,
    pub entries_stop: *mut u32,
}

/// All linked objects that registered.
#[repr(C)]
pub struct RawModules {
    /// Goes up with every change, and is odd during one.
    pub generation: AtomicU64,
    /// Used items of `module`.
    pub count: u64,
    /// Registrations for which there was no place.
    pub refused: u64,
    /// Set while the tick reads counts: nothing is unmapped then.
    pub reading: AtomicU64,
    /// In order of registration; what is opened again has the place that it had before.
    pub module: [RawModule; MAX_MODULES],
}

/// How one run of the target ended (`enum qgm_status`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// Normally.
    #[default]
    Returned = 0,
    /// With -1: this input is not to be kept.
    Rejected = 1,
    /// By a signal or a sanitizer's report.
    Crashed = 2,
    /// Cut off after the hang timeout.
    Hung = 3,
    /// Cut off above the memory limit.
    Memory = 4,
    /// The target called `exit` or one of its relatives.
    Exited = 5,
}

/// Why the last run ended early (`struct qgm_event`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Event {
    /// Of a crash; 0 for a sanitizer's report.
    pub signal: i64,
    /// Of an exit.
    pub exit_code: i64,
    /// Where the run was cut off; 0 if not known.
    pub pc: u64,
    /// What a crash touched.
    pub address: u64,
}

/// What the last run used, however it ended (`struct qgm_resources`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// Ticks of the time-stamp counter.
    pub cycles: u64,
    /// Most bytes that were allocated at one time.
    pub heap_peak: u64,
    /// All bytes that were allocated.
    pub heap_total: u64,
    /// Deepest stack of the thread that ran the target, in bytes.
    pub stack: u64,
    /// CPU time in nanoseconds, if the target ran in a process of its own; otherwise 0.
    pub time_ns: u64,
    /// Threads of the target that go on after a run, and did not after the one before.
    pub threads: u64,
}

/// The environment variable that names the descriptor of the [`Served`] (`QGM_SERVE`).
pub const SERVE: &str = "QUAGMIRE_SERVE";

/// Where a fork server reads requests (`QGM_REQUESTS`), as in AFL's protocol.
pub(crate) const REQUESTS: c_int = 198;

/// Where it writes answers (`QGM_ANSWERS`).
pub(crate) const ANSWERS: c_int = 199;

/// The file with the input in the server (`QGM_INPUT`).
pub const INPUT: c_int = 196;

/// The longest input that a target takes from memory (`QGM_INPUT_BYTES`).
pub(crate) const INPUT_BYTES: usize = 1 << 30;

/// `Served::looped` of a run that a child in its loop answered for (`enum qgm_looped`): 0 if the child has ended.
pub(crate) const WENT_ROUND: u64 = 1;

/// Likewise: the target does not want its input kept.
pub(crate) const WENT_REJECT: u64 = 2;

/// Likewise: it was no run yet, the child has come to its loop.
pub(crate) const STARTED: u64 = 3;

/// `Served::status` if there was no child (`QGM_NO_CHILD`).
pub(crate) const NO_CHILD: u64 = u64::MAX;

/// Counts in shared memory begin and end at multiples of it (`QGM_PAGE`).
pub(crate) const PAGE: usize = 4096;

/// Counts of an object in the server (`struct qgm_region`), all in bytes: where in the server's memory, and where in the file that
/// is shared with it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region {
    pub address: u64,
    pub length: u64,
    pub offset: u64,
}

/// What a run allocated (`struct qgm_heap`), in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Heap {
    /// A run is on.
    pub counting: c_int,
    /// Now; below 0 where memory of earlier runs was given back.
    pub current: i64,
    /// At one time, at most.
    pub peak: i64,
    /// In all.
    pub total: u64,
}

/// Room for the paths of libraries (`QGM_LIBRARIES_BYTES`).
pub(crate) const LIBRARIES_BYTES: usize = 65536;

/// The server is ready (`QGM_READY`).
pub(crate) const READY: u64 = 1;

/// Counts are not on pages of their own (`QGM_NOT_SHARED`).
pub(crate) const NOT_SHARED: u64 = 2;

/// What the fork server alone knows (`struct qgm_server`), in its own memory.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct ServerTables {
    /// Address of its [`RawModules`].
    pub modules: u64,
    /// Length of all that is shared.
    pub bytes: u64,
    /// Used items of `region`.
    pub region_count: u64,
    /// The counts of all objects.
    pub region: [Region; 2 * MAX_MODULES],
}

/// The start of the memory that a fork server, its children and the fuzzer share (`struct qgm_served`). The target may have
/// written anything there.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Served {
    /// The fuzzer's [`ABI`] at first, then the server's.
    pub abi: u64,
    /// [`READY`], or why not.
    pub ready: u64,
    /// Address of the server's [`ServerTables`].
    pub server: u64,
    /// Address in the child of the lowest address of its stack so far.
    pub lowest_stack: u64,
    /// The target reads its input in memory.
    pub takes_memory: u64,
    /// Bytes of that input; set before a run.
    pub input_size: u64,
    /// Number of the run that was asked for last.
    pub wanted: u64,
    /// Number of the run that was answered for last.
    pub answered: u64,
    /// The process that runs, or waits in its loop; 0 if there is none.
    pub child: AtomicU64,
    /// [`WENT_ROUND`] and so on; 0 if the child has ended.
    pub looped: u64,
    /// How it has ended, as `wait` says it.
    pub status: u64,
    /// Time stamp at which the last run began.
    pub began: u64,
    /// CPU time of the child at that moment, in nanoseconds.
    pub cpu_began: u64,
    /// The child has noted `cycles` and `time_ns` itself.
    pub measured: u64,
    /// Where it crashed; 0 if not known.
    pub pc: u64,
    /// What the crash touched.
    pub address: u64,
    /// Where its stack began.
    pub top: u64,
    /// Its deepest stack in bytes; 0 if it was killed: see `lowest_stack`.
    pub stack: u64,
    /// Ticks of the time-stamp counter that it took.
    pub cycles: u64,
    /// CPU time that it took, in nanoseconds; 0 if it took so little that the ticks say more.
    pub time_ns: u64,
    /// What it allocated.
    pub heap: Heap,
    /// Set by the fuzzer: the next request is to open libraries, and no run.
    pub opening: u64,
    /// For the children.
    pub libraries_locked: u64,
    /// Bytes of `libraries` in use.
    pub libraries_end: AtomicU64,
    /// For the server.
    pub library_opens: u64,
    /// Paths of the libraries that children have opened, each with a zero byte behind it.
    pub libraries: [u8; LIBRARIES_BYTES],
}

/// What the engine gets from the harness (`struct qgm_harness`).
#[repr(C)]
pub struct Harness {
    /// [`ABI`].
    pub abi: u64,
    /// Lives as long as the process.
    pub modules: *const RawModules,
    /// `LLVMFuzzerInitialize`, if the harness has one.
    pub initialize: Option<unsafe extern "C" fn(*mut c_int, *mut *mut *mut c_char) -> c_int>,
    /// Runs the target once and comes back whatever happens.
    pub run: unsafe extern "C" fn(*const u8, usize) -> Status,
    /// Valid after a run that did not return.
    pub event: *const Event,
    /// Installs signal handlers and the tick.
    pub guard: unsafe extern "C" fn(u64, unsafe extern "C" fn(u64) -> Status),
    /// Ticks in the current or last run.
    pub ticks_in_run: *const u64,
    /// Valid after a run.
    pub resources: *const Resources,
}
