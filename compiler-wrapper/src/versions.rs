//! Versions of LLVM that are supported.

/// The oldest supported major version of LLVM.
pub const OLDEST: u32 = 14;

/// The newest supported major version of LLVM.
pub const NEWEST: u32 = 19;

/// The first LLVM whose linker loads passes.
pub const OLDEST_WITH_LTO: u32 = 15;
