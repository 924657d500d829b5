//! Status display: a block that is redrawn in place on a terminal, plain lines elsewhere.

use std::{
    fmt::Write as _,
    io::Write,
    time::{Duration, Instant},
};

use quagmire_base::{
    format::{clock, counted, grouped, rate, ratio},
    plain::{Form, is_obeyed, printed},
    terminal::Size,
};

use crate::summary::{Client, LastFound, Live, Summary};

/// Shortest time between two redraws of the block.
const INTERVAL: Duration = Duration::from_secs(1);

/// Size assumed if the terminal does not tell it.
const USUAL_SIZE: Size = Size { columns: 80, rows: 24 };

/// Text with its style, an SGR code; an empty code for plain text.
type Piece = (&'static str, String);

/// One line of the terminal, as styled pieces.
type Line = Vec<Piece>;

const PLAIN: &str = "";
const DIM: &str = "2";
const BOLD: &str = "1";
const YELLOW: &str = "33";
const RED: &str = "31";

/// Column in which the items of a row begin.
const INDENT: usize = 14;

/// Labels of rows whose items have no commas between them.
const ADVICE: &str = "advice";
const TIME: &str = "time";

/// Length of the bar of the time in characters, without its ends.
const BAR: usize = 20;

/// Width below which rows are cut instead of wrapped, in columns.
const NARROW: usize = 34;

/// A row of the block: its label, and items that are never split. Items that do not fit go on in the next line.
struct Row {
    label: &'static str,
    items: Vec<Line>,
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
    /// Number of lines of the block on the terminal now; those of another display that it takes over at first.
    pub lines: usize,
    /// Their lengths in characters, if this display has drawn them.
    lengths: Vec<usize>,
    drawn: Option<Instant>,
}

impl<W: Write> Screen<W> {
    /// Creates a display that writes to `out`; `size` returns the terminal's size, or `None` if it is not known.
    pub fn new(out: W, style: Style, size: impl Fn() -> Option<Size> + Send + 'static) -> Self {
        Self { out, style, size: Box::new(size), lines: 0, lengths: Vec::new(), drawn: None }
    }

    /// Shows the state of a campaign. On a terminal, redraws the block, at most once a second; elsewhere writes one line each time.
    pub fn show(&mut self, summary: &Summary, view: View) {
        if self.style.terminal && self.drawn.is_some_and(|drawn| drawn.elapsed() < INTERVAL) {
            return;
        }
        self.show_now(summary, view);
    }

    /// Shows it however recent the previous one is, such as the final state.
    pub fn show_now(&mut self, summary: &Summary, view: View) {
        if self.style.quiet {
            return;
        }
        if !self.style.terminal {
            self.write(&(written(&line(summary), self.style.color) + "\n"));
            return;
        }
        let mut text = self.erase();
        let lines = block(summary, view, self.size());
        self.lengths = lines.iter().map(length).collect();
        for line in &lines {
            text += &written(line, self.style.color);
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

/// Lines of the block, none longer than the terminal is wide, and no more than it has rows.
fn block(summary: &Summary, view: View, size: Size) -> Vec<Line> {
    let columns = size.columns.max(1);
    let mut below = Vec::new();
    if view.keys {
        below.extend(keys(view).into_iter().map(|line| cut(line, columns)));
    }
    // the cursor stands in the line after the last one
    let room = size.rows.saturating_sub(1).max(1);
    let clients = if view.clients { summary.clients.len() + 1 } else { 0 };
    let above = |narrow| {
        let rows = rows(summary).into_iter().flat_map(|row| fitted(row, columns, narrow));
        std::iter::once(cut(title(summary), columns)).chain(rows).collect::<Vec<Line>>()
    };
    let mut lines = above(NARROW);
    if lines.len() + clients + below.len() > room {
        // cut each row to one line
        lines = above(usize::MAX);
    }
    if view.clients {
        let left = room.saturating_sub(lines.len() + below.len());
        lines.extend(table(&summary.clients, columns, left).into_iter().map(|line| cut(line, columns)));
    }
    lines.extend(below);
    lines.truncate(room);
    lines
}

fn title(summary: &Summary) -> Line {
    vec![
        (BOLD, "quagmire".into()),
        (PLAIN, format!("  {}", summary.live.target)),
        (DIM, format!("  seed {}", summary.seed)),
    ]
}

fn rows(summary: &Summary) -> Vec<Row> {
    let live = &summary.live;
    let plain = |text: String| vec![(PLAIN, text)];
    let row = |label, items: Vec<String>| Row { label, items: items.into_iter().map(plain).collect() };
    let found = |count: u64, what: &str, looks| vec![(if count > 0 { looks } else { PLAIN }, counted(count, what))];
    let others = |count: u64, what: &str| (count > 0).then(|| plain(format!("{} {what}", grouped(count))));
    let edges = match summary.target.edges {
        None | Some(0) => grouped(summary.edges_found),
        Some(total) => format!("{} of {}", grouped(summary.edges_found), grouped(total)),
    };
    let by = summary.target.instrumentation;
    let cost = if by.counts() { by.work() } else { "cost" };
    let mut worst = vec![vec![(BOLD, ratio(live.worst_ratio)), (PLAIN, format!(" {cost}"))]];
    worst.extend(live.worst_ratio_by_size.map(|by_size| plain(format!("{} for its size", ratio(by_size)))));
    worst.extend(live.worst_time_ratio.map(|time| plain(format!("{} time", ratio(time)))));
    let mut all_found = vec![
        found(summary.degradations, "degradation", YELLOW),
        found(summary.faults, "fault", RED),
        found(summary.hangs, "hang", YELLOW),
    ];
    all_found.extend(others(summary.unconfirmed.len() as u64, "unconfirmed"));
    all_found.extend(others(summary.large, "only large"));
    let last_found = live.last_found.as_ref().map(|last| row("last found", last_found(last)));
    let advice = summary.unseen.warning.as_ref().or(summary.advice.as_ref());
    let rows = [
        Some(row(TIME, time(summary))),
        Some(row("executions", executions(summary))),
        by.counts().then(|| row("edges", vec![edges])),
        diverse(summary).map(|items| row("diversity", items)),
        towards(summary).map(|items| row("towards", items)),
        Some(row("queue", queue(summary))),
        Some(Row { label: "worst", items: worst }),
        (!live.spent_in.is_empty()).then(|| row("spent in", live.spent_in.clone())),
        Some(Row { label: "found", items: all_found }),
        last_found,
        advice.map(|advice| row(ADVICE, advice.split(' ').map(str::to_owned).collect())),
    ];
    rows.into_iter().flatten().collect()
}

/// Items of the row `towards`, such as `2 of 3 places hit`, `the rarest by 12 runs`; `None` without places.
fn towards(summary: &Summary) -> Option<Vec<String>> {
    let least = summary.towards.iter().map(|place| place.hits).min()?;
    let hit = summary.towards.iter().filter(|place| place.hits > 0).count();
    let places = counted(summary.towards.len() as u64, "place");
    Some(vec![format!("{hit} of {places} hit"), format!("the rarest by {}", counted(least, "run"))])
}

/// Items of the row `diversity`, such as `93.1 % valid`, `1,234 unique valid traces`, `B(1) 812`, `B(2) 640`; `None` before
/// there is anything to show.
fn diverse(summary: &Summary) -> Option<Vec<String>> {
    let diversity = summary.diversity.as_ref()?;
    let mut items: Vec<String> =
        summary.validity.share().map(|share| format!("{:.1} % valid", share * 100.0)).into_iter().collect();
    let more = if diversity.is_full { " and more" } else { "" };
    items.push(format!("{}{more}", counted(diversity.unique_valid_traces, "unique valid trace")));
    items.extend([("B(1)", diversity.b1), ("B(2)", diversity.b2)].map(|(name, value)| format!("{name} {value:.1}")));
    Some(items)
}

/// Items of the row `executions`, such as `812,331  (9,021/s)`, `2 clients`, `sizes to 8,232`.
fn executions(summary: &Summary) -> Vec<String> {
    let mut items = vec![format!("{}  ({}/s)", grouped(summary.executions), rate(summary.executions_per_second))];
    if !summary.clients.is_empty() {
        items.push(format!("{} clients", summary.clients.len()));
    }
    if summary.size_limit > 0 {
        items.push(format!("sizes to {}", grouped(summary.size_limit)));
    }
    items
}

/// Items of the row `queue`, such as `120 active`, `1,031 set aside`, `12 from others`, `last new 12s ago`.
fn queue(summary: &Summary) -> Vec<String> {
    let mut items = vec![
        format!("{} active", grouped(summary.live.active)),
        format!("{} set aside", grouped(summary.entries - summary.live.active)),
    ];
    if summary.foreign > 0 {
        items.push(format!("{} from others", grouped(summary.foreign)));
    }
    items.push(format!("last new {}", last_new(summary)));
    items
}

/// Items of the row `time`: `00:01:30 of 00:30:00,`, `searching`, `[#-------------------]`.
fn time(summary: &Summary) -> Vec<String> {
    let Live { phase, limit, .. } = summary.live;
    let share = summary.seconds / limit.as_secs_f64().max(1.0);
    let done = (share.clamp(0.0, 1.0) * BAR as f64) as usize;
    let bar = format!("[{}{}]", "#".repeat(done), "-".repeat(BAR - done));
    let comma = if phase.is_empty() { "" } else { "," };
    let clock = format!("{} of {}{comma}", clock(summary.elapsed()), clock(limit));
    [clock, phase.to_owned(), bar].into_iter().filter(|item| !item.is_empty()).collect()
}

/// Items of the row `last found`, such as `29.5x`, `3m ago`, `degradations/id_000012,src_000003`.
fn last_found(last: &LastFound) -> Vec<String> {
    let factor = last.ratio.map(ratio);
    factor.into_iter().chain([ago(last.ago), last.path.clone()]).collect()
}

fn last_new(summary: &Summary) -> String {
    let elapsed = summary.elapsed();
    summary.live.last_new.map_or_else(|| "never".into(), |at| ago(elapsed.saturating_sub(at)))
}

fn ago(time: Duration) -> String {
    match time.as_secs() {
        s @ 0..60 => format!("{s}s ago"),
        s @ 60..3600 => format!("{}m ago", s / 60),
        s @ 3600..172_800 => format!("{}h ago", s / 3600),
        s => format!("{}d ago", s / 86_400),
    }
}

/// Table of the clients, in at most `room` lines.
fn table(clients: &[Client], columns: usize, room: usize) -> Vec<Line> {
    if clients.is_empty() {
        return vec![vec![(DIM, "  one client: see -j".into())]].into_iter().take(room).collect();
    }
    let [a, b, c, d, e] = if columns < 54 { [7, 11, 7, 6, 7] } else { [10, 14, 10, 9, 9] };
    let line = |[name, executions, rate, edges, queue]: [&str; 5]| {
        format!("  {name:<a$}{executions:>b$}{rate:>c$}{edges:>d$}{queue:>e$}")
    };
    let head = line(["client", "executions", "per s", "edges", "queue"]);
    let row = |client: &Client| {
        let Client { name, executions, executions_per_second, edges_found, entries } = client;
        let name = name.strip_prefix("client-").unwrap_or(name);
        let [executions, edges, queue] = [*executions, *edges_found, *entries].map(grouped);
        vec![(PLAIN, line([name, &executions, &rate(*executions_per_second), &edges, &queue]))]
    };
    let mut lines = vec![vec![(DIM, head)]];
    lines.extend(clients.iter().map(row));
    if lines.len() > room {
        lines.truncate(room.saturating_sub(1));
        let shown = lines.len().saturating_sub(1);
        lines.push(vec![(DIM, format!("  and {} more", clients.len() - shown))]);
        lines.truncate(room);
    }
    lines
}

fn keys(View { clients, help, .. }: View) -> Vec<Line> {
    let of_clients = if clients { "hide the clients" } else { "a row for each client" };
    if !help {
        return vec![vec![(DIM, format!("  c {of_clients}, q end, h help"))]];
    }
    let help = [
        format!("c        {of_clients}"),
        "q        end and write everything, as Ctrl-C does".into(),
        "Ctrl-C   twice: end at once".into(),
        "h, ?     hide this".into(),
    ];
    help.into_iter().map(|line| vec![(DIM, format!("  {line}"))]).collect()
}

/// Lines of a row: as many as it needs, or a single one that is cut if there are less than `narrow` columns.
fn fitted(row: Row, columns: usize, narrow: usize) -> Vec<Line> {
    let begun = |label: &str| vec![(DIM, format!("  {label:<width$}", width = INDENT - 2))];
    let mut lines = Vec::new();
    let mut line = begun(row.label);
    let last = row.items.len().saturating_sub(1);
    for (at, item) in row.items.into_iter().enumerate() {
        let comma = if at < last && ![ADVICE, TIME].contains(&row.label) { "," } else { "" };
        if at > 0 {
            let fits = length(&line) + 1 + length(&item) + comma.len() <= columns;
            if fits || columns < narrow {
                line.push((PLAIN, " ".into()));
            } else {
                lines.push(std::mem::replace(&mut line, begun("")));
            }
        }
        line.extend(item);
        line.push((PLAIN, comma.into()));
    }
    lines.push(line);
    lines.into_iter().map(|line| cut(line, columns)).collect()
}

/// Length of a line, in characters.
fn length(line: &Line) -> usize {
    line.iter().map(|(_, text)| text.chars().count()).sum()
}

/// Cuts a line to `columns`, with `…` at its end if it was longer. Control characters, which a target's name may hold,
/// become `?`.
fn cut(line: Line, columns: usize) -> Line {
    let total = length(&line);
    let mut room = if total > columns { columns - 1 } else { columns };
    let mut shown = Line::new();
    for (looks, text) in line {
        let part: String = text.chars().take(room).map(|c| if is_obeyed(c) { '?' } else { c }).collect();
        room -= part.chars().count();
        if !part.is_empty() {
            shown.push((looks, part));
        }
    }
    if total > columns {
        shown.push((PLAIN, "…".into()));
    }
    shown
}

/// Line as it is written to a terminal.
fn written(line: &Line, color: bool) -> String {
    let mut text = String::new();
    for (looks, part) in line {
        if color && !looks.is_empty() {
            let _ = write!(text, "\x1b[{looks}m{part}\x1b[0m");
        } else {
            text += part;
        }
    }
    text
}

/// Status as a single line, for output that is not a terminal.
fn line(summary: &Summary) -> Line {
    let edges = match summary.target.edges {
        _ if !summary.target.instrumentation.counts() => String::new(),
        None | Some(0) => format!("edges {}  ", grouped(summary.edges_found)),
        Some(total) => format!("edges {}/{}  ", grouped(summary.edges_found), grouped(total)),
    };
    let by_size =
        summary.live.worst_ratio_by_size.map_or(String::new(), |by_size| format!(" ({} for its size)", ratio(by_size)));
    let found =
        |what: &str, count: u64, looks| (if count > 0 { looks } else { PLAIN }, format!("{what} {}", grouped(count)));
    let run = format!(
        "{}  {} execs ({}/s)  {edges}best ",
        clock(summary.elapsed()),
        grouped(summary.executions),
        rate(summary.executions_per_second),
    );
    let gap = || (PLAIN, "  ".to_owned());
    vec![
        (PLAIN, run),
        (BOLD, ratio(summary.live.worst_ratio)),
        (PLAIN, by_size),
        gap(),
        found("degradations", summary.degradations, YELLOW),
        gap(),
        found("faults", summary.faults, RED),
        gap(),
        found("hangs", summary.hangs, YELLOW),
        (PLAIN, format!("  last new {}", last_new(summary))),
    ]
}

#[cfg(test)]
mod tests;
