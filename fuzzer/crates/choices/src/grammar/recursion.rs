//! Recursion on the left and on the right of a rule becomes lists, which take linear time to parse.
//!
//! The strings of `A -> A s A | A b | a A | g` are those of `U (s U)*` with `U -> a* g b*`.

use super::source::{Flavor, Mistake};
use super::symbols::{Alternative, Body, Item, Symbols};

/// Alternatives of a recursive symbol, without the symbol itself at their ends.
#[derive(Default)]
struct Recursion {
    between: Vec<Alternative>,
    after: Vec<Alternative>,
    before: Vec<Alternative>,
    plain: Vec<Alternative>,
}

/// Rewrites all symbols whose alternatives begin or end with the symbol itself.
pub(super) fn to_lists(symbols: &mut Symbols) -> Result<(), Mistake> {
    for symbol in 0..symbols.all.len() as u32 {
        let Body::Choice(alternatives) = &symbols.all[symbol as usize].body else { continue };
        let itself = Item::Symbol(symbol);
        let at_an_end = |one: &Alternative| one.first() == Some(&itself) || one.last() == Some(&itself);
        if !alternatives.iter().any(at_an_end) {
            continue;
        }
        if alternatives.iter().any(|one| one[..] == [itself.clone()]) {
            return Err(cycle(symbols, symbol));
        }
        let found = Recursion::of(alternatives, &itself);
        // a symbol without any other alternative produces nothing, which is an error later
        if !found.plain.is_empty() {
            symbols.all[symbol as usize].body = found.rewritten(symbols, symbol)?;
        }
    }
    Ok(())
}

/// The error of a symbol that derives itself.
pub(super) fn cycle(symbols: &Symbols, symbol: u32) -> Mistake {
    let symbol = &symbols.all[symbol as usize];
    Mistake::new(
        symbol.line,
        format!(
            "{} can become itself without any output, which leaves its trees without end: remove that way",
            symbol.name
        ),
    )
}

impl Recursion {
    fn of(alternatives: &[Alternative], itself: &Item) -> Self {
        let mut found = Self::default();
        for one in alternatives {
            match &one[..] {
                [first, between @ .., last] if first == itself && last == itself => {
                    found.between.push(between.to_vec())
                }
                [first, after @ ..] if first == itself => found.after.push(after.to_vec()),
                [before @ .., last] if last == itself => found.before.push(before.to_vec()),
                _ => found.plain.push(one.clone()),
            }
        }
        found.join();
        found
    }

    /// Makes `A -> g | A s g` and `A -> g | g s A` lists of `g`, and drops `g` from `A -> | g | g A`. `A -> g | A s g | g t A` is no
    /// list: there, no `t` follows an `s`.
    fn join(&mut self) {
        if let [plain] = &self.plain[..]
            && !plain.is_empty()
            && self.after.iter().all(|after| after.ends_with(plain))
            && self.before.iter().all(|before| before.starts_with(plain))
        {
            let of = |after: &Alternative| after[..after.len() - plain.len()].to_vec();
            let after: Vec<Alternative> = self.after.iter().map(of).collect();
            let before: Vec<Alternative> = self.before.iter().map(|before| before[plain.len()..].to_vec()).collect();
            let are_in = |some: &[Alternative], others: &[Alternative]| {
                some.iter().all(|one| others.contains(one) || self.between.contains(one))
            };
            if are_in(&before, &after) || are_in(&after, &before) {
                self.between.extend(after.into_iter().chain(before));
                (self.after, self.before) = Default::default();
            }
        }
        if self.plain.contains(&Vec::new()) {
            let (after, before) = (&self.after, &self.before);
            self.plain.retain(|plain| !after.contains(plain) && !before.contains(plain));
        }
    }

    fn rewritten(self, symbols: &mut Symbols, symbol: u32) -> Result<Body, Mistake> {
        let is_list = !self.between.is_empty();
        let (before, after) = (list_of(self.before, symbols, symbol)?, list_of(self.after, symbols, symbol)?);
        let unit = match (before, after) {
            (None, None) => Body::Choice(self.plain),
            // nothing but repetitions
            (Some(list), None) | (None, Some(list)) if self.plain == [vec![]] && !is_list => return Ok(list),
            (before, after) => {
                let mut unit = Vec::new();
                let add =
                    |body: Body, symbols: &mut Symbols| symbols.add(symbol, body, Flavor::Plain).map(Item::Symbol);
                if let Some(before) = before {
                    unit.push(add(before, symbols)?);
                }
                match <[Alternative; 1]>::try_from(self.plain) {
                    Ok([only]) => unit.extend(only),
                    Err(plain) => unit.push(add(Body::Choice(plain), symbols)?),
                }
                if let Some(after) = after {
                    unit.push(add(after, symbols)?);
                }
                Body::Choice(vec![unit])
            }
        };
        if !is_list {
            return Ok(unit);
        }
        let item = match unit {
            Body::Choice(mut alternatives) if alternatives.len() == 1 => {
                symbols.of_alternative(symbol, alternatives.remove(0))?
            }
            unit => symbols.add(symbol, unit, Flavor::Plain)?,
        };
        let separator = match &self.between[..] {
            [one] if one.is_empty() => None,
            [_] => Some(symbols.of_alternative(symbol, self.between.into_iter().next().unwrap_or_default())?),
            _ => Some(symbols.add(symbol, Body::Choice(self.between), Flavor::Plain)?),
        };
        Ok(Body::List { item, separator, least: 1 })
    }
}

/// A list of any number of alternatives; `None` if there are no alternatives.
fn list_of(mut alternatives: Vec<Alternative>, symbols: &mut Symbols, symbol: u32) -> Result<Option<Body>, Mistake> {
    let item = match alternatives.len() {
        0 => return Ok(None),
        1 => symbols.of_alternative(symbol, alternatives.remove(0))?,
        _ => symbols.add(symbol, Body::Choice(alternatives), Flavor::Plain)?,
    };
    Ok(Some(Body::List { item, separator: None, least: 0 }))
}
