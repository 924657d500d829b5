//! Generation of trees.

use libafl_bolts::rands::{Rand, StdRand};

use super::Grammar;
use super::dfa::Automaton;
use super::source::{ByteSet, Flavor};
use super::symbols::{Alternative, Body, Item};
use crate::brackets::scan::is_word;
use crate::log_uniform;
use crate::tree::{Node, Role, Tree};

/// Limits of generation, from which on every part becomes as simple as it can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Number of bytes. No more are generated, unless the simplest text of the symbol has more.
    pub size: usize,
    /// Number of parts in each other.
    pub depth: usize,
}

impl Limits {
    /// Limits that make everything as simple as it can be.
    pub const SIMPLEST: Self = Self { size: 0, depth: 0 };
}

/// Work of generation.
#[derive(Clone, Copy)]
enum Task<'a> {
    Bytes(&'a [u8]),
    Set(&'a ByteSet),
    Symbol {
        symbol: u32,
        role: Role,
        depth: u32,
    },
    /// Symbols in a leaf or separator, which become bytes only.
    Text(u32),
    Close(usize),
    /// End of a token that has to end where it can end first; its beginning, and how often it has not.
    Check {
        symbol: u32,
        start: usize,
        tries: u32,
    },
}

/// Most items of a list.
const MOST_ITEMS: u64 = 24;

/// Most times that a token is made anew.
const MOST_TRIES: u32 = 20;

impl Grammar {
    /// Generates a tree: alternatives are equally likely, as long as the limits allow it.
    pub fn generate(&self, rand: &mut StdRand, limits: &Limits) -> Tree {
        self.generate_from(self.start, None, rand, limits)
    }

    /// Generates a tree for a symbol, by the alternative of this number if there is one of it.
    pub fn generate_from(&self, symbol: u32, choice: Option<u32>, rand: &mut StdRand, limits: &Limits) -> Tree {
        let mut generator =
            Generator { grammar: self, rand, limits, owed: 0, tree: Tree::default(), tasks: Vec::new() };
        generator.owe(Task::Symbol { symbol, role: Role::Part, depth: 0 });
        let mut choice = choice.filter(|&choice| choice < self.alternatives(symbol));
        while let Some(task) = generator.tasks.pop() {
            generator.owed -= generator.least(&task);
            generator.perform(task, choice.take());
        }
        generator.tree
    }
}

struct Generator<'a> {
    grammar: &'a Grammar,
    rand: &'a mut StdRand,
    limits: &'a Limits,
    /// Least number of bytes that the tasks make.
    owed: u64,
    tree: Tree,
    tasks: Vec<Task<'a>>,
}

impl<'a> Generator<'a> {
    /// Least number of bytes that a task makes.
    fn least(&self, task: &Task<'_>) -> u64 {
        match task {
            Task::Bytes(bytes) => bytes.len() as u64,
            Task::Set(_) => 1,
            Task::Symbol { symbol, .. } | Task::Text(symbol) => self.grammar.measures.lengths[*symbol as usize],
            Task::Close(_) | Task::Check { .. } => 0,
        }
    }

    fn owe(&mut self, task: Task<'a>) {
        self.owed += self.least(&task);
        self.tasks.push(task);
    }

    /// Number of bytes that may be made beyond those that are owed.
    fn room(&self) -> u64 {
        (self.limits.size as u64).saturating_sub(self.tree.bytes.len() as u64 + self.owed)
    }

    fn perform(&mut self, task: Task<'a>, choice: Option<u32>) {
        match task {
            Task::Bytes(bytes) => self.tree.bytes.extend_from_slice(bytes),
            Task::Set(set) => {
                let byte = byte_of(set, self.rand);
                self.tree.bytes.push(byte);
            }
            Task::Close(node) => {
                let nodes = (self.tree.nodes.len() - node) as u32;
                let end = self.tree.bytes.len() as u32;
                let node = &mut self.tree.nodes[node];
                (node.nodes, node.length) = (nodes, end - node.start);
            }
            Task::Check { symbol, start, tries } => self.check(symbol, start, tries),
            Task::Text(symbol) => self.expand(symbol, None, None),
            Task::Symbol { symbol, role, depth } => {
                let is_leaf = role == Role::Separator || self.grammar.leaves[symbol as usize].is_some();
                let role = match &self.grammar.symbols[symbol as usize].body {
                    _ if role == Role::Separator => role,
                    _ if is_leaf => Role::Leaf,
                    Body::List { .. } => Role::List,
                    Body::Choice(_) => Role::Part,
                };
                let start = self.tree.bytes.len() as u32;
                let number = self.tree.nodes.len();
                self.tree.nodes.push(Node { symbol, choice: 0, role, start, length: 0, nodes: 1 });
                self.tasks.push(Task::Close(number));
                self.expand(symbol, choice, (!is_leaf).then_some((number, depth)));
            }
        }
    }

    /// Expands a symbol; `node` is its node and depth, unless it is in a leaf.
    fn expand(&mut self, symbol: u32, choice: Option<u32>, node: Option<(usize, u32)>) {
        let inner = |symbol: u32, role: Role| match node {
            Some((_, depth)) => Task::Symbol { symbol, role, depth: depth + 1 },
            None => Task::Text(symbol),
        };
        let is_deep = node.is_some_and(|(_, depth)| depth as usize >= self.limits.depth);
        let grammar = self.grammar;
        if grammar.symbols[symbol as usize].flavor == Flavor::ShortToken {
            self.tasks.push(Task::Check { symbol, start: self.tree.bytes.len(), tries: 0 });
        }
        match &grammar.symbols[symbol as usize].body {
            Body::Choice(alternatives) => {
                let choice = choice.unwrap_or_else(|| self.choose(symbol, alternatives, is_deep));
                if let Some((node, _)) = node {
                    self.tree.nodes[node].choice = choice;
                }
                for item in alternatives[choice as usize].iter().rev() {
                    self.owe(match item {
                        Item::Bytes(bytes) => Task::Bytes(bytes),
                        Item::Set(set) => Task::Set(set),
                        Item::Symbol(symbol) => inner(*symbol, Role::Part),
                    });
                }
            }
            Body::List { item, separator, least } => {
                let length = |symbol: u32| grammar.measures.lengths[symbol as usize];
                let each = length(*item) + separator.map_or(0, length);
                let room = if is_deep { 0 } else { self.room() / each.max(1) };
                for number in 0..self.items(u64::from(*least), room) {
                    if let Some(separator) = separator.filter(|_| number > 0) {
                        self.owe(inner(separator, Role::Separator));
                    }
                    self.owe(inner(*item, Role::Part));
                }
            }
        }
    }

    /// Draws a number of items of a list, every order of magnitude with the same chance. There is room for `room` of them.
    fn items(&mut self, least: u64, room: u64) -> u64 {
        let most = room.min(MOST_ITEMS);
        if most == 0 || (least == 0 && self.rand.coinflip(0.2)) {
            return least;
        }
        log_uniform(self.rand, most as usize) as u64
    }

    /// Chooses an alternative among those for which there is room.
    fn choose(&mut self, symbol: u32, alternatives: &[Alternative], is_deep: bool) -> u32 {
        let measures = &self.grammar.measures;
        match self.grammar.symbols[symbol as usize].flavor {
            // without a blank, two words would become one
            Flavor::Blanks if self.tree.bytes.last().is_some_and(|&byte| is_word(byte)) => return 1,
            Flavor::Blanks if self.rand.coinflip(0.9) => return 0,
            Flavor::Character if self.rand.coinflip(0.95) => return 0,
            _ => {}
        }
        let room = self.room();
        let fits = |choice: &u32| !is_deep && measures.length(&alternatives[*choice as usize]) <= room;
        // most alternatives fit until the room is used up
        let choice = self.rand.below_or_zero(alternatives.len()) as u32;
        if fits(&choice) {
            return choice;
        }
        let fitting: Vec<u32> = (0..alternatives.len() as u32).filter(fits).collect();
        let choice = self.rand.below_or_zero(fitting.len());
        fitting.get(choice).copied().unwrap_or(measures.simplest[symbol as usize])
    }

    /// Makes a token anew that would end earlier than it should.
    fn check(&mut self, symbol: u32, start: usize, tries: u32) {
        let ends_there = |automaton: &Automaton| automaton.matches(&self.tree.bytes[start..]);
        if tries < MOST_TRIES && !self.grammar.leaves[symbol as usize].as_ref().is_none_or(ends_there) {
            self.tree.bytes.truncate(start);
            self.tasks.push(Task::Check { symbol, start, tries: tries + 1 });
            let tasks = self.tasks.len();
            self.expand(symbol, None, None);
            // the check that expansion asks for is there already
            self.tasks.remove(tasks);
        }
    }
}

fn byte_of(set: &ByteSet, rand: &mut StdRand) -> u8 {
    let pick = |from: &[u8], rand: &mut StdRand| from.get(rand.below_or_zero(from.len())).copied();
    let bytes: Vec<u8> = set.bytes().collect();
    let printable: Vec<u8> = bytes.iter().copied().filter(|byte| (b' '..=b'~').contains(byte)).collect();
    let few = if !printable.is_empty() && rand.coinflip(0.95) { &printable } else { &bytes };
    pick(few, rand).unwrap_or_default()
}
