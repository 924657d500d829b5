//! Operators on parts: regenerate, splice, delete, repeat, shuffle.

use libafl_bolts::rands::Rand;

use super::Work;
use crate::grammar::{Grammar, Limits};
use crate::tree::{Edit, Piece, Role, Tree};

/// Largest size of a regenerated part, in bytes.
const LARGEST_NEW: usize = 4096;

/// Most parts in each other of a regenerated part.
const DEEPEST_NEW: usize = 16;

/// The children of a list.
struct Items {
    items: Vec<usize>,
    separators: Vec<usize>,
}

impl Work<'_> {
    /// Makes a part anew, half of the time by another alternative. Without a grammar, by a part of another tree.
    pub(super) fn regenerate(&mut self) -> Option<Tree> {
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
    pub(super) fn splice(&mut self) -> Option<Tree> {
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
    pub(super) fn delete(&mut self) -> Option<Tree> {
        let first = self.rand.below_or_zero(3);
        (first..first + 3).find_map(|way| match way % 3 {
            0 => self.delete_items(),
            1 => self.unwrap_part(),
            _ => self.simplify(),
        })
    }

    fn delete_items(&mut self) -> Option<Tree> {
        let list = self.node(|node| self.tree.nodes[node].role == Role::List && self.tree.nodes[node].nodes > 1)?;
        let Items { items, separators } = self.items(list);
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
        let nodes = from..self.tree.subtree(to).end;
        let bytes = self.tree.nodes[from].range().start..self.tree.nodes[to].range().end;
        Some(self.tree.edited(&self.parents, &[Edit { parent: list, nodes, bytes, pieces: Vec::new() }]))
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
    pub(super) fn repeat(&mut self) -> Option<Tree> {
        let list = self.node(|node| self.tree.nodes[node].role == Role::List && self.tree.nodes[node].nodes > 1)?;
        let Items { items, separators } = self.items(list);
        let count = if self.rand.coinflip(0.7) { 1 } else { self.log_uniform(items.len()) };
        let first = self.rand.below_or_zero(items.len() - count + 1);
        let (from, to) = (items[first], items[first + count - 1]);
        let nodes = from..self.tree.subtree(to).end;
        let bytes = self.tree.nodes[from].range().start..self.tree.nodes[to].range().end;
        let run = self.tree.siblings(nodes.clone(), bytes.clone());
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
        Some(self.tree.edited(&self.parents, &[Edit { parent: list, nodes, bytes, pieces }]))
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
        let items = self.items(other);
        Some(items.separators.first().map(|&separator| Tree::of_piece(self.tree.piece(separator))))
    }

    /// Reorders the items of a list; separators stay where they are.
    pub(super) fn shuffle(&mut self) -> Option<Tree> {
        let list = self.node(|node| self.tree.nodes[node].role == Role::List && self.tree.nodes[node].nodes > 2)?;
        let Items { mut items, separators } = self.items(list);
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
        let nodes = list + 1..self.tree.subtree(list).end;
        Some(
            self.tree
                .edited(&self.parents, &[Edit { parent: list, nodes, bytes: self.tree.nodes[list].range(), pieces }]),
        )
    }

    fn items(&self, list: usize) -> Items {
        let is_separator = |&node: &usize| self.tree.nodes[node].role == Role::Separator;
        let (separators, items) = self.tree.children(list).partition(is_separator);
        Items { items, separators }
    }
}
