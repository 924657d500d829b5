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

use super::{Wanted, nearest::nearest, patch::ChangedLines, place::Place};
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
