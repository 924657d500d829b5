//! Versions of LLVM that are supported.

/// Oldest supported major version of LLVM.
pub(crate) const OLDEST: u32 = 14;

/// Newest supported major version of LLVM.
pub(crate) const NEWEST: u32 = 22;

/// Oldest LLVM whose linker loads passes.
pub(crate) const OLDEST_WITH_LTO: u32 = 15;
