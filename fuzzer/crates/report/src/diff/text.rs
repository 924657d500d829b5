//! Difference of two texts by lines of the new one, with removed and added parts inside the lines.

use std::ops::Range;

use super::Block;
use quagmire_base::{
    format::{counted, grouped},
    visible::{Piece, folded},
};

/// Whether bytes are common to both inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// In both inputs.
    Same,
    /// Only in the old input.
    Removed,
    /// Only in the new input.
    Added,
}

/// A row of the difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row {
    /// A line of the new input, or a part of one.
    Line {
        /// Line number from 1, if the row begins a line.
        number: Option<usize>,
        /// Contents, with marks.
        parts: Vec<(Mark, Vec<Piece>)>,
    },
    /// Text in place of content that is not shown.
    Skipped(String),
}

/// Number of unchanged lines shown on each side of a change.
const CONTEXT_LINES: usize = 3;

/// Maximum number of unchanged bytes shown on each side of a change.
const CONTEXT_BYTES: usize = 300;

/// Maximum number of bytes shown of each removed or added block.
const CHANGE_BYTES: usize = 2_000;

/// Maximum number of bytes shown in total, approximately.
const ALL_BYTES: usize = 60_000;

/// Makes the rows of a difference.
pub fn rows(old: &[u8], new: &[u8], blocks: &[Block]) -> Vec<Row> {
    let mut writer = Writer { number: 1, starts_line: true, ..Writer::default() };
    let mut shown = 0;
    for (at, block) in blocks.iter().enumerate() {
        let (is_first, is_last) = (at == 0, at + 1 == blocks.len());
        if block.same {
            let same = &new[block.new.clone()];
            let head = if is_first { 0 } else { head(same) };
            let tail = if is_last { same.len() } else { tail(same) };
            if tail > head + CONTEXT_BYTES / 4 {
                writer.write(Mark::Same, &same[..head], CHANGE_BYTES);
                writer.skip(&same[head..tail]);
                writer.write(Mark::Same, &same[tail..], CHANGE_BYTES);
                shown += head + same.len() - tail;
            } else {
                writer.write(Mark::Same, same, CHANGE_BYTES);
                shown += same.len();
            }
        } else {
            writer.write(Mark::Removed, &old[block.old.clone()], CHANGE_BYTES);
            writer.write(Mark::Added, &new[block.new.clone()], CHANGE_BYTES);
            shown += (block.old.len() + block.new.len()).min(2 * CHANGE_BYTES);
        }
        if shown > ALL_BYTES && !is_last {
            writer.end_row();
            writer.rows.push(Row::Skipped(rest(&blocks[at + 1..])));
            break;
        }
    }
    writer.end_row();
    writer.rows
}

/// Text that summarizes blocks that are not shown.
pub(super) fn rest(blocks: &[Block]) -> String {
    let changes = || blocks.iter().filter(|block| !block.same);
    let bytes = |range: fn(&Block) -> &Range<usize>| changes().map(|block| range(block).len() as u64).sum();
    format!(
        "{} not shown: {} removed, {} added",
        counted(changes().count() as u64, "more change"),
        counted(bytes(|block| &block.old), "byte"),
        grouped(bytes(|block| &block.new))
    )
}

/// Length of the unchanged lines shown after a change.
fn head(same: &[u8]) -> usize {
    let ends = same.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    // the rest of the changed line, and the lines after it
    ends.take(CONTEXT_LINES + 1).last().unwrap_or(same.len()).min(CONTEXT_BYTES)
}

/// Start of the unchanged lines shown before a change.
fn tail(same: &[u8]) -> usize {
    let starts = same.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    let start = starts.take(CONTEXT_LINES + 1).last().unwrap_or(0);
    start.max(same.len().saturating_sub(CONTEXT_BYTES))
}

#[derive(Default)]
struct Writer {
    rows: Vec<Row>,
    parts: Vec<(Mark, Vec<Piece>)>,
    /// Number of the current line of the new input.
    number: usize,
    /// Whether the current line has no output yet.
    starts_line: bool,
    /// Line number of the current row, if it begins a line.
    numbered: Option<usize>,
}

impl Writer {
    fn write(&mut self, mark: Mark, bytes: &[u8], limit: usize) {
        let mut pieces = Vec::new();
        for piece in folded(bytes, limit) {
            if mark != Mark::Removed {
                if self.starts_line {
                    self.numbered = Some(self.number);
                }
                self.number += piece.lines();
                self.starts_line = piece == Piece::Break;
            }
            if piece == Piece::Break {
                self.parts.push((mark, std::mem::take(&mut pieces)));
                self.end_row();
            } else {
                pieces.push(piece);
            }
        }
        if !pieces.is_empty() {
            self.parts.push((mark, pieces));
        }
    }

    fn skip(&mut self, bytes: &[u8]) {
        self.end_row();
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
        let text = match lines {
            0 => format!("{} unchanged", counted(bytes.len() as u64, "byte")),
            _ => format!("{} unchanged ({})", counted(lines as u64, "line"), counted(bytes.len() as u64, "byte")),
        };
        self.rows.push(Row::Skipped(text));
        self.number += lines;
        self.starts_line = bytes.last() == Some(&b'\n');
    }

    fn end_row(&mut self) {
        if !self.parts.is_empty() {
            let number = self.numbered.take();
            self.rows.push(Row::Line { number, parts: std::mem::take(&mut self.parts) });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::diff::difference;

    /// Rows as text: `[-removed-]`, `{+added+}`.
    fn text(old: &[u8], new: &[u8]) -> String {
        let blocks = difference(old, new, Instant::now() + Duration::from_secs(60));
        let rows = rows(old, new, &blocks);
        rows.iter().fold(String::new(), |text, row| text + &row_text(row) + "\n")
    }

    fn row_text(row: &Row) -> String {
        let Row::Line { number, parts } = row else {
            return format!("    {row:?}");
        };
        let number = number.map_or("   ".to_owned(), |number| format!("{number:3}"));
        parts.iter().fold(number + " ", |text, (mark, pieces)| {
            let (start, end) = match mark {
                Mark::Same => ("", ""),
                Mark::Removed => ("[-", "-]"),
                Mark::Added => ("{+", "+}"),
            };
            text + start + &pieces.iter().map(piece_text).collect::<String>() + end
        })
    }

    fn piece_text(piece: &Piece) -> String {
        match piece {
            Piece::Text(text) | Piece::Symbol(text) | Piece::Escape(text) => text.clone(),
            Piece::Break => String::new(),
            Piece::Repeated { unit, times } => {
                format!("({} × {times})", unit.iter().map(piece_text).collect::<String>())
            }
            Piece::Gap { bytes, lines } => format!("(gap: {bytes} bytes, {lines} lines)"),
        }
    }

    #[test]
    fn rows_are_lines_of_the_new_input_with_what_changed_inside() {
        let old: String = (1..=20).map(|line| format!("line {line} of the seed\n")).collect();
        let new = old
            .replace("line 9 of", &format!("line 9 {}of", " ".repeat(9_231)))
            .replace("line 12 of the seed\n", "")
            .replace("line 20 of the seed\n", &"line 20\n".repeat(40));
        insta::assert_snapshot!(text(old.as_bytes(), new.as_bytes()));
    }

    #[test]
    fn lines_that_were_joined_or_divided_keep_their_numbers() {
        insta::assert_snapshot!(text(b"one two\nthree\nfour\n", b"one\n two\nthreefour\nfive"));
    }

    #[test]
    fn a_difference_without_end_is_cut_off_and_counted() {
        let old: String = (0..20_000).map(|i| format!("{i} {}\n", i * 7)).collect();
        let new: String = (0..20_000).map(|i| format!("{i} {}\n", i * 7 + i % 2)).collect();
        let blocks = difference(old.as_bytes(), new.as_bytes(), Instant::now() + Duration::from_secs(60));
        let rows = rows(old.as_bytes(), new.as_bytes(), &blocks);
        assert!(rows.len() < 20_000, "{}", rows.len());
        assert!(matches!(rows.last(), Some(Row::Skipped(text)) if text.contains("more changes not shown")), "{rows:?}");
    }
}
