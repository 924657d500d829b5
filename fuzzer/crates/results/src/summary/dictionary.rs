//! Tokens of dictionaries and of the program's code, and those that are in entries.

use serde::{Deserialize, Serialize};

/// Tokens that mutants were made with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Dictionary {
    /// Number of tokens: those of `--dict`, the constants that the code compares with, and words that runs have compared.
    pub tokens: u64,
    /// Tokens that are oftener in an entry than in its parent, where tokens were put in; those in most entries first.
    pub useful: Vec<Token>,
}

/// A token with its success.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Token {
    /// The token, escaped as in dictionaries of AFL: `\x00`.
    pub token: String,
    /// Number of entries with it.
    pub entries: u64,
}
