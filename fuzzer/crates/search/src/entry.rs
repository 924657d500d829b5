//! Numbers of kept inputs.

use std::fmt;

use libafl::corpus::CorpusId;
use serde::{Deserialize, Serialize};

/// Number of a kept input, which is its index in the campaign's record and in LibAFL's corpus. Entries are numbered
/// from 0, in the order in which they were entered, and keep their numbers after they were evicted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EntryId(u32);

impl EntryId {
    /// Value for "no entry" in tables with a fixed number of places.
    pub(crate) const NONE: Self = Self(u32::MAX);

    /// Creates the id with this number.
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Creates the id of the entry at this index of the record.
    pub const fn at(place: usize) -> Self {
        Self(place as u32)
    }

    /// Index of the entry in the record.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Id of the entry that is entered after this one.
    pub(crate) const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<CorpusId> for EntryId {
    fn from(id: CorpusId) -> Self {
        Self::at(id.0)
    }
}

impl From<EntryId> for CorpusId {
    fn from(entry: EntryId) -> Self {
        entry.index().into()
    }
}

impl From<EntryId> for u64 {
    fn from(entry: EntryId) -> Self {
        entry.0.into()
    }
}

/// Shorthand for tests: the id with this number.
#[cfg(test)]
pub(crate) const fn id(number: u32) -> EntryId {
    EntryId::new(number)
}
