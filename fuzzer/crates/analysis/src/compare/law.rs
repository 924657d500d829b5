//! Whether cost grows faster with size than it did.
//!
//! A template of an input is run at sizes of ratio 1.7 in both builds, and the exponents of the growth at the largest sizes are
//! compared. They are those of increments: what a run costs at any size does not bend them. Where a corpus has inputs of many
//! sizes and none of them repeats anything, their own sizes tell.

use super::{
    builds::Pair,
    moved,
    subject::Subject,
    times::{Limits, Times},
};
use crate::runner::{Detail, Run};
use quagmire_base::error::Result;
use quagmire_choices::template::{self, Part, Template, candidates};
use quagmire_cost::resource::Resource;
use quagmire_execution::lines::SourceCosts;
use quagmire_results::comparison::{LawChange, LawPoint};

/// Ratio of neighbouring sizes: no power of two, at which tables and buffers double.
const RATIO: f64 = 1.7;
/// Sizes that are run at most.
const MOST_SIZES: usize = 14;
/// Sizes at the end that exponents are taken of.
const TAIL: usize = 6;
/// Repetitions at the smallest size.
const LEAST_REPETITIONS: u64 = 4;
/// Smallest input that is of interest, in bytes that repeat.
const LEAST_BYTES: u64 = 64;
/// Ratio of costs below which a larger size costs no more: the program does not look at all of it.
const FLAT: f64 = 1.02;
/// Seconds of a run after which there is no larger size.
const LONG: f64 = 0.25;
/// Difference of exponents that is another law. n log n differs from n by 0.1 to 0.2 at sizes that are run, and a change of
/// lower terms by less than that.
pub(super) const WORSE: f64 = 0.3;
/// Functions that are looked at.
const FUNCTIONS: usize = 5;
/// Growth of the ratio of increments that a function's other law has to cause in the whole program.
const RISES: f64 = 1.1;
/// Largest p-value of the times at the largest size.
pub(super) const CONFIRMED: f64 = 0.01;

/// Growth of an input's cost that is worse in the new build; `None` if none was found.
pub(super) fn worse(pair: &mut Pair, input: &[u8], capacity: usize, limits: &Limits) -> Result<Option<LawChange>> {
    for template in templates(pair, input, capacity)? {
        let sizes = run_sizes(pair, &template, capacity)?;
        if let Some(found) = compare(pair, &template, &sizes, limits)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Runs of both builds at one size.
struct Size {
    repetitions: u64,
    input: Vec<u8>,
    old: Run,
    new: Run,
}

impl Size {
    fn total(&self) -> (u64, u64) {
        (self.old.cost[Resource::Instructions], self.new.cost[Resource::Instructions])
    }
}

/// Runs a template at sizes that rise, until runs take long, end early, or there is no room.
fn run_sizes(pair: &mut Pair, template: &Template, capacity: usize) -> Result<Vec<Size>> {
    let unit = template.size(2).saturating_sub(template.size(1)).max(1);
    let least = LEAST_REPETITIONS.max(LEAST_BYTES.div_ceil(unit));
    let mut sizes: Vec<Size> = Vec::new();
    for step in 0..MOST_SIZES {
        let repetitions = (least as f64 * RATIO.powi(step as i32)).round() as u64;
        let Ok(input) = template.render(repetitions, capacity as u64) else { break };
        let (before, now) = pair.run(&input, Detail::Cost)?;
        if !before.came_back() || !now.came_back() {
            break;
        }
        let is_long = before.seconds.max(now.seconds) > LONG;
        sizes.push(Size { repetitions, input, old: before, new: now });
        if is_long || is_capped(&sizes) {
            break;
        }
    }
    if is_capped(&sizes) {
        // the size before may already be beyond the cap in part
        sizes.truncate(sizes.len() - 2);
    }
    Ok(sizes)
}

/// Whether the largest size costs neither build more than the one before: the law ends there.
fn is_capped(sizes: &[Size]) -> bool {
    let [.., before, last] = sizes else { return false };
    let is_flat = |before: u64, now: u64| (now as f64) < FLAT * before as f64;
    let ((old_before, new_before), (old, new)) = (before.total(), last.total());
    is_flat(old_before, old) && is_flat(new_before, new)
}

/// Compares growth, in the whole program and in the functions that grew most. What is worse is confirmed in new processes
/// and by CPU time at the largest size.
fn compare(pair: &mut Pair, template: &Template, sizes: &[Size], limits: &Limits) -> Result<Option<LawChange>> {
    let tail = &sizes[sizes.len().saturating_sub(TAIL)..];
    let bytes: Vec<usize> = tail.iter().map(|size| size.input.len()).collect();
    let (before, now): (Vec<u64>, Vec<u64>) = tail.iter().map(Size::total).unzip();
    let Some((&was, &is)) = before.last().zip(now.last()) else { return Ok(None) };
    if tail.len() < TAIL || (is as f64) < limits.threshold * was as f64 {
        return Ok(None);
    }
    let mut found = Exponents::of(&bytes, &before, &now).filter(Exponents::are_worse).map(|found| (found, None));
    if found.is_none() && rises(&before, &now) {
        found = function(pair, tail)?;
    }
    let Some((exponents, function)) = found else { return Ok(None) };
    // in new processes, and by CPU time
    let Some(largest) = tail.last() else { return Ok(None) };
    if !pair.repeats(&largest.input, (&largest.old, &largest.new), false)? {
        return Ok(None);
    }
    let usual = largest.old.seconds.min(largest.new.seconds);
    let times = Times::measure(pair, &largest.input, usual, limits)?;
    if times.is_none_or(|times| times.p_value() > CONFIRMED) {
        return Ok(None);
    }
    let point = |size: &Size| LawPoint {
        repetitions: size.repetitions,
        bytes: size.input.len() as u64,
        old: size.total().0,
        new: size.total().1,
    };
    Ok(Some(LawChange {
        pump: template.pump(),
        template: template.to_string(),
        function,
        old_exponent: exponents.old,
        new_exponent: exponents.new,
        sizes: sizes.iter().map(point).collect(),
    }))
}

/// The function whose growth is worse, and by how much.
fn function(pair: &mut Pair, tail: &[Size]) -> Result<Option<(Exponents, Option<String>)>> {
    let mut runs: Vec<(SourceCosts, SourceCosts)> = Vec::new();
    for Size { input, .. } in tail {
        let (old, new) = pair.run(input, Detail::Source)?;
        runs.push((old.source, new.source));
    }
    let bytes: Vec<usize> = tail.iter().map(|size| size.input.len()).collect();
    let Some((before, now)) = runs.last() else { return Ok(None) };
    for one in moved::between(before, now).into_iter().take(FUNCTIONS).filter(moved::has_grown) {
        let (was, is): (Vec<u64>, Vec<u64>) =
            runs.iter().map(|(old, new)| (amount(old, &one.function), amount(new, &one.function))).unzip();
        if let Some(exponents) = Exponents::of(&bytes, &was, &is).filter(Exponents::are_worse) {
            return Ok(Some((exponents, Some(one.function))));
        }
    }
    Ok(None)
}

/// Instructions of a function.
fn amount(costs: &SourceCosts, function: &str) -> u64 {
    costs.functions.iter().find(|one| one.function == function).map_or(0, |one| one.instructions)
}

/// Exponents of the growth of both builds at the largest sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Exponents {
    old: f64,
    new: f64,
    /// Those one size before, since one size alone may be where a table grows.
    before: (f64, f64),
}

impl Exponents {
    /// `None` with fewer than [`TAIL`] sizes, or if the new build does not grow.
    fn of(sizes: &[usize], old: &[u64], new: &[u64]) -> Option<Self> {
        let at = |back: usize| {
            let last = sizes.len().checked_sub(back + 1)?;
            let is = exponent(sizes, new, last)?;
            // what does not grow has the exponent of a constant
            Some((exponent(sizes, old, last).unwrap_or(0.0), is))
        };
        let (last, before) = (at(0)?, at(1)?);
        Some(Self { old: last.0, new: last.1, before })
    }

    fn are_worse(&self) -> bool {
        self.new - self.old >= WORSE && self.before.1 - self.before.0 >= WORSE
    }
}

/// Exponent of the growth up to a size: of two increments in a row, each over two sizes. `None` if there are none.
fn exponent(sizes: &[usize], amounts: &[u64], last: usize) -> Option<f64> {
    let (first, middle) = (last.checked_sub(4)?, last - 2);
    let increment = |from: usize, to: usize| amounts[to].checked_sub(amounts[from]).filter(|more| *more > 0);
    let (lower, upper) = (increment(first, middle)?, increment(middle, last)?);
    let widths = (sizes[last] - sizes[middle]) as f64 / (sizes[middle] - sizes[first]) as f64;
    Some((upper as f64 / lower as f64).ln() / widths.ln())
}

/// Whether increments of the new build rise against those of the old one.
fn rises(old: &[u64], new: &[u64]) -> bool {
    let increment = |amounts: &[u64], from: usize, to: usize| amounts[to].saturating_sub(amounts[from]) as f64;
    let last = old.len() - 1;
    let ratio = |from: usize, to: usize| increment(new, from, to) / increment(old, from, to).max(1.0);
    last >= 4 && ratio(last - 2, last) >= RISES * ratio(last - 4, last - 2)
}

/// Candidates that are run once in each build.
const CANDIDATES: usize = 24;
/// Templates that are run at many sizes.
const MOST_TEMPLATES: usize = 4;
/// Longest part that is repeated although it repeats nothing, in bytes.
const LONGEST_EXCERPT: usize = 128;

/// Templates of an input, at most four: those on which the new build is worst beside the old one at the size
/// of the input.
fn templates(pair: &mut Pair, input: &[u8], capacity: usize) -> Result<Vec<Template>> {
    let inferred = candidates(&template::Evidence { input, ..template::Evidence::default() }, CANDIDATES);
    let inferred = inferred.into_iter().map(|one| (one.template, one.n));
    let mut tried: Vec<(Template, f64)> = Vec::new();
    for (template, n) in inferred.chain(excerpts(input)) {
        let Ok(made) = template.render(n, capacity as u64) else { continue };
        let (before, now) = pair.run(&made, Detail::Cost)?;
        if before.came_back() && now.came_back() && tried.iter().all(|(known, _)| *known != template) {
            let [before, now] = [before, now].map(|run| run.cost[Resource::Instructions].max(1) as f64);
            tried.push((template, now / before));
        }
    }
    tried.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    tried.truncate(MOST_TEMPLATES);
    Ok(tried.into_iter().map(|(template, _)| template).collect())
}

/// A part of the middle of an input between a short beginning and end, and its beginning: both repeated up to the size of the
/// input. They are short, whatever the input is, since sizes have to rise a hundredfold.
fn excerpts(input: &[u8]) -> Vec<(Template, u64)> {
    let length = input.len();
    let edge = (length / 4).min(LONGEST_EXCERPT / 2);
    let start = edge.max(length / 2 - (length / 4).min(LONGEST_EXCERPT / 2));
    let middle = &input[start..(start + LONGEST_EXCERPT).min(length - edge)];
    let parts = [(&input[..edge], middle, &input[length - edge..]), (&[], &input[..length.min(LONGEST_EXCERPT)], &[])];
    let template = |(first, unit, last): (&[u8], &[u8], &[u8])| {
        let body = vec![Part::Literal(unit.to_vec())];
        let parts = [
            Part::Literal(first.to_vec()),
            Part::Repeat { times: template::Times::N, body },
            Part::Literal(last.to_vec()),
        ];
        let template = Template::new(parts.to_vec()).ok().filter(Template::scales)?;
        let n = template.n_for_size(length as u64);
        Some((template, n))
    };
    parts.into_iter().filter_map(template).collect()
}

/// Fewest inputs, and the factor that their sizes have to span.
const LEAST_INPUTS: usize = 6;
const LEAST_SPAN: f64 = 8.0;
/// Smallest correlation of the logarithms of size and cost: inputs of one kind.
const LEAST_CORRELATION: f64 = 0.95;

/// Size and the instructions of both builds, of one input.
type Point = (u64, u64, u64);

/// The growth of a function that is worse over these inputs, and the largest of them, which has to confirm it.
pub(super) fn worse_over_corpus(subjects: &[Subject], function: &str) -> Option<(usize, LawChange)> {
    let mut points: Vec<(usize, Point)> = Vec::new();
    for (index, subject) in subjects.iter().enumerate().filter(|(_, one)| one.evidence.unstable.is_none()) {
        let Some((old, new)) = subject.evidence.both() else { continue };
        let amounts = (amount(&old.source, function), amount(&new.source, function));
        points.push((index, (subject.bytes.len() as u64, amounts.0, amounts.1)));
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
            function: Some(function.to_owned()),
            old_exponent,
            new_exponent,
            sizes: of_size.iter().map(point).collect(),
            ..LawChange::default()
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

    const SIZES: [usize; 6] = [586, 997, 1_695, 2_881, 4_897, 8_325];

    fn amounts(law: impl Fn(f64) -> f64) -> Vec<u64> {
        SIZES.iter().map(|&size| law(size as f64) as u64).collect()
    }

    fn is_worse(old: impl Fn(f64) -> f64, new: impl Fn(f64) -> f64) -> bool {
        Exponents::of(&SIZES, &amounts(old), &amounts(new)).is_some_and(|found| found.are_worse())
    }

    #[test]
    fn laws_that_are_worse_are_told() {
        assert!(is_worse(|n| 20.0 * n, |n| n * n));
        assert!(is_worse(|_| 500.0, |n| 3.0 * n));
        assert!(is_worse(|n| n * n.log2(), |n| n * n));
        assert!(is_worse(|n| n * n, |n| n * n * n));
        assert!(is_worse(|n| 9.0 * n + 4_000.0, |n| 5.0 * n + n.powf(1.5)));
    }

    #[test]
    fn larger_coefficients_and_constants_are_no_other_law() {
        assert!(!is_worse(|n| n, |n| 10.0 * n));
        assert!(!is_worse(|n| n + 100_000.0, |n| 2.0 * n + 1_000.0));
        assert!(!is_worse(|n| n * n, |n| 1.2 * n * n));
        assert!(!is_worse(|n| n, |n| n * n.log2()));
        assert!(!is_worse(|n| 300.0 * n + n * n, |n| 300.0 * n + 1.2 * n * n));
        assert!(!is_worse(|n| n * n, |n| 50.0 * n));
        assert!(!is_worse(|n| n, |_| 5.0));
    }

    #[test]
    fn a_part_that_grows_faster_shows_in_the_whole() {
        assert!(rises(&amounts(|n| 300.0 * n), &amounts(|n| 300.0 * n + n * n / 20.0)));
        assert!(!rises(&amounts(|n| 300.0 * n), &amounts(|n| 360.0 * n)));
    }

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

    fn made(input: &[u8], n: u64) -> Vec<Vec<u8>> {
        excerpts(input).iter().map(|(template, _)| template.render(n, 1_000).unwrap()).collect()
    }

    #[test]
    fn what_repeats_nothing_is_repeated_in_its_middle_and_from_its_beginning() {
        assert_eq!(made(b"abcdefgh", 2), [b"abcdefcdefgh".to_vec(), b"abcdefghabcdefgh".to_vec()]);
        assert_eq!(made(b"", 2), Vec::<Vec<u8>>::new());
        assert_eq!(made(b"a", 3), [b"aaa", b"aaa"]);
    }

    #[test]
    fn excerpts_of_large_inputs_are_short_and_repeated_up_to_their_size() {
        let long: Vec<u8> = (0..20_000u32).map(|i| (i * i % 251 + i / 251) as u8).collect();
        for (template, n) in excerpts(&long) {
            assert!(
                template.size(1) <= 256 && template.size(n) <= 20_000 && template.size(n + 1) > 20_000,
                "{template}"
            );
        }
    }
}
