//! Derivation trees: the bytes of an input, and its parts.

mod edit;

use std::ops::Range;

pub(crate) use edit::{Edit, Piece};

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

/// Parent of the root in [`Tree::parents`].
pub(crate) const NO_PARENT: u32 = u32::MAX;

impl Tree {
    pub(crate) fn bytes_of(&self, node: usize) -> &[u8] {
        &self.bytes[self.nodes[node].range()]
    }

    /// Nodes of the subtree of a node, the node itself first.
    pub(crate) fn subtree(&self, node: usize) -> Range<usize> {
        node..node + self.nodes[node].nodes as usize
    }

    /// Whether a node may have parts in it.
    pub(crate) fn has_parts(&self, node: usize) -> bool {
        matches!(self.nodes[node].role, Role::Part | Role::List)
    }

    /// The children of a node, in order.
    pub(crate) fn children(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.subtree(node).end;
        let next = move |at: usize| Some(at).filter(|&at| at < end);
        std::iter::successors(next(node + 1), move |&at| next(self.subtree(at).end))
    }

    /// Parent of each node; [`NO_PARENT`] for the root.
    pub(crate) fn parents(&self) -> Vec<u32> {
        let mut parents = Vec::with_capacity(self.nodes.len());
        let mut open: Vec<usize> = Vec::new();
        for node in 0..self.nodes.len() {
            while open.last().is_some_and(|&last| self.subtree(last).end <= node) {
                open.pop();
            }
            parents.push(open.last().map_or(NO_PARENT, |&last| last as u32));
            open.push(node);
        }
        parents
    }

    /// Whether the nodes are what [`Tree`] and [`Role`] promise: the root is the whole, parts lie inside of their parents
    /// in order and apart from each other, leaves and separators have no parts, and separators stand between the parts
    /// of lists, which have no other bytes.
    pub fn is_sound(&self) -> bool {
        let Some(root) = self.nodes.first() else { return true };
        if root.start != 0 || root.length as usize != self.bytes.len() || root.nodes as usize != self.nodes.len() {
            return false;
        }
        (0..self.nodes.len()).all(|node| self.is_sound_at(node))
    }

    fn is_sound_at(&self, at: usize) -> bool {
        let node = &self.nodes[at];
        let end = self.subtree(at).end;
        if node.nodes == 0 || end > self.nodes.len() {
            return false;
        }
        let (mut next, mut place) = (at + 1, node.start as usize);
        let mut roles = Vec::new();
        while next < end {
            let child = &self.nodes[next];
            let range = child.range();
            if child.nodes == 0 || range.start < place || (node.role == Role::List && range.start != place) {
                return false;
            }
            roles.push(child.role);
            (next, place) = (next + child.nodes as usize, range.end);
        }
        let separators = roles.iter().filter(|&&role| role == Role::Separator).count();
        let alternates = || roles.iter().enumerate().all(|(i, &role)| (role == Role::Separator) == (i % 2 == 1));
        next == end
            && place <= node.range().end
            && match node.role {
                Role::Part => separators == 0,
                Role::Leaf | Role::Separator => roles.is_empty(),
                Role::List => {
                    place == node.range().end
                        && (separators == 0 || (alternates() && separators * 2 + 1 == roles.len()))
                }
            }
    }
}
