//! Whether cost grows faster with size than it did: a template of an input is run at sizes of ratio 1.7 in both builds, and
//! the exponents of the growth at the largest sizes are compared. They are those of increments: what a run costs at any
//! size does not bend them.

use super::{limits::Limits, moved, side::Side, templates::templates, times::Times};
use crate::runner::{Detail, Run};
use quagmire_base::error::Result;
use quagmire_choices::template::Template;
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
pub(super) fn worse(
    old: &mut Side,
    new: &mut Side,
    input: &[u8],
    capacity: usize,
    limits: &Limits,
) -> Result<Option<LawChange>> {
    for template in templates(old, new, input, capacity)? {
        let sizes = run_sizes(old, new, &template, capacity)?;
        if let Some(found) = compare(old, new, &template, &sizes, limits)? {
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
fn run_sizes(old: &mut Side, new: &mut Side, template: &Template, capacity: usize) -> Result<Vec<Size>> {
    let unit = template.size(2).saturating_sub(template.size(1)).max(1);
    let least = LEAST_REPETITIONS.max(LEAST_BYTES.div_ceil(unit));
    let mut sizes: Vec<Size> = Vec::new();
    for step in 0..MOST_SIZES {
        let repetitions = (least as f64 * RATIO.powi(step as i32)).round() as u64;
        let Ok(input) = template.render(repetitions, capacity as u64) else { break };
        let (before, now) = (old.run(&input, Detail::Cost, 1)?, new.run(&input, Detail::Cost, 1)?);
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
fn compare(
    old: &mut Side,
    new: &mut Side,
    template: &Template,
    sizes: &[Size],
    limits: &Limits,
) -> Result<Option<LawChange>> {
    let tail = &sizes[sizes.len().saturating_sub(TAIL)..];
    let bytes: Vec<usize> = tail.iter().map(|size| size.input.len()).collect();
    let (before, now): (Vec<u64>, Vec<u64>) = tail.iter().map(Size::total).unzip();
    let Some((&was, &is)) = before.last().zip(now.last()) else { return Ok(None) };
    if tail.len() < TAIL || (is as f64) < limits.threshold * was as f64 {
        return Ok(None);
    }
    let mut found = Exponents::of(&bytes, &before, &now).filter(Exponents::are_worse).map(|found| (found, None));
    if found.is_none() && rises(&before, &now) {
        found = function(old, new, tail)?;
    }
    let Some((exponents, function)) = found else { return Ok(None) };
    if !is_confirmed(old, new, tail, limits)? {
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
fn function(old: &mut Side, new: &mut Side, tail: &[Size]) -> Result<Option<(Exponents, Option<String>)>> {
    let mut runs: Vec<(SourceCosts, SourceCosts)> = Vec::new();
    for Size { input, .. } in tail {
        runs.push((old.run(input, Detail::Source, 1)?.source, new.run(input, Detail::Source, 1)?.source));
    }
    let bytes: Vec<usize> = tail.iter().map(|size| size.input.len()).collect();
    let Some((before, now)) = runs.last() else { return Ok(None) };
    let amount = |costs: &SourceCosts, name: &str| {
        costs.functions.iter().find(|one| one.function == name).map_or(0, |one| one.instructions)
    };
    for one in moved::between(before, now).into_iter().take(FUNCTIONS).filter(moved::has_grown) {
        let (was, is): (Vec<u64>, Vec<u64>) =
            runs.iter().map(|(old, new)| (amount(old, &one.function), amount(new, &one.function))).unzip();
        if let Some(exponents) = Exponents::of(&bytes, &was, &is).filter(Exponents::are_worse) {
            return Ok(Some((exponents, Some(one.function))));
        }
    }
    Ok(None)
}

/// Whether counts are the same in new processes at the largest size, and CPU time is longer there.
fn is_confirmed(old: &mut Side, new: &mut Side, tail: &[Size], limits: &Limits) -> Result<bool> {
    let Some(largest) = tail.last() else { return Ok(false) };
    let input = &largest.input;
    for (side, known) in [(&mut *old, &largest.old), (&mut *new, &largest.new)] {
        let again = side.run_afresh(input, Detail::Cost)?;
        if again.status != known.status || moved::differs(&again.cost, &known.cost) {
            return Ok(false);
        }
    }
    let usual = largest.old.seconds.min(largest.new.seconds);
    let times = Times::measure(old, new, input, usual, limits.until)?;
    Ok(times.is_some_and(|times| times.p_value() <= CONFIRMED))
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
}
