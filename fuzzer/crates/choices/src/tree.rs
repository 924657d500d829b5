//! Derivation trees: the bytes of an input, and its parts.

use std::ops::Range;

/// Role of a part among its siblings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// A part with a fixed number of parts in it.
    Part,
    /// Any number of parts of the same symbol, with separators between them.
    List,
    /// Bytes between two parts of a list: there is one separator between each two, or none at all.
    Separator,
    /// A value: its bytes have no structure that matters, such as a number, a name or the text between two quotes.
    Leaf,
}

/// A part of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// Kind of the part: the nonterminal of a grammar. Parts of the same symbol can stand for each other.
    pub symbol: u32,
    /// Number of the alternative that it was derived by.
    pub choice: u32,
    /// Role among its siblings.
    pub role: Role,
    /// Place of its first byte.
    pub start: u32,
    /// Number of its bytes.
    pub length: u32,
    /// Number of nodes of its subtree, itself included.
    pub nodes: u32,
}

impl Node {
    /// Its bytes.
    pub fn range(&self) -> Range<usize> {
        self.start as usize..(self.start + self.length) as usize
    }
}

/// An input and its parts, in the order of their first bytes, each before the parts in it. The first is the whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// The input.
    pub bytes: Vec<u8>,
    /// Its parts; empty if it has none.
    pub nodes: Vec<Node>,
}
