//! Displaying bytes: control characters, odd blanks and invalid UTF-8 are shown as symbols or escapes.

pub use crate::plain::{is_plain, shown};
use crate::repeats::{Span, spans};

/// Number of leading bytes that decide whether an input is text.
const SAMPLE: usize = 1 << 16;

/// A part of displayed bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Characters shown as they are.
    Text(String),
    /// Symbols for white space: `·` for a blank, `→` for a tab, `↵` for a newline.
    Symbol(String),
    /// Escapes for everything else: `\r`, `\x00` for a byte, `\u{202e}` for a character.
    Escape(String),
    /// A line break in the display.
    Break,
    /// A repetition, shown once.
    Repeated {
        /// The repeated part.
        unit: Vec<Piece>,
        /// Number of repetitions, at least 2.
        times: usize,
    },
    /// A part that is left out.
    Gap {
        /// Its length in bytes.
        bytes: usize,
        /// Number of newlines in it.
        lines: usize,
    },
}

impl Piece {
    /// Number of newlines in the piece.
    pub fn lines(&self) -> usize {
        match self {
            Self::Symbol(symbols) => symbols.matches('↵').count(),
            Self::Repeated { unit, times } => times * unit.iter().map(Self::lines).sum::<usize>(),
            Self::Gap { lines, .. } => *lines,
            Self::Text(_) | Self::Escape(_) | Self::Break => 0,
        }
    }
}

/// Whether bytes are better read as text than as a hex dump: at most a fifth of them are control characters or
/// invalid UTF-8. A few zero bytes that a rule inserted do not make a text binary.
pub fn reads_as_text(bytes: &[u8]) -> bool {
    let sample = &bytes[..bytes.len().min(SAMPLE)];
    let is_odd = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r');
    let odd: usize = sample
        .utf8_chunks()
        .map(|chunk| chunk.invalid().len() + chunk.valid().chars().filter(|c| is_odd(*c)).count())
        .sum();
    odd * 5 <= sample.len()
}

/// Splits bytes into pieces and folds repetitions. Shows at most about `limit` bytes: the rest is left out of the
/// middle.
pub fn folded(bytes: &[u8], limit: usize) -> Vec<Piece> {
    let spans = spans(bytes);
    let mut pieces = Vec::new();
    let mut room = limit;
    for (at, span) in spans.iter().enumerate() {
        if span.unit <= room {
            room -= span.unit;
            push_span(bytes, span, &mut pieces);
            continue;
        }
        let left: usize = spans[at..].iter().map(|span| span.unit).sum();
        if left <= room + limit / 4 {
            // a gap would save next to nothing
            spans[at..].iter().for_each(|span| push_span(bytes, span, &mut pieces));
            return pieces;
        }
        let start = span.range.start;
        let cut = if span.is_repeated() { start } else { boundary(bytes, start + room, start) };
        push_plain(&bytes[start..cut], &mut pieces);
        let end = boundary(bytes, bytes.len().saturating_sub(limit / 4), cut).max(cut);
        let lines = bytes[cut..end].iter().filter(|byte| **byte == b'\n').count();
        pieces.push(Piece::Gap { bytes: end - cut, lines });
        push_plain(&bytes[end..], &mut pieces);
        return pieces;
    }
    pieces
}

/// The start of the character at `at`, not before `least`.
fn boundary(bytes: &[u8], at: usize, least: usize) -> usize {
    let at = at.min(bytes.len());
    let is_inside = |place: usize| bytes.get(place).is_some_and(|byte| byte & 0xc0 == 0x80);
    (at.saturating_sub(3).max(least)..=at).rev().find(|&place| !is_inside(place)).unwrap_or(at)
}

fn push_span(bytes: &[u8], span: &Span, pieces: &mut Vec<Piece>) {
    let shown = &bytes[span.range.start..span.range.start + span.unit];
    if span.is_repeated() {
        let mut unit = Vec::new();
        push_plain(shown, &mut unit);
        let ends_a_line = unit.last() == Some(&Piece::Break);
        // inside a repetition, lines are marked by their symbols only
        unit.retain(|piece| *piece != Piece::Break);
        pieces.push(Piece::Repeated { unit, times: span.times() });
        if ends_a_line {
            pieces.push(Piece::Break);
        }
    } else {
        push_plain(shown, pieces);
    }
}

fn push_plain(bytes: &[u8], pieces: &mut Vec<Piece>) {
    for chunk in bytes.utf8_chunks() {
        chunk.valid().chars().for_each(|c| push_character(c, pieces));
        for byte in chunk.invalid() {
            push(pieces, Piece::Escape(format!("\\x{byte:02x}")));
        }
    }
}

fn push_character(c: char, pieces: &mut Vec<Piece>) {
    match c {
        ' ' => push(pieces, Piece::Symbol("·".into())),
        '\t' => push(pieces, Piece::Symbol("→".into())),
        '\r' => push(pieces, Piece::Escape("\\r".into())),
        '\n' => {
            push(pieces, Piece::Symbol("↵".into()));
            pieces.push(Piece::Break);
        }
        c if is_plain(c) => push(pieces, Piece::Text(c.into())),
        c if c.is_ascii() => push(pieces, Piece::Escape(format!("\\x{:02x}", u32::from(c)))),
        c => push(pieces, Piece::Escape(c.escape_unicode().to_string())),
    }
}

/// Appends a piece, merging it with the last one if both are of the same kind.
fn push(pieces: &mut Vec<Piece>, piece: Piece) {
    match (pieces.last_mut(), piece) {
        (Some(Piece::Text(last)), Piece::Text(more))
        | (Some(Piece::Symbol(last)), Piece::Symbol(more))
        | (Some(Piece::Escape(last)), Piece::Escape(more)) => last.push_str(&more),
        (_, piece) => pieces.push(piece),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Joins pieces into one text: `{unit × times}`, `[n left out]`.
    fn text(pieces: &[Piece]) -> String {
        pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) | Piece::Symbol(text) | Piece::Escape(text) => text.clone(),
                Piece::Break => "\n".into(),
                Piece::Repeated { unit, times } => format!("{{{} × {times}}}", self::text(unit)),
                Piece::Gap { bytes, .. } => format!("[{bytes} left out]"),
            })
            .collect()
    }

    #[test]
    fn blanks_controls_and_broken_characters_are_seen() {
        let shown = text(&folded(b"a b\tc\r\n\0\x1b\xff\xc3\xa9", 100));
        assert_eq!(shown, "a·b→c\\r↵\n\\x00\\x1b\\xffé");
        assert_eq!(text(&folded("x\u{202e}y\u{a0}z\u{feff}".as_bytes(), 100)), "x\\u{202e}y\\u{a0}z\\u{feff}");
    }

    #[test]
    fn a_text_with_some_odd_bytes_is_a_text() {
        assert!(reads_as_text(b"") && reads_as_text(b"int x;\n\0 = 5;\n") && reads_as_text("žluťoučký".as_bytes()));
        assert!(!reads_as_text(b"\x7fELF\x02\x01\x01\0\0\0") && !reads_as_text(&[0xb4; 40]));
    }

    #[test]
    fn runs_are_folded_with_their_length() {
        let mut input = b"int x;".to_vec();
        input.extend([b' '; 9_231]);
        input.extend(b"//\n");
        assert_eq!(text(&folded(&input, 1_000)), "int·x;{· × 9231}//↵\n");
        assert_eq!(text(&folded(&b"line of text\n".repeat(50), 1_000)), "{line·of·text↵ × 50}\n");
    }

    #[test]
    fn what_is_too_much_is_left_out_of_the_middle() {
        let input: Vec<u8> = (0..400_u32).flat_map(|i| format!("{i} ").into_bytes()).collect();
        let shown = text(&folded(&input, 40));
        assert_eq!(shown, "0·1·2·3·4·5·6·7·8·9·10·11·12·13·14·15·16[1440 left out]7·398·399·");
        assert_eq!(text(&folded(b"0123456789", 9)), "0123456789", "a gap of one byte saves nothing");
    }

    /// Number of bytes shown and left out.
    fn covered(bytes: &[u8], limit: usize) -> usize {
        fn length(piece: &Piece) -> usize {
            match piece {
                Piece::Text(text) => text.len(),
                Piece::Symbol(symbols) => symbols.chars().count(),
                Piece::Escape(escape) => match escape.strip_prefix("\\x") {
                    Some(_) => escape.matches("\\x").count() + escape.matches("\\u").count(),
                    None => escape.len(),
                },
                Piece::Break => 0,
                Piece::Repeated { unit, times } => times * unit.iter().map(length).sum::<usize>(),
                Piece::Gap { bytes, .. } => *bytes,
            }
        }
        folded(bytes, limit).iter().map(length).sum()
    }

    proptest! {
        #[test]
        fn every_byte_is_shown_or_counted(
            parts in proptest::collection::vec(("[a-c \t\n]{1,6}", 1_usize..40), 0..12), limit in 8_usize..200,
        ) {
            let bytes: Vec<u8> = parts.iter().flat_map(|(unit, times)| unit.repeat(*times).into_bytes()).collect();
            prop_assert_eq!(covered(&bytes, limit), bytes.len());
        }

        #[test]
        fn nothing_shown_is_a_control_or_a_blank(bytes: Vec<u8>, limit in 0_usize..300) {
            let shown = text(&folded(&bytes, limit)).replace('\n', "");
            prop_assert!(shown.replace(" left out]", "").replace(" × ", "").chars().all(|c| is_plain(c) && c != ' '));
        }
    }
}
