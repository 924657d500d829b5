//! The wrapper by the traits of libafl_cc, for fuzzers built on LibAFL that bring a compiler of their own (feature
//! `libafl_cc`; `examples/libafl` is a complete one).

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use libafl_cc::{CompilerWrapper, Configuration, Error, ToolWrapper};

use crate::inputs::InputKind;
use crate::scan::Scan;
use crate::settings::Settings;
use crate::{Language, options, parse, response, run};

/// Compiler wrapper with the interface of libafl_cc's `ClangWrapper`: what it compiles counts every edge, and what it
/// links with `-fsanitize=fuzzer` gets quagmire's runtime and an engine.
///
/// It changes no more of a command than `quagmire-cc` does: what is added comes after the user's options and before
/// `--`. It is silent unless told otherwise. [`ToolWrapper::run`] stops at the first configuration that fails.
///
/// `Configuration`s: sanitizers and coverage profiles add clang's options. A coverage map adds nothing, since the
/// counts are one. `CmpLog` is an error: operands of comparisons are not logged. For every configuration but
/// `Default`, outputs get its tag (`a.asan.o`), and objects and libraries are taken by their name with the tag if they exist.
#[derive(Debug)]
pub struct QuagmireWrapper {
    language: Language,
    typed: Option<Vec<OsString>>,
    added: Vec<OsString>,
    added_to_compile: Vec<OsString>,
    added_to_link: Vec<OsString>,
    configurations: Vec<Configuration>,
    ignores_configurations: bool,
    engine: Option<PathBuf>,
    is_silent: bool,
}

impl QuagmireWrapper {
    /// Creates a wrapper of clang for this language. Under a name that ends in `++` it is one for C++.
    #[must_use]
    pub fn new(language: Language) -> Self {
        Self {
            language,
            typed: None,
            added: Vec::new(),
            added_to_compile: Vec::new(),
            added_to_link: Vec::new(),
            configurations: vec![Configuration::Default],
            ignores_configurations: false,
            engine: None,
            is_silent: true,
        }
    }

    /// Links this static library into harnesses instead of quagmire's engine. It defines `quagmire_engine_main`, which
    /// the runtime's `main` calls, and `quagmire_engine_mutate`, which `LLVMFuzzerMutate` calls.
    pub fn engine(&mut self, library: PathBuf) -> &'_ mut Self {
        self.engine = Some(library);
        self
    }

    fn typed(&self) -> Result<&[OsString], Error> {
        self.typed.as_deref().ok_or_else(|| invalid("parse_args comes first".into()))
    }

    /// The whole command line for a configuration. `exists` looks for the files that it has made before.
    fn arguments(&self, configuration: &Configuration, exists: impl Fn(&Path) -> bool) -> Result<Vec<OsString>, Error> {
        let flags = flags(configuration)?;
        let typed = self.typed()?;
        let expanded = response::expand(typed, &read);
        let scan = Scan::of(&expanded);
        let separator = scan.separator.map(|index| (index, expanded[index].origin));
        let (mut arguments, end) = if configuration.to_string().is_empty() {
            (typed.to_vec(), separator.map(|(_, in_typed)| in_typed))
        } else {
            // names in response files change too
            let mut expanded: Vec<_> = expanded.into_iter().map(|one| one.argument).collect();
            let count = expanded.len();
            rename(&mut expanded, &scan, configuration, exists)?;
            let added = expanded.len() - count;
            (expanded, separator.map(|(in_expanded, _)| in_expanded + added))
        };
        let after = arguments.split_off(end.unwrap_or(arguments.len()));
        arguments.extend_from_slice(&self.added);
        if scan.compiles() {
            arguments.extend_from_slice(&self.added_to_compile);
        }
        arguments.extend(flags.into_iter().map(OsString::from));
        if scan.links_executable() {
            arguments.extend_from_slice(&self.added_to_link);
        }
        arguments.extend(after);
        Ok(arguments)
    }
}

impl ToolWrapper for QuagmireWrapper {
    /// Takes the command line, of which the first argument is the wrapper's own name.
    fn parse_args<S: AsRef<str>>(&mut self, args: &[S]) -> Result<&'_ mut Self, Error> {
        let (name, args) = args.split_first().ok_or_else(|| invalid("not even a name of the compiler".into()))?;
        if self.typed.is_some() {
            return Err(invalid("parse_args is called once".into()));
        }
        if name.as_ref().ends_with("++") {
            self.language = Language::Cxx;
        }
        let mut typed = Vec::with_capacity(args.len());
        let mut args = args.iter().map(AsRef::as_ref);
        while let Some(arg) = args.next() {
            match arg {
                "--libafl-ignore-configurations" => self.ignores_configurations = true,
                "--libafl-configurations" => {
                    let names = args.next().ok_or_else(|| invalid(format!("{arg} without a list of names")))?;
                    for name in names.split(',') {
                        self.configurations.push(named(name)?);
                    }
                }
                // libtool asks for its linker, once
                "-print-prog-name=ld" => {
                    self.ignores_configurations = true;
                    typed.push(arg.into());
                }
                _ => typed.push(arg.into()),
            }
        }
        self.typed = Some(typed);
        Ok(self)
    }

    fn add_arg<S: AsRef<str>>(&mut self, arg: S) -> &'_ mut Self {
        self.added.push(arg.as_ref().into());
        self
    }

    fn add_configuration(&mut self, configuration: Configuration) -> &'_ mut Self {
        self.configurations.push(configuration);
        self
    }

    fn command(&mut self) -> Result<Vec<String>, Error> {
        self.command_for_configuration(Configuration::Default)
    }

    /// Builds the pass and the runtime if they are needed and not there, and returns the command for clang.
    fn command_for_configuration(&mut self, configuration: Configuration) -> Result<Vec<String>, Error> {
        let arguments = self.arguments(&configuration, Path::exists)?;
        let settings = Settings::from_environment(|name| std::env::var_os(name)).map_err(unknown)?;
        let plan = parse(arguments, self.language, settings, &read);
        let (clang, arguments) = run::prepare(&plan, self.engine.as_deref()).map_err(unknown)?;
        let text = |word: OsString| word.into_string().map_err(|word| no_text(&word));
        [clang.into_os_string()].into_iter().chain(arguments).map(text).collect()
    }

    fn configurations(&self) -> Result<Vec<Configuration>, Error> {
        Ok(self.configurations.iter().rev().cloned().collect())
    }

    fn ignore_configurations(&self) -> Result<bool, Error> {
        Ok(self.ignores_configurations)
    }

    /// Whether the command links an executable.
    fn is_linking(&self) -> bool {
        self.typed().is_ok_and(|typed| Scan::of(&response::expand(typed, &read)).links_executable())
    }

    fn silence(&mut self, value: bool) -> &'_ mut Self {
        self.is_silent = value;
        self
    }

    fn is_silent(&self) -> bool {
        self.is_silent
    }

    /// Runs clang for each configuration, until it fails. Returns its exit code, or `None` if a signal ended it.
    fn run(&mut self) -> Result<Option<i32>, Error> {
        let configurations =
            if self.ignores_configurations { vec![Configuration::Default] } else { self.configurations()? };
        for configuration in configurations {
            let command = self.command_for_configuration(configuration)?;
            if !self.is_silent {
                eprintln!("{}", command.join(" "));
            }
            let status = Command::new(&command[0]).args(&command[1..]).status().map_err(Error::Io)?;
            if !status.success() {
                return Ok(status.code());
            }
        }
        Ok(Some(0))
    }
}

impl CompilerWrapper for QuagmireWrapper {
    fn add_cc_arg<S: AsRef<str>>(&mut self, arg: S) -> &'_ mut Self {
        self.added_to_compile.push(arg.as_ref().into());
        self
    }

    fn add_link_arg<S: AsRef<str>>(&mut self, arg: S) -> &'_ mut Self {
        self.added_to_link.push(arg.as_ref().into());
        self
    }

    /// Links all of `libNAME.a` into executables, beside the engine. See [`QuagmireWrapper::engine`] for a library that
    /// takes the engine's place.
    fn link_staticlib<S: AsRef<str>>(&mut self, dir: &Path, name: S) -> &'_ mut Self {
        let library = dir.join(format!("lib{}.a", name.as_ref())).into_os_string();
        // not as an input, for which a -x would count
        let words = ["-Wl,--whole-archive".into(), "-Xlinker".into(), library, "-Wl,--no-whole-archive".into()];
        self.added_to_link.extend(words);
        self
    }
}

/// Options of clang for a configuration.
fn flags(configuration: &Configuration) -> Result<Vec<String>, Error> {
    match configuration {
        Configuration::GenerateCoverageMap => Ok(Vec::new()),
        Configuration::CmpLog => Err(invalid(
            "configuration cmplog: quagmire has no second build for operands of comparisons: leave it out, and set \
             QUAGMIRE_COMPARES=1, which records them and shows how far comparisons got"
                .into(),
        )),
        Configuration::Compound(parts) => {
            parts.iter().map(flags).collect::<Result<Vec<_>, _>>().map(|all| all.concat())
        }
        Configuration::Default
        | Configuration::AddressSanitizer
        | Configuration::UndefinedBehaviorSanitizer
        | Configuration::GenerateCoverageProfile => configuration.to_flags(),
    }
}

/// The configuration of a name, for which libafl_cc takes an unknown one for `Default`.
fn named(name: &str) -> Result<Configuration, Error> {
    let configuration = name.parse().unwrap_or(Configuration::Default);
    if matches!(configuration, Configuration::Default) && !name.is_empty() {
        return Err(invalid(format!("no configuration {name}: there are asan, ubsan, coverage and llvm-cov")));
    }
    Ok(configuration)
}

/// Gives the files of a command their names in a configuration with a tag: its output, and the objects and libraries that
/// `exists` finds.
fn rename(
    arguments: &mut Vec<OsString>,
    scan: &Scan,
    configuration: &Configuration,
    exists: impl Fn(&Path) -> bool,
) -> Result<(), Error> {
    let tagged = |name: &str| {
        let path = Path::new(name);
        path.file_name().map(|_| configuration.replace_extension(path).into_os_string())
    };
    let mut output = None;
    let mut sources = Vec::new();
    let separator = scan.separator.unwrap_or(arguments.len());
    let mut index = 0;
    while index < arguments.len() {
        let text = arguments[index].to_str().map(str::to_owned);
        let text = text.ok_or_else(|| no_text(&arguments[index]))?;
        if index < separator && text.len() > 1 && text.starts_with('-') {
            let value = options::takes_value(&text).then_some(index + 1).filter(|value| *value < arguments.len());
            if let ("-o", Some(value)) = (text.as_str(), value) {
                output = Some((value, arguments[value].to_str().and_then(tagged)));
            } else if let (Some(name), None) = (text.strip_prefix("-o"), value) {
                output = Some((index, tagged(name).map(|name| OsString::from_iter([OsStr::new("-o"), &name]))));
            }
            index += usize::from(value.is_some());
        } else if InputKind::of_path(&text) != InputKind::Object {
            sources.push(PathBuf::from(text));
        } else if let Some(name) = tagged(&text).filter(|name| exists(Path::new(name))) {
            arguments[index] = name;
        }
        index += 1;
    }
    let default = match (output, sources.as_slice()) {
        (Some((index, name)), _) => {
            arguments[index] = name.unwrap_or_else(|| arguments[index].clone());
            return Ok(());
        }
        _ if scan.links() => PathBuf::from("a.out"),
        (None, [source]) if scan.compiles() => PathBuf::from(source.with_extension("o").file_name().expect("a name")),
        _ if scan.compiles() => {
            return Err(invalid(format!(
                "configuration {configuration}: several outputs: compile one source at a time"
            )));
        }
        _ => return Ok(()),
    };
    // before `--`
    arguments.splice(0..0, ["-o".into(), configuration.replace_extension(&default).into_os_string()]);
    Ok(())
}

fn read(path: &Path) -> Option<Vec<u8>> {
    std::fs::read(path).ok()
}

fn invalid(problem: String) -> Error {
    Error::InvalidArguments(problem)
}

fn no_text(word: &OsStr) -> Error {
    invalid(format!("{} is no UTF-8: rename it", word.display()))
}

fn unknown(error: crate::Error) -> Error {
    Error::Unknown(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapper(line: &str) -> QuagmireWrapper {
        let mut wrapper = QuagmireWrapper::new(Language::C);
        let words: Vec<&str> = ["cc"].into_iter().chain(line.split(' ')).collect();
        wrapper.parse_args(&words).expect("arguments");
        wrapper
    }

    /// The command line for a configuration, after commands that have made `objects`.
    fn arguments(wrapper: &QuagmireWrapper, configuration: &Configuration, objects: &[&str]) -> Result<String, String> {
        let exists = |path: &Path| objects.iter().any(|object| Path::new(object) == path);
        let words = wrapper.arguments(configuration, exists).map_err(|error| format!("{error:?}"))?;
        Ok(words.iter().map(|word| word.to_str().expect("text")).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn what_is_added_comes_before_two_dashes_and_where_it_is_meant_for() {
        for (line, expected) in [
            ("-c -- a.c", "-c -O2 -DCC -- a.c"),
            ("a.o -o p", "a.o -o p -O2 -LINK"),
            ("a.c -o p", "a.c -o p -O2 -DCC -LINK"),
            ("-shared a.c", "-shared a.c -O2 -DCC"),
            ("--version", "--version -O2"),
        ] {
            let mut wrapper = wrapper(line);
            wrapper.add_arg("-O2").add_cc_arg("-DCC").add_link_arg("-LINK");
            assert_eq!(arguments(&wrapper, &Configuration::Default, &[]).as_deref(), Ok(expected));
            assert_eq!(wrapper.is_linking(), expected.ends_with("-LINK"), "{line}");
        }
    }

    #[test]
    fn sanitizers_and_profiles_add_options_and_the_counts_are_a_coverage_map_already() {
        use Configuration::{
            AddressSanitizer, GenerateCoverageMap, GenerateCoverageProfile, UndefinedBehaviorSanitizer,
        };
        let both = Configuration::Compound(vec![AddressSanitizer, UndefinedBehaviorSanitizer]);
        for (configuration, expected) in [
            (GenerateCoverageMap, "-c a.c -o a.coverage.o"),
            (UndefinedBehaviorSanitizer, "-c a.c -o a.ubsan.o -fsanitize=undefined"),
            (GenerateCoverageProfile, "-c a.c -o a.llvm-cov.o -fprofile-instr-generate -fcoverage-mapping"),
            (both, "-c a.c -o a.asan_ubsan.o -fsanitize=address -fsanitize=undefined"),
            (Configuration::Compound(vec![]), "-c a.c -o a.o"),
        ] {
            assert_eq!(arguments(&wrapper("-c a.c -o a.o"), &configuration, &[]).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn files_of_a_configuration_have_its_tag() {
        let map = Configuration::GenerateCoverageMap;
        for (line, expected) in [
            ("-c dir/a.c", "-o a.coverage.o -c dir/a.c"),
            ("-c -- a.c", "-o a.coverage.o -c -- a.c"),
            ("-oout/p a.o /usr/lib/b.a -lz", "-oout/p.coverage a.coverage.o /usr/lib/b.a -lz"),
            ("a.c", "-o a.coverage.out a.c"),
            ("-E a.c", "-E a.c"),
        ] {
            assert_eq!(arguments(&wrapper(line), &map, &["a.coverage.o"]).as_deref(), Ok(expected));
        }
        let several = arguments(&wrapper("-c a.c b.c"), &map, &[]).unwrap_err();
        assert!(several.contains("one source at a time"), "{several}");
    }

    #[test]
    fn a_configuration_without_meaning_is_refused_with_the_reason() {
        for configuration in [Configuration::CmpLog, Configuration::Compound(vec![Configuration::CmpLog])] {
            let refused = arguments(&wrapper("-c a.c"), &configuration, &[]).unwrap_err();
            assert!(refused.contains("no second build") && refused.contains("QUAGMIRE_COMPARES"), "{refused}");
        }
        let mut wrapper = QuagmireWrapper::new(Language::C);
        let unknown = wrapper.parse_args(&["cc", "--libafl-configurations", "asan,masan"]).unwrap_err();
        assert!(format!("{unknown:?}").contains("masan"), "{unknown:?}");
    }

    #[test]
    fn configurations_come_from_the_caller_and_from_the_command_line() {
        let mut wrapper = wrapper("--libafl-configurations asan,coverage -c a.c");
        wrapper.add_configuration(Configuration::UndefinedBehaviorSanitizer);
        let names: Vec<_> = wrapper.configurations().unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(names, ["ubsan", "coverage", "asan", ""]);
        assert_eq!(arguments(&wrapper, &Configuration::Default, &[]).as_deref(), Ok("-c a.c"));
    }
}
