//! Places as named by the user, before they are looked for.

use std::path::PathBuf;

use super::{patch::ChangedLines, place::Place};

/// Places as named by the user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Places, each as typed and as understood.
    pub places: Vec<(String, Place)>,
    /// Patches: the file as typed, and the lines that it changes.
    pub patches: Vec<(PathBuf, Vec<ChangedLines>)>,
}

impl Wanted {
    /// Whether no place is named.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty() && self.patches.is_empty()
    }
}
