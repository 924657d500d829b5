//! One look at a project: functions and harnesses that are tried, and what is printed of those that work.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use quagmire_base::{
    error::{Error, Result},
    format::counted,
};

use super::{
    call::{self, Variant},
    compiler::{Compiler, Flags, IS_GENERATED, IS_MISSING, Language, first_error, run as run_command},
    declarations::Function,
    harness,
    interfaces::{self, Interface},
    own_folder,
    paths::{is_aside, is_c},
    plain_name,
    project::Project,
    seeds::{self, Seeds},
    shown, tell,
    trial::{Compilable, Outcome, Trial, With, built_programs, language_of, reach},
    words,
};

/// Programs that are tried.
const MOST_PROGRAMS: usize = 3;

/// Functions that are named beside the best one.
const OTHERS: usize = 8;

/// Functions that are tried, if none is named.
const MOST_FUNCTIONS: usize = 8;

/// Time after which no more functions are tried, if one works.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(90);

/// Promise of a name from which a function is believed to read its input, although the seeds do not show it.
const SURE: i32 = 9;

/// Edges below which a function is no parser, unless its name says so.
const FEW_EDGES: u64 = 75;

/// Edges that inputs of a parser reach in a moment, at the least: no other function is tried then.
const ENOUGH_EDGES: u64 = 300;

/// How many times the edges another function has to reach to be preferred to one that promises more.
const MORE_EDGES: u64 = 2;

/// Functions that only compile before the build, of which one is told.
const MOST_UNLINKED: usize = 4;

/// Time after which no more headers are read, if one has been.
const READING: std::time::Duration = std::time::Duration::from_secs(20);

pub(super) struct Session<'a> {
    compiler: &'a Compiler<'a>,
    project: &'a Project,
    /// Options that the project's C needs, as words of a shell.
    options: String,
    compilable: Compilable,
}

/// A harness that has been tried.
struct Tried {
    name: String,
    /// The function, for people.
    what: String,
    source: PathBuf,
    folder: PathBuf,
    seeds: Seeds,
    state: State,
    allowed: Vec<String>,
}

impl Tried {
    /// Edges that a moment of fuzzing reaches, if that is known.
    fn edges(&self) -> u64 {
        match &self.state {
            State::Works(outcome, _) => outcome.reach.edges,
            _ => ENOUGH_EDGES,
        }
    }
}

/// Functions of a project that have been tried.
#[derive(Default)]
struct Found {
    best: Option<Tried>,
    /// The one that reaches most of those that reach little.
    weak: Option<Tried>,
    /// One that runs and does not read its seeds: it surely is to read its input, or the seeds are made up.
    ignores: Option<Tried>,
    /// Names of those that may work.
    others: Vec<String>,
}

enum State {
    Works(Outcome, With),
    /// It runs, and nothing shows that it reads the seeds.
    Ignores(Outcome, With),
    /// It compiles, and what it has to be linked with is not built yet.
    Compiles(String),
    /// Its headers are made by the build.
    Unread(String),
    Fails(String),
}

impl<'a> Session<'a> {
    pub(super) fn new(compiler: &'a Compiler<'a>, project: &'a Project, options: String) -> Self {
        Self { compiler, project, options, compilable: Compilable::default() }
    }

    /// A harness for a function that is named, in a header or source if one is given.
    ///
    /// # Errors
    /// If nothing declares it, it cannot be called, or its harness does not work.
    pub(super) fn function(&self, name: &str, file: Option<&Path>) -> Result<Vec<String>> {
        let is_name = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || "_~".contains(c));
        if !name.split("::").all(is_name) {
            return Err(Error::usage(format!(
                "--function {name}: give the name of a function, such as parse or space::Class::parse"
            )));
        }
        let files = file.map_or_else(|| interfaces::mentioning(self.project, name), |file| vec![file.to_owned()]);
        let mut unread = None;
        for file in &files {
            let interface = match interfaces::read(self.compiler, self.project, file)? {
                Ok(interface) => interface,
                Err(why) => {
                    unread.get_or_insert(format!("{}: {why}", file.display()));
                    continue;
                }
            };
            let functions = interface.named(name);
            let Some(first) = functions.first() else { continue };
            let able = functions.iter().find(|one| {
                call::plan(one, &interface.known, interface.language == Language::Cxx, Variant::ALL[0]).is_ok()
            });
            return self.one(&interface, able.unwrap_or(first));
        }
        if let Some(why) = unread.as_ref().filter(|why| self.is_unbuilt() && why.contains(IS_GENERATED)) {
            return Ok(
                self.after_the_build(&format!("clang cannot read {why}"), &format!("quagmire init --function {name}"))
            );
        }
        if let Some(why) = unread {
            return Err(Error::target(format!("--function {name}: clang cannot read {why}")));
        }
        Err(Error::usage(format!(
            "--function {name}: no header or source in {} declares it",
            self.project.root.display()
        )))
    }

    /// Commands where headers or programs are made by the build.
    fn after_the_build(&self, why: &str, command: &str) -> Vec<String> {
        let mut lines = vec![format!("# {why} (quagmire init --build does it)")];
        lines.extend(self.build_commands(""));
        lines.push("# then again:".into());
        lines.push(command.to_owned());
        lines
    }

    /// A harness for one function, or the reason why there is none.
    fn one(&self, interface: &Interface, function: &Function) -> Result<Vec<String>> {
        let what = function.declaration();
        let tried = match self.try_function(interface, function)? {
            Ok(tried) => tried,
            Err(why) => {
                let (folder, source) = self.place(interface, &function.full_name());
                let text = harness::template(&interface.head, interface.language, function, &why);
                self.write(&folder, &source, &text)?;
                return Err(Error::target(format!(
                    "{what} {why}: fill in the call in {}, and type the same command again",
                    source.display()
                )));
            }
        };
        match &tried.state {
            State::Fails(why) => Err(Error::target(format!(
                "{what}: the harness {} does not work: {why}: change it, and type the same command again",
                tried.source.display()
            ))),
            State::Ignores(..) => Err(Self::needs_seeds(&tried)),
            _ => Ok(self.lines(&tried)),
        }
    }

    /// That a harness is there, and nothing gets into the code behind it yet.
    fn needs_seeds(tried: &Tried) -> Error {
        Error::target(format!(
            "{}: runs are all alike: it ignores its input, or refuses the seeds at once: put ordinary inputs into {}, and type \
             the same command again, with --function {}",
            tried.what,
            tried.folder.join("seeds").display(),
            tried.name
        ))
    }

    /// The harnesses of the project itself, or a function or program where none of them works.
    ///
    /// # Errors
    /// If one cannot be tried, or nothing works.
    pub(super) fn harnesses(&self) -> Result<Vec<String>> {
        let (mut lines, mut failed, mut works) = (Vec::new(), Vec::new(), false);
        for source in &self.project.harnesses {
            let stem = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let is_taken =
                self.project.harnesses.iter().filter(|other| other.file_stem() == source.file_stem()).count() > 1;
            let name = if is_taken { source.with_extension("").display().to_string() } else { stem };
            tell(&format!("trying {}", source.display()));
            let language = language_of(source);
            let flags = Flags::of(self.project, source, language);
            let trial = self.trial(own_folder(&name), source.clone(), language, flags);
            fs::create_dir_all(self.project.root.join(&trial.folder))
                .map_err(|error| Self::unwritten(&trial.folder, &error))?;
            let tried = self.tried(trial, source, name, format!("the project's harness {}", source.display()))?;
            match &tried.state {
                State::Unread(_) => return Ok(self.lines(&tried)),
                State::Fails(why) => failed.push(format!("# {} does not work: {why}", tried.what)),
                State::Ignores(..) => failed.push(format!("# {}", Self::needs_seeds(&tried))),
                State::Works(..) | State::Compiles(_) => {
                    works = true;
                    lines.extend(self.lines(&tried));
                }
            }
        }
        failed.extend(lines);
        if works {
            failed.push("# or a function of your choice: quagmire init --function NAME".into());
            return Ok(failed);
        }
        let others = self.best(None).map_err(|error| {
            let harness = failed.first().map_or("", |line| line.trim_start_matches("# "));
            Error::target(format!("{harness}; {error}"))
        })?;
        Ok(failed.into_iter().chain(others).collect())
    }

    /// A harness for the function that promises most, of the project or of one file.
    ///
    /// # Errors
    /// If nothing can be called and there is no program either.
    pub(super) fn best(&self, file: Option<&Path>) -> Result<Vec<String>> {
        let files = file.map_or_else(|| interfaces::public(self.project), |file| vec![(file.to_owned(), 0)]);
        let (mut refused, mut unread) = (Vec::new(), Vec::new());
        let found = self.interfaces(&files, &mut unread)?;
        let candidates = Self::candidates(&found, &mut refused);
        if let Some(why) =
            unread.iter().find(|why| self.is_unbuilt() && why.contains(IS_GENERATED)).filter(|_| candidates.is_empty())
        {
            return Ok(self.after_the_build(&format!("clang cannot read {why}"), "quagmire init"));
        }
        let found = self.best_of(&candidates, &mut refused)?;
        refused.extend(unread.iter().map(|why| format!("clang cannot read {why}")));
        let told = |tried: &Tried| {
            let others: Vec<&str> =
                found.others.iter().map(String::as_str).filter(|name| *name != tried.name).take(OTHERS).collect();
            let mut lines = self.lines(tried);
            lines.extend(
                (!others.is_empty()).then(|| format!("# other functions, for --function: {}", others.join(", "))),
            );
            lines
        };
        let is_named = file.is_some();
        if let Some(tried) = &found.best {
            let reached = tried.edges();
            if reached < ENOUGH_EDGES
                && !is_named
                && self.is_built()
                && let Ok(program) = self.program(false, reached * MORE_EDGES + 1)
            {
                return Ok(program);
            }
            return Ok(told(tried));
        }
        if refused.is_empty() {
            refused.push(
                "no function that the headers declare takes a text, bytes with their number, or a file to parse".into(),
            );
        }
        let least = found.weak.as_ref().map_or(0, Tried::edges);
        let program = if is_named { Err(Error::target("")) } else { self.program(true, least) };
        match (program, &found.ignores) {
            (Err(_), _) if let Some(weak) = &found.weak => Ok(told(weak)),
            (Ok(program), _) => Ok(refused.iter().take(3).map(|why| format!("# {why}")).chain(program).collect()),
            (Err(_), Some(tried)) => Err(Self::needs_seeds(tried)),
            (Err(why), None) => {
                let unread = unread.first().map(|why| format!("(and clang cannot read {why})"));
                let unread = unread.as_deref().filter(|_| !refused[0].starts_with("clang")).unwrap_or_default();
                let why = if is_named { String::new() } else { format!("; and {why}") };
                Err(Error::target(format!(
                    "{}{why}: name a function with --function, or write a harness (chapter \"Harnesses\")",
                    [refused[0].as_str(), unread].map(str::trim).join(" ").trim()
                )))
            }
        }
    }

    /// Reads headers, each with how much less likely it is than the first, and why others cannot be read.
    fn interfaces(&self, files: &[(PathBuf, i32)], unread: &mut Vec<String>) -> Result<Vec<(Interface, i32)>> {
        let mut found = Vec::new();
        let start = std::time::Instant::now();
        for (file, unlikely) in files {
            if !found.is_empty() && start.elapsed() > READING {
                break;
            }
            tell(&format!("reading {}", file.display()));
            match interfaces::read(self.compiler, self.project, file)? {
                Ok(interface) => found.push((interface, *unlikely)),
                Err(why) => unread.push(format!("{}: {why}", file.display())),
            }
        }
        Ok(found)
    }

    /// Functions that can be called, each with its interface, those that promise most first.
    fn candidates<'b>(interfaces: &'b [(Interface, i32)], refused: &mut Vec<String>) -> Vec<(&'b Interface, Function)> {
        let mut candidates: Vec<(i32, &Interface, Function)> = Vec::new();
        for (interface, unlikely) in interfaces {
            for (worth, function) in interface.candidates() {
                let is_cxx = interface.language == Language::Cxx;
                if let Err(why) = call::plan(&function, &interface.known, is_cxx, Variant::ALL[0]) {
                    refused.push(format!("{} {why}", function.declaration()));
                } else if candidates.iter().all(|(_, _, known)| known.declaration() != function.declaration()) {
                    candidates.push((worth - unlikely, interface, function));
                }
            }
        }
        candidates.sort_by_key(|(rank, _, _)| -rank);
        // methods that classes have in common do much the same
        let mut names = BTreeMap::<String, usize>::new();
        candidates.retain(|(_, _, one)| {
            let seen = names.entry(one.name.clone()).or_default();
            *seen += 1;
            *seen <= 2
        });
        candidates.into_iter().map(|(_, interface, function)| (interface, function)).collect()
    }

    /// Tries functions until one reads all of its input.
    fn best_of(&self, candidates: &[(&Interface, Function)], refused: &mut Vec<String>) -> Result<Found> {
        let (mut found, mut tries, mut unlinked) = (Found::default(), 0, 0);
        let mut most_edges = 0;
        let start = std::time::Instant::now();
        found.others = candidates.iter().take(MOST_FUNCTIONS + 4).map(|(_, one)| one.full_name()).collect();
        found.others.dedup();
        for (interface, function) in candidates {
            if tries >= MOST_FUNCTIONS || unlinked >= MOST_UNLINKED || most_edges > 0 && start.elapsed() > PATIENCE {
                break;
            }
            let (folder, _) = self.place(interface, &function.full_name());
            let was_there = self.project.root.join(&folder).exists();
            let tried = match self.try_function(interface, function)? {
                Ok(tried) => tried,
                Err(why) => {
                    refused.push(format!("{} {why}", function.declaration()));
                    continue;
                }
            };
            tries += 1;
            let promises = Self::promises(&function.name);
            let loser = match &tried.state {
                State::Works(outcome, _) if outcome.reach.edges < FEW_EDGES && !promises => {
                    let edges = counted(outcome.reach.edges, "edge");
                    refused.push(format!("{}: a moment of fuzzing reaches only {edges}", function.declaration()));
                    if found.weak.as_ref().is_none_or(|weak| weak.edges() < outcome.reach.edges) {
                        found.weak.replace(tried)
                    } else {
                        Some(tried)
                    }
                }
                State::Works(outcome, _) if outcome.reach.edges > most_edges * MORE_EDGES => {
                    most_edges = outcome.reach.edges;
                    found.best.replace(tried)
                }
                State::Compiles(_) | State::Unread(_) => {
                    unlinked += 1;
                    // whether it reads its input is not known yet, and a program surely does
                    let is_likely = words::promise(&function.name) > 0 || self.project.programs.is_empty();
                    if is_likely && found.best.is_none() { found.best.replace(tried) } else { Some(tried) }
                }
                State::Ignores(..)
                    if promises && found.ignores.as_ref().is_none_or(|known| !Self::promises(&known.name)) =>
                {
                    found.ignores.replace(tried)
                }
                // seeds of the project would have shown it
                State::Ignores(..) if tried.seeds.from.starts_with(seeds::MADE_UP_HERE) && found.ignores.is_none() => {
                    found.ignores.replace(tried)
                }
                State::Fails(why) => {
                    refused.push(format!("{}: {why}", function.declaration()));
                    found.others.retain(|name| *name != function.full_name());
                    Some(tried)
                }
                State::Ignores(..) => {
                    refused.push(format!("{}: runs are all alike, whatever the input", function.declaration()));
                    Some(tried)
                }
                State::Works(..) => Some(tried),
            };
            if let Some(loser) = loser.filter(|_| !was_there) {
                let _ = fs::remove_dir_all(self.project.root.join(&loser.folder));
            }
            if most_edges >= ENOUGH_EDGES {
                break;
            }
        }
        Ok(found)
    }

    /// Whether a function is believed to read its input although the seeds do not show it, by its name.
    fn promises(name: &str) -> bool {
        words::promise(name.rsplit("::").next().unwrap_or(name)) >= SURE
    }

    /// Folder and source of the harness for a function.
    fn place(&self, interface: &Interface, name: &str) -> (PathBuf, PathBuf) {
        let folder = own_folder(name);
        let source = folder.join(if interface.language == Language::C { "harness.c" } else { "harness.cc" });
        (folder, source)
    }

    fn trial(&self, folder: PathBuf, source: PathBuf, language: Language, flags: Flags) -> Trial<'_> {
        Trial {
            compiler: self.compiler,
            project: self.project,
            folder,
            source,
            language,
            flags,
            compilable: &self.compilable,
        }
    }

    fn write(&self, folder: &Path, source: &Path, text: &str) -> Result<()> {
        let made = fs::create_dir_all(self.project.root.join(folder))
            .and_then(|()| fs::write(self.project.root.join(source), text));
        made.map_err(|error| Self::unwritten(folder, &error))
    }

    fn unwritten(folder: &Path, error: &std::io::Error) -> Error {
        Error::other(format!("cannot write {}: {error}", folder.display()))
    }

    /// Writes harnesses for a function, in one way after the other, until one works.
    ///
    /// # Errors
    /// The inner error is why it cannot be called.
    fn try_function(&self, interface: &Interface, function: &Function) -> Result<std::result::Result<Tried, String>> {
        let name = function.full_name();
        tell(&format!("trying {name}"));
        let (folder, source) = self.place(interface, &name);
        let is_cxx = interface.language == Language::Cxx;
        let mut texts: Vec<String> = Vec::new();
        for variant in Variant::ALL {
            let text = match call::plan(function, &interface.known, is_cxx, variant) {
                Ok(plan) => harness::text(&interface.head, interface.language, function, &plan),
                Err(why) if texts.is_empty() && !self.project.root.join(&source).exists() => return Ok(Err(why)),
                Err(_) => continue,
            };
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        // what is there and has been changed is the user's, and is all that is tried
        let there = fs::read_to_string(self.project.root.join(&source)).ok();
        let is_theirs = there.as_ref().is_some_and(|there| !texts.contains(there));
        if let Some(there) = there.filter(|_| is_theirs) {
            texts = vec![there];
        }
        let mut first: Option<(Tried, String)> = None;
        for text in texts {
            let trial = self.trial(folder.clone(), source.clone(), interface.language, interface.flags.clone());
            self.write(&folder, &source, &text)?;
            let tried = self.tried(trial, &interface.file, name.clone(), function.declaration())?;
            if is_theirs || !matches!(tried.state, State::Fails(_) | State::Ignores(..)) {
                return Ok(Ok(tried));
            }
            // one that runs is nearer to a harness than one that does not
            let is_nearer = first
                .as_ref()
                .is_none_or(|(first, _)| matches!((&first.state, &tried.state), (State::Fails(_), State::Ignores(..))));
            if is_nearer {
                first = Some((tried, text));
            }
        }
        let (tried, text) = first.ok_or_else(|| Error::other("no way to call a function was tried"))?;
        self.write(&folder, &source, &text)?;
        Ok(Ok(tried))
    }

    /// Compiles, links and runs a harness.
    fn tried(&self, mut trial: Trial, header: &Path, name: String, what: String) -> Result<Tried> {
        let root = self.project.root.file_name().unwrap_or_default().to_string_lossy();
        let hints: Vec<String> =
            [&*name, &header.display().to_string(), &root].iter().flat_map(|text| words::of(text)).collect();
        let mut seeds = seeds::write(&self.project.root.join(&trial.folder).join("seeds"), self.project, &hints)?;
        let state = self.state_of(&mut trial, header, &mut seeds)?;
        let Trial { source, folder, flags, .. } = trial;
        Ok(Tried { name, what, source, folder, seeds, state, allowed: flags.allowed })
    }

    fn state_of(&self, trial: &mut Trial, header: &Path, seeds: &mut Seeds) -> Result<State> {
        if let Err(why) = trial.compile()? {
            // the project's own harness compiles as its build compiles it
            let is_own = self.project.harnesses.contains(&trial.source) && !why.contains(IS_MISSING);
            return Ok(match self.is_unbuilt() && (is_own || why.contains(IS_GENERATED)) {
                true => State::Unread(why),
                false => State::Fails(format!("it does not compile: {why}")),
            });
        }
        let with = match trial.link_with_any(header)? {
            Ok(with) => with,
            Err(why) if self.is_unbuilt() => {
                trial.write_script(&With::Libraries(Vec::new()))?;
                return Ok(State::Compiles(why));
            }
            Err(why) => return Ok(State::Fails(format!("it cannot be linked: {why}"))),
        };
        let outcome = match trial.run(&seeds.files)? {
            Ok(outcome) => outcome,
            Err(why) => return Ok(State::Fails(why)),
        };
        let (failed, all) = (outcome.failed.len(), outcome.failed.len() + outcome.returned);
        if let Some(how) = outcome.failure.as_ref().filter(|_| failed > outcome.returned) {
            return Ok(State::Fails(format!("{failed} of {all} seeds do not return: {how}")));
        }
        for path in &outcome.failed {
            let _ = fs::remove_file(path);
            seeds.files.retain(|seed| seed != path);
        }
        Ok(if outcome.reach.is_alike { State::Ignores(outcome, with) } else { State::Works(outcome, with) })
    }

    /// Whether the build system has not built with the wrapper yet.
    fn is_unbuilt(&self) -> bool {
        self.project.system().is_some() && !self.is_built()
    }

    fn is_built(&self) -> bool {
        self.project.system().is_some_and(|system| self.project.is_counted(system.folder()))
    }

    /// Lines about a harness.
    fn lines(&self, tried: &Tried) -> Vec<String> {
        let Tried { what, source, folder, seeds, state, allowed, .. } = tried;
        let mut lines = vec![format!("# {} gives its input to {what}", source.display())];
        if source.starts_with(folder) {
            lines.push("# (quagmire init wrote it: look at what it passes, it is yours now)".into());
        } else {
            lines[0] = format!("# {what}");
        }
        let in_sources = match state {
            State::Works(_, With::Sources { flags, .. }) | State::Ignores(_, With::Sources { flags, .. }) => {
                flags.allowed.as_slice()
            }
            _ => &[],
        };
        let mut options: Vec<String> = allowed.iter().chain(in_sources).map(|name| format!("-Wno-{name}")).collect();
        options.dedup();
        if !options.is_empty() || !self.options.is_empty() {
            let all = [options.join(" "), self.options.clone()].join(" ");
            lines.push(format!("# old C that this clang refuses needs {}", all.trim()));
        }
        let (script, folder) = (shown(&folder.join("build")), shown(folder));
        if !matches!(state, State::Unread(_)) {
            lines.push(format!("# seeds: {} {}", counted(seeds.files.len() as u64, "file"), seeds.from));
        }
        match state {
            State::Works(outcome, with) | State::Ignores(outcome, with) => {
                let (least, most) = outcome.instructions;
                lines.push(format!(
                    "# built and run: {} of {} seeds return, with {least} to {most} instructions; a moment of fuzzing reaches {}",
                    outcome.returned,
                    outcome.returned + outcome.failed.len(),
                    counted(outcome.reach.edges, "edge")
                ));
                if outcome.reach.edges < FEW_EDGES {
                    lines.push(Self::few(&folder));
                }
                if let (With::Sources { files, .. }, true) = (with, self.project.system().is_some()) {
                    lines.push(format!(
                        "# linked with {} compiled here; the project's own build was not needed",
                        counted(files.len() as u64, "source")
                    ));
                }
                lines.push(format!("# to build it again: sh {script}"));
            }
            State::Compiles(why) => {
                lines.push(format!(
                    "# it compiles; it was not linked, since the project is not built with the wrapper yet ({why})"
                ));
                lines.push("# 1. build the project (quagmire init --build does it), 2. the harness, 3. fuzz".into());
                lines.extend(self.build_commands(&options.join(" ")));
                lines.push(format!("sh {script}"));
            }
            State::Unread(why) => {
                lines.extend(self.after_the_build(&format!("clang cannot read {why}"), "quagmire init"));
                return lines;
            }
            State::Fails(why) => {
                lines.push(format!("# it does not work: {why}"));
                return lines;
            }
        }
        lines.push(format!("quagmire fuzz -i {folder}/seeds -o {folder}/out -- {folder}/harness"));
        lines
    }

    fn few(folder: &str) -> String {
        format!("# few: it may refuse the seeds at once, or do little: put ordinary inputs into {folder}/seeds")
    }

    fn build_commands(&self, options: &str) -> Vec<String> {
        let Some(system) = self.project.system() else { return Vec::new() };
        let mut lines = vec![format!("# build with the wrapper ({})", system.name())];
        lines.extend(system.advice().map(|advice| format!("# {advice}")));
        lines.extend(system.commands(self.project.is_built, options));
        lines
    }

    /// A program that reads a file or its standard input, or the commands that build it; among tests and examples too if
    /// `are_examples_wanted`. Leaves no seeds for a program that is not taken.
    ///
    /// # Errors
    /// If there is none, or none that reads the seeds and reaches so many edges.
    fn program(&self, are_examples_wanted: bool, least: u64) -> Result<Vec<String>> {
        let folder = Path::new(super::OWN).join("seeds");
        let were_there = self.project.root.join(&folder).exists();
        let lines = self.program_with(&folder, are_examples_wanted, least);
        if lines.is_err() && !were_there {
            let _ = fs::remove_dir_all(self.project.root.join(&folder));
        }
        lines
    }

    fn program_with(&self, folder: &Path, are_examples_wanted: bool, least: u64) -> Result<Vec<String>> {
        let name = self.project.root.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let hints = words::of(&name);
        let (mut lines, mut programs) = (Vec::new(), Vec::new());
        if self.project.system().is_some() {
            programs = built_programs(self.project, &hints);
            programs.retain(|path| are_examples_wanted || !is_aside(path));
            if programs.is_empty() && self.is_unbuilt() {
                return Ok(self.after_the_build("the build tells which programs there are", "quagmire init"));
            }
        } else if let Some(main) = self.project.programs.first() {
            let (name, commands) = self.compilation(main);
            tell(&format!("compiling {name}"));
            let mut command = self.compiler.command("sh");
            let output = run_command(command.args(["-euc", &commands.join("\n")]), super::PATIENCE)?;
            if !output.is_ok {
                let why = first_error(&output.stderr);
                return Err(Error::target(format!(
                    "{} does not compile with all sources beside it: {why}",
                    main.display()
                )));
            }
            lines = commands;
            programs.push(PathBuf::from(name));
        }
        if programs.is_empty() {
            return Err(Error::target("no program was built by quagmire-cc"));
        }
        let found = seeds::write(&self.project.root.join(folder), self.project, &hints)?;
        let files: Vec<&PathBuf> = found.files.iter().collect();
        let mut best: Option<(u64, String)> = None;
        for program in programs.iter().take(MOST_PROGRAMS) {
            let program = Path::new(".").join(program);
            tell(&format!("trying {}", program.display()));
            for arguments in ["@@", ""] {
                let words = std::iter::once(program.clone().into_os_string());
                let words: Vec<_> = words.chain((!arguments.is_empty()).then(|| arguments.into())).collect();
                let Ok(reach) = reach(self.compiler, &files, &words)? else { continue };
                if !reach.is_alike && best.as_ref().is_none_or(|(edges, _)| reach.edges > *edges) {
                    best = Some((reach.edges, format!("{} {arguments}", shown(&program)).trim().to_owned()));
                }
            }
        }
        let Some((edges, words)) = best.filter(|(edges, _)| *edges >= least) else {
            return Err(Error::target(format!(
                "what {} executes does not depend on the {} {}, as a file or as standard input",
                programs[0].display(),
                counted(files.len() as u64, "seed"),
                found.from
            )));
        };
        lines.push(format!("# seeds: {} {}", counted(files.len() as u64, "file"), found.from));
        let how = if words.ends_with("@@") { "a file" } else { "its standard input" };
        lines.push(format!("# a program that reads {how}; a moment of fuzzing reaches {}", counted(edges, "edge")));
        if edges < FEW_EDGES {
            lines.push(Self::few(&shown(Path::new(super::OWN))));
        }
        lines.push(format!("quagmire fuzz -i {} -o {}/out -- {words}", shown(folder), super::OWN));
        lines.push("# or a function of a library: quagmire init --function NAME writes a harness".into());
        Ok(lines)
    }

    /// Name of the program of a source, and the commands that compile it with all sources it may need.
    fn compilation(&self, main: &Path) -> (String, Vec<String>) {
        let name = plain_name(&main.file_stem().unwrap_or_default().to_string_lossy());
        let sources: Vec<String> =
            std::iter::once(main.to_owned()).chain(self.project.sources_of(main)).map(|path| shown(&path)).collect();
        let (c, cxx): (Vec<&String>, Vec<&String>) = sources.iter().partition(|path| is_c(Path::new(path)));
        let words = |all: &[&String]| all.iter().map(|one| one.as_str()).collect::<Vec<_>>().join(" ");
        if cxx.is_empty() {
            let command = format!("quagmire-cc -O2 -g -I. {} -lm -o {name}", words(&c));
            return (name, vec![command]);
        }
        let objects: Vec<String> = c
            .iter()
            .filter_map(|path| Some(Path::new(path).with_extension("o").file_name()?.to_string_lossy().into_owned()))
            .collect();
        let mut commands = Vec::new();
        commands.extend((!c.is_empty()).then(|| format!("quagmire-cc -O2 -g -I. -c {}", words(&c))));
        commands.push(format!("quagmire-c++ -O2 -g -I. {} {} -o {name}", words(&cxx), objects.join(" ")));
        (name, commands)
    }
}
