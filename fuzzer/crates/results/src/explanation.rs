//! Words on the causes of findings: the place, the law and the smallest input of each, or why they are not known. They are the
//! same on the screen, in reports and in exports.

use std::path::Path;

use serde::Serialize;

use crate::summary::{Finding, FindingKind, Summary, Unexplained};
use quagmire_base::format::{counted, cut, grouped, ratio, short, shortened};
use quagmire_cost::resource::Resource;
use quagmire_execution::info::Instrumentation;

/// Causes that are shown at the end of a campaign.
const CAUSES: usize = 5;
/// Reason of a finding that was not looked at.
pub const NO_TURN: &str = "explanations ended before its turn";
/// Longest text of a template in a line, in characters.
const LONGEST_TEMPLATE: usize = 200;

/// One line of an explanation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explained {
    /// Its title: `Law`, `Template`, `Smallest`, `No law`, `No smallest`.
    pub title: &'static str,
    /// The answer, or why there is none.
    pub text: String,
    /// Command that would give what is not known.
    pub command: Option<String>,
}

impl Explained {
    /// Its text, with the command in brackets.
    pub fn in_words(&self) -> String {
        match &self.command {
            Some(command) => format!("{} ({command})", self.text),
            None => self.text.clone(),
        }
    }

    /// Its title as a key: `no_law`.
    pub fn key(&self) -> String {
        self.title.to_lowercase().replace(' ', "_")
    }
}

/// Lines on the law and the smallest input of a finding; empty if nobody has looked for them. Paths stand behind `folder`.
pub fn explanation(finding: &Finding, folder: &Path) -> Vec<Explained> {
    let known = |title, text| Explained { title, text, command: None };
    let unknown = |title, reason: &Unexplained| Explained {
        title,
        text: reason.why.clone(),
        command: Some(reason.command.clone()).filter(|command| !command.is_empty()),
    };
    let mut lines = Vec::new();
    match (&finding.law, &finding.no_law) {
        (Some(law), _) => {
            let of = if law.resource == Resource::Instructions { String::new() } else { format!("{}: ", law.resource) };
            lines.push(known("Law", format!("{of}{} ({} confidence)", law.words, law.confidence)));
            lines.extend(finding.template.as_deref().map(|text| known("Template", cut(text, LONGEST_TEMPLATE))));
        }
        (None, Some(reason)) => lines.push(unknown("No law", reason)),
        (None, None) => {}
    }
    match (&finding.minimized, &finding.no_smallest) {
        (Some(smallest), _) => {
            let path = folder.join(&smallest.path);
            let size = match smallest.bytes < finding.bytes {
                true => format!("{} of {}", counted(smallest.bytes, "byte"), grouped(finding.bytes)),
                false => format!("{}: the input itself", counted(finding.bytes, "byte")),
            };
            lines.push(known("Smallest", format!("{} ({size})", path.display())));
        }
        (None, Some(reason)) => lines.push(unknown("No smallest", reason)),
        (None, None) => {}
    }
    lines
}

/// Function and location where a finding spends its cost, and then those of the library below it, if there is one; empty if
/// nothing is known.
pub fn places(finding: &Finding) -> Vec<String> {
    let words = |function: &str, location: Option<&str>| {
        format!("{}{}", short(function), location.map_or_else(String::new, |place| format!(", {place}")))
    };
    let first = finding.hot_function.as_ref().map(|function| words(function, finding.hot_location.as_deref()));
    let below = finding.below().map(|below| words(&below.function, below.location().as_deref()));
    first.into_iter().chain(below).collect()
}

/// As [`places`], for a narrow display: names are shortened, and files are without their folders.
pub fn brief_places(finding: &Finding) -> Vec<String> {
    let file = |place: &str| place.rsplit('/').next().unwrap_or_default().to_owned();
    let words = |function: &str, location: Option<String>| {
        format!(
            "{}{}",
            shortened(function, 44),
            location.map_or_else(String::new, |place| format!(" {}", file(&place)))
        )
    };
    let first = finding.hot_function.as_ref().map(|function| words(function, finding.hot_location.clone()));
    let below = finding.below().map(|below| format!("below it {}", words(&below.function, below.location())));
    first.into_iter().chain(below).collect()
}

/// The finding that is named first wherever one is: the worst of the worst cause, which is the one that is explained, or else
/// the slowest degradation; `None` without degradations.
pub fn worst(summary: &Summary) -> Option<&Finding> {
    let is_slow = |finding: &&Finding| finding.kind == FindingKind::Degradation;
    let kept = summary.worst.as_ref();
    let is_kept = |finding: &&Finding| kept.is_some_and(|kept| kept.path == finding.path);
    let leader = leaders(summary).next().map(|(finding, _)| finding);
    leader
        .or_else(|| summary.findings.iter().filter(is_slow).find(is_kept))
        .or_else(|| Finding::slowest(&summary.findings))
}

/// A multiple of the cost that made an input a finding: `255.0x the peak heap`; `None` for instructions and times, which all
/// reports name anyway.
pub fn special_cost(finding: &Finding, by: Instrumentation) -> Option<String> {
    let cost = finding.decisive()?;
    let is_told = matches!(cost.resource, Resource::Instructions | Resource::Time)
        || cost.resource == Resource::Edges && !by.measures(Resource::Instructions);
    (!is_told).then(|| format!("{} the {}", ratio(cost.multiple()), cost.resource.noun()))
}

/// Cost of a finding by its decisive resource: `6,565x the instructions`, `255.0x the peak heap`.
fn cost(finding: &Finding, by: Instrumentation) -> Option<String> {
    special_cost(finding, by).or_else(|| {
        let (value, noun) = match finding.decisive() {
            Some(cost) if cost.resource == Resource::Time => (cost.multiple(), by.time()),
            Some(cost) => (cost.multiple(), by.work()),
            None => (finding.instructions_ratio_by_size.or(finding.instructions_ratio)?, by.work()),
        };
        Some(format!("{} the {noun}", ratio(value)))
    })
}

/// The causes of degradations, the worst first, each with the place and what is known of its worst finding. Paths stand
/// behind `folder`.
pub fn causes(summary: &Summary, folder: &Path) -> String {
    let by = summary.target.instrumentation;
    let has_turn = |finding: &Finding| finding.no_law.as_ref().is_none_or(|reason| reason.why != NO_TURN);
    let (groups, waiting): (Vec<_>, Vec<_>) = leaders(summary).partition(|(finding, _)| has_turn(finding));
    let mut text = String::new();
    let mut row = |title: &str, words: &str| text += &format!("{:<11} {words}\n", format!("{title}:"));
    for (finding, size) in groups.iter().take(CAUSES) {
        let place = match places(finding).as_slice() {
            [] => "an unknown place".to_owned(),
            places => places.join("; below it "),
        };
        let cost = cost(finding, by).map_or_else(String::new, |cost| format!("{cost}, in "));
        let findings = if *size > 1 { format!(" ({} findings)", grouped(*size as u64)) } else { String::new() };
        row("Cause", &format!("{cost}{place}{findings}"));
        for line in explanation(finding, folder) {
            let of = if line.title == "Law" { format!(": {}", finding.path) } else { String::new() };
            row(line.title, &format!("{}{of}", line.in_words()));
        }
    }
    if let Some(reason) = waiting.first().and_then(|(finding, _)| finding.no_law.as_ref()) {
        let causes = counted(waiting.len() as u64, "cause");
        row("No turn", &format!("{causes}; the law of the worst of them: {}", reason.command));
    }
    if groups.len() > CAUSES {
        let more = counted((groups.len() - CAUSES) as u64, "other cause");
        row("And", &format!("{more}: {}", folder.join("summary.json").display()));
    }
    text
}

/// The worst degradation of each group, the worst group first, with the number of findings in the group.
pub fn leaders(summary: &Summary) -> impl Iterator<Item = (&Finding, usize)> {
    summary.groups.iter().filter_map(|group| {
        let finding = summary.findings.get(*group.findings.first()?)?;
        (finding.kind == FindingKind::Degradation).then_some((finding, group.findings.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        summary::{FindingCost, Group},
        testing::example,
    };

    fn unexplained(why: &str) -> Option<Unexplained> {
        let command = "./trim growth --budget 5m out/degradations/id_000012".into();
        Some(Unexplained { why: why.into(), command, tried: true })
    }

    #[test]
    fn each_cause_is_one_entry_with_its_place_and_all_that_is_known() {
        let mut summary = example();
        let unknown = Finding {
            law: None,
            minimized: None,
            no_law: unexplained("nothing in it repeats"),
            no_smallest: unexplained("there was no time for it"),
            hot_function: Some("parse".into()),
            ..summary.findings[0].clone()
        };
        let whole =
            summary.findings[0].minimized.clone().map(|small| crate::summary::Minimized { bytes: 4_990, ..small });
        let needed = Finding { minimized: whole, template: Some("x".repeat(400)), ..summary.findings[0].clone() };
        summary.findings.extend([unknown, needed]);
        summary.groups =
            [vec![0, 1], vec![2], vec![3]].map(|findings| Group { title: String::new(), findings }).to_vec();
        insta::assert_snapshot!("causes", causes(&summary, Path::new("out")));
        summary.findings[2].no_law = unexplained(NO_TURN);
        let text = causes(&summary, Path::new("out"));
        let last =
            "No turn:    1 cause; the law of the worst of them: ./trim growth --budget 5m out/degradations/id_000012\n";
        assert!(text.ends_with(last) && !text.contains(NO_TURN), "{text}");
        summary.groups = vec![summary.groups[0].clone(); 7];
        assert!(causes(&summary, Path::new("out")).ends_with("And:        2 other causes: out/summary.json\n"));
    }

    #[test]
    fn the_program_is_named_before_the_library_below_it_wherever_a_place_is() {
        let mut summary = example();
        let mut growth = summary.findings[0].growth.clone();
        growth.functions = vec![growth.lines[0].clone()];
        (growth.lines[0].function, growth.lines[0].file) =
            ("std::regex_search<char>(char)".into(), Some("/usr/include/c++/12/bits/regex.tcc".into()));
        summary.findings[0].growth = growth;
        let library = "std::regex_search<char>(char), /usr/include/c++/12/bits/regex.tcc:12";
        assert_eq!(places(&summary.findings[0]), ["trim, trim.cpp:12", library]);
        let brief = brief_places(&summary.findings[0]);
        assert_eq!(brief, ["trim trim.cpp:12", "below it std::regex_search<char>(char) regex.tcc:12"]);
        assert!(causes(&summary, Path::new("out")).contains(&format!("in trim, trim.cpp:12; below it {library}\n")));
        let report = crate::final_report(&summary, Path::new("out"));
        assert!(report.contains(&format!("  spent in     trim, trim.cpp:12\n  below it     {library}\n")), "{report}");
    }

    #[test]
    fn the_cost_is_that_of_the_resource_that_made_it_a_finding() {
        let mut finding = example().findings[0].clone();
        let by = Instrumentation::Counts;
        assert_eq!((special_cost(&finding, by), cost(&finding, by)), (None, Some("29.5x the instructions".into())));
        let heap = FindingCost { resource: Resource::Heap, ratio_by_size: Some(255.0), ..finding.costs[0] };
        finding.costs.push(heap);
        finding.ratio = Some(255.0);
        assert_eq!(cost(&finding, by).as_deref(), Some("255.0x the peak heap"));
    }
}
