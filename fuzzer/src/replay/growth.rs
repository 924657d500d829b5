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

impl Grown {
    /// `file:line`.
    pub fn location(&self) -> Option<String> {
        Some(format!("{}:{}", self.file.as_ref()?, self.line?))
    }
}

/// Where `input` costs more than `first`.
pub fn growth(first: &super::report::InputReport, input: &super::report::InputReport) -> Growth {
    let before = |name: &str| first.functions.iter().find(|f| f.function == name).map_or(0, |f| f.instructions);
    let all = input.instructions.saturating_sub(first.instructions).max(1) as f64;
    let grown = input.functions.iter().map(|f| Grown {
        function: f.function.clone(),
        file: f.location.as_ref().and_then(|l| l.rsplit_once(':')).map(|(file, _)| file.to_owned()),
        line: f.location.as_ref().and_then(|l| l.rsplit_once(':')).and_then(|(_, line)| line.parse().ok()),
        count: 0,
        first_count: 0,
        instructions: f.instructions,
        first_instructions: before(&f.function),
        share: f.instructions.saturating_sub(before(&f.function)) as f64 / all,
    });
    let mut functions: Vec<Grown> = grown.filter(|grown| grown.share > 0.0).collect();
    functions.sort_by(|a, b| b.share.total_cmp(&a.share));
    Growth { functions, lines: Vec::new() }
}
