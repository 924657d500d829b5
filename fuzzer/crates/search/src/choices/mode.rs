//! Modes in which choices are mutated: the search of quagmire, and those that others have, for comparison.

use std::str::FromStr;

/// Mode in which choices are mutated (`--choices`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Mutates bytes only.
    Off,
    /// Generates every input anew (QuickCheck, "blind").
    Random,
    /// Changes any choices, without arms (Zest).
    Zest,
    /// Mutates structure or values, by what pays for the parent (BeDivFuzz-simple).
    #[default]
    Simple,
    /// As [`Simple`](Self::Simple), and keeps inputs for new coverage only if they are valid and of a structure that was not
    /// seen before (BeDivFuzz-structure).
    Structure,
    /// As [`Simple`](Self::Simple), with both arms equally likely.
    Even,
    /// Puts parts of other entries in the place of parts, and nothing else (LangFuzz).
    Recombine,
}

impl Mode {
    /// All modes, in the order of help texts.
    pub const ALL: [Self; 7] =
        [Self::Simple, Self::Structure, Self::Even, Self::Zest, Self::Random, Self::Recombine, Self::Off];

    /// Name on the command line and in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Random => "random",
            Self::Zest => "zest",
            Self::Simple => "simple",
            Self::Structure => "structure",
            Self::Even => "even",
            Self::Recombine => "recombine",
        }
    }
}

impl FromStr for Mode {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|mode| mode.name() == text).ok_or(())
    }
}
