//! Versions of LLVM that are supported.

/// The oldest supported major version of LLVM.
pub(crate) const OLDEST: u32 = 14;

/// The newest supported major version of LLVM.
pub(crate) const NEWEST: u32 = 19;

/// The first LLVM whose linker loads passes.
pub(crate) const OLDEST_WITH_LTO: u32 = 15;
