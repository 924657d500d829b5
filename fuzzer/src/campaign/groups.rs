//! Groups of findings with the same cause: their cost grew in the same places of the code.

use std::{collections::BTreeMap, ops::RangeFrom};

use quagmire_results::{
    growth::{Grown, Growth},
    summary::{Finding, FindingKind, Group, Summary},
};

/// Similarity of their growth from which two findings have the same cause.
pub(super) const SAME: f64 = 0.5;

/// Groups all findings; groups, and findings in them, are sorted, the worst first. A finding joins the first group
/// whose worst member is similar. Faults and hangs, whose growth is not known, are compared by how and where they
/// ended.
pub(super) fn groups(findings: &[Finding]) -> Vec<Group> {
    let mut order: Vec<usize> = (0..findings.len()).collect();
    order.sort_by(|&a, &b| badness(&findings[b]).total_cmp(&badness(&findings[a])));
    let mut groups: Vec<Group> = Vec::new();
    for place in order {
        let finding = &findings[place];
        match groups.iter_mut().find(|group| have_same_cause(&findings[group.findings[0]], finding)) {
            Some(group) => group.findings.push(place),
            None => groups.push(Group { title: title(finding), findings: vec![place] }),
        }
    }
    groups
}

/// Makes a finding that is `better` the first one of its group if that one has no law and is no worse by more than a factor, in
/// some of the groups.
pub(super) fn lead_by(summary: &mut Summary, groups: RangeFrom<usize>, factor: f64, better: impl Fn(&Finding) -> bool) {
    let findings = &summary.findings;
    for group in summary.groups.get_mut(groups).unwrap_or_default() {
        let Some(worst) = group.findings.first().and_then(|&worst| findings.get(worst)) else { continue };
        let is_near = |finding: &Finding| badness(finding) * factor >= badness(worst);
        let is_better = |&index: &usize| findings.get(index).is_some_and(|finding| is_near(finding) && better(finding));
        if worst.law.is_none()
            && worst.kind == FindingKind::Degradation
            && let Some(place) = group.findings.iter().position(is_better)
        {
            group.findings[..=place].rotate_right(1);
        }
    }
}

/// Joins groups of degradations whose worst findings have one innermost function and one kind of law: they have the same
/// cause, however different the lines are in which their cost grew.
pub(super) fn merge_by_law(summary: &mut Summary) {
    let findings = &summary.findings;
    let cause = |group: &Group| {
        let finding = findings.get(*group.findings.first()?)?;
        let law = finding.law.as_ref().filter(|_| finding.kind == FindingKind::Degradation)?;
        Some((finding.innermost_function()?.to_owned(), law.class.clone(), law.resource))
    };
    let mut merged: Vec<(Option<_>, Group)> = Vec::new();
    for group in std::mem::take(&mut summary.groups) {
        let cause = cause(&group);
        match merged.iter_mut().find(|(known, _)| cause.is_some() && *known == cause) {
            Some((_, known)) => known.findings.extend(group.findings),
            None => merged.push((cause, group)),
        }
    }
    summary.groups = merged.into_iter().map(|(_, group)| group).collect();
}

/// Sort key of findings: the ratio of their severity, or the largest known one. Hangs come before all degradations,
/// faults after them.
fn badness(finding: &Finding) -> f64 {
    let ratio = finding.badness().unwrap_or(0.0);
    match finding.kind {
        FindingKind::Hang => 1e18 + ratio,
        FindingKind::Degradation => ratio,
        FindingKind::Fault => ratio / 1e18,
    }
}

fn title(finding: &Finding) -> String {
    let place = finding.innermost_function().unwrap_or("unknown place").to_owned();
    match finding.kind {
        FindingKind::Degradation => place,
        kind => format!("{}: {place}", kind.label()),
    }
}

fn have_same_cause(a: &Finding, b: &Finding) -> bool {
    if a.kind != b.kind {
        return false;
    }
    match similarity(&a.growth, &b.growth) {
        Some(similarity) => similarity >= SAME,
        None => title(a) == title(b),
    }
}

/// Similarity of two growths: weighted Jaccard index over source lines (functions, if no lines are known), the sum of
/// the smaller shares over the sum of the larger ones. 0 for nothing in common, 1 for the same; `None` if either is
/// not known.
pub(super) fn similarity(a: &Growth, b: &Growth) -> Option<f64> {
    let by_lines = !a.lines.is_empty() && !b.lines.is_empty();
    let places = |growth: &Growth| {
        let mut shares = BTreeMap::new();
        for grown in if by_lines { &growth.lines } else { &growth.functions } {
            let Grown { function, file, line, share, .. } = grown;
            *shares.entry((function.clone(), file.clone(), *line)).or_insert(0.0) += share.max(0.0);
        }
        shares
    };
    let (a, b) = (places(a), places(b));
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let (mut common, mut all) = (0.0, 0.0);
    for (place, &share) in &a {
        let other = b.get(place).copied().unwrap_or(0.0);
        common += share.min(other);
        all += share.max(other);
    }
    all += b.iter().filter(|(place, _)| !a.contains_key(*place)).map(|(_, share)| share).sum::<f64>();
    Some(if all > 0.0 { common / all } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use quagmire_results::summary::FindingLaw;

    fn growth(shares: &[(&str, f64)]) -> Growth {
        let one = |&(function, share): &(&str, f64)| Grown {
            function: function.to_owned(),
            file: Some("a.c".to_owned()),
            line: Some(1),
            count: 2,
            first_count: 1,
            instructions: 2,
            first_instructions: 1,
            share,
        };
        Growth { lines: shares.iter().map(one).collect(), ..Growth::default() }
    }

    fn finding(kind: FindingKind, ratio: f64, function: &str, shares: &[(&str, f64)]) -> Finding {
        Finding {
            kind,
            bytes: 1,
            instructions_ratio: Some(ratio),
            hot_function: Some(function.to_owned()),
            growth: growth(shares),
            ..Finding::default()
        }
    }

    #[test]
    fn similarity_is_the_share_of_growth_in_the_same_places() {
        let a = growth(&[("f", 0.8), ("g", 0.2)]);
        assert!((similarity(&a, &a).unwrap() - 1.0).abs() < 1e-9);
        assert_eq!(similarity(&a, &growth(&[("h", 1.0)])), Some(0.0));
        assert!((similarity(&a, &growth(&[("f", 0.4), ("h", 0.6)])).unwrap() - 0.4 / 1.6).abs() < 1e-9);
        assert_eq!(similarity(&a, &Growth::default()), None);
    }

    #[test]
    fn findings_with_the_same_cause_are_one_group_and_the_worst_leads() {
        let kind = FindingKind::Degradation;
        let findings = [
            finding(kind, 3.0, "f", &[("f", 0.9), ("g", 0.1)]),
            finding(kind, 50.0, "h", &[("h", 1.0)]),
            finding(kind, 9.0, "f", &[("f", 0.8), ("g", 0.2)]),
        ];
        let groups = groups(&findings);
        let expected =
            [Group { title: "h".into(), findings: vec![1] }, Group { title: "f".into(), findings: vec![2, 0] }];
        assert_eq!(groups, expected);
    }

    #[test]
    fn groups_with_one_hot_function_and_one_law_are_one_cause() {
        let known = quagmire_results::testing::example();
        let law = |class: &str| known.findings[0].law.clone().map(|law| FindingLaw { class: class.to_owned(), ..law });
        let with = |function: &str, class: &str| Finding {
            law: law(class),
            ..finding(FindingKind::Degradation, 9.0, function, &[])
        };
        let mut summary = Summary {
            findings: vec![with("f", "quadratic"), with("f", "linear"), with("f", "quadratic"), with("g", "quadratic")],
            groups: (0..4).map(|at| Group { title: "f".into(), findings: vec![at] }).collect(),
            ..known
        };
        merge_by_law(&mut summary);
        let places: Vec<_> = summary.groups.into_iter().map(|group| group.findings).collect();
        assert_eq!(places, [vec![0, 2], vec![1], vec![3]]);
    }

    #[test]
    fn a_better_finding_leads_its_group_unless_it_is_far_behind() {
        let of = |ratio: f64| finding(FindingKind::Degradation, ratio, "f", &[("f", 1.0)]);
        let mut summary = Summary {
            findings: vec![of(9.0), of(8.0), of(5.0), of(2.0)],
            groups: vec![Group { title: "f".into(), findings: vec![0, 1, 2, 3] }],
            ..quagmire_results::testing::example()
        };
        lead_by(&mut summary, 0.., 4.0, |finding| finding.badness() == Some(2.0));
        assert_eq!(summary.groups[0].findings, [0, 1, 2, 3]);
        lead_by(&mut summary, 0.., 4.0, |finding| finding.badness() == Some(5.0));
        assert_eq!(summary.groups[0].findings, [2, 0, 1, 3]);
        lead_by(&mut summary, 1.., f64::INFINITY, |finding| finding.badness() == Some(2.0));
        assert_eq!(summary.groups[0].findings, [2, 0, 1, 3]);
    }

    #[test]
    fn hangs_come_first_and_faults_last() {
        let findings = [
            finding(FindingKind::Fault, 900.0, "f", &[]),
            finding(FindingKind::Degradation, 5.0, "f", &[("f", 1.0)]),
            finding(FindingKind::Hang, 2.0, "f", &[]),
            finding(FindingKind::Fault, 1.0, "f", &[]),
        ];
        let places: Vec<_> = groups(&findings).into_iter().map(|group| group.findings).collect();
        assert_eq!(places, [vec![2], vec![1], vec![0, 3]]);
    }
}
