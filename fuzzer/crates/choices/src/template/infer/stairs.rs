//! Runs of one byte that become longer by one each time, with the same bytes between them.

use std::ops::Range;

use super::{Origin, Pump, Segment};
use crate::template::Part;

/// Least number of rounds.
const LEAST_ROUNDS: usize = 4;

/// Longest text between two runs, in bytes.
const LONGEST_BETWEEN: usize = 64;

/// Stairs of the input.
pub(super) fn segments(input: &[u8]) -> Vec<Segment> {
    let mut often = [0_usize; 256];
    input.iter().for_each(|&byte| often[usize::from(byte)] += 1);
    let mut frequent: Vec<u8> = (0..=255).filter(|&byte| often[usize::from(byte)] * 4 >= input.len()).collect();
    frequent.sort_by_key(|&byte| std::cmp::Reverse(often[usize::from(byte)]));
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
