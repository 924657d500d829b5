//! Units that repeat without anything between: tandem repeats.
//!
//! Distances at which the same four bytes occur again are counted. The most frequent ones, and small ones, are tried as
//! periods: a maximal run in which each byte is the one a period before is a tandem repeat.

use std::{cmp::Reverse, ops::Range};

use super::{Origin, Pump, Segment, best_start, rank_of_start};
use crate::template::{Counter, Digits, Order, Part, Pick};

/// Longest unit in bytes.
const LONGEST: usize = 4096;

/// Number of periods that are tried.
const TRIED: usize = 16;

/// Periods that are always tried.
const SMALL: usize = 4;

/// Shortest run in bytes.
const LEAST_BYTES: usize = 4;

/// Number of runs for each period: the longest ones.
const MOST_RUNS: usize = 8;

/// Bits of the slots of the table of the last places of four bytes: at most these, fewer for short inputs, for which
/// clearing a large table would take longer than all else.
const LEAST_BITS: u32 = 8;
const MOST_BITS: u32 = 16;

/// Distances at which bytes of the input occur again, the most frequent first.
pub(super) fn periods(input: &[u8]) -> Vec<usize> {
    let bits = (2 * input.len() + 1).ilog2().clamp(LEAST_BITS, MOST_BITS);
    let longest = LONGEST.min(input.len());
    let mut last = vec![usize::MAX; 1 << bits];
    let mut often = vec![0_u32; longest.max(SMALL) + 1];
    for (at, four) in input.windows(4).enumerate() {
        let word = u32::from_le_bytes([four[0], four[1], four[2], four[3]]);
        let slot = (word.wrapping_mul(0x9e37_79b1) >> (32 - bits)) as usize;
        let before = std::mem::replace(&mut last[slot], at);
        if before != usize::MAX && at - before <= longest && input[before..before + 4] == *four {
            often[at - before] += 1;
        }
    }
    let mut periods: Vec<usize> = (1..=longest).filter(|&period| often[period] > 0).collect();
    periods.sort_by_key(|&period| (Reverse(often[period]), period));
    periods.truncate(TRIED);
    periods.extend((1..=SMALL).filter(|period| often[*period] == 0));
    periods.sort_unstable();
    periods.dedup();
    periods
}

/// Tandem repeats of the input with these periods.
pub(super) fn tandems(input: &[u8], periods: &[usize]) -> Vec<Segment> {
    let mut all = Vec::new();
    for &period in periods {
        let mut runs = runs(input, period);
        runs.retain(|run| is_primitive(&input[run.start..run.start + period]));
        runs.sort_by_key(|run| (Reverse(run.len()), run.start));
        runs.truncate(MOST_RUNS);
        for run in runs {
            let start = best_start(input, &run, period, run.len() / period - 1);
            let times = (run.end - start) / period;
            all.push(Segment::repeated(start..start + times * period, period, input, Origin::Tandem));
        }
    }
    all
}

/// Maximal ranges in which each byte is the one a period before. Units of up to 15 bytes occur three times or more,
/// longer ones twice.
fn runs(input: &[u8], period: usize) -> Vec<Range<usize>> {
    let least = if period < 16 { (3 * period).max(LEAST_BYTES) } else { 2 * period };
    let mut runs = Vec::new();
    let mut start = 0;
    let mut end_run = |start: usize, end: usize| {
        if end - start + period >= least {
            runs.push(start..end + period);
        }
    };
    let compared = input.len().saturating_sub(period);
    for (at, (one, other)) in input.iter().zip(&input[input.len() - compared..]).enumerate() {
        if one != other {
            if at > start {
                end_run(start, at);
            }
            start = at + 1;
        }
    }
    if compared > start {
        end_run(start, compared);
    }
    runs
}

/// Whether a unit is not itself a repetition.
pub(super) fn is_primitive(unit: &[u8]) -> bool {
    let length = unit.len();
    let divides = |part: usize| length.is_multiple_of(part) && unit[part..] == unit[..length - part];
    !(1..=length / 2).any(divides)
}

// Units that repeat but for a few columns, which become counters, or texts that are picked in turn.

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
pub(super) fn columns(input: &[u8], periods: &[usize]) -> Vec<Segment> {
    let mut all = Vec::new();
    for period in periods.iter().copied().filter(|&period| period >= LEAST_PERIOD) {
        let mut regions = regions(input, period);
        regions.sort_by_key(|region| (Reverse(region.len()), region.start));
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
    let key = |&at: &usize| (!has_own(at), rank_of_start(input, at), Reverse(at));
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

// Numbers of one, two or four bytes in a row that rise or fall.

const LEAST_NUMBERS: usize = 8;

/// Inputs whose numbers, of a size and byte order, rise or fall in nine of ten steps or are in any order.
pub(super) fn binary(input: &[u8]) -> Vec<Segment> {
    let mut all = Vec::new();
    for width in [1_u8, 2, 4] {
        let times = input.len() / usize::from(width);
        if times < LEAST_NUMBERS {
            continue;
        }
        for digits in [Digits::BigEndian, Digits::LittleEndian] {
            let numbers: Vec<u64> = input.chunks_exact(width.into()).map(|chunk| digits.read(chunk)).collect();
            let order = match order(&numbers) {
                Order::Shuffle(_) => not_against(&numbers),
                order => Some(order),
            };
            let Some(order) = order else { continue };
            // one byte counts to 255 only: wider numbers go on
            for wide in [width, 4] {
                let counter = Part::Counter(Counter { level: 0, width: wide, digits, order });
                let pump = Pump::Repeat(vec![counter]);
                let times = (input.len() / usize::from(wide)).max(1) as u64;
                let range = 0..times as usize * usize::from(wide);
                all.push(Segment { range, pump, times, origin: Origin::Binary });
            }
        }
    }
    all
}

/// The order that nine of ten steps are not against, if there is one.
fn not_against(numbers: &[u64]) -> Option<Order> {
    let steps = numbers.len().saturating_sub(1);
    let up = numbers.windows(2).filter(|pair| pair[0] < pair[1]).count();
    let down = numbers.windows(2).filter(|pair| pair[0] > pair[1]).count();
    if down * 10 <= steps && up * 5 >= steps {
        Some(Order::Up)
    } else if up * 10 <= steps && down * 5 >= steps {
        Some(Order::Down)
    } else {
        None
    }
}

// Runs of one byte that become longer by one each time, with the same bytes between them.

/// Least number of rounds.
const LEAST_ROUNDS: usize = 4;

/// Longest text between two runs, in bytes.
const LONGEST_BETWEEN: usize = 64;

/// Stairs of the input.
pub(super) fn stairs(input: &[u8]) -> Vec<Segment> {
    let mut often = [0_usize; 256];
    input.iter().for_each(|&byte| often[usize::from(byte)] += 1);
    let mut frequent: Vec<u8> = (0..=255).filter(|&byte| often[usize::from(byte)] * 4 >= input.len()).collect();
    frequent.sort_by_key(|&byte| Reverse(often[usize::from(byte)]));
    frequent.into_iter().filter_map(|byte| longest(input, byte)).collect()
}

/// The longest stair of runs of a byte.
fn longest(input: &[u8], step: u8) -> Option<Segment> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for at in (0..input.len()).filter(|&at| input[at] == step) {
        match runs.last_mut() {
            Some(last) if last.end == at => last.end = at + 1,
            _ => runs.push(at..at + 1),
        }
    }
    let between = |place: usize| &input[runs[place].end..runs[place + 1].start];
    let goes_on = |place: usize| {
        runs[place + 1].len() == runs[place].len() + 1
            && between(place).len() <= LONGEST_BETWEEN
            && (place == 0 || runs[place].len() == 1 || between(place - 1) == between(place))
    };
    let mut best: Range<usize> = 0..0;
    let mut start = 0;
    for place in 0..runs.len() {
        if place + 1 == runs.len() || !goes_on(place) {
            if place + 1 - start > best.len() {
                best = start..place + 1;
            }
            start = place + 1;
        }
    }
    if best.len() < LEAST_ROUNDS {
        return None;
    }
    let between = between(best.start).to_vec();
    // runs begin at one byte: those that are missing are no part of the input, but make the stair no steeper
    let stair = Part::Stair(vec![Part::Literal(vec![step])]);
    let body = vec![stair, Part::Literal(between.clone())];
    let end = runs[best.end - 1].end;
    let end = if input[end..].starts_with(&between) { end + between.len() } else { end };
    let range = runs[best.start].start..end;
    let times = runs[best.end - 1].len() as u64;
    Some(Segment { range, pump: Pump::Repeat(body), times, origin: Origin::Stairs })
}
