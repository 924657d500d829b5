//! Text parts of inputs: a type belongs to a part, since options stand before or behind the text, and binary formats hold
//! names and values that are text.

use std::ops::Range;

use libafl_bolts::rands::{Rand, StdRand};

use crate::draw::place_of;

/// Number of bytes of text that outweigh one that is none: a text with some wrong bytes, as havoc makes it, is one part.
const WEIGHT: usize = 8;

/// Number of wrong bytes in a row that end a part: numbers of formats have two, four or eight, and end it with some other.
const WRONG: usize = 5;

/// Length of the shortest part, unless it makes half of the input: shorter runs are there by chance, one in a thousand bytes.
const SHORTEST: usize = 8;

/// Bytes before and behind a text part. It stays where it is when rules change the part; other operators may move it by
/// some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shell {
    before: usize,
    behind: usize,
}

impl Shell {
    /// The part of an input of this length; `None` if nothing is left of it.
    pub fn part(self, length: usize) -> Option<Range<usize>> {
        let end = length.checked_sub(self.behind)?;
        (self.before < end).then_some(self.before..end)
    }
}

/// The parts of an input that are text: runs of characters in UTF-8 without control characters, but for a few wrong bytes.
#[derive(Clone, Debug, Default)]
pub struct TextParts {
    parts: Vec<Range<usize>>,
    bytes: usize,
    /// Bytes of the input.
    length: usize,
}

impl TextParts {
    /// Finds the parts of an input, in time linear in its size.
    pub fn find(&mut self, bytes: &[u8]) {
        self.parts.clear();
        self.length = bytes.len();
        let mut run = Run::default();
        let mut at = 0;
        for chunk in bytes.utf8_chunks() {
            for byte in chunk.valid().bytes() {
                if is_control(byte) {
                    run.wrong(&mut self.parts);
                } else {
                    run.text(at);
                }
                at += 1;
            }
            for _ in chunk.invalid() {
                run.wrong(&mut self.parts);
                at += 1;
            }
        }
        run.close(&mut self.parts);
        let length = self.length;
        self.parts.retain(|part| part.len() >= SHORTEST || 2 * part.len() >= length);
        self.bytes = self.parts.iter().map(ExactSizeIterator::len).sum();
    }

    /// Share of the input that is text, 0 to 1; 1 if it is empty.
    pub fn share(&self) -> f64 {
        if self.length == 0 { 1.0 } else { self.bytes as f64 / self.length as f64 }
    }

    /// Draws a part by length. `None` if all of the input is text, or nothing.
    pub fn draw(&self, rand: &mut StdRand) -> Option<Shell> {
        if self.bytes == self.length {
            return None;
        }
        let lengths = self.parts.iter().map(ExactSizeIterator::len);
        let part = &self.parts[place_of(lengths, rand.below_or_zero(self.bytes))?];
        Some(Shell { before: part.start, behind: self.length - part.end })
    }
}

/// Whether a byte of ASCII is a control character that text does not have.
fn is_control(byte: u8) -> bool {
    byte.is_ascii_control() && !matches!(byte, 0x08..=b'\r' | 0x1b)
}

/// The part that is being read: the stretch in which characters outweigh wrong bytes most.
#[derive(Default)]
struct Run {
    start: usize,
    /// End of the stretch.
    end: usize,
    /// Characters less wrong bytes, by weight.
    score: usize,
    /// That score at the end of the stretch.
    most: usize,
    /// Number of wrong bytes before this one, in a row.
    wrong: usize,
}

impl Run {
    fn text(&mut self, at: usize) {
        if self.score == 0 {
            self.start = at;
        }
        self.score += 1;
        self.wrong = 0;
        if self.score > self.most {
            (self.most, self.end) = (self.score, at + 1);
        }
    }

    fn wrong(&mut self, parts: &mut Vec<Range<usize>>) {
        self.score = self.score.saturating_sub(WEIGHT);
        self.wrong += 1;
        if self.score == 0 || self.wrong == WRONG {
            self.close(parts);
        }
    }

    fn close(&mut self, parts: &mut Vec<Range<usize>>) {
        if self.most > 0 {
            parts.push(self.start..self.end);
        }
        (self.score, self.most) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parts of an input that are text, and the share in percent.
    fn parts(bytes: &[u8]) -> (Vec<String>, usize) {
        let mut parts = TextParts::default();
        parts.find(bytes);
        let shown = parts.parts.iter().map(|part| bytes[part.clone()].escape_ascii().to_string()).collect();
        (shown, (parts.share() * 100.0) as usize)
    }

    #[test]
    fn options_before_and_behind_the_text_are_no_part_of_it() {
        let text = b"pears\napples\tand \xc3\xa9clairs\n";
        let shown = text.escape_ascii().to_string();
        assert_eq!(parts(text), (vec![shown.clone()], 100));
        assert_eq!(parts(&[b"\0\x02\0\0", &text[..]].concat()), (vec![shown.clone()], 86));
        assert_eq!(parts(&[&text[..], b"\x01\xff\0\x03\xfe\0\0\0"].concat()), (vec![shown.clone()], 76));
        assert_eq!(parts(&[b"QGM1\x1c\0\0\0\x01\0\x02\0", &text[..]].concat()), (vec![shown], 68));
        assert_eq!(parts(b"\0\x01{}[]"), (vec!["{}[]".to_owned()], 66));
    }

    #[test]
    fn wrong_bytes_here_and_there_do_not_divide_a_text_and_binary_records_do() {
        let shown = |text: &[u8]| (vec![text.escape_ascii().to_string()], 100);
        for text in
            [&b"a line\nof text \0 that\x80goes on and on\n"[..], b"encore une fois, d\xe9j\xe0 vu, et une fois"]
        {
            assert_eq!(parts(text), shown(text));
        }
        let records = b"\0\0\0\x0ethe first name\0\0\0\x01\0\0\0\x13the last name of it\0\0\0\0";
        assert_eq!(parts(records).0, ["the first name", "the last name of it"]);
    }

    #[test]
    fn binary_data_has_no_text_and_nothing_is_text() {
        assert_eq!(parts(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01"), (vec![], 0));
        assert_eq!(parts(b""), (vec![], 100));
        let mut rand = StdRand::with_seed(1);
        let noise: Vec<u8> = (0..4096).map(|_| rand.below_or_zero(256) as u8).collect();
        assert!(parts(&noise).1 < 3, "{:?}", parts(&noise));
    }

    #[test]
    fn parts_are_drawn_by_their_lengths() {
        let mut parts = TextParts::default();
        let mut rand = StdRand::with_seed(1);
        parts.find(b"\0\0\0\0\0short text\0\0\0\0\0a text that is a bit longer: 40 bytes\x01");
        let mut drawn = std::collections::BTreeMap::new();
        (0..1000).for_each(|_| *drawn.entry(parts.draw(&mut rand)).or_insert(0) += 1);
        let drawn_with = |before, behind| drawn[&Some(Shell { before, behind })];
        let (short, long) = (drawn_with(5, 43), drawn_with(20, 1));
        assert!(drawn.len() == 2 && short > 150 && long > 3 * short, "{drawn:?}");
        assert_eq!([15, 17].map(|length| Shell { before: 10, behind: 5 }.part(length)), [None, Some(10..12)]);
        for whole in [&b"all of it"[..], b"\0\x01\x02", b""] {
            parts.find(whole);
            assert_eq!(parts.draw(&mut rand), None);
        }
    }
}
