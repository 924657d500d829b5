//! Search for places in the tables and the debug information of a program.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use quagmire_base::{
    error::{Error, Result},
    format::{counted, short},
};
use quagmire_execution::{
    lines::{self, FunctionKey, SourcePlace},
    program::Program,
    symbols::Symbols,
};
use quagmire_search::corpus::towards::TargetPlace;

use super::{Wanted, patch::ChangedLines, place::Place};
use crate::{mask::place::named, source};

/// Name of the option for places.
const OPTION: &str = "--towards";

/// Name of the option for patches.
const OF_PATCH: &str = "--towards-patch";

/// Finds the edges of all places in the program.
///
/// # Errors
/// A usage error if the program has no such place, with what is most like it, or if no line of a patch is code of the program.
/// A target error if nothing says where the code is.
pub(super) fn find(program: &Program, wanted: &Wanted) -> Result<Vec<TargetPlace>> {
    let mut finder = Finder { files: lines::source_files(program), names: Vec::new(), places: Vec::new() };
    let mut symbols = Symbols::new();
    let functions: Vec<FunctionKey> = lines::source_functions(program, &mut symbols).into_keys().collect();
    for (typed, place) in &wanted.places {
        match place {
            Place::Function(name) => finder.function(&functions, typed, name)?,
            Place::Lines { file, from, to } => finder.lines(typed, file, (*from, *to))?,
        }
    }
    for (file, changes) in &wanted.patches {
        finder.patch(file, changes)?;
    }
    let edges = lines::edges_of_places(program, &mut symbols, &finder.places);
    let mut found: Vec<TargetPlace> = Vec::new();
    for (name, edges) in finder.names.into_iter().zip(edges) {
        // a name may stand for several functions, or files
        match found.iter_mut().find(|place| place.name == name) {
            Some(place) => place.edges.extend(edges),
            None => found.push(TargetPlace { name, edges, ..TargetPlace::default() }),
        }
    }
    for place in &mut found {
        place.edges.sort_unstable();
        place.edges.dedup();
        place.branches = place.edges.iter().filter(|&&edge| program.is_branch(edge as usize)).count() as u64;
    }
    if let Some(place) = found.iter().find(|place| place.branches == 0) {
        return Err(Error::usage(format!("{OPTION} {}: no edge is counted there: name another place", place.name)));
    }
    Ok(found)
}

/// Search for places in the debug information.
struct Finder {
    /// Lines with code of each file.
    files: BTreeMap<String, Vec<u32>>,
    /// Names and places that were found, side by side.
    names: Vec<String>,
    places: Vec<SourcePlace>,
}

impl Finder {
    fn add(&mut self, name: &str, place: SourcePlace) {
        self.names.push(name.to_owned());
        self.places.push(place);
    }

    fn function(&mut self, functions: &[FunctionKey], typed: &str, name: &str) -> Result<()> {
        let keys: Vec<&FunctionKey> = functions.iter().collect();
        let fitting = named(&keys, name);
        if fitting.is_empty() {
            let names: BTreeSet<String> = keys.iter().map(|(name, _)| short(name)).collect();
            let is_file = name.contains(['/', '.']) && !name.contains('(');
            let remedy = if is_file { "for a file, write FILE:LINE or FILE:LINE-LINE" } else { "name one of those" };
            return Err(Error::usage(format!(
                "{OPTION} {typed}: no counted function of the program has this name; the nearest are {}: {remedy}",
                nearest(&names, name).join(", ")
            )));
        }
        fitting.into_iter().for_each(|key| self.add(typed, SourcePlace::Function(key.clone())));
        Ok(())
    }

    fn lines(&mut self, typed: &str, file: &Path, (from, to): (u32, u32)) -> Result<()> {
        let file = source::find(&self.files, file, OPTION)?;
        if !file.lines.iter().any(|line| (from..=to).contains(line)) {
            let (before, after) = file.lines.split_at(file.lines.partition_point(|&line| line < from));
            let near: Vec<String> = before.last().into_iter().chain(after.first()).map(u32::to_string).collect();
            let lines = if from == to { format!("line {from} has") } else { format!("lines {from} to {to} have") };
            return Err(Error::usage(format!(
                "{OPTION} {typed}: {lines} no code in the program; the nearest of the file with code: {}",
                near.join(", ")
            )));
        }
        self.add(typed, SourcePlace::Lines(file.path, from..=to));
        Ok(())
    }

    fn patch(&mut self, patch: &Path, changes: &[ChangedLines]) -> Result<()> {
        let known = self.places.len();
        for ChangedLines { file, lines } in changes {
            let fitting: Vec<String> = source::fitting(&self.files, Path::new(file)).into_iter().cloned().collect();
            for path in fitting {
                if self.files[&path].iter().any(|line| lines.contains(line)) {
                    let (from, to) = (lines.start(), lines.end());
                    let name = if from == to { format!("{file}:{from}") } else { format!("{file}:{from}-{to}") };
                    self.add(&name, SourcePlace::Lines(path, lines.clone()));
                }
            }
        }
        if self.places.len() > known {
            return Ok(());
        }
        let patch = patch.display();
        if self.files.is_empty() {
            return Err(Error::target(format!("{OF_PATCH} {patch}: {}", source::WITHOUT_LINES)));
        }
        let files: BTreeSet<&str> = changes.iter().map(|change| change.file.as_str()).collect();
        let has_file = files.iter().any(|file| !source::fitting(&self.files, Path::new(file)).is_empty());
        Err(Error::usage(if has_file {
            format!(
                "{OF_PATCH} {patch}: none of the lines that it changes has code in the program: build the program with the \
                 patch applied, or give another patch"
            )
        } else {
            format!(
                "{OF_PATCH} {patch}: none of the {} that it changes is compiled into the program: give a patch of the \
                 program's sources, with paths as they are there",
                counted(files.len() as u64, "file")
            )
        }))
    }
}

/// Number of names in an error.
const LISTED: usize = 4;

/// The names that are most like `wanted`: those that contain it first, and then by the number of characters to insert, delete
/// or replace. Names of functions count without scopes and parameters.
fn nearest(names: &BTreeSet<String>, wanted: &str) -> Vec<String> {
    let wanted = bare(wanted).to_lowercase();
    let mut ranked: Vec<_> = names
        .iter()
        .map(|name| {
            let short = bare(name).to_lowercase();
            let contains = !wanted.is_empty() && short.contains(&wanted);
            (!contains, distance(&short, &wanted), name)
        })
        .collect();
    ranked.sort();
    ranked.into_iter().take(LISTED).map(|(.., name)| name.clone()).collect()
}

/// Name of a function without scopes and parameters.
fn bare(name: &str) -> &str {
    let name = name.split(['(', '<']).next().unwrap_or(name);
    name.rsplit("::").next().unwrap_or(name)
}

/// Levenshtein's distance.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (above, left) in one.chars().zip(1..) {
        let mut diagonal = std::mem::replace(&mut row[0], left);
        for (at, &character) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(character != above);
            diagonal = row[at + 1];
            row[at + 1] = replaced.min(row[at] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_is_the_number_of_changed_characters() {
        assert_eq!(
            [("kitten", "sitting"), ("", "abc"), ("same", "same"), ("ab", "ba")].map(|(a, b)| distance(a, b)),
            [3, 3, 0, 2]
        );
    }

    #[test]
    fn names_that_contain_the_other_come_first_and_then_the_ones_with_few_changes() {
        let names = ["main", "text::parse(char const*)", "parse_all", "pause", "zzzzzzzzzz", "unrelated"];
        let names: BTreeSet<String> = names.map(str::to_owned).into();
        assert_eq!(nearest(&names, "Parse"), ["text::parse(char const*)", "parse_all", "pause", "main"]);
        assert_eq!(nearest(&names, "x::prase")[..2], ["pause", "text::parse(char const*)"]);
    }
}
