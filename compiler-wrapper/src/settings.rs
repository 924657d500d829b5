//! What the user asks for by environment variables that change what is compiled.

/// What the environment says about how to compile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Settings {
    /// `QUAGMIRE_NOOPT=1`: plain clang, nothing touched.
    pub plain: bool,
    /// `QUAGMIRE_FUZZING_MODE=1`: define `FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION`.
    pub fuzzing_mode: bool,
    /// `QUAGMIRE_COMPARES=1`: show how far comparisons get.
    pub compares: bool,
    /// `QUAGMIRE_DRIVER=1`: a harness gets a `main` for the fork server instead of the engine.
    pub driver: bool,
}

impl Settings {
    /// Reads the environment variables; each counts when it is set to `1`.
    pub fn from_environment() -> Settings {
        let set = |name| std::env::var_os(name).is_some_and(|value| value == "1");
        Settings {
            plain: set("QUAGMIRE_NOOPT"),
            fuzzing_mode: set("QUAGMIRE_FUZZING_MODE"),
            compares: set("QUAGMIRE_COMPARES"),
            driver: set("QUAGMIRE_DRIVER"),
        }
    }
}
