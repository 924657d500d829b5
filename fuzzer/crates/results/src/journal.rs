//! `logs/findings.jsonl`: every finding in full, with the hashes of its files. Campaigns recover from it what their last
//! checkpoint does not know.

use std::{collections::BTreeMap, io::Read as _, path::Path};

use serde::{Deserialize, Serialize};

use quagmire_base::{atomic::write_whole, error::Result, files};

use crate::{logs::Lines, summary::Finding};

/// Path of the journal in an output folder.
pub const JOURNAL: &str = "logs/findings.jsonl";

/// Largest length of the first line, in bytes.
const LONGEST_HEAD: u64 = 200;

/// The first line.
#[derive(Serialize, Deserialize)]
struct Head {
    campaign: String,
}

/// A finding and its files. It has a line when it is found, and another one when it is explained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Saved {
    /// Hashes of the contents of its files, by their paths in the output folder.
    pub files: BTreeMap<String, u64>,
    /// The finding.
    pub finding: Finding,
}

impl Saved {
    /// A finding with the hashes of its files, as far as `hash` knows them by their paths.
    pub fn of(finding: &Finding, hash: impl Fn(&str) -> Option<u64>) -> Self {
        let smallest = finding.minimized.as_ref().map(|one| &one.path);
        let ordinary = finding.ordinary_input.as_ref().map(|one| &one.path);
        let paths = [Some(&finding.path), smallest, ordinary].into_iter().flatten();
        let files = paths.filter_map(|path| Some((path.clone(), hash(path)?))).collect();
        Self { files, finding: finding.clone() }
    }
}

/// Contents of a journal.
#[derive(Debug, Default, PartialEq)]
pub struct Journaled {
    /// Its lines, in their order.
    pub findings: Vec<Saved>,
    /// Number of lines that cannot be read, a last one without its end aside: the process was killed that wrote it.
    pub damaged: usize,
}

/// A journal, to which lines are appended.
#[derive(Debug)]
pub struct Journal {
    lines: Lines,
}

fn text(of: &impl Serialize) -> String {
    // cannot fail: plain data with text as keys
    serde_json::to_string(of).unwrap_or_default()
}

impl Journal {
    /// Opens the journal of the campaign of this name, or creates it.
    pub fn open(output: &Path, campaign: &str) -> Result<Self> {
        let head = text(&Head { campaign: campaign.to_owned() });
        Ok(Self { lines: Lines::open(output.join(JOURNAL), &head)? })
    }

    /// Replaces the journal by one with these findings.
    pub fn replace(output: &Path, campaign: &str, findings: impl Iterator<Item = Saved>) -> Result<Self> {
        let head = text(&Head { campaign: campaign.to_owned() });
        let lines: String =
            std::iter::once(head).chain(findings.map(|saved| text(&saved))).map(|line| line + "\n").collect();
        write_whole(&output.join(JOURNAL), lines.as_bytes())?;
        Self::open(output, campaign)
    }

    /// Appends a finding.
    pub fn add(&mut self, saved: &Saved) -> Result<()> {
        self.lines.push(&text(saved))
    }

    /// Name of the campaign of a journal; `None` if there is none, or it does not begin as one.
    pub fn campaign(output: &Path) -> Option<String> {
        let mut head = Vec::new();
        files::open(&output.join(JOURNAL)).ok()?.take(LONGEST_HEAD).read_to_end(&mut head).ok()?;
        let head: Head = serde_json::from_slice(head.split(|&byte| byte == b'\n').next()?).ok()?;
        Some(head.campaign)
    }

    /// Reads the findings of a journal; none if it cannot be read.
    pub fn read(output: &Path) -> Journaled {
        let text = Self::text(output).unwrap_or_default();
        let mut journaled = Journaled::default();
        for line in text.split_inclusive('\n').skip(1) {
            match serde_json::from_str(line) {
                Ok(saved) => journaled.findings.push(saved),
                Err(_) => journaled.damaged += usize::from(line.ends_with('\n')),
            }
        }
        journaled
    }

    fn text(output: &Path) -> Option<String> {
        let bytes = files::read(&output.join(JOURNAL), files::LARGEST_TEXT).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::example;

    #[test]
    fn findings_come_back_whole_and_damaged_lines_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("logs")).unwrap();
        assert_eq!((Journal::campaign(folder.path()), Journal::read(folder.path())), (None, Journaled::default()));
        let saved: Vec<Saved> = (0..)
            .zip(example().findings)
            .map(|(number, finding)| Saved {
                files: BTreeMap::from([(finding.path.clone(), u64::MAX - number)]),
                finding,
            })
            .collect();
        let mut journal = Journal::open(folder.path(), "mine").unwrap();
        saved.iter().for_each(|one| journal.add(one).unwrap());
        assert_eq!(Journal::campaign(folder.path()).as_deref(), Some("mine"));
        assert_eq!(Journal::read(folder.path()), Journaled { findings: saved.clone(), damaged: 0 });
        let mut text = std::fs::read(folder.path().join(JOURNAL)).unwrap();
        text.extend(b"\0\0\0\n{\"files\":");
        std::fs::write(folder.path().join(JOURNAL), text).unwrap();
        assert_eq!(Journal::read(folder.path()), Journaled { findings: saved.clone(), damaged: 1 });
        Journal::replace(folder.path(), "other", saved.iter().cloned()).unwrap().add(&saved[0]).unwrap();
        assert_eq!(Journal::campaign(folder.path()).as_deref(), Some("other"));
        assert_eq!(Journal::read(folder.path()).findings.len(), saved.len() + 1);
    }
}
