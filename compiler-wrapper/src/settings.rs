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
    /// `QUAGMIRE_DRAWS=include`: include FuzzedDataProvider.h first, so that copies of LLVM's in the project have no effect.
    pub includes_provider: bool,
}

impl Settings {
    /// Reads the environment variables; switches are on if their value is `1`.
    ///
    /// # Errors
    /// If `QUAGMIRE_COUNTING`, `QUAGMIRE_DRAWS`, `QUAGMIRE_LIBRARY_COSTS` or `QUAGMIRE_MUTANTS` has an unknown value, or
    /// `QUAGMIRE_DRIVER=foreign` is set without mutants.
    pub(crate) fn from_environment(variable: impl Fn(&str) -> Option<OsString>) -> Result<Settings, Error> {
        let set = |name| variable(name).is_some_and(|value| value == "1");
        let counting = variable("QUAGMIRE_COUNTING").unwrap_or_default();
        let every_block = match counting.to_str() {
            Some("" | "shared") => false,
            Some("every-block") => true,
            _ => return Err(Error::UnknownCounting { value: counting.to_string_lossy().into_owned() }),
        };
        let draws = variable("QUAGMIRE_DRAWS").unwrap_or_default();
        let includes_provider = match draws.to_str() {
            Some("") => false,
            Some("include") => true,
            _ => return Err(Error::UnknownDraws { value: draws.to_string_lossy().into_owned() }),
        };
        let library_costs = variable("QUAGMIRE_LIBRARY_COSTS").unwrap_or_default();
        let library_costs = match library_costs.to_str() {
            Some("" | "1") => true,
            Some("0") => false,
            _ => return Err(Error::UnknownLibraryCosts { value: library_costs.to_string_lossy().into_owned() }),
        };
        let mutants = variable("QUAGMIRE_MUTANTS").unwrap_or_default();
        let mutants = match mutants.to_str() {
            Some("" | "0") => None,
            Some("1") => Some(MutantsKind::Faults),
            Some("performance") => Some(MutantsKind::Performance),
            _ => return Err(Error::UnknownMutants { value: mutants.to_string_lossy().into_owned() }),
        };
        let foreign_driver = variable("QUAGMIRE_DRIVER").is_some_and(|value| value == "foreign");
        if foreign_driver && mutants.is_none() {
            return Err(Error::ForeignDriver);
        }
        Ok(Settings {
            foreign_driver,
            pass: PassVariant { compares: set("QUAGMIRE_COMPARES"), every_block, library_costs },
            includes_provider,
            plain: set("QUAGMIRE_NOOPT"),
            fuzzing_mode: set("QUAGMIRE_FUZZING_MODE"),
            driver: set("QUAGMIRE_DRIVER"),
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
