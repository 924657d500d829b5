//! Origin of an input, and the condition under which inputs of it are entered.

use std::path::Path;

use crate::EntryId;

/// Origin of an input that is run.
#[derive(Clone, Copy, Debug)]
pub enum Origin<'a> {
    /// A file that the user gave.
    Seed(&'a Path),
    /// A mutant that this worker made.
    Mutant {
        /// Entry that it was made from.
        parent: EntryId,
        /// Numbers of the operators that made it, in order.
        operators: &'a [u16],
    },
    /// An input that another campaign has found.
    Import {
        /// Name of the other campaign.
        sibling: &'a str,
        /// Its nearest ancestor in this corpus; `None` if there is none.
        ancestor: Option<EntryId>,
        /// Numbers of the operators that lead from the ancestor to it, in order.
        operators: &'a [u16],
    },
    /// A file of the queue that an earlier process wrote after its last checkpoint.
    Resumed(&'a str),
    /// An input that was run before and is run again to measure its time.
    Measured,
    /// An input of an earlier process of which no origin is known.
    Unknown,
}

/// Condition under which an input is entered, if its run returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Always entered.
    Always,
    /// Entered if it shows something new and the corpus does not hold the same bytes.
    IfNew,
    /// Never entered.
    Never,
}

impl Origin<'_> {
    /// Condition for inputs of this origin.
    pub fn admission(&self) -> Admission {
        match self {
            Self::Seed(_) | Self::Resumed(_) => Admission::Always,
            Self::Mutant { .. } | Self::Import { .. } | Self::Unknown => Admission::IfNew,
            Self::Measured => Admission::Never,
        }
    }

    /// Whether the run counts as work of the current round, and its novelty as a find of the round.
    pub fn is_search(&self) -> bool {
        matches!(self, Self::Mutant { .. })
    }

    /// Whether the run counts in the figures of validity and diversity, unless it is a probe: what this campaign was given
    /// and makes itself, once.
    pub(crate) fn is_diverse(&self) -> bool {
        matches!(self, Self::Seed(_) | Self::Mutant { .. })
    }

    /// Whether the run counts in statistics of costs and in the executions of a phase. Seeds do not, since they are
    /// the reference, nor do resumed entries, which were counted before.
    pub fn is_counted(&self) -> bool {
        !matches!(self, Self::Seed(_) | Self::Resumed(_))
    }

    /// Entry that it was made from, or its nearest known ancestor.
    pub fn parent(&self) -> Option<EntryId> {
        match *self {
            Self::Mutant { parent, .. } => Some(parent),
            Self::Import { ancestor, .. } => ancestor,
            Self::Seed(_) | Self::Resumed(_) | Self::Measured | Self::Unknown => None,
        }
    }

    /// Numbers of the operators that made it from its parent, in order.
    pub fn operators(&self) -> &[u16] {
        match self {
            Self::Mutant { operators, .. } | Self::Import { operators, .. } => operators,
            Self::Seed(_) | Self::Resumed(_) | Self::Measured | Self::Unknown => &[],
        }
    }
}
