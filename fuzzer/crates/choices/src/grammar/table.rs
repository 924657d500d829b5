//! The table of the parser: the places in all alternatives, and what may come next at each.

use super::bytes::{ByteSet, Next};
use super::dfa::Automaton;
use super::symbols::{Body, Item, Symbol};

/// Symbol that is expected at a place.
#[derive(Clone, Debug)]
pub(super) enum Expected {
    Nothing,
    Bytes(Vec<u8>),
    Set(ByteSet),
    /// A symbol with an automaton.
    Leaf(u32),
    Symbol(u32),
}

/// A place in an alternative.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) symbol: u32,
    pub(super) choice: u32,
    pub(super) expected: Expected,
    /// Place after what is expected.
    pub(super) after: u32,
    /// Whether the symbol may end here.
    pub(super) ends: bool,
    /// Whether a separator is expected.
    pub(super) before_separator: bool,
    /// Bytes or symbols that may come next.
    pub(super) next: Next,
}

/// The table.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) places: Vec<Place>,
    /// First places of the alternatives of each symbol; none for leaves.
    pub(super) starts: Vec<Vec<u32>>,
    pub(super) is_nullable: Vec<bool>,
}

impl Table {
    /// Makes the table of the symbols that are reached.
    pub(super) fn of(symbols: &[Symbol], start: u32, leaves: &[Option<Automaton>], is_nullable: Vec<bool>) -> Self {
        let mut table = Self { places: Vec::new(), starts: vec![Vec::new(); symbols.len()], is_nullable };
        let (mut open, mut seen) = (vec![start], vec![false; symbols.len()]);
        while let Some(symbol) = open.pop() {
            // the start has places even if it is a leaf
            let is_leaf = leaves[symbol as usize].is_some() && symbol != start;
            if !is_leaf && !std::mem::replace(&mut seen[symbol as usize], true) {
                table.add(symbol, &symbols[symbol as usize].body, leaves);
                open.extend(symbols[symbol as usize].uses());
            }
        }
        table.find_next(start, leaves);
        table
    }

    fn push(&mut self, symbol: u32, choice: u32, expected: Expected, after: u32, ends: bool) -> u32 {
        let next = Next::default();
        self.places.push(Place { symbol, choice, expected, after, ends, before_separator: false, next });
        self.places.len() as u32 - 1
    }

    fn add(&mut self, symbol: u32, body: &Body, leaves: &[Option<Automaton>]) {
        let expect = |symbol: u32| match leaves[symbol as usize] {
            Some(_) => Expected::Leaf(symbol),
            None => Expected::Symbol(symbol),
        };
        match body {
            Body::Choice(alternatives) => {
                for (choice, alternative) in alternatives.iter().enumerate() {
                    let choice = choice as u32;
                    self.starts[symbol as usize].push(self.places.len() as u32);
                    for item in alternative {
                        let after = self.places.len() as u32 + 1;
                        let expected = match item {
                            Item::Bytes(bytes) => Expected::Bytes(bytes.clone()),
                            Item::Set(set) => Expected::Set(*set),
                            Item::Symbol(inner) => expect(*inner),
                        };
                        self.push(symbol, choice, expected, after, false);
                    }
                    self.push(symbol, choice, Expected::Nothing, 0, true);
                }
            }
            Body::List { item, separator, least } => {
                let first = self.places.len() as u32;
                self.starts[symbol as usize].push(first);
                self.push(symbol, 0, expect(*item), first + 1, *least == 0);
                match separator {
                    None => drop(self.push(symbol, 0, expect(*item), first + 1, true)),
                    Some(separator) => {
                        let at = self.push(symbol, 0, expect(*separator), first + 2, true);
                        self.places[at as usize].before_separator = true;
                        self.push(symbol, 0, expect(*item), first + 1, false);
                    }
                }
            }
        }
    }

    /// Finds what may come next at each place.
    fn find_next(&mut self, start: u32, leaves: &[Option<Automaton>]) {
        let symbols = self.starts.len();
        let mut first: Vec<Next> =
            leaves.iter().map(|leaf| leaf.as_ref().map(Automaton::first).unwrap_or_default()).collect();
        // bytes with which the rest after each place begins, and whether it can be empty
        let mut rest = vec![(Next::default(), false); self.places.len()];
        let mut has_changed = true;
        while std::mem::take(&mut has_changed) {
            for number in (0..self.places.len()).rev() {
                let place = &self.places[number];
                let (bytes, is_skipped) = self.expected(&place.expected, &first);
                let after = rest[place.after as usize];
                let (mut all, mut is_empty) = (bytes, place.ends);
                if is_skipped {
                    all.merge(&after.0);
                    is_empty |= after.1;
                }
                has_changed |= rest[number].0.merge(&all) | (is_empty && !rest[number].1);
                rest[number].1 |= is_empty;
            }
            for (first, starts) in first.iter_mut().zip(&self.starts) {
                for &at in starts {
                    has_changed |= first.merge(&rest[at as usize].0);
                }
            }
        }
        let mut follow = vec![Next::default(); symbols];
        follow[start as usize].end = true;
        has_changed = true;
        while std::mem::take(&mut has_changed) {
            for number in (0..self.places.len()).rev() {
                let place = &self.places[number];
                let mut all = rest[number].0;
                if rest[number].1 {
                    all.merge(&follow[place.symbol as usize]);
                }
                if let Expected::Symbol(inner) = place.expected {
                    let after = self.places[place.after as usize].next;
                    has_changed |= follow[inner as usize].merge(&after);
                }
                has_changed |= self.places[number].next.merge(&all);
            }
        }
    }

    /// Bytes with which something expected begins, and whether it can be empty.
    fn expected(&self, expected: &Expected, first: &[Next]) -> (Next, bool) {
        match expected {
            Expected::Nothing => (Next::default(), false),
            Expected::Bytes(bytes) => (Next { bytes: ByteSet::of(bytes.first().copied()), end: false }, false),
            Expected::Set(bytes) => (Next { bytes: *bytes, end: false }, false),
            Expected::Leaf(symbol) | Expected::Symbol(symbol) => {
                (first[*symbol as usize], self.is_nullable[*symbol as usize])
            }
        }
    }
}
