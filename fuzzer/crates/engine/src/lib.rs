//! `libquagmire.a`, which quagmire-cc links into harnesses: a crate of its own, so that cargo optimises it as a whole and a
//! plain build of the workspace makes it. `quagmire::engine` has the functions that the runtime calls.

pub use commands::engine::{quagmire_engine_main, quagmire_engine_mutate};
