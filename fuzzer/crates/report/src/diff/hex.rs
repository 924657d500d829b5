//! Hex dump of the difference of two binary inputs: the new one, with removed bytes where they were.

use super::{
    Block,
    text::{Mark, rest},
};
use quagmire_base::{
    format::{counted, grouped},
    repeats::spans,
};

/// Bytes in a row.
const WIDTH: usize = 16;

/// Number of unchanged bytes shown on each side of a change.
const CONTEXT: usize = 2 * WIDTH;

/// Minimum length in bytes of repetitions that are folded.
const LEAST_FOLDED: usize = 4 * WIDTH;

/// Maximum number of bytes shown of each removed or added block.
const CHANGE_BYTES: usize = 1_024;

/// Maximum number of bytes shown in total, approximately.
const ALL_BYTES: usize = 16_384;

/// A row of the dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HexRow {
    /// Up to 16 bytes.
    Bytes {
        /// Offset in the new input of the first byte that is not removed, or of the next one.
        offset: usize,
        /// The bytes in order.
        cells: Vec<(Mark, u8)>,
    },
    /// Text in place of bytes that are not shown.
    Words(Mark, String),
}

/// Makes the rows of a difference.
pub(crate) fn rows(old: &[u8], new: &[u8], blocks: &[Block]) -> Vec<HexRow> {
    let mut writer = Writer::default();
    for (at, block) in blocks.iter().enumerate() {
        let (is_first, is_last) = (at == 0, at + 1 == blocks.len());
        if block.same {
            let same = &new[block.new.clone()];
            let head = if is_first { 0 } else { CONTEXT.min(same.len()) };
            let tail = if is_last { same.len() } else { same.len().saturating_sub(CONTEXT) };
            if tail > head + CONTEXT {
                writer.write(Mark::Same, &same[..head]);
                writer.words(Mark::Same, tail - head, "unchanged");
                writer.write(Mark::Same, &same[tail..]);
            } else {
                writer.write(Mark::Same, same);
            }
        } else {
            writer.write(Mark::Removed, &old[block.old.clone()]);
            writer.write(Mark::Added, &new[block.new.clone()]);
        }
        if writer.shown > ALL_BYTES && !is_last {
            writer.end_row();
            writer.rows.push(HexRow::Words(Mark::Same, rest(&blocks[at + 1..])));
            break;
        }
    }
    writer.end_row();
    writer.rows
}

/// Makes the rows of an input without a difference, at most `most` and a line that counts the rest.
pub(crate) fn excerpt(bytes: &[u8], most: usize) -> Vec<HexRow> {
    let mut writer = Writer::default();
    writer.write(Mark::Same, bytes);
    writer.end_row();
    if writer.rows.len() > most {
        let left = writer.rows.len() - most;
        writer.rows.truncate(most);
        writer.rows.push(HexRow::Words(Mark::Same, counted(left as u64, "more row")));
    }
    writer.rows
}

#[derive(Default)]
struct Writer {
    rows: Vec<HexRow>,
    cells: Vec<(Mark, u8)>,
    /// Offset of the next byte in the new input.
    offset: usize,
    /// Offset of the first byte of the current row.
    row_offset: usize,
    shown: usize,
}

impl Writer {
    fn write(&mut self, mark: Mark, bytes: &[u8]) {
        let mut room = CHANGE_BYTES;
        for span in spans(bytes) {
            let of_span = &bytes[span.range.clone()];
            if span.is_repeated() && of_span.len() >= LEAST_FOLDED {
                let unit: Vec<String> = of_span[..span.unit].iter().map(|byte| format!("{byte:02x}")).collect();
                self.end_row();
                let words = format!("{} × {}", unit.join(" "), grouped(span.times() as u64));
                self.rows.push(HexRow::Words(mark, words));
                self.pass(mark, of_span.len());
                self.shown += span.unit;
            } else if of_span.len() > room {
                self.bytes(mark, &of_span[..room]);
                self.words(mark, bytes.len() - span.range.start - room, "more");
                return;
            } else {
                self.bytes(mark, of_span);
                room -= of_span.len();
            }
        }
    }

    fn bytes(&mut self, mark: Mark, bytes: &[u8]) {
        for &byte in bytes {
            if self.cells.is_empty() {
                self.row_offset = self.offset;
            }
            self.cells.push((mark, byte));
            self.offset += usize::from(mark != Mark::Removed);
            self.shown += 1;
            if self.cells.len() == WIDTH {
                self.end_row();
            }
        }
    }

    fn words(&mut self, mark: Mark, bytes: usize, what: &str) {
        self.end_row();
        self.rows.push(HexRow::Words(mark, format!("{} {what}", counted(bytes as u64, "byte"))));
        self.pass(mark, bytes);
    }

    fn pass(&mut self, mark: Mark, bytes: usize) {
        if mark != Mark::Removed {
            self.offset += bytes;
        }
    }

    fn end_row(&mut self) {
        if !self.cells.is_empty() {
            let cells = std::mem::take(&mut self.cells);
            self.rows.push(HexRow::Bytes { offset: self.row_offset, cells });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::diff::difference;

    #[test]
    fn a_dump_has_offsets_of_the_new_input_and_folds_runs() {
        let old: Vec<u8> = (0..=255).collect();
        let mut new = old.clone();
        new.splice(0x40..0x42, [0; 500]);
        new.extend(b"\xff\x00end");
        let blocks = difference(&old, &new, Instant::now() + Duration::from_secs(60));
        let text = rows(&old, &new, &blocks).into_iter().fold(String::new(), |text, row| {
            text + &match row {
                HexRow::Words(mark, words) => format!("          {mark:?}: {words}\n"),
                HexRow::Bytes { offset, cells } => {
                    let sign = |mark| match mark {
                        Mark::Same => ' ',
                        Mark::Removed => '-',
                        Mark::Added => '+',
                    };
                    let cells: String = cells.iter().map(|(mark, byte)| format!("{}{byte:02x}", sign(*mark))).collect();
                    format!("{offset:08x} {cells}\n")
                }
            }
        });
        insta::assert_snapshot!(text);
    }

    #[test]
    fn an_excerpt_is_short() {
        let bytes: Vec<u8> = (0..60_000_u32).map(|i| ((i * i) >> 7) as u8).collect();
        let rows = excerpt(&bytes, 8);
        assert_eq!(rows.len(), 9);
        assert!(matches!(&rows[8], HexRow::Words(_, words) if words.ends_with("more rows")), "{:?}", rows[8]);
    }
}
