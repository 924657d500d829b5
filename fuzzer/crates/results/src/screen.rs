//! Status display: a block that is redrawn in place on a terminal, plain lines elsewhere.

mod block;

use super::summary::{Client, Diversity, Validity};
use block::{block, line};
use quagmire_base::{
    plain::{Form, printed},
    terminal::Size,
};
use quagmire_execution::info::Instrumentation;
use std::io::Write;
use std::time::{Duration, Instant};

/// Shortest time between two redraws of the block.
const INTERVAL: Duration = Duration::from_secs(1);

/// Size assumed if the terminal does not tell it.
const USUAL_SIZE: Size = Size { columns: 80, rows: 24 };

/// State of a campaign at one moment, as far as it is displayed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Status {
    /// Time that the campaign has run.
    pub elapsed: Duration,
    /// Time that the campaign may run.
    pub limit: Duration,
    /// Runs of the target.
    pub executions: u64,
    /// Runs of the target per second.
    pub executions_per_second: f64,
    /// Edges executed by any entry.
    pub edges_found: u64,
    /// Edges of the target; 0 if not known.
    pub edges_total: u64,
    /// Instructions of the worst input as a multiple of the baseline.
    pub best_ratio: f64,
    /// Cost of that input as a multiple of an ordinary input of its size, once that is known.
    pub best_ratio_by_size: Option<f64>,
    /// Instrumentation of the target, which decides what `best_ratio` is a multiple of.
    pub instrumentation: Instrumentation,
    /// CPU time of the worst input as a multiple of the baseline, once measured.
    pub best_time_ratio: Option<f64>,
    /// Where the worst finding spends its cost: a place of the program, and then that of a library below it; empty if that is
    /// not known.
    pub spent_in: Vec<String>,
    /// Confirmed degradations.
    pub degradations: u64,
    /// Inputs that cost more than the median seed only because they are larger.
    pub large: u64,
    /// Inputs above the threshold for their size that were not confirmed.
    pub unconfirmed: u64,
    /// The most useful advice on this campaign, in one line.
    pub advice: Option<String>,
    /// Inputs that crash.
    pub faults: u64,
    /// Inputs that run into the hang timeout.
    pub hangs: u64,
    /// The latest finding; `None` if there is none.
    pub last_found: Option<LastFound>,
    /// Size limit of inputs at present, in bytes.
    pub size_limit: u64,
    /// Entries that are mutated: the top-rated ones.
    pub queue_active: u64,
    /// Entries that were evicted.
    pub queue_set_aside: u64,
    /// Entries that other clients and campaigns have found.
    pub queue_foreign: u64,
    /// Figures of each client; empty if there is one.
    pub clients: Vec<Client>,
    /// Valid runs.
    pub validity: Validity,
    /// Unique traces and Hill numbers, as of the last write of the summary; `None` if there are none yet.
    pub diversity: Option<Diversity>,
    /// Places of `--towards`: how many were hit, of how many, and by how many runs the least hit one; `None` without them.
    pub towards: Option<(u64, u64, u64)>,
    /// Time since the latest entry with a new edge or a new largest cost.
    pub last_new: Option<Duration>,
    /// Current phase of the campaign.
    pub phase: &'static str,
    /// Name of the target.
    pub target: String,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Choices of the user for the display.
    pub view: View,
}

/// The latest finding of a campaign.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LastFound {
    /// Its file, relative to the output folder.
    pub path: String,
    /// Ratio that severity is computed from; `None` for faults and hangs.
    pub ratio: Option<f64>,
    /// Time since it was found.
    pub ago: Duration,
}

/// Choices of the user for the display on a terminal, made by keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Whether keys are read; the block then ends with a line about them.
    pub keys: bool,
    /// Whether each client has a row.
    pub clients: bool,
    /// Whether the keys are explained.
    pub help: bool,
}

impl View {
    /// Encodes the choices as a number, for shared memory.
    pub fn to_bits(self) -> u8 {
        u8::from(self.keys) | u8::from(self.clients) << 1 | u8::from(self.help) << 2
    }

    /// Decodes a number of [`Self::to_bits`].
    pub fn from_bits(bits: u8) -> Self {
        Self { keys: bits & 1 != 0, clients: bits & 2 != 0, help: bits & 4 != 0 }
    }
}

/// Style of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Whether the block is redrawn in place; otherwise lines are written.
    pub terminal: bool,
    /// Whether colours are used.
    pub color: bool,
    /// Whether only the final report is written.
    pub quiet: bool,
}

/// Status display on a writer. Errors of the writer (a closed pipe) are ignored: no campaign ends because of them.
pub struct Screen<W: Write> {
    out: W,
    style: Style,
    /// Returns the terminal's size; called before each redraw, since windows are resized.
    size: Box<dyn Fn() -> Option<Size> + Send>,
    /// Number of lines of the block on the terminal now.
    lines: usize,
    /// Their lengths in characters, if this display has drawn them.
    lengths: Vec<usize>,
    drawn: Option<Instant>,
}

impl<W: Write> Screen<W> {
    /// Creates a display that writes to `out`; `size` returns the terminal's size, or `None` if it is not known.
    pub fn new(out: W, style: Style, size: impl Fn() -> Option<Size> + Send + 'static) -> Self {
        Self { out, style, size: Box::new(size), lines: 0, lengths: Vec::new(), drawn: None }
    }

    /// Takes over a terminal on which another display has left this many lines of its block.
    #[must_use]
    pub fn with_lines(mut self, lines: usize) -> Self {
        self.lines = lines;
        self
    }

    /// Number of lines of the block on the terminal now.
    pub fn lines(&self) -> usize {
        self.lines
    }

    /// Shows a status. On a terminal, redraws the block, at most once a second; elsewhere writes one line each time.
    pub fn show(&mut self, status: &Status) {
        if self.style.terminal && self.drawn.is_some_and(|drawn| drawn.elapsed() < INTERVAL) {
            return;
        }
        self.show_now(status);
    }

    /// Shows a status however recent the previous one is, such as the final state of a campaign.
    pub fn show_now(&mut self, status: &Status) {
        if self.style.quiet {
            return;
        }
        if !self.style.terminal {
            self.write(&(block::written(&line(status), self.style.color) + "\n"));
            return;
        }
        let mut text = self.erase();
        let lines = block(status, self.size());
        self.lengths = lines.iter().map(block::length).collect();
        for line in &lines {
            text += &block::written(line, self.style.color);
            text.push('\n');
        }
        self.lines = lines.len();
        self.drawn = Some(Instant::now());
        self.write(&text);
    }

    /// Writes a message above the block, where it stays.
    pub fn note(&mut self, message: &str) {
        if self.style.quiet {
            return;
        }
        let erased = self.erase();
        self.lines = 0;
        // redraws the block with the next status, without waiting
        self.drawn = None;
        self.write(&format!("{erased}{}\n", printed(&message.replace('\n', " "), Form::Lines)));
    }

    /// Writes the final report below the block, even if `quiet`.
    pub fn finish(&mut self, report: &str) {
        let gap = if self.lines > 0 { "\n" } else { "" };
        self.lines = 0;
        self.write(&format!("{gap}{}", printed(report, Form::Lines)));
    }

    fn size(&self) -> Size {
        (self.size)().unwrap_or(USUAL_SIZE)
    }

    /// Escape sequence that moves to the start of the block and clears from there on; empty without a block.
    fn erase(&self) -> String {
        if self.lines == 0 {
            return String::new();
        }
        let Size { columns, rows } = self.size();
        // lines wrap in a window that has become narrower since they were drawn
        let wrapped: usize = self.lengths.iter().map(|length| length.saturating_sub(1) / columns.max(1)).sum();
        format!("\x1b[{}A\r\x1b[J", (self.lines + wrapped).min(rows.saturating_sub(1)).max(1))
    }

    fn write(&mut self, text: &str) {
        let _ = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
    }
}

#[cfg(test)]
mod tests;
