//! Parsing by Earley's algorithm over bytes. An item that waits for a symbol is found from the record of its beginning,
//! as in a graph-structured stack, and one byte of lookahead keeps items away that cannot go on.

use super::Grammar;
use super::dfa::Automaton;
use super::source::{ByteSet, Next};
use super::symbols::{Body, Item as Part, Symbol};
use crate::tree::{Node, Role, Tree};

/// Number that is none.
const NONE: u32 = u32::MAX;
/// Child of an item: a leaf.
const LEAF: u32 = u32::MAX - 1;
/// Child of an item: a symbol that is empty.
const EMPTY: u32 = u32::MAX - 2;

/// Steps that every input may take, and those for each byte more.
const STEPS: usize = 1_000_000;
const STEPS_A_BYTE: usize = 32;

/// A place that has been reached in a record's symbol.
struct Item {
    place: u32,
    record: u32,
    /// Item before the child.
    before: u32,
    /// Span of the child, or one of the numbers above.
    child: u32,
    /// End of its bytes.
    end: u32,
    /// Next item of the same record and end.
    beside: u32,
    /// Next item that waits for the same record; next item that has the same end until it is looked at.
    waiting: u32,
}

/// A symbol that may begin at a place of the input.
struct Record {
    symbol: u32,
    start: u32,
    /// First item that waits for it.
    waiting: u32,
    /// End of its latest items, and the first of them.
    end: u32,
    items: u32,
    /// Its latest span.
    span: u32,
}

/// A symbol from beginning to end.
struct Span {
    record: u32,
    end: u32,
    /// Last item of the alternative that comes first.
    item: u32,
}

/// Why there is no tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// The input is not of the language.
    Rejected,
    /// The longest leaves were taken only, and shorter ones might lead to a tree.
    Greedy,
    /// The budget is used up.
    Budget,
}

/// Parses an input. If `is_greedy`, a leaf ends at the last place at which the input may go on.
pub(super) fn parse(grammar: &Grammar, input: &[u8], is_greedy: bool) -> Result<Tree, Failure> {
    if input.len() >= EMPTY as usize {
        return Err(Failure::Budget);
    }
    let mut chart = Chart {
        grammar,
        input,
        is_greedy,
        was_cut: false,
        items: Vec::new(),
        records: Vec::new(),
        spans: Vec::new(),
        at_end: vec![NONE; input.len() + 1],
        last_end: 0,
        predicted: vec![NONE; grammar.symbols.len()],
        agenda: Vec::new(),
        steps: 0,
        most_steps: STEPS + STEPS_A_BYTE * input.len(),
    };
    chart.run()?;
    Ok(chart.tree())
}

struct Chart<'a> {
    grammar: &'a Grammar,
    input: &'a [u8],
    is_greedy: bool,
    /// Whether a leaf could have ended elsewhere.
    was_cut: bool,
    items: Vec<Item>,
    records: Vec<Record>,
    spans: Vec<Span>,
    /// First item that was read up to each place.
    at_end: Vec<u32>,
    last_end: usize,
    /// Latest record of each symbol.
    predicted: Vec<u32>,
    /// Items at this place.
    agenda: Vec<u32>,
    steps: usize,
    most_steps: usize,
}

impl Chart<'_> {
    fn run(&mut self) -> Result<(), Failure> {
        self.predict(self.grammar.start, 0);
        for at in 0..=self.input.len() {
            let mut read = std::mem::replace(&mut self.at_end[at], NONE);
            while read != NONE {
                let next = std::mem::replace(&mut self.items[read as usize].waiting, NONE);
                self.admit(read);
                read = next;
            }
            let mut next = 0;
            while next < self.agenda.len() && self.steps <= self.most_steps {
                self.advance(self.agenda[next], at);
                next += 1;
            }
            self.agenda.clear();
            if self.steps > self.most_steps {
                return Err(Failure::Budget);
            }
            if at == self.last_end {
                break;
            }
        }
        let is_whole = match self.spans.get(self.records[0].span as usize) {
            Some(span) => span.end as usize == self.input.len(),
            None => self.input.is_empty() && self.grammar.empty[self.grammar.start as usize].is_some(),
        };
        match is_whole {
            true => Ok(()),
            false if self.was_cut => Err(Failure::Greedy),
            false => Err(Failure::Rejected),
        }
    }

    /// Puts an item among those of its place unless there is an equal one.
    fn admit(&mut self, number: u32) {
        let Item { place, record, end, .. } = self.items[number as usize];
        let record = &mut self.records[record as usize];
        if record.end != end {
            (record.end, record.items) = (end, NONE);
        }
        let mut other = record.items;
        while other != NONE {
            self.steps += 1;
            let item = &self.items[other as usize];
            if item.place == place {
                return;
            }
            other = item.beside;
        }
        self.steps += 1;
        self.items[number as usize].beside = std::mem::replace(&mut record.items, number);
        self.agenda.push(number);
    }

    fn push(&mut self, place: u32, record: u32, before: u32, child: u32, end: usize) -> u32 {
        self.items.push(Item { place, record, before, child, end: end as u32, beside: NONE, waiting: NONE });
        self.items.len() as u32 - 1
    }

    /// Moves an item over a child that ends where all of this place's do.
    fn step(&mut self, before: u32, child: u32, at: usize) {
        let Item { place, record, .. } = self.items[before as usize];
        let after = self.grammar.table.places[place as usize].after;
        self.steps += 1;
        if self.grammar.table.places[after as usize].next.fits(self.input, at) {
            let item = self.push(after, record, before, child, at);
            self.admit(item);
        }
    }

    /// Moves an item over bytes up to a later place.
    fn read(&mut self, before: u32, child: u32, end: usize) {
        let Item { place, record, .. } = self.items[before as usize];
        let after = self.grammar.table.places[place as usize].after;
        if self.grammar.table.places[after as usize].next.fits(self.input, end) {
            let item = self.push(after, record, before, child, end);
            self.items[item as usize].waiting = std::mem::replace(&mut self.at_end[end], item);
            self.last_end = self.last_end.max(end);
        }
    }

    /// Record of a symbol that may begin here.
    fn predict(&mut self, symbol: u32, at: usize) -> u32 {
        let known = self.predicted[symbol as usize];
        if known != NONE && self.records[known as usize].start as usize == at {
            return known;
        }
        let record = self.records.len() as u32;
        self.records.push(Record { symbol, start: at as u32, waiting: NONE, end: NONE, items: NONE, span: NONE });
        self.predicted[symbol as usize] = record;
        let table = &self.grammar.table;
        for &place in &table.starts[symbol as usize] {
            self.steps += 1;
            if table.places[place as usize].next.fits(self.input, at) {
                let item = self.push(place, record, NONE, NONE, at);
                self.admit(item);
            }
        }
        record
    }

    fn advance(&mut self, number: u32, at: usize) {
        let place = &self.grammar.table.places[self.items[number as usize].place as usize];
        if place.ends {
            self.complete(number, at);
        }
        match &place.expected {
            Expected::Nothing => {}
            Expected::Bytes(bytes) => {
                if self.input[at..].starts_with(bytes) {
                    self.read(number, NONE, at + bytes.len());
                }
            }
            Expected::Set(set) => {
                if self.input.get(at).is_some_and(|&byte| set.contains(byte)) {
                    self.read(number, NONE, at + 1);
                }
            }
            Expected::Leaf(symbol) => self.read_leaf(number, *symbol, place.after, at),
            Expected::Symbol(symbol) => {
                let record = self.predict(*symbol, at);
                let waiting = &mut self.records[record as usize].waiting;
                self.items[number as usize].waiting = std::mem::replace(waiting, number);
                if self.grammar.empty[*symbol as usize].is_some() {
                    self.step(number, EMPTY, at);
                }
            }
        }
    }

    fn read_leaf(&mut self, number: u32, symbol: u32, after: u32, at: usize) {
        let Some(automaton) = &self.grammar.leaves[symbol as usize] else { return };
        let next = &self.grammar.table.places[after as usize].next;
        let mut ends = Vec::new();
        let (mut last, mut fitting) = (at, 0);
        automaton.ends(self.input, at, |end| {
            if next.fits(self.input, end) {
                if !self.is_greedy && last != at {
                    ends.push(last);
                }
                last = end;
                fitting += 1;
            }
        });
        let is_empty = automaton.is_nullable();
        self.steps += (last - at) / 16 + ends.len();
        ends.iter().for_each(|&end| self.read(number, LEAF, end));
        if last != at {
            self.read(number, LEAF, last);
        }
        if is_empty && (last == at || !self.is_greedy) {
            self.step(number, EMPTY, at);
        }
        self.was_cut |= self.is_greedy && (fitting > 1 || (is_empty && last != at && next.fits(self.input, at)));
    }

    /// Ends a symbol: all that waited for it go on.
    fn complete(&mut self, item: u32, at: usize) {
        let number = self.items[item as usize].record;
        let record = &self.records[number as usize];
        if record.start as usize == at {
            // those that wait have gone on already
            return;
        }
        let places = &self.grammar.table.places;
        if let Some(span) = self.spans.get_mut(record.span as usize).filter(|span| span.end as usize == at) {
            let choice = |item: u32| places[self.items[item as usize].place as usize].choice;
            if choice(item) < choice(span.item) {
                span.item = item;
            }
            return;
        }
        let span = self.spans.len() as u32;
        let mut waiting = record.waiting;
        self.spans.push(Span { record: number, end: at as u32, item });
        self.records[number as usize].span = span;
        while waiting != NONE {
            if self.steps > self.most_steps {
                return;
            }
            self.step(waiting, span, at);
            waiting = self.items[waiting as usize].waiting;
        }
    }
}

/// Work of making a tree.
enum Todo {
    Span(u32, Role),
    Leaf(u32, usize, usize, Role),
    Empty(u32, usize, Role),
    Close(usize),
}

impl Chart<'_> {
    fn tree(&self) -> Tree {
        let mut tree = Tree { bytes: self.input.to_vec(), nodes: Vec::new() };
        let mut todo = vec![match self.records[0].span {
            NONE => Todo::Empty(self.grammar.start, 0, Role::Part),
            span => Todo::Span(span, Role::Part),
        }];
        while let Some(next) = todo.pop() {
            match next {
                Todo::Close(node) => tree.nodes[node].nodes = (tree.nodes.len() - node) as u32,
                Todo::Leaf(symbol, start, end, role) => {
                    let (start, length) = (start as u32, (end - start) as u32);
                    let role = if role == Role::Separator { role } else { Role::Leaf };
                    tree.nodes.push(Node { symbol, choice: 0, role, start, length, nodes: 1 });
                }
                Todo::Span(span, role) => self.open(&self.spans[span as usize], role, &mut tree, &mut todo),
                Todo::Empty(symbol, at, role) => self.open_empty(symbol, at, role, &mut tree, &mut todo),
            }
        }
        tree
    }

    fn role(&self, symbol: u32, role: Role) -> Role {
        match &self.grammar.symbols[symbol as usize].body {
            _ if role == Role::Separator => role,
            _ if self.grammar.leaves[symbol as usize].is_some() => Role::Leaf,
            Body::List { .. } => Role::List,
            Body::Choice(_) => Role::Part,
        }
    }

    fn open(&self, span: &Span, role: Role, tree: &mut Tree, todo: &mut Vec<Todo>) {
        let Record { symbol, start, .. } = self.records[span.record as usize];
        let places = &self.grammar.table.places;
        let choice = places[self.items[span.item as usize].place as usize].choice;
        let role = self.role(symbol, role);
        let node = tree.nodes.len();
        tree.nodes.push(Node { symbol, choice, role, start, length: span.end - start, nodes: 1 });
        if matches!(role, Role::Separator | Role::Leaf) {
            return;
        }
        todo.push(Todo::Close(node));
        let mut number = span.item;
        while number != NONE {
            let Item { before, child, end, .. } = self.items[number as usize];
            if before != NONE && child != NONE {
                let place = &places[self.items[before as usize].place as usize];
                let role = if place.before_separator { Role::Separator } else { Role::Part };
                todo.push(match (child, &place.expected) {
                    (LEAF, Expected::Leaf(symbol)) => {
                        Todo::Leaf(*symbol, self.items[before as usize].end as usize, end as usize, role)
                    }
                    (EMPTY, Expected::Leaf(symbol) | Expected::Symbol(symbol)) => {
                        Todo::Empty(*symbol, end as usize, role)
                    }
                    (span, _) => Todo::Span(span, role),
                });
            }
            number = before;
        }
    }

    fn open_empty(&self, symbol: u32, at: usize, role: Role, tree: &mut Tree, todo: &mut Vec<Todo>) {
        let choice = self.grammar.empty[symbol as usize].unwrap_or(0);
        let role = self.role(symbol, role);
        let node = tree.nodes.len();
        let start = at as u32;
        tree.nodes.push(Node { symbol, choice, role, start, length: 0, nodes: 1 });
        if matches!(role, Role::Separator | Role::Leaf) {
            return;
        }
        todo.push(Todo::Close(node));
        match &self.grammar.symbols[symbol as usize].body {
            Body::Choice(alternatives) => {
                for item in alternatives[choice as usize].iter().rev() {
                    if let Part::Symbol(inner) = item {
                        todo.push(Todo::Empty(*inner, at, Role::Part));
                    }
                }
            }
            Body::List { item, least: 1, .. } => todo.push(Todo::Empty(*item, at, Role::Part)),
            Body::List { .. } => {}
        }
    }
}

// The table of the parser: the places in all alternatives, and what may come next at each.

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
}

impl Table {
    /// Makes the table of the symbols that are reached.
    pub(super) fn of(symbols: &[Symbol], start: u32, leaves: &[Option<Automaton>], empty: &[Option<u32>]) -> Self {
        let mut table = Self { places: Vec::new(), starts: vec![Vec::new(); symbols.len()] };
        let (mut open, mut seen) = (vec![start], vec![false; symbols.len()]);
        while let Some(symbol) = open.pop() {
            // the start has places even if it is a leaf
            let is_leaf = leaves[symbol as usize].is_some() && symbol != start;
            if !is_leaf && !std::mem::replace(&mut seen[symbol as usize], true) {
                table.add(symbol, &symbols[symbol as usize].body, leaves);
                open.extend(symbols[symbol as usize].uses());
            }
        }
        table.find_next(start, leaves, empty);
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
                            Part::Bytes(bytes) => Expected::Bytes(bytes.clone()),
                            Part::Set(set) => Expected::Set(*set),
                            Part::Symbol(inner) => expect(*inner),
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
    fn find_next(&mut self, start: u32, leaves: &[Option<Automaton>], empty: &[Option<u32>]) {
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
            let (mut all, is_skipped) = place.expected.first(&first, empty);
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
}

impl Expected {
    /// Bytes with which it begins, and whether it can be empty.
    fn first(&self, first: &[Next], empty: &[Option<u32>]) -> (Next, bool) {
        match self {
            Self::Nothing => (Next::default(), false),
            Self::Bytes(bytes) => (Next { bytes: ByteSet::of(bytes.first().copied()), end: false }, false),
            Self::Set(bytes) => (Next { bytes: *bytes, end: false }, false),
            Self::Leaf(symbol) | Self::Symbol(symbol) => (first[*symbol as usize], empty[*symbol as usize].is_some()),
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
