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

// Editing: some siblings are replaced by others, everything else stays as it is.

/// Some siblings that follow each other, with what is in them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece<'a> {
    /// Their nodes, in the order of a tree.
    pub(crate) nodes: &'a [Node],
    pub(crate) bytes: &'a [u8],
    /// Place of the first of the bytes in the tree of the nodes.
    pub(crate) start: u32,
}

/// Replacement of some siblings that follow each other, maybe none, below the root.
#[derive(Clone, Debug)]
pub(crate) struct Edit<'a> {
    pub(crate) parent: usize,
    /// Their nodes, with what is in them.
    pub(crate) nodes: Range<usize>,
    pub(crate) bytes: Range<usize>,
    /// Replacement of both.
    pub(crate) pieces: Vec<Piece<'a>>,
}

impl Edit<'_> {
    fn more_bytes(&self) -> i64 {
        let new: usize = self.pieces.iter().map(|piece| piece.bytes.len()).sum();
        new as i64 - self.bytes.len() as i64
    }

    fn more_nodes(&self) -> i64 {
        let new: usize = self.pieces.iter().map(|piece| piece.nodes.len()).sum();
        new as i64 - self.nodes.len() as i64
    }
}

impl Tree {
    /// A node with what is in it.
    pub(crate) fn piece(&self, node: usize) -> Piece<'_> {
        self.siblings(self.subtree(node), self.nodes[node].range())
    }

    /// Siblings with what is in them.
    pub(crate) fn siblings(&self, nodes: Range<usize>, bytes: Range<usize>) -> Piece<'_> {
        Piece { nodes: &self.nodes[nodes], start: bytes.start as u32, bytes: &self.bytes[bytes] }
    }

    /// A tree of one node and what is in it.
    pub(crate) fn of_piece(piece: Piece<'_>) -> Self {
        let mut tree = Self::default();
        tree.push(piece);
        tree
    }

    /// Replaces a node and what is in it, the root or another; `parents` are those of all nodes.
    pub(crate) fn with_node_replaced(&self, parents: &[u32], node: usize, piece: Piece<'_>) -> Self {
        let parent = parents[node];
        if parent == NO_PARENT {
            return Self::of_piece(piece);
        }
        let (nodes, bytes) = (self.subtree(node), self.nodes[node].range());
        self.edited(parents, &[Edit { parent: parent as usize, nodes, bytes, pieces: vec![piece] }])
    }

    /// Number of bytes of the tree after edits.
    pub(crate) fn edited_length(&self, edits: &[Edit<'_>]) -> usize {
        (self.bytes.len() as i64 + edits.iter().map(Edit::more_bytes).sum::<i64>()) as usize
    }

    /// The tree after edits, which are in the order of their nodes and apart from each other; `parents` are those of all
    /// nodes.
    pub(crate) fn edited(&self, parents: &[u32], edits: &[Edit<'_>]) -> Self {
        let mut resized = self.nodes.clone();
        for edit in edits {
            let mut above = edit.parent as u32;
            while above != NO_PARENT {
                let node = &mut resized[above as usize];
                node.length = (i64::from(node.length) + edit.more_bytes()) as u32;
                node.nodes = (i64::from(node.nodes) + edit.more_nodes()) as u32;
                above = parents[above as usize];
            }
        }
        let more = edits.iter().map(Edit::more_nodes).sum::<i64>();
        let mut new = Self {
            bytes: Vec::with_capacity(self.edited_length(edits)),
            nodes: Vec::with_capacity((self.nodes.len() as i64 + more) as usize),
        };
        let mut copied = (0, 0);
        let end = [(self.nodes.len()..self.nodes.len(), self.bytes.len()..self.bytes.len(), &[][..])];
        for (nodes, bytes, pieces) in
            edits.iter().map(|edit| (edit.nodes.clone(), edit.bytes.clone(), &edit.pieces[..])).chain(end)
        {
            new.push(Piece {
                nodes: &resized[copied.0..nodes.start],
                start: copied.1 as u32,
                bytes: &self.bytes[copied.1..bytes.start],
            });
            pieces.iter().for_each(|&piece| new.push(piece));
            copied = (nodes.end, bytes.end);
        }
        new
    }

    /// Appends nodes and bytes.
    fn push(&mut self, piece: Piece<'_>) {
        let start = self.bytes.len() as u32;
        self.nodes.extend(piece.nodes.iter().map(|&node| Node { start: node.start - piece.start + start, ..node }));
        self.bytes.extend_from_slice(piece.bytes);
    }
}
