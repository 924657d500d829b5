//! Bytes and names made visible: nothing that is shown hides, reorders or ends anything.

pub use crate::plain::{is_plain, shown};
use crate::repeats::{Span, spans};

/// Bytes that are looked at to tell text from others.
const SAMPLE: usize = 1 << 16;

/// A stretch of shown bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Characters that are shown as they are.
    Text(String),
    /// Symbols that stand for white space: `·` for a blank, `→` for a tab, `↵` for a newline.
    Symbol(String),
    /// Everything else: `\r`, `\x00` for a byte, `\u{202e}` for a character.
    Escape(String),
    /// The next pieces are on a new line.
    Break,
    /// Pieces that repeat.
    Repeated {
        /// What repeats.
        unit: Vec<Piece>,
        /// How often, 2 or more.
        times: usize,
    },
    /// Left out.
    Gap {
        /// So many bytes.
        bytes: usize,
        /// Newlines among them.
        lines: usize,
    },
}

impl Piece {
    /// Newlines in it.
    pub fn lines(&self) -> usize {
        match self {
            Self::Symbol(symbols) => symbols.matches('↵').count(),
            Self::Repeated { unit, times } => times * unit.iter().map(Self::lines).sum::<usize>(),
            Self::Gap { lines, .. } => *lines,
            Self::Text(_) | Self::Escape(_) | Self::Break => 0,
        }
    }
}

/// Whether bytes are read more easily as text than as a hex dump: most of them are characters. A zero byte that a rule
/// put into a text does not make it binary.
pub fn reads_as_text(bytes: &[u8]) -> bool {
    let sample = &bytes[..bytes.len().min(SAMPLE)];
    let is_odd = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r');
    let odd: usize = sample
        .utf8_chunks()
        .map(|chunk| chunk.invalid().len() + chunk.valid().chars().filter(|c| is_odd(*c)).count())
        .sum();
    odd * 5 <= sample.len()
}

/// Bytes as pieces, repetitions folded. At most about `limit` bytes are shown: what is too much is left out of the
/// middle.
pub fn folded(bytes: &[u8], limit: usize) -> Vec<Piece> {
    let spans = spans(bytes);
    let mut pieces = Vec::new();
    let mut room = limit;
    for (at, span) in spans.iter().enumerate() {
        if span.shown() <= room {
            room -= span.shown();
            push_span(bytes, span, &mut pieces);
            continue;
        }
        let left: usize = spans[at..].iter().map(Span::shown).sum();
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
    let shown = &bytes[span.range.start..span.range.start + span.shown()];
    if span.is_repeated() {
        let mut unit = Vec::new();
        push_plain(shown, &mut unit);
        let ends_a_line = unit.last() == Some(&Piece::Break);
        // inside, lines are marked by their symbols
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

/// Adds a piece to the last one if that is of the same kind.
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

    /// Pieces as one text: `{unit × times}`, `[n left out]`.
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

    /// Bytes shown and left out.
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
