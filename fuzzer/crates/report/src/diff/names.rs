//! File names of the pages of findings.

use std::collections::BTreeSet;

use super::page::file_name;
use quagmire_results::summary::Finding;

/// File names of the pages of findings: that of the finding with `.html`, prefixed with its kind if that is taken.
pub(crate) fn names_of_pages(findings: &[Finding]) -> Vec<String> {
    const LONGEST: usize = 200;
    let mut taken = BTreeSet::new();
    let name = |(index, finding): (usize, &Finding)| {
        let base = file_name(&finding.path);
        let is_short = base.len() <= LONGEST && !base.is_empty() && !base.starts_with('.') && !base.contains('\0');
        let base = if is_short { base.to_owned() } else { format!("finding_{index:06}") };
        let name = [format!("{base}.html"), format!("{}_{base}.html", finding.kind.label())]
            .into_iter()
            .find(|name| !taken.contains(name))
            .unwrap_or_else(|| format!("finding_{index:06}.html"));
        taken.insert(name.clone());
        name
    };
    findings.iter().enumerate().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::example;

    #[test]
    fn no_two_findings_share_a_page() {
        let one = example().findings[0].clone();
        let paths = [
            "degradations/a",
            "faults/a",
            "hangs/a",
            "x/a",
            "faults/..",
            "faults/",
            &format!("faults/{}", "n".repeat(250)),
        ];
        let findings = paths.map(|path| Finding { path: path.to_owned(), ..one.clone() });
        assert_eq!(
            names_of_pages(&findings),
            [
                "a.html",
                "degradation_a.html",
                "finding_000002.html",
                "finding_000003.html",
                "finding_000004.html",
                "finding_000005.html",
                "finding_000006.html"
            ]
        );
    }
}
