//! `quagmire report`: the page of a campaign, or its findings for other tools.

use std::{
    iter::once,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use clap::{
    Parser,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};
use quagmire_analysis::command::{Command, EXIT_CODES_ALONE};
use quagmire_base::{
    atomic::write_whole,
    error::{Error, ExitCode, Result},
    plain, units,
};
use quagmire_report::ReportOptions;
use quagmire_results::{
    Summary,
    exporters::{EXPORTERS, Exporter},
    outcomes::SourceRoot,
    result_file::ResultFile,
    score_file::SCORE,
};

/// Name of the page among the formats.
const HTML: &str = "html";

/// Write report.html, graphs and differences of a campaign, or export its findings
#[derive(Debug, Parser)]
#[command(
    name = "report",
    override_usage = "quagmire report [OPTIONS] OUT",
    long_about = "Writes report.html, graphs/ and diffs/ into the folder of a campaign, from what is on disk: it may \
                  still run, or have been killed. With another --format than html, \
                  prints its findings instead.",
    after_help = EXIT_CODES_ALONE
)]
pub(super) struct Report {
    /// The output folder of the campaign, or a file with what `compare -o` wrote or `growth --json` printed
    #[arg(value_name = "OUT")]
    output: PathBuf,

    /// Write the report, or the findings for other tools to standard output
    #[arg(long, value_name = "FORMAT", default_value = HTML, value_parser = Format::parser())]
    format: Format,

    /// Write the findings to this file instead
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    file: Option<PathBuf>,

    #[arg(long, value_name = "DIR", help = source_root_help())]
    source_root: Option<PathBuf>,

    /// Do not draw graphs
    #[arg(long)]
    no_plotting: bool,

    /// Compare findings with their seeds for at most so long; the worst ones come first
    #[arg(long, value_name = "DURATION", value_parser = units::duration)]
    time: Option<Duration>,

    /// Print where the report is, and nothing else, in a folder whose user calls it so: how campaigns end
    #[arg(long, hide = true, value_name = "OUT", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    brief: Option<PathBuf>,
}

/// Help of `--source-root`, with the formats whose text it changes.
fn source_root_help() -> String {
    let mut names: Vec<&str> =
        EXPORTERS.iter().filter(|exporter| exporter.names_sources).map(|exporter| exporter.name).collect();
    let last = names.pop().unwrap_or_default();
    format!(
        "The folder of the project when it was built: its sources have paths relative to it in {} and {last} \
         [default: the repository around the working folder]",
        names.join(", ")
    )
}

/// Value of `--format`.
#[derive(Clone, Copy, Debug)]
enum Format {
    /// The page `report.html` and what it links to, in the output folder.
    Page,
    /// The findings, as an exporter writes them.
    Findings(&'static Exporter),
}

impl Format {
    /// Parser of `--format`: the page, or an exporter by its name.
    fn parser() -> impl TypedValueParser<Value = Self> {
        let page = PossibleValue::new(HTML).help("the report, into OUT: report.html, graphs/ and diffs/");
        let findings = EXPORTERS.iter().map(|exporter| PossibleValue::new(exporter.name).help(exporter.meaning));
        PossibleValuesParser::new(once(page).chain(findings)).map(|name| {
            let exporter = EXPORTERS.iter().find(|exporter| exporter.name == name);
            exporter.map_or(Self::Page, Self::Findings)
        })
    }
}

impl Command for Report {
    fn run_alone(&mut self) -> Option<Result<ExitCode>> {
        // the folder of a score holds its result; that of a campaign is asked for its findings, whatever else lies in it
        let score = self.output.join(SCORE);
        let is_campaign = self.output.join("summary.json").is_file();
        let of = if score.is_file() && !is_campaign { score } else { self.output.clone() };
        Some(self.refuse_ignored().and_then(|()| match self.format {
            Format::Page => self.page(&of),
            Format::Findings(exporter) => self.export(exporter, &of),
        }))
    }
}

impl Report {
    /// Refuses options that the format would ignore.
    fn refuse_ignored(&self) -> Result<()> {
        let needs_sources = matches!(self.format, Format::Findings(exporter) if exporter.names_sources);
        if self.source_root.is_some() && !needs_sources {
            return Err(Error::usage("--source-root: this --format has the paths of sources as they are: remove it"));
        }
        match self.format {
            Format::Page if self.file.is_some() => {
                Err(Error::usage("-o: the report is written into OUT: remove it, or choose another --format"))
            }
            Format::Page => Ok(()),
            Format::Findings(exporter) => {
                let ignored = [("--time", self.time.is_some()), ("--no-plotting", self.no_plotting)];
                ignored.into_iter().find(|&(_, is_typed)| is_typed).map_or(Ok(()), |(option, _)| {
                    Err(Error::usage(format!("{option} has no meaning with --format {}: remove it", exporter.name)))
                })
            }
        }
    }

    fn page(&self, of: &Path) -> Result<ExitCode> {
        if of.is_file() {
            return quagmire_report::comparison::run(of);
        }
        let deadline = self.time.map(|time| Instant::now() + time);
        // harnesses with an older engine do not say how their users call it
        let shown = self.brief.as_ref().map(|name| if name.as_os_str() == "-" { &self.output } else { name });
        let options = ReportOptions { deadline, graphs: !self.no_plotting };
        quagmire_report::run(of, shown.map(PathBuf::as_path), options)
    }

    fn export(&self, exporter: &Exporter, of: &Path) -> Result<ExitCode> {
        let mut root = self.source_root.as_deref().map_or_else(SourceRoot::here, SourceRoot::new);
        let text = if of.is_file() {
            (exporter.outcomes)(&ResultFile::read(of)?.outcomes(of, &mut root))
        } else {
            exporter.campaign(&Summary::of_campaign(of)?, &mut root)
        };
        match &self.file {
            Some(file) => write_whole(file, plain::printed(&text, exporter.form).as_bytes())?,
            None => {
                plain::print(&text, exporter.form).map_err(|error| Error::other(format!("cannot print: {error}")))?;
            }
        }
        Ok(ExitCode::Ended)
    }
}
