//! Result of `distill` for people and for programs.

use std::fmt::Write as _;

use super::{
    DistillOptions, Weight,
    inputs::LeftOut,
    report::{DistillReport, in_words},
};
use quagmire_base::{
    error::Result,
    format::{counted, grouped},
    plain::{self, Form, shown, warn},
};

/// Most names in a line.
const NAMES: usize = 4;

/// Most lines of warnings of the same kind.
const WARNINGS: usize = 10;

/// Prints the result, and warns of what is not as it should be.
pub(super) fn print(report: &DistillReport, options: &DistillOptions) -> Result<()> {
    for lost in report.corpus.iter().filter_map(|kept| Some((&kept.path, kept.lost.as_ref()?))) {
        warn(&format!("{} should be in the corpus, and could not be written: {}", lost.0, lost.1));
    }
    let unstable: Vec<&str> =
        report.corpus.iter().filter(|kept| kept.stable == Some(false)).map(|kept| &*kept.path).collect();
    for path in unstable.iter().take(WARNINGS) {
        warn(&format!("{path} is unstable: a second run did not do the same, so that the corpus may keep less"));
    }
    if let Some(more) = unstable.len().checked_sub(WARNINGS).filter(|more| *more > 0) {
        warn(&format!("{} more are unstable: see --json", grouped(more as u64)));
    }
    if options.json {
        return plain::print_json(report);
    }
    let mut text = table(report);
    if options.verbose {
        text += "\n";
        report.left_out.iter().for_each(|one| text += &line(one));
    }
    let _ = writeln!(text, "\nThe corpus is in {}", shown(&options.output().display().to_string()));
    plain::print(&text, Form::Lines)
}

fn table(report: &DistillReport) -> String {
    let (kept, all) = (report.kept, report.all);
    let essential = report.corpus.iter().filter(|kept| kept.essential).count() as u64;
    let mut text = format!(
        "{} kept by {} of {}, {} of which have some that no other has\n\n{:<16} {:>20} {:>20}\n",
        features(report),
        counted(kept.inputs, "input"),
        grouped(all.inputs),
        grouped(essential),
        "",
        "corpus",
        "all inputs",
    );
    let cost = report.cost.describe().title;
    let rows = [("inputs", kept.inputs, all.inputs), ("bytes", kept.bytes, all.bytes), (cost, kept.cost, all.cost)];
    for (name, kept, all) in rows {
        let _ = writeln!(text, "{name:<16} {:>20} {:>20}", grouped(kept), grouped(all));
    }
    let unit = match report.weighed_by {
        Weight::Cost => cost,
        Weight::Size => "bytes",
        Weight::Inputs => "inputs",
    };
    let distance = match report.ratio {
        1.0 => "none is smaller".to_owned(),
        // rounded up, since it is a bound
        ratio => format!("this one is at most {:.2} % above the smallest", ((ratio - 1.0) * 1e4).ceil() / 100.0),
    };
    let bound = grouped(report.lower_bound);
    let _ = writeln!(text, "\nA corpus that keeps all this needs at least {bound} {unit}: {distance}");
    for (reason, number) in report.reasons.iter().filter(|(reason, number)| **reason != "subsumed" && **number > 0) {
        let _ = writeln!(text, "Left out: {} {}", counted(*number, "input"), in_words(reason));
    }
    text
}

/// Features that the corpus keeps, in words.
fn features(report: &DistillReport) -> String {
    let [one, several] = report.r#for.features();
    format!("{} {}", grouped(report.features), if report.features == 1 { one } else { several })
}

/// Line for an input that is left out.
fn line(one: &LeftOut) -> String {
    let path = shown(&one.path);
    let names: Vec<String> = one.by.iter().take(NAMES).map(|by| shown(by).to_string()).collect();
    let more = match one.by.len().saturating_sub(NAMES) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    match (one.reason, &one.detail) {
        ("subsumed", _) if one.by.is_empty() => format!("{path}: has nothing that the corpus keeps\n"),
        ("subsumed", _) => format!("{path}: subsumed by {}{more}\n", names.join(", ")),
        ("duplicate", _) => format!("{path}: has the contents of {}\n", names.join(", ")),
        (reason, Some(detail)) => format!("{path}: {}: {}\n", in_words(reason), shown(detail)),
        (reason, None) => format!("{path}: {}\n", in_words(reason)),
    }
}
