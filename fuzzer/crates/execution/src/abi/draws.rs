//! Draws of a run, as the runtime records them.

use std::{cell::Cell, sync::atomic::AtomicU64};

use quagmire_choices::draws::{Draw, Item};

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
