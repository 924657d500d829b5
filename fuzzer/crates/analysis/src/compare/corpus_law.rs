//! Growth over the inputs as they are: where a corpus has inputs of many sizes and none of them repeats anything, their own sizes
//! tell whether the cost of a function grows faster than it did.

use super::{law::WORSE, subject::Subject};
use quagmire_results::comparison::{LawChange, LawPoint};

/// Fewest inputs, and the factor that their sizes have to span.
const LEAST_INPUTS: usize = 6;
const LEAST_SPAN: f64 = 8.0;
/// Smallest correlation of the logarithms of size and cost: inputs of one kind.
const LEAST_CORRELATION: f64 = 0.95;

/// Size and the instructions of both builds, of one input.
type Point = (u64, u64, u64);

/// The growth of a function that is worse over these inputs, and the largest of them, which has to confirm it.
pub(super) fn worse(subjects: &[Subject], function: &str) -> Option<(usize, LawChange)> {
    let mut points: Vec<(usize, Point)> = Vec::new();
    for (index, subject) in subjects.iter().enumerate().filter(|(_, one)| one.evidence.unstable.is_none()) {
        let Some((old, new)) = subject.evidence.both() else { continue };
        let amount = |costs: &quagmire_execution::lines::SourceCosts| {
            costs.functions.iter().find(|one| one.function == function).map_or(0, |one| one.instructions)
        };
        points.push((index, (subject.bytes.len() as u64, amount(&old.source), amount(&new.source))));
    }
    points.retain(|(_, (bytes, old, new))| *bytes > 0 && *old > 0 && *new > 0);
    points.sort_by_key(|(_, (bytes, ..))| *bytes);
    let (first, last) = (points.first()?, points.last()?);
    let of_size: Vec<Point> = points.iter().map(|(_, point)| *point).collect();
    let (old_exponent, new_exponent) = exponents(&of_size)?;
    let is_wide = last.1.0 as f64 >= LEAST_SPAN * first.1.0 as f64;
    if !is_wide || new_exponent - old_exponent < WORSE {
        return None;
    }
    let point = |&(bytes, old, new): &Point| LawPoint { repetitions: bytes, bytes, old, new };
    Some((
        last.0,
        LawChange {
            pump: String::new(),
            template: String::new(),
            function: Some(function.to_owned()),
            old_exponent,
            new_exponent,
            sizes: of_size.iter().map(point).collect(),
        },
    ))
}

/// Exponents of the growth of both builds, if size explains what the new one costs.
fn exponents(points: &[Point]) -> Option<(f64, f64)> {
    let mut sizes: Vec<u64> = points.iter().map(|(bytes, ..)| *bytes).collect();
    sizes.dedup();
    if sizes.len() < LEAST_INPUTS {
        return None;
    }
    let of = |amount: fn(&Point) -> u64| {
        let logarithms: Vec<(f64, f64)> =
            points.iter().map(|point| ((point.0 as f64).ln(), (amount(point) as f64).ln())).collect();
        slope(&logarithms)
    };
    let ((old, _), (new, correlation)) = (of(|point| point.1), of(|point| point.2));
    (correlation >= LEAST_CORRELATION).then_some((old, new))
}

/// Slope of the line through points by least squares, and their correlation.
fn slope(points: &[(f64, f64)]) -> (f64, f64) {
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let sum = |of: &dyn Fn(f64, f64) -> f64| points.iter().map(|point| of(point.0 - x, point.1 - y)).sum::<f64>();
    let (xx, yy, xy) = (sum(&|x, _| x * x), sum(&|_, y| y * y), sum(&|x, y| x * y));
    (xy / xx.max(f64::MIN_POSITIVE), xy / (xx * yy).sqrt().max(f64::MIN_POSITIVE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(old: impl Fn(f64) -> f64, new: impl Fn(f64) -> f64) -> Vec<Point> {
        let sizes = [90_u64, 170, 400, 410, 900, 1_700, 3_000];
        sizes.into_iter().map(|size| (size, old(size as f64) as u64, new(size as f64) as u64)).collect()
    }

    #[test]
    fn sizes_of_a_corpus_tell_the_exponents() {
        let (old, new) = exponents(&points(|n| 30.0 * n, |n| n * n / 3.0)).expect("exponents");
        assert!((old - 1.0).abs() < 0.05 && (new - 2.0).abs() < 0.05, "{old} {new}");
        let (old, new) = exponents(&points(|n| 30.0 * n, |n| 90.0 * n)).expect("exponents");
        assert!((new - old).abs() < 0.05, "{old} {new}");
    }

    #[test]
    fn inputs_of_many_kinds_or_of_few_sizes_tell_nothing() {
        let mixed = |n: f64| if (n as u64).is_multiple_of(20) { 10.0 } else { n * n };
        assert_eq!(exponents(&points(|n| n, mixed)), None);
        assert_eq!(exponents(&points(|n| n, |n| n * n)[..5]), None);
    }
}
