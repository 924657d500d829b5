//! AFL++'s statistics files, `fuzzer_stats` and `plot_data`, for afl-whatsup, afl-plot and other tools that read them.

use super::logs::append_to;
use super::summary::per_second;
use quagmire_base::atomic::{unwritable, write_whole};
use quagmire_base::error::Result;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Name of the file with figures over time.
pub(super) const PLOT_DATA: &str = "plot_data";

/// Its first line.
pub(super) const PLOT_HEADER: &str = "# relative_time, cycles_done, cur_item, corpus_count, pending_total, pending_favs, map_size, \
                           saved_crashes, saved_hangs, max_depth, execs_per_sec, total_execs, edges_found";

/// Statistics of a campaign in AFL's terms.
#[derive(Clone, Debug, PartialEq)]
pub struct AflStats {
    /// Start of the campaign.
    pub started: SystemTime,
    /// Time of these statistics.
    pub now: SystemTime,
    /// Time that the campaign has run.
    pub run_time: Duration,
    /// Process id of the fuzzer.
    pub process: u32,
    /// Number of passes over the whole queue.
    pub cycles: u64,
    /// Number of the latest passes that found nothing.
    pub cycles_without_finds: u64,
    /// Executions of the target.
    pub executions: u64,
    /// Executions per second, over the last minute or so.
    pub executions_per_second: f64,
    /// Entries of the queue.
    pub corpus: u64,
    /// Entries that the schedule prefers.
    pub favored: u64,
    /// Entries that are neither seeds nor imported.
    pub found: u64,
    /// Entries imported from other campaigns.
    pub imported: u64,
    /// Longest chain of parents; 1 for a seed.
    pub depth: u64,
    /// Number of the entry that is mutated now.
    pub current: u64,
    /// Preferred entries that have not been mutated yet.
    pub pending_favored: u64,
    /// Entries that have not been mutated yet.
    pub pending: u64,
    /// Edges executed by any entry.
    pub edges_found: u64,
    /// Edges of the target.
    pub edges_total: u64,
    /// Inputs that crash.
    pub faults: u64,
    /// Inputs that run into the hang timeout.
    pub hangs: u64,
    /// Time of the latest new entry.
    pub last_find: Option<SystemTime>,
    /// Time of the latest new fault.
    pub last_fault: Option<SystemTime>,
    /// Time of the latest new hang.
    pub last_hang: Option<SystemTime>,
    /// The hang timeout.
    pub hang_timeout: Duration,
    /// Name of the target.
    pub target: String,
    /// `in-process` or `fork-server`.
    pub engine: String,
    /// Command line, as typed.
    pub command: Vec<String>,
}

impl AflStats {
    /// The text of `fuzzer_stats`.
    pub fn to_text(&self) -> String {
        let optional = |moment: Option<SystemTime>| moment.map_or(0, unix_seconds);
        let lines: [(&str, String); 30] = [
            ("start_time", unix_seconds(self.started).to_string()),
            ("last_update", unix_seconds(self.now).to_string()),
            ("run_time", self.run_time.as_secs().to_string()),
            ("fuzzer_pid", self.process.to_string()),
            ("cycles_done", self.cycles.to_string()),
            ("cycles_wo_finds", self.cycles_without_finds.to_string()),
            ("execs_done", self.executions.to_string()),
            ("execs_per_sec", format!("{:.2}", per_second(self.executions, self.run_time))),
            ("execs_ps_last_min", format!("{:.2}", self.executions_per_second)),
            ("corpus_count", self.corpus.to_string()),
            ("corpus_favored", self.favored.to_string()),
            ("corpus_found", self.found.to_string()),
            ("corpus_imported", self.imported.to_string()),
            ("max_depth", self.depth.to_string()),
            ("cur_item", self.current.to_string()),
            ("pending_favs", self.pending_favored.to_string()),
            ("pending_total", self.pending.to_string()),
            ("bitmap_cvg", format!("{:.2}%", self.covered_percent())),
            ("saved_crashes", self.faults.to_string()),
            ("saved_hangs", self.hangs.to_string()),
            ("last_find", optional(self.last_find).to_string()),
            ("last_crash", optional(self.last_fault).to_string()),
            ("last_hang", optional(self.last_hang).to_string()),
            ("exec_timeout", self.hang_timeout.as_millis().to_string()),
            ("edges_found", self.edges_found.to_string()),
            ("total_edges", self.edges_total.to_string()),
            ("afl_banner", shell_safe(&self.target)),
            ("afl_version", concat!("quagmire-", env!("CARGO_PKG_VERSION")).into()),
            ("target_mode", shell_safe(&self.engine)),
            ("command_line", shell_safe(&self.command.join(" "))),
        ];
        lines.iter().map(|(key, value)| format!("{key:<18}: {value}\n")).collect()
    }

    /// Writes `fuzzer_stats` into the output folder, atomically. Writes nothing before the first execution and the
    /// first entry: afl-whatsup would divide by zero.
    pub fn write(&self, folder: &Path) -> Result<()> {
        if self.executions == 0 || self.corpus == 0 {
            return Ok(());
        }
        write_whole(&folder.join("fuzzer_stats"), self.to_text().as_bytes())
    }

    /// Statistics as a line of `plot_data`, with its line feed.
    pub fn plot_line(&self) -> String {
        format!(
            "{}, {}, {}, {}, {}, {}, {:.2}%, {}, {}, {}, {:.2}, {}, {}\n",
            self.run_time.as_secs(),
            self.cycles,
            self.current,
            self.corpus,
            self.pending,
            self.pending_favored,
            self.covered_percent(),
            self.faults,
            self.hangs,
            self.depth,
            self.executions_per_second,
            self.executions,
            self.edges_found,
        )
    }

    fn covered_percent(&self) -> f64 {
        if self.edges_total == 0 { 0.0 } else { self.edges_found as f64 * 100.0 / self.edges_total as f64 }
    }
}

/// The file `plot_data`, to which lines are appended; `--resume` continues it.
#[derive(Debug)]
pub struct PlotData {
    path: PathBuf,
    file: File,
}

impl PlotData {
    /// Opens `plot_data` in the output folder.
    pub fn open(folder: &Path) -> Result<Self> {
        let path = folder.join(PLOT_DATA);
        let file = append_to(&path, PLOT_HEADER)?;
        Ok(Self { path, file })
    }

    /// Appends a line.
    pub fn push(&mut self, stats: &AflStats) -> Result<()> {
        self.file.write_all(stats.plot_line().as_bytes()).map_err(|error| unwritable(&self.path, &error))
    }
}

fn unix_seconds(moment: SystemTime) -> u64 {
    moment.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Replaces characters that would end a quoted string or start a command by `_`: afl-whatsup runs `fuzzer_stats` as a
/// shell script, with values in double quotes.
fn shell_safe(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || "\"$`\\".contains(c) { '_' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use tempfile::tempdir;

    fn example() -> AflStats {
        let started = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        AflStats {
            started,
            now: started + Duration::from_secs(90),
            run_time: Duration::from_secs(90),
            process: 1,
            cycles: 2,
            cycles_without_finds: 0,
            executions: 812_331,
            executions_per_second: 9_021.0,
            corpus: 120,
            favored: 31,
            found: 117,
            imported: 3,
            depth: 9,
            current: 57,
            pending_favored: 4,
            pending: 60,
            edges_found: 512,
            edges_total: 8_123,
            faults: 0,
            hangs: 1,
            last_find: Some(started + Duration::from_secs(78)),
            last_fault: None,
            last_hang: Some(started + Duration::from_secs(60)),
            hang_timeout: Duration::from_secs(10),
            target: "./trim".into(),
            engine: "fork-server".into(),
            command: ["quagmire", "fuzz", "-i", "seeds", "-o", "out", "--", "./trim"].map(Into::into).to_vec(),
        }
    }

    #[test]
    fn the_keys_and_columns_are_those_of_afl() {
        insta::assert_snapshot!("fuzzer_stats", example().to_text().replace(env!("CARGO_PKG_VERSION"), "VERSION"));
        insta::assert_snapshot!("plot_data", format!("{PLOT_HEADER}\n{}", example().plot_line()));
        assert_eq!(PLOT_HEADER.split(", ").count(), example().plot_line().split(", ").count());
    }

    #[test]
    fn plot_data_goes_on_after_a_resumption_with_one_header() {
        let folder = tempdir().unwrap();
        for _ in 0..2 {
            PlotData::open(folder.path()).unwrap().push(&example()).unwrap();
        }
        let text = std::fs::read_to_string(folder.path().join("plot_data")).unwrap();
        assert_eq!(text.lines().filter(|line| line.starts_with('#')).count(), 1);
        assert_eq!(text.lines().count(), 3);
    }

    #[test]
    fn nothing_is_written_before_the_first_execution() {
        let folder = tempdir().unwrap();
        AflStats { executions: 0, ..example() }.write(folder.path()).unwrap();
        assert!(!folder.path().join("fuzzer_stats").exists());
    }

    #[test]
    fn no_value_is_a_command_to_the_shell_that_reads_it() {
        let stats = AflStats { target: "./$(reboot)`x`\"\\\n".into(), ..example() };
        let banner = stats.to_text().lines().find(|line| line.starts_with("afl_banner")).unwrap().to_owned();
        assert_eq!(banner, "afl_banner        : ./_(reboot)_x____");
    }

    /// Skipped where AFL++ is not installed.
    #[test]
    fn afl_whatsup_reads_them() {
        let folder = tempdir().unwrap();
        let campaign = folder.path().join("out");
        std::fs::create_dir(&campaign).unwrap();
        let stats = AflStats { process: std::process::id(), ..example() };
        stats.write(&campaign).unwrap();
        let Ok(output) = Command::new("afl-whatsup").arg(folder.path()).env("TERM", "dumb").output() else { return };
        let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{text}{errors}");
        for part in
            [">>> ./trim (", "items 57/120 (47%)", "coverage 6.30%", "Fuzzers alive : 1", "Total execs : 812 thousands"]
        {
            assert!(text.contains(part), "{part} is missing in {text}{errors}");
        }
    }

    /// Skipped where AFL++ or gnuplot is not installed.
    #[test]
    fn afl_plot_reads_them() {
        if Command::new("gnuplot").arg("--version").output().is_err() {
            return;
        }
        let folder = tempdir().unwrap();
        example().write(folder.path()).unwrap();
        let mut plot = PlotData::open(folder.path()).unwrap();
        for seconds in 0..20 {
            let run_time = Duration::from_secs(seconds * 5);
            plot.push(&AflStats { run_time, corpus: 100 + seconds, ..example() }).unwrap();
        }
        let graphs = folder.path().join("graphs");
        let Ok(output) = Command::new("afl-plot").arg(folder.path()).arg(&graphs).output() else { return };
        let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{text}{errors}");
        for graph in ["edges.png", "high_freq.png", "low_freq.png", "exec_speed.png"] {
            assert!(graphs.join(graph).metadata().is_ok_and(|m| m.len() > 0), "{graph} is missing: {text}{errors}");
        }
        assert!(std::fs::read_to_string(graphs.join("index.html")).unwrap().contains("./trim"));
    }
}
