//! Delta debugging: removes pieces of a text as long as a test holds, large ones first.

use std::ops::Range;

use quagmire_base::error::Result;

/// Pieces that are removed as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Lines,
    /// Tags, and texts between tags.
    Tags,
    /// Words with the blanks and marks behind them.
    Words,
    Bytes,
}

const LEVELS: [Level; 4] = [Level::Lines, Level::Tags, Level::Words, Level::Bytes];

/// Passes over all levels. Each begins where the one before has removed something.
const PASSES: usize = 3;

/// Test of a text; `None` once no more may be tested.
pub(super) type Test<'a> = dyn FnMut(&[u8]) -> Result<Option<bool>> + 'a;

/// Removes what the test does not need. The test is asked about shorter texts only; the result is the last one for
/// which it held.
///
/// # Errors
/// Those of the test.
pub(super) fn shorten(bytes: &[u8], holds: &mut Test<'_>) -> Result<Vec<u8>> {
    let mut bytes = bytes.to_vec();
    for _ in 0..PASSES {
        let before = bytes.len();
        let mut pieces_before = 0;
        for level in LEVELS {
            let pieces = pieces(&bytes, level);
            // the same pieces again tell nothing
            if pieces.len() > pieces_before {
                pieces_before = pieces.len();
                let is_over;
                (bytes, is_over) = remove(&bytes, pieces, holds)?;
                if is_over {
                    return Ok(bytes);
                }
            }
        }
        if bytes.len() == before {
            break;
        }
    }
    Ok(bytes)
}

/// Removes runs of pieces: half of them at once, then a quarter, down to one. Returns the rest, and whether no more may be
/// tested.
fn remove(bytes: &[u8], mut pieces: Vec<Range<usize>>, holds: &mut Test<'_>) -> Result<(Vec<u8>, bool)> {
    let text =
        |pieces: &[Range<usize>]| pieces.iter().flat_map(|piece| &bytes[piece.clone()]).copied().collect::<Vec<u8>>();
    let mut count = pieces.len();
    while count > 0 {
        // behind a run that is needed, an equal one most likely is as well
        let mut needed: Option<Vec<u8>> = None;
        let mut at = 0;
        while at < pieces.len() {
            let end = (at + count).min(pieces.len());
            let cut = text(&pieces[at..end]);
            if needed.as_ref() == Some(&cut) {
                at = end;
                continue;
            }
            let rest = [text(&pieces[..at]), text(&pieces[end..])].concat();
            match holds(&rest)? {
                Some(true) => drop(pieces.drain(at..end)),
                Some(false) => (needed, at) = (Some(cut), end),
                None => return Ok((text(&pieces), true)),
            }
        }
        count /= 2;
    }
    Ok((text(&pieces), false))
}

/// Divides a text. All pieces together are the text.
fn pieces(bytes: &[u8], level: Level) -> Vec<Range<usize>> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
    let begins = |at: usize| {
        let (before, here) = (bytes[at - 1], bytes[at]);
        match level {
            Level::Lines => before == b'\n',
            Level::Tags => here == b'<' || before == b'>',
            Level::Words => is_word(here) && !is_word(before),
            Level::Bytes => true,
        }
    };
    let mut pieces = Vec::new();
    let mut start = 0;
    for at in (1..bytes.len()).filter(|&at| begins(at)) {
        pieces.push(start..at);
        start = at;
    }
    if start < bytes.len() {
        pieces.push(start..bytes.len());
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shortened(bytes: &[u8], holds: impl Fn(&[u8]) -> bool) -> (Vec<u8>, usize) {
        let mut runs = 0;
        let short = shorten(bytes, &mut |bytes| {
            runs += 1;
            Ok(Some(holds(bytes)))
        });
        (short.expect("no errors"), runs)
    }

    fn contains(bytes: &[u8], part: &[u8]) -> bool {
        bytes.windows(part.len()).any(|window| window == part)
    }

    #[test]
    fn pieces_together_are_the_text() {
        let text = b"one two,\n<a b='c'>text</a>\n\n  three";
        for level in LEVELS {
            let all: Vec<u8> = pieces(text, level).into_iter().flat_map(|piece| text[piece].to_vec()).collect();
            assert_eq!(all, text);
        }
        assert_eq!(pieces(b"<a>b</a>", Level::Tags), [0..3, 3..4, 4..8]);
        assert!(pieces(b"", Level::Bytes).is_empty());
    }

    #[test]
    fn what_is_needed_stays_wherever_it_is() {
        let text = b"first line\nsecond line with a needle in it\nthird line\nand a thread\nlast";
        let (short, runs) = shortened(text, |bytes| contains(bytes, b"needle") && contains(bytes, b"thread"));
        assert_eq!(short, b"needlethread");
        assert!(runs < 150, "{runs}");
    }

    #[test]
    fn a_text_of_which_all_is_needed_stays() {
        let text = b"abc";
        assert_eq!(shortened(text, |bytes| bytes == text).0, text);
    }

    #[test]
    fn a_text_of_which_nothing_is_needed_is_gone_after_one_run() {
        let (short, runs) = shortened(&b"x".repeat(1_000), |_| true);
        assert!(short.is_empty() && runs <= 2, "{runs}");
    }

    #[test]
    fn nothing_is_tried_once_no_more_may_be_tested() {
        let text: Vec<u8> = (0..200_000u64).map(|i| (i * i % 251) as u8).collect();
        let mut asked = 0;
        let short = shorten(&text, &mut |_| {
            asked += 1;
            Ok((asked <= 2).then_some(false))
        });
        assert!(asked == 3 && short.expect("no errors") == text, "{asked}");
    }

    #[test]
    fn equal_runs_behind_one_that_is_needed_are_not_tried() {
        let text = b"a".repeat(1 << 10);
        let (short, runs) = shortened(&text, |bytes| bytes.len() >= 1 << 10);
        assert_eq!(short.len(), 1 << 10);
        assert!(runs < 30, "{runs}");
    }
}
