//! Nesting around a middle: two runs that mirror each other, or a run that only opens.

use super::{Origin, Pump, Segment};
use crate::template::Part;

/// Nests of the runs of the input: with what closes in the input itself, or with what closes in most languages.
pub(super) fn segments(input: &[u8], runs: &[Segment]) -> Vec<Segment> {
    let mut all = Vec::new();
    for run in runs {
        let Some(open) = unit(run) else { continue };
        // a second run with about as many rounds behind the first
        for other in runs.iter().filter(|other| other.range.start >= run.range.end) {
            let Some(close) = unit(other) else { continue };
            let rounds = run.times.min(other.times);
            if open == close || rounds * 10 < run.times.max(other.times) * 9 {
                continue;
            }
            // the rounds that one run has more stay outside
            let start = run.range.end - rounds as usize * open.len();
            let end = other.range.start + rounds as usize * close.len();
            let middle = &input[run.range.end..other.range.start];
            let pump = nest(open, middle, close);
            all.push(Segment { range: start..end, pump, times: rounds, origin: Origin::Nest });
        }
        let close = closing(open);
        if !close.is_empty() {
            let half = (run.times / 2).max(1);
            for times in [run.times, half] {
                let pump = nest(open, b"", &close);
                all.push(Segment { range: run.range.clone(), pump, times, origin: Origin::Nest });
            }
        }
    }
    all
}

fn nest(open: &[u8], middle: &[u8], close: &[u8]) -> Pump {
    let literal = |bytes: &[u8]| vec![Part::Literal(bytes.to_vec())];
    Pump::Nest(literal(open), literal(middle), literal(close))
}

/// The unit of a run of bytes.
fn unit(run: &Segment) -> Option<&[u8]> {
    match &run.pump {
        Pump::Repeat(body) => match &body[..] {
            [Part::Literal(unit)] => Some(unit),
            _ => None,
        },
        Pump::Nest(..) => None,
    }
}

/// Closing texts of the brackets and tags that a text opens, the last one first.
pub(super) fn closing(text: &[u8]) -> Vec<u8> {
    let mut open: Vec<Vec<u8>> = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let end = tag_end(text, at);
        if let Some(end) = end {
            let tag = &text[at + 1..end];
            if tag.first() == Some(&b'/') {
                open.pop();
            } else if tag.last() != Some(&b'/') {
                let name = tag.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"_-:.".contains(byte));
                open.push([b"</".as_slice(), &name.copied().collect::<Vec<u8>>(), b">"].concat());
            }
            at = end + 1;
            continue;
        }
        match text[at] {
            b'(' => open.push(b")".to_vec()),
            b'[' => open.push(b"]".to_vec()),
            b'{' => open.push(b"}".to_vec()),
            close @ (b')' | b']' | b'}') if open.last().is_some_and(|last| **last == [close]) => {
                open.pop();
            }
            _ => {}
        }
        at += 1;
    }
    open.into_iter().rev().flatten().collect()
}

/// End of a tag that begins at `at`: the place of its `>`.
fn tag_end(text: &[u8], at: usize) -> Option<usize> {
    let after = text.get(at + 1)?;
    if text[at] != b'<' || !(after.is_ascii_alphabetic() || *after == b'/') {
        return None;
    }
    text[at..].iter().position(|&byte| byte == b'>').map(|length| at + length)
}
