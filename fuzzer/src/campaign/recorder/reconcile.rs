//! Reconciliation of the output folder with the state of the campaign, whenever a worker continues from a checkpoint and at
//! the end: files and state agree by name, size and contents. Findings that are only files are read back. What is missing
//! or has changed is restored from what else holds it, or left out, with a line for each.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::ErrorKind,
    path::{Path, PathBuf},
    time::Duration,
};

use libafl::{corpus::Corpus, inputs::HasMutatorBytes};
use libafl_bolts::hash_std;

use super::Recorder;
use crate::campaign::{
    Setup, ordinary,
    record::{folder_of, stays_inside},
};
use quagmire_base::{
    atomic::{unwritable, write_whole},
    error::{Error, Result},
    files,
    format::{counted, grouped},
};
use quagmire_cost::judgement::Severity;
use quagmire_results::{
    EntryName,
    damaged_logs::DamagedLog,
    journal::{Journal, Journaled, Saved},
    names::files_in,
    summary::{Finding, FindingKind},
};
use quagmire_search::{EntryId, input_corpus::InputCorpus};

/// Number of lines on the display; all of them are in the log.
const SHOWN: usize = 20;

/// Kinds of findings.
const KINDS: [FindingKind; 3] = [FindingKind::Degradation, FindingKind::Fault, FindingKind::Hang];

/// Hash of a file's contents; `None` if it cannot be read.
pub(crate) fn hash_of(path: &Path) -> Option<u64> {
    files::read(path, files::LARGEST_INPUT).ok().map(|bytes| hash_std(&bytes))
}

/// The fault of a file that should have this size and these contents, in a few words.
fn damage(path: &Path, bytes: Option<u64>, hash: Option<u64>) -> Option<&'static str> {
    let found = match files::open(path).and_then(|file| file.metadata()) {
        Ok(found) => found.len(),
        Err(error) if error.kind() == ErrorKind::NotFound => return Some("is missing"),
        Err(error) if files::is_refused(&error) => return Some("is no regular file"),
        Err(_) => return Some("cannot be read"),
    };
    match (found, bytes) {
        (0, Some(1..)) => Some("is damaged (empty)"),
        (found, Some(bytes)) if found != bytes => Some("has changed"),
        _ if hash.is_some_and(|hash| hash_of(path) != Some(hash)) => Some("has changed"),
        _ => None,
    }
}

/// Moves a file that is not what it was to the inputs that are run again, if there is one.
fn set_aside(setup: &Setup, path: &Path) -> Result<()> {
    let Some(name) = path.strip_prefix(setup.folder.path()).ok().filter(|_| files::is_file(path)) else {
        return Ok(());
    };
    let aside = imports(setup);
    files::create_folder(&aside).map_err(|error| unwritable(&aside, &error))?;
    let to = aside.join(name.to_string_lossy().replace('/', "-"));
    std::fs::rename(path, to).map_err(|error| unwritable(path, &error))
}

/// Folder for files whose inputs are run again: the checkpoint does not know them, or they are not what it knows.
pub(crate) fn imports(setup: &Setup) -> PathBuf {
    setup.folder.queue().join(".import")
}

impl Recorder<'_> {
    /// Makes the files of entries and findings, and the state, agree. `corpus` holds the inputs of active entries.
    ///
    /// # Errors
    /// If a file cannot be written, or a seed is lost: ratios are relative to seeds.
    pub fn reconcile(&mut self, corpus: &InputCorpus) -> Result<()> {
        let mut lines = Vec::new();
        self.reconcile_entries(corpus, &mut lines)?;
        self.reconcile_ordinary_inputs(&mut lines)?;
        let journaled = Journal::read(self.folder().path());
        let damaged = journaled.damaged;
        self.read_back(journaled);
        self.reconcile_findings(corpus, &mut lines)?;
        self.find_again()?;
        if damaged > 0 {
            lines.push(format!(
                "logs/findings.jsonl has {} that cannot be read: written anew",
                counted(damaged as u64, "line")
            ));
            self.write_journal_anew()?;
        }
        let more = lines.len().saturating_sub(SHOWN);
        for (number, line) in lines.into_iter().enumerate() {
            if number < SHOWN { self.warn(&line)? } else { self.log(&line)? }
        }
        if more > 0 {
            self.warn(&format!("{} more such files: see logs/quagmire.log", grouped(more as u64)))?;
        }
        Ok(())
    }

    fn reconcile_entries(&mut self, corpus: &InputCorpus, lines: &mut Vec<String>) -> Result<()> {
        let mut is_any_lost = false;
        for number in self.record.entry_ids() {
            let entry = self.record.entry(number);
            let path = self.path_of(number);
            let shown = self.relative(&path);
            let found = if entry.is_lost { None } else { damage(&path, Some(entry.bytes), Some(entry.hash)) };
            let Some(damage) = found else { continue };
            if let Some(bytes) = self.original(number, corpus) {
                write_whole(&path, &bytes)?;
                self.record.unsynced.insert(path);
                lines.push(format!("{shown} {damage}: restored"));
            } else if entry.parent.is_none() {
                return Err(Error::other(format!(
                    "{shown}, a seed that all ratios are relative to, {damage}: give its file with -i again, or remove {} to go on \
                     without what is known of the campaign",
                    self.setup.options.output().join(".checkpoint").display()
                )));
            } else {
                set_aside(self.setup, &path)?;
                self.record.lose(number);
                is_any_lost = true;
                lines.push(format!("{shown} {damage}, and nothing else holds it: left out"));
            }
        }
        if is_any_lost {
            self.find_worst();
        }
        Ok(())
    }

    /// Contents of an entry, from its corpus, the seeds that were given, or the degradation that it is.
    fn original(&self, number: EntryId, corpus: &InputCorpus) -> Option<Vec<u8>> {
        let entry = self.record.entry(number);
        let active = corpus.get(number.into()).ok();
        let active = active.and_then(|entry| Some(entry.borrow().input().as_ref()?.mutator_bytes().to_vec()));
        let of_finding = || files::read(&self.folder().degradations().join(&entry.file), files::LARGEST_INPUT).ok();
        let is_it = |bytes: &Vec<u8>| hash_std(bytes) == entry.hash;
        active.filter(is_it).or_else(|| self.seed_of(entry.hash)).or_else(|| of_finding().filter(is_it))
    }

    /// The given seed with contents of this hash.
    fn seed_of(&self, hash: u64) -> Option<Vec<u8>> {
        let seed = self.setup.seeds.inputs.iter().find(|seed| hash_std(&seed.bytes) == hash);
        seed.map(|seed| seed.bytes.clone())
    }

    /// Makes the joined seeds in `ordinary/` again that are not what findings were confirmed beside.
    fn reconcile_ordinary_inputs(&mut self, lines: &mut Vec<String>) -> Result<()> {
        let known: Vec<(String, u64)> = self
            .record
            .hashes
            .iter()
            .filter(|(path, _)| path.starts_with("ordinary/"))
            .map(|(path, hash)| (path.clone(), *hash))
            .collect();
        for (shown, hash) in known {
            let path = self.folder().path().join(&shown);
            let Some(damage) = damage(&path, None, Some(hash)) else { continue };
            let bytes = shown.rsplit('_').next().and_then(|bytes| bytes.parse().ok()).unwrap_or(0);
            let joined = ordinary::joined(&self.sampled_seeds()?.1, 0, bytes);
            if hash_std(&joined) == hash {
                write_whole(&path, &joined)?;
                lines.push(format!("{shown} {damage}: restored"));
            } else {
                // it is made anew when it is needed
                let _ = std::fs::remove_file(&path);
                self.record.hashes.remove(&shown);
                lines.push(format!("{shown} {damage}: left out"));
            }
        }
        Ok(())
    }

    /// Enters findings that the journal knows and the state does not, and what the journal knows better: explanations.
    fn read_back(&mut self, journaled: Journaled) {
        // the last line of each
        let mut saved: BTreeMap<String, (usize, Saved)> = BTreeMap::new();
        for (place, one) in journaled.findings.into_iter().enumerate().filter(|(_, one)| stays_inside(&one.finding)) {
            let place = saved.get(&one.finding.path).map_or(place, |(first, _)| *first);
            let one = Saved::of(&one.finding, |path| one.files.get(path).copied());
            saved.insert(one.finding.path.clone(), (place, one));
        }
        let mut saved: Vec<(usize, Saved)> = saved.into_values().collect();
        saved.sort_by_key(|(place, _)| *place);
        for (_, one) in saved {
            let path = self.folder().path().join(&one.finding.path);
            let hash = one.files.get(&one.finding.path).copied();
            if let Some(known) = self.record.findings.iter_mut().find(|known| known.path == one.finding.path) {
                let is_same = self.record.hashes.get(&known.path).is_none_or(|known| Some(*known) == hash);
                if is_same {
                    *known = one.finding;
                    self.record.hashes.extend(one.files);
                }
            } else if damage(&path, Some(one.finding.bytes), hash).is_none() {
                hash.and_then(|hash| self.note_lost_again(hash));
                self.enter_finding(one);
            }
        }
    }

    /// Restores or leaves out findings whose files are not what they were.
    fn reconcile_findings(&mut self, corpus: &InputCorpus, lines: &mut Vec<String>) -> Result<()> {
        let mut kept = Vec::with_capacity(self.record.findings.len());
        for mut finding in std::mem::take(&mut self.record.findings) {
            let path = self.folder().path().join(&finding.path);
            let hash = self.record.hashes.get(&finding.path).copied();
            if let Some(damage) = damage(&path, Some(finding.bytes), hash) {
                let entry = path.file_name().and_then(|file| self.record.entry_of_file(&file.to_string_lossy()));
                let of_entry = entry.filter(|_| finding.kind == FindingKind::Degradation);
                let bytes = of_entry.and_then(|entry| {
                    let in_queue = || files::read(&self.path_of(entry), files::LARGEST_INPUT).ok();
                    self.original(entry, corpus)
                        .or_else(in_queue)
                        .filter(|bytes| hash.is_none_or(|hash| hash_std(bytes) == hash))
                });
                let Some(bytes) = bytes.or_else(|| self.seed_of(hash?)) else {
                    set_aside(self.setup, &path)?;
                    self.record.hashes.remove(&finding.path);
                    lines.push(format!("{} {damage}, and nothing else holds it: left out", finding.path));
                    continue;
                };
                write_whole(&path, &bytes)?;
                self.record.unsynced.insert(path);
                lines.push(format!("{} {damage}: restored", finding.path));
            }
            if let Some(smallest) = &finding.minimized {
                let hash = self.record.hashes.get(&smallest.path).copied();
                if let Some(damage) = damage(&self.folder().path().join(&smallest.path), Some(smallest.bytes), hash) {
                    lines.push(format!("{} {damage}: its finding is explained anew", smallest.path));
                    (finding.minimized, finding.law, finding.template) = (None, None, None);
                    self.journal.add(&Saved::of(&finding, |path| self.record.hashes.get(path).copied()))?;
                }
            }
            kept.push(finding);
        }
        self.record.findings = kept;
        Ok(())
    }

    /// Enters findings of which only the file is left, with what its name tells.
    fn find_again(&mut self) -> Result<()> {
        let known: BTreeSet<String> = self.record.findings.iter().map(|finding| finding.path.clone()).collect();
        for kind in KINDS {
            for path in files_in(&self.folder().path().join(folder_of(kind))) {
                let Some((file, name)) = path
                    .file_name()
                    .and_then(|file| file.to_str())
                    .and_then(|file| Some((file, file.parse::<EntryName>().ok()?)))
                else {
                    continue;
                };
                let shown = self.relative(&path);
                let Ok(bytes) = files::read(&path, files::LARGEST_INPUT) else { continue };
                if known.contains(&shown) {
                    continue;
                }
                let (parent, rules) = self.origin_in(&name);
                let mut finding = self.found(kind, &path, (parent, &rules), name.cost);
                finding.bytes = bytes.len() as u64;
                if kind == FindingKind::Degradation {
                    self.know_by_name(&mut finding, &name, file);
                } else {
                    finding.detail = self.note_lost_again(hash_std(&bytes));
                }
                self.record_finding(finding, &bytes)?;
            }
        }
        Ok(())
    }

    /// Adds to a degradation what the name of its file and its entry tell.
    fn know_by_name(&self, finding: &mut Finding, name: &EntryName, file: &str) {
        finding.instructions_ratio_by_size = name.by_size;
        finding.ratio = name.by_size.or(name.cost);
        finding.severity = finding.ratio.map(Severity::of);
        if let Some(entry) = self.record.entry_of_file(file) {
            let of = self.record.entry(entry);
            (finding.seconds, finding.executions) = (of.found.as_secs_f64(), of.executions);
        }
    }

    /// Notes, if an input with contents of this hash ended a worker, that it is recorded: the next worker did that before it
    /// died as well. Returns how it ended.
    fn note_lost_again(&mut self, hash: u64) -> Option<String> {
        let lost = self.lost.iter().find(|lost| lost.hash == hash)?;
        if self.record.lost.insert(hash) {
            *self.record.lost_saved.entry(lost.end.to_string()).or_default() += 1;
        }
        Some(lost.in_words())
    }

    fn write_journal_anew(&mut self) -> Result<()> {
        let saved =
            self.record.findings.iter().map(|finding| Saved::of(finding, |path| self.record.hashes.get(path).copied()));
        self.journal = Journal::replace(self.folder().path(), &self.record.campaign, saved)?;
        Ok(())
    }

    /// Writes logs again that were damaged, from the state, as far as it knows their lines; says so of each.
    pub fn mend_logs(&mut self, damaged: &[DamagedLog]) -> Result<()> {
        for log in damaged {
            if log.is_of_entries() {
                for entry in self.record.entries.iter().filter(|entry| !entry.is_lost) {
                    self.logs.entry(entry.found, entry.executions, &entry.file, &entry.cost)?;
                }
            } else if log.is_of_findings() {
                for finding in &self.record.findings {
                    let found = Duration::try_from_secs_f64(finding.seconds).unwrap_or_default();
                    self.logs.finding(found, finding)?;
                }
            } else if log.is_journal() {
                self.write_journal_anew()?;
            }
            let then = if log.is_series() { "begins anew" } else { "written anew" };
            self.warn(&format!("{} {}: {then}", log.path, log.damage))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_is_told_by_name_size_and_contents() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("id_000000");
        let of = |bytes: &[u8]| damage(&path, Some(bytes.len() as u64), Some(hash_std(bytes)));
        assert_eq!(of(b"text"), Some("is missing"));
        for (contents, expected) in [
            (&b"text"[..], None),
            (b"", Some("is damaged (empty)")),
            (b"texts", Some("has changed")),
            (&[0; 4], Some("has changed")),
        ] {
            std::fs::write(&path, contents).unwrap();
            assert_eq!(of(b"text"), expected);
        }
        std::fs::write(&path, b"").unwrap();
        assert_eq!(of(b""), None);
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        assert_eq!(of(b"text"), Some("is no regular file"));
    }
}
