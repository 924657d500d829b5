//! Parts of an input that the input which it comes from does not have.

use super::{Origin, Segment};

/// The bytes between the longest common start and end of both, and the same with its next neighbours.
pub(super) fn segments(input: &[u8], other: &[u8]) -> Vec<Segment> {
    let start = input.iter().zip(other).take_while(|(one, other)| one == other).count();
    let room = input.len().min(other.len()) - start;
    let end = input.iter().rev().zip(other.iter().rev()).take(room).take_while(|(one, other)| one == other).count();
    let range = start..input.len() - end;
    if range.is_empty() {
        return Vec::new();
    }
    vec![Segment::repeated(range.clone(), range.len(), input, Origin::Difference)]
}
