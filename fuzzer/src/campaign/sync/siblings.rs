//! The campaigns whose finds are taken in.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::SystemTime,
};

use serde::{Deserialize, Serialize};

use super::{hits::Hits, queue::Queue};

/// How far the queue of a sibling was taken in. Saved with every checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Its next number.
    pub next: u64,
    /// Its numbers whose input is here too, with their numbers here.
    entries: BTreeMap<u64, u32>,
}

impl Progress {
    /// The input `number` is here too.
    pub fn is_here(&mut self, number: u64, entry: u32) {
        self.entries.insert(number, entry);
    }
}

/// A campaign, or the faults or hangs of one.
#[derive(Debug)]
pub struct Sibling {
    /// Tells it from the others; also in the names of what comes from it.
    pub name: String,
    /// In a sync folder, perhaps on another machine.
    pub far: bool,
    /// Its output folder, if it tells there how often it has hit each branch.
    hits: Option<PathBuf>,
    hits_of: Option<SystemTime>,
    queue: Queue,
    /// Place of the campaign whose faults or hangs these are: their parents are in its queue.
    of: Option<usize>,
}

impl Sibling {
    /// The campaign `name`, with its queue and its output folder.
    fn campaign(name: String, folder: &Path, far: bool) -> Self {
        Self {
            name,
            far,
            hits: Some(folder.to_owned()),
            hits_of: None,
            queue: if far { Queue::new(folder.join("queue")) } else { Queue::with_index(folder) },
            of: None,
        }
    }

    /// Its numbers that were not taken in yet.
    pub fn look(&mut self, progress: &mut Progress) -> Vec<u64> {
        let numbers = self.queue.look(progress.next);
        if self.queue.last().is_some_and(|last| last + 1 < progress.next) {
            // it has started anew
            *progress = Progress::default();
            return self.queue.look(0);
        }
        numbers
    }

    /// The input with this number, unless it has gone or is larger than `limit` bytes.
    pub fn read(&mut self, number: u64, limit: usize) -> Option<Vec<u8>> {
        self.queue.read(number, limit)
    }

    /// Its hits, if there are any that were not read before.
    pub fn hits(&mut self) -> Option<Hits> {
        let folder = self.hits.as_ref()?;
        let written = Hits::written(folder)?;
        if self.hits_of.replace(written) == Some(written) {
            return None;
        }
        Hits::read(folder)
    }
}

/// See the module's text.
#[derive(Debug, Default)]
pub struct Siblings {
    /// All that are known.
    pub all: Vec<Sibling>,
    /// Where more of them may come up, and what this campaign is called there.
    meeting: Option<(PathBuf, String)>,
}

impl Siblings {
    /// Those of the other cores: name and output folder.
    pub fn of_cores(cores: impl Iterator<Item = (String, PathBuf)>) -> Self {
        let all = cores.map(|(name, folder)| Sibling::campaign(name, &folder, false)).collect();
        Self { all, meeting: None }
    }

    /// ... and the faults and hangs of these: inputs that are no entries of their queues.
    pub fn with_their_ends(&mut self) {
        for of in 0..self.all.len() {
            let Some(folder) = self.all[of].hits.clone() else { continue };
            for ends in ["faults", "hangs"] {
                let (name, queue) = (format!("{}.{ends}", self.all[of].name), Queue::new(folder.join(ends)));
                self.all.push(Sibling { name, far: false, hits: None, hits_of: None, queue, of: Some(of) });
            }
        }
    }

    /// ... and those that come up in `folder`, where this campaign is `name`.
    pub fn meet_in(&mut self, folder: PathBuf, name: String) {
        self.meeting = Some((folder, name));
    }

    /// The nearest ancestor of input `number` of the sibling at place `at` that is here, and the rules that lead from it to
    /// the input.
    pub fn ancestor(&self, at: usize, number: u64, known: &BTreeMap<String, Progress>) -> (Option<u32>, Vec<String>) {
        let Some(mut listed) = self.all[at].queue.get(number) else { return (None, Vec::new()) };
        let mut rules = listed.rules.clone();
        let of = self.all[at].of;
        let sibling = &self.all[of.unwrap_or(at)];
        let entries = known.get(&sibling.name).map(|progress| &progress.entries);
        // a parent is older, or the names are nonsense
        let mut youngest = if of.is_some() { u64::MAX } else { number };
        while let Some(parent) = listed.parent.filter(|&parent| parent < youngest) {
            if let Some(&entry) = entries.and_then(|entries| entries.get(&parent)) {
                return (Some(entry), rules);
            }
            let Some(of_parent) = sibling.queue.get(parent) else { break };
            (listed, youngest) = (of_parent, parent);
            rules.splice(0..0, listed.rules.iter().cloned());
        }
        (None, rules)
    }

    /// Looks for siblings that were not there before.
    pub fn look_around(&mut self) {
        let Some((folder, own)) = &self.meeting else { return };
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| !name.starts_with('.') && name != own)
            .filter(|name| self.all.iter().all(|known| known.name != *name))
            .filter(|name| folder.join(name).join("queue").is_dir())
            .collect();
        names.sort();
        self.all.extend(names.into_iter().map(|name| Sibling::campaign(name.clone(), &folder.join(name), true)));
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
        siblings.look_around();
        siblings.look_around();
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
        assert_eq!(siblings.all[0].look(&mut progress), [0, 1, 2, 3]);
        assert_eq!(siblings.all[1].look(&mut Progress::default()), [0]);
        progress.is_here(0, 17);
        let known = BTreeMap::from([("other".to_owned(), progress)]);
        let rules = |rules: &[&str]| rules.iter().map(|&rule| rule.to_owned()).collect::<Vec<_>>();
        assert_eq!(siblings.ancestor(0, 2, &known), (Some(17), rules(&["T.1", "T.2", "havoc"])));
        assert_eq!(siblings.ancestor(1, 0, &known), (Some(17), rules(&["T.1", "T.2", "havoc", "T.3"])));
        assert_eq!(siblings.ancestor(0, 3, &known), (None, rules(&[])));
        assert_eq!(siblings.ancestor(0, 99, &known), (None, rules(&[])));
    }

    #[test]
    fn a_sibling_that_started_anew_is_taken_in_anew() {
        let (folder, mut siblings) = scene(&["id:000000,orig:a"]);
        let mut progress = Progress { next: 5, ..Progress::default() };
        progress.is_here(4, 4);
        assert_eq!(siblings.all[0].look(&mut progress), [0]);
        assert_eq!(progress, Progress::default());
        drop(folder);
    }

    #[test]
    fn hits_are_read_when_they_were_written() {
        let (folder, mut siblings) = scene(&[]);
        assert_eq!(siblings.all[0].hits(), None);
        let hits = Hits::new(1, [1].into_iter());
        hits.write(&folder.path().join("other")).unwrap();
        assert_eq!((siblings.all[0].hits(), siblings.all[0].hits()), (Some(hits), None));
    }
}
