//! The compiler wrapper.
