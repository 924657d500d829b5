//! An input in a page: the smallest with its cause, or an excerpt around its longest repetition.

use maud::{Markup, html};

use crate::{
    campaign::Campaign,
    diff::{hex, page::hex_rows},
    markup,
};
use quagmire_base::{
    repeats::{Span, spans},
    visible::{Piece, folded, reads_as_text},
};
use quagmire_results::summary::Finding;

/// Number of bytes of an input that are shown.
const EXCERPT: usize = 700;

/// Number of bytes shown before the longest repetition.
const BEFORE: usize = 200;

/// Number of bytes of an input that are shown within a row, with the quarter that a gap would save.
const BRIEF: usize = 64;

/// The input that shows the cause of a finding best, and its size: the smallest if there is one.
pub(super) fn clearest(finding: &Finding) -> (&str, u64) {
    match &finding.minimized {
        Some(smallest) => (&smallest.path, smallest.bytes),
        None => (&finding.path, finding.bytes),
    }
}

/// The clearest input of a finding within a row.
pub(super) fn brief(campaign: &Campaign, finding: &Finding) -> Markup {
    let Some(bytes) = campaign.input(clearest(finding).0) else { return html! { span class="dim" { "-" } } };
    let pieces: Vec<Piece> = folded(&bytes, BRIEF).into_iter().filter(|piece| *piece != Piece::Break).collect();
    html! { span class="bytes brief" { (markup::pieces(&pieces)) } }
}

/// Excerpt of the clearest input of a finding: around its longest repetition, if it has one.
pub(super) fn excerpt(campaign: &Campaign, finding: &Finding) -> Markup {
    let Some(bytes) = campaign.input(clearest(finding).0) else {
        return html! { p class="dim" { "The file is not in the folder any more." } };
    };
    let seed = campaign.root(finding).and_then(|root| campaign.input(&root));
    if !reads_as_text(seed.as_deref().unwrap_or(&bytes)) {
        return hex_rows(&hex::excerpt(&bytes, 12));
    }
    html! { div class="bytes excerpt" { (markup::pieces(&text_excerpt(&bytes))) } }
}

fn text_excerpt(bytes: &[u8]) -> Vec<Piece> {
    let spans = spans(bytes);
    let longest = spans.iter().filter(|span| span.is_repeated()).max_by_key(|span| span.range.len());
    let start = longest.map_or(0, |span: &Span| span.range.start.saturating_sub(BEFORE));
    // from the start of a line, if one is near
    let line = bytes[start..].iter().take(BEFORE / 2).position(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let start = if start == 0 { 0 } else { start + line };
    let gap = |bytes: usize| Piece::Gap { bytes, lines: 0 };
    let end = end_of_excerpt(&spans, start, bytes.len());
    let mut pieces = Vec::new();
    if start > 0 {
        pieces.extend([gap(start), Piece::Break]);
    }
    pieces.extend(folded(&bytes[start..end], 2 * EXCERPT));
    if end < bytes.len() {
        pieces.push(gap(bytes.len() - end));
    }
    pieces
}

/// End of the excerpt, with repetitions counted once.
fn end_of_excerpt(spans: &[Span], start: usize, length: usize) -> usize {
    let mut room = EXCERPT;
    for span in spans.iter().filter(|span| span.range.end > start) {
        let from = span.range.start.max(start);
        let shown = span.unit.min(span.range.end - from);
        if shown >= room {
            return if span.is_repeated() { span.range.end } else { from + room };
        }
        room -= shown;
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_shows_the_longest_repetition() {
        let mut input: Vec<u8> = (0..900).flat_map(|i| format!("line {i}\n").into_bytes()).collect();
        input.extend([b' '; 5_000]);
        input.extend((0..900).flat_map(|i| format!("more {i}\n").into_bytes()));
        let pieces = text_excerpt(&input);
        assert!(matches!(pieces[0], Piece::Gap { .. }), "{pieces:?}");
        assert!(pieces.iter().any(|piece| matches!(piece, Piece::Repeated { times: 5_000, .. })), "{pieces:?}");
        assert!(pieces.len() < 600, "{}", pieces.len());
        assert_eq!(text_excerpt(b"short"), [Piece::Text("short".into())]);
        assert_eq!(text_excerpt(b""), []);
    }
}
