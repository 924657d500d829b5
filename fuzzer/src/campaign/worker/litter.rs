//! Files that appear in the working folder while the seeds run: the program may write them, in every run.

use std::{collections::BTreeSet, ffi::OsString, path::Path};

use super::Worker;
use quagmire_base::error::Result;

/// Largest number of entries of a folder that is looked at.
const MOST_ENTRIES: usize = 10_000;

/// Names that a message shows.
const SHOWN: usize = 3;

/// Names in a folder; `None` if it is large, or cannot be read.
fn names_in(folder: &Path) -> Option<BTreeSet<OsString>> {
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    let names: BTreeSet<OsString> = entries.take(MOST_ENTRIES + 1).map(|entry| entry.file_name()).collect();
    (names.len() <= MOST_ENTRIES).then_some(names)
}

impl Worker<'_> {
    /// Names in the working folder, before the seeds run; `None` if nothing is to be said of new ones.
    pub(super) fn names_before_seeds(&self) -> Option<BTreeSet<OsString>> {
        let setup = self.setup;
        let is_first = setup.place.number == 0 && self.state.hooks.record.seeds_done == 0;
        // a harness is the user's own
        let is_asked = setup.target.is_isolated() && !setup.target.scratch && is_first;
        is_asked.then(|| names_in(Path::new("."))).flatten()
    }

    /// Names the option for programs that write files, if some have appeared in the working folder since it was looked at.
    pub(super) fn note_new_files(&mut self, before: Option<BTreeSet<OsString>>) -> Result<()> {
        let Some(before) = before else { return Ok(()) };
        let Some(now) = names_in(Path::new(".")) else { return Ok(()) };
        let new: Vec<&OsString> = now.difference(&before).collect();
        if new.is_empty() {
            return Ok(());
        }
        let names: Vec<_> = new.iter().take(SHOWN).map(|name| name.to_string_lossy()).collect();
        let more = if new.len() > SHOWN { ", ..." } else { "" };
        self.state.hooks.note(&format!(
            "new in this folder since the seeds ran: {}{more}: if the program writes files, --scratch gives its runs a folder of their own",
            names.join(", ")
        ))
    }
}
