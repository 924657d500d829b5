//! More examples of parts that have words which have to agree: parts without something, with something that stands between the same neighbours elsewhere, and with
//! other words in the place of theirs. Those that the program accepts show what is optional, and what goes together.

use super::{
    Oracle,
    spans::{Forest, Piece, Span},
};
use crate::tree::Role;
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

/// Most variants that become examples.
const MOST: usize = 60;
/// Most questions about variants.
const MOST_QUESTIONS: usize = 10_000;
/// Most pieces that are left out or added at once, blanks included.
const LONGEST: usize = 4;
/// Most pieces of a part that is varied.
const LARGEST: usize = 24;
/// Most texts that are tried between two neighbours, and most words that are tried for one.
const MOST_TEXTS: usize = 12;

/// A piece by what it is: a text, or a part that begins with a character of this class.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Shown {
    Text(Vec<u8>),
    Part(u8),
}

/// Kind of a part, and its pieces without blanks.
type Form = (u32, Vec<Shown>);

/// Classes of the bytes before and after a place.
type Neighbours = (u8, u8);

/// Texts by the neighbours between which they stand, the shortest of each form.
type Runs = BTreeMap<Neighbours, BTreeMap<Vec<Shown>, Vec<u8>>>;

/// Adds variants of the parts of the examples to them, as long as there are new ones that are accepted.
pub(crate) fn add(forest: &mut Forest, oracle: &mut Oracle) {
    let mut known: BTreeSet<Form> = forms(forest, 0..forest.spans.len()).into_keys().collect();
    let (mut from, mut added, mut questions) = (0, 0, 0);
    while from < forest.spans.len() {
        let fresh = forms(forest, from..forest.spans.len());
        from = forest.spans.len();
        let (runs, words) = (runs(forest), words(forest));
        for span in fresh.into_values() {
            for text in variants(forest, span, &runs, &words) {
                // alone if it is an input of its own
                for input in [text.clone(), forest.with(span, &text)] {
                    if added == MOST || questions == MOST_QUESTIONS || oracle.is_exhausted() {
                        return;
                    }
                    let tree = Forest::new(vec![input.clone()]);
                    let new: Vec<Form> = forms(&tree, 0..tree.spans.len()).into_keys().collect();
                    if new.iter().all(|form| known.contains(form)) {
                        break;
                    }
                    questions += 1;
                    if oracle.accepts(&input) {
                        known.extend(new);
                        added += usize::from(forest.push(&input));
                        break;
                    }
                }
            }
        }
    }
}

/// Whether a part has words that are no parts, which have to agree: other parts stand for each other in the table.
fn is_varied(forest: &Forest, span: usize) -> bool {
    let Span { role, pieces, example, .. } = &forest.spans[span];
    let is_word = |piece: &Piece| match piece {
        Piece::Bytes(range) => forest.examples[*example][range.start].is_ascii_alphanumeric(),
        Piece::Span(_) => false,
    };
    *role == Role::Part && (2..=LARGEST).contains(&pieces.len()) && pieces.iter().any(is_word)
}

/// Forms of some spans, and the shortest span of each.
fn forms(forest: &Forest, spans: Range<usize>) -> BTreeMap<Form, usize> {
    let mut forms: BTreeMap<Form, usize> = BTreeMap::new();
    for span in spans.filter(|&span| is_varied(forest, span)) {
        let form = (forest.spans[span].kind, shown(forest, span, &forest.spans[span].pieces));
        let shortest = forms.entry(form).or_insert(span);
        if forest.text(span).len() < forest.text(*shortest).len() {
            *shortest = span;
        }
    }
    forms
}

/// Pieces by what they are, without blanks.
fn shown(forest: &Forest, span: usize, pieces: &[Piece]) -> Vec<Shown> {
    let example = &forest.examples[forest.spans[span].example];
    let shown = |piece: &Piece| match piece {
        Piece::Bytes(range) => Shown::Text(example[range.clone()].trim_ascii().to_vec()),
        Piece::Span(inner) => Shown::Part(class(forest.text(*inner).first())),
    };
    pieces.iter().map(shown).filter(|shown| *shown != Shown::Text(Vec::new())).collect()
}

fn range(forest: &Forest, piece: &Piece) -> Range<usize> {
    match piece {
        Piece::Bytes(range) => range.clone(),
        Piece::Span(inner) => forest.spans[*inner].range.clone(),
    }
}

/// Class of a byte: letters and digits are alike, and so are blanks.
fn class(byte: Option<&u8>) -> u8 {
    match byte {
        Some(byte) if byte.is_ascii_alphanumeric() => b'a',
        Some(byte) if byte.is_ascii_whitespace() => b' ',
        Some(byte) => *byte,
        None => 0,
    }
}

/// Neighbours of a place in an example.
fn neighbours(example: &[u8], range: &Range<usize>) -> Neighbours {
    let before = range.start.checked_sub(1).and_then(|at| example.get(at));
    (class(before), class(example.get(range.end)))
}

/// Texts of some pieces of all parts, by their neighbours.
fn runs(forest: &Forest) -> Runs {
    let mut runs = Runs::new();
    for span in (0..forest.spans.len()).filter(|&span| is_varied(forest, span)) {
        let Span { example, pieces, .. } = &forest.spans[span];
        let example = &forest.examples[*example];
        for from in 0..pieces.len() {
            for to in from + 1..=pieces.len().min(from + LONGEST) {
                let run = range(forest, &pieces[from]).start..range(forest, &pieces[to - 1]).end;
                let beside = runs.entry(neighbours(example, &run)).or_default();
                let form = shown(forest, span, &pieces[from..to]);
                let text = &example[run];
                let shortest = beside.entry(form).or_insert_with(|| text.to_vec());
                if text.len() < shortest.len() {
                    *shortest = text.to_vec();
                }
            }
        }
    }
    runs
}

/// Words that are no parts, those that belong to the form, and words elsewhere that stand after the same characters.
fn words(forest: &Forest) -> BTreeSet<Vec<u8>> {
    let (mut words, mut before) = (BTreeSet::new(), BTreeSet::new());
    for (range, example) in forest.words() {
        words.insert(example[range.clone()].to_vec());
        before.insert(neighbours(example, &range).0);
    }
    before.remove(&b' ');
    for Span { example, range, .. } in forest.spans.iter().filter(|span| span.role == Role::Leaf) {
        let example = &forest.examples[*example];
        if example[range.start].is_ascii_alphabetic() && before.contains(&neighbours(example, range).0) {
            words.insert(example[range.clone()].to_vec());
        }
    }
    words
}

/// Variants of the text of a span.
fn variants(forest: &Forest, span: usize, runs: &Runs, words: &BTreeSet<Vec<u8>>) -> Vec<Vec<u8>> {
    let Span { example, pieces, range: whole, .. } = &forest.spans[span];
    let example = &forest.examples[*example];
    let with = |range: &Range<usize>, text: &[u8]| {
        [&example[whole.start..range.start], text, &example[range.end..whole.end]].concat()
    };
    let mut variants = renamed(forest, span, words);
    for from in 0..pieces.len() {
        let start = range(forest, &pieces[from]).start;
        for to in from + 1..=pieces.len().min(from + LONGEST) {
            variants.push(with(&(start..range(forest, &pieces[to - 1]).end), b""));
        }
        if let Some(texts) = runs.get(&neighbours(example, &(start..start))).filter(|_| from > 0) {
            let mut texts: Vec<&Vec<u8>> = texts.values().collect();
            texts.sort_by_key(|text| text.len());
            variants.extend(texts.into_iter().take(MOST_TEXTS).map(|text| with(&(start..start), text)));
        }
    }
    variants
}

/// A part with other words: everywhere in it and in the parts that it consists of, for they may have to agree.
fn renamed(forest: &Forest, span: usize, words: &BTreeSet<Vec<u8>>) -> Vec<Vec<u8>> {
    let whole = &forest.spans[span];
    let example = &forest.examples[whole.example];
    let mut places: BTreeMap<&[u8], Vec<Range<usize>>> = BTreeMap::new();
    for piece in &whole.pieces {
        let inner = match piece {
            Piece::Span(inner) => &forest.spans[*inner].pieces[..],
            Piece::Bytes(_) => std::slice::from_ref(piece),
        };
        for piece in inner {
            if let Piece::Bytes(range) = piece {
                places.entry(&example[range.clone()]).or_default().push(range.clone());
            }
        }
    }
    let mut renamed = Vec::new();
    for (word, places) in places.into_iter().filter(|(word, _)| words.contains(*word)) {
        for other in words.iter().filter(|other| *other != word).take(MOST_TEXTS) {
            let (mut text, mut at) = (Vec::new(), whole.range.start);
            for place in &places {
                text.extend_from_slice(&example[at..place.start]);
                text.extend_from_slice(other);
                at = place.end;
            }
            text.extend_from_slice(&example[at..whole.range.end]);
            renamed.push(text);
        }
    }
    renamed
}
