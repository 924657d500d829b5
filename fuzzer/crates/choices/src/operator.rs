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

/// Operators in the order of their numbers in results, with their names there and in `--rules`, and their effects in one
/// short line for reports.
const TABLE: [(Operator, &str, &str); 9] = [
    (Operator::Regenerate, "regenerate", "other decisions, and what follows from them"),
    (Operator::SplicePart, "splice-part", "a part of another input in the place of one of its kind"),
    (Operator::DeletePart, "delete-part", "a part less"),
    (Operator::RepeatPart, "repeat-part", "a part repeated: long lists"),
    (Operator::NestPart, "nest-part", "a part put into itself: deep nesting"),
    (Operator::ShuffleParts, "shuffle-parts", "parts in another order"),
    (Operator::ChangeValues, "change-values", "other numbers, names and texts"),
    (Operator::EqualValues, "equal-values", "equal values: chains of equal keys"),
    (Operator::DifferentValues, "different-values", "different values: many keys"),
];

impl Operator {
    /// All operators, in the order of their numbers in results.
    pub const ALL: [Self; TABLE.len()] = {
        let mut all = [Self::Regenerate; TABLE.len()];
        let mut row = 0;
        while row < TABLE.len() {
            all[row] = TABLE[row].0;
            row += 1;
        }
        all
    };

    /// Name in results and in `--rules`.
    pub const fn name(self) -> &'static str {
        TABLE[self as usize].1
    }

    /// Effect, in one short line for reports.
    pub const fn effect(self) -> &'static str {
        TABLE[self as usize].2
    }

    /// Arm to which it belongs.
    pub const fn arm(self) -> Arm {
        match self {
            Self::ChangeValues | Self::EqualValues | Self::DifferentValues => Arm::Value,
            _ => Arm::Structure,
        }
    }
}
