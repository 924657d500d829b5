//! Parts of the examples whose replacement is tried: the nodes of their bracket trees.

use crate::{
    brackets::{self, scan::is_word},
    tree::{Node, Role, Tree},
};
use std::ops::Range;

/// Contents of a span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Bytes without structure: blanks, a word, or one other byte.
    Bytes(Range<usize>),
    /// The span with this number.
    Span(usize),
}

/// A part of an example.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    /// Number of the example.
    pub example: usize,
    /// Its bytes in the example.
    pub range: Range<usize>,
    /// Role among its siblings.
    pub role: Role,
    /// Kind of the part: symbol of its node.
    pub kind: u32,
    /// Contents in order; items and separators of a list.
    pub pieces: Vec<Piece>,
}

/// Examples and their spans. The first span of each example is the whole.
#[derive(Debug, Default)]
pub(crate) struct Forest {
    pub examples: Vec<Vec<u8>>,
    pub spans: Vec<Span>,
}

/// Most spans of all examples together: examples after that are left out.
const MOST_SPANS: usize = 2_000;

impl Forest {
    /// Divides the examples, the shortest first.
    pub(crate) fn new(mut examples: Vec<Vec<u8>>) -> Self {
        examples.sort_by(|one, other| (one.len(), one).cmp(&(other.len(), other)));
        let mut forest = Self::default();
        for example in examples {
            forest.push(&example);
        }
        forest
    }

    /// Adds an example. False if there would be too many spans.
    pub(crate) fn push(&mut self, example: &[u8]) -> bool {
        let tree = brackets::parse(example).unwrap_or_else(|| leaf(example));
        let fits = self.spans.is_empty() || self.spans.len() + tree.nodes.len() <= MOST_SPANS;
        if fits {
            self.add(&tree);
        }
        fits
    }

    fn add(&mut self, tree: &Tree) {
        let example = self.examples.len();
        self.examples.push(tree.bytes.clone());
        // number of the span of each node; nodes with the same bytes share the one of the innermost
        let mut waiting = vec![(0, None)];
        while let Some((mut place, parent)) = waiting.pop() {
            while tree
                .nodes
                .get(place + 1)
                .is_some_and(|inner| tree.nodes[place].nodes > 1 && inner.range() == tree.nodes[place].range())
            {
                place += 1;
            }
            let number = self.spans.len();
            if let Some((outer, piece)) = parent {
                let outer: &mut Span = &mut self.spans[outer];
                outer.pieces[piece] = Piece::Span(number);
            }
            let node = tree.nodes[place];
            let (pieces, children) = pieces(tree, place, &node);
            waiting.extend(children.into_iter().rev().map(|(piece, child)| (child, Some((number, piece)))));
            self.spans.push(Span { example, range: node.range(), role: node.role, kind: node.symbol, pieces });
        }
    }

    /// Words that are no parts, with their examples: words of a form, such as names of elements.
    pub(crate) fn words(&self) -> impl Iterator<Item = (Range<usize>, &[u8])> {
        self.spans.iter().flat_map(move |span| {
            let example = &self.examples[span.example][..];
            span.pieces.iter().filter_map(move |piece| match piece {
                Piece::Bytes(range) if example[range.start].is_ascii_alphanumeric() => Some((range.clone(), example)),
                _ => None,
            })
        })
    }

    /// Bytes that stand between parts, without letters and digits; blanks are among them.
    pub(crate) fn delimiters(&self) -> Vec<u8> {
        let mut delimiters = b" \t\r\n".to_vec();
        for span in &self.spans {
            let example = &self.examples[span.example];
            let separator = Some(&span.range).filter(|_| span.role == Role::Separator);
            let between = span.pieces.iter().filter_map(|piece| match piece {
                Piece::Bytes(range) => Some(range),
                Piece::Span(_) => None,
            });
            delimiters.extend(between.chain(separator).flat_map(|range| &example[range.clone()]));
        }
        delimiters.retain(|byte| !byte.is_ascii_alphanumeric());
        delimiters.sort_unstable();
        delimiters.dedup();
        delimiters
    }

    /// Bytes of a span.
    pub(crate) fn text(&self, span: usize) -> &[u8] {
        let span = &self.spans[span];
        &self.examples[span.example][span.range.clone()]
    }

    /// The example of a span, with other bytes in the place `range` of that example.
    pub(crate) fn replaced(&self, example: usize, range: &Range<usize>, bytes: &[u8]) -> Vec<u8> {
        let example = &self.examples[example];
        [&example[..range.start], bytes, &example[range.end..]].concat()
    }

    /// The example of a span, with other bytes in the place of the span.
    pub(crate) fn with(&self, span: usize, bytes: &[u8]) -> Vec<u8> {
        let Span { example, range, .. } = &self.spans[span];
        self.replaced(*example, range, bytes)
    }
}

fn leaf(bytes: &[u8]) -> Tree {
    let node = Node { symbol: 0, choice: 0, role: Role::Leaf, start: 0, length: bytes.len() as u32, nodes: 1 };
    Tree { bytes: bytes.to_vec(), nodes: vec![node] }
}

/// Pieces of a node, with places for its children, and these places with the children.
fn pieces(tree: &Tree, place: usize, node: &Node) -> (Vec<Piece>, Vec<(usize, usize)>) {
    let (mut pieces, mut children) = (Vec::new(), Vec::new());
    let mut at = node.range().start;
    let mut child = place + 1;
    while child < place + node.nodes as usize {
        let range = tree.nodes[child].range();
        split(&tree.bytes, at..range.start, &mut pieces);
        children.push((pieces.len(), child));
        pieces.push(Piece::Span(usize::MAX));
        at = range.end;
        child += tree.nodes[child].nodes as usize;
    }
    if node.nodes > 1 || node.role == Role::Part {
        split(&tree.bytes, at..node.range().end, &mut pieces);
    }
    (pieces, children)
}

/// Splits bytes without structure into blanks, words and single bytes.
fn split(bytes: &[u8], range: Range<usize>, pieces: &mut Vec<Piece>) {
    let class = |byte: u8| match byte {
        b' ' | b'\t' | b'\n' | b'\r' => 1,
        byte if is_word(byte) => 2,
        _ => 0,
    };
    let mut at = range.start;
    while at < range.end {
        let kind = class(bytes[at]);
        let same = bytes[at..range.end].iter().take_while(|&&byte| kind > 0 && class(byte) == kind).count();
        pieces.push(Piece::Bytes(at..at + same.max(1)));
        at += same.max(1);
    }
}
