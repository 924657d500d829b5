//! What a mutation rule is.

use std::fmt::Debug;

use libafl_bolts::rands::StdRand;

/// One way to change an input that may make a program slower.
///
/// Rules are pure: what they do depends on the bytes, the limit and the random numbers only.
pub trait Rule: Debug + Send + Sync {
    /// The label that results, logs and `--rules` use: `T.10`.
    fn label(&self) -> &str;

    /// The name in words: `insert_whitespace`.
    fn name(&self) -> &str;

    /// The class of bugs that it aims at, one short line.
    fn aim(&self) -> &str;

    /// An input and what the rule may make of it, for help texts.
    fn example(&self) -> Option<(&[u8], &[u8])> {
        None
    }

    /// Changes `bytes` in place. Afterwards they are at most `limit` bytes; what was longer before is cut.
    ///
    /// Returns false if nothing could be changed; then the bytes are as they were. Nothing can be with a `limit` of 0.
    fn apply(&self, bytes: &mut Vec<u8>, limit: usize, rand: &mut StdRand) -> bool;
}

/// The work of a [`BuiltIn`]: as [`Rule::apply`], but `bytes` are never longer than `limit`, and `limit` is never 0.
pub(crate) type Change = fn(bytes: &mut Vec<u8>, limit: usize, rand: &mut StdRand) -> bool;

/// A rule that is part of quagmire: a function and what is to be said about it.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    pub(super) label: &'static str,
    pub(super) name: &'static str,
    pub(super) aim: &'static str,
    pub(super) before: &'static [u8],
    pub(super) after: &'static [u8],
    pub(super) change: Change,
}

impl Rule for BuiltIn {
    fn label(&self) -> &str {
        self.label
    }

    fn name(&self) -> &str {
        self.name
    }

    fn aim(&self) -> &str {
        self.aim
    }

    fn example(&self) -> Option<(&[u8], &[u8])> {
        Some((self.before, self.after))
    }

    fn apply(&self, bytes: &mut Vec<u8>, limit: usize, rand: &mut StdRand) -> bool {
        within(bytes, limit, |bytes| (self.change)(bytes, limit, rand))
    }
}

/// What [`Rule::apply`] promises, for a `change` that never makes the bytes longer than `limit`.
pub(super) fn within(bytes: &mut Vec<u8>, limit: usize, change: impl FnOnce(&mut Vec<u8>) -> bool) -> bool {
    if limit == 0 {
        return false;
    }
    let cut = bytes.len() > limit;
    bytes.truncate(limit);
    let changed = change(bytes);
    debug_assert!(bytes.len() <= limit, "{} bytes, the limit is {limit}", bytes.len());
    changed || cut
}

/// Declares a [`BuiltIn`] named `$item` that runs the function `$name`.
///
/// The documentation of the item is made from the same literals as the example, and a test looks for a seed that turns
/// the left side into the right one: what is documented is what happens.
macro_rules! rule {
    ($(#[$meta:meta])* $item:ident: $label:literal $name:ident, aims at $aim:literal, $before:literal => $after:literal) => {
        #[doc = concat!($label, " `", stringify!($name), "`: `", stringify!($before), "` -> `", stringify!($after), "`")]
        #[doc = ""]
        #[doc = concat!("Aims at: ", $aim, ".")]
        #[doc = ""]
        $(#[$meta])*
        pub static $item: $crate::rule::BuiltIn = $crate::rule::BuiltIn {
            label: $label,
            name: stringify!($name),
            aim: $aim,
            before: $before,
            after: $after,
            // a closure, so that the function may take a slice where it needs no vector
            change: |bytes, limit, rand| $name(bytes, limit, rand),
        };
    };
}

pub(super) use rule;
