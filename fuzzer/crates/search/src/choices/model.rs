//! Choices of inputs, found again from their bytes when they are needed.

use std::{collections::HashMap, sync::Arc};

use quagmire_choices::{draws::Log, tree::Tree};
use quagmire_mutators::mask::{Edit, Mask};

/// Choices of one input.
#[derive(Clone, Debug)]
pub enum Model {
    /// Its derivation.
    Tree(Tree),
    /// The draws of its run, and the mask that allows to overwrite their bytes.
    Draws(Log, Mask),
}

impl Model {
    /// Creates the choices of an input of `length` bytes that a generator has drawn from.
    pub fn of_draws(log: Log, length: usize) -> Self {
        let mut readable = Mask::nothing(length);
        log.draw_ranges().for_each(|(_, range)| readable.allow(Edit::Overwrite, range));
        Self::Draws(log, readable)
    }

    /// Memory that it takes, about, in bytes.
    fn size(&self) -> usize {
        match self {
            Self::Tree(tree) => tree.bytes.len() + size_of_val(&tree.nodes[..]),
            Self::Draws(log, readable) => {
                2 * log.bytes.len() + size_of_val(&log.draws[..]) + size_of_val(&log.parts[..]) + readable.length()
            }
        }
    }
}

/// Memory for the choices of inputs that were used lately, in bytes.
const MEMORY: usize = 32 << 20;

/// Memory for an input without choices, in bytes.
const NONE: usize = 64;

/// Choices of inputs that were used lately, by the hash of their bytes; `None` for those that have none.
#[derive(Debug, Default)]
pub struct Models {
    known: HashMap<u64, Option<Arc<Model>>>,
    size: usize,
}

impl Models {
    /// Choices of the input with this hash; `None` if they are not known.
    pub fn get(&self, content: u64) -> Option<Option<Arc<Model>>> {
        self.known.get(&content).cloned()
    }

    /// Remembers the choices of an input, and forgets all others if there is no room. Returns them.
    pub fn put(&mut self, content: u64, model: Option<Model>) -> Option<Arc<Model>> {
        let size = model.as_ref().map_or(0, Model::size) + NONE;
        if self.size + size > MEMORY {
            self.known.clear();
            self.size = 0;
        }
        self.size += size;
        let model = model.map(Arc::new);
        self.known.insert(content, model.clone());
        model
    }
}
