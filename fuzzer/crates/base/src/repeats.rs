//! Detection of repetitions in bytes: a unit of a few bytes, or a whole line, several times in a row.

use std::ops::Range;

/// Longest unit that is searched for at every position, in bytes; longer units are only found if they are lines.
const LONGEST_UNIT: usize = 32;

/// Longest line that is considered as a unit, in bytes.
const LONGEST_LINE: usize = 4096;

/// Minimum number of units in a repetition.
const LEAST_TIMES: usize = 4;

/// Minimum length of a repetition in bytes: shorter ones are as easy to read as to count.
const LEAST_BYTES: usize = 16;

/// A range of bytes that repeats one unit, or repeats nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Position in the input.
    pub range: Range<usize>,
    /// Length of the repeated unit in bytes; that of the whole range if nothing repeats.
    pub unit: usize,
}

impl Span {
    /// Number of repetitions of the unit; 1 if nothing repeats.
    pub fn times(&self) -> usize {
        self.range.len() / self.unit.max(1)
    }

    /// Whether the range is a repetition.
    pub fn is_repeated(&self) -> bool {
        self.unit < self.range.len()
    }
}

/// Splits all bytes into spans, in order and without gaps.
pub fn spans(bytes: &[u8]) -> Vec<Span> {
    let mut spans = Vec::new();
    let (mut at, mut plain) = (0, 0);
    while at < bytes.len() {
        match repetition(bytes, at) {
            Some((unit, times)) => {
                if plain < at {
                    spans.push(Span { range: plain..at, unit: at - plain });
                }
                spans.push(Span { range: at..at + unit * times, unit });
                at += unit * times;
                plain = at;
            }
            None => at += 1,
        }
    }
    if plain < at {
        spans.push(Span { range: plain..at, unit: at - plain });
    }
    spans
}

/// The longest repetition that starts at `at`: length of its unit in bytes, and number of units.
fn repetition(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    // not within a multi-byte character
    if at > 0 && bytes[at] & 0xc0 == 0x80 && bytes[at - 1] >= 0xc0 {
        return None;
    }
    let rest = &bytes[at..];
    let starts_line = at == 0 || bytes[at - 1] == b'\n';
    let line = starts_line
        .then(|| rest.iter().take(LONGEST_LINE).position(|&byte| byte == b'\n'))
        .flatten()
        .map(|end| end + 1)
        .filter(|&length| length > LONGEST_UNIT);
    let mut best: Option<(usize, usize)> = None;
    for unit in (1..=LONGEST_UNIT).chain(line) {
        // rules out most positions cheaply
        if (1..LEAST_TIMES).any(|times| rest.get(unit * times) != rest.first()) {
            continue;
        }
        let same = rest.iter().zip(&rest[unit..]).take_while(|(a, b)| a == b).count();
        let times = same / unit + 1;
        let longer = best.is_none_or(|(unit, times)| same > unit * (times + 1));
        if times >= LEAST_TIMES && unit * times >= LEAST_BYTES && longer {
            best = Some((unit, times));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn repeated(bytes: &[u8]) -> Vec<(&[u8], usize)> {
        let spans = spans(bytes).into_iter().filter(Span::is_repeated);
        spans.map(|span| (&bytes[span.range.start..span.range.start + span.unit], span.times())).collect()
    }

    #[test]
    fn runs_of_one_byte_of_several_and_of_lines_are_found() {
        assert_eq!(repeated(b"aaaa"), []);
        assert_eq!(repeated(&[0; 16]), [(&[0_u8][..], 16)]);
        assert_eq!(repeated(b"x<b><b><b><b><b><b>y"), [(&b"<b>"[..], 6)]);
        let line = b"a line that is longer than the longest unit that is looked for everywhere\n";
        assert_eq!(repeated(&line.repeat(5)), [(&line[..], 5)]);
    }

    #[test]
    fn characters_are_not_taken_apart() {
        assert_eq!(repeated("\u{129}\u{e9}".as_bytes()), []);
        assert_eq!(repeated("\u{129}ééééééééé".as_bytes()), [("é".as_bytes(), 9)]);
    }

    proptest! {
        #[test]
        fn spans_cover_everything_once(units in proptest::collection::vec(("[ab\n]{1,5}", 1_usize..9), 0..9)) {
            let text: String = units.iter().map(|(unit, times)| unit.repeat(*times)).collect();
            let mut end = 0;
            for span in spans(text.as_bytes()) {
                prop_assert_eq!(span.range.start, end);
                prop_assert!(span.range.start < span.range.end && span.times() * span.unit == span.range.len());
                end = span.range.end;
                let unit = &text.as_bytes()[span.range.start..span.range.start + span.unit];
                prop_assert_eq!(unit.repeat(span.times()), &text.as_bytes()[span.range]);
            }
            prop_assert_eq!(end, text.len());
        }
    }
}
