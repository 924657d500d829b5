//! Sizes of the simplest derivations, and the checks that follow from them.

use super::dfa::Automaton;
use super::source::{Flavor, Mistake};
use super::symbols::{Alternative, Body, Item, Symbol, Symbols, cycle};

/// Measure of symbols that produce nothing.
const ENDLESS: u64 = u64::MAX;

/// The simplest derivation of each symbol.
#[derive(Clone, Debug)]
pub(super) struct Measures {
    /// Nodes and bytes of the simplest derivation: more than those of each symbol in it.
    costs: Vec<u64>,
    /// Bytes of that derivation.
    pub(super) lengths: Vec<u64>,
    /// Its first alternative.
    pub(super) simplest: Vec<u32>,
}

/// Sum over the items of an alternative, of what `of` says of symbols and of the bytes.
fn sum(alternative: &Alternative, of: &[u64]) -> u64 {
    alternative.iter().fold(0, |sum: u64, item| {
        sum.saturating_add(match item {
            Item::Bytes(bytes) => bytes.len() as u64,
            Item::Set(_) => 1,
            Item::Symbol(symbol) => of[*symbol as usize],
        })
    })
}

impl Measures {
    pub(super) fn of(symbols: &[Symbol]) -> Self {
        let users = users(symbols);
        let endless = vec![ENDLESS; symbols.len()];
        let mut all = Self { costs: endless.clone(), lengths: endless, simplest: vec![0; symbols.len()] };
        let mut queue: std::collections::VecDeque<u32> = (0..symbols.len() as u32).collect();
        let mut is_queued = vec![true; symbols.len()];
        while let Some(symbol) = queue.pop_front() {
            let at = symbol as usize;
            is_queued[at] = false;
            let (cost, length, choice) = all.best(&symbols[at]);
            // generation may need a blank where none is the simplest
            let length = if symbols[at].flavor == Flavor::Blanks { 1 } else { length };
            if cost < all.costs[at] || (cost == all.costs[at] && length != all.lengths[at]) {
                (all.costs[at], all.lengths[at], all.simplest[at]) = (cost, length, choice);
                for &user in &users[at] {
                    if !std::mem::replace(&mut is_queued[user as usize], true) {
                        queue.push_back(user);
                    }
                }
            }
        }
        all
    }

    /// Cost, length and number of the simplest alternative.
    fn best(&self, symbol: &Symbol) -> (u64, u64, u32) {
        match &symbol.body {
            Body::Choice(alternatives) => {
                let costs = alternatives.iter().map(|one| sum(one, &self.costs));
                match costs.enumerate().min_by_key(|&(_, cost)| cost) {
                    Some((choice, cost)) if cost != ENDLESS => {
                        (cost.saturating_add(1), sum(&alternatives[choice], &self.lengths), choice as u32)
                    }
                    _ => (ENDLESS, ENDLESS, 0),
                }
            }
            Body::List { least: 0, .. } => (1, 0, 0),
            Body::List { item, .. } => match self.costs[*item as usize] {
                ENDLESS => (ENDLESS, ENDLESS, 0),
                cost => (cost.saturating_add(1), self.lengths[*item as usize], 0),
            },
        }
    }

    /// Length of the shortest text of an alternative by its simplest symbols.
    pub(super) fn length(&self, alternative: &Alternative) -> u64 {
        sum(alternative, &self.lengths)
    }
}

/// The symbols that use each symbol.
fn users(symbols: &[Symbol]) -> Vec<Vec<u32>> {
    let mut users: Vec<Vec<u32>> = vec![Vec::new(); symbols.len()];
    for (number, symbol) in symbols.iter().enumerate() {
        symbol.uses().into_iter().for_each(|used| users[used as usize].push(number as u32));
    }
    users
}

/// Symbols that are reached from one, itself included.
pub(super) fn reached(symbols: &[Symbol], start: u32) -> Vec<bool> {
    let mut is_reached = vec![false; symbols.len()];
    let mut open = vec![start];
    while let Some(symbol) = open.pop() {
        if !std::mem::replace(&mut is_reached[symbol as usize], true) {
            open.extend(symbols[symbol as usize].uses());
        }
    }
    is_reached
}

/// Which symbols can be empty, and by which alternative.
pub(super) fn empty_choices(symbols: &[Symbol]) -> Vec<Option<u32>> {
    let mut empty: Vec<Option<u32>> = vec![None; symbols.len()];
    let users = users(symbols);
    let mut open: Vec<u32> = (0..symbols.len() as u32).collect();
    while let Some(number) = open.pop() {
        if empty[number as usize].is_some() {
            continue;
        }
        let is_empty = |item: &Item| matches!(item, Item::Symbol(symbol) if empty[*symbol as usize].is_some());
        let found = match &symbols[number as usize].body {
            Body::Choice(alternatives) => alternatives.iter().position(|one| one.iter().all(is_empty)),
            Body::List { item, least, .. } => (*least == 0 || empty[*item as usize].is_some()).then_some(0),
        };
        if found.is_some() {
            empty[number as usize] = found.map(|choice| choice as u32);
            open.extend(&users[number as usize]);
        }
    }
    empty
}

/// Refuses symbols that are reached and produce nothing.
pub(super) fn check_ends(symbols: &Symbols, measures: &Measures, is_reached: &[bool]) -> Result<(), Mistake> {
    let all = &symbols.all;
    if let Some((_, symbol)) =
        all.iter().enumerate().find(|(number, _)| is_reached[*number] && measures.costs[*number] == ENDLESS)
    {
        let what = "never ends: every alternative needs it again; add one that does not";
        return Err(Mistake::new(symbol.line, format!("{} {what}", symbol.name)));
    }
    Ok(())
}

/// Refuses symbols that can become themselves without any output.
pub(super) fn check_cycles(symbols: &Symbols) -> Result<(), Mistake> {
    let all = &symbols.all;
    let empty = empty_choices(all);
    let is_empty = |item: &Item| matches!(item, Item::Symbol(symbol) if empty[*symbol as usize].is_some());
    let becomes = |symbol: &Symbol| -> Vec<u32> {
        match &symbol.body {
            Body::Choice(alternatives) => {
                let mut found = Vec::new();
                for one in alternatives {
                    for (at, item) in one.iter().enumerate() {
                        if let Item::Symbol(inner) = item
                            && one.iter().enumerate().all(|(other, item)| other == at || is_empty(item))
                        {
                            found.push(*inner);
                        }
                    }
                }
                found
            }
            Body::List { item, separator, .. } => {
                let between = separator.filter(|_| empty[*item as usize].is_some());
                std::iter::once(*item).chain(between).collect()
            }
        }
    };
    // what is left when all symbols have gone that become nothing else is in a cycle, or leads to one
    let after: Vec<Vec<u32>> = all.iter().map(becomes).collect();
    let mut into: Vec<Vec<u32>> = vec![Vec::new(); all.len()];
    let mut missing: Vec<usize> = after.iter().map(Vec::len).collect();
    for (number, after) in after.iter().enumerate() {
        after.iter().for_each(|&inner| into[inner as usize].push(number as u32));
    }
    let mut gone: Vec<u32> = (0..all.len() as u32).filter(|&symbol| missing[symbol as usize] == 0).collect();
    while let Some(symbol) = gone.pop() {
        for &before in &into[symbol as usize] {
            missing[before as usize] -= 1;
            if missing[before as usize] == 0 {
                gone.push(before);
            }
        }
    }
    let Some(mut symbol) = (0..all.len()).find(|&symbol| missing[symbol] > 0) else { return Ok(()) };
    // a walk among those that are left comes to a cycle
    for _ in 0..all.len() {
        symbol = after[symbol].iter().map(|&next| next as usize).find(|&next| missing[next] > 0).unwrap_or(symbol);
    }
    Err(cycle(symbols, symbol as u32))
}

// Leaves: values, whose parts are of no interest.

/// Lists of characters that a symbol reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reached {
    None,
    One(u32),
    /// Several, or lists of anything else than characters.
    More,
}

impl Reached {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, other) => other,
            (one, other) if one == other || other == Self::None => one,
            _ => Self::More,
        }
    }
}

/// Finds the symbols that reach no cycle, in an order in which each comes after those that it uses.
pub(super) fn acyclic(symbols: &Symbols) -> Vec<u32> {
    let mut users: Vec<Vec<u32>> = vec![Vec::new(); symbols.all.len()];
    let mut missing: Vec<usize> = Vec::with_capacity(symbols.all.len());
    for (number, symbol) in symbols.all.iter().enumerate() {
        let uses = symbol.uses();
        missing.push(uses.len());
        uses.into_iter().for_each(|used| users[used as usize].push(number as u32));
    }
    let mut order: Vec<u32> = (0..symbols.all.len() as u32).filter(|&symbol| missing[symbol as usize] == 0).collect();
    let mut at = 0;
    while at < order.len() {
        for &user in &users[order[at] as usize] {
            missing[user as usize] -= 1;
            if missing[user as usize] == 0 {
                order.push(user);
            }
        }
        at += 1;
    }
    order
}

/// Turns lists whose separators are not regular into an item and a list of separators with items.
pub(super) fn open_lists(symbols: &mut Symbols) -> Result<(), Mistake> {
    let mut is_regular = vec![false; symbols.all.len()];
    acyclic(symbols).into_iter().for_each(|symbol| is_regular[symbol as usize] = true);
    for symbol in 0..is_regular.len() as u32 {
        let Body::List { item, separator: Some(separator), least } = symbols.all[symbol as usize].body else {
            continue;
        };
        if !is_regular[separator as usize] {
            let again = symbols.of_alternative(symbol, vec![Item::Symbol(separator), Item::Symbol(item)])?;
            let rest = Body::List { item: again, separator: None, least: 0 };
            let rest = symbols.add(symbol, rest, Flavor::Plain)?;
            let mut alternatives: Vec<Alternative> = vec![vec![Item::Symbol(item), Item::Symbol(rest)]];
            alternatives.extend((least == 0).then(Vec::new));
            symbols.all[symbol as usize].body = Body::Choice(alternatives);
        }
    }
    Ok(())
}

/// Automata of the leaves and separators; `None` for all other symbols. `lengths` are those of the shortest texts.
pub(super) fn leaves(symbols: &Symbols, lengths: &[u64]) -> Vec<Option<Automaton>> {
    let mut automata: Vec<Option<Automaton>> = vec![None; symbols.all.len()];
    let mut reached = vec![Reached::More; symbols.all.len()];
    let order = acyclic(symbols);
    let mut is_separator = vec![false; symbols.all.len()];
    for symbol in &symbols.all {
        if let Body::List { separator: Some(separator), .. } = symbol.body {
            is_separator[separator as usize] = true;
        }
    }
    for &symbol in &order {
        let this = &symbols.all[symbol as usize];
        let inner = this.uses().iter().fold(Reached::None, |all, &used| all.and(reached[used as usize]));
        let found = match this.body {
            Body::List { item, separator: None, .. } if inner == Reached::None && lengths[item as usize] <= 1 => {
                Reached::One(symbol)
            }
            Body::List { .. } => Reached::More,
            Body::Choice(_) => inner,
        };
        let is_token = this.flavor != Flavor::Plain && this.flavor != Flavor::Character;
        if found != Reached::More || is_token || is_separator[symbol as usize] {
            automata[symbol as usize] = Automaton::of(&symbols.all, symbol, this.flavor == Flavor::ShortToken);
        }
        // what is too large for an automaton is no leaf, and nothing around it is
        reached[symbol as usize] = match &automata[symbol as usize] {
            None => Reached::More,
            Some(_) => found,
        };
    }
    automata
}
