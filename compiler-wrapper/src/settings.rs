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
    /// `QUAGMIRE_LLVM_UNTESTED=1`: take an LLVM that is newer than those that quagmire was tried with.
    pub untested_llvm: bool,
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
            untested_llvm: set("QUAGMIRE_LLVM_UNTESTED")?,
            driver: driver == 0,
            mutants,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, value: &str) -> Result<Settings, Error> {
        Settings::from_environment(|one| (one == name).then(|| value.into()))
    }

    #[test]
    fn values_turn_something_on_or_off() {
        let usual = Settings::default();
        let pass = |pass| Settings { pass, ..usual };
        for (name, value, expected) in [
            ("QUAGMIRE_COUNTING", "every-block", pass(PassVariant { every_block: true, ..usual.pass })),
            ("QUAGMIRE_COUNTING", "shared", usual),
            ("QUAGMIRE_COMPARES", "1", pass(PassVariant { compares: true, ..usual.pass })),
            ("QUAGMIRE_LIBRARY_COSTS", "0", pass(PassVariant { library_costs: false, ..usual.pass })),
            ("QUAGMIRE_LIBRARY_COSTS", "1", usual),
            ("QUAGMIRE_NOOPT", "1", Settings { plain: true, ..usual }),
            ("QUAGMIRE_FUZZING_MODE", "1", Settings { fuzzing_mode: true, ..usual }),
            ("QUAGMIRE_LLVM_UNTESTED", "1", Settings { untested_llvm: true, ..usual }),
            ("QUAGMIRE_DRIVER", "1", Settings { driver: true, ..usual }),
            ("QUAGMIRE_DRIVER", "0", usual),
            ("QUAGMIRE_WARN_UNCOUNTED", "0", Settings { ignores_uncounted: true, ..usual }),
            ("QUAGMIRE_WARN_UNCOUNTED", "1", usual),
            ("QUAGMIRE_MUTANTS", "1", Settings { mutants: Some(MutantsKind::Faults), ..usual }),
            ("QUAGMIRE_MUTANTS", "performance", Settings { mutants: Some(MutantsKind::Performance), ..usual }),
            ("QUAGMIRE_MUTANTS", "0", usual),
            ("QUAGMIRE_DRAWS", "include", Settings { includes_provider: true, ..usual }),
        ] {
            assert_eq!(read(name, value), Ok(expected), "{name}={value}");
            assert_eq!(read(name, ""), Ok(usual), "{name}");
        }
    }

    #[test]
    fn a_value_that_is_not_known_is_an_error_that_names_the_known_ones() {
        for (name, value, known) in [
            ("QUAGMIRE_COUNTING", "every_block", "'every-block'"),
            ("QUAGMIRE_NOOPT", "yes", "'1'"),
            ("QUAGMIRE_LIBRARY_COSTS", "off", "'0'"),
            ("QUAGMIRE_MUTANTS", "speed", "'performance'"),
            ("QUAGMIRE_DRAWS", "1", "'include'"),
        ] {
            let error = read(name, value).unwrap_err().to_string();
            assert!(error.contains(&format!("{name}={value}")) && error.contains(known), "{error}");
        }
        assert_eq!(read("QUAGMIRE_DRIVER", "foreign"), Err(Error::ForeignDriver));
    }
}
