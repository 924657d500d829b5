//! Result of a bench as text.

use std::{collections::BTreeSet, fmt::Write as _, path::Path};

use super::result::{BENCH, Bench, CampaignEnd, Standing};
use quagmire_base::{
    format::{counted, grouped},
    plain::shown,
};

/// Points of a curve that the text shows, the last ones.
const POINTS: usize = 4;

/// The table, its legend and where everything is.
pub(super) fn text(bench: &Bench, output: &Path) -> String {
    let open = bench.mutants - bench.killed_by_seeds;
    let kind = if bench.is_performance { "performance mutant" } else { "mutant" };
    let runs = bench.fuzzers.first().map_or(0, |one| one.campaigns.len() as u64);
    let mut text = format!(
        "{} of {} not killed by the seeds; {} of {} s for each fuzzer, medians of these:\n\n",
        grouped(open),
        counted(bench.mutants, kind),
        counted(runs, "campaign"),
        grouped(bench.header.seconds),
    );
    let rows: Vec<Vec<String>> =
        std::iter::once(heads(bench)).chain(bench.fuzzers.iter().map(|one| row(one, bench))).collect();
    text += &aligned(&rows);
    text += "\np, A12: of the test of Mann and Whitney, and how likely a campaign of the first fuzzer kills more than one of this\n";
    text.extend(bench.fuzzers.iter().filter_map(unusual));
    let _ = writeln!(
        text,
        "Campaigns, their commands and each mutant's time are in {}",
        shown(&output.join(BENCH).display().to_string())
    );
    text
}

/// Gates that some campaign passes.
fn gates(bench: &Bench) -> BTreeSet<u64> {
    bench.fuzzers.iter().flat_map(|one| one.gates.keys().copied()).collect()
}

fn heads(bench: &Bench) -> Vec<String> {
    let mut heads: Vec<String> = ["", "fuzzer", "killed", "share", "by any"].map(str::to_owned).to_vec();
    if bench.is_performance {
        heads.extend(["x10", "x100"].map(str::to_owned));
        heads.extend(gates(bench).iter().map(|gate| format!("past {}", grouped(*gate))));
        heads.extend(["seconds", "executions"].map(str::to_owned));
        heads.extend(curve(bench.fuzzers.first()).map(|(seconds, _)| format!("by {seconds:.1} s")));
    }
    heads.extend(["p", "A12"].map(str::to_owned));
    heads
}

fn row(one: &Standing, bench: &Bench) -> Vec<String> {
    let rounded = |number: f64| grouped(number.round() as u64);
    let mut row = vec![
        one.rank.to_string(),
        shown(&one.title),
        rounded(one.killed),
        format!("{:.3}", one.share),
        grouped(one.killed_by_any),
    ];
    if bench.is_performance {
        row.extend([rounded(one.at_10), rounded(one.at_100)]);
        row.extend(gates(bench).iter().map(|gate| rounded(one.gates.get(gate).copied().unwrap_or(0.0))));
        row.push(one.seconds.map_or("-".to_owned(), |seconds| format!("{seconds:.1}")));
        row.push(one.executions.map_or("-".to_owned(), rounded));
        row.extend(curve(Some(one)).map(|(_, killed)| rounded(killed)));
    }
    row.push(one.p.map_or("-".to_owned(), |p| format!("{p:.3}")));
    row.push(one.a12.map_or("-".to_owned(), |a12| format!("{a12:.2}")));
    row
}

/// Times before the end, and the mutants that are killed by then.
fn curve(one: Option<&Standing>) -> impl Iterator<Item = (f64, f64)> {
    let points = one.map(|one| one.curve.as_slice()).unwrap_or_default();
    let shown = &points[points.len().saturating_sub(POINTS)..points.len().saturating_sub(1)];
    shown.iter().map(|point| (point.seconds, point.killed))
}

/// A line on campaigns that did not take their time.
fn unusual(one: &Standing) -> Option<String> {
    let ended = |end: CampaignEnd| one.campaigns.iter().filter(|campaign| campaign.end == end).count();
    let words = [(CampaignEnd::Early, "ended early"), (CampaignEnd::Killed, "had to be killed")];
    let found: Vec<String> = words
        .into_iter()
        .map(|(end, words)| (ended(end), words))
        .filter(|(number, _)| *number > 0)
        .map(|(number, words)| format!("{number} of {} {words}", counted(one.campaigns.len() as u64, "campaign")))
        .collect();
    (!found.is_empty()).then(|| format!("{}: {}\n", shown(&one.title), found.join(", ")))
}

/// Rows with columns of one width: text to the left, numbers to the right.
fn aligned(rows: &[Vec<String>]) -> String {
    let cell = |(column, cell): (usize, &String)| {
        let of_column = rows.iter().filter_map(|row| row.get(column));
        let width = of_column.map(|cell| cell.chars().count()).max().unwrap_or(0);
        if column == 1 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
    };
    let line = |row: &Vec<String>| {
        let cells: Vec<String> = row.iter().enumerate().map(cell).collect();
        format!("{}\n", cells.join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}
