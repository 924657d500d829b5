//! Operators on trees, with a grammar or without one: trees by brackets have the same layout.

mod bank;

use std::{collections::HashSet, ops::Range};

use libafl_bolts::rands::{Rand, StdRand};

use crate::grammar::{Grammar, Limits};
use crate::log_uniform;
use crate::operator::Operator;
use crate::tree::{Edit, NO_PARENT, Node, Piece, Role, Tree};

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
        log_uniform(self.rand, most).max(1)
    }
}

// Parts: regenerate, splice, delete, repeat, shuffle.

/// Largest size of a regenerated part, in bytes.
const LARGEST_NEW: usize = 4096;

/// Most parts in each other of a regenerated part.
const DEEPEST_NEW: usize = 16;

impl Work<'_> {
    /// Makes a part anew, half of the time by another alternative. Without a grammar, by a part of another tree.
    fn regenerate(&mut self) -> Option<Tree> {
        let Some(grammar) = self.context.grammar else { return self.splice() };
        let node = self.node(|node| self.tree.has_parts(node))?;
        let old = self.tree.nodes[node];
        let size = self.room(node).min(LARGEST_NEW);
        let limits = Limits { size: self.log_uniform(size), depth: self.log_uniform(DEEPEST_NEW) };
        let alternatives = grammar.alternatives(old.symbol) as usize;
        let other = (alternatives > 1 && self.rand.coinflip(0.5)).then(|| {
            let step = 1 + self.rand.below_or_zero(alternatives - 1);
            ((old.choice as usize + step) % alternatives) as u32
        });
        let new = grammar.generate_from(old.symbol, other, self.rand, &limits);
        self.replaced(node, new.piece(0))
    }

    /// Replaces a part by one of the same symbol: of another tree, or from elsewhere in this one.
    fn splice(&mut self) -> Option<Tree> {
        for _ in 0..4 {
            let node = self.node(|node| node > 0 && self.tree.has_parts(node))?;
            let symbol = self.tree.nodes[node].symbol;
            let part = self.context.bank.part(symbol, self.parent_symbol(node), self.rand);
            let own = |work: &mut Self| {
                let same = |other: usize| {
                    work.tree.nodes[other].symbol == symbol
                        && work.tree.has_parts(other)
                        && work.tree.bytes_of(other) != work.tree.bytes_of(node)
                };
                let fitting: Vec<usize> = (0..work.tree.nodes.len()).filter(|&other| same(other)).collect();
                let other = *fitting.get(work.rand.below_or_zero(fitting.len()))?;
                work.replaced(node, work.tree.piece(other))
            };
            let new = match part {
                Some(part) if part.bytes != self.tree.bytes_of(node) => self.replaced(node, part),
                _ => own(self),
            };
            if new.is_some() {
                return new;
            }
        }
        None
    }

    /// Deletes items of a list, or what is around an inner part of the same symbol, or makes a part as simple as it can be.
    fn delete(&mut self) -> Option<Tree> {
        let first = self.rand.below_or_zero(3);
        (first..first + 3).find_map(|way| match way % 3 {
            0 => self.delete_items(),
            1 => self.unwrap_part(),
            _ => self.simplify(),
        })
    }

    fn delete_items(&mut self) -> Option<Tree> {
        let (list, items, separators) = self.list(1)?;
        let least = self.context.grammar.and_then(|grammar| grammar.list(self.tree.nodes[list].symbol));
        let least = least.map_or(1, |(_, least)| least as usize);
        let most = items.len().saturating_sub(least);
        if most == 0 {
            return None;
        }
        let count = if self.rand.coinflip(0.5) { 1 } else { self.log_uniform(most) };
        let first = self.rand.below_or_zero(items.len() - count + 1);
        let last = items[first + count - 1];
        // the separator after the last of them goes, or the one before the first
        let (from, to) = match (separators.get(first + count - 1), first) {
            (Some(&after), _) => (items[first], after),
            (None, 1..) if !separators.is_empty() => (separators[first - 1], last),
            _ => (items[first], last),
        };
        Some(self.with_siblings(list, (from, to), Vec::new()))
    }

    fn unwrap_part(&mut self) -> Option<Tree> {
        let (outer, inner) = self.recursion()?;
        self.replaced(outer, self.tree.piece(inner))
    }

    fn simplify(&mut self) -> Option<Tree> {
        let grammar = self.context.grammar?;
        let node = self.node(|node| self.tree.has_parts(node) && self.tree.nodes[node].length > 0)?;
        let new = grammar.generate_from(self.tree.nodes[node].symbol, None, self.rand, &Limits::SIMPLEST);
        self.replaced(node, new.piece(0))
    }

    /// Repeats some items of a list that follow each other, up to 64 times.
    fn repeat(&mut self) -> Option<Tree> {
        let (list, items, separators) = self.list(1)?;
        let count = if self.rand.coinflip(0.7) { 1 } else { self.log_uniform(items.len()) };
        let first = self.rand.below_or_zero(items.len() - count + 1);
        let (from, to) = (items[first], items[first + count - 1]);
        let (nodes, bytes) = self.siblings(from, to);
        let run = self.tree.siblings(nodes, bytes);
        let made = match (separators.first(), self.context.grammar) {
            (Some(&separator), _) => Some(Tree::of_piece(self.tree.piece(separator))),
            (None, grammar) if items.len() == 1 => self.separator(list, grammar)?,
            _ => None,
        };
        let separator = made.as_ref().map(|separator| separator.piece(0));
        let each = run.bytes.len() + separator.map_or(0, |separator| separator.bytes.len());
        let room = self.limit.saturating_sub(self.tree.bytes.len());
        let copies = self.copies(room.checked_div(each)? + 1)?;
        let mut pieces = Vec::with_capacity(2 * copies);
        for copy in 0..copies {
            pieces.extend(separator.filter(|_| copy > 0));
            pieces.push(run);
        }
        Some(self.with_siblings(list, (from, to), pieces))
    }

    /// Separator for a list of one item. `Some(None)` if it has none, `None` if that is not known.
    fn separator(&mut self, list: usize, grammar: Option<&Grammar>) -> Option<Option<Tree>> {
        let symbol = self.tree.nodes[list].symbol;
        if let Some(grammar) = grammar {
            let (separator, _) = grammar.list(symbol)?;
            return Some(separator.map(|symbol| {
                let mut made = grammar.generate_from(symbol, None, self.rand, &Limits { size: 8, depth: 0 });
                made.nodes.truncate(1);
                (made.nodes[0].role, made.nodes[0].nodes) = (Role::Separator, 1);
                made
            }));
        }
        let is_other = |node: usize| {
            self.tree.nodes[node].role == Role::List
                && self.tree.nodes[node].symbol == symbol
                && self.tree.children(node).nth(1).is_some()
        };
        let other = self.node(is_other)?;
        let separator = self.tree.children(other).find(|&node| self.tree.nodes[node].role == Role::Separator);
        Some(separator.map(|separator| Tree::of_piece(self.tree.piece(separator))))
    }

    /// Reorders the items of a list; separators stay where they are.
    fn shuffle(&mut self) -> Option<Tree> {
        let (list, mut items, separators) = self.list(2)?;
        if items.len() < 2 {
            return None;
        }
        match self.rand.below_or_zero(5) {
            0 => items.reverse(),
            1 => items.sort_by(|&one, &other| self.tree.bytes_of(one).cmp(self.tree.bytes_of(other))),
            2 => {
                let (one, other) = (self.rand.below_or_zero(items.len()), self.rand.below_or_zero(items.len()));
                items.swap(one, other);
            }
            3 => {
                let by = self.rand.below_or_zero(items.len());
                items.rotate_left(by);
            }
            _ => {
                for at in (1..items.len()).rev() {
                    let other = self.rand.below_or_zero(at + 1);
                    items.swap(at, other);
                }
            }
        }
        let mut pieces: Vec<Piece<'_>> = Vec::with_capacity(items.len() + separators.len());
        for (number, &item) in items.iter().enumerate() {
            pieces.push(self.tree.piece(item));
            pieces.extend(separators.get(number).map(|&separator| self.tree.piece(separator)));
        }
        let last = self.tree.children(list).last()?;
        Some(self.with_siblings(list, (list + 1, last), pieces))
    }

    /// Draws a list with more than `least` nodes in it: its node, its items, and its separators.
    fn list(&mut self, least: u32) -> Option<(usize, Vec<usize>, Vec<usize>)> {
        let list = self.node(|node| self.tree.nodes[node].role == Role::List && self.tree.nodes[node].nodes > least)?;
        let is_separator = |&node: &usize| self.tree.nodes[node].role == Role::Separator;
        let (separators, items) = self.tree.children(list).partition(is_separator);
        Some((list, items, separators))
    }

    /// Nodes and bytes of the siblings from one to another one.
    fn siblings(&self, from: usize, to: usize) -> (Range<usize>, Range<usize>) {
        let bytes = self.tree.nodes[from].range().start..self.tree.nodes[to].range().end;
        (from..self.tree.subtree(to).end, bytes)
    }

    /// The tree with pieces in the place of the siblings from one to another one.
    fn with_siblings(&self, parent: usize, (from, to): (usize, usize), pieces: Vec<Piece<'_>>) -> Tree {
        let (nodes, bytes) = self.siblings(from, to);
        self.tree.edited(&self.parents, &[Edit { parent, nodes, bytes, pieces }])
    }
}

// Nesting: a part that is in a part of the same symbol, with what is between them many times.

/// Most parents that are looked at for one of the same symbol.
const MOST_PARENTS: usize = 64;

/// Most parts that are generated to find one that holds itself.
const MOST_GENERATED: usize = 10;

impl Work<'_> {
    /// Repeats what is around a part in a part of the same symbol, up to 64 times.
    fn nest(&mut self) -> Option<Tree> {
        let (tree, outer, inner, node) = match self.recursion() {
            Some((outer, inner)) => (None, outer, inner, outer),
            None => {
                let (tree, inner, node) = self.wrapped()?;
                (Some(tree), 0, inner, node)
            }
        };
        let tree = tree.as_ref().unwrap_or(self.tree);
        let around = tree.nodes[outer].length - tree.nodes[inner].length;
        let room = self.room(node).checked_sub(tree.nodes[inner].length as usize)?;
        let copies = self.copies(room.checked_div(around as usize)?)?;
        let new = nested(tree, outer, inner, copies);
        self.replaced(node, new.piece(0))
    }

    /// Draws a part that is in a larger one of the same symbol: the outer one, and the inner one.
    fn recursion(&mut self) -> Option<(usize, usize)> {
        for _ in 0..32 {
            let inner = self.rand.below_or_zero(self.tree.nodes.len());
            let Node { symbol, length, .. } = self.tree.nodes[inner];
            let mut found = Vec::new();
            let mut above = self.parents[inner];
            for _ in 0..MOST_PARENTS {
                if above == NO_PARENT || !self.tree.has_parts(inner) {
                    break;
                }
                let outer = &self.tree.nodes[above as usize];
                if outer.symbol == symbol && outer.length > length {
                    found.push(above as usize);
                }
                above = self.parents[above as usize];
            }
            if !found.is_empty() {
                // mostly the nearest
                let number = if self.rand.coinflip(0.7) { 0 } else { self.rand.below_or_zero(found.len()) };
                return Some((found[number], inner));
            }
        }
        None
    }

    /// Generates something around a part by the grammar. Returns its tree, the part in it, and the part in this tree.
    fn wrapped(&mut self) -> Option<(Tree, usize, usize)> {
        let grammar = self.context.grammar?;
        for _ in 0..MOST_GENERATED {
            let node = self.node(|node| self.tree.nodes[node].role == Role::Part)?;
            let symbol = self.tree.nodes[node].symbol;
            let tree = grammar.generate_from(symbol, None, self.rand, &Limits { size: 64, depth: 8 });
            let is_inner =
                |&at: &usize| tree.nodes[at].symbol == symbol && tree.nodes[at].length < tree.nodes[0].length;
            if let Some(inner) = (1..tree.nodes.len()).find(is_inner) {
                let new = tree.with_node_replaced(&tree.parents(), inner, self.tree.piece(node));
                return Some((new, inner, node));
            }
        }
        None
    }
}

/// Makes the outer node with what is around the inner one `times` times.
fn nested(tree: &Tree, outer: usize, inner: usize, times: usize) -> Tree {
    let (whole, part) = (tree.nodes[outer].range(), tree.nodes[inner].range());
    let before = part.start - whole.start;
    let after = whole.end - part.end;
    let nodes_before = &tree.nodes[outer..inner];
    let nodes_after = &tree.nodes[tree.subtree(inner).end..tree.subtree(outer).end];
    let each = nodes_before.len() + nodes_after.len();
    let mut new = Tree {
        bytes: Vec::with_capacity(times * (before + after) + part.len()),
        nodes: Vec::with_capacity(times * each + tree.subtree(inner).len()),
    };
    let moved = |node: &Node, by: usize| Node { start: node.start - whole.start as u32 + by as u32, ..*node };
    for level in 0..times {
        let deeper = times - 1 - level;
        for (number, node) in nodes_before.iter().enumerate() {
            let mut node = moved(node, level * before);
            if tree.subtree(outer + number).contains(&inner) {
                node.length += (deeper * (before + after)) as u32;
                node.nodes += (deeper * each) as u32;
            }
            new.nodes.push(node);
        }
        new.bytes.extend_from_slice(&tree.bytes[whole.start..part.start]);
    }
    new.nodes.extend(tree.nodes[tree.subtree(inner)].iter().map(|node| moved(node, (times - 1) * before)));
    new.bytes.extend_from_slice(&tree.bytes[part.clone()]);
    for level in 0..times {
        new.nodes.extend(nodes_after.iter().map(|node| moved(node, (times - 1) * before + level * after)));
        new.bytes.extend_from_slice(&tree.bytes[part.end..whole.end]);
    }
    new
}

// Leaves: change values, make them equal, make them different.

/// Largest size of a generated value, in bytes.
const LARGEST_VALUE: usize = 256;

/// New bytes of a leaf.
struct Value {
    leaf: usize,
    bytes: Vec<u8>,
}

impl Work<'_> {
    /// Changes a leaf, or some: by the grammar, or as texts. A text that the grammar does not allow is kept in a fifth of
    /// the cases.
    fn change_values(&mut self, text: &mut dyn FnMut(&mut Vec<u8>, &mut StdRand)) -> Option<Tree> {
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
    fn equal_values(&mut self) -> Option<Tree> {
        let model = self.node(|node| self.tree.nodes[node].role == Role::Leaf)?;
        let bytes = self.tree.bytes_of(model);
        let mut others = self.leaves(Some(self.tree.nodes[model].symbol));
        others.retain(|&leaf| self.tree.bytes_of(leaf) != bytes);
        let count = if self.rand.coinflip(0.5) { others.len() } else { self.log_uniform(others.len()) };
        let others = self.some_of(&mut others, count);
        self.with_values(others.into_iter().map(|leaf| Value { leaf, bytes: bytes.to_vec() }).collect())
    }

    /// Makes leaves of one symbol different from each other, as far as the grammar allows it.
    fn different_values(&mut self) -> Option<Tree> {
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
        let limits = Limits { size: self.log_uniform(LARGEST_VALUE), depth: 0 };
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

#[cfg(test)]
mod tests;
