//! Operators on leaves: change values, make them equal, make them different.

use std::collections::HashSet;

use libafl_bolts::rands::{Rand, StdRand};

use super::Work;
use crate::grammar::Limits;
use crate::tree::{Edit, NO_PARENT, Node, Piece, Role, Tree};

/// Largest size of a generated value, in bytes.
const LARGEST_NEW: usize = 256;

/// New bytes of a leaf.
struct Value {
    leaf: usize,
    bytes: Vec<u8>,
}

impl Work<'_> {
    /// Changes a leaf, or some: by the grammar, or as texts. A text that the grammar does not allow is kept in a fifth of
    /// the cases.
    pub(super) fn change_values(&mut self, text: &mut dyn FnMut(&mut Vec<u8>, &mut StdRand)) -> Option<Tree> {
        let mut leaves = self.leaves(None);
        let mut count = 1;
        while count < leaves.len().min(16) && self.rand.coinflip(0.5) {
            count += 1;
        }
        let mut values = Vec::new();
        for leaf in self.some_of(&mut leaves, count) {
            let symbol = self.tree.nodes[leaf].symbol;
            let mut bytes = self.tree.bytes_of(leaf).to_vec();
            match self.context.grammar {
                Some(_) if self.rand.coinflip(0.5) => bytes = self.generated(symbol)?,
                Some(grammar) => {
                    text(&mut bytes, self.rand);
                    if !grammar.matches(symbol, &bytes) && self.rand.coinflip(0.8) {
                        bytes = self.generated(symbol)?;
                    }
                }
                None => text(&mut bytes, self.rand),
            }
            values.push(Value { leaf, bytes });
        }
        self.with_values(values)
    }

    /// Makes leaves of one symbol equal to one of them.
    pub(super) fn equal_values(&mut self) -> Option<Tree> {
        let model = self.node(|node| self.tree.nodes[node].role == Role::Leaf)?;
        let bytes = self.tree.bytes_of(model);
        let mut others = self.leaves(Some(self.tree.nodes[model].symbol));
        others.retain(|&leaf| self.tree.bytes_of(leaf) != bytes);
        let count = if self.rand.coinflip(0.5) { others.len() } else { self.log_uniform(others.len()) };
        let others = self.some_of(&mut others, count);
        self.with_values(others.into_iter().map(|leaf| Value { leaf, bytes: bytes.to_vec() }).collect())
    }

    /// Makes leaves of one symbol different from each other, as far as the grammar allows it.
    pub(super) fn different_values(&mut self) -> Option<Tree> {
        let model = self.node(|node| self.tree.nodes[node].role == Role::Leaf)?;
        let symbol = self.tree.nodes[model].symbol;
        let mut leaves = self.leaves(Some(symbol));
        if leaves.len() < 2 {
            return None;
        }
        let count = if self.rand.coinflip(0.5) { leaves.len() } else { self.log_uniform(leaves.len()) };
        let mut leaves = self.some_of(&mut leaves, count);
        leaves.sort_unstable();
        let mut seen: HashSet<Vec<u8>> = HashSet::new();
        let mut values = Vec::new();
        let mut number = self.rand.below_or_zero(1000);
        for leaf in leaves {
            let old = self.tree.bytes_of(leaf).to_vec();
            if seen.insert(old.clone()) {
                continue;
            }
            number += 1;
            let digits = number.to_string().into_bytes();
            let middle = [&old[..old.len().saturating_sub(1)], &digits, &old[old.len().saturating_sub(1)..]].concat();
            let mut forms = vec![[&old[..], &digits].concat(), middle, digits];
            forms.extend(self.generated(symbol));
            let fits = |form: &&Vec<u8>| {
                !seen.contains(*form) && self.context.grammar.is_none_or(|grammar| grammar.matches(symbol, form))
            };
            if let Some(bytes) = forms.iter().find(fits).cloned() {
                seen.insert(bytes.clone());
                values.push(Value { leaf, bytes });
            }
        }
        self.with_values(values)
    }

    /// Text of a leaf by the grammar; `None` without one.
    fn generated(&mut self, symbol: u32) -> Option<Vec<u8>> {
        let limits = Limits { size: self.log_uniform(LARGEST_NEW), depth: 0 };
        Some(self.context.grammar?.generate_from(symbol, None, self.rand, &limits).bytes)
    }

    /// All leaves, or those of one symbol.
    fn leaves(&self, symbol: Option<u32>) -> Vec<usize> {
        let fits = |node: &Node| node.role == Role::Leaf && symbol.is_none_or(|symbol| symbol == node.symbol);
        (0..self.tree.nodes.len()).filter(|&node| fits(&self.tree.nodes[node])).collect()
    }

    /// Draws some of the leaves, each once.
    fn some_of(&mut self, leaves: &mut Vec<usize>, count: usize) -> Vec<usize> {
        let count = count.min(leaves.len());
        for at in 0..count {
            let other = at + self.rand.below_or_zero(leaves.len() - at);
            leaves.swap(at, other);
        }
        leaves.truncate(count);
        std::mem::take(leaves)
    }

    /// Gives leaves other bytes, as many of them as there is room for.
    fn with_values(&self, mut values: Vec<Value>) -> Option<Tree> {
        let mut length = self.tree.bytes.len();
        values.retain(|value| {
            let with = length - self.tree.nodes[value.leaf].length as usize + value.bytes.len();
            let fits = with <= self.limit;
            length = if fits { with } else { length };
            fits
        });
        values.sort_unstable_by_key(|value| value.leaf);
        let node = |value: &Value| Node { start: 0, length: value.bytes.len() as u32, ..self.tree.nodes[value.leaf] };
        let nodes: Vec<[Node; 1]> = values.iter().map(|value| [node(value)]).collect();
        let pieces = values.iter().zip(&nodes);
        let mut edits = pieces.map(|(value, node)| (value.leaf, Piece { nodes: node, bytes: &value.bytes, start: 0 }));
        if self.tree.nodes[0].role == Role::Leaf {
            return edits.next().map(|(_, piece)| Tree::of_piece(piece));
        }
        let edits: Vec<Edit<'_>> = edits
            .filter(|&(leaf, _)| self.parents[leaf] != NO_PARENT)
            .map(|(leaf, piece)| Edit {
                parent: self.parents[leaf] as usize,
                nodes: leaf..leaf + 1,
                bytes: self.tree.nodes[leaf].range(),
                pieces: vec![piece],
            })
            .collect();
        (!edits.is_empty()).then(|| self.tree.edited(&self.parents, &edits))
    }
}
