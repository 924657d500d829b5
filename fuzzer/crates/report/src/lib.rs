//! Reports of campaigns: differences of findings, graphs and the HTML page, made from the files in an output folder.
//!
//! Nothing here reads the memory of a campaign: a report can be made while it runs, after it was killed, and
//! elsewhere.

pub mod campaign;
pub mod comparison;
pub mod diff;
pub mod graph;
mod markup;
pub mod page;
mod rules;
mod score;
mod sources;
mod words;

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use maud::Markup;

use campaign::Campaign;
use graph::chart::{Chart, Panel, Values, WIDTH, chart};
use page::Extras;
use quagmire_base::{
    atomic::{unwritable, write_whole},
    error::{ExitCode, Result},
    files,
    format::counted,
    plain::{self, Form},
    shell,
};
use rules::RuleWords;

/// Longest time for the page of one finding; whatever was not compared by then is shown as changed.
const TIME_FOR_A_PAGE: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, Debug)]
pub struct ReportOptions {
    /// When to stop comparing inputs: pages of differences that are not written by then are left out, which the
    /// report mentions.
    pub deadline: Option<Instant>,
    /// Whether to draw graphs.
    pub graphs: bool,
}

/// Paths of the files that were written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// The HTML page.
    pub report: PathBuf,
    pub graphs: Vec<PathBuf>,
    /// Pages of differences, the worst finding first.
    pub diffs: Vec<PathBuf>,
    /// Number of findings without such a page, because of the deadline.
    pub left_out: usize,
}

impl Written {
    /// Summary for people in one or two lines: where the report is, and what it lacks. `output` is the output folder
    /// as typed by the user.
    pub fn in_words(&self, output: &Path) -> String {
        let report = format!("Report:     {}\n", output.join("report.html").display());
        match self.left_out {
            0 => report,
            left => {
                let findings = counted(left as u64, "finding");
                let again = shell::command([OsStr::new("quagmire"), OsStr::new("report"), output.as_os_str()]);
                format!("{report}            without the differences of {findings}, for lack of time: {again}\n")
            }
        }
    }

    /// Lists the written files in lines; the pages of findings in one.
    fn listed(&self, out: &Path) -> String {
        let mut lines = String::new();
        for graph in &self.graphs {
            lines += &format!("{}\n", graph.display());
        }
        if !self.diffs.is_empty() {
            let diffs = counted(self.diffs.len() as u64, "finding");
            lines += &format!("{}: {diffs} beside seed and parent\n", out.join("diffs").display());
        }
        lines += &format!("{}\n", self.report.display());
        lines
    }
}

/// Writes `diffs/`, `graphs/` and `report.html` into a campaign's output folder. Every file is written atomically;
/// the page comes last. `shown` is the folder as its user calls it, where that is not `out`.
///
/// # Errors
/// If it is not a campaign's output folder, or a file cannot be written.
pub fn write(out: &Path, shown: Option<&Path>, options: ReportOptions) -> Result<Written> {
    let mut campaign = Campaign::read(out)?;
    if let Some(shown) = shown {
        campaign.shown = shown.to_owned();
    }
    let rules = RuleWords::new(&campaign.summary);
    let mut written = Written { report: out.join("report.html"), ..Written::default() };
    let mut extras = Extras { has_pictures: options.graphs, ..Extras::default() };
    if options.graphs {
        let folder = folder(out, "graphs")?;
        for (name, title, chart) in charts(&campaign) {
            let path = folder.join(name);
            write_whole(&path, graph::file(WIDTH, chart.height, &title, &chart.content).as_bytes())?;
            written.graphs.push(path);
            extras.graphs.push(inline(&title, &chart));
        }
    }
    let findings = &campaign.summary.findings;
    if !findings.is_empty() {
        let folder = folder(out, "diffs")?;
        let names = diff::page::names_of_pages(findings);
        for index in page::by_badness(findings) {
            let limit = Instant::now() + TIME_FOR_A_PAGE;
            if options.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                written.left_out += 1;
                continue;
            }
            let deadline = options.deadline.map_or(limit, |deadline| deadline.min(limit));
            let path = folder.join(&names[index]);
            write_whole(&path, diff::page::page(&campaign, &rules, &findings[index], deadline).as_bytes())?;
            written.diffs.push(path);
            extras.diffs.insert(index, format!("diffs/{}", names[index]));
        }
    }
    extras.left_out = written.left_out;
    write_whole(&written.report, page::page(&campaign, &rules, &extras).as_bytes())?;
    Ok(written)
}

/// Runs `quagmire report`: writes all files and lists them, or only the page, in the folder as it is `shown`.
///
/// # Errors
/// As [`write()`], and if the list cannot be printed.
pub fn run(out: &Path, shown: Option<&Path>, options: ReportOptions) -> Result<ExitCode> {
    let written = write(out, shown, options)?;
    let lines = shown.map_or_else(|| written.listed(out), |shown| written.in_words(shown));
    plain::print(&lines, Form::Lines)?;
    Ok(ExitCode::Ended)
}

/// Creates a subfolder of the output folder.
fn folder(out: &Path, name: &str) -> Result<PathBuf> {
    let path = out.join(name);
    files::create_folder(&path).map_err(|error| unwritable(&path, &error))?;
    Ok(path)
}

/// Draws all graphs: file name, title, drawing.
fn charts(campaign: &Campaign) -> Vec<(&'static str, String, Chart)> {
    let end = campaign.summary.seconds;
    let program = quagmire_base::visible::shown(diff::page::file_name(&campaign.summary.target.program));
    let ratio = Panel {
        name: "largest cost, as a multiple of the median seed's",
        series: &campaign.ratio,
        values: Values::Ratios,
    };
    let number = Panel { name: "degradations", series: &campaign.degradations, values: Values::Counts };
    let draw = |title: String, panels: &[Panel]| {
        let chart = chart(&title, panels, &campaign.phases, end);
        (title, chart)
    };
    let (cost, cost_chart) = draw(format!("{program}: largest cost over time"), &[ratio]);
    let (found, found_chart) = draw(format!("{program}: degradations over time"), &[number]);
    let mut charts = vec![("coverage_ts.svg", cost, cost_chart), ("degradations_ts.svg", found, found_chart)];
    if campaign.summary.diversity.is_some() {
        let names = ["unique valid traces", "B(1), effective number of branches", "B(2), of common branches"];
        let panels: Vec<Panel> = names
            .into_iter()
            .zip(&campaign.diversity)
            .map(|(name, series)| Panel { name, series, values: Values::Counts })
            .collect();
        let (diversity, diversity_chart) = draw(format!("{program}: diversity over time"), &panels);
        charts.push(("diversity_ts.svg", diversity, diversity_chart));
    }
    charts
}

fn inline(title: &str, chart: &Chart) -> Markup {
    graph::inline(WIDTH, chart.height, title, &chart.content)
}

#[cfg(test)]
mod tests;
