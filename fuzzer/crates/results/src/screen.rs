//! What the user sees: a block that is redrawn in place on a terminal, plain lines elsewhere.

mod block;

use super::summary::Client;
use block::{block, line};
use quagmire_base::{
    plain::{Form, printed},
    terminal::Size,
};
use quagmire_execution::info::Instrumentation;
use std::io::Write;
use std::time::{Duration, Instant};

/// The block is redrawn this often at most.
const INTERVAL: Duration = Duration::from_secs(1);

/// The terminal's size if nobody knows it.
const USUAL_SIZE: Size = Size { columns: 80, rows: 24 };

/// A campaign at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Status {
    /// How long it has run.
    pub elapsed: Duration,
    /// How long it may run.
    pub limit: Duration,
    /// Runs of the target.
    pub executions: u64,
    /// Runs of the target per second.
    pub executions_per_second: f64,
    /// Edges executed by any input.
    pub edges_found: u64,
    /// Edges of the target; 0 if not known.
    pub edges_total: u64,
    /// Instructions of the worst input as a multiple of the baseline.
    pub best_ratio: f64,
    /// Its cost as a multiple of an ordinary input of its size, once that is known.
    pub best_ratio_by_size: Option<f64>,
    /// What counts in the target, and so what that is a multiple of.
    pub instrumentation: Instrumentation,
    /// CPU time of the worst input as a multiple of the baseline, once measured.
    pub best_time_ratio: Option<f64>,
    /// Confirmed degradations.
    pub degradations: u64,
    /// Inputs that cost more than the median seed only because they are larger.
    pub large: u64,
    /// Inputs that crash.
    pub faults: u64,
    /// Inputs that run into the hang timeout.
    pub hangs: u64,
    /// Entries of the queue that are mutated.
    pub queue_active: u64,
    /// Entries of the queue that others have made superfluous.
    pub queue_set_aside: u64,
    /// Entries that other clients and campaigns have found.
    pub queue_foreign: u64,
    /// What each client has done, if there are several.
    pub clients: Vec<Client>,
    /// Rare branches now; 0 before the first round for one.
    pub rare: u64,
    /// No more runs have hit them.
    pub cutoff: u64,
    /// Inputs that got a mask for a target.
    pub masks: u64,
    /// Share of the executions that this took: 0 to 1.
    pub mask_share: f64,
    /// Mutants that were held to a mask.
    pub masked: u64,
    /// Those of them that satisfied their target.
    pub masked_hits: u64,
    /// Those of them that were kept.
    pub masked_kept: u64,
    /// How rules get their shares of the mutants.
    pub strategy: &'static str,
    /// The rules that found most, with what they found.
    pub best_rules: Vec<(String, u64)>,
    /// How long ago something new was found.
    pub last_new: Option<Duration>,
    /// What the campaign does now.
    pub phase: &'static str,
    /// Name of the target.
    pub target: String,
    /// The number that all random choices follow from.
    pub seed: u64,
    /// What the user wants to see.
    pub view: View,
}

/// What the user wants to see on a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Keys are read: the block says so.
    pub keys: bool,
    /// A row for each client.
    pub clients: bool,
    /// What the keys do.
    pub help: bool,
}

impl View {
    /// As a number, for memory that is shared.
    pub fn to_bits(self) -> u8 {
        u8::from(self.keys) | u8::from(self.clients) << 1 | u8::from(self.help) << 2
    }

    /// The inverse of [`Self::to_bits`].
    pub fn from_bits(bits: u8) -> Self {
        Self { keys: bits & 1 != 0, clients: bits & 2 != 0, help: bits & 4 != 0 }
    }
}

/// How to write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Redraw in place instead of writing lines.
    pub terminal: bool,
    /// Use colours.
    pub color: bool,
    /// Write nothing but the end.
    pub quiet: bool,
}

/// The status display. Output that cannot be written (a closed pipe) is dropped: no campaign ends for it.
pub struct Screen<W: Write> {
    out: W,
    style: Style,
    /// Asked before each redraw, since windows are resized.
    size: Box<dyn Fn() -> Option<Size> + Send>,
    /// Lines of the block on the terminal now.
    lines: usize,
    /// Their lengths, if this display has drawn them.
    lengths: Vec<usize>,
    drawn: Option<Instant>,
}

impl<W: Write> Screen<W> {
    /// A display that writes to `out`; `size` tells the terminal's, see [`super::terminal_size`].
    pub fn new(out: W, style: Style, size: impl Fn() -> Option<Size> + Send + 'static) -> Self {
        Self { out, style, size: Box::new(size), lines: 0, lengths: Vec::new(), drawn: None }
    }

    /// Goes on where another display has left this many lines of its block.
    #[must_use]
    pub fn with_lines(mut self, lines: usize) -> Self {
        self.lines = lines;
        self
    }

    /// Lines of the block on the terminal now.
    pub fn lines(&self) -> usize {
        self.lines
    }

    /// Shows a status. On a terminal the block is redrawn, at most once a second; elsewhere it is one line, and the caller
    /// decides when.
    pub fn show(&mut self, status: &Status) {
        if self.style.terminal && self.drawn.is_some_and(|drawn| drawn.elapsed() < INTERVAL) {
            return;
        }
        self.show_now(status);
    }

    /// Shows a status however recent the one before is, as at the end of a campaign: the last state stays.
    pub fn show_now(&mut self, status: &Status) {
        if self.style.quiet {
            return;
        }
        if !self.style.terminal {
            self.write(&(line(status) + "\n"));
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
        // the next status follows at once
        self.drawn = None;
        self.write(&format!("{erased}{}\n", printed(&message.replace('\n', " "), Form::Lines)));
    }

    /// Writes the end, `quiet` or not, below the last state.
    pub fn finish(&mut self, report: &str) {
        let gap = if self.lines > 0 { "\n" } else { "" };
        self.lines = 0;
        self.write(&format!("{gap}{}", printed(report, Form::Lines)));
    }

    fn size(&self) -> Size {
        (self.size)().unwrap_or(USUAL_SIZE)
    }

    /// Moves to the start of the block and clears from there on.
    fn erase(&self) -> String {
        if self.lines == 0 {
            return String::new();
        }
        let Size { columns, rows } = self.size();
        // in a window that has become narrower since, lines are wrapped
        let wrapped: usize = self.lengths.iter().map(|length| length.saturating_sub(1) / columns.max(1)).sum();
        format!("\x1b[{}A\r\x1b[J", (self.lines + wrapped).min(rows.saturating_sub(1)).max(1))
    }

    fn write(&mut self, text: &str) {
        let _ = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
    }
}

#[cfg(test)]
mod tests;
