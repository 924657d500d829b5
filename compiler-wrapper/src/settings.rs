//! Settings by environment variables that change what is compiled.

use std::ffi::OsString;

use crate::Error;

/// Variants of the pass plugin: what it adds to the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PassVariant {
    /// `QUAGMIRE_COMPARES=1`: instrument comparisons with progress slots.
    pub compares: bool,
    /// `QUAGMIRE_COUNTING=every-block`: give every block a counter, instead of as few as possible.
    pub every_block: bool,
    /// Charge calls of the C library by what they do. Off with `QUAGMIRE_LIBRARY_COSTS=0`.
    pub library_costs: bool,
}

impl Default for PassVariant {
    fn default() -> Self {
        Self { compares: false, every_block: false, library_costs: true }
    }
}

/// Kinds of mutants that a build can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MutantsKind {
    /// Small faults.
    Faults,
    /// Places that could be slower.
    Performance,
}

/// Settings of the wrapper.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Settings {
    /// `QUAGMIRE_NOOPT=1`: run plain clang with unchanged arguments.
    pub plain: bool,
    /// `QUAGMIRE_FUZZING_MODE=1`: define `FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION`.
    pub fuzzing_mode: bool,
    /// Variant of the pass plugin.
    pub pass: PassVariant,
    /// `QUAGMIRE_DRIVER=1`: link harnesses with a `main` for the fork server instead of the engine.
    pub driver: bool,
    /// `QUAGMIRE_DRIVER=foreign`: leave `-fsanitize=fuzzer`, coverage and AFL++'s macros to the compiler of another fuzzer. Of
    /// programs with mutants only.
    pub foreign_driver: bool,
    /// `QUAGMIRE_MUTANTS=1` and `=performance`: put all mutants of a kind into the program, for `quagmire mutants`, instead
    /// of counting.
    pub mutants: Option<MutantsKind>,
    /// `QUAGMIRE_WARN_UNCOUNTED=0`: link objects without counts and say nothing.
    pub ignores_uncounted: bool,
    /// `QUAGMIRE_DRAWS=include`: include FuzzedDataProvider.h first, so that copies of LLVM's in the project have no effect.
    pub includes_provider: bool,
}

impl Settings {
    /// Reads the environment variables; switches are on if their value is `1`.
    ///
    /// # Errors
    /// If a variable has an unknown value, or `QUAGMIRE_DRIVER=foreign` is set without mutants.
    pub(crate) fn from_environment(variable: impl Fn(&str) -> Option<OsString>) -> Result<Settings, Error> {
        let one_of = |variable_name, values: &[&str], known| {
            let value = variable(variable_name).unwrap_or_default();
            let at = values.iter().position(|one| value == *one);
            let value = value.to_string_lossy().into_owned();
            at.ok_or(Error::UnknownValue { variable: variable_name, value, known })
        };
        let set = |name| Ok(one_of(name, &["1", "0", ""], "'1' or '0'")? == 0);
        let every_block =
            one_of("QUAGMIRE_COUNTING", &["every-block", "shared", ""], "'shared' or 'every-block'")? == 0;
        let includes_provider = one_of("QUAGMIRE_DRAWS", &["include", ""], "'include'")? == 0;
        let library_costs = one_of("QUAGMIRE_LIBRARY_COSTS", &["0", "1", ""], "'1' or '0'")? != 0;
        let mutants = match one_of("QUAGMIRE_MUTANTS", &["1", "performance", "0", ""], "'1', 'performance' or '0'")? {
            0 => Some(MutantsKind::Faults),
            1 => Some(MutantsKind::Performance),
            _ => None,
        };
        let driver = one_of("QUAGMIRE_DRIVER", &["1", "foreign", "0", ""], "'1', 'foreign' or '0'")?;
        let foreign_driver = driver == 1;
        if foreign_driver && mutants.is_none() {
            return Err(Error::ForeignDriver);
        }
        Ok(Settings {
            foreign_driver,
            pass: PassVariant { compares: set("QUAGMIRE_COMPARES")?, every_block, library_costs },
            includes_provider,
            ignores_uncounted: one_of("QUAGMIRE_WARN_UNCOUNTED", &["0", "1", ""], "'1' or '0'")? == 0,
            plain: set("QUAGMIRE_NOOPT")?,
            fuzzing_mode: set("QUAGMIRE_FUZZING_MODE")?,
            driver: driver == 0,
            mutants,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_of_counting_that_is_not_known_is_an_error_that_names_the_known_ones() {
        let read = |value: &'static str| {
            Settings::from_environment(move |name| (name == "QUAGMIRE_COUNTING").then(|| value.into()))
        };
        assert_eq!(read("every-block").map(|settings| settings.pass.every_block), Ok(true));
        assert_eq!(
            [read(""), read("shared")].map(|settings| settings.map(|s| s.pass.every_block)),
            [Ok(false), Ok(false)]
        );
        let error = read("every_block").unwrap_err().to_string();
        assert!(error.contains("every_block") && error.contains("'every-block'"), "{error}");
    }

    #[test]
    fn switches_are_on_or_off() {
        for name in ["QUAGMIRE_COMPARES", "QUAGMIRE_NOOPT", "QUAGMIRE_FUZZING_MODE", "QUAGMIRE_DRIVER"] {
            let read = |value: &'static str| Settings::from_environment(move |one| (one == name).then(|| value.into()));
            assert!(read("1") != read("0") && read("0") == Ok(Settings::default()) && read("") == read("0"), "{name}");
            let error = read("yes").unwrap_err().to_string();
            assert!(error.contains(&format!("{name}=yes")) && error.contains("'1'"), "{error}");
        }
    }

    #[test]
    fn library_costs_are_on_unless_they_are_turned_off() {
        let read = |value: &'static str| {
            let settings =
                Settings::from_environment(move |name| (name == "QUAGMIRE_LIBRARY_COSTS").then(|| value.into()));
            settings.map(|settings| settings.pass.library_costs)
        };
        assert_eq!([read(""), read("1"), read("0")], [Ok(true), Ok(true), Ok(false)]);
        let error = read("off").unwrap_err().to_string();
        assert!(error.contains("QUAGMIRE_LIBRARY_COSTS=off") && error.contains("'0'"), "{error}");
    }

    #[test]
    fn uncounted_objects_are_named_unless_nobody_wants_to_know() {
        let read = |value: &'static str| {
            let settings =
                Settings::from_environment(move |name| (name == "QUAGMIRE_WARN_UNCOUNTED").then(|| value.into()));
            settings.map(|settings| settings.ignores_uncounted)
        };
        assert_eq!([read(""), read("1"), read("0")], [Ok(false), Ok(false), Ok(true)]);
        assert!(read("no").is_err());
    }

    #[test]
    fn mutants_are_of_one_kind_or_the_other() {
        let read = |value: &'static str| {
            let settings = Settings::from_environment(move |name| (name == "QUAGMIRE_MUTANTS").then(|| value.into()));
            settings.map(|settings| settings.mutants)
        };
        assert_eq!([read(""), read("0")], [Ok(None), Ok(None)]);
        assert_eq!(read("1"), Ok(Some(MutantsKind::Faults)));
        assert_eq!(read("performance"), Ok(Some(MutantsKind::Performance)));
        let foreign = Settings::from_environment(|name| (name == "QUAGMIRE_DRIVER").then(|| "foreign".into()));
        assert_eq!(foreign, Err(Error::ForeignDriver));
        let error = read("speed").unwrap_err().to_string();
        assert!(error.contains("QUAGMIRE_MUTANTS=speed") && error.contains("'performance'"), "{error}");
    }

    #[test]
    fn draws_of_copies_of_the_header_are_seen_on_request_only() {
        let read = |value: &'static str| {
            Settings::from_environment(move |name| (name == "QUAGMIRE_DRAWS").then(|| value.into()))
        };
        assert_eq!(read("include").map(|settings| settings.includes_provider), Ok(true));
        assert_eq!(read("").map(|settings| settings.includes_provider), Ok(false));
        let error = read("1").unwrap_err().to_string();
        assert!(error.contains("QUAGMIRE_DRAWS") && error.contains("'include'"), "{error}");
    }
}
