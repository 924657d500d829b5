//! AFL++'s files about a campaign, `fuzzer_stats`, `fuzzer_setup` and `plot_data`, for afl-whatsup, afl-plot and other tools that read them.

use std::{path::Path, time::Duration};

use super::{
    logs::Lines,
    summary::{Summary, per_second},
};
use quagmire_base::{atomic::write_whole, error::Result};

/// Name of the file with figures over time.
pub(super) const PLOT_DATA: &str = "plot_data";

/// Its first line.
pub(super) const PLOT_HEADER: &str = "# relative_time, cycles_done, cur_item, corpus_count, pending_total, pending_favs, map_size, \
                           saved_crashes, saved_hangs, max_depth, execs_per_sec, total_execs, edges_found";

/// Name of the file by which afl-whatsup of AFL++ 4.20 and later finds campaigns.
const SETUP: &str = "fuzzer_setup";

/// The text of `fuzzer_stats`.
fn fuzzer_stats(summary: &Summary) -> String {
    let live = &summary.live;
    let moment = |since_start: Option<Duration>| since_start.map_or(0, |since| (live.started + since).as_secs());
    let lines: [(&str, String); 30] = [
        ("start_time", live.started.as_secs().to_string()),
        ("last_update", live.now.as_secs().to_string()),
        ("run_time", summary.elapsed().as_secs().to_string()),
        ("fuzzer_pid", live.process.to_string()),
        ("cycles_done", live.cycles.to_string()),
        ("cycles_wo_finds", "0".into()),
        ("execs_done", summary.executions.to_string()),
        ("execs_per_sec", format!("{:.2}", per_second(summary.executions, summary.elapsed()))),
        ("execs_ps_last_min", format!("{:.2}", summary.executions_per_second)),
        ("corpus_count", summary.entries.to_string()),
        ("corpus_favored", live.active.to_string()),
        ("corpus_found", live.found.to_string()),
        ("corpus_imported", summary.foreign.to_string()),
        ("max_depth", live.depth.to_string()),
        ("cur_item", live.current.to_string()),
        ("pending_favs", live.pending[1].to_string()),
        ("pending_total", live.pending[0].to_string()),
        ("bitmap_cvg", format!("{:.2}%", covered_percent(summary))),
        ("saved_crashes", summary.faults.to_string()),
        ("saved_hangs", summary.hangs.to_string()),
        ("last_find", moment(live.last_new).to_string()),
        ("last_crash", moment(live.last_fault).to_string()),
        ("last_hang", moment(live.last_hang).to_string()),
        ("exec_timeout", live.hang_timeout.as_millis().to_string()),
        ("edges_found", summary.edges_found.to_string()),
        ("total_edges", summary.target.edges.unwrap_or(0).to_string()),
        ("afl_banner", shell_safe(&summary.target.program)),
        ("afl_version", concat!("quagmire-", env!("CARGO_PKG_VERSION")).into()),
        ("target_mode", shell_safe(summary.target.engine.name())),
        ("command_line", shell_safe(&summary.command.join(" "))),
    ];
    lines.iter().map(|(key, value)| format!("{key:<18}: {value}\n")).collect()
}

/// Writes `fuzzer_stats` into a folder, atomically. Writes nothing before the first execution and the first entry:
/// afl-whatsup would divide by zero.
pub fn write_fuzzer_stats(summary: &Summary, folder: &Path) -> Result<()> {
    if summary.executions == 0 || summary.entries == 0 {
        return Ok(());
    }
    let setup = folder.join(SETUP);
    if !setup.exists() {
        let command = shell_safe(&summary.command.join(" "));
        write_whole(&setup, format!("# command line:\n{command}\n").as_bytes())?;
    }
    write_whole(&folder.join("fuzzer_stats"), fuzzer_stats(summary).as_bytes())
}

fn covered_percent(summary: &Summary) -> f64 {
    match summary.target.edges {
        None | Some(0) => 0.0,
        Some(edges) => summary.edges_found as f64 * 100.0 / edges as f64,
    }
}

/// The file `plot_data`, to which lines are appended; `--resume` continues it.
#[derive(Debug)]
pub struct PlotData(Lines);

impl PlotData {
    /// Opens `plot_data` in the output folder.
    pub fn open(folder: &Path) -> Result<Self> {
        Lines::open(folder.join(PLOT_DATA), PLOT_HEADER).map(Self)
    }

    /// Appends a line.
    pub fn push(&mut self, summary: &Summary) -> Result<()> {
        self.0.push(&plot_line(summary))
    }
}

/// A line of `plot_data`.
fn plot_line(summary: &Summary) -> String {
    let Summary { live, entries, executions, executions_per_second, edges_found, faults, hangs, .. } = summary;
    format!(
        "{}, {}, {}, {entries}, {}, {}, {:.2}%, {faults}, {hangs}, {}, {executions_per_second:.2}, {executions}, {edges_found}",
        summary.elapsed().as_secs(),
        live.cycles,
        live.current,
        live.pending[0],
        live.pending[1],
        covered_percent(summary),
        live.depth,
    )
}

/// Replaces characters that would end a quoted string or start a command by `_`: afl-whatsup runs `fuzzer_stats` as a
/// shell script, with values in double quotes.
fn shell_safe(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || "\"$`\\".contains(c) { '_' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        summary::{Live, Target},
        testing,
    };
    use tempfile::tempdir;

    fn example() -> Summary {
        let started = Duration::from_secs(1_700_000_000);
        Summary {
            seconds: 90.0,
            executions: 812_331,
            executions_per_second: 9_021.0,
            foreign: 3,
            command: ["quagmire", "fuzz", "-i", "seeds", "-o", "out", "--", "./trim"].map(Into::into).to_vec(),
            live: Live {
                started,
                now: started + Duration::from_secs(90),
                process: 1,
                cycles: 2,
                active: 31,
                found: 117,
                depth: 9,
                current: 57,
                pending: [60, 4],
                last_new: Some(Duration::from_secs(78)),
                last_hang: Some(Duration::from_secs(60)),
                hang_timeout: Duration::from_secs(10),
                ..Live::default()
            },
            ..testing::example()
        }
    }

    #[test]
    fn the_keys_and_columns_are_those_of_afl() {
        let text = fuzzer_stats(&example()).replace(env!("CARGO_PKG_VERSION"), "VERSION");
        insta::assert_snapshot!("fuzzer_stats", text);
        insta::assert_snapshot!("plot_data", format!("{PLOT_HEADER}\n{}\n", plot_line(&example())));
        assert_eq!(PLOT_HEADER.split(", ").count(), plot_line(&example()).split(", ").count());
    }

    #[test]
    fn nothing_is_written_before_the_first_execution() {
        let folder = tempdir().unwrap();
        write_fuzzer_stats(&Summary { executions: 0, ..example() }, folder.path()).unwrap();
        assert!(!folder.path().join("fuzzer_stats").exists());
    }

    #[test]
    fn no_value_is_a_command_to_the_shell_that_reads_it() {
        let target = Target { program: "./$(reboot)`x`\"\\\n".into(), ..example().target };
        let text = fuzzer_stats(&Summary { target, ..example() });
        let banner = text.lines().find(|line| line.starts_with("afl_banner")).unwrap();
        assert_eq!(banner, "afl_banner        : ./_(reboot)_x____");
    }
}
