//! Mutation of inputs: Perun's rules and quagmire's own, custom rules, and LibAFL's havoc, with or without a mask.
//!
//! To add a rule, declare one item with `rule!` (or another type that implements [`Rule`]) and list it in
//! [`BUILT_IN`]. Custom rules of the user are in [`custom`].

pub mod binary;
pub mod collisions;
pub mod custom;
pub mod draw;
mod edit;
pub mod havoc;
pub mod inner;
pub mod input_to_state;
pub mod kinds;
pub mod made_up;
pub mod mask;
pub mod masked;
pub mod parts;
pub mod room;
pub mod rule;
pub mod select;
pub mod text;
pub mod vary;
pub mod xml;

#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use rule::{BuiltIn, Rule, RuleMutator};
pub use select::{InputType, rules_for, select_rules};

use text::{characters, lines, whitespace, words};
use xml::{attributes, tags};

/// All rules that come with quagmire, ordered by label.
pub static BUILT_IN: &[&BuiltIn] = &[
    &lines::DOUBLE_LINE,
    &lines::DUPLICATE_LINE,
    &lines::DIVIDE_LINE,
    &characters::CHANGE_CHARACTER,
    &words::REPEAT_WORD,
    &words::SORT_LINE,
    &words::SORT_LINE_IN_REVERSE,
    &whitespace::APPEND_WHITESPACE,
    &whitespace::PREPEND_WHITESPACE,
    &whitespace::INSERT_WHITESPACE,
    &whitespace::REPEAT_WHITESPACE,
    &words::BLOAT_WORDS,
    &lines::DELETE_LINE,
    &words::DELETE_WORD,
    &characters::DELETE_CHARACTER,
    &binary::REMOVE_ZERO_BYTE,
    &binary::INSERT_ZERO_BYTE,
    &binary::INSERT_BYTE,
    &binary::REMOVE_BYTE,
    &binary::SWAP_BYTE,
    &binary::FLIP_BIT,
    &attributes::REMOVE_ATTRIBUTE,
    &attributes::REMOVE_ATTRIBUTE_NAME,
    &attributes::REMOVE_ATTRIBUTE_VALUE,
    &tags::REMOVE_TAG,
    &vary::VARY_WORD,
    &vary::VARY_LINE,
    &vary::COLLIDE_WORD,
    &vary::COLLIDE_LINE,
];

/// [`BUILT_IN`] as shared trait objects.
pub fn built_in_rules() -> Vec<Arc<dyn Rule>> {
    BUILT_IN.iter().map(|rule| Arc::new(**rule) as Arc<dyn Rule>).collect()
}
