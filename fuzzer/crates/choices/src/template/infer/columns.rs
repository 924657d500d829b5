//! Units that repeat but for a few columns, which become counters, or texts that are picked in turn.

use std::ops::Range;

use super::{Origin, Pump, Segment, segment::rank_of_start};
use crate::template::{Counter, Digits, Order, Part, Pick};

/// Smallest period: a shorter unit with columns that differ has nothing that stays.
const LEAST_PERIOD: usize = 3;

/// Least number of units.
const LEAST_UNITS: usize = 4;

/// Ranges of columns that differ, in one unit.
const MOST_GROUPS: usize = 4;

/// Least width of a counter of decimal digits, so that it lasts for a million rounds.
const LEAST_WIDTH: usize = 6;

/// Regions for each period.
const MOST_REGIONS: usize = 4;

/// Units of these periods with columns that differ.
pub(super) fn segments(input: &[u8], periods: &[usize]) -> Vec<Segment> {
    let mut all = Vec::new();
    for period in periods.iter().copied().filter(|&period| period >= LEAST_PERIOD) {
        let mut regions = regions(input, period);
        regions.sort_by_key(|region| (std::cmp::Reverse(region.len()), region.start));
        for region in regions.into_iter().take(MOST_REGIONS) {
            add(input, region, period, &mut all);
        }
    }
    all
}

/// Ranges in which at least half of the bytes of each unit are those a period before.
fn regions(input: &[u8], period: usize) -> Vec<Range<usize>> {
    let compared = input.len().saturating_sub(period);
    if compared < period {
        return Vec::new();
    }
    let is_same = |at: usize| input[at] == input[at + period];
    let mut same = (0..period).filter(|&at| is_same(at)).count();
    let mut regions: Vec<Range<usize>> = Vec::new();
    for at in 0..=compared - period {
        if at > 0 {
            same = same + usize::from(is_same(at + period - 1)) - usize::from(is_same(at - 1));
        }
        if 2 * same >= period {
            let end = at + 2 * period;
            match regions.last_mut() {
                Some(last) if last.end + 1 == end => last.end = end,
                _ => regions.push(at..end),
            }
        }
    }
    regions.retain(|region| region.len() >= LEAST_UNITS * period);
    regions
}

fn add(input: &[u8], region: Range<usize>, period: usize, all: &mut Vec<Segment>) {
    let Some(start) = start(input, &region, period) else { return };
    let times = (region.end - start) / period;
    let range = start..start + times * period;
    let units: Vec<&[u8]> = input[range.clone()].chunks_exact(period).collect();
    let differs: Vec<bool> = (0..period).map(|column| !is_constant(&units, column)).collect();
    let mut groups: Vec<Range<usize>> = groups(&differs);
    groups.iter_mut().for_each(|group| take_zeros(&units, group));
    let columns: usize = groups.iter().map(Range::len).sum();
    if groups.is_empty() || groups.len() > MOST_GROUPS || columns * 2 > period {
        return;
    }
    let mut push = |value: &dyn Fn(&Range<usize>) -> Part| {
        let mut body = Vec::new();
        let mut end = 0;
        for group in &groups {
            body.push(Part::Literal(units[0][end..group.start].to_vec()));
            body.push(value(group));
            end = group.end;
        }
        body.push(Part::Literal(units[0][end..].to_vec()));
        let times = times as u64;
        all.push(Segment { range: range.clone(), pump: Pump::Repeat(body), times, origin: Origin::Columns });
    };
    push(&|group| counter(&units, group));
    push(&|group| pick(&units, group));
    push(&|group| Part::Literal(units[0][group.clone()].to_vec()));
}

/// The place at which units begin: not between two columns that differ, if possible with a first unit that has no byte
/// of its own, and else where it reads best.
fn start(input: &[u8], region: &Range<usize>, period: usize) -> Option<usize> {
    // as few bytes of their own as a column has that stays
    let differs = |at: usize| {
        let column = || (at..region.end).step_by(period).map(|place| input[place]);
        let other = column().filter(|&byte| byte != input[at + period]).count();
        other * 10 > column().count()
    };
    let places = region.start..region.start + period;
    let varies: Vec<bool> = places.clone().map(differs).collect();
    let is_split = |at: usize| {
        let column = at - region.start;
        varies[column] && varies[(column + period - 1) % period]
    };
    let is_own = |at: usize| {
        let next = [input[at + period], input[at + 2 * period]];
        !varies[(at - region.start) % period] && next[0] == next[1] && next[0] != input[at]
    };
    let has_own = |start: usize| (start..start + period).any(is_own);
    let key = |&at: &usize| (!has_own(at), rank_of_start(input, at), std::cmp::Reverse(at));
    places.filter(|&at| !is_split(at)).max_by_key(key)
}

/// Whether a column is the same in at least nine of ten units.
fn is_constant(units: &[&[u8]], column: usize) -> bool {
    let mut often = [0_usize; 256];
    units.iter().for_each(|unit| often[usize::from(unit[column])] += 1);
    often.iter().max().is_some_and(|most| most * 10 >= units.len() * 9)
}

/// Adds the zeros in front of numbers to their columns.
fn take_zeros(units: &[&[u8]], group: &mut Range<usize>) {
    let is_number = units.iter().all(|unit| unit[group.clone()].iter().all(u8::is_ascii_digit));
    while is_number && group.start > 0 && units.iter().all(|unit| unit[group.start - 1] == b'0') {
        group.start -= 1;
    }
}

/// Ranges of columns that differ.
fn groups(differs: &[bool]) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    for column in (0..differs.len()).filter(|&column| differs[column]) {
        match groups.last_mut() {
            Some(last) if last.end == column => last.end = column + 1,
            _ => groups.push(column..column + 1),
        }
    }
    groups
}

/// A counter in place of texts: digits and order are those of the texts.
fn counter(units: &[&[u8]], group: &Range<usize>) -> Part {
    let texts: Vec<&[u8]> = units.iter().map(|unit| &unit[group.clone()]).collect();
    let all = |is: fn(&u8) -> bool| texts.iter().all(|text| text.iter().all(is));
    let digits = if all(u8::is_ascii_digit) {
        Digits::Decimal
    } else if all(u8::is_ascii_hexdigit) {
        Digits::Hexadecimal
    } else if all(|byte| byte.is_ascii_graphic()) {
        Digits::Letters
    } else {
        Digits::BigEndian
    };
    let width = if digits == Digits::BigEndian { group.len() } else { group.len().max(LEAST_WIDTH) };
    Part::Counter(Counter { level: 0, width: width.min(20) as u8, digits, order: order(&texts) })
}

/// Order of texts: up or down if nine of ten steps are.
pub(super) fn order<T: Ord>(texts: &[T]) -> Order {
    let steps = texts.len().saturating_sub(1);
    let up = texts.windows(2).filter(|pair| pair[0] < pair[1]).count();
    let down = texts.windows(2).filter(|pair| pair[0] > pair[1]).count();
    if up * 10 >= steps * 9 {
        Order::Up
    } else if down * 10 >= steps * 9 {
        Order::Down
    } else {
        Order::Shuffle(1)
    }
}

/// The texts themselves, in turn.
fn pick(units: &[&[u8]], group: &Range<usize>) -> Part {
    let choices = units.iter().map(|unit| unit[group.clone()].to_vec()).collect();
    Part::Pick(Pick { file: None, choices })
}
