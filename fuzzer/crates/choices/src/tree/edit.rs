//! Editing of trees: some siblings are replaced by others, everything else stays as it is.

use std::ops::Range;

use super::{NO_PARENT, Node, Tree};

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
