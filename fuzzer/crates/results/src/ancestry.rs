//! Ancestors of an input in a campaign's folder, by the names of files.

use std::{collections::HashMap, path::Path};

use crate::names::EntryName;

/// Files in the queue of a campaign by entry number.
#[derive(Clone, Debug, Default)]
pub struct Ancestry {
    queue: HashMap<u64, String>,
}

impl Ancestry {
    /// Reads the names in `queue/` of a campaign's folder; none if it is no such folder.
    pub fn read(out: &Path) -> Self {
        let entries = std::fs::read_dir(out.join("queue")).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        Self { queue: names.filter_map(|name| Some((entry_name(&name)?.id, format!("queue/{name}")))).collect() }
    }

    /// The seed that an input of the folder descends from, relative to the folder. `path` ends in the name of the input.
    /// `None` if the input is a seed, or an ancestor is gone.
    pub fn seed_of(&self, path: &str) -> Option<String> {
        let mut name = entry_name(path)?;
        // each step must lead to a smaller number, or the names are not quagmire's
        let mut path = None;
        while let Some(parent) = name.src {
            let file = self.queue.get(&parent)?;
            let next = entry_name(file)?;
            if path.is_some() && parent >= name.id {
                return None;
            }
            path = Some(file.clone());
            name = next;
        }
        path
    }
}

fn entry_name(path: &str) -> Option<EntryName> {
    Path::new(path).file_name()?.to_str()?.parse().ok()
}
