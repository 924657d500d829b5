//! Where in the code an input costs more than another one.

use serde::{Deserialize, Serialize};

/// A function or a source line whose cost grew.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Grown {
    /// Demangled name.
    pub function: String,
    /// Source file; nothing without debug information.
    pub file: Option<String>,
    /// Line in it; nothing for a whole function.
    pub line: Option<u32>,
    /// How often it was executed.
    pub count: u64,
    /// How often it was executed by the other input.
    pub first_count: u64,
    /// Instructions spent there.
    pub instructions: u64,
    /// Instructions that the other input spent there.
    pub first_instructions: u64,
    /// Of the whole growth, 0 to 1.
    pub share: f64,
}

/// Where the cost grew, most first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Growth {
    /// By function.
    pub functions: Vec<Grown>,
    /// By source line.
    pub lines: Vec<Grown>,
}
