//! What the user sees: a block that is redrawn in place on a terminal, plain lines elsewhere.

use super::format::{clock, counted, grouped, rate, ratio};
use std::fmt::Write as _;
use std::io::Write;
use std::time::{Duration, Instant};

/// The block is redrawn this often at most.
const INTERVAL: Duration = Duration::from_secs(1);

/// Width if nobody knows it, in columns.
const USUAL_WIDTH: usize = 80;

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
    /// CPU time of the worst input as a multiple of the baseline, once measured.
    pub best_time_ratio: Option<f64>,
    /// Confirmed degradations.
    pub degradations: u64,
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
    /// Runs of the target per second of each client, if there are several.
    pub clients: Vec<f64>,
    /// Rare branches now; 0 before the first round for one.
    pub rare: u64,
    /// No more runs have hit them.
    pub cutoff: u64,
    /// Inputs that were made ready for a target: trimmed, masked.
    pub masks: u64,
    /// Share of the executions that this took: 0 to 1.
    pub mask_share: f64,
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
    width: Box<dyn Fn() -> Option<u16> + Send>,
    /// Lines of the block on the terminal now.
    lines: usize,
    drawn: Option<Instant>,
}

impl<W: Write> Screen<W> {
    /// A display that writes to `out`; `width` tells the terminal's width in columns, see [`terminal_width`].
    pub fn new(out: W, style: Style, width: impl Fn() -> Option<u16> + Send + 'static) -> Self {
        Self { out, style, width: Box::new(width), lines: 0, drawn: None }
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
        let width = (self.width)().map_or(USUAL_WIDTH, usize::from).max(1);
        let lines = block(status);
        let mut text = self.erase();
        for line in &lines {
            text += &cut(line, width, self.style.color);
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
        self.write(&format!("{erased}{message}\n"));
    }

    /// Writes the end, `quiet` or not, below the last state.
    pub fn finish(&mut self, report: &str) {
        let gap = if self.lines > 0 { "\n" } else { "" };
        self.lines = 0;
        self.write(&format!("{gap}{report}"));
    }

    /// Moves to the start of the block and clears from there on.
    fn erase(&self) -> String {
        if self.lines == 0 { String::new() } else { format!("\x1b[{}A\r\x1b[J", self.lines) }
    }

    fn write(&mut self, text: &str) {
        let _ = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
    }
}

/// The width of a terminal in columns; nothing if it is none.
pub fn terminal_width(terminal: &impl std::os::fd::AsRawFd) -> Option<u16> {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: TIOCGWINSZ writes one `winsize` to the address, which is that of one; a bad descriptor is an error return
    let result = unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCGWINSZ, &raw mut size) };
    (result == 0 && size.ws_col > 0).then_some(size.ws_col)
}

/// A piece of text with its looks, as an SGR code; empty for none.
type Piece = (&'static str, String);

const PLAIN: &str = "";
const DIM: &str = "2";
const BOLD: &str = "1";
const YELLOW: &str = "33";
const RED: &str = "31";

/// The lines of the block.
fn block(status: &Status) -> Vec<Vec<Piece>> {
    let row = |label: &str, pieces: Vec<Piece>| {
        let mut row = vec![(DIM, format!("  {label:<12}"))];
        row.extend(pieces);
        row
    };
    let found = |count: u64, what: &str, looks| (if count > 0 { looks } else { PLAIN }, counted(count, what));
    let comma = || (PLAIN, ", ".to_owned());
    let edges = match status.edges_total {
        0 => grouped(status.edges_found),
        total => format!("{} of {}", grouped(status.edges_found), grouped(total)),
    };
    let phase = if status.phase.is_empty() { String::new() } else { format!("  {}", status.phase) };
    let time_ratio = status.best_time_ratio.map_or_else(String::new, |time| format!(", {} time", ratio(time)));
    vec![
        vec![
            (BOLD, "quagmire".into()),
            (PLAIN, format!("  {}", status.target)),
            (DIM, format!("  seed {}", status.seed)),
        ],
        row("time", vec![(PLAIN, format!("{} of {}", clock(status.elapsed), clock(status.limit))), (PLAIN, phase)]),
        row(
            "executions",
            vec![(
                PLAIN,
                format!(
                    "{}  ({}/s{})",
                    grouped(status.executions),
                    rate(status.executions_per_second),
                    clients(status)
                ),
            )],
        ),
        row("edges", vec![(PLAIN, edges)]),
        row("rare", vec![(PLAIN, rare(status))]),
        row(
            "queue",
            vec![(
                PLAIN,
                format!(
                    "{} active, {} set aside{}",
                    grouped(status.queue_active),
                    grouped(status.queue_set_aside),
                    foreign(status)
                ),
            )],
        ),
        row("worst", vec![(BOLD, ratio(status.best_ratio)), (PLAIN, format!(" instructions{time_ratio}"))]),
        row(
            "found",
            vec![
                found(status.degradations, "degradation", YELLOW),
                comma(),
                found(status.faults, "fault", RED),
                comma(),
                found(status.hangs, "hang", YELLOW),
            ],
        ),
        row("rules", vec![(PLAIN, rules(status))]),
        row("last new", vec![(PLAIN, last_new(status))]),
    ]
}

/// `, 12 from others`
fn foreign(status: &Status) -> String {
    if status.queue_foreign == 0 { String::new() } else { format!(", {} from others", grouped(status.queue_foreign)) }
}

/// ` by 2 clients: 5,120 5,300`
fn clients(status: &Status) -> String {
    if status.clients.is_empty() {
        return String::new();
    }
    let rates: Vec<String> = status.clients.iter().map(|&one| rate(one)).collect();
    format!(" by {} clients: {}", rates.len(), rates.join(" "))
}

/// `7 branches hit by 64 runs at most; 41 masks, 2.1 % of executions`
fn rare(status: &Status) -> String {
    if status.cutoff == 0 && status.masks == 0 {
        return "not yet".into();
    }
    format!(
        "{} {} hit by {} at most; {}, {:.1} % of executions",
        grouped(status.rare),
        if status.rare == 1 { "branch" } else { "branches" },
        counted(status.cutoff, "run"),
        counted(status.masks, "mask"),
        status.mask_share * 100.0
    )
}

/// `mixed: T.11 found 34, havoc 21`
fn rules(status: &Status) -> String {
    let best: Vec<String> =
        status.best_rules.iter().map(|(label, found)| format!("{label} {}", grouped(*found))).collect();
    let best = if best.is_empty() { "nothing found yet".to_owned() } else { best.join(", ") };
    if status.strategy.is_empty() { best } else { format!("{best}  ({})", status.strategy) }
}

/// The status on one line.
fn line(status: &Status) -> String {
    let edges = match status.edges_total {
        0 => grouped(status.edges_found),
        total => format!("{}/{}", grouped(status.edges_found), grouped(total)),
    };
    format!(
        "{}  {} execs ({}/s)  edges {edges}  best {}  degradations {}  faults {}  hangs {}  last new {}",
        clock(status.elapsed),
        grouped(status.executions),
        rate(status.executions_per_second),
        ratio(status.best_ratio),
        grouped(status.degradations),
        grouped(status.faults),
        grouped(status.hangs),
        last_new(status),
    )
}

/// A line no wider than `width` columns: cut, not wrapped, with `…` at the end. Control characters, which a target's name
/// may hold, become `?`.
fn cut(line: &[Piece], width: usize, color: bool) -> String {
    let total: usize = line.iter().map(|(_, text)| text.chars().count()).sum();
    let mut room = if total > width { width - 1 } else { width };
    let mut shown = String::new();
    for (looks, text) in line {
        let part: String = text.chars().take(room).map(|c| if c.is_control() { '?' } else { c }).collect();
        room -= part.chars().count();
        if color && !looks.is_empty() && !part.is_empty() {
            let _ = write!(shown, "\x1b[{looks}m{part}\x1b[0m");
        } else {
            shown += &part;
        }
    }
    if total > width {
        shown.push('…');
    }
    shown
}

fn last_new(status: &Status) -> String {
    match status.last_new.map(|ago| ago.as_secs()) {
        None => "never".into(),
        Some(s @ 0..60) => format!("{s}s ago"),
        Some(s @ 60..3600) => format!("{}m ago", s / 60),
        Some(s @ 3600..172_800) => format!("{}h ago", s / 3600),
        Some(s) => format!("{}d ago", s / 86_400),
    }
}

#[cfg(test)]
mod tests;
