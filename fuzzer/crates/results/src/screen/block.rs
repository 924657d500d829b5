//! Text of the status display: the block of a terminal, and the line elsewhere.

use super::{Client, LastFound, Size, Status, View};
use quagmire_base::{
    format::{clock, counted, grouped, rate, ratio},
    plain::is_obeyed,
};
use std::{fmt::Write as _, time::Duration};

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

/// Lines of the block, none longer than the terminal is wide, and no more than it has rows.
pub(super) fn block(status: &Status, size: Size) -> Vec<Line> {
    let columns = size.columns.max(1);
    let mut below = Vec::new();
    if status.view.keys {
        below.extend(keys(status).into_iter().map(|line| cut(line, columns)));
    }
    // the cursor stands in the line after the last one
    let room = size.rows.saturating_sub(1).max(1);
    let clients = if status.view.clients { status.clients.len() + 1 } else { 0 };
    let above = |narrow| {
        let rows = rows(status).into_iter().flat_map(|row| fitted(row, columns, narrow));
        std::iter::once(cut(title(status), columns)).chain(rows).collect::<Vec<Line>>()
    };
    let mut lines = above(NARROW);
    if lines.len() + clients + below.len() > room {
        // cut each row to one line
        lines = above(usize::MAX);
    }
    if status.view.clients {
        let left = room.saturating_sub(lines.len() + below.len());
        lines.extend(table(&status.clients, columns, left).into_iter().map(|line| cut(line, columns)));
    }
    lines.extend(below);
    lines.truncate(room);
    lines
}

fn title(status: &Status) -> Line {
    vec![(BOLD, "quagmire".into()), (PLAIN, format!("  {}", status.target)), (DIM, format!("  seed {}", status.seed))]
}

fn rows(status: &Status) -> Vec<Row> {
    let row =
        |label, items: Vec<String>| Row { label, items: items.into_iter().map(|item| vec![(PLAIN, item)]).collect() };
    let found = |count: u64, what: &str, looks| vec![(if count > 0 { looks } else { PLAIN }, counted(count, what))];
    let edges = match status.edges_total {
        0 => grouped(status.edges_found),
        total => format!("{} of {}", grouped(status.edges_found), grouped(total)),
    };
    let counts = status.instrumentation.counts();
    let cost = if counts { status.instrumentation.work() } else { "cost" };
    let mut worst = vec![vec![(BOLD, ratio(status.best_ratio)), (PLAIN, format!(" {cost}"))]];
    worst.extend(status.best_ratio_by_size.map(|by_size| vec![(PLAIN, format!("{} for its size", ratio(by_size)))]));
    worst.extend(status.best_time_ratio.map(|time| vec![(PLAIN, format!("{} time", ratio(time)))]));
    let mut all_found = vec![
        found(status.degradations, "degradation", YELLOW),
        found(status.faults, "fault", RED),
        found(status.hangs, "hang", YELLOW),
    ];
    if status.unconfirmed > 0 {
        all_found.push(vec![(PLAIN, format!("{} unconfirmed", grouped(status.unconfirmed)))]);
    }
    if status.large > 0 {
        all_found.push(vec![(PLAIN, format!("{} only large", grouped(status.large)))]);
    }
    let mut rows = vec![
        row(TIME, time(status)),
        row("executions", executions(status)),
        row("edges", vec![edges]),
        row("queue", queue(status)),
        Row { label: "worst", items: worst },
        Row { label: "found", items: all_found },
    ];
    let after = |label| rows.iter().position(|row| row.label == label).map_or(0, |at| at + 1);
    let (behind_worst, behind_found) = (after("worst"), after("found"));
    if let Some(last) = &status.last_found {
        rows.insert(behind_found, row("last found", last_found(last)));
    }
    if !status.spent_in.is_empty() {
        rows.insert(behind_worst, row("spent in", status.spent_in.clone()));
    }
    if let Some(advice) = &status.advice {
        rows.push(Row { label: ADVICE, items: advice.split(' ').map(|word| vec![(PLAIN, word.to_owned())]).collect() });
    }
    if let Some((hit, all, least)) = status.towards {
        let least = format!("the rarest by {}", counted(least, "run"));
        rows.insert(3, row("towards", vec![format!("{hit} of {} hit", counted(all, "place")), least]));
    }
    if let Some(items) = diverse(status) {
        rows.insert(3, row("diversity", items));
    }
    if !counts {
        rows.retain(|row| row.label != "edges");
    }
    rows
}

/// Items of the row `diversity`, such as `93.1 % valid`, `1,234 unique valid traces`, `B(1) 812`, `B(2) 640`; `None` before
/// there is anything to show.
fn diverse(status: &Status) -> Option<Vec<String>> {
    let diversity = status.diversity.as_ref()?;
    let mut items: Vec<String> =
        status.validity.share().map(|share| format!("{:.1} % valid", share * 100.0)).into_iter().collect();
    let more = if diversity.is_full { " and more" } else { "" };
    items.push(format!("{}{more}", counted(diversity.unique_valid_traces, "unique valid trace")));
    items.extend([("B(1)", diversity.b1), ("B(2)", diversity.b2)].map(|(name, value)| format!("{name} {value:.1}")));
    Some(items)
}

/// Items of the row `executions`, such as `812,331  (9,021/s)`, `2 clients`, `sizes to 8,232`.
fn executions(status: &Status) -> Vec<String> {
    let mut items = vec![format!("{}  ({}/s)", grouped(status.executions), rate(status.executions_per_second))];
    if !status.clients.is_empty() {
        items.push(format!("{} clients", status.clients.len()));
    }
    if status.size_limit > 0 {
        items.push(format!("sizes to {}", grouped(status.size_limit)));
    }
    items
}

/// Items of the row `queue`, such as `120 active`, `1,031 set aside`, `12 from others`, `last new 12s ago`.
fn queue(status: &Status) -> Vec<String> {
    let mut items = vec![
        format!("{} active", grouped(status.queue_active)),
        format!("{} set aside", grouped(status.queue_set_aside)),
    ];
    if status.queue_foreign > 0 {
        items.push(format!("{} from others", grouped(status.queue_foreign)));
    }
    items.push(format!("last new {}", last_new(status)));
    items
}

/// Items of the row `time`: `00:01:30 of 00:30:00,`, `searching`, `[#-------------------]`.
fn time(status: &Status) -> Vec<String> {
    let share = status.elapsed.as_secs_f64() / status.limit.as_secs_f64().max(1.0);
    let done = (share.clamp(0.0, 1.0) * BAR as f64) as usize;
    let bar = format!("[{}{}]", "#".repeat(done), "-".repeat(BAR - done));
    let comma = if status.phase.is_empty() { "" } else { "," };
    let clock = format!("{} of {}{comma}", clock(status.elapsed), clock(status.limit));
    [clock, status.phase.to_owned(), bar].into_iter().filter(|item| !item.is_empty()).collect()
}

/// Items of the row `last found`, such as `29.5x`, `3m ago`, `degradations/id_000012,src_000003`.
fn last_found(last: &LastFound) -> Vec<String> {
    let factor = last.ratio.map(ratio);
    factor.into_iter().chain([ago(last.ago), last.path.clone()]).collect()
}

fn last_new(status: &Status) -> String {
    status.last_new.map_or_else(|| "never".into(), ago)
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

fn keys(status: &Status) -> Vec<Line> {
    let View { clients, help, .. } = status.view;
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
pub(super) fn length(line: &Line) -> usize {
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
pub(super) fn written(line: &Line, color: bool) -> String {
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
pub(super) fn line(status: &Status) -> Line {
    let edges = match status.edges_total {
        _ if !status.instrumentation.counts() => String::new(),
        0 => format!("edges {}  ", grouped(status.edges_found)),
        total => format!("edges {}/{}  ", grouped(status.edges_found), grouped(total)),
    };
    let by_size =
        status.best_ratio_by_size.map_or(String::new(), |by_size| format!(" ({} for its size)", ratio(by_size)));
    let found =
        |what: &str, count: u64, looks| (if count > 0 { looks } else { PLAIN }, format!("{what} {}", grouped(count)));
    let run = format!(
        "{}  {} execs ({}/s)  {edges}best ",
        clock(status.elapsed),
        grouped(status.executions),
        rate(status.executions_per_second),
    );
    let gap = || (PLAIN, "  ".to_owned());
    vec![
        (PLAIN, run),
        (BOLD, ratio(status.best_ratio)),
        (PLAIN, by_size),
        gap(),
        found("degradations", status.degradations, YELLOW),
        gap(),
        found("faults", status.faults, RED),
        gap(),
        found("hangs", status.hangs, YELLOW),
        (PLAIN, format!("  last new {}", last_new(status))),
    ]
}
