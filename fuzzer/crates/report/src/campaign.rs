//! The data of a report: read from a campaign's output folder, and from nowhere else.

use std::{
    io::Read,
    path::{Path, PathBuf},
};

use super::graph::chart::{Phase, Series, read_phases};
use quagmire_base::{
    error::Result,
    files::{Folder, LARGEST_TEXT},
};
use quagmire_results::{
    Ancestry,
    summary::{Finding, Summary},
};

/// Number of leading bytes of an input that are read.
const LARGEST_INPUT: u64 = 16 << 20;

/// A campaign on disk, which may still be running: every file is read once.
#[derive(Debug)]
pub struct Campaign {
    /// The output folder.
    pub out: PathBuf,
    /// The folder as its user calls it, for commands.
    pub shown: PathBuf,
    /// `summary.json`.
    pub summary: Summary,
    /// Largest cost as a multiple of the baseline, over time; only the start if the log is missing.
    pub ratio: Series,
    /// Number of degradations over time.
    pub degradations: Series,
    /// Unique valid traces over time, B(1), and B(2); only starts if the log is missing.
    pub diversity: [Series; 3],
    /// Phases of `logs/phases_data.txt`; empty if it is missing.
    pub phases: Vec<Phase>,
    ancestry: Ancestry,
}

impl Campaign {
    /// Reads the output folder of a campaign.
    ///
    /// # Errors
    /// If it is not the output folder of a campaign, or has no summary yet.
    pub fn read(out: &Path) -> Result<Self> {
        let summary = Summary::of_campaign(out)?;
        let log = |name: &str| {
            let bytes = Folder::named(out).inside("logs").read(name, LARGEST_TEXT).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        Ok(Self {
            out: out.to_owned(),
            shown: out.to_owned(),
            summary,
            ratio: Series::read(&log("coverage_plot_data.txt"), 1, 1.0),
            degradations: Series::read(&log("degradation_plot_data.txt"), 1, 0.0),
            diversity: {
                let log = log("diversity_plot_data.txt");
                [5, 7, 8].map(|column| Series::read_varying(&log, column))
            },
            phases: read_phases(&log("phases_data.txt")),
            ancestry: Ancestry::read(out),
        })
    }

    /// Contents of an input in the folder; `None` if it does not exist or is outside of the folder.
    pub fn input(&self, relative: &str) -> Option<Vec<u8>> {
        let (folders, file) = relative.rsplit_once('/').unwrap_or(("", relative));
        let folders = folders.split('/').filter(|name| !name.is_empty());
        let folder = folders.fold(Folder::named(&self.out), |folder, name| folder.inside(name));
        let mut bytes = Vec::new();
        folder.open(file).ok()?.take(LARGEST_INPUT).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// The seed that a finding descends from, relative to the folder: by the summary, or else by the names of its
    /// ancestors in the queue.
    pub fn root(&self, finding: &Finding) -> Option<String> {
        if let Some(root) = &finding.root {
            return Some(root.clone());
        }
        self.ancestry.seed_of(&finding.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::example_folder;
    use std::fs;

    #[test]
    fn a_link_in_the_folder_does_not_bring_a_private_file_into_the_report() {
        let folder = example_folder();
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("queue/id_000009")).unwrap();
        std::os::unix::fs::symlink("/etc", folder.path().join("elsewhere")).unwrap();
        let campaign = Campaign::read(folder.path()).unwrap();
        assert_eq!((campaign.input("queue/id_000009"), campaign.input("elsewhere/passwd")), (None, None));
    }

    #[test]
    fn inputs_outside_the_folder_are_not_read() {
        let folder = example_folder();
        let campaign = Campaign::read(folder.path()).unwrap();
        assert!(campaign.input("queue/id_000000,orig_seed.txt").is_some());
        for path in ["/etc/passwd", "../secret", "queue/../../secret", "queue", "", "queue/\0"] {
            assert_eq!(campaign.input(path), None, "{path}");
        }
    }

    #[test]
    fn the_seed_of_a_finding_is_found_by_the_names_of_its_ancestors() {
        let folder = example_folder();
        for name in ["id_000005,src_000003,op_T.1", "id_000006,src_000006,op_T.1"] {
            fs::write(folder.path().join("queue").join(name), "x").unwrap();
        }
        let campaign = Campaign::read(folder.path()).unwrap();
        let root = |path: &str| {
            let finding = Finding { root: None, path: path.to_owned(), ..campaign.summary.findings[0].clone() };
            campaign.root(&finding)
        };
        let seed = Some("queue/id_000000,orig_seed.txt".to_owned());
        assert_eq!(root("degradations/id_000012,src_000005,cost_41.4,op_T.10"), seed);
        // faults are numbered on their own
        assert_eq!(root("faults/id_000000,src_000005,op_T.10"), seed);
        assert_eq!(root("faults/id_000001,src_000006,op_T.10"), None, "its own parent");
        assert_eq!(root("faults/id_000001,src_000099,op_T.10"), None, "a parent that is gone");
        assert_eq!(root("faults/id_000001,orig_seed"), None);
    }

    #[test]
    fn what_is_not_a_campaign_is_an_error_with_the_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let message = |path: &Path| Campaign::read(path).unwrap_err().message;
        assert!(message(folder.path()).contains("holds no summary.json"));
        assert!(message(&folder.path().join("no")).contains("there is no folder"));
        fs::write(folder.path().join("summary.json"), "{}").unwrap();
        assert!(message(folder.path()).contains("is not a summary"));
    }
}
