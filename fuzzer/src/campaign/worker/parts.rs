//! Outlines of findings: the parts of an input by the grammar, or by what the harness draws from it.

use std::{collections::HashMap, path::Path};

use libafl::state::HasExecutions;

use super::Worker;
use quagmire_base::{error::Result, files};
use quagmire_choices::{
    draws::{Draw, Kind, Log},
    outline::{Item, items, outline, quoted},
};
use quagmire_execution::symbols::{CodeLocation, Symbols};
use quagmire_search::evaluate::see_draws;

impl Worker<'_> {
    /// Outline of the input in this file; empty if nothing tells its parts.
    pub(super) fn parts_of(&mut self, path: &Path) -> Result<Vec<String>> {
        let Ok(bytes) = files::read(path, files::LARGEST_INPUT) else { return Ok(Vec::new()) };
        if let Some(grammar) = &self.setup.grammar {
            let name = |symbol| grammar.name(symbol).unwrap_or_default().to_owned();
            return Ok(grammar.parse(&bytes).map(|tree| outline(&items(&tree, name))).unwrap_or_default());
        }
        // when this is done depends on the clock: it is no execution of the search
        let executions = *self.state.executions();
        let log = see_draws(&mut self.parts(), &bytes);
        *self.state.executions_mut() = executions;
        let log = log.map_err(|error| self.state.reason(&error))?;
        Ok(log.map(|log| of_draws(&log)).unwrap_or_default())
    }
}

/// Outline of draws: parts by the functions that drew them, draws by their lines.
fn of_draws(log: &Log) -> Vec<String> {
    let mut symbols = Symbols::new();
    let mut known: HashMap<u64, CodeLocation> = HashMap::new();
    let mut place = |site: u64| known.entry(site).or_insert_with(|| symbols.caller(site)).clone();
    let mut shown = Vec::new();
    let (draws, parts) = (log.draws(), log.parts());
    let mut open: Vec<usize> = Vec::new();
    let mut next = 0;
    for (at, draw) in draws.iter().enumerate() {
        open.retain(|&end| end > at);
        while let Some(part) = parts.get(next).filter(|part| part.draws.start == at) {
            let depth = open.len() as u32;
            shown.push(Item { depth, kind: part.site, text: place(part.site).function });
            open.push(part.draws.end);
            next += 1;
        }
        let location = place(draw.site);
        let line = location.location.as_deref().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
        let depth = open.len() as u32;
        // beside a part of the same site, a draw is of another kind
        shown.push(Item { depth, kind: !draw.site, text: format!("{}  {line}", drawn(log, at, draw)) });
    }
    outline(&shown)
}

/// A draw and its value, for people.
fn drawn(log: &Log, at: usize, draw: &Draw) -> String {
    let bytes = || quoted(log.draw_range(at).and_then(|range| log.bytes().get(range)).unwrap_or_default());
    let (value, most) = (draw.value, draw.range);
    match draw.kind() {
        Some(Kind::Integer) => format!("integer: smallest + {value} of {most}"),
        Some(Kind::Flip) => format!("flag {}", value != 0),
        Some(Kind::Pick) => format!("choice {value} of 0 to {most}"),
        Some(Kind::Real) => "real number".to_owned(),
        Some(Kind::Text) => format!("text {}", bytes()),
        Some(Kind::Bytes | Kind::Rest) => format!("bytes {}", bytes()),
        Some(Kind::Size) => format!("{value} bytes left"),
        Some(Kind::Open | Kind::Close) | None => "part".to_owned(),
    }
}
