//! Automata that match leaves.

use std::collections::HashMap;

use super::source::{ByteSet, Flavor, Next};
use super::symbols::{Body, Item, Symbol};

/// Largest number of states; symbols that need more are no leaves.
const MOST_STATES: usize = 2000;

/// Largest number of steps of an automaton before it is made deterministic.
const MOST_STEPS: usize = 50_000;

/// Largest number of symbols in each other.
const DEEPEST: usize = 200;

/// A deterministic automaton over bytes.
#[derive(Clone, Debug)]
pub(super) struct Automaton {
    /// Class of each byte: bytes of one class lead to the same states.
    classes: [u8; 256],
    /// Number of classes.
    width: usize,
    /// State after each state and class; 0 is the state from which nothing leads on, 1 the first.
    table: Vec<u16>,
    accepts: Vec<bool>,
}

/// An automaton that may be in several states at once.
#[derive(Default)]
struct Steps {
    /// States that are reached from each without a byte.
    free: Vec<Vec<u32>>,
    /// Bytes that lead to the next state.
    bytes: Vec<ByteSet>,
}

impl Automaton {
    /// Makes the automaton of a symbol that reaches no cycle. `None` if it is too large.
    pub(super) fn of(symbols: &[Symbol], symbol: u32, ends_first: bool) -> Option<Self> {
        let mut steps = Steps::default();
        let start = steps.add()?;
        let end = steps.symbol(symbols, symbol, start, 0)?;
        steps.deterministic(start, end, ends_first)
    }

    /// Calls `each` with every end of a match that begins at `from`, its own beginning aside, in order.
    pub(super) fn ends(&self, input: &[u8], from: usize, mut each: impl FnMut(usize)) {
        let mut state = 1;
        for (at, &byte) in input.iter().enumerate().skip(from) {
            state = usize::from(self.table[state * self.width + usize::from(self.classes[usize::from(byte)])]);
            if state == 0 {
                break;
            }
            if self.accepts[state] {
                each(at + 1);
            }
        }
    }

    /// Whether it matches the whole of a text.
    pub(super) fn matches(&self, text: &[u8]) -> bool {
        let mut last = if self.is_nullable() { Some(0) } else { None };
        self.ends(text, 0, |end| last = Some(end));
        last == Some(text.len())
    }

    /// Whether it matches nothing.
    pub(super) fn is_nullable(&self) -> bool {
        self.accepts[1]
    }

    /// Bytes with which a match may begin.
    pub(super) fn first(&self) -> Next {
        let leads_on = |&byte: &u8| self.table[self.width + usize::from(self.classes[usize::from(byte)])] != 0;
        Next { bytes: ByteSet::of((0..=255).filter(leads_on)), end: false }
    }
}

impl Steps {
    fn add(&mut self) -> Option<u32> {
        self.free.push(Vec::new());
        self.bytes.push(ByteSet::default());
        (self.free.len() <= MOST_STEPS).then(|| self.free.len() as u32 - 1)
    }

    /// Adds a step by one byte from a state without other steps; returns the state after it.
    fn step(&mut self, from: u32, bytes: ByteSet) -> Option<u32> {
        let at = self.add()?;
        self.free[from as usize].push(at);
        self.bytes[at as usize] = bytes;
        // the state after a step is the one that follows it
        self.add()
    }

    /// Adds what a symbol stands for, from a state on; returns the state after it.
    fn symbol(&mut self, symbols: &[Symbol], symbol: u32, from: u32, depth: usize) -> Option<u32> {
        if depth > DEEPEST {
            return None;
        }
        if depth > 0 && symbols[symbol as usize].flavor == Flavor::ShortToken {
            return self.automaton(&Automaton::of(symbols, symbol, true)?, from);
        }
        match &symbols[symbol as usize].body {
            Body::Choice(alternatives) => {
                let end = self.add()?;
                for alternative in alternatives {
                    let mut at = self.add()?;
                    self.free[from as usize].push(at);
                    for item in alternative {
                        at = match item {
                            Item::Set(set) => self.step(at, *set)?,
                            Item::Bytes(bytes) => {
                                bytes.iter().try_fold(at, |at, &byte| self.step(at, ByteSet::of([byte])))?
                            }
                            Item::Symbol(inner) => self.symbol(symbols, *inner, at, depth + 1)?,
                        };
                    }
                    self.free[at as usize].push(end);
                }
                Some(end)
            }
            Body::List { item, separator, least } => {
                let first = self.add()?;
                self.free[from as usize].push(first);
                let end = self.symbol(symbols, *item, first, depth + 1)?;
                let again = match separator {
                    Some(separator) => self.symbol(symbols, *separator, end, depth + 1)?,
                    None => end,
                };
                // from the end on, a separator leads back to the first
                self.free[again as usize].push(first);
                let after = self.add()?;
                self.free[end as usize].push(after);
                if *least == 0 {
                    self.free[from as usize].push(after);
                }
                Some(after)
            }
        }
    }

    /// Adds another automaton, from a state on; returns the state after it.
    fn automaton(&mut self, inner: &Automaton, from: u32) -> Option<u32> {
        let states = (0..inner.accepts.len()).map(|_| self.add()).collect::<Option<Vec<_>>>()?;
        let end = self.add()?;
        self.free[from as usize].push(states[1]);
        for state in 1..states.len() {
            if inner.accepts[state] {
                self.free[states[state] as usize].push(end);
            }
            let mut bytes: HashMap<u16, ByteSet> = HashMap::new();
            for byte in 0..=255_u8 {
                let after = inner.table[state * inner.width + usize::from(inner.classes[usize::from(byte)])];
                bytes.entry(after).or_default().insert(byte);
            }
            let mut bytes: Vec<_> = bytes.into_iter().filter(|&(after, _)| after != 0).collect();
            bytes.sort_unstable_by_key(|&(after, _)| after);
            for (after, bytes) in bytes {
                let reached = self.step(states[state], bytes)?;
                self.free[reached as usize].push(states[usize::from(after)]);
            }
        }
        Some(end)
    }

    /// States that are reached from some without a byte, sorted.
    fn closure(&self, mut open: Vec<u32>) -> Vec<u32> {
        let mut seen = std::collections::BTreeSet::new();
        while let Some(state) = open.pop() {
            if seen.insert(state) {
                open.extend_from_slice(&self.free[state as usize]);
            }
        }
        seen.into_iter().collect()
    }

    /// Classes of bytes that no step tells apart, and their number.
    fn classes(&self) -> ([u8; 256], usize) {
        let mut classes = [0_u8; 256];
        let mut width = 1;
        for set in self.bytes.iter().filter(|set| !set.is_empty()) {
            // each class is divided into the bytes outside and those inside
            let mut divided: HashMap<(u8, bool), u8> = HashMap::new();
            let mut next = 0_u8;
            for byte in 0..=255_u8 {
                let class = &mut classes[usize::from(byte)];
                *class = *divided.entry((*class, set.contains(byte))).or_insert_with(|| {
                    next = next.wrapping_add(1);
                    next.wrapping_sub(1)
                });
            }
            width = divided.len();
        }
        (classes, width)
    }

    fn deterministic(&self, start: u32, end: u32, ends_first: bool) -> Option<Automaton> {
        let (classes, width) = self.classes();
        let samples: Vec<u8> = (0..width)
            .filter_map(|class| (0..=255).find(|&byte| usize::from(classes[usize::from(byte)]) == class))
            .collect();
        let first = self.closure(vec![start]);
        let mut known: HashMap<Vec<u32>, u16> = HashMap::from([(Vec::new(), 0), (first.clone(), 1)]);
        let mut sets = vec![Vec::new(), first];
        let (mut table, mut accepts) = (vec![0; width], vec![false]);
        let mut at = 1;
        while at < sets.len() {
            let set = std::mem::take(&mut sets[at]);
            let is_end = set.binary_search(&end).is_ok();
            accepts.push(is_end);
            for &sample in &samples {
                let leads = |&&state: &&u32| self.bytes[state as usize].contains(sample);
                let after: Vec<u32> = set.iter().filter(leads).map(|&state| state + 1).collect();
                let after = if is_end && ends_first { Vec::new() } else { self.closure(after) };
                let new = sets.len() as u16;
                let state = *known.entry(after).or_insert_with_key(|after| {
                    sets.push(after.clone());
                    new
                });
                table.push(state);
            }
            if sets.len() > MOST_STATES {
                return None;
            }
            at += 1;
        }
        Some(Automaton { classes, width, table, accepts })
    }
}
