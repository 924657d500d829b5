//! Which symbols are leaves: values, whose parts are of no interest.

use super::dfa::Automaton;
use super::source::{Flavor, Mistake};
use super::symbols::{Alternative, Body, Item, Symbols};

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
