//! Units that repeat without anything between: tandem repeats.
//!
//! Distances at which the same four bytes occur again are counted. The most frequent ones, and small ones, are tried as
//! periods: a maximal run in which each byte is the one a period before is a tandem repeat.

use std::ops::Range;

use super::{Origin, Segment, segment::best_start};

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
    periods.sort_by_key(|&period| (std::cmp::Reverse(often[period]), period));
    periods.truncate(TRIED);
    periods.extend((1..=SMALL).filter(|period| often[*period] == 0));
    periods.sort_unstable();
    periods.dedup();
    periods
}

/// Tandem repeats of the input with these periods.
pub(super) fn segments(input: &[u8], periods: &[usize]) -> Vec<Segment> {
    let mut all = Vec::new();
    for &period in periods {
        let mut runs = runs(input, period);
        runs.retain(|run| is_primitive(&input[run.start..run.start + period]));
        runs.sort_by_key(|run| (std::cmp::Reverse(run.len()), run.start));
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
