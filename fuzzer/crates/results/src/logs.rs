//! Logs: time series, phases, findings, entries and messages, appended a line at a time and continued by `--resume`.

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use quagmire_base::{
    atomic::unwritable,
    error::Result,
    files,
    plain::{Form, printed},
};
use quagmire_cost::resource::{Cost, Resource};

use crate::summary::{Diversity, Finding, Validity, rfc3339};

// names of files, and their first lines
pub(super) const COVERAGE: (&str, &str) =
    ("coverage_plot_data.txt", "# seconds, largest cost as a multiple of the baseline");
pub(super) const DEGRADATIONS: (&str, &str) =
    ("degradation_plot_data.txt", "# seconds, degradations, largest cost as a multiple of the baseline");
pub(super) const DIVERSITY: (&str, &str) = (
    "diversity_plot_data.txt",
    "# seconds, executions, valid, invalid, unique_traces, unique_valid_traces, b0, b1, b2",
);
pub(super) const RESULTS: (&str, &str) =
    ("results_data.txt", "# seconds\tkind\tpath\tbytes\tinstructions_ratio\ttime_ratio\tparent\trules");
pub(super) const QUEUE: &str = "queue_data.txt";
pub(super) const MESSAGES: &str = "quagmire.log";

/// The files in `logs/`. Times are seconds since the start of the campaign, summed over all sessions.
#[derive(Debug)]
pub struct Logs {
    coverage: Lines,
    degradations: Lines,
    diversity: Lines,
    results: Lines,
    queue: Lines,
    messages: Lines,
    /// Largest ratio written so far: the series never falls.
    largest_ratio: f64,
}

impl Logs {
    /// Opens the logs in a folder, or creates them.
    pub fn open(folder: &Path) -> Result<Self> {
        let lines = |(name, header): (&str, &str)| Lines::open(folder.join(name), header);
        Ok(Self {
            largest_ratio: last_value(&folder.join(COVERAGE.0)),
            coverage: lines(COVERAGE)?,
            degradations: lines(DEGRADATIONS)?,
            diversity: lines(DIVERSITY)?,
            results: lines(RESULTS)?,
            queue: lines((QUEUE, &queue_header()))?,
            messages: lines((MESSAGES, ""))?,
        })
    }

    /// Adds a point to both time series. `ratio` is the largest cost as a multiple of the baseline; a smaller one than
    /// before, or one that is not finite, counts as the one before.
    pub fn point(&mut self, elapsed: Duration, degradations: u64, ratio: f64) -> Result<()> {
        if ratio.is_finite() {
            self.largest_ratio = self.largest_ratio.max(ratio);
        }
        let (seconds, ratio) = (elapsed.as_secs_f64(), self.largest_ratio);
        self.coverage.push(&format!("{seconds:.3}, {ratio:.4}"))?;
        self.degradations.push(&format!("{seconds:.3}, {degradations}, {ratio:.4}"))
    }

    /// Adds a point to the time series of diversity.
    pub fn diversity_point(
        &mut self,
        elapsed: Duration,
        executions: u64,
        validity: &Validity,
        diversity: &Diversity,
    ) -> Result<()> {
        let (seconds, Validity { valid, invalid, .. }) = (elapsed.as_secs_f64(), validity);
        let Diversity { unique_traces, unique_valid_traces, b0, b1, b2, .. } = diversity;
        self.diversity.push(&format!(
            "{seconds:.3}, {executions}, {valid}, {invalid}, {unique_traces}, {unique_valid_traces}, {b0:.0}, {b1:.2}, {b2:.2}"
        ))
    }

    /// Adds a corpus entry: when it was found, in seconds and executions, its file, and the amounts of its run; `-`
    /// for resources that were not measured.
    pub fn entry(&mut self, elapsed: Duration, executions: u64, file: &str, cost: &Cost) -> Result<()> {
        let amount = |resource: Resource| match cost[resource] {
            0 if !resource.is_always_measured() => "-".to_owned(),
            amount => amount.to_string(),
        };
        let amounts = Resource::ALL.map(amount).join("\t");
        self.queue.push(&format!("{:.3}\t{executions}\t{file}\t{amounts}", elapsed.as_secs_f64()))
    }

    /// Adds a finding; values that are not known are `-`.
    pub fn finding(&mut self, elapsed: Duration, finding: &Finding) -> Result<()> {
        let ratio = |ratio: Option<f64>| ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.4}"));
        self.results.push(&format!(
            "{:.3}\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
            elapsed.as_secs_f64(),
            finding.kind.label(),
            finding.path,
            finding.bytes,
            ratio(finding.instructions_ratio),
            ratio(finding.time_ratio),
            finding.parent.as_deref().unwrap_or("-"),
            if finding.rules.is_empty() { "-".to_owned() } else { finding.rules.join("+") },
        ))
    }

    /// Adds a message to `quagmire.log`, with the time in UTC before it.
    pub fn message(&mut self, message: &str) -> Result<()> {
        self.messages.push(&format!(
            "{} {}",
            rfc3339(SystemTime::now()),
            printed(&message.replace('\n', "\\n"), Form::Lines)
        ))
    }
}

/// A file to which lines are appended.
#[derive(Debug)]
pub(super) struct Lines {
    path: PathBuf,
    file: File,
}

impl Lines {
    /// Opens a file for appending. Writes the header into a new one, and ends a line that was cut off in an old one.
    pub(super) fn open(path: PathBuf, header: &str) -> Result<Self> {
        let open = || {
            let mut file = files::open_to_append(&path)?;
            if file.seek(SeekFrom::End(0))? == 0 {
                if !header.is_empty() {
                    writeln!(file, "{header}")?;
                }
            } else {
                let mut last = [0];
                file.seek(SeekFrom::End(-1))?;
                file.read_exact(&mut last)?;
                if last != *b"\n" {
                    writeln!(file)?;
                }
            }
            Ok(file)
        };
        match open() {
            Ok(file) => Ok(Self { path, file }),
            Err(error) => Err(unwritable(&path, &error)),
        }
    }

    /// Appends a line with a single write, so that a crash cannot leave a part of it.
    pub(super) fn push(&mut self, line: &str) -> Result<()> {
        self.file.write_all(format!("{line}\n").as_bytes()).map_err(|error| unwritable(&self.path, &error))
    }
}

/// First line of the log of entries.
pub(super) fn queue_header() -> String {
    format!("# seconds\texecutions\tfile\t{}", Resource::ALL.map(Resource::name).join("\t"))
}

/// Value on the last line of a time series that has one; 0 if there is none.
fn last_value(path: &Path) -> f64 {
    let text = files::read_text(path, files::LARGEST_TEXT).unwrap_or_default();
    let value = |line: &str| line.split(", ").nth(1)?.parse::<f64>().ok();
    text.lines().rev().filter(|line| !line.starts_with('#')).find_map(value).unwrap_or(0.0)
}

/// Duration from which a phase gets a span of its own.
const SHORTEST: Duration = Duration::from_millis(100);

/// Name of the spans of merged phases.
const SEARCH: &str = "search";

/// Name of the file, and its first line.
pub(super) const PHASES: (&str, &str) = ("phases_data.txt", "# start_seconds\tend_seconds\tphase");

/// Writer of the phase log. Times are since the start of the campaign.
#[derive(Debug)]
pub struct Phases {
    lines: Lines,
    current: &'static str,
    since: Duration,
    /// Start of the short phases before the current one.
    short_since: Option<Duration>,
}

impl Phases {
    /// Opens the log in a folder; `phase` is the current phase from `now` on.
    pub fn open(logs: &Path, phase: &'static str, now: Duration) -> Result<Self> {
        let lines = Lines::open(logs.join(PHASES.0), PHASES.1)?;
        Ok(Self { lines, current: phase, since: now, short_since: None })
    }

    /// Name of the current phase.
    pub fn current(&self) -> &'static str {
        self.current
    }

    /// Ends the current phase at `now` and begins `phase`.
    pub fn begin(&mut self, phase: &'static str, now: Duration) -> Result<()> {
        if now.saturating_sub(self.since) >= SHORTEST {
            if let Some(start) = self.short_since.take() {
                self.push(start, self.since, SEARCH)?;
            }
            self.push(self.since, now, self.current)?;
        } else {
            self.short_since.get_or_insert(self.since);
        }
        (self.current, self.since) = (phase, now);
        Ok(())
    }

    /// Writes the spans up to `now`, that of the current phase included.
    pub fn flush(&mut self, now: Duration) -> Result<()> {
        self.begin(self.current, now)?;
        match self.short_since.take() {
            Some(start) => self.push(start, now, SEARCH),
            None => Ok(()),
        }
    }

    fn push(&mut self, start: Duration, end: Duration, phase: &str) -> Result<()> {
        self.lines.push(&format!("{:.3}\t{:.3}\t{phase}", start.as_secs_f64(), end.as_secs_f64()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::example;
    use std::fs::read_to_string;
    use tempfile::tempdir;

    #[test]
    fn the_time_series_never_fall_and_go_on_after_a_resumption() {
        let folder = tempdir().unwrap();
        let mut logs = Logs::open(folder.path()).unwrap();
        logs.point(Duration::from_millis(500), 0, 1.5).unwrap();
        logs.point(Duration::from_secs(1), 1, f64::NAN).unwrap();
        drop(logs);
        let mut logs = Logs::open(folder.path()).unwrap();
        logs.point(Duration::from_secs(2), 2, 1.2).unwrap();
        logs.point(Duration::from_secs(3), 3, 41.38).unwrap();
        insta::assert_snapshot!("coverage", read_to_string(folder.path().join("coverage_plot_data.txt")).unwrap());
        insta::assert_snapshot!(
            "degradation",
            read_to_string(folder.path().join("degradation_plot_data.txt")).unwrap()
        );
    }

    #[test]
    fn findings_are_one_line_each() {
        let folder = tempdir().unwrap();
        let mut logs = Logs::open(folder.path()).unwrap();
        for (i, finding) in example().findings.iter().enumerate() {
            logs.finding(Duration::from_secs(i as u64), finding).unwrap();
        }
        insta::assert_snapshot!("results", read_to_string(folder.path().join("results_data.txt")).unwrap());
    }

    #[test]
    fn messages_are_one_line_each_with_their_time() {
        let folder = tempdir().unwrap();
        let mut logs = Logs::open(folder.path()).unwrap();
        logs.message("started").unwrap();
        logs.message("two\nlines").unwrap();
        let text = read_to_string(folder.path().join("quagmire.log")).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].ends_with("Z started") && lines[1].ends_with("Z two\\nlines"), "{text}");
    }

    #[test]
    fn a_line_that_was_cut_off_is_ended_first() {
        let folder = tempdir().unwrap();
        std::fs::write(folder.path().join("coverage_plot_data.txt"), "# seconds\n1.000, 2.0").unwrap();
        Logs::open(folder.path()).unwrap().point(Duration::from_secs(2), 0, 3.0).unwrap();
        let text = read_to_string(folder.path().join("coverage_plot_data.txt")).unwrap();
        assert_eq!(text, "# seconds\n1.000, 2.0\n2.000, 3.0000\n");
    }

    #[test]
    fn a_full_disk_is_an_error_with_the_path() {
        let file = File::options().write(true).open("/dev/full").unwrap();
        let error = Lines { path: "out/logs/results_data.txt".into(), file }.push("a line").unwrap_err();
        assert!(error.message.contains("results_data.txt: the disk is full"), "{error}");
    }

    #[test]
    fn short_phases_become_one_span_and_nothing_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let at = Duration::from_millis;
        let mut phases = Phases::open(folder.path(), "seeds", at(0)).unwrap();
        for (phase, now) in [("coverage", 250), ("performance", 270), ("coverage", 280), ("confirming", 290)] {
            phases.begin(phase, at(now)).unwrap();
        }
        phases.begin("coverage", at(900)).unwrap();
        phases.flush(at(950)).unwrap();
        phases.flush(at(1100)).unwrap();
        let text = std::fs::read_to_string(folder.path().join("phases_data.txt")).unwrap();
        let spans: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(
            spans,
            [
                "0.000\t0.250\tseeds",
                "0.250\t0.290\tsearch",
                "0.290\t0.900\tconfirming",
                "0.900\t0.950\tsearch",
                "0.950\t1.100\tcoverage"
            ]
        );
    }
}
