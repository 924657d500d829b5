//! One look at a project: functions and harnesses that are tried, and what is printed of those that work.

use std::{
    fs,
    path::{Path, PathBuf},
};

use quagmire_base::{
    error::{Error, Result},
    format::counted,
    shell,
};

use super::{
    call::{self, Variant},
    compiler::{Compiler, Flags, IS_GENERATED, Language},
    declarations::Function,
    harness,
    interfaces::{self, Interface},
    own_folder, plain_name,
    project::Project,
    seeds::{self, Seeds},
    shown, tell,
    trial::{Compilable, Outcome, Trial, With, built_programs, is_counted, language_of},
    words,
};

/// Functions that are tried, if none is named.
const MOST_FUNCTIONS: usize = 8;

/// Time after which no more functions are tried, if one works.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(90);

/// Promise of a name from which a function is believed to read its input, although the seeds do not show it.
const SURE: i32 = 9;

/// Time after which no more headers are read, if one has been.
const READING: std::time::Duration = std::time::Duration::from_secs(20);

/// Work for each byte of the input, in instructions, above which a function reads all of it.
const READS_ALL: f64 = 0.2;
/// The same, below which it does not read it.
const READS_NOTHING: f64 = 0.05;

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

enum State {
    Works(Outcome, With),
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
        if let State::Fails(why) = &tried.state {
            return Err(Error::target(format!(
                "{what}: the harness {} does not work: {why}: change it, and type the same command again",
                tried.source.display()
            )));
        }
        Ok(self.lines(&tried))
    }

    /// The harnesses of the project itself.
    ///
    /// # Errors
    /// If one cannot be tried.
    pub(super) fn harnesses(&self) -> Result<Vec<String>> {
        let mut lines = Vec::new();
        for source in &self.project.harnesses {
            let stem = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let is_taken =
                self.project.harnesses.iter().filter(|other| other.file_stem() == source.file_stem()).count() > 1;
            let name = if is_taken { source.with_extension("").display().to_string() } else { stem };
            let mut trial = self.trial(own_folder(&name), source.clone(), language_of(source), Flags::default());
            fs::create_dir_all(self.project.root.join(&trial.folder))
                .map_err(|error| Self::unwritten(&trial.folder, &error))?;
            let (state, seeds) = self.state_of(&mut trial, source, &name)?;
            let allowed = trial.flags.allowed.clone();
            let what = format!("the project's harness {}", source.display());
            let is_unread = matches!(state, State::Unread(_));
            lines.extend(self.lines(&Tried {
                name,
                what,
                source: source.clone(),
                folder: trial.folder,
                seeds,
                state,
                allowed,
            }));
            if is_unread {
                return Ok(lines);
            }
        }
        lines.push("# or a function of your choice: quagmire init --function NAME".into());
        Ok(lines)
    }

    /// A harness for the function that promises most, of the project or of one file.
    ///
    /// # Errors
    /// If nothing can be called and there is no program either.
    pub(super) fn best(&self, file: Option<&Path>) -> Result<Vec<String>> {
        let files = file.map_or_else(|| interfaces::public(self.project), |file| vec![(file.to_owned(), 0)]);
        let (mut found, mut unread, mut refused) = (Vec::new(), Vec::new(), Vec::new());
        let mut less = Vec::new();
        let start = std::time::Instant::now();
        for (file, unlikely) in &files {
            if !found.is_empty() && start.elapsed() > READING {
                break;
            }
            tell(&format!("reading {}", file.display()));
            match interfaces::read(self.compiler, self.project, file)? {
                Ok(interface) => {
                    found.push(interface);
                    less.push(*unlikely);
                }
                Err(why) => unread.push(format!("{}: {why}", file.display())),
            }
        }
        let mut candidates: Vec<(i32, usize, Function)> = Vec::new();
        for (at, interface) in found.iter().enumerate() {
            for (worth, function) in interface.candidates() {
                let is_cxx = interface.language == Language::Cxx;
                if let Err(why) = call::plan(&function, &interface.known, is_cxx, Variant::ALL[0]) {
                    refused.push(format!("{} {why}", function.declaration()));
                    continue;
                }
                let rank = worth - less[at];
                if candidates.iter().all(|(_, _, known)| known.declaration() != function.declaration()) {
                    candidates.push((rank, at, function));
                }
            }
        }
        candidates.sort_by_key(|(rank, _, _)| -rank);
        // methods that classes have in common do much the same
        let mut names = std::collections::BTreeMap::<String, usize>::new();
        candidates.retain(|(_, _, one)| {
            let seen = names.entry(one.name.clone()).or_default();
            *seen += 1;
            *seen <= 2
        });
        if let Some(why) =
            unread.iter().find(|why| self.is_unbuilt() && why.contains(IS_GENERATED)).filter(|_| candidates.is_empty())
        {
            return Ok(self.after_the_build(&format!("clang cannot read {why}"), "quagmire init"));
        }
        let (best, others) = self.best_of(&found, &candidates, &mut refused)?;
        refused.extend(unread.iter().map(|why| format!("clang cannot read {why}")));
        let mut lines = Vec::new();
        if let Some(tried) = best {
            lines.extend(self.lines(&tried));
            lines.extend(
                (!others.is_empty()).then(|| format!("# other functions, for --function: {}", others.join(", "))),
            );
            return Ok(lines);
        }
        if refused.is_empty() {
            refused.push(
                "no function that the headers declare takes a text, bytes with their number, or a file to parse".into(),
            );
        }
        if self.project.programs.is_empty() || file.is_some() {
            let unread = unread.first().map(|why| format!("(and clang cannot read {why})"));
            let unread = unread.as_deref().filter(|_| !refused[0].starts_with("clang")).unwrap_or_default();
            return Err(Error::target(format!(
                "{}: name a function with --function, or write a harness (chapter \"Harnesses\")",
                [refused[0].as_str(), unread].map(str::trim).join(" ").trim()
            )));
        }
        lines.extend(refused.iter().take(3).map(|why| format!("# {why}")));
        lines.extend(self.program()?);
        Ok(lines)
    }

    /// Tries functions until one reads all of its input. Returns the best, and the names of others that may work.
    fn best_of(
        &self,
        interfaces: &[Interface],
        candidates: &[(i32, usize, Function)],
        refused: &mut Vec<String>,
    ) -> Result<(Option<Tried>, Vec<String>)> {
        let (mut best, mut tries): (Option<(f64, Tried)>, usize) = (None, 0);
        let start = std::time::Instant::now();
        let mut names: Vec<String> =
            candidates.iter().take(MOST_FUNCTIONS + 4).map(|(_, _, one)| one.full_name()).collect();
        for (_, at, function) in candidates {
            if tries >= MOST_FUNCTIONS || best.is_some() && start.elapsed() > PATIENCE {
                break;
            }
            let interface = &interfaces[*at];
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
            let mut tried = tried;
            if let State::Works(outcome, _) = &tried.state
                && outcome.for_each_byte < READS_NOTHING
                && words::promise(&function.name) < SURE
                && !tried.seeds.from.starts_with(seeds::MADE_UP_HERE)
            {
                tried.state = State::Fails("it hardly reads its input".into());
            }
            // whether it reads its input is not known yet, and a program surely does
            if matches!(tried.state, State::Compiles(_))
                && words::promise(&function.name) == 0
                && !self.project.programs.is_empty()
            {
                tried.state = State::Fails("whether it reads its input shows after the build".into());
            }
            let worth = match &tried.state {
                State::Works(outcome, _) => outcome.for_each_byte,
                State::Compiles(_) | State::Unread(_) => -1.0,
                State::Fails(why) => {
                    refused.push(format!("{}: {why}", function.declaration()));
                    names.retain(|name| *name != function.full_name());
                    if !was_there {
                        let _ = fs::remove_dir_all(self.project.root.join(&folder));
                    }
                    continue;
                }
            };
            let loser = match &best {
                Some((least, _)) if worth <= *least => Some((tried, was_there)),
                _ => best.replace((worth, tried)).map(|(_, before)| (before, false)),
            };
            if let Some((loser, false)) = loser {
                let _ = fs::remove_dir_all(self.project.root.join(&loser.folder));
            }
            if best
                .as_ref()
                .is_some_and(|(worth, tried)| *worth > READS_ALL || matches!(tried.state, State::Compiles(_)))
            {
                break;
            }
        }
        let best = best.map(|(_, tried)| tried);
        names.retain(|name| best.as_ref().is_none_or(|best| best.name != *name));
        names.dedup();
        Ok((best, names))
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
        let mut first: Option<(State, Seeds, String, Vec<String>)> = None;
        for text in texts {
            let mut trial = self.trial(folder.clone(), source.clone(), interface.language, interface.flags.clone());
            self.write(&folder, &source, &text)?;
            let (state, seeds) = self.state_of(&mut trial, &interface.file, &name)?;
            let is_over = is_theirs || !matches!(state, State::Fails(_));
            let allowed = trial.flags.allowed.clone();
            if is_over {
                return Ok(Ok(Tried { name, what: function.declaration(), source, folder, seeds, state, allowed }));
            }
            first.get_or_insert((state, seeds, text, allowed));
        }
        let (state, seeds, text, allowed) = first.ok_or_else(|| Error::other("no way to call a function was tried"))?;
        fs::write(self.project.root.join(&source), text).map_err(|error| Self::unwritten(&folder, &error))?;
        Ok(Ok(Tried { name, what: function.declaration(), source, folder, seeds, state, allowed }))
    }

    /// Compiles, links and runs a harness.
    fn state_of(&self, trial: &mut Trial, header: &Path, name: &str) -> Result<(State, Seeds)> {
        let hints: Vec<String> =
            [name, &header.display().to_string(), &self.project.root.file_name().unwrap_or_default().to_string_lossy()]
                .iter()
                .flat_map(|text| words::of(text))
                .collect();
        let mut seeds = seeds::write(&self.project.root.join(&trial.folder).join("seeds"), self.project, &hints)?;
        if let Err(why) = trial.compile()? {
            if self.is_unbuilt() && why.contains(IS_GENERATED) {
                return Ok((State::Unread(why), seeds));
            }
            return Ok((State::Fails(format!("it does not compile: {why}")), seeds));
        }
        let with = match trial.link_with_any(header)? {
            Ok(with) => with,
            Err(why) if self.is_unbuilt() => {
                trial.write_script(&With::Libraries { more: Vec::new() })?;
                return Ok((State::Compiles(why), seeds));
            }
            Err(why) => return Ok((State::Fails(format!("it cannot be linked: {why}")), seeds)),
        };
        let outcome = match trial.run(&seeds.files)? {
            Ok(outcome) => outcome,
            Err(why) => return Ok((State::Fails(why), seeds)),
        };
        let state = match &outcome.failure {
            Some(how) if outcome.failed.len() > outcome.returned => State::Fails(format!(
                "{} of {} seeds do not return: {how}",
                outcome.failed.len(),
                outcome.failed.len() + outcome.returned
            )),
            // seeds that were made up may all be rejected by their first byte
            _ if !outcome.reads && !seeds.from.starts_with(seeds::MADE_UP_HERE) => State::Fails(format!(
                "all runs are alike: it ignores its input, or rejects the seeds at once (if so, put ordinary ones into {})",
                trial.folder.join("seeds").display()
            )),
            _ => {
                for path in &outcome.failed {
                    let _ = fs::remove_file(path);
                    seeds.files.retain(|seed| seed != path);
                }
                State::Works(outcome, with)
            }
        };
        Ok((state, seeds))
    }

    /// Whether the build system has not built with the wrapper yet.
    fn is_unbuilt(&self) -> bool {
        self.project.system.as_ref().is_some_and(|system| !is_counted(self.project, system.folder()))
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
            State::Works(_, With::Sources { flags, .. }) => flags.allowed.as_slice(),
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
            State::Works(outcome, with) => {
                let (least, most) = outcome.instructions;
                lines.push(format!(
                    "# built and run: {} of {} seeds return, with {least} to {most} instructions",
                    outcome.returned,
                    outcome.returned + outcome.failed.len()
                ));
                if let (With::Sources { files, .. }, true) = (with, self.project.system.is_some()) {
                    lines.push(format!(
                        "# linked with {} compiled here; the project's own build was not needed",
                        counted(files.len() as u64, "source")
                    ));
                }
                if outcome.for_each_byte < READS_NOTHING {
                    lines.push(format!(
                        "# parts of the seeds cost as much as the seeds: they may be rejected at once, so put better ones into {folder}/seeds"
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

    fn build_commands(&self, options: &str) -> Vec<String> {
        let Some(system) = &self.project.system else { return Vec::new() };
        let mut lines = vec![format!("# build with the wrapper ({})", system.name())];
        lines.extend(system.advice().map(|advice| format!("# {advice}")));
        lines.extend(system.commands(self.project.is_built, options));
        lines
    }

    /// Commands for a program that reads a file.
    fn program(&self) -> Result<Vec<String>> {
        let seeds = Path::new(super::OWN).join("seeds");
        let name = self.project.root.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let hints = words::of(&name);
        let found = seeds::write(&self.project.root.join(&seeds), self.project, &hints)?;
        let (mut lines, mut program) = (Vec::new(), None);
        if self.project.system.is_some() {
            program = built_programs(self.project, &hints).first().map(|built| built.display().to_string());
            if program.is_none() && self.is_unbuilt() {
                return Ok(self.after_the_build("the build tells which programs there are", "quagmire init"));
            }
        } else if let Some(main) = self.project.programs.first() {
            let name = plain_name(&main.file_stem().unwrap_or_default().to_string_lossy());
            let sources: Vec<String> =
                std::iter::once(main).chain(&self.project.sources_of(main)).map(|path| shown(path)).collect();
            let (c, cxx): (Vec<&String>, Vec<&String>) =
                sources.iter().partition(|path| super::project::is_c(Path::new(path)));
            let words = |all: &[&String]| all.iter().map(|one| one.as_str()).collect::<Vec<_>>().join(" ");
            if cxx.is_empty() {
                lines.push(format!("quagmire-cc -O2 -g -I. {} -lm -o {name}", words(&c)));
            } else {
                let objects: Vec<String> = c
                    .iter()
                    .filter_map(|path| {
                        Some(Path::new(path).with_extension("o").file_name()?.to_string_lossy().into_owned())
                    })
                    .collect();
                lines.extend((!c.is_empty()).then(|| format!("quagmire-cc -O2 -g -I. -c {}", words(&c))));
                lines.push(format!("quagmire-c++ -O2 -g -I. {} {} -o {name}", words(&cxx), objects.join(" ")));
            }
            program = Some(name);
        }
        let program = program.ok_or_else(|| {
            Error::target(
                "no function was found that can be called, and the build makes no program that quagmire-cc has built: name a \
                 function with --function, or write a harness (chapter \"Harnesses\")",
            )
        })?;
        lines.push(format!("# seeds: {} {}", counted(found.files.len() as u64, "file"), found.from));
        lines.push("# a program that reads a file; without @@, standard input".into());
        lines.push(format!(
            "quagmire fuzz -i {} -o {}/out -- {} @@",
            shown(&seeds),
            super::OWN,
            shell::word(Path::new(".").join(program).as_os_str())
        ));
        lines.push("# or a function of a library: quagmire init --function NAME writes a harness".into());
        Ok(lines)
    }
}
