//! Blanks between the parts of an example: where there may be some, and where there must be.

use super::{
    Oracle,
    rules::{Item, Rules},
    spans::{Forest, Span},
};
use crate::brackets::{is_line_end, scan::is_word};
use std::{collections::BTreeMap, ops::Range};

/// Blanks that are accepted in a place: a set of the texts in [`BLANKS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Blanks(u8);

/// Blanks that are tried, one bit each.
const BLANKS: [&[u8]; 5] = [b"", b" ", b"\n", b"  ", b"\n\n"];
/// Those between words, and those between lines.
const SPACES: [usize; 4] = [0, 1, 2, 3];
const LINE_ENDS: [usize; 2] = [2, 4];

/// Whether a word or number ends before a place, and another one begins after it.
fn is_between_words(text: &[u8], range: &Range<usize>) -> bool {
    let is_word = |at: Option<usize>| at.and_then(|at| text.get(at)).is_some_and(|&byte| is_word(byte));
    is_word(range.start.checked_sub(1)) && is_word(Some(range.end))
}

impl Blanks {
    /// No blank at all.
    pub(crate) const NONE: Self = Self(1);

    /// Blanks that are accepted in place of those at `range`, which are accepted. Between two words or numbers there is at
    /// least one: without it, they would be one.
    pub(crate) fn at(forest: &Forest, example: usize, range: &Range<usize>, oracle: &mut Oracle) -> Self {
        let is_needed = !range.is_empty() && is_between_words(&forest.examples[example], range);
        Self::tried(&SPACES[usize::from(is_needed)..], forest, example, range, oracle)
    }

    /// Ends of lines that are accepted in place of the blanks at `range`. There is always one: what is on one line may be
    /// accepted, but it is something else.
    pub(crate) fn between_lines(forest: &Forest, example: usize, range: &Range<usize>, oracle: &mut Oracle) -> Self {
        Self::tried(&LINE_ENDS, forest, example, range, oracle)
    }

    fn tried(some: &[usize], forest: &Forest, example: usize, range: &Range<usize>, oracle: &mut Oracle) -> Self {
        let now = &forest.examples[example][range.clone()];
        let mut is_accepted = |blanks| now == blanks || oracle.accepts(&forest.replaced(example, range, blanks));
        Self(some.iter().filter(|&&bit| is_accepted(BLANKS[bit])).map(|bit| 1 << bit).sum())
    }

    /// Whether a separator is blank, and does not stand between two words.
    pub(crate) fn may_be_left_out(forest: &Forest, span: usize) -> bool {
        let Span { example, range, kind, .. } = &forest.spans[span];
        !is_line_end(*kind)
            && forest.text(span).trim_ascii().is_empty()
            && !is_between_words(&forest.examples[*example], range)
    }

    /// Blanks that both accept; `None` if there are none.
    pub(crate) fn common(self, other: Self) -> Option<Self> {
        (self.0 & other.0 != 0).then_some(Self(self.0 & other.0))
    }

    fn has(self, bit: usize) -> bool {
        self.0 >> bit & 1 == 1
    }

    /// Its rule; `None` if it is no blank at all.
    pub(crate) fn item(self, rules: &mut Rules, known: &mut BTreeMap<Self, usize>) -> Option<Item> {
        if self == Self::NONE || self.0 == 0 {
            return None;
        }
        let rule = *known.entry(self).or_insert_with(|| {
            let mut some = Vec::new();
            for bit in [1, 2] {
                if self.has(bit) {
                    some.push(vec![Item::Text(BLANKS[bit].to_vec())]);
                }
            }
            if some.is_empty() {
                some.push(vec![Item::Text(BLANKS[3].to_vec())]);
            }
            if (self.has(3) && self.has(1)) || self.has(4) {
                let one = rules.add("blank", some);
                let more = rules.add("blanks", Vec::new());
                some = vec![vec![Item::Rule(one)], vec![Item::Rule(one), Item::Rule(more)]];
                rules.rules[more].alternatives = some;
                some = vec![vec![Item::Rule(more)]];
            }
            if self.has(0) {
                some.insert(0, Vec::new());
            }
            rules.add("blanks", some)
        });
        Some(Item::Rule(rule))
    }
}
