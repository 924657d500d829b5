//! Where an input comes from, and what that says about keeping it.

use std::path::Path;

use crate::EntryId;

/// Origin of an input that is run.
#[derive(Clone, Copy, Debug)]
pub enum Origin<'a> {
    /// A file of the user.
    Seed(&'a Path),
    /// Made here.
    Mutant {
        /// The entry that it was made from.
        parent: EntryId,
        /// Numbers of the operators that made it.
        operators: &'a [u16],
    },
    /// Found by another campaign.
    Import {
        /// The other campaign.
        sibling: &'a str,
        /// Its nearest ancestor that is here.
        ancestor: Option<EntryId>,
        /// Numbers of the operators that lead from the ancestor to it.
        operators: &'a [u16],
    },
    /// A file of the queue that an earlier process has written and not lived to remember.
    Resumed(&'a str),
    /// Run again for its time: nothing new can come of it.
    Measured,
    /// Left by an earlier process, which nothing is known of.
    Unknown,
}

/// Condition under which an input is entered, if its run returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// None.
    Always,
    /// It shows something new, and is not in the corpus.
    IfNew,
    /// It is not entered.
    Never,
}

impl Origin<'_> {
    /// The condition for inputs of this origin.
    pub fn admission(&self) -> Admission {
        match self {
            Self::Seed(_) | Self::Resumed(_) => Admission::Always,
            Self::Mutant { .. } | Self::Import { .. } | Self::Unknown => Admission::IfNew,
            Self::Measured => Admission::Never,
        }
    }

    /// Whether the run is a round's work, and what it shows the round's find.
    pub fn is_search(&self) -> bool {
        matches!(self, Self::Mutant { .. })
    }

    /// Whether the run counts in figures about mutants: costs of runs, executions of a phase. Seeds are what those are held
    /// against, and resumed entries were counted before.
    pub fn is_counted(&self) -> bool {
        !matches!(self, Self::Seed(_) | Self::Resumed(_))
    }

    /// The entry here that it goes back to, as far as it is known.
    pub fn parent(&self) -> Option<EntryId> {
        match *self {
            Self::Mutant { parent, .. } => Some(parent),
            Self::Import { ancestor, .. } => ancestor,
            Self::Seed(_) | Self::Resumed(_) | Self::Measured | Self::Unknown => None,
        }
    }

    /// Numbers of the operators that made it from its parent.
    pub fn operators(&self) -> &[u16] {
        match self {
            Self::Mutant { operators, .. } | Self::Import { operators, .. } => operators,
            Self::Seed(_) | Self::Resumed(_) | Self::Measured | Self::Unknown => &[],
        }
    }
}
