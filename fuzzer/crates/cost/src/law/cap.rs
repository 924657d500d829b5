//! Plateaus: amounts that grow up to a size and stay the same from there on.

use super::Point;

/// Amounts of a plateau differ by less than this part.
const FLAT: f64 = 0.005;
/// A plateau has at least as many sizes, and spans at least this factor.
const LEAST_SIZES: usize = 3;
const LEAST_SPAN: f64 = 2.5;
/// The amounts below a plateau have grown by at least this factor: a logarithm of two neighbouring sizes has not.
const LEAST_GROWTH: f64 = 1.5;

/// The number of points in front of the plateau in which a series ends, if it ends in one that it has grown to.
pub fn before_plateau(points: &[Point]) -> Option<usize> {
    let last = points.last()?.amount as f64;
    let room = (last * FLAT).max(1.0);
    let flat = points.iter().rev().take_while(|point| (point.amount as f64 - last).abs() <= room).count();
    let before = points.len() - flat;
    let span = points.last()?.size as f64 / points[before].size.max(1) as f64;
    let grown = last / points.first()?.amount.max(1) as f64;
    (before > 0 && flat >= LEAST_SIZES && span >= LEAST_SPAN && grown >= LEAST_GROWTH).then_some(before)
}
