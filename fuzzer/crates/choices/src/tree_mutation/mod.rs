//! Operators on trees, with a grammar or without one: trees by brackets have the same layout.

mod bank;
mod nest;
mod structure;
mod values;

use libafl_bolts::rands::{Rand, StdRand};

use crate::grammar::Grammar;
use crate::operator::Operator;
use crate::tree::{NO_PARENT, Piece, Tree};

pub use bank::Bank;

/// Most copies of a part.
const MOST_COPIES: usize = 64;

/// Grammar and parts that operators need beside the tree.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Grammar of the tree, if it has one.
    pub grammar: Option<&'a Grammar>,
    /// Parts of other trees by the same grammar, or the same brackets.
    pub bank: &'a Bank,
}

/// Applies an operator to a tree. `text` changes a value as a text of any kind. Returns a tree of at most `limit` bytes
/// that differs from the old one; `None` if the operator finds nothing to do in this tree.
pub fn mutate(
    tree: &Tree,
    operator: Operator,
    context: &Context<'_>,
    limit: usize,
    text: &mut dyn FnMut(&mut Vec<u8>, &mut StdRand),
    rand: &mut StdRand,
) -> Option<Tree> {
    if tree.nodes.is_empty() {
        return None;
    }
    let limit = limit.min(u32::MAX as usize / 4);
    let mut work = Work { tree, parents: tree.parents(), context, limit, rand };
    let new = match operator {
        Operator::Regenerate => work.regenerate(),
        Operator::SplicePart => work.splice(),
        Operator::DeletePart => work.delete(),
        Operator::RepeatPart => work.repeat(),
        Operator::NestPart => work.nest(),
        Operator::ShuffleParts => work.shuffle(),
        Operator::ChangeValues => work.change_values(text),
        Operator::EqualValues => work.equal_values(),
        Operator::DifferentValues => work.different_values(),
    };
    new.filter(|new| new.bytes.len() <= limit && new.bytes != tree.bytes)
}

/// A tree that an operator works on.
struct Work<'a> {
    tree: &'a Tree,
    parents: Vec<u32>,
    context: &'a Context<'a>,
    limit: usize,
    rand: &'a mut StdRand,
}

impl Work<'_> {
    /// Draws one of the nodes that fit.
    fn node(&mut self, fits: impl Fn(usize) -> bool) -> Option<usize> {
        let nodes = self.tree.nodes.len();
        // a few tries first: mostly, many nodes fit
        for _ in 0..8 {
            let node = self.rand.below_or_zero(nodes);
            if fits(node) {
                return Some(node);
            }
        }
        let fitting: Vec<usize> = (0..nodes).filter(|&node| fits(node)).collect();
        fitting.get(self.rand.below_or_zero(fitting.len())).copied()
    }

    /// Symbol of the parent of a node; `None` for the root.
    fn parent_symbol(&self, node: usize) -> Option<u32> {
        let parent = self.parents[node];
        (parent != NO_PARENT).then(|| self.tree.nodes[parent as usize].symbol)
    }

    /// Number of bytes that may take the place of those of a node.
    fn room(&self, node: usize) -> usize {
        let others = self.tree.bytes.len() - self.tree.nodes[node].length as usize;
        self.limit.saturating_sub(others)
    }

    fn replaced(&self, node: usize, piece: Piece<'_>) -> Option<Tree> {
        (piece.bytes.len() <= self.room(node)).then(|| self.tree.with_node_replaced(&self.parents, node, piece))
    }

    /// Draws a number of copies, at most `most`: every order of magnitude with the same chance. `None` below 2.
    fn copies(&mut self, most: usize) -> Option<usize> {
        let most = most.min(MOST_COPIES);
        (most >= 2).then(|| self.log_uniform(most).max(2))
    }

    /// Draws from 1 to `most`, every order of magnitude with the same chance.
    fn log_uniform(&mut self, most: usize) -> usize {
        let exponent = self.rand.next_float() * (most as f64 + 1.0).ln();
        (exponent.exp() as usize).clamp(1, most.max(1))
    }
}

#[cfg(test)]
mod tests;
