//! Which texts are accepted in which place of the examples: places that accept the same texts are one class.

use super::{Oracle, blanks::Blanks, spans::Forest};
use crate::{brackets::is_line_end, tree::Role};
use std::collections::{BTreeMap, BTreeSet};

/// Most texts that are tried in each place.
const MOST_TEXTS: usize = 140;

/// Most words that are no parts among them.
const MOST_WORDS: usize = 20;

/// Set of texts, one bit each.
pub(crate) type Accepted = Vec<u64>;

/// Whether `all` has everything that `some` has.
pub(crate) fn includes(all: &Accepted, some: &Accepted) -> bool {
    all.iter().zip(some).all(|(all, some)| some & !all == 0)
}

/// Texts, and which of them are accepted in the places of the spans.
#[derive(Debug)]
pub(crate) struct Table {
    /// Texts that were tried; the first is empty.
    pub texts: Vec<Vec<u8>>,
    /// Number of the texts that are no separators, which come first. Separators are tried in places of separators only, and
    /// nothing else is: otherwise what sticks together, such as two names, would hide what can stand for each other.
    parts: usize,
    /// Class of the place of each span.
    pub class_of: Vec<usize>,
    /// Texts that each class accepts.
    pub accepted: Vec<Accepted>,
    /// Spans whose places belong to each class.
    pub members: Vec<Vec<usize>>,
}

impl Table {
    /// Tries texts of all kinds of spans in the place of each span.
    pub(crate) fn new(forest: &Forest, oracle: &mut Oracle) -> Self {
        let mut texts = texts(forest, false);
        let parts = texts.len();
        texts.extend(self::texts(forest, true).into_iter().skip(1));
        let mut table = Self { texts, parts, class_of: Vec::new(), accepted: Vec::new(), members: Vec::new() };
        let mut classes: BTreeMap<(Accepted, bool, Option<&[u8]>), usize> = BTreeMap::new();
        for span in 0..forest.spans.len() {
            let accepted = table.accepted_at(forest, span, oracle);
            // places that accept nothing but their own texts, which were not tried, differ by these
            let own = accepted.iter().all(|bits| *bits == 0).then(|| forest.text(span));
            // ends of lines are blanks of another kind
            let key = (accepted.clone(), is_line_end(forest.spans[span].kind), own);
            let class = *classes.entry(key).or_insert_with(|| {
                table.accepted.push(accepted);
                table.members.push(Vec::new());
                table.accepted.len() - 1
            });
            table.class_of.push(class);
            table.members[class].push(span);
        }
        table
    }

    fn accepted_at(&self, forest: &Forest, span: usize, oracle: &mut Oracle) -> Accepted {
        let mut accepted = vec![0; self.texts.len().div_ceil(64)];
        let separates = is_separator(forest, span);
        let range = if separates { self.parts..self.texts.len() } else { 1..self.parts };
        // a blank may be nothing
        let may_be_nothing = !separates || Blanks::may_be_left_out(forest, span);
        for number in [0].into_iter().filter(|_| may_be_nothing).chain(range) {
            let text = &self.texts[number];
            if text == forest.text(span) || oracle.accepts(&forest.with(span, text)) {
                accepted[number / 64] |= 1 << (number % 64);
            }
        }
        accepted
    }

    /// Whether a class accepts a text that was tried.
    pub(crate) fn accepts(&self, class: usize, text: usize) -> bool {
        self.accepted[class][text / 64] >> (text % 64) & 1 == 1
    }
}

fn is_separator(forest: &Forest, span: usize) -> bool {
    forest.spans[span].role == Role::Separator
}

/// Texts to be tried: nothing, words that are no parts, and the shortest of each kind of span by turns.
fn texts(forest: &Forest, separators: bool) -> Vec<Vec<u8>> {
    let mut kinds: BTreeMap<(u32, usize), Vec<&[u8]>> = BTreeMap::new();
    for (number, span) in forest.spans.iter().enumerate().filter(|span| is_separator(forest, span.0) == separators) {
        kinds.entry((span.kind, span.pieces.len().min(3))).or_default().push(forest.text(number));
    }
    for texts in kinds.values_mut() {
        texts.sort_by_key(|text| (text.len(), *text));
        texts.dedup();
    }
    let mut texts = vec![Vec::new()];
    if !separators {
        let words: BTreeSet<&[u8]> = forest.words().map(|(range, example)| &example[range]).collect();
        texts.extend(words.into_iter().take(MOST_WORDS).map(<[u8]>::to_vec));
    }
    for turn in 0.. {
        let before = texts.len();
        for text in kinds.values().filter_map(|texts| texts.get(turn)) {
            if texts.len() < MOST_TEXTS && !texts.iter().any(|other| other == text) {
                texts.push(text.to_vec());
            }
        }
        if texts.len() == MOST_TEXTS || (texts.len() == before && kinds.values().all(|texts| texts.len() <= turn)) {
            break;
        }
    }
    texts
}
