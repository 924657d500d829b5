//! Nesting around a middle: two runs that mirror each other, or a run that only opens.

use std::{cmp::Reverse, collections::HashMap, hash::Hash};

use super::{Origin, Pump, Segment};
use crate::{
    template::Part,
    tree::{Role, Tree},
};

/// Nests of the runs of the input: with what closes in the input itself, or with what closes in most languages.
pub(super) fn mirrored(input: &[u8], runs: &[Segment]) -> Vec<Segment> {
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

// Parts of a derivation tree: those in a part of the same kind nest, and items of a list repeat.

/// Kinds of parts that nest: the deepest ones.
const MOST_KINDS: usize = 4;

/// Lists: the longest ones.
const MOST_LISTS: usize = 4;

/// Longest bytes that open or close, and longest item.
const LONGEST: usize = 4096;

/// Segments of the parts of a tree of the input.
pub(super) fn of_tree(input: &[u8], tree: &Tree) -> Vec<Segment> {
    if tree.bytes != input || tree.nodes.is_empty() {
        return Vec::new();
    }
    let mut all: Vec<Segment> =
        chains(tree).iter().take(MOST_KINDS).filter_map(|chain| nest_of(input, tree, chain)).collect();
    all.extend(lists(tree));
    all
}

/// For each kind, the deepest part that is in parts of the same kind: the parts around it and itself, the outermost first.
/// The longest chains come first.
pub(crate) fn chains(tree: &Tree) -> Vec<Vec<usize>> {
    // for each node, the next node of the same kind around it, and how many there are
    let mut around: Vec<(Option<usize>, u32)> = vec![(None, 0); tree.nodes.len()];
    let mut open: HashMap<u32, Vec<usize>> = HashMap::new();
    let mut deepest: HashMap<u32, usize> = HashMap::new();
    for (place, node) in tree.nodes.iter().enumerate() {
        if !matches!(node.role, Role::Part | Role::List) {
            continue;
        }
        let same = open.entry(node.symbol).or_default();
        while same.last().is_some_and(|&last| tree.subtree(last).end <= place) {
            same.pop();
        }
        // a part of the same bytes nests nothing
        let outer = same.last().copied();
        let is_smaller = outer.is_some_and(|outer| tree.nodes[outer].range() != node.range());
        around[place] = match outer {
            Some(outer) if is_smaller => (Some(outer), around[outer].1 + 1),
            Some(outer) => around[outer],
            None => (None, 0),
        };
        same.push(place);
        let best = deepest.entry(node.symbol).or_insert(place);
        if around[place].1 > around[*best].1 {
            *best = place;
        }
    }
    let mut deepest: Vec<usize> = deepest.into_values().filter(|&place| around[place].1 > 0).collect();
    deepest.sort_by_key(|&place| (Reverse(around[place].1), place));
    let chain = |inner: usize| {
        let mut chain: Vec<usize> = std::iter::successors(Some(inner), |&at| around[at].0).collect();
        chain.reverse();
        chain
    };
    deepest.into_iter().map(chain).collect()
}

/// The thing whose number times its weight is largest, and that number; of several, the one whose first place is least.
fn most_frequent<T: Eq + Hash + Copy>(
    things: impl Iterator<Item = (T, usize)>,
    weight: impl Fn(T) -> usize,
) -> Option<(T, usize)> {
    let mut often: HashMap<T, (usize, usize)> = HashMap::new();
    things.for_each(|(thing, place)| often.entry(thing).or_insert((0, place)).0 += 1);
    let most = often.into_iter().max_by_key(|&(thing, (times, first))| (times * weight(thing), Reverse(first)));
    most.map(|(thing, (times, _))| (thing, times))
}

/// The nest of a chain of parts: the most frequent bytes that open and close between two of them.
fn nest_of(input: &[u8], tree: &Tree, chain: &[usize]) -> Option<Segment> {
    let (outermost, inner) = (*chain.first()?, *chain.last()?);
    let around = chain.windows(2).rev().map(|pair| {
        let (large, small) = (tree.nodes[pair[0]].range(), tree.nodes[pair[1]].range());
        ((&input[large.start..small.start], &input[small.end..large.end]), pair[1])
    });
    let short = around.filter(|((open, close), _)| open.len().max(close.len()) <= LONGEST);
    let ((open, close), _) = most_frequent(short, |_| 1)?;
    let middle = &input[tree.nodes[inner].range()];
    let range = tree.nodes[outermost].range();
    let rounds = range.len().saturating_sub(middle.len()) / (open.len() + close.len()).max(1);
    let pump = nest(open, middle, close);
    Some(Segment { range, pump, times: rounds.max(1) as u64, origin: Origin::Tree })
}

/// Lists: their most frequent item with the separator behind it.
fn lists(tree: &Tree) -> Vec<Segment> {
    let mut lists: Vec<usize> = (0..tree.nodes.len())
        .filter(|&place| tree.nodes[place].role == Role::List && tree.nodes[place].nodes > 1)
        .collect();
    lists.sort_by_key(|&place| (Reverse(tree.nodes[place].length), place));
    lists.truncate(MOST_LISTS);
    let mut all = Vec::new();
    for list in lists {
        let children: Vec<usize> = tree.children(list).collect();
        let is_item = |child: &usize| tree.nodes[*child].role != Role::Separator;
        let separator = children.iter().find(|child| !is_item(child)).map_or(&b""[..], |&child| tree.bytes_of(child));
        let items = children.iter().enumerate().filter(|(_, child)| is_item(child));
        let items = items.map(|(place, &child)| (tree.bytes_of(child), place));
        let short = items.filter(|(item, _)| (1..=LONGEST).contains(&item.len()));
        let Some((item, times)) = most_frequent(short, |item| item.len()) else { continue };
        let unit = [item, separator].concat();
        let range = tree.nodes[list].range();
        let rounds = if times * 2 > children.len() / 2 { range.len() / unit.len() } else { times };
        let pump = Pump::Repeat(vec![Part::Literal(unit)]);
        all.push(Segment { range, pump, times: rounds.max(1) as u64, origin: Origin::Tree });
    }
    all
}
