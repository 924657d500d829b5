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

    /// Finds what may come next at each place. What has changed is looked at again, and nothing else: a chain of rules is as long
    /// as the grammar.
    fn find_next(&mut self, start: u32, leaves: &[Option<Automaton>]) {
        let mut first: Vec<Next> =
            leaves.iter().map(|leaf| leaf.as_ref().map(Automaton::first).unwrap_or_default()).collect();
        let mut expecting: Vec<Vec<u32>> = vec![Vec::new(); self.starts.len()];
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); self.places.len()];
        let mut inside: Vec<Vec<u32>> = vec![Vec::new(); self.starts.len()];
        for (place, number) in self.places.iter().zip(0..) {
            before[place.after as usize].push(number);
            inside[place.symbol as usize].push(number);
            if let Expected::Symbol(symbol) = place.expected {
                expecting[symbol as usize].push(number);
            }
        }
        let mut is_start = vec![false; self.places.len()];
        self.starts.iter().flatten().for_each(|&at| is_start[at as usize] = true);
        // bytes with which the rest after each place begins, and whether it can be empty
        let mut rest = vec![(Next::default(), false); self.places.len()];
        let mut open = Worklist::of_all(self.places.len());
        while let Some(number) = open.next() {
            let place = &self.places[number];
            let (mut all, is_skipped) = self.expected(&place.expected, &first);
            let mut is_empty = place.ends;
            if is_skipped {
                all.merge(&rest[place.after as usize].0);
                is_empty |= rest[place.after as usize].1;
            }
            if !(rest[number].0.merge(&all) | (is_empty && !rest[number].1)) {
                continue;
            }
            rest[number].1 |= is_empty;
            open.extend(&before[number]);
            let symbol = place.symbol as usize;
            if is_start[number] && first[symbol].merge(&rest[number].0) {
                open.extend(&expecting[symbol]);
            }
        }
        let mut follow = vec![Next::default(); self.starts.len()];
        follow[start as usize].end = true;
        let mut open = Worklist::of_all(self.places.len());
        while let Some(number) = open.next() {
            let mut all = rest[number].0;
            if rest[number].1 {
                all.merge(&follow[self.places[number].symbol as usize]);
            }
            if !self.places[number].next.merge(&all) {
                continue;
            }
            for &before in &before[number] {
                if let Expected::Symbol(inner) = self.places[before as usize].expected
                    && follow[inner as usize].merge(&all)
                {
                    open.extend(&inside[inner as usize]);
                }
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

/// Places that have to be looked at, the last first: those of an alternative follow from those behind them.
struct Worklist {
    open: Vec<u32>,
    is_open: Vec<bool>,
}

impl Worklist {
    fn of_all(places: usize) -> Self {
        Self { open: (0..places as u32).collect(), is_open: vec![true; places] }
    }

    fn next(&mut self) -> Option<usize> {
        let place = self.open.pop()? as usize;
        self.is_open[place] = false;
        Some(place)
    }

    fn extend(&mut self, places: &[u32]) {
        for &place in places {
            if !std::mem::replace(&mut self.is_open[place as usize], true) {
                self.open.push(place);
            }
        }
    }
}
