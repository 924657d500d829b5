//! Resolution of the options of `report`.

use std::path::PathBuf;
use std::time::Instant;

use quagmire_base::error::{Error, Result};
use quagmire_base::units;
use quagmire_report::ReportOptions;
use quagmire_results::exporters::Exporter;

use super::{args::ReportArgs, flag, format::Format};

/// Work of `report`, as resolved.
#[derive(Clone, Debug)]
pub enum ReportTask {
    /// Write the page and what it links to.
    Page {
        /// Deadline and graphs.
        options: ReportOptions,
        /// If set, print only where the page is, in the folder as its user calls it.
        shown: Option<PathBuf>,
    },
    /// Export the findings.
    Export {
        /// The format.
        exporter: &'static Exporter,
        /// File to write; standard output if there is none.
        file: Option<PathBuf>,
        /// Folder of the project's sources; the repository around the working folder if there is none.
        source_root: Option<PathBuf>,
    },
}

impl ReportArgs {
    /// Resolves options as typed.
    ///
    /// # Errors
    /// A usage error in one line that names the option and the remedy.
    pub fn resolve(&self) -> Result<ReportTask> {
        let needs_sources = matches!(self.format, Format::Findings(exporter) if exporter.names_sources());
        match self.format {
            _ if self.source_root.is_some() && !needs_sources => {
                Err(Error::usage("--source-root: this --format has the paths of sources as they are: remove it"))
            }
            Format::Page if self.file.is_some() => {
                Err(Error::usage("-o: the report is written into OUT: remove it, or choose another --format"))
            }
            Format::Page => {
                let time = self.time.as_deref().map(|text| flag("--time", units::duration(text))).transpose()?;
                let deadline = time.map(|time| Instant::now() + time);
                let options = ReportOptions { deadline, graphs: !self.no_plotting };
                // harnesses with an older engine do not say how their users call it
                let shown = |name: &PathBuf| if name.as_os_str() == "-" { self.output.clone() } else { name.clone() };
                Ok(ReportTask::Page { options, shown: self.brief.as_ref().map(shown) })
            }
            Format::Findings(exporter) => {
                let ignored = [("--time", self.time.is_some()), ("--no-plotting", self.no_plotting)];
                match ignored.into_iter().find(|&(_, is_typed)| is_typed) {
                    Some((option, _)) => {
                        Err(Error::usage(format!("{option} has no meaning with --format {}: remove it", exporter.name)))
                    }
                    None => {
                        let (file, source_root) = (self.file.clone(), self.source_root.clone());
                        Ok(ReportTask::Export { exporter, file, source_root })
                    }
                }
            }
        }
    }
}
