//! Grammars: reading them, parsing inputs into trees, and generating trees.
//!
//! A file of any format becomes rules (`source`), these become symbols in a normal form (`symbols`) in which recursion at
//! the ends of alternatives is a list and regular symbols are leaves (`measures`) with automata (`dfa`). The
//! parser (`earley`) works on a table of them.

mod antlr;
mod dfa;
mod earley;
mod generate;
mod json;
mod measures;
mod source;
mod symbols;

use std::path::Path;

use quagmire_base::error::{Error, Result};
use quagmire_base::files;

use self::dfa::Automaton;
use self::earley::{Failure, Table};
use self::measures::Measures;
use self::source::Mistake;
use self::symbols::{Body, Symbol};
use crate::tree::Tree;

pub use self::generate::Limits;

/// A grammar, ready to parse and to generate.
#[derive(Clone, Debug)]
pub struct Grammar {
    symbols: Vec<Symbol>,
    /// Symbol of whole inputs.
    pub start: u32,
    measures: Measures,
    leaves: Vec<Option<Automaton>>,
    empty: Vec<Option<u32>>,
    table: Table,
    /// Warnings about the grammar: a line each.
    pub warnings: Vec<String>,
}

impl Grammar {
    /// Reads a grammar: JSON in the form of the fuzzing book, of AFL++'s Grammar-Mutator or of Nautilus, or ANTLR's `.g4`.
    ///
    /// # Errors
    /// File and line of what is wrong, and what to do about it.
    pub fn load(path: &Path) -> Result<Self> {
        let shown = path.display();
        let text = files::read_named(path, source::LARGEST_FILE)
            .map_err(|error| Error::usage(format!("cannot read the grammar {shown}: {error}; check the path")))?;
        let text = String::from_utf8(text).map_err(|_| {
            Error::usage(format!("the grammar {shown} is not UTF-8: convert it, with \\u00NN for bytes"))
        })?;
        Self::read(&text, &shown.to_string())
    }

    /// Reads the text of a grammar in one of the formats of [`Grammar::load`]. `shown` names it in errors.
    ///
    /// # Errors
    /// Name and line of what is wrong, and what to do about it.
    pub fn read(text: &str, shown: &str) -> Result<Self> {
        Self::of_text(text).map_err(|Mistake { line, what }| match line {
            0 => Error::usage(format!("{shown}: {what}")),
            line => Error::usage(format!("{shown}:{line}: {what}")),
        })
    }

    fn of_text(text: &str) -> Result<Self, Mistake> {
        let text = text.trim_start_matches('\u{feff}');
        let source = match text.trim_start().chars().next() {
            None => return Err(Mistake::new(0, "the grammar is empty: see \"Bring a grammar\" in the book")),
            Some('{' | '[') => json::read(text)?,
            Some(_) => antlr::read(text)?,
        };
        let (mut symbols, start) = symbols::of_source(&source)?;
        let rules = symbols.all.len().min(source.rules.len());
        let is_reached = measures::reached(&symbols.all, start);
        let unreached = (0..rules).filter(|&rule| !is_reached[rule]);
        let warnings = unreached.map(|rule| format!("{} is not used", symbols.all[rule].name)).collect();
        measures::check_ends(&symbols, &Measures::of(&symbols.all), &is_reached)?;
        // what is not used may be wrong
        let unused = symbols.all.iter_mut().zip(&is_reached).filter(|(_, is_reached)| !**is_reached);
        unused.for_each(|(symbol, _)| symbol.body = Body::Choice(vec![Vec::new()]));
        symbols::to_lists(&mut symbols)?;
        measures::open_lists(&mut symbols)?;
        symbols::join_bytes(&mut symbols.all);
        measures::check_cycles(&symbols)?;
        let measures = Measures::of(&symbols.all);
        let leaves = measures::leaves(&symbols, &measures.lengths);
        let empty = measures::empty_choices(&symbols.all);
        let table = Table::of(&symbols.all, start, &leaves, &empty);
        Ok(Self { symbols: symbols.all, start, measures, leaves, empty, table, warnings })
    }

    /// Parses an input. Of several derivations it takes the alternatives that come first, and the longest leaves. `None` if
    /// the input is not of the language, or if it takes too long to find out: a million steps and 32 for each byte.
    pub fn parse(&self, input: &[u8]) -> Option<Tree> {
        match earley::parse(self, input, true) {
            Err(Failure::Greedy) => earley::parse(self, input, false).ok(),
            parsed => parsed.ok(),
        }
    }

    /// Name of a symbol: that of a rule, with a number if it is a part of the rule. `None` if there is no such symbol.
    pub fn name(&self, symbol: u32) -> Option<&str> {
        self.symbols.get(symbol as usize).map(|symbol| &symbol.name[..])
    }

    /// Number of alternatives of a symbol; 0 if it is a list or a leaf.
    pub fn alternatives(&self, symbol: u32) -> u32 {
        match self.symbols.get(symbol as usize).map(|symbol| &symbol.body) {
            Some(Body::Choice(alternatives)) if self.leaves[symbol as usize].is_none() => alternatives.len() as u32,
            _ => 0,
        }
    }

    /// Whether a leaf or separator of this symbol may have this text.
    pub fn matches(&self, symbol: u32, text: &[u8]) -> bool {
        self.leaves.get(symbol as usize).and_then(Option::as_ref).is_some_and(|leaf| leaf.matches(text))
    }

    /// Separator and least number of items of a list; `None` if the symbol is none.
    pub(crate) fn list(&self, symbol: u32) -> Option<(Option<u32>, u32)> {
        match self.symbols.get(symbol as usize)?.body {
            Body::List { separator, least, .. } => Some((separator, least)),
            Body::Choice(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
