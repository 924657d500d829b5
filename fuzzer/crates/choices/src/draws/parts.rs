//! Parts of a log: what nested calls and loops of the generator have drawn.

use std::collections::HashMap;
use std::ops::Range;

use super::draw::{Draw, Kind};

/// Loops within loops of one function that are told apart.
const NESTED_LOOPS: usize = 4;

/// A part: draws that lie side by side in the log, made by one call or in one iteration of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Site of its first draw, with its bits inverted for an iteration that begins with a part in it. Parts of the same
    /// site can stand for each other.
    pub site: u64,
    /// Its draws, those of the parts in it included.
    pub draws: Range<usize>,
    /// The innermost part around it, if there is one: its place in the list of parts.
    pub parent: Option<usize>,
    /// Its place among those of the same site and parent, in order.
    pub sibling: usize,
    /// Number of those, itself included.
    pub siblings: usize,
    /// Whether it begins with the flag that says that a list has no more parts.
    pub ends_list: bool,
}

/// Parts of a log in the order of their first draws, each before the parts in it: those that the log names, and iterations
/// of loops, which are runs of draws of one part that begin with the same site. Any log will do.
pub(super) fn parts(draws: &[Draw]) -> Vec<Part> {
    let recorded = nest(recorded(draws).into_iter().map(|range| (draws[range.start].site, range)).collect());
    let named = nest(without_tails(draws, &recorded));
    let mut ranges = iterations(draws, &named);
    ranges.extend(named.into_iter().map(|part| (part.site, part.draws)));
    let mut parts = nest(ranges);
    let mut flags = HashMap::new();
    for part in &mut parts {
        let first = &draws[part.draws.start];
        if first.kind() == Some(Kind::Flip) {
            let goes_on = *flags.entry((part.parent, part.site)).or_insert(first.value);
            part.ends_list = part.sibling + 1 == part.siblings && first.value != goes_on;
        }
    }
    parts
}

/// Sites and ranges of parts. The last round of a loop ends where the one before it would: what its function draws after the
/// loop is told apart from it by nothing else.
fn without_tails(draws: &[Draw], parts: &[Part]) -> Vec<(u64, Range<usize>)> {
    let mut before = HashMap::new();
    let mut ranges = Vec::with_capacity(parts.len());
    for (at, part) in parts.iter().enumerate() {
        let mut range = part.draws.clone();
        let previous = before.insert((part.parent, part.site), range.clone());
        if let Some(previous) = previous.filter(|_| part.sibling + 1 == part.siblings)
            && previous.len() < range.len()
            && draws[previous.clone()].iter().zip(&draws[range.clone()]).all(|(one, other)| one.site == other.site)
        {
            let end = range.start + previous.len();
            let mut inside = parts[at + 1..].iter().take_while(|inner| inner.draws.start < end);
            if inside.all(|inner| inner.draws.end <= end) {
                range.end = end;
            }
        }
        ranges.push((part.site, range));
    }
    ranges
}

/// Ranges of the parts that the log names.
fn recorded(draws: &[Draw]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    // parts that are not over: their places in `ranges`, and their depths
    let mut open: Vec<(usize, u16)> = Vec::new();
    for (at, draw) in draws.iter().enumerate() {
        let first = draw.part as usize;
        if first == at && draw.depth > 0 {
            while open.last().is_some_and(|&(_, depth)| depth >= draw.depth) {
                let (over, _) = open.pop().unwrap_or_default();
                ranges[over].end = at;
            }
            open.push((ranges.len(), draw.depth));
            ranges.push(at..draws.len());
        } else if draw.depth == 0 || open.iter().any(|&(part, _)| ranges[part].start == first) {
            while let Some(&(part, _)) = open.last()
                && (draw.depth == 0 || ranges[part].start != first)
            {
                ranges[part].end = at;
                open.pop();
            }
        }
        if draw.kind() == Some(Kind::Close)
            && let Some((over, _)) = open.pop()
        {
            ranges[over].end = at + 1;
        }
    }
    ranges
}

/// Parts of these sites and ranges, any two of which are apart or one in the other.
fn nest(mut ranges: Vec<(u64, Range<usize>)>) -> Vec<Part> {
    ranges.sort_unstable_by_key(|(site, range)| (range.start, std::cmp::Reverse(range.end), *site));
    ranges.dedup_by(|one, other| one.1 == other.1);
    let mut parts: Vec<Part> = Vec::with_capacity(ranges.len());
    let mut around: Vec<usize> = Vec::new();
    let mut siblings: HashMap<(Option<usize>, u64), usize> = HashMap::new();
    for (site, range) in ranges {
        while around.last().is_some_and(|&part: &usize| parts[part].draws.end <= range.start) {
            around.pop();
        }
        let parent = around.last().copied();
        let count = siblings.entry((parent, site)).or_default();
        around.push(parts.len());
        parts.push(Part { site, draws: range, parent, sibling: *count, siblings: 0, ends_list: false });
        *count += 1;
    }
    for part in &mut parts {
        part.siblings = siblings[&(part.parent, part.site)];
    }
    parts
}

/// A draw of a part outside of the parts in it, or such a part.
struct Item {
    /// Site of the draw, or of the part with its bits inverted.
    site: u64,
    draws: Range<usize>,
}

/// Sites and ranges of the iterations of loops in each of the parts, and outside of all.
fn iterations(draws: &[Draw], parts: &[Part]) -> Vec<(u64, Range<usize>)> {
    let mut items: Vec<Vec<Item>> = parts.iter().map(|_| Vec::new()).collect();
    let mut outside = Vec::new();
    let mut next = 0;
    let mut at = 0;
    // innermost part around the draw `at`
    let mut inner: Option<usize> = None;
    while at < draws.len() {
        while let Some(part) = inner
            && parts[part].draws.end <= at
        {
            inner = parts[part].parent;
        }
        while next < parts.len() && parts[next].draws.start == at {
            let list = inner.map_or(&mut outside, |part| &mut items[part]);
            list.push(Item { site: !parts[next].site, draws: parts[next].draws.clone() });
            inner = Some(next);
            next += 1;
        }
        let list = inner.map_or(&mut outside, |part| &mut items[part]);
        list.push(Item { site: draws[at].site, draws: at..at + 1 });
        at += 1;
    }
    let mut found = Vec::new();
    for items in items.iter().chain([&outside]) {
        loops(items, &mut found);
    }
    found
}

/// Finds the iterations of the loops that these items come from.
fn loops(items: &[Item], found: &mut Vec<(u64, Range<usize>)>) {
    // place of the next item of the same site
    let mut next = vec![usize::MAX; items.len()];
    let mut seen = HashMap::new();
    for (at, item) in items.iter().enumerate().rev() {
        next[at] = seen.insert(item.site, at).unwrap_or(usize::MAX);
    }
    let mut work = vec![(0..items.len(), 0)];
    while let Some((range, level)) = work.pop() {
        let mut at = range.start;
        while at < range.end {
            if next[at] >= range.end {
                at += 1;
                continue;
            }
            let mut previous = at..at;
            while next[at] < range.end {
                previous = at..next[at];
                found.push((items[at].site, items[at].draws.start..items[previous.end - 1].draws.end));
                if level < NESTED_LOOPS && previous.len() > 2 {
                    work.push((at + 1..previous.end, level + 1));
                }
                at = next[at];
            }
            // where the last one ends is not known: it counts if it goes as the one before it
            let last = at..at + previous.len();
            let is_alike = last.end <= range.end
                && last.clone().zip(previous).all(|(one, other)| items[one].site == items[other].site);
            if is_alike {
                if level < NESTED_LOOPS && last.len() > 2 {
                    work.push((at + 1..last.end, level + 1));
                }
                found.push((items[at].site, items[at].draws.start..items[last.end - 1].draws.end));
                at = last.end;
            } else {
                at += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws of these sites, parts and depths.
    fn run(draws: &[(u64, u32, u16)]) -> Vec<Draw> {
        draws.iter().map(|&(site, part, depth)| Draw { site, part, depth, ..Draw::default() }).collect()
    }

    fn ranges(draws: &[Draw]) -> Vec<Range<usize>> {
        parts(draws).into_iter().map(|part| part.draws).collect()
    }

    #[test]
    fn parts_are_those_that_the_log_names() {
        // f(g() g()) and a draw outside of all
        let draws = run(&[(1, 0, 1), (2, 1, 2), (3, 1, 2), (2, 3, 2), (3, 3, 2), (4, 0, 1), (9, 0, 0)]);
        let parts = parts(&draws);
        let told: Vec<_> = parts.iter().map(|part| (part.draws.clone(), part.parent, part.sibling)).collect();
        assert_eq!(told, [(0..6, None, 0), (1..3, Some(0), 0), (3..5, Some(0), 1)]);
        assert_eq!(parts[1].siblings, 2);
    }

    #[test]
    fn a_named_part_ends_where_it_is_closed() {
        let mut draws = run(&[(1, 0, 1), (2, 0, 1), (3, 0, 1), (4, 0, 1)]);
        draws[0].kind = Kind::Open as u8;
        draws[2].kind = Kind::Close as u8;
        let parts = ranges(&draws);
        assert_eq!((parts.len(), &parts[0]), (1, &(0..3)));
    }

    #[test]
    fn iterations_of_a_loop_are_parts_and_the_flag_that_ends_it_is_none() {
        let sites = |sites: &[u64]| run(&sites.iter().map(|&site| (site, 0, 0)).collect::<Vec<_>>());
        // options, two iterations of different length, the flag that ends them, and more
        assert_eq!(ranges(&sites(&[1, 2, 5, 6, 5, 6, 7, 5, 3])), [2..4, 4..7]);
        // counted: the last iteration goes as the one before it
        assert_eq!(ranges(&sites(&[1, 5, 6, 5, 6, 3])), [1..3, 3..5]);
        // a loop in a loop
        assert_eq!(ranges(&sites(&[1, 2, 3, 3, 1, 2, 3, 3])), [0..4, 2..3, 3..4, 4..8, 6..7, 7..8]);
    }

    #[test]
    fn what_follows_a_loop_is_no_part_of_its_last_round() {
        // three rounds of two draws, and two draws more
        let rounds = [(1, 0, 1), (2, 0, 1), (1, 2, 1), (2, 2, 1), (1, 4, 1), (2, 4, 1), (8, 4, 1), (9, 4, 1)];
        assert_eq!(ranges(&run(&rounds)), [0..2, 2..4, 4..6]);
    }

    #[test]
    fn a_flag_of_another_value_ends_a_list() {
        let mut draws = run(&[(1, 0, 1), (2, 0, 1), (1, 2, 1), (2, 2, 1), (1, 4, 1), (8, 4, 1)]);
        for (at, value) in [(0, 1), (2, 1), (4, 0)] {
            (draws[at].kind, draws[at].value) = (Kind::Flip as u8, value);
        }
        let ends = |draws: &[Draw]| parts(draws).iter().map(|part| part.ends_list).collect::<Vec<_>>();
        assert_eq!(ends(&draws), [false, false, true]);
        draws[4].value = 1;
        assert_eq!(ends(&draws), [false, false, false]);
    }

    #[test]
    fn a_part_of_the_same_site_as_a_draw_is_no_iteration_with_it() {
        let draws = run(&[(1, 0, 1), (2, 0, 1), (1, 2, 2), (1, 3, 2)]);
        assert_eq!(ranges(&draws), [0..4, 2..3, 3..4]);
    }
}
