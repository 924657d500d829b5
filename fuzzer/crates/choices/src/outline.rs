//! Outlines of inputs for people: the parts of an input as an indented list, in which what repeats is shown once.

use crate::tree::Tree;
use std::fmt::Write;

/// A part or a value in an outline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Number of parts around it.
    pub depth: u32,
    /// Kind of the part: those of one kind that follow each other are shown once.
    pub kind: u64,
    /// Name of the kind, and the bytes of a value.
    pub text: String,
}

/// Parts of the same kind from which on they are shown once, beside each other or in each other.
const REPEATED: usize = 4;

/// Lines of an outline.
const MOST_LINES: usize = 40;

/// Characters of a value.
const MOST_CHARACTERS: usize = 40;

/// Bytes as text in quotes, cut to what fits into a line.
pub fn quoted(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for &byte in bytes.iter().take(MOST_CHARACTERS) {
        text.extend(byte.escape_ascii().map(char::from));
    }
    text.push('"');
    if bytes.len() > MOST_CHARACTERS {
        let _ = write!(text, "... ({} bytes)", bytes.len());
    }
    text
}

/// Parts of a tree, in which `name` names a symbol.
pub fn items(tree: &Tree, name: impl Fn(u32) -> String) -> Vec<Item> {
    let mut ends: Vec<usize> = Vec::new();
    let mut items = Vec::with_capacity(tree.nodes.len());
    for (place, node) in tree.nodes.iter().enumerate() {
        while ends.last().is_some_and(|&end| end <= place) {
            ends.pop();
        }
        let mut text = name(node.symbol);
        if node.nodes == 1 {
            text.push(' ');
            text.push_str(&quoted(tree.bytes.get(node.range()).unwrap_or_default()));
        }
        items.push(Item { depth: ends.len() as u32, kind: node.symbol.into(), text });
        ends.push(place + node.nodes as usize);
    }
    items
}

/// Lines of the outline of these items, which stand in the order in which their parts begin, each before those in it.
pub fn outline(items: &[Item]) -> Vec<String> {
    let parts = Parts::new(items);
    let mut lines = Vec::new();
    // places that are still to be shown, the next one last: a part with its indentation, and how many of its kind it stands for
    let mut left: Vec<(usize, usize, usize)> = Vec::new();
    parts.push_siblings(0..items.len(), 0, &mut left);
    while let Some((place, indentation, siblings)) = left.pop() {
        if lines.len() == MOST_LINES {
            lines.push("...".to_owned());
            break;
        }
        let chain = parts.chain(place);
        let mut line = format!("{:indentation$}{}", "", items[place].text);
        if siblings >= REPEATED {
            let _ = write!(line, "  x {siblings}");
        }
        let is_nested = chain.len() >= REPEATED;
        if is_nested {
            let _ = write!(line, "  nested {} deep, the innermost:", chain.len());
        }
        lines.push(line);
        let shown = if is_nested { chain[chain.len() - 1] } else { place };
        parts.push_siblings(shown + 1..parts.ends[shown], indentation + 2, &mut left);
    }
    lines
}

/// Items with the ends of their parts.
struct Parts<'a> {
    items: &'a [Item],
    /// For each item, the place behind the last item in it.
    ends: Vec<usize>,
}

impl<'a> Parts<'a> {
    fn new(items: &'a [Item]) -> Self {
        let mut ends = vec![items.len(); items.len()];
        let mut open: Vec<usize> = Vec::new();
        for (place, item) in items.iter().enumerate() {
            while let Some(&last) = open.last().filter(|&&last| items[last].depth >= item.depth) {
                ends[last] = place;
                open.pop();
            }
            open.push(place);
        }
        Self { items, ends }
    }

    fn siblings(&self, range: std::ops::Range<usize>) -> impl Iterator<Item = usize> {
        let mut next = range.start;
        std::iter::from_fn(move || {
            let place = (next < range.end).then_some(next)?;
            next = self.ends[place];
            Some(place)
        })
    }

    /// Adds the parts beside each other in `range`: of those of one kind in a row, the largest.
    fn push_siblings(&self, range: std::ops::Range<usize>, indentation: usize, left: &mut Vec<(usize, usize, usize)>) {
        let before = left.len();
        let size = |place: usize| self.ends[place] - place;
        let mut row: Vec<usize> = Vec::new();
        let mut end_row = |row: &mut Vec<usize>| {
            if row.len() >= REPEATED {
                let largest = row.iter().copied().max_by_key(|&place| size(place)).unwrap_or(row[0]);
                left.push((largest, indentation, row.len()));
            } else {
                left.extend(row.iter().map(|&place| (place, indentation, 1)));
            }
            row.clear();
        };
        for place in self.siblings(range) {
            if row.last().is_some_and(|&last| self.items[last].kind != self.items[place].kind) {
                end_row(&mut row);
            }
            row.push(place);
        }
        end_row(&mut row);
        left[before..].reverse();
    }

    /// The part, and the parts of its kind in each other, along the largest parts.
    fn chain(&self, place: usize) -> Vec<usize> {
        let mut chain = vec![place];
        let mut at = place;
        while let Some(largest) =
            self.siblings(at + 1..self.ends[at]).max_by_key(|&child| (self.ends[child] - child, usize::MAX - child))
        {
            if self.items[largest].kind == self.items[place].kind {
                chain.push(largest);
            }
            at = largest;
        }
        chain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(depth: u32, kind: u64, text: &str) -> Item {
        Item { depth, kind, text: text.to_owned() }
    }

    #[test]
    fn few_parts_are_shown_as_they_are() {
        let items = [item(0, 0, "list"), item(1, 1, "number 1"), item(1, 1, "number 2"), item(1, 2, "name")];
        assert_eq!(outline(&items), ["list", "  number 1", "  number 2", "  name"]);
    }

    #[test]
    fn what_repeats_is_shown_once_by_its_largest() {
        let mut items = vec![item(0, 0, "list")];
        for number in 0..100 {
            items.push(item(1, 1, "item"));
            if number == 7 {
                items.push(item(2, 3, "extra"));
            }
        }
        items.push(item(1, 2, "end"));
        assert_eq!(outline(&items), ["list", "  item  x 100", "    extra", "  end"]);
    }

    #[test]
    fn what_is_nested_is_shown_by_its_innermost_however_deep() {
        let mut items = Vec::new();
        for depth in 0..50_000 {
            items.push(item(2 * depth, 0, "array"));
            items.push(item(2 * depth + 1, 1, "value"));
        }
        items.push(item(100_000, 2, "number 7"));
        assert_eq!(outline(&items), ["array  nested 50000 deep, the innermost:", "  value", "    number 7"]);
    }

    #[test]
    fn long_outlines_and_values_are_cut() {
        let items: Vec<Item> = (0..1000).map(|kind| item(0, kind, "part")).collect();
        let lines = outline(&items);
        assert_eq!((lines.len(), lines[40].as_str()), (41, "..."));
        assert_eq!(quoted(b"a\n\xff"), "\"a\\n\\xff\"");
        assert!(quoted(&[b'x'; 100]).ends_with("x\"... (100 bytes)"));
        assert!(outline(&[]).is_empty());
    }
}
