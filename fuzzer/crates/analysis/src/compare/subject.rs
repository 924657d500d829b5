//! Inputs that builds are compared on, with all that is known of their runs: of files and folders, or the findings of a campaign,
//! whose summary says what they cost then.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use sha2::{Digest as _, Sha256};

use super::evidence::{Evidence, Source};
use crate::{measurement::status_name, runner::Run};
use quagmire_base::{
    error::{Error, Result},
    files::{self, Folder, LARGEST_INPUT},
    plain::warn,
    seeds::{Seed, Seeds},
};
use quagmire_cost::{
    resource::{Cost, Resource},
    sizes::RelativeTo,
};
use quagmire_execution::abi::Status;
use quagmire_results::{
    Summary,
    comparison::Reference,
    summary::{Finding, FindingKind},
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
        let hash = Sha256::digest(&seed.bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        Self { path: seed.path, bytes: seed.bytes, hash, evidence: Evidence::default() }
    }
}

/// Folders with inputs in the output folder of a campaign.
const OF_CAMPAIGN: [&str; 4] = ["queue", "degradations", "faults", "hangs"];

/// Whether a folder is the output of a campaign.
fn is_campaign(folder: &Path) -> bool {
    folder.join("summary.json").is_file() && folder.join("queue").is_dir()
}

/// Loads files and folders, each content once. Of the output folder of a campaign, its queue and its findings.
///
/// # Errors
/// If a path is missing or unreadable, or nothing is found.
pub(super) fn load(paths: &[PathBuf]) -> Result<Vec<Subject>> {
    let mut seeds = Vec::new();
    let mut add = |path: PathBuf, is_input: fn(&Path) -> bool| -> Result<()> {
        let found = Seeds::load_for_replay(&[path])?;
        found.warnings.iter().for_each(|warning| warn(warning));
        seeds.extend(found.inputs.into_iter().filter(|seed| is_input(&seed.path)));
        Ok(())
    };
    for path in paths {
        if !is_campaign(path) {
            add(path.clone(), |_| true)?;
            continue;
        }
        for part in OF_CAMPAIGN.iter().map(|part| path.join(part)).filter(|part| files::is_folder(part)) {
            // of a campaign's folders, most are empty
            if !Folder::named(&part).is_empty().unwrap_or(true) {
                add(part, |path| !is_description(path))?;
            }
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
    let is_text = [".json", ".txt", ".html"].iter().any(|extension| name.ends_with(extension));
    is_text && !name.starts_with("id")
}

/// Loads the findings of the campaign whose output folder is the only input.
///
/// # Errors
/// If there is no such folder, or it has no findings.
pub(super) fn findings(inputs: &[PathBuf]) -> Result<(Vec<Subject>, Reference)> {
    let folder = match inputs {
        [folder] if is_campaign(folder) => folder,
        _ => {
            return Err(Error::usage(
                "there is one build and nothing to compare it with: write -- OLD --and NEW, give a --baseline, or name the \
                 output folder of a campaign as the only input",
            ));
        }
    };
    let summary = Summary::of_campaign(folder)?;
    let mut subjects = Vec::new();
    for finding in &summary.findings {
        let path = folder.join(&finding.path);
        match read(folder, finding) {
            Ok(bytes) => {
                let mut subject = Subject::new(Seed { path, bytes });
                subject.evidence.source = Source::Campaign;
                subject.evidence.old = Some(run(finding));
                subject.evidence.ordinary = ordinary(finding, summary.relative_to);
                subjects.push(subject);
            }
            Err(error) => warn(&format!("{} is left out: {error}", path.display())),
        }
    }
    if subjects.is_empty() {
        return Err(Error::usage(format!(
            "the campaign {} has no findings to run again: name an old build to compare over its queue (-- OLD --and NEW)",
            folder.display()
        )));
    }
    Ok((subjects, Reference::Campaign(folder.display().to_string())))
}

/// Reads the file of a finding, which lies in one of the folders of the campaign.
fn read(folder: &Path, finding: &Finding) -> std::io::Result<Vec<u8>> {
    let (below, name) = finding.path.rsplit_once('/').unwrap_or(("", &finding.path));
    let parts = below.split('/').filter(|part| !part.is_empty());
    parts.fold(Folder::named(folder), |folder, part| folder.inside(part)).read(name, LARGEST_INPUT)
}

/// The run of a finding, as far as the summary tells.
fn run(finding: &Finding) -> Run {
    let status = match finding.kind {
        FindingKind::Degradation => Status::Returned,
        FindingKind::Hang => Status::Hung,
        // whether it crashed or exited is said by the details
        FindingKind::Fault => Status::Crashed,
    };
    // of a hang, the summary has its kind once more
    let detail = finding.detail.clone().filter(|_| finding.kind != FindingKind::Hang);
    let mut cost = Cost::default();
    finding.costs.iter().for_each(|one| cost[one.resource] = one.amount);
    Run { status: status_name(status).to_owned(), detail, cost, ..Run::default() }
}

/// Instructions that the finding was held against.
fn ordinary(finding: &Finding, relative_to: RelativeTo) -> Option<u64> {
    let cost = finding.costs.iter().find(|one| one.resource == Resource::Instructions)?;
    match relative_to {
        RelativeTo::Size => cost.ordinary.or(Some(cost.baseline)),
        RelativeTo::Seed => Some(cost.baseline),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quagmire_results::summary::FindingCost;

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

    #[test]
    fn a_finding_is_the_run_that_the_summary_tells_of() {
        let cost = FindingCost {
            resource: Resource::Instructions,
            amount: 900,
            baseline: 10,
            ratio: 90.0,
            ordinary: Some(30),
            ratio_by_size: Some(30.0),
        };
        let finding = Finding { costs: vec![cost], ..Finding::default() };
        assert_eq!((run(&finding).status.as_str(), run(&finding).cost[Resource::Instructions]), ("returned", 900));
        assert_eq!(ordinary(&finding, RelativeTo::Size), Some(30));
        assert_eq!(ordinary(&finding, RelativeTo::Seed), Some(10));
        let hang = Finding { kind: FindingKind::Hang, ..Finding::default() };
        assert_eq!((run(&hang).status.as_str(), ordinary(&hang, RelativeTo::Size)), ("hung", None));
    }

    #[test]
    fn paths_of_a_summary_do_not_lead_out_of_the_campaign() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("out/degradations")).unwrap();
        std::fs::write(folder.path().join("secret"), "secret").unwrap();
        std::fs::write(folder.path().join("out/degradations/a"), "a").unwrap();
        let read = |path: &str| read(&folder.path().join("out"), &Finding { path: path.into(), ..Finding::default() });
        assert_eq!(read("degradations/a").unwrap(), b"a");
        assert!(read("../secret").is_err() && read("degradations/../../secret").is_err());
    }
}
