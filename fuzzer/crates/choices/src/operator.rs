//! Operators on choices, and the two arms to which they belong.

use serde::{Deserialize, Serialize};

/// Arm of the search to which an operator belongs: the part of an input that it changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arm {
    /// Choices on which other choices depend.
    Structure,
    /// Choices on which nothing else depends.
    Value,
}

impl Arm {
    /// The one that this is not.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Structure => Self::Value,
            Self::Value => Self::Structure,
        }
    }
}

/// Operator on the choices of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operator {
    /// Makes structural choices anew: another decision or rule, and what follows from it.
    Regenerate,
    /// Replaces a part by one of the same kind of another entry.
    SplicePart,
    DeletePart,
    /// Repeats a part 2 to 64 times.
    RepeatPart,
    /// Puts a part into itself: repeats what is around its inner part of the same kind, 2 to 64 times.
    NestPart,
    /// Reorders parts that lie beside each other.
    ShuffleParts,
    /// Changes values: numbers, picks, texts.
    ChangeValues,
    /// Makes values of the same kind equal.
    EqualValues,
    /// Makes values of the same kind different.
    DifferentValues,
}

impl Operator {
    /// All operators, in the order of their numbers in results.
    pub const ALL: [Self; 9] = [
        Self::Regenerate,
        Self::SplicePart,
        Self::DeletePart,
        Self::RepeatPart,
        Self::NestPart,
        Self::ShuffleParts,
        Self::ChangeValues,
        Self::EqualValues,
        Self::DifferentValues,
    ];

    /// Name in results and in `--rules`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Regenerate => "regenerate",
            Self::SplicePart => "splice-part",
            Self::DeletePart => "delete-part",
            Self::RepeatPart => "repeat-part",
            Self::NestPart => "nest-part",
            Self::ShuffleParts => "shuffle-parts",
            Self::ChangeValues => "change-values",
            Self::EqualValues => "equal-values",
            Self::DifferentValues => "different-values",
        }
    }

    /// Effect, in one short line for reports.
    pub const fn effect(self) -> &'static str {
        match self {
            Self::Regenerate => "other decisions, and what follows from them",
            Self::SplicePart => "a part of another input in the place of one of its kind",
            Self::DeletePart => "a part less",
            Self::RepeatPart => "a part repeated: long lists",
            Self::NestPart => "a part put into itself: deep nesting",
            Self::ShuffleParts => "parts in another order",
            Self::ChangeValues => "other numbers, names and texts",
            Self::EqualValues => "equal values: chains of equal keys",
            Self::DifferentValues => "different values: many keys",
        }
    }

    /// Arm to which it belongs.
    pub const fn arm(self) -> Arm {
        match self {
            Self::Regenerate
            | Self::SplicePart
            | Self::DeletePart
            | Self::RepeatPart
            | Self::NestPart
            | Self::ShuffleParts => Arm::Structure,
            Self::ChangeValues | Self::EqualValues | Self::DifferentValues => Arm::Value,
        }
    }
}
