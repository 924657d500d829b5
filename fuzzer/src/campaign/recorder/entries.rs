//! Entries as the recorder makes and writes them.

use super::{Recorder, candidates};
use crate::campaign::{ordinary::spread_out, record::Entry};
use libafl_bolts::hash_std;
use quagmire_base::{
    atomic::write_whole,
    error::{Error, Result},
};
use quagmire_execution::{abi, counts::CountsObserver};
use quagmire_results::EntryName;
use quagmire_search::{EntryId, origin::Origin};

impl Recorder<'_> {
    /// Creates the record of the next entry. The ratios in its file name are those of the last run.
    pub(super) fn entry_of(&self, origin: &Origin<'_>, bytes: &[u8], counts: &CountsObserver) -> Entry {
        let number = self.record.next_entry();
        let (file, parent, rules) = match *origin {
            Origin::Seed(path) => {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let name = EntryName { extension: self.extension(), ..EntryName::seed(number.into(), &name) };
                (name.to_string(), None, Vec::new())
            }
            Origin::Resumed(file) => {
                let (parent, rules) = self.origin_in(&file.parse().unwrap_or_default());
                (file.to_owned(), parent, rules)
            }
            Origin::Mutant { .. } | Origin::Import { .. } | Origin::Measured | Origin::Unknown => {
                // an input without a known ancestor counts as made from the median seed
                let parent = origin.parent().unwrap_or(self.record.reference);
                let rules = origin.operators();
                (self.name_of(number, parent, origin, bytes, counts).to_string(), Some(parent), rules.to_vec())
            }
        };
        let of_parent = parent.map(|parent| self.record.entry(parent));
        let (root, depth) = of_parent.map_or((number, 0), |parent| (parent.root, parent.depth + 1));
        let cost = counts.cost();
        Entry {
            file,
            bytes: bytes.len() as u64,
            hash: hash_std(bytes),
            is_lost: false,
            cost,
            // without the share of degraded resources, which only a measurement tells
            score: self.ratio(&cost),
            // of a run that was cut off, nothing is judged
            hottest: Some(counts)
                .filter(|counts| counts.status() == abi::Status::Returned)
                .and_then(candidates::hottest),
            found: self.elapsed(),
            executions: self.moment.executions,
            parent,
            root,
            rules,
            depth,
        }
    }

    fn name_of(
        &self,
        number: EntryId,
        parent: EntryId,
        origin: &Origin<'_>,
        bytes: &[u8],
        counts: &CountsObserver,
    ) -> EntryName {
        let cost = counts.cost();
        let labels = origin.operators().iter().map(|&rule| self.record.rules[usize::from(rule)].label.clone());
        let sync = if let Origin::Import { sibling, .. } = *origin { Some(sibling.to_owned()) } else { None };
        EntryName {
            sync,
            by_size: self.ratio_by_size(&cost, bytes.len() as u64),
            extension: self.extension(),
            ..EntryName::mutant(number.into(), parent.into(), self.ratio(&cost), labels)
        }
    }

    /// Writes a new entry: its file, a line of the log, and its name in the index for the other clients.
    pub(super) fn write(&mut self, entry: &Entry, bytes: &[u8]) -> Result<()> {
        write_whole(&self.folder().queue().join(&entry.file), bytes)?;
        self.note_unsynced(&entry.file);
        self.logs.entry(entry.found, entry.executions, &entry.file, &entry.cost)?;
        self.index.as_mut().map_or(Ok(()), |index| index.add(&entry.file))
    }

    /// Parent and rules of an input, as far as its name tells them and they are known.
    pub(super) fn origin_in(&self, name: &EntryName) -> (Option<EntryId>, Vec<u16>) {
        let known = name.src.filter(|&parent| parent < self.record.entries.len() as u64);
        let parent = known.map(|parent| EntryId::at(parent as usize));
        (parent, self.record.labelled(&name.rules))
    }

    /// Entries and contents of the median seed and others, together not larger than the size limit of inputs.
    pub fn sampled_seeds(&self) -> Result<(Vec<EntryId>, Vec<Vec<u8>>)> {
        let count = self.record.entries.iter().take_while(|entry| entry.parent.is_none()).count();
        let (mut entries, mut seeds, mut total) = (Vec::new(), Vec::new(), 0);
        for entry in spread_out(count, self.record.reference.index()) {
            total += self.record.entries[entry].bytes;
            if total > self.setup.max_size as u64 && !entries.is_empty() {
                break;
            }
            let path = self.path_of(EntryId::at(entry));
            let cannot = |error| Error::other(format!("cannot read {}: {error}", path.display()));
            seeds.push(std::fs::read(&path).map_err(cannot)?);
            entries.push(EntryId::at(entry));
        }
        Ok((entries, seeds))
    }
}
