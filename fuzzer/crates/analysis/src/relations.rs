//! Relation fields found by execution: without those that follow from its units, an input with fewer of them is another one.

use std::{
    collections::HashSet,
    hash::{DefaultHasher, Hash, Hasher},
};

use crate::runner::Run;
use quagmire_base::error::Result;
use quagmire_choices::units::{Taken, Units};

/// Fields that are found one after the other.
const MOST_FIELDS: usize = 4;
/// Fields that are tried before one is added.
const MOST_TRIED: usize = 400;
/// Places of units for which fields are looked for.
const MOST_PLACES: usize = 12;

/// A search for fields by runs of inputs with half of their units.
pub(crate) struct Relations<'r> {
    /// Runs an input; `None` once no more may be run.
    run: &'r mut dyn FnMut(&[u8]) -> Result<Option<Run>>,
    /// Whether a run is one of a smaller input of the same form.
    is_like: &'r dyn Fn(&Run) -> bool,
    /// Edges of the input itself.
    edges: HashSet<u32>,
    /// Inputs that were run, by their hash.
    known: HashSet<u64>,
}

/// Outcome of a run with another field.
enum Outcome {
    /// A smaller input of the same form.
    Like,
    /// Another one, which executes so many edges of the input itself.
    Reaches(usize),
    /// No run was made, since the same bytes were run before.
    Known,
    /// No more may be run.
    Over,
}

impl<'r> Relations<'r> {
    pub(crate) fn new(
        whole: &Run,
        run: &'r mut dyn FnMut(&[u8]) -> Result<Option<Run>>,
        is_like: &'r dyn Fn(&Run) -> bool,
    ) -> Self {
        let edges = whole.edges.iter().map(|edge| edge.edge).collect();
        Self { run, is_like, edges, known: HashSet::new() }
    }

    /// Ways to divide an input, with fields without which none of them makes a smaller one of the same form; empty if no such fields
    /// are found. Each of `all` has been tried.
    pub(crate) fn find<'a>(&mut self, input: &'a [u8], all: &[Units<'a>]) -> Result<Vec<Units<'a>>> {
        let mut places = HashSet::new();
        let is_new = |units: &&Units<'_>| places.insert(units.place());
        for units in all.iter().filter(is_new).take(MOST_PLACES) {
            if let Some(related) = self.related(units, false)? {
                return Ok(with_fields_of(&related, all));
            }
        }
        // no number speaks for a place
        let related = Units::behind_head(input).map_or(Ok(None), |units| self.related(&units, true))?;
        Ok(related.map(|related| with_fields_of(&related, all)).unwrap_or_default())
    }

    /// Units with the fields that make half of them an input of the same form. Each field is the one by which more edges are reached
    /// than without it.
    fn related<'a>(&mut self, units: &Units<'a>, is_blind: bool) -> Result<Option<Units<'a>>> {
        let mut units = units.clone();
        let mut reached = match self.half(&units)? {
            // it needs none, and was tried
            Outcome::Like => return Ok(None),
            Outcome::Reaches(edges) => edges,
            Outcome::Known | Outcome::Over => 0,
        };
        for _ in 0..MOST_FIELDS {
            let mut better = None;
            let blind = if is_blind { units.blind() } else { Vec::new() };
            for fields in [units.by_value(), blind] {
                for with in fields.into_iter().filter_map(|field| units.with(field)).take(MOST_TRIED) {
                    match self.half(&with)? {
                        Outcome::Like => return Ok(Some(with)),
                        Outcome::Reaches(edges) if edges > reached => (reached, better) = (edges, Some(with)),
                        Outcome::Reaches(_) | Outcome::Known => {}
                        Outcome::Over => return Ok(None),
                    }
                }
                if better.is_some() {
                    break;
                }
            }
            let Some(better) = better else { break };
            units = better;
        }
        Ok(None)
    }

    /// Runs the first half of units.
    fn half(&mut self, units: &Units<'_>) -> Result<Outcome> {
        let input = units.take(units.count() / 2, Taken::First);
        if !self.known.insert(hash(&input)) {
            return Ok(Outcome::Known);
        }
        let Some(run) = (self.run)(&input)? else { return Ok(Outcome::Over) };
        if (self.is_like)(&run) {
            return Ok(Outcome::Like);
        }
        Ok(Outcome::Reaches(run.edges.iter().filter(|edge| self.edges.contains(&edge.edge)).count()))
    }
}

/// All ways to divide an input that have their place between the fields of one of them, with these fields; that one is the last.
fn with_fields_of<'a>(related: &Units<'a>, all: &[Units<'a>]) -> Vec<Units<'a>> {
    let others = all.iter().filter_map(|units| units.with_fields_of(related));
    related.behind_fields().into_iter().chain(others).chain([related.clone()]).collect()
}

/// Hash of an input, by which it is known again.
pub(crate) fn hash(input: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    input.hash(&mut hasher);
    hasher.finish()
}
