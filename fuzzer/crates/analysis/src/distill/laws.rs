//! Laws of findings, as campaigns have written them into their summaries.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use super::features::LawNumber;
use quagmire_results::summary::Summary;

/// Laws of the findings of campaigns whose folders the inputs are in.
#[derive(Debug, Default)]
pub(super) struct Laws {
    /// For the folder of each campaign, the laws of its findings by their paths in it.
    campaigns: HashMap<PathBuf, HashMap<String, (String, String)>>,
    /// Numbers of hot functions with the classes of their laws.
    numbers: HashMap<(String, String), LawNumber>,
}

impl Laws {
    /// Number of the law of an input: of its class, in the function that is hot. `None` if the input is no finding of
    /// a campaign, or its law is not known.
    pub(super) fn of(&mut self, input: &Path) -> Option<LawNumber> {
        let (folder, name) = (input.parent()?, input.file_name()?.to_str()?);
        let out = folder.parent()?;
        let findings = self.campaigns.entry(out.to_owned()).or_insert_with(|| findings(out));
        let law = findings.get(&format!("{}/{name}", folder.file_name()?.to_str()?))?;
        let next = self.numbers.len() as LawNumber;
        Some(*self.numbers.entry(law.clone()).or_insert(next))
    }
}

/// Hot function and class of law of each finding in this folder; empty if it is not the folder of a campaign.
fn findings(out: &Path) -> HashMap<String, (String, String)> {
    let Ok(summary) = Summary::read(&out.join("summary.json")) else { return HashMap::new() };
    let law = |finding: quagmire_results::summary::Finding| {
        let function = finding.innermost_function().unwrap_or_default().to_owned();
        Some((finding.path, (function, finding.law?.class)))
    };
    summary.findings.into_iter().filter_map(law).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use quagmire_results::{summary::FindingLaw, testing};

    #[test]
    fn findings_with_the_same_function_and_class_show_the_same_law_and_seeds_show_none() {
        let out = tempfile::tempdir().unwrap();
        let mut summary = testing::example();
        let law = |class: &str| FindingLaw {
            words: "as said".to_owned(),
            class: class.to_owned(),
            resource: quagmire_cost::resource::Resource::Instructions,
            confidence: "high".to_owned(),
            rival: None,
            onset: None,
            cap: None,
            bytes_of_second: None,
            bytes_of_minute: None,
            generator: None,
            points: Vec::new(),
        };
        let first = summary.findings[0].clone();
        summary.findings = ["quadratic", "quadratic", "cubic"]
            .into_iter()
            .zip(0..)
            .map(|(class, at)| {
                let path = format!("degradations/{at}");
                quagmire_results::summary::Finding { path, law: Some(law(class)), ..first.clone() }
            })
            .collect();
        summary.write(&out.path().join("summary.json")).unwrap();
        let mut laws = Laws::default();
        let mut of = |name: &str| laws.of(&out.path().join(name));
        assert_eq!(["degradations/0", "degradations/1", "degradations/2"].map(&mut of), [Some(0), Some(0), Some(1)]);
        assert_eq!([of("queue/0"), of("degradations/3"), of("0")], [None; 3]);
    }
}
