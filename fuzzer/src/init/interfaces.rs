//! Headers and sources of a project as interfaces: what each declares, and which function promises most.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use quagmire_base::error::Result;

use super::{
    call::objects,
    compiler::{Compiler, Flags, Language},
    declarations::{Declarations, Function},
    harness, input,
    paths::{has_ending, is_aside, is_c, is_source},
    project::Project,
    words,
};

/// Headers that are looked into, if no function is named.
const MOST_HEADERS: usize = 12;

/// A header or source that clang has read.
pub(super) struct Interface {
    pub(super) file: PathBuf,
    pub(super) language: Language,
    pub(super) flags: Flags,
    /// Beginning of a harness.
    pub(super) head: String,
    pub(super) known: Declarations,
}

/// Reads a header or source, in the language that is likelier first.
///
/// # Errors
/// The inner error is clang's first.
pub(super) fn read(compiler: &Compiler, project: &Project, file: &Path) -> Result<Result<Interface, String>> {
    let mut first = None;
    let languages = languages(project, file);
    for needs_more in [false, true] {
        let before = if needs_more { project.included_before(file) } else { Vec::new() };
        if needs_more && before.is_empty() {
            break;
        }
        for &language in &languages {
            let head = harness::head(&file.display().to_string(), language, &before);
            let mut flags = Flags::of(project, file, language);
            match compiler.declarations(&head, language, &mut flags)? {
                Ok(mut known) => {
                    name_parameters(project, file, &mut known);
                    return Ok(Ok(Interface { file: file.to_owned(), language, flags, head, known }));
                }
                Err(why) => drop(first.get_or_insert(why)),
            }
        }
    }
    Ok(Err(first.unwrap_or_default()))
}

/// Gives parameters that a header declares without names those of the definition.
fn name_parameters(project: &Project, header: &Path, known: &mut Declarations) {
    let is_nameless = |one: &Function| {
        !one.is_member && !one.parameters.is_empty() && one.parameters.iter().all(|one| one.name.is_empty())
    };
    let mut nameless: BTreeMap<String, &mut Function> =
        known.functions.iter_mut().filter(|one| is_nameless(one)).map(|one| (one.name.clone(), one)).collect();
    if nameless.is_empty() {
        return;
    }
    let names: Vec<String> = nameless.keys().map(|name| regex::escape(name)).collect();
    let definition = format!(r"\b({})\s*\(((?:[^(){{}};]|\([^()]*\))*)\)\s*\{{", names.join("|"));
    let Ok(definition) = regex::Regex::new(&definition) else { return };
    for source in project.sources_of(header) {
        for found in definition.captures_iter(&project.text(&source)) {
            let Some(function) = nameless.remove(&found[1]) else { continue };
            let written: Vec<&str> = found[2].split(',').collect();
            if written.len() == function.parameters.len() {
                for (parameter, written) in function.parameters.iter_mut().zip(written) {
                    let is_name = |c: char| c.is_alphanumeric() || c == '_';
                    let name = written.trim_end().trim_end_matches(['[', ']', ' ']);
                    parameter.name = name[name.rfind(|c| !is_name(c)).map_or(0, |at| at + 1)..].to_owned();
                }
            }
        }
    }
}

/// Languages that a file may be in, the likeliest first.
fn languages(project: &Project, file: &Path) -> Vec<Language> {
    if is_c(file) {
        return vec![Language::C];
    }
    if !has_ending(file, &["h"]) {
        return vec![Language::Cxx];
    }
    let source = project.sources.iter().find(|source| source.file_stem() == file.file_stem());
    let text = project.text(file);
    let shows = |words: &[&str]| words.iter().any(|word| text.contains(word));
    let is_cxx = match (source, project.has_c, project.has_cxx) {
        (Some(source), _, _) if !text.contains("__cplusplus") => !is_c(source),
        (_, true, false) => false,
        (_, false, true) => !text.contains("extern \"C\""),
        _ => !text.contains("__cplusplus") && shows(&["namespace ", "class ", "template <", "template<", "std::"]),
    };
    if is_cxx { vec![Language::Cxx, Language::C] } else { vec![Language::C, Language::Cxx] }
}

/// Files that mention a function, those that are likeliest to declare it first: headers, and sources that define it.
pub(super) fn mentioning(project: &Project, function: &str) -> Vec<PathBuf> {
    let name = function.rsplit("::").next().unwrap_or(function);
    let Ok(word) = regex::Regex::new(&format!(r"\b{}\s*\(", regex::escape(name))) else { return Vec::new() };
    let class = function
        .rsplit("::")
        .nth(1)
        .and_then(|class| regex::Regex::new(&format!(r"\b{}\b", regex::escape(class))).ok());
    let has = |path: &&PathBuf| {
        let text = project.text(path);
        word.is_match(&text) && class.as_ref().is_none_or(|class| class.is_match(&text))
    };
    let own = |aside: bool| project.headers.iter().filter(move |path| is_aside(path) == aside);
    let sources = project.sources.iter().chain(&project.programs);
    let found = own(false).filter(has).chain(own(true).filter(has)).chain(sources.filter(has)).take(MOST_HEADERS);
    // what users include may complete the types that the header only names
    found.flat_map(|path| project.collector_of(path).into_iter().chain([path.clone()])).collect()
}

/// Headers of the library itself, those likeliest to be its interface first, each with how much less likely it is than the
/// first.
pub(super) fn public(project: &Project) -> Vec<(PathBuf, i32)> {
    let folder = project.root.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let name: String = folder.split('-').next().unwrap_or_default().trim_start_matches("lib").to_lowercase();
    let mut all: Vec<(i32, usize, PathBuf)> = Vec::new();
    // gnulib's replacements for what systems lack are no interface of the project
    let is_gnulib = |path: &Path| path.parent().is_some_and(|folder| project.all.contains(&folder.join("stdint.in.h")));
    for path in project.headers.iter().filter(|path| !is_aside(path) && !is_gnulib(path)) {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
        let is_inner = words::any(&stem, "internal private config impl compat priv int version detail debug")
            || path.components().any(|part| {
                ["detail", "internal", "impl", "private", "details"].iter().any(|one| part.as_os_str() == *one)
            });
        let is_named = !name.is_empty() && (stem == name || stem == format!("lib{name}"));
        let in_include = path.components().any(|part| part.as_os_str() == "include");
        let parses = words::any(&stem, "parse parser read reader decode decoder load loader api");
        // one that includes the others is what a user includes
        let others = i32::try_from(project.own_includes(path).min(12)).unwrap_or(12) / 2;
        let worth = others
            + i32::from(is_named) * 8
            + i32::from(in_include) * 3
            + i32::from(parses) * 3
            + i32::from(stem.contains(&name) && !name.is_empty()) * 2
            - i32::from(is_inner) * 8;
        all.push((-worth, path.components().count(), path.clone()));
    }
    all.sort();
    let best = all.first().map_or(0, |(worth, _, _)| *worth);
    all.into_iter().take(MOST_HEADERS).map(|(worth, _, path)| (path, (worth - best).min(8))).collect()
}

impl Interface {
    /// Functions by this name, with or without what is around it: those of the file first, then the likeliest.
    pub(super) fn named(&self, name: &str) -> Vec<Function> {
        let fits = |one: &&Function| {
            let full = one.full_name();
            full == name || full.strip_suffix(name).is_some_and(|before| before.ends_with("::"))
        };
        let mut found: Vec<Function> = self.functions().filter(fits).cloned().collect();
        found.sort_by_key(|one| -self.worth(one));
        found
    }

    /// Functions, methods and constructors that other files may call.
    fn functions(&self) -> impl Iterator<Item = &Function> {
        let constructors = self.known.records.values().flat_map(|record| &record.constructors);
        let is_own = is_source(&self.file);
        // of a source, all is in reach, since the harness includes it; of other files, only what headers declare
        let reaches = move |one: &&Function| is_own || !is_source(Path::new(&one.file));
        self.known.functions.iter().chain(constructors).filter(reaches)
    }

    /// Functions that may read an input, the likeliest first.
    pub(super) fn candidates(&self) -> Vec<(i32, Function)> {
        let mut found: Vec<(i32, Function)> = self
            .functions()
            .map(|one| (self.worth(one), one.clone()))
            .filter(|(worth, one)| *worth > 3 && self.is_here(one))
            .collect();
        found.sort_by_key(|(worth, _)| -worth);
        found
    }

    /// Whether a function is declared in the file itself, or in one of the same folder or below it.
    fn is_here(&self, function: &Function) -> bool {
        let file = Path::new(&function.file);
        let file = file.strip_prefix(".").unwrap_or(file);
        let folder = self.file.parent().unwrap_or(Path::new(""));
        file.starts_with(folder) && !is_aside(file) || function.is_constructor
    }

    /// How much a function promises to read an input: 0 if nothing.
    fn worth(&self, function: &Function) -> i32 {
        let name = &function.name;
        if words::inside(name, "free destroy delete") || words::any(&function.scope, "error exception") {
            return 0;
        }
        let (reads, is_other) = (words::promise(name), words::any(name, words::OTHERS));
        let of_maker = || Some((0, input::Form::Text, objects::input_of_object(function, &self.known, 0)?));
        let of_object = || self.of_constructor(function).or_else(|| self.of_feeder(function)).or_else(of_maker);
        let own = input::choose(function, &self.known, 0);
        let Some((_, form, input)) = own.or_else(|| (reads > 0).then(of_object).flatten()) else { return 0 };
        let is_file = matches!(form, input::Form::FileName | input::Form::Descriptor | input::Form::File);
        // what is not named so reads something only if it cannot mean anything else
        let is_constant = function.parameters.iter().any(|one| one.ty.contains("const"));
        if reads == 0 && (is_other || !is_constant || input < 8 || is_file) {
            return 0;
        }
        let is_hidden = name.starts_with('_') || ["detail", "internal"].iter().any(|one| function.scope.contains(one));
        let is_stream = function.is_constructor && words::any(name, "stream iterator view ref");
        let is_reader = function.is_member && words::any(&function.scope, words::READERS);
        let sum = |parts: &[(bool, i32)]| parts.iter().filter(|(holds, _)| *holds).map(|(_, worth)| worth).sum::<i32>();
        let more = i32::try_from(function.parameters.len()).unwrap_or(9).min(9) / 2;
        reads + input - more
            + sum(&[
                (is_reader, 3),
                (is_file, -2),
                (objects::needs_object(function, &self.known), -2),
                // a value in a text is less than the text
                (words::any(name, words::PARTS), -5),
                (is_other, -8),
                (is_stream, -8),
                (is_hidden, -10),
            ])
    }

    /// The input of a function that works on an object which has been handed the input by another.
    fn of_feeder(&self, function: &Function) -> Option<(usize, input::Form, i32)> {
        let feeder = input::feeder(function, &self.known)?;
        input::choose(feeder, &self.known, 1).map(|(at, form, worth)| (at, form, worth - 3))
    }

    /// The input of a method that is called on an object which has it.
    fn of_constructor(&self, function: &Function) -> Option<(usize, input::Form, i32)> {
        let is_method = function.is_member && !function.is_static && !function.is_constructor;
        let record = self.known.records.get(&function.scope).filter(|_| is_method)?;
        input::best_constructor(record, &self.known).map(|(_, (at, form, worth))| (at, form, worth - 2))
    }
}
