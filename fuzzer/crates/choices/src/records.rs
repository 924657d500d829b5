//! Records of a binary input: parts behind lengths of their own, one after the other and in each other.

use std::ops::Range;

use crate::template::{Digits, Field, Length, LengthForm};

/// Largest input that is looked at, and records that are looked at in it, the same ones as parts of many rows.
const LARGEST: usize = 1 << 14;
const MOST_STEPS: usize = 1 << 17;

/// Places in which the first record may begin, from the start of the input.
const MOST_HEADER: usize = 64;

/// Bytes between the start of a record and its length.
const BEFORE: [usize; 5] = [0, 1, 2, 4, 8];

/// Bytes at the start of a record that are in front of the records in it.
const WITHIN: [usize; 5] = [0, 1, 2, 4, 8];

/// Records in each other, and records of an input.
const DEEPEST: usize = 12;
const MOST: usize = 4096;

/// Records of one kind in a row that need no end: by chance, lengths lead on for two.
const ENDLESS: usize = 3;

/// Fewest records in a row whose lengths are bytes, which lead to the end by chance for some.
const FEWEST_OF_BYTES: usize = 6;

/// A record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// All of it.
    pub range: Range<usize>,
    /// The bytes of its length, and what it says.
    pub field: Range<usize>,
    pub length: Length,
    /// Number of the record that it is in.
    pub outer: Option<usize>,
}

/// Place of a record, and of its length.
type Place = (Range<usize>, Range<usize>);

/// Place and form of the length of a record.
#[derive(Clone, Copy, PartialEq)]
struct Frame {
    before: usize,
    length: Length,
}

impl Frame {
    fn all() -> impl Iterator<Item = Self> {
        let fields = [(1, Digits::BigEndian), (2, Digits::BigEndian), (2, Digits::LittleEndian)];
        let wide = [(4, Digits::BigEndian), (4, Digits::LittleEndian)];
        let fields = fields.into_iter().chain(wide).flat_map(|(width, digits)| {
            BEFORE.into_iter().flat_map(move |before| {
                // it counts what is behind it, itself as well, the whole record, or all but some bytes
                let counted = [0, width as i64, (before as u64 + u64::from(width)) as i64, -4, -8];
                let form = LengthForm::Field(Field { width, digits });
                counted.into_iter().map(move |plus| Self { before, length: Length { form, plus } })
            })
        });
        let forms = [(1, LengthForm::Der), (1, LengthForm::Groups), (0, LengthForm::Groups)];
        forms.into_iter().map(|(before, form)| Self { before, length: Length { form, plus: 0 } }).chain(fields)
    }

    /// The record that begins at a place; `None` if it is empty or goes beyond `end`.
    fn record(self, input: &[u8], start: usize, end: usize) -> Option<Place> {
        let field = start + self.before;
        let (value, width) = self.length.form.read(input.get(field..end)?)?;
        let behind = value.checked_add_signed(self.length.plus.checked_neg()?)?;
        let ends = (field + width).checked_add(usize::try_from(behind).ok()?)?;
        let may_be_empty = self.before > 0 || self.length.plus < 0;
        ((value > 0 || may_be_empty) && ends <= end).then_some((start..ends, field..field + width))
    }

    /// Number of bytes of its length that are unlikely to be right by chance.
    fn weight(self) -> usize {
        match self.length.form {
            LengthForm::Field(field) => field.width.into(),
            LengthForm::Der | LengthForm::Groups => 1,
        }
    }

    /// Bytes of the records from a place on; 0 unless more than chance speaks for them. `left` are steps.
    fn row(self, input: &[u8], start: usize, end: usize, is_inside: bool, left: &mut usize) -> usize {
        let (mut count, mut empty, mut are_like_first) = (0, 0, true);
        let mut at = start;
        while at < end
            && count < MOST
            && *left > 0
            && let Some((range, field)) = self.record(input, at, end)
        {
            count += 1;
            *left -= 1;
            empty += usize::from(self.length.value((range.end - field.end) as u64) == 0);
            are_like_first &= input[range.start] == input[start];
            at = range.end;
        }
        let is_constructed = input[start] & 0x20 != 0 && self.length.form == LengthForm::Der;
        let fewest = match self.weight() {
            1 if is_inside || is_constructed && start == 0 => 1,
            1 => FEWEST_OF_BYTES,
            2 if !is_inside => 2,
            _ => 1,
        };
        let is_row = match at == end {
            true => count >= fewest,
            false => self.before > 0 && self.weight() > 1 && count >= ENDLESS && are_like_first,
        };
        // zeros are no records
        if is_row && 2 * empty <= count { at - start } else { 0 }
    }
}

/// Records of an input, each behind the one that it is in.
pub fn records(input: &[u8]) -> Vec<Record> {
    let mut search = Search { input, all: Vec::new(), left: MOST_STEPS };
    if input.len() <= LARGEST {
        let starts: Vec<usize> = (0..MOST_HEADER.min(input.len())).collect();
        let frames: Vec<Frame> = Frame::all().collect();
        search.add(&starts, input.len(), &frames, None, 0);
    }
    search.all
}

/// The search for records.
struct Search<'a> {
    input: &'a [u8],
    all: Vec<Record>,
    left: usize,
}

impl Search<'_> {
    /// Adds the longest row of records that begins at one of some places, of those that are as long the first, and the
    /// records in them.
    fn add(&mut self, starts: &[usize], end: usize, frames: &[Frame], outer: Option<usize>, depth: usize) {
        let mut best = (0, 0, None);
        for &start in starts.iter().filter(|start| **start < end) {
            for &frame in frames {
                let bytes = frame.row(self.input, start, end, outer.is_some(), &mut self.left);
                if bytes > best.0 {
                    best = (bytes, start, Some(frame));
                }
            }
        }
        let (bytes, start, Some(frame)) = best else { return };
        let mut at = start;
        while at < start + bytes
            && self.all.len() < MOST
            && let Some((range, field)) = frame.record(self.input, at, end)
        {
            at = range.end;
            let (number, within) = (self.all.len(), field.end..range.end);
            self.all.push(Record { range, field, length: frame.length, outer });
            if depth < DEEPEST && within.len() >= 4 {
                let starts = WITHIN.map(|bytes| within.start + bytes);
                // records in records are alike
                self.add(&starts, within.end, &[frame], Some(number), depth + 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(input: &[u8]) -> Vec<(Range<usize>, Option<usize>)> {
        records(input).into_iter().map(|record| (record.range, record.outer)).collect()
    }

    #[test]
    fn rows_of_records_are_found_and_records_in_them() {
        let png = [
            &b"\x89PNG\r\n\x1a\n"[..],
            b"\0\0\0\x0dIHDR\0\0\x02\x80\0\0\x01\xe0\x08\0\0\0\0\x3a\x7e\x9b\x55",
            b"\0\0\0\x04gAMA\0\0\xb1\x8f\x0b\xfc\x61\x05",
            b"\0\0\0\0IEND\xae\x42\x60\x82",
        ]
        .concat();
        assert_eq!(shown(&png), [(8..33, None), (33..49, None), (49..61, None)]);
        let wave =
            [&b"RIFF"[..], &[36, 0, 0, 0], b"WAVEfmt \x10\0\0\0", &[1; 16], b"data\x04\0\0\0\x80\x81\x82\x83"].concat();
        let wave = [&wave[..4], &((wave.len() - 8) as u32).to_le_bytes(), &wave[8..]].concat();
        assert_eq!(shown(&wave), [(0..wave.len(), None), (12..36, Some(0)), (36..wave.len(), Some(0))]);
        let der = b"\x30\x0b\x30\x09\x02\x01\x05\x02\x01\x06\x02\x01\x07";
        let all = [(0..13, None), (2..13, Some(0)), (4..7, Some(1)), (7..10, Some(1)), (10..13, Some(1))];
        assert_eq!(shown(der), all);
        let segment = |text: &[u8]| [b"\xff\xe2\0", &[text.len() as u8 + 2][..], text].concat();
        let jpeg =
            [&b"\xff\xd8"[..], &segment(b"one"), &segment(b"the second"), &segment(b"3"), b"\xff\xda\x01\x02rest"]
                .concat();
        assert_eq!(shown(&jpeg), [(2..9, None), (9..23, None), (23..28, None)]);
    }

    #[test]
    fn texts_and_noise_have_few() {
        use libafl_bolts::rands::{Rand, StdRand};
        let mut rand = StdRand::with_seed(1);
        let noise = |size: usize, rand: &mut StdRand| (0..size).map(|_| rand.next() as u8).collect::<Vec<u8>>();
        let with_records = (0..200).filter(|_| !records(&noise(300, &mut rand)).is_empty()).count();
        assert!(with_records < 40, "{with_records}");
        assert_eq!(shown(b"A text of an ordinary kind, in which no byte is a length.\n"), []);
        assert_eq!(shown(&[&b"HEAD"[..], &[0; 3_000], b"and something else"].concat()), []);
    }
}
