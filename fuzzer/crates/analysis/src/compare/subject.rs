//! Inputs that builds are compared on, with all that is known of their runs.

use std::{
    collections::{BTreeSet, HashSet},
    fmt::Write as _,
    path::{Path, PathBuf},
};

use sha2::{Digest as _, Sha256};

use super::evidence::Evidence;
use quagmire_base::{
    error::{Error, Result},
    files,
    plain::warn,
    seeds::{Seed, Seeds},
};

/// An input, and what is known of its runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Subject {
    pub path: PathBuf,
    pub bytes: Vec<u8>,
    /// SHA-256 of the contents, in hexadecimal digits.
    pub hash: String,
    pub evidence: Evidence,
}

impl Subject {
    pub(super) fn new(seed: Seed) -> Self {
        let hash = Sha256::digest(&seed.bytes).iter().fold(String::new(), |mut hash, byte| {
            let _ = write!(hash, "{byte:02x}");
            hash
        });
        Self { path: seed.path, bytes: seed.bytes, hash, evidence: Evidence::default() }
    }
}

/// Folders with inputs in the output folder of a campaign.
const OF_CAMPAIGN: [&str; 4] = ["queue", "degradations", "faults", "hangs"];

/// Whether a folder is the output of a campaign.
pub(super) fn is_campaign(folder: &Path) -> bool {
    folder.join("summary.json").is_file() && folder.join("queue").is_dir()
}

/// Loads files and folders, each content once. Of the output folder of a campaign, its queue and its findings.
///
/// # Errors
/// If a path is missing or unreadable, or nothing is found.
pub(super) fn load(paths: &[PathBuf]) -> Result<Vec<Subject>> {
    let parts = |path: &PathBuf| -> Vec<PathBuf> {
        if !is_campaign(path) {
            return vec![path.clone()];
        }
        OF_CAMPAIGN.iter().map(|part| path.join(part)).filter(|part| files::is_folder(part)).collect()
    };
    let mut seeds = Vec::new();
    for path in paths {
        let parts = parts(path);
        let is_part = parts.first() != Some(path);
        for part in parts {
            // of a campaign's folders, most are empty
            if is_part && files::Folder::named(&part).is_empty().unwrap_or(true) {
                continue;
            }
            let found = Seeds::load_for_replay(&[part])?;
            found.warnings.iter().for_each(|warning| warn(warning));
            seeds.extend(found.inputs.into_iter().filter(|seed| !(is_part && is_description(&seed.path))));
        }
    }
    if seeds.is_empty() {
        return Err(Error::usage(
            "there is no input to compare builds over: name files, or folders that are not empty",
        ));
    }
    let mut known = HashSet::new();
    Ok(seeds.into_iter().map(Subject::new).filter(|subject| known.insert(subject.hash.clone())).collect())
}

/// Whether a file of a campaign describes inputs and is none.
fn is_description(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let extensions = BTreeSet::from([".json", ".txt", ".html"]);
    name == "README.txt" || (!name.starts_with("id") && extensions.iter().any(|extension| name.ends_with(extension)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_contents_are_one_input_and_a_campaign_is_its_queue_and_findings() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        for part in ["queue", "degradations", "faults", "logs"] {
            std::fs::create_dir_all(out.join(part)).unwrap();
        }
        for (name, text) in
            [("summary.json", "{}"), ("queue/id_000000", "a"), ("degradations/id_000000", "b"), ("logs/x", "c")]
        {
            std::fs::write(out.join(name), text).unwrap();
        }
        let other = folder.path().join("other");
        std::fs::write(&other, "a").unwrap();
        let subjects = load(&[out, other]).unwrap();
        let contents: Vec<&[u8]> = subjects.iter().map(|subject| subject.bytes.as_slice()).collect();
        assert_eq!(contents, [b"a", b"b"]);
        let of_a = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb";
        assert_eq!(subjects[0].hash, of_a);
    }
}
