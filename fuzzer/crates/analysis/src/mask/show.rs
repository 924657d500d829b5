//! Display of a mask for people: rows of the input, each with the edits that are allowed below it.

use std::{fmt::Write as _, ops::Range};

use super::MaskReport;
use quagmire_base::{
    format::{counted, grouped},
    plain,
    visible::reads_as_text,
};
use quagmire_mutators::mask::{Edit, Mask};

/// Bytes in a hex row.
const HEX: usize = 16;

/// Width of the column of offsets.
const GUTTER: usize = 10;

/// Maximum number of rows that are shown.
const ROWS: usize = 40;

/// Minimum number of consecutive rows of one kind that are folded.
const WORTH_FOLDING: usize = 4;

/// Width of the labels of the header.
const INDENT: usize = 14;

/// Limits of the header's excerpt of needed bytes: bytes of a range, and ranges.
const SHOWN_BYTES: usize = 24;
const SHOWN_STRETCHES: usize = 6;

const NEEDED: &str = "1;31";
const FREE: &str = "2";

/// Whether edits are allowed in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowKind {
    Everything,
    Nothing,
    Some,
}

/// Display of a byte.
#[derive(Clone, Copy, Debug)]
enum Style {
    Text,
    Hex,
}

/// Formats the report in `width` columns; looks bad in fewer than 40.
pub(crate) fn for_people(report: &MaskReport, bytes: &[u8], width: usize, color: bool) -> String {
    let style = if reads_as_text(bytes) { Style::Text } else { Style::Hex };
    let mut text = header(report, bytes, width);
    if bytes.is_empty() {
        return text;
    }
    let known = report.known.min(bytes.len());
    let sheet = Sheet { bytes, mask: &report.mask, style, color };
    text += "  marks       a letter: allowed; a dot: not allowed; no marks: everything allowed\n\n";
    sheet.print(&rows(&bytes[..known], style, width.saturating_sub(GUTTER).max(HEX)), &mut text);
    if known < bytes.len() {
        let _ = writeln!(text, "{:>8}  nothing is known from here on", known);
    } else {
        let may = if report.mask.allows(Edit::Insert, bytes.len()) { "more may follow" } else { "nothing may follow" };
        let _ = writeln!(text, "{:>8}  the end: {may}", bytes.len());
    }
    text
}

fn header(report: &MaskReport, bytes: &[u8], width: usize) -> String {
    let mut text = format!("{}  {}\n", plain::shown(&report.path), counted(report.length as u64, "byte"));
    if report.status != "returned" {
        let _ = writeln!(text, "  status      {}", report.status);
    }
    let _ = writeln!(text, "  goal        the run {}", plain::shown(&report.goal.description));
    let early = if report.early_ends == 0 {
        String::new()
    } else {
        format!(", {} ended early", grouped(report.early_ends.into()))
    };
    let _ = writeln!(text, "  executions  {}{early}", grouped(report.executions));
    if let Some(why) = &report.stopped {
        let _ = writeln!(text, "  incomplete  {why}");
    }
    let share = |edit: Edit| {
        let end = report.known.min(report.length + usize::from(edit == Edit::Insert));
        let allowed = (0..end).filter(|&at| report.mask.allows(edit, at)).count();
        format!("{:.1} %", allowed as f64 * 100.0 / end.max(1) as f64)
    };
    let [overwrite, insert, delete] = Edit::ALL.map(share);
    let _ = writeln!(text, "  free        O overwrite {overwrite}, I insert before {insert}, D delete {delete}");
    let _ = writeln!(
        text,
        "  needed      {}",
        needed(&report.mask, &bytes[..report.known.min(bytes.len())], width.saturating_sub(INDENT))
    );
    text
}

/// Summary of the bytes that can be neither overwritten nor deleted.
fn needed(mask: &Mask, bytes: &[u8], width: usize) -> String {
    let is_needed = |at: &usize| is_needed(mask, *at);
    let mut stretches: Vec<Range<usize>> = Vec::new();
    for at in (0..bytes.len()).filter(is_needed) {
        match stretches.last_mut() {
            Some(last) if last.end == at => last.end += 1,
            _ => stretches.push(at..at + 1),
        }
    }
    let all: usize = stretches.iter().map(Range::len).sum();
    let mut text = counted(all as u64, "byte");
    for (index, stretch) in stretches.iter().enumerate() {
        let shown = &bytes[stretch.start..stretch.end.min(stretch.start + SHOWN_BYTES)];
        let dots = if shown.len() < stretch.len() { "..." } else { "" };
        let piece =
            format!("{}{} \"{}{dots}\"", if index == 0 { ": " } else { ", " }, stretch.start, shown.escape_ascii());
        if index == SHOWN_STRETCHES || text.len() + piece.len() + ", ...".len() > width {
            text += if index == 0 { "" } else { ", ..." };
            break;
        }
        text += &piece;
    }
    text
}

fn is_needed(mask: &Mask, at: usize) -> bool {
    !mask.allows(Edit::Overwrite, at) && !mask.allows(Edit::Delete, at)
}

/// Splits text into lines, and long ones by width; other bytes into groups of 16.
fn rows(bytes: &[u8], style: Style, width: usize) -> Vec<Range<usize>> {
    let mut rows = Vec::new();
    let mut start = 0;
    for line in bytes.split_inclusive(|&byte| byte == b'\n' && matches!(style, Style::Text)) {
        let most = if matches!(style, Style::Text) { width } else { HEX };
        let ends = (1..=line.len()).filter(|end| end % most == 0 || *end == line.len());
        let mut from = 0;
        for end in ends {
            rows.push(start + from..start + end);
            from = end;
        }
        start += line.len();
    }
    rows
}

struct Sheet<'a> {
    bytes: &'a [u8],
    mask: &'a Mask,
    style: Style,
    color: bool,
}

impl Sheet<'_> {
    fn kind(&self, row: &Range<usize>) -> RowKind {
        let all =
            |allowed: bool| row.clone().all(|at| Edit::ALL.iter().all(|&edit| self.mask.allows(edit, at) == allowed));
        if all(true) {
            RowKind::Everything
        } else if all(false) {
            RowKind::Nothing
        } else {
            RowKind::Some
        }
    }

    /// Formats all rows, up to a limit, and folds uniform ones.
    fn print(&self, rows: &[Range<usize>], text: &mut String) {
        let kinds: Vec<RowKind> = rows.iter().map(|row| self.kind(row)).collect();
        let mut shown = 0;
        let mut at = 0;
        while at < rows.len() {
            if shown >= ROWS && rows.len() - at > WORTH_FOLDING {
                let rest = rows[at].start..rows[rows.len() - 1].end;
                let needed = rest.clone().filter(|&at| is_needed(self.mask, at)).count();
                let (rest_bytes, needed) = (counted(rest.len() as u64, "byte"), grouped(needed as u64));
                let _ = writeln!(text, "     ...  {rest_bytes}, of which {needed} are needed; --json has all of them");
                return;
            }
            let alike = kinds[at..].iter().take_while(|kind| **kind == kinds[at]).count();
            // a folded group keeps one row next to each neighbour
            let (before, after) = (usize::from(at > 0), usize::from(at + alike < rows.len()));
            let hidden = alike.saturating_sub(before + after);
            if kinds[at] == RowKind::Some || hidden < WORTH_FOLDING {
                self.row(&rows[at], kinds[at], text);
                shown += 1;
                at += 1;
                continue;
            }
            let from = at + before;
            rows[at..from].iter().for_each(|row| self.row(row, kinds[at], text));
            let to = from + hidden;
            let bytes = counted((rows[to - 1].end - rows[from].start) as u64, "byte");
            let what =
                if kinds[at] == RowKind::Everything { "all free" } else { "all needed, nothing may come between" };
            let _ = writeln!(text, "     ...  {bytes}, {what}");
            rows[to..to + after].iter().for_each(|row| self.row(row, kinds[at], text));
            shown += before + after + 1;
            at = to + after;
        }
    }

    fn row(&self, row: &Range<usize>, kind: RowKind, text: &mut String) {
        let _ = write!(text, "{:>8}  ", row.start);
        self.bytes_of(row, text);
        text.push('\n');
        if kind == RowKind::Everything {
            return;
        }
        if kind == RowKind::Nothing {
            return self.marks("OID", row, |_| '.', text);
        }
        for edit in Edit::ALL {
            if !row.clone().all(|at| self.mask.allows(edit, at)) {
                let letter = edit.letter();
                let mark = |at| if self.mask.allows(edit, at) { letter } else { '.' };
                self.marks(letter.encode_utf8(&mut [0; 4]), row, mark, text);
            }
        }
    }

    /// Formats a row of marks, one below each byte.
    fn marks(&self, name: &str, row: &Range<usize>, mark: impl Fn(usize) -> char, text: &mut String) {
        let _ = write!(text, "{name:>8}  ");
        for at in row.clone() {
            self.gap(row, at, text);
            text.push_str(if matches!(self.style, Style::Hex) { " " } else { "" });
            text.push(mark(at));
        }
        text.push('\n');
    }

    /// Formats the space between two bytes of hex.
    fn gap(&self, row: &Range<usize>, at: usize, text: &mut String) {
        if matches!(self.style, Style::Hex) && at > row.start {
            text.push_str(if (at - row.start).is_multiple_of(HEX / 2) { "  " } else { " " });
        }
    }

    fn bytes_of(&self, row: &Range<usize>, text: &mut String) {
        let mut before = "";
        for at in row.clone() {
            let code = self.code(at);
            if code != before {
                text.push_str(if before.is_empty() { "" } else { "\x1b[0m" });
            }
            self.gap(row, at, text);
            if code != before && !code.is_empty() {
                let _ = write!(text, "\x1b[{code}m");
            }
            before = code;
            match self.style {
                Style::Text => text.push(visible(self.bytes[at])),
                Style::Hex => drop(write!(text, "{:02x}", self.bytes[at])),
            }
        }
        text.push_str(if before.is_empty() { "" } else { "\x1b[0m" });
        if matches!(self.style, Style::Hex) {
            let missing = (HEX - row.len()) * 3 + usize::from(row.len() <= HEX / 2);
            let printable = |&byte: &u8| if (b' '..=b'~').contains(&byte) { byte as char } else { '.' };
            let characters: String = self.bytes[row.clone()].iter().map(printable).collect();
            let _ = write!(text, "{:missing$}  |{characters}|", "");
        }
    }

    /// Colour of a byte.
    fn code(&self, at: usize) -> &'static str {
        if !self.color {
            ""
        } else if is_needed(self.mask, at) {
            NEEDED
        } else if Edit::ALL.iter().all(|&edit| self.mask.allows(edit, at)) {
            FREE
        } else {
            ""
        }
    }
}

/// Shows a byte in one column.
fn visible(byte: u8) -> char {
    match byte {
        b'\n' => '↵',
        b'\t' => '→',
        b' '..=b'~' => byte as char,
        _ => char::REPLACEMENT_CHARACTER,
    }
}

#[cfg(test)]
mod tests {
    use std::slice;

    use super::*;
    use crate::mask::{GoalReport, runs};
    use quagmire_mutators::kinds::GoalKind;

    /// The mask that protects `needed` from all edits.
    fn report(length: usize, needed: &[Range<usize>]) -> MaskReport {
        let mut mask = Mask::nothing(length);
        for at in 0..=length {
            let is_inside = needed.iter().any(|needed| needed.contains(&at));
            let is_between = needed.iter().any(|needed| needed.start < at && at < needed.end);
            if !is_inside && at < length {
                mask.allow(Edit::Overwrite, at..at + 1);
                mask.allow(Edit::Delete, at..at + 1);
            }
            if !is_between {
                mask.allow(Edit::Insert, at..at + 1);
            }
        }
        let description = "executes level_one of /src/a.h".to_owned();
        let goal = GoalReport { kind: GoalKind::Branch, description, least: None, place: None };
        MaskReport {
            version: "0.0.0".into(),
            path: "seeds/a".into(),
            length,
            status: "returned".into(),
            goal: goal.clone(),
            target: goal,
            executions: 1_234,
            early_ends: 0,
            complete: true,
            stopped: None,
            known: length + 1,
            runs: runs(&mask),
            mask,
        }
    }

    #[test]
    fn a_text_is_shown_line_by_line() {
        let text = b"<!DOCTYPE note [\n\t<!ATTLIST note lang CDATA #IMPLIED>\n]>\ncaf\xc3\xa9 and a line that is longer than the screen\n";
        insta::assert_snapshot!(for_people(&report(text.len(), &[18..28, 38..43]), text, 60, false));
    }

    #[test]
    fn names_bring_no_colours_of_their_own() {
        let hostile = MaskReport { path: "a\x1b[31m\nb".into(), ..report(3, &[]) };
        let shown = for_people(&hostile, b"abc", 60, false);
        assert!(shown.starts_with("a\\u{1b}[31m\\u{a}b  3 bytes\n"), "{shown:?}");
    }

    #[test]
    fn binary_data_is_shown_in_hex() {
        let bytes: Vec<u8> = (0..40).map(|at: u8| at.wrapping_mul(37)).collect();
        insta::assert_snapshot!(for_people(&report(40, &[0..4, 36..40]), &bytes, 80, false));
    }

    #[test]
    fn of_a_long_input_the_parts_around_what_is_needed_are_shown() {
        let text = "a line like many others\n".repeat(300);
        insta::assert_snapshot!(for_people(&report(text.len(), &[2000..2005, 2010..4000]), text.as_bytes(), 80, false));
    }

    #[test]
    fn of_an_input_that_needs_something_everywhere_the_first_rows_are_shown() {
        let text = "abcdefg\n".repeat(100);
        let needed: Vec<Range<usize>> = (0..100).map(|line| line * 8 + 1..line * 8 + 3).collect();
        let text = for_people(&report(text.len(), &needed), text.as_bytes(), 80, false);
        assert_eq!(text.matches("abcdefg").count(), ROWS, "{text}");
        assert!(text.contains("     ...  480 bytes, of which 120 are needed; --json has all of them\n"), "{text}");
    }

    #[test]
    fn what_is_not_known_is_not_shown() {
        let mut report = report(70, slice::from_ref(&(3..6)));
        (report.known, report.complete, report.early_ends) = (20, false, 3);
        report.status = "crashed".into();
        report.stopped = Some("3 probes hung".into());
        insta::assert_snapshot!(for_people(&report, &[b'x'; 70], 80, false));
    }

    #[test]
    fn needed_bytes_stand_out_where_colours_are_wanted() {
        let text = for_people(&report(9, slice::from_ref(&(3..6))), b"abcdefghi", 80, true);
        assert!(text.contains("\x1b[2mabc\x1b[0m\x1b[1;31mdef\x1b[0m\x1b[2mghi\x1b[0m\n"), "{text:?}");
    }

    #[test]
    fn a_terminal_may_be_narrow() {
        let text = for_people(&report(9, slice::from_ref(&(3..6))), b"abcdefghi", 3, false);
        assert!(text.contains("  needed      3 bytes\n"), "{text}");
    }

    #[test]
    fn nothing_is_shown_of_an_empty_input() {
        let text = for_people(&report(0, &[]), b"", 80, true);
        assert!(text.ends_with("  needed      0 bytes\n") && text.contains("I insert before 100.0 %"), "{text}");
    }
}
