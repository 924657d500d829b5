//! Symbols of a grammar in its normal form: alternatives of bytes, sets of bytes and symbols, and lists.

use std::collections::HashMap;

use super::source::{ByteSet, Expression, Flavor, MOST_SYMBOLS, Mistake, Source};

/// Part of an alternative.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    Bytes(Vec<u8>),
    Set(ByteSet),
    Symbol(u32),
}

/// Alternative of a symbol.
pub(super) type Alternative = Vec<Item>;

/// Meaning of a symbol.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Body {
    Choice(Vec<Alternative>),
    /// `least` (0 or 1) items or more, with separators between them.
    List {
        item: u32,
        separator: Option<u32>,
        least: u32,
    },
}

#[derive(Clone, Debug)]
pub(super) struct Symbol {
    pub(super) name: String,
    /// Line of its rule.
    pub(super) line: usize,
    pub(super) body: Body,
    pub(super) flavor: Flavor,
}

impl Symbol {
    /// Symbols in its body, with repetitions.
    pub(super) fn uses(&self) -> Vec<u32> {
        match &self.body {
            Body::Choice(alternatives) => {
                let symbol = |item: &Item| if let Item::Symbol(symbol) = item { Some(*symbol) } else { None };
                alternatives.iter().flatten().filter_map(symbol).collect()
            }
            Body::List { item, separator, .. } => std::iter::once(*item).chain(*separator).collect(),
        }
    }
}

/// Symbols as they are made from rules.
pub(super) struct Symbols {
    pub(super) all: Vec<Symbol>,
    by_name: HashMap<String, u32>,
    /// Number of symbols that have been made of parts of rules, by rule.
    made: HashMap<u32, usize>,
}

/// Makes symbols from the rules of a grammar; the symbol of each rule has its number.
pub(super) fn of_source(source: &Source) -> Result<(Symbols, u32), Mistake> {
    let by_name: HashMap<String, u32> =
        source.rules.iter().enumerate().map(|(number, rule)| (rule.name.clone(), number as u32)).collect();
    let symbol = |rule: &super::source::Rule| Symbol {
        name: rule.name.clone(),
        line: rule.line,
        body: Body::Choice(Vec::new()),
        flavor: rule.flavor,
    };
    let mut symbols = Symbols { all: source.rules.iter().map(symbol).collect(), by_name, made: HashMap::new() };
    for (number, rule) in source.rules.iter().enumerate() {
        let alternatives = symbols.alternatives(&rule.body, number as u32)?;
        symbols.all[number].body = Body::Choice(alternatives);
    }
    let Some(&start) = symbols.by_name.get(&source.start) else {
        return Err(Mistake::new(0, "it has no rules: see \"Bring a grammar\" in the book"));
    };
    Ok((symbols, start))
}

impl Symbols {
    /// Makes a symbol for a part of a rule.
    pub(super) fn add(&mut self, rule: u32, body: Body, flavor: Flavor) -> Result<u32, Mistake> {
        let (name, line) = (&self.all[rule as usize].name, self.all[rule as usize].line);
        if self.all.len() >= MOST_SYMBOLS {
            return Err(Mistake::new(
                line,
                format!("there are more than {MOST_SYMBOLS} rules and groups: make it smaller"),
            ));
        }
        let number = self.made.entry(rule).or_default();
        *number += 1;
        let symbol = Symbol { name: format!("{name} ({number})"), line, body, flavor };
        self.all.push(symbol);
        Ok(self.all.len() as u32 - 1)
    }

    /// A symbol for an alternative: the one that it consists of, or a new one.
    pub(super) fn of_alternative(&mut self, rule: u32, alternative: Alternative) -> Result<u32, Mistake> {
        match alternative[..] {
            [Item::Symbol(symbol)] => Ok(symbol),
            _ => self.add(rule, Body::Choice(vec![alternative]), Flavor::Plain),
        }
    }

    /// A symbol for alternatives: that of the only one, or a new one.
    fn of_choice(&mut self, rule: u32, mut alternatives: Vec<Alternative>) -> Result<u32, Mistake> {
        match alternatives.len() {
            1 => self.of_alternative(rule, alternatives.remove(0)),
            _ => self.add(rule, Body::Choice(alternatives), Flavor::Plain),
        }
    }

    fn alternatives(&mut self, expression: &Expression, rule: u32) -> Result<Vec<Alternative>, Mistake> {
        let Expression::Choice(choices) = expression else { return Ok(vec![self.sequence(expression.parts(), rule)?]) };
        let mut alternatives: Vec<Alternative> = Vec::new();
        for choice in choices {
            let alternative = self.sequence(choice.parts(), rule)?;
            // the later of two equal alternatives is never chosen
            if choices.len() > 1000 || !alternatives.contains(&alternative) {
                alternatives.push(alternative);
            }
        }
        Ok(alternatives)
    }

    fn sequence(&mut self, parts: &[Expression], rule: u32) -> Result<Alternative, Mistake> {
        let mut items: Alternative = Vec::new();
        // number of items before each part
        let mut before = Vec::with_capacity(parts.len());
        for (number, part) in parts.iter().enumerate() {
            before.push(items.len());
            if let Expression::Repeat { of, least: 0, is_once: false } = part {
                let repeated = of.parts();
                // X (separator X)*
                let same = (1..=repeated.len().min(number)).rev();
                let same = same.filter(|&length| parts[number - length..number] == repeated[repeated.len() - length..]);
                let found = same.map(|length| (length, before[number - length])).next();
                if let Some((length, from)) = found
                    && !items[from..].is_empty()
                {
                    let item = items.split_off(from);
                    let item = self.of_alternative(rule, item)?;
                    let separator = self.sequence(&repeated[..repeated.len() - length], rule)?;
                    let separator =
                        if separator.is_empty() { None } else { Some(self.of_alternative(rule, separator)?) };
                    let list = self.add(rule, Body::List { item, separator, least: 1 }, Flavor::Plain)?;
                    items.push(Item::Symbol(list));
                    continue;
                }
            }
            self.push(part, rule, &mut items)?;
        }
        Ok(items)
    }

    fn push_choice(
        &mut self,
        mut alternatives: Vec<Alternative>,
        flavor: Flavor,
        rule: u32,
        items: &mut Alternative,
    ) -> Result<(), Mistake> {
        match alternatives.len() {
            1 => items.append(&mut alternatives[0]),
            _ => items.push(Item::Symbol(self.add(rule, Body::Choice(alternatives), flavor)?)),
        }
        Ok(())
    }

    fn push(&mut self, part: &Expression, rule: u32, items: &mut Alternative) -> Result<(), Mistake> {
        match part {
            Expression::Bytes(bytes) => push_bytes(items, bytes),
            Expression::Set(set) => match (set.len(), set.bytes().next()) {
                (1, Some(byte)) => push_bytes(items, &[byte]),
                _ => items.push(Item::Set(*set)),
            },
            Expression::Name(name, line) => match self.by_name.get(name) {
                Some(&symbol) => items.push(Item::Symbol(symbol)),
                None => {
                    let rule = &self.all[rule as usize].name;
                    let text = if name.starts_with('<') { "; text is written in two, as [\"<\", \"b>\"]" } else { "" };
                    let what =
                        format!("{name} is used by {rule} and has no rule: write one, or correct the name{text}");
                    return Err(Mistake::new(line.0, what));
                }
            },
            Expression::Sequence(parts) => items.extend(self.sequence(parts, rule)?),
            Expression::Choice(_) => {
                let alternatives = self.alternatives(part, rule)?;
                self.push_choice(alternatives, Flavor::Plain, rule, items)?;
            }
            Expression::Characters(lengths) => {
                let alternatives =
                    lengths.iter().map(|length| self.sequence(length.parts(), rule)).collect::<Result<Vec<_>, _>>()?;
                self.push_choice(alternatives, Flavor::Character, rule, items)?;
            }
            Expression::Repeat { of, least, is_once } => {
                let mut alternatives = self.alternatives(of, rule)?;
                let body = if *is_once {
                    alternatives.push(Vec::new());
                    Body::Choice(alternatives)
                } else {
                    Body::List { item: self.of_choice(rule, alternatives)?, separator: None, least: *least }
                };
                items.push(Item::Symbol(self.add(rule, body, Flavor::Plain)?));
            }
        }
        Ok(())
    }
}

fn push_bytes(items: &mut Alternative, bytes: &[u8]) {
    if !bytes.is_empty() {
        items.push(Item::Bytes(bytes.to_vec()));
    }
}

/// Joins bytes that follow each other.
pub(super) fn join_bytes(symbols: &mut [Symbol]) {
    for symbol in symbols {
        let Body::Choice(alternatives) = &mut symbol.body else { continue };
        for alternative in alternatives {
            let mut joined: Alternative = Vec::with_capacity(alternative.len());
            for item in alternative.drain(..) {
                match (joined.last_mut(), item) {
                    (Some(Item::Bytes(before)), Item::Bytes(bytes)) => before.extend_from_slice(&bytes),
                    (_, item) => joined.push(item),
                }
            }
            *alternative = joined;
        }
    }
}

// Recursion on the left and on the right of a rule becomes lists, which take linear time to parse: the strings of
// `A -> A s A | A b | a A | g` are those of `U (s U)*` with `U -> a* g b*`.

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
            Body::Choice(alternatives) => symbols.of_choice(symbol, alternatives)?,
            unit => symbols.add(symbol, unit, Flavor::Plain)?,
        };
        let separator = match &self.between[..] {
            [one] if one.is_empty() => None,
            _ => Some(symbols.of_choice(symbol, self.between)?),
        };
        Ok(Body::List { item, separator, least: 1 })
    }
}

/// A list of any number of alternatives; `None` if there are no alternatives.
fn list_of(alternatives: Vec<Alternative>, symbols: &mut Symbols, symbol: u32) -> Result<Option<Body>, Mistake> {
    if alternatives.is_empty() {
        return Ok(None);
    }
    Ok(Some(Body::List { item: symbols.of_choice(symbol, alternatives)?, separator: None, least: 0 }))
}
