//! Parts of trees that other trees may take over.

use std::collections::BTreeMap;

use libafl_bolts::rands::{Rand, StdRand};

use crate::tree::{NO_PARENT, Piece, Role, Tree};

/// Memory for trees, in bytes.
const MOST_MEMORY: usize = 8 << 20;

/// Largest tree that is taken, in bytes of memory: others would leave room for a few only.
const LARGEST_TREE: usize = MOST_MEMORY / 16;

/// Most parts of one tree.
const MOST_PARTS: usize = 512;

/// Most candidates that are looked at for one with the right parent.
const MOST_TRIES: usize = 8;

/// A part of a tree of the bank.
#[derive(Clone, Copy, Debug)]
struct Part {
    tree: u32,
    /// Number of the tree among all that had its place.
    serial: u32,
    node: u32,
    /// Symbol of the parent.
    parent: u32,
}

#[derive(Clone, Debug, Default)]
struct Stored {
    tree: Tree,
    serial: u32,
}

/// Parts of trees of valid inputs, by their symbols, in bounded memory: a new tree takes the place of any old one.
#[derive(Clone, Debug, Default)]
pub struct Bank {
    trees: Vec<Stored>,
    parts: BTreeMap<u32, Vec<Part>>,
    memory: usize,
}

fn memory(tree: &Tree) -> usize {
    // a part and its node
    tree.bytes.len() + 48 * tree.nodes.len() + 128
}

impl Bank {
    /// Adds the parts of a tree.
    pub fn add(&mut self, tree: &Tree, rand: &mut StdRand) {
        if tree.nodes.len() < 2 || memory(tree) > LARGEST_TREE {
            return;
        }
        let mut place = None;
        while self.memory + memory(tree) > MOST_MEMORY {
            let old = self.rand_place(rand);
            self.memory -= memory(&self.trees[old].tree);
            self.trees[old].tree = Tree::default();
            self.memory += memory(&Tree::default());
            place = Some(old);
            if self.trees.iter().all(|stored| stored.tree.nodes.is_empty()) {
                break;
            }
        }
        let place = place.unwrap_or_else(|| {
            self.trees.push(Stored::default());
            self.memory += memory(&Tree::default());
            self.trees.len() - 1
        });
        let stored = &mut self.trees[place];
        self.memory = self.memory + memory(tree) - memory(&Tree::default());
        *stored = Stored { tree: tree.clone(), serial: stored.serial.wrapping_add(1) };
        let serial = stored.serial;
        let parents = tree.parents();
        let step = tree.nodes.len().div_ceil(MOST_PARTS);
        for node in (1 + rand.below_or_zero(step)..tree.nodes.len()).step_by(step) {
            if matches!(tree.nodes[node].role, Role::Part | Role::List) && parents[node] != NO_PARENT {
                let parent = tree.nodes[parents[node] as usize].symbol;
                let part = Part { tree: place as u32, serial, node: node as u32, parent };
                self.parts.entry(tree.nodes[node].symbol).or_default().push(part);
            }
        }
    }

    /// Draws the place of a tree that holds something.
    fn rand_place(&self, rand: &mut StdRand) -> usize {
        let start = rand.below_or_zero(self.trees.len());
        let places = (start..self.trees.len()).chain(0..start);
        places.into_iter().find(|&place| !self.trees[place].tree.nodes.is_empty()).unwrap_or(start)
    }

    /// Number of trees whose parts it has.
    pub fn trees(&self) -> usize {
        self.trees.iter().filter(|stored| !stored.tree.nodes.is_empty()).count()
    }

    /// Draws a part of a symbol, one whose parent has the same symbol as `parent` if it finds one.
    pub(super) fn part(&self, symbol: u32, parent: Option<u32>, rand: &mut StdRand) -> Option<Piece<'_>> {
        let parts = self.parts.get(&symbol)?;
        let mut found = None;
        for _ in 0..MOST_TRIES {
            let part = parts[rand.below_or_zero(parts.len())];
            let stored = &self.trees[part.tree as usize];
            if stored.serial != part.serial || stored.tree.nodes.is_empty() {
                continue;
            }
            found = Some(stored.tree.piece(part.node as usize));
            if parent.is_none_or(|parent| parent == part.parent) {
                break;
            }
        }
        found
    }
}
