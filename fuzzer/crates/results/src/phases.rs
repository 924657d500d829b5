//! `logs/phases_data.txt`: the phases of the campaign over time. Phases that alternate faster than can be drawn are
//! merged into one span, `search`.

use std::{path::Path, time::Duration};

use super::logs::Lines;
use quagmire_base::error::Result;

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
