//! Siblings: the other campaigns whose finds are imported.

use std::{collections::BTreeMap, path::PathBuf, time::SystemTime};

use serde::{Deserialize, Serialize};

use super::{hits::Hits, queue::Queue};
use quagmire_base::files::Folder;
use quagmire_search::EntryId;

/// Largest number of names that are looked at in a sync folder.
const MOST_SIBLINGS: usize = 1 << 12;

/// Largest number of generations over which the history of an input is traced.
const MOST_GENERATIONS: usize = 1000;

/// Progress of the import from a sibling; part of the checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Next number in its queue.
    pub next: u64,
    /// Numbers in its queue of inputs that are in this corpus too, with their entries here.
    entries: BTreeMap<u64, EntryId>,
}

impl Progress {
    /// Entries of this corpus whose inputs are also in the sibling's queue.
    pub fn entries(&self) -> impl Iterator<Item = EntryId> {
        self.entries.values().copied()
    }

    /// Notes that the sibling's input `number` is the entry `entry` here.
    pub fn is_here(&mut self, number: u64, entry: EntryId) {
        self.entries.insert(number, entry);
    }
}

/// Source of imports: the queue of a campaign, or its faults or hangs.
#[derive(Debug)]
pub struct Sibling {
    /// Name that tells it from the others; also part of the names of entries imported from it.
    pub name: String,
    /// Whether it is in a sync folder, perhaps on another machine.
    pub far: bool,
    /// Output folder, in which it may write its hits; `None` for faults and hangs.
    hits: Option<Folder>,
    hits_of: Option<SystemTime>,
    queue: Queue,
    /// For faults and hangs, the index of their campaign, whose queue has their parents.
    of: Option<usize>,
}

impl Sibling {
    /// Creates the sibling of a campaign, from its output folder and queue.
    fn campaign(name: String, folder: Folder, queue: Queue, far: bool) -> Self {
        Self { name, far, hits: Some(folder), hits_of: None, queue, of: None }
    }

    /// Numbers that were not imported yet. Starts from 0 if the campaign has started anew.
    ///
    /// # Errors
    /// In a few words, if its queue cannot be a campaign's.
    pub fn look(&mut self, progress: &mut Progress) -> Result<Vec<u64>, String> {
        let numbers = self.queue.look(progress.next)?;
        if self.queue.last().is_some_and(|last| last.saturating_add(1) < progress.next) {
            // it has started anew
            *progress = Progress::default();
            return self.queue.look(0);
        }
        Ok(numbers)
    }

    /// Bytes of the input with this number; `None` if it has gone or is larger than `limit` bytes.
    ///
    /// # Errors
    /// In a few words, if it is no regular file.
    pub fn read(&mut self, number: u64, limit: usize) -> Result<Option<Vec<u8>>, String> {
        self.queue.read(number, limit)
    }

    /// Hits of the campaign, if they have changed since the last call.
    ///
    /// # Errors
    /// In a few words, if the file is invalid.
    pub fn hits(&mut self) -> Result<Option<Hits>, String> {
        match &self.hits {
            Some(folder) => Hits::read(folder, &mut self.hits_of),
            None => Ok(None),
        }
    }
}

/// All siblings that this campaign imports from.
#[derive(Debug, Default)]
pub struct Siblings {
    /// Known siblings.
    pub all: Vec<Sibling>,
    /// Sync folder in which further siblings may appear, and the name of this campaign there.
    meeting: Option<(Folder, String)>,
}

impl Siblings {
    /// Creates the siblings of the other clients, from their names and output folders.
    pub fn of_cores(cores: impl Iterator<Item = (String, PathBuf)>) -> Self {
        let client = |(name, output): (String, PathBuf)| {
            Sibling::campaign(name, Folder::named(&output), Queue::with_index(&output), false)
        };
        let all = cores.map(client).collect();
        Self { all, meeting: None }
    }

    /// Adds the faults and hangs of the known siblings, which are inputs outside their queues.
    pub fn with_their_ends(&mut self) {
        for of in 0..self.all.len() {
            let Some(folder) = self.all[of].hits.clone() else { continue };
            for ends in ["faults", "hangs"] {
                let (name, queue) = (format!("{}.{ends}", self.all[of].name), Queue::new(folder.inside(ends)));
                self.all.push(Sibling { name, far: false, hits: None, hits_of: None, queue, of: Some(of) });
            }
        }
    }

    /// Sets the sync folder in which further siblings may appear, and the name of this campaign there.
    pub fn meet_in(&mut self, folder: PathBuf, name: String) {
        self.meeting = Some((Folder::named(folder), name));
    }

    /// Nearest ancestor in this corpus of the input `number` of the sibling at index `at`, and the labels of the rules
    /// that lead from it to the input. `None` without a known ancestor.
    pub fn ancestor(
        &self,
        at: usize,
        number: u64,
        known: &BTreeMap<String, Progress>,
    ) -> (Option<EntryId>, Vec<String>) {
        let Some(mut listed) = self.all[at].queue.get(number) else { return (None, Vec::new()) };
        let mut generations = vec![listed.rules()];
        let rules = |generations: Vec<Vec<String>>| generations.into_iter().rev().flatten().collect();
        let of = self.all[at].of;
        let sibling = &self.all[of.unwrap_or(at)];
        let entries = known.get(&sibling.name).map(|progress| &progress.entries);
        // a parent has a smaller number, or the names are invalid
        let mut youngest = if of.is_some() { u64::MAX } else { number };
        while let Some(parent) = listed.parent.filter(|&parent| parent < youngest) {
            if let Some(&entry) = entries.and_then(|entries| entries.get(&parent)) {
                return (Some(entry), rules(generations));
            }
            let of_parent = sibling.queue.get(parent).filter(|_| generations.len() < MOST_GENERATIONS);
            let Some(of_parent) = of_parent else { break };
            (listed, youngest) = (of_parent, parent);
            generations.push(listed.rules());
        }
        (None, rules(generations))
    }

    /// Adds siblings that have appeared in the sync folder. Returns the names of those whose folders are links, which
    /// are not followed.
    ///
    /// # Errors
    /// In a few words, if there are more names than are looked at.
    pub fn look_around(&mut self) -> Result<Vec<String>, String> {
        let Some((folder, own)) = &self.meeting else { return Ok(Vec::new()) };
        let mut names = match folder.names(MOST_SIBLINGS) {
            Err(error) if quagmire_base::files::is_refused(&error) => return Err(error.to_string()),
            names => names.unwrap_or_default(),
        };
        names.retain(|name| !name.starts_with('.') && name != own && self.all.iter().all(|known| known.name != *name));
        names.sort();
        let of = |name: &String| folder.inside(name);
        let is_link = |name: &String| folder.has_link(name) || of(name).has_link("queue");
        let links = names.iter().filter(|name| is_link(name)).cloned().collect();
        names.retain(|name| of(name).inside("queue").metadata().is_ok());
        let sibling = |name: String| {
            let folder = folder.inside(&name);
            Sibling::campaign(name, folder.clone(), Queue::new(folder.inside("queue")), true)
        };
        self.all.extend(names.into_iter().map(sibling).collect::<Vec<_>>());
        Ok(links)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn scene(files: &[&str]) -> (tempfile::TempDir, Siblings) {
        let folder = tempfile::tempdir().unwrap();
        let queue = folder.path().join("other/queue");
        fs::create_dir_all(&queue).unwrap();
        fs::create_dir_all(folder.path().join("me/queue")).unwrap();
        fs::create_dir_all(folder.path().join("no-campaign")).unwrap();
        for file in files {
            fs::write(queue.join(file), file).unwrap();
        }
        let mut siblings = Siblings::default();
        siblings.meet_in(folder.path().to_owned(), "me".into());
        assert_eq!(siblings.look_around(), Ok(vec![]));
        assert_eq!(siblings.look_around(), Ok(vec![]));
        (folder, siblings)
    }

    #[test]
    fn siblings_are_found_once_and_oneself_never() {
        let (_folder, siblings) = scene(&[]);
        assert_eq!(siblings.all.iter().map(|sibling| sibling.name.as_str()).collect::<Vec<_>>(), ["other"]);
    }

    #[test]
    fn ancestors_are_found_over_what_was_not_kept() {
        let names = [
            "id:000000,orig:a",
            "id:000001,src:000000,op:T.1",
            "id:000002,src:000001,op:T.2+havoc",
            "id:000003,src:000009",
        ];
        let (folder, mut siblings) = scene(&names);
        let faults = folder.path().join("other/faults");
        fs::create_dir(&faults).unwrap();
        fs::write(faults.join("id_000000,src_000002,op_T.3"), "x").unwrap();
        siblings.with_their_ends();
        let mut progress = Progress::default();
        assert_eq!(siblings.all[0].look(&mut progress).unwrap(), [0, 1, 2, 3]);
        assert_eq!(siblings.all[1].look(&mut Progress::default()).unwrap(), [0]);
        progress.is_here(0, EntryId::new(17));
        let known = BTreeMap::from([("other".to_owned(), progress)]);
        let rules = |rules: &[&str]| rules.iter().map(|&rule| rule.to_owned()).collect::<Vec<_>>();
        assert_eq!(siblings.ancestor(0, 2, &known), (Some(EntryId::new(17)), rules(&["T.1", "T.2", "havoc"])));
        assert_eq!(siblings.ancestor(1, 0, &known), (Some(EntryId::new(17)), rules(&["T.1", "T.2", "havoc", "T.3"])));
        assert_eq!(siblings.ancestor(0, 3, &known), (None, rules(&[])));
        assert_eq!(siblings.ancestor(0, 99, &known), (None, rules(&[])));
    }

    #[test]
    fn a_sibling_that_started_anew_is_taken_in_anew() {
        let (folder, mut siblings) = scene(&["id:000000,orig:a"]);
        let mut progress = Progress { next: 5, ..Progress::default() };
        progress.is_here(4, EntryId::new(4));
        assert_eq!(siblings.all[0].look(&mut progress), Ok(vec![0]));
        assert_eq!(progress, Progress::default());
        drop(folder);
    }

    #[test]
    fn hits_are_read_when_they_were_written() {
        let (folder, mut siblings) = scene(&[]);
        assert_eq!(siblings.all[0].hits(), Ok(None));
        let hits = Hits::new(1, [1].into_iter());
        hits.write(&Folder::named(folder.path().join("other"))).unwrap();
        assert_eq!((siblings.all[0].hits(), siblings.all[0].hits()), (Ok(Some(hits)), Ok(None)));
    }

    #[test]
    fn siblings_whose_folders_are_links_are_named_and_not_followed() {
        use std::os::unix::fs::symlink;
        let (folder, _) = scene(&["id:000000,orig:a"]);
        symlink(folder.path().join("other"), folder.path().join("link")).unwrap();
        fs::create_dir(folder.path().join("half")).unwrap();
        symlink(folder.path().join("other/queue"), folder.path().join("half/queue")).unwrap();
        fs::write(folder.path().join("README"), "").unwrap();
        let mut siblings = Siblings::default();
        siblings.meet_in(folder.path().to_owned(), "me".into());
        assert_eq!(siblings.look_around(), Ok(vec!["half".to_owned(), "link".to_owned()]));
        assert_eq!(siblings.all.iter().map(|sibling| sibling.name.as_str()).collect::<Vec<_>>(), ["other"]);
    }
}
