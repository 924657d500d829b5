//! Symbols of a grammar in its normal form: alternatives of bytes, sets of bytes and symbols, and lists.

use std::collections::HashMap;

use super::bytes::ByteSet;
use super::source::{Expression, Flavor, MOST_SYMBOLS, Mistake, Source};

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
                match &alternatives[..] {
                    [only] => items.extend(only.iter().cloned()),
                    _ => items.push(Item::Symbol(self.add(rule, Body::Choice(alternatives), Flavor::Plain)?)),
                }
            }
            Expression::Characters(lengths) => {
                let alternatives =
                    lengths.iter().map(|length| self.sequence(length.parts(), rule)).collect::<Result<Vec<_>, _>>()?;
                match &alternatives[..] {
                    [only] => items.extend(only.iter().cloned()),
                    _ => items.push(Item::Symbol(self.add(rule, Body::Choice(alternatives), Flavor::Character)?)),
                }
            }
            Expression::Repeat { of, least, is_once } => {
                let mut alternatives = self.alternatives(of, rule)?;
                let body = if *is_once {
                    alternatives.push(Vec::new());
                    Body::Choice(alternatives)
                } else {
                    let item = match alternatives.len() {
                        1 => self.of_alternative(rule, alternatives.remove(0))?,
                        _ => self.add(rule, Body::Choice(alternatives), Flavor::Plain)?,
                    };
                    Body::List { item, separator: None, least: *least }
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
