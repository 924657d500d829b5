//! Places in the program as named by users: FUNCTION, FUNCTION:LINE or FILE:LINE.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{runner::Run, source};
use quagmire_base::{
    error::{Error, Result},
    format::{short, shortened_path},
};
use quagmire_cost::resource::Resource;
use quagmire_execution::{
    lines::{self, FunctionKey},
    program::Program,
    symbols::Symbols,
};

/// Maximum number of functions listed in an error.
const CANDIDATES: usize = 6;

/// Maximum length of paths in names, in characters.
const PATH: usize = 60;

/// Goal of a mask that the user asks for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Condition {
    /// Keeping most of the cost; see [`Condition::keeps_cost`].
    Cost {
        /// Minimum number of instructions.
        least: u64,
    },
    /// Executing a place.
    Place(CodePlace),
}

/// A place that was found. One that was inlined several times has an edge for each copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodePlace {
    /// Name in results.
    pub name: String,
    /// Edges of which a run has to execute at least one.
    pub edges: Vec<u32>,
}

/// Share of an expensive input's cost that is kept.
const KEPT_SHARE: f64 = 0.9;

impl Condition {
    /// Whether a run reaches it, as far as it came.
    pub fn is_satisfied(&self, run: &Run) -> bool {
        match self {
            Self::Cost { least } => run.cost[Resource::Instructions] >= *least,
            Self::Place(place) => {
                let executes = |edge: &u32| run.edges.binary_search_by_key(edge, |one| one.edge).is_ok();
                place.edges.iter().any(executes)
            }
        }
    }

    /// Goal of executing nine tenths of these instructions.
    pub fn keeps_cost(instructions: u64) -> Self {
        Self::Cost { least: (instructions as f64 * KEPT_SHARE) as u64 }
    }
}

impl CodePlace {
    /// Finds the place that `wanted` names.
    ///
    /// # Errors
    /// A usage error if nothing or more than one function has that name.
    pub fn find(program: &Program, symbols: &mut Symbols, wanted: &str) -> Result<Self> {
        let line = wanted.rsplit_once(':').and_then(|(head, line)| Some((head, line.parse::<u32>().ok()?)));
        let (head, line) = line.map_or((wanted, None), |(head, line)| (head, Some(line)));
        let functions = lines::source_functions(program, symbols);
        let keys: Vec<&FunctionKey> = functions.keys().collect();
        let found = function(&keys, head);
        let is_file = head.contains(['/', '.']) && !head.contains('(');
        let key = match (found, line) {
            (Found::One(key), _) => key,
            (Found::Several(several), _) => {
                let more = if is_file { "" } else { " or give FILE:LINE" };
                let several = listed(&several);
                return Err(Error::usage(format!(
                    "--branch {wanted} could be several functions: give more of the name{more}: {several}"
                )));
            }
            (Found::None(_), Some(line)) if is_file => return Self::in_file(program, wanted, Path::new(head), line),
            (Found::None(_), None) if is_file => {
                return Err(Error::usage(format!(
                    "--branch {wanted}: no function has this name: give FILE:LINE for a place in a file"
                )));
            }
            (Found::None(alike), _) => {
                let alike = if alike.is_empty() { String::new() } else { format!("; there is {}", listed(&alike)) };
                return Err(Error::usage(format!(
                    "--branch {wanted}: no function of the program has this name{alike}"
                )));
            }
        };
        let (name, file) = key;
        let Some(line) = line else {
            let at = if file.is_empty() { String::new() } else { format!(" of {}", shortened_path(file, PATH)) };
            return Ok(Self { name: format!("{}{at}", short(name)), edges: functions[key].clone() });
        };
        if file.is_empty() {
            return Err(Error::target(format!(
                "--branch {wanted}: the function was built without -g and knows no lines; build it again with -g"
            )));
        }
        let edges = lines::edges_of_line(program, file, line, Some(name));
        Self::of_line(program, wanted, file, line, edges, format!(" in {}", short(name)))
    }

    fn in_file(program: &Program, wanted: &str, file: &Path, line: u32) -> Result<Self> {
        let file = source::find(&lines::source_files(program), file, "--branch")?.path;
        let edges = lines::edges_of_line(program, &file, line, None);
        Self::of_line(program, wanted, &file, line, edges, String::new())
    }

    fn of_line(
        program: &Program,
        wanted: &str,
        file: &str,
        line: u32,
        edges: Vec<u32>,
        function: String,
    ) -> Result<Self> {
        if edges.is_empty() || line == 0 {
            let lines = lines::source_files(program).remove(file).unwrap_or_default();
            let (before, after) = lines.split_at(lines.partition_point(|&with_code| with_code < line));
            let after = after.iter().find(|&&with_code| with_code != line);
            let nearest: Vec<String> = before.last().into_iter().chain(after).map(u32::to_string).collect();
            return Err(Error::usage(format!(
                "--branch {wanted}: line {line} of {} has no code{function}; the nearest of the file with code: {}",
                shortened_path(file, PATH),
                nearest.join(", ")
            )));
        }
        Ok(Self { name: format!("{}:{line}{function}", shortened_path(file, PATH)), edges })
    }
}

/// Result of a search for a function.
enum Found<'a> {
    One(&'a FunctionKey),
    Several(Vec<&'a FunctionKey>),
    /// No function has this name; those whose names contain it.
    None(Vec<&'a FunctionKey>),
}

/// Searches for a function by its full name first, then by the end of its name without arguments.
fn function<'a>(keys: &[&'a FunctionKey], wanted: &str) -> Found<'a> {
    let fitting = named(keys, wanted);
    match fitting.as_slice() {
        [] => {}
        [one] => return Found::One(one),
        _ => return Found::Several(fitting),
    }
    let wanted = wanted.to_lowercase();
    let is_like = |name: &str| !wanted.is_empty() && name.to_lowercase().contains(&wanted);
    Found::None(keys.iter().copied().filter(|(name, _)| is_like(name)).collect())
}

/// All functions with this name: with the full name, or else with this end of the name without arguments.
pub(crate) fn named<'a>(keys: &[&'a FunctionKey], wanted: &str) -> Vec<&'a FunctionKey> {
    let all = |fits: &dyn Fn(&str) -> bool| -> Vec<&'a FunctionKey> {
        keys.iter().copied().filter(|(name, _)| fits(name)).collect()
    };
    let exact = all(&|name| name == wanted);
    if exact.is_empty() { all(&|name| is_end_of_name(name, wanted)) } else { exact }
}

/// Whether `wanted` is a function's name without its arguments, with or without enclosing scopes.
fn is_end_of_name(name: &str, wanted: &str) -> bool {
    let is_balanced = |text: &str| {
        let count = |c| text.matches(c).count();
        count('(') == count(')') && count('<') == count('>')
    };
    !wanted.is_empty()
        && name.match_indices(wanted).any(|(at, _)| {
            let (before, rest) = (&name[..at], &name[at + wanted.len()..]);
            (before.is_empty() || before.ends_with("::") || before.ends_with(' '))
                && is_balanced(before)
                && (rest.is_empty() || rest.starts_with(['(', '<', '[']))
        })
}

fn listed(keys: &[&FunctionKey]) -> String {
    let shown = keys.iter().take(CANDIDATES).map(|(name, file)| {
        let file = if file.is_empty() { String::new() } else { format!(" of {}", shortened_path(file, PATH)) };
        format!("{}{file}", short(name))
    });
    let more = keys.len().saturating_sub(CANDIDATES);
    shown.collect::<Vec<_>>().join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(names: &[&str], wanted: &str) -> String {
        let keys: Vec<FunctionKey> = names.iter().map(|name| ((*name).to_owned(), "/src/a.c".to_owned())).collect();
        match function(&keys.iter().collect::<Vec<_>>(), wanted) {
            Found::One((name, _)) => name.clone(),
            Found::Several(several) => format!("several: {}", several.len()),
            Found::None(alike) => format!("none, like {}", alike.len()),
        }
    }

    #[test]
    fn a_function_is_found_by_the_end_of_its_name_without_arguments() {
        let names = ["parse", "text::parse(char const*)", "text::Set<long>::add(long)", "skip(parse)", "parse_all"];
        assert_eq!(found(&names, "parse"), "parse");
        assert_eq!(found(&names, "text::parse"), "text::parse(char const*)");
        assert_eq!(found(&names, "add"), "text::Set<long>::add(long)");
        assert_eq!(found(&names, "Set<long>::add"), "text::Set<long>::add(long)");
        assert_eq!(found(&names[1..], "parse"), "text::parse(char const*)");
        assert_eq!(found(&["a::f(int)", "b::f(int)", "f2"], "f"), "several: 2");
        assert_eq!(found(&names, "PARSE_"), "none, like 1");
        assert_eq!(found(&names, ""), "none, like 0");
    }

    #[test]
    fn candidates_are_few() {
        let keys: Vec<FunctionKey> = (0..9).map(|at| (format!("f{at}"), "/a.c".to_owned())).collect();
        assert!(listed(&keys.iter().collect::<Vec<_>>()).ends_with("f5 of /a.c and 3 more"));
    }
}
