//! What the user sees: a block that is redrawn in place on a terminal, plain lines elsewhere, and the report at the end.

use super::summary::{FindingKind, StoppedBy, Summary};
use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;
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
    let time_ratio = status.best_time_ratio.map_or_else(String::new, |time| format!(", {} time", ratio(time)));
    vec![
        vec![
            (BOLD, "quagmire".into()),
            (PLAIN, format!("  {}", status.target)),
            (DIM, format!("  seed {}", status.seed)),
        ],
        row("time", vec![(PLAIN, format!("{} of {}  {}", clock(status.elapsed), clock(status.limit), status.phase))]),
        row(
            "executions",
            vec![(PLAIN, format!("{}  ({}/s)", grouped(status.executions), rate(status.executions_per_second)))],
        ),
        row("edges", vec![(PLAIN, edges)]),
        row(
            "queue",
            vec![(
                PLAIN,
                format!("{} active, {} set aside", grouped(status.queue_active), grouped(status.queue_set_aside)),
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
        row("last new", vec![(PLAIN, last_new(status))]),
    ]
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

/// What was found and where to look, in at most fifteen lines, with the command that reproduces the worst.
/// `output` is the output folder as the user typed it.
pub fn final_report(summary: &Summary, output: &Path) -> String {
    let mut text = String::new();
    let stopped = match summary.stopped_by {
        Some(StoppedBy::Time) => "time is up",
        Some(StoppedBy::Execs) => "all executions done",
        Some(StoppedBy::Signal) => "stopped on request",
        Some(StoppedBy::Error) => "stopped by an error",
        None => "so far",
    };
    let _ = writeln!(
        text,
        "{}, {}, {} in {} ({}).",
        counted(summary.degradations, "degradation"),
        counted(summary.faults, "fault"),
        counted(summary.hangs, "hang"),
        clock(Duration::try_from_secs_f64(summary.seconds).unwrap_or_default()),
        stopped,
    );
    let _ = writeln!(
        text,
        "{}, {}/s, {} found; seed {}.",
        counted(summary.executions, "execution"),
        rate(summary.executions_per_second),
        counted(summary.edges_found, "edge"),
        summary.seed,
    );
    if let Some(worst) = &summary.worst {
        let finding = summary.findings.iter().find(|finding| finding.path == worst.path);
        let _ =
            writeln!(text, "\nWorst input: {} ({})", output.join(&worst.path).display(), counted(worst.bytes, "byte"));
        let instructions = worst.instructions_ratio.map(|r| format!("{} the instructions", ratio(r)));
        let time = worst.time_ratio.map(|r| match finding.and_then(|f| f.time_ratio_low.zip(f.time_ratio_high)) {
            Some((low, high)) => format!("{} the time ({} to {})", ratio(r), ratio(low), ratio(high)),
            None => format!("{} the time", ratio(r)),
        });
        let costs: Vec<String> = instructions.into_iter().chain(time).collect();
        if !costs.is_empty() {
            let _ = writeln!(text, "  costs        {} of the baseline", costs.join(", "));
        }
        if let Some(function) = finding.and_then(|finding| finding.hot_function.as_ref()) {
            let place = finding.and_then(|finding| finding.hot_location.as_ref());
            let place = place.map_or_else(String::new, |place| format!(", {place}"));
            let _ = writeln!(text, "  spent in     {function}{place}");
        }
        if let Some(finding) = finding {
            let _ = writeln!(text, "  reproduce    {}", finding.reproduce);
        }
    }
    let first = |kind| summary.findings.iter().find(|finding| finding.kind == kind);
    for (kind, label) in [(FindingKind::Fault, "First fault"), (FindingKind::Hang, "First hang")] {
        if let Some(finding) = first(kind).filter(|f| summary.worst.as_ref().is_none_or(|worst| worst.path != f.path)) {
            let _ = writeln!(text, "\n{label}: {}", output.join(&finding.path).display());
            let _ = writeln!(text, "  reproduce    {}", finding.reproduce);
        }
    }
    let everything = output.join("summary.json");
    let _ = writeln!(text, "\nEverything: {}", everything.display());
    text
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

/// `812,331`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 hang`, `2 hangs`.
fn counted(count: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// `9,021`, or `0.4` where whole numbers say little.
fn rate(per_second: f64) -> String {
    if per_second < 10.0 { format!("{:.1}", per_second.max(0.0)) } else { grouped(per_second.round() as u64) }
}

/// `1.25x`, `41.4x`, `4,471x`.
fn ratio(ratio: f64) -> String {
    match ratio {
        r if !r.is_finite() => "-".into(),
        r if r < 9.995 => format!("{r:.2}x"),
        r if r < 999.95 => format!("{r:.1}x"),
        r => format!("{}x", grouped(r.round() as u64)),
    }
}

/// `00:01:30`; hours go on beyond 99.
fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
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
