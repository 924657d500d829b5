//! Candidates: the best law of each class for a series, with lower terms, in the space of relative errors.

use super::{Class, Law, Point, Term};

/// Exponents that are tried first; what lies between is searched.
const EXPONENTS: std::ops::RangeInclusive<u32> = 1..=50;
const EXPONENT_STEP: f64 = 0.1;
/// Exponents closer than this to 0, 1, 2 and 3 are left to the laws that have these: they could only be noise.
const NEAR_A_WHOLE: f64 = 0.08;
/// How large the exponential term is at the largest size, as a power of e: from one that is hardly bent to one that no
/// program would live to see.
const LEAST_BEND: f64 = 1.5;
const LARGEST_BEND: f64 = 200.0;
const BEND_STEP: f64 = 1.08;
/// Least rise of the local exponent from the smaller to the larger half of the sizes for an exponential law.
const LEAST_RISE: f64 = 0.3;
/// Squared relative distance of what fits but for rounding.
const EXACT: f64 = 1e-16;
/// Steps of the golden section: each makes the interval 0.62 times as long.
const SECTIONS: usize = 40;
/// Counts are whole numbers: a miss by one is none.
const WHOLE: f64 = 1.0;

/// The error of a law at a point: how far it is off, as a part of the smaller of the predicted and the true amount.
pub(super) fn error_at(law: &Law, point: &Point) -> f64 {
    let (predicted, amount) = (law.amount_at(point.size as f64), point.amount as f64);
    ((predicted - amount).abs() - WHOLE).max(0.0) / predicted.min(amount).max(1.0)
}

/// The best laws of all classes for `points`, from the simplest to the richest; classes that do not fit at all are
/// missing.
pub(super) fn all(points: &[Point]) -> Vec<Law> {
    let fixed =
        [Class::Constant, Class::Logarithmic, Class::Linear, Class::Linearithmic, Class::Quadratic, Class::Cubic];
    let found: Vec<(Law, f64)> = fixed.into_iter().filter_map(|class| of(class, points)).collect();
    let is_exact = found.iter().any(|(_, distance)| *distance < EXACT);
    let mut laws: Vec<Law> = found.into_iter().map(|(law, _)| law).collect();
    // what fits exactly has no rival, and looking for exponents takes most of the time
    if !is_exact {
        laws.extend(power(points));
        laws.extend(Some(points).filter(|points| bends_upwards(points)).and_then(exponential));
    }
    laws.sort_by_key(|law| law.class().parameters());
    laws
}

/// Whether the local exponent is larger at the largest sizes than before, as that of exponential amounts is.
fn bends_upwards(points: &[Point]) -> bool {
    let exponent = |from: &Point, to: &Point| {
        let amounts = to.amount.max(1) as f64 / from.amount.max(1) as f64;
        amounts.ln() / (to.size.max(2) as f64 / from.size.max(1) as f64).ln()
    };
    let (Some(first), Some(middle), Some(last)) = (points.first(), points.get(points.len() / 2), points.last()) else {
        return false;
    };
    exponent(middle, last) > exponent(first, middle) + LEAST_RISE
}

/// The best law of one class, and its squared distance.
pub(super) fn of(class: Class, points: &[Point]) -> Option<(Law, f64)> {
    let lower: &[Class] = match class {
        Class::Constant => &[],
        Class::Logarithmic | Class::Linear => &[Class::Constant],
        Class::Power(exponent) if exponent < 1.0 => &[Class::Constant],
        Class::Linearithmic | Class::Quadratic | Class::Power(_) | Class::Exponential(_) => {
            &[Class::Constant, Class::Linear]
        }
        Class::Cubic => &[Class::Constant, Class::Linear, Class::Quadratic],
    };
    let classes: Vec<Class> = lower.iter().copied().chain([class]).collect();
    if points.len() < classes.len() {
        return None;
    }
    let largest = points.iter().map(|point| point.size).max()? as f64;
    let weights: Vec<f64> = points.iter().map(|point| 1.0 / (point.amount as f64).max(1.0)).collect();
    let right: Vec<f64> = points.iter().zip(&weights).map(|(point, weight)| point.amount as f64 * weight).collect();
    let scales: Vec<f64> = classes.iter().map(|class| class.value(largest).max(f64::MIN_POSITIVE)).collect();
    let column = |(class, scale): (&Class, &f64)| -> Vec<f64> {
        points.iter().zip(&weights).map(|(p, weight)| class.value(p.size as f64) / scale * weight).collect()
    };
    let columns: Vec<Vec<f64>> = classes.iter().zip(&scales).map(column).collect();
    // A power or an exponential with lower terms of either sign would imitate any bent curve. The terms below the
    // others may be negative: all pairs are n²/2 - n/2, log n! is n log n - n.
    let imitates = matches!(class, Class::Power(_) | Class::Exponential(_));
    let solution = if imitates { None } else { solve(&columns, &right) };
    let makes_sense = |solution: &Vec<f64>| {
        solution.last().is_some_and(|&x| x > 0.0 || class == Class::Constant)
            && columns[0].iter().enumerate().all(|(row, _)| {
                columns.iter().zip(solution).map(|(column, x)| column[row] * x).sum::<f64>() >= -weights[row]
            })
    };
    let solution = match solution.filter(makes_sense) {
        Some(solution) => solution,
        None => solve_positive(&columns, &right)?,
    };
    let distance = distance(&columns, &solution, &right);
    let terms = classes.iter().zip(&solution).zip(&scales);
    Some((Law::new(terms.map(|((&class, x), scale)| Term { class, coefficient: x / scale })), distance))
}

/// The best power, apart from the whole exponents.
fn power(points: &[Point]) -> Option<Law> {
    let exponents = EXPONENTS.map(|tenth| f64::from(tenth) * EXPONENT_STEP);
    let near = |exponent: f64| exponent < 3.5 && (exponent - exponent.round()).abs() < NEAR_A_WHOLE;
    let distance = |exponent: f64| match of(Class::Power(exponent), points) {
        Some((_, distance)) if !near(exponent) => distance,
        _ => f64::INFINITY,
    };
    let best = exponents.min_by(|a, b| distance(*a).total_cmp(&distance(*b)))?;
    let exponent = narrow(best - EXPONENT_STEP, best + EXPONENT_STEP, distance);
    let exponent = if distance(exponent) <= distance(best) { exponent } else { best };
    (!near(exponent)).then(|| of(Class::Power(exponent), points)).flatten().map(|(law, _)| law)
}

/// The best exponential law.
fn exponential(points: &[Point]) -> Option<Law> {
    let largest = points.iter().map(|point| point.size).max()?.max(1) as f64;
    let class = |bend: f64| Class::Exponential((bend / largest).exp());
    let distance = |bend: f64| of(class(bend), points).map_or(f64::INFINITY, |(_, distance)| distance);
    let bends =
        std::iter::successors(Some(LEAST_BEND), |bend| Some(bend * BEND_STEP)).take_while(|b| *b < LARGEST_BEND);
    let best = bends.min_by(|a, b| distance(*a).total_cmp(&distance(*b)))?;
    let bend = narrow(best / BEND_STEP, best * BEND_STEP, distance);
    of(class(bend), points).map(|(law, _)| law)
}

/// The place of the least value between two places, by golden section.
fn narrow(mut low: f64, mut high: f64, value: impl Fn(f64) -> f64) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_895;
    for _ in 0..SECTIONS {
        let (left, right) = (high - (high - low) * GOLDEN, low + (high - low) * GOLDEN);
        if value(left) <= value(right) { high = right } else { low = left }
    }
    low.midpoint(high)
}

// Least squares with up to four columns.

/// Columns that are this close to a sum of the others carry nothing.
const DEPENDENT: f64 = 1e-13;

/// The coefficients that minimise the squared distance between the sum of columns and `right`, by Gram-Schmidt with
/// reorthogonalisation. None if the columns depend on each other.
fn solve(columns: &[Vec<f64>], right: &[f64]) -> Option<Vec<f64>> {
    let count = columns.len();
    let mut base: Vec<Vec<f64>> = Vec::with_capacity(count);
    let mut upper = vec![vec![0.0; count]; count];
    let mut rest = right.to_vec();
    let mut projections = vec![0.0; count];
    for (at, column) in columns.iter().enumerate() {
        let mut vector = column.clone();
        let length = norm(&vector);
        for _ in 0..2 {
            for (earlier, unit) in base.iter().enumerate() {
                let part = dot(unit, &vector);
                upper[earlier][at] += part;
                subtract(&mut vector, unit, part);
            }
        }
        let left = norm(&vector);
        if !left.is_finite() || left <= DEPENDENT * length || left == 0.0 {
            return None;
        }
        upper[at][at] = left;
        vector.iter_mut().for_each(|x| *x /= left);
        projections[at] = dot(&vector, &rest);
        subtract(&mut rest, &vector, projections[at]);
        base.push(vector);
    }
    let mut solution = vec![0.0; count];
    for at in (0..count).rev() {
        let known: f64 = (at + 1..count).map(|later| upper[at][later] * solution[later]).sum();
        solution[at] = (projections[at] - known) / upper[at][at];
    }
    solution.iter().all(|x| x.is_finite()).then_some(solution)
}

/// As [`solve`], with no coefficient below 0, and the last one above it. Every choice of columns is tried: with four
/// columns these are eight.
fn solve_positive(columns: &[Vec<f64>], right: &[f64]) -> Option<Vec<f64>> {
    let last = columns.len() - 1;
    let mut best: Option<(f64, Vec<f64>)> = None;
    for chosen in 0..1_u32 << last {
        let places: Vec<usize> = (0..last).filter(|at| chosen & 1 << at != 0).chain([last]).collect();
        let some: Vec<Vec<f64>> = places.iter().map(|&at| columns[at].clone()).collect();
        let Some(solution) = solve(&some, right).filter(|solution| solution.iter().all(|&x| x > 0.0)) else { continue };
        let mut whole = vec![0.0; columns.len()];
        places.iter().zip(solution).for_each(|(&at, x)| whole[at] = x);
        let distance = distance(columns, &whole, right);
        if best.as_ref().is_none_or(|(least, _)| distance < *least) {
            best = Some((distance, whole));
        }
    }
    best.map(|(_, solution)| solution)
}

/// The squared distance between the sum of columns and `right`.
fn distance(columns: &[Vec<f64>], coefficients: &[f64], right: &[f64]) -> f64 {
    let mut rest = right.to_vec();
    columns.iter().zip(coefficients).for_each(|(column, &x)| subtract(&mut rest, column, x));
    dot(&rest, &rest)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

fn subtract(from: &mut [f64], vector: &[f64], times: f64) {
    from.iter_mut().zip(vector).for_each(|(x, v)| *x -= v * times);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(exponents: &[i32], sizes: &[f64]) -> Vec<Vec<f64>> {
        exponents.iter().map(|&e| sizes.iter().map(|s| s.powi(e)).collect()).collect()
    }

    #[test]
    fn coefficients_of_a_sum_are_found_again() {
        let sizes: Vec<f64> = (1..12).map(f64::from).collect();
        let columns = columns(&[0, 1, 2, 3], &sizes);
        let right: Vec<f64> = sizes.iter().map(|n| 7.0 - 3.0 * n + 0.25 * n * n + n * n * n).collect();
        let found = solve(&columns, &right).unwrap();
        for (found, wanted) in found.iter().zip([7.0, -3.0, 0.25, 1.0]) {
            assert!((found - wanted).abs() < 1e-8, "{found} {wanted}");
        }
    }

    #[test]
    fn columns_that_depend_on_each_other_have_no_solution() {
        assert_eq!(solve(&[vec![1.0, 2.0, 3.0], vec![2.0, 4.0, 6.0]], &[1.0, 2.0, 3.0]), None);
    }

    #[test]
    fn positive_coefficients_leave_out_what_would_be_negative() {
        let sizes: Vec<f64> = (1..12).map(f64::from).collect();
        let columns = columns(&[0, 1], &sizes);
        let right: Vec<f64> = sizes.iter().map(|n| 5.0 * n - 4.0).collect();
        let found = solve_positive(&columns, &right).unwrap();
        assert_eq!(found[0], 0.0);
        assert!(found[1] > 4.0 && found[1] < 5.0, "{found:?}");
        let falls: Vec<f64> = sizes.iter().map(|n| 100.0 - n).collect();
        assert!(solve(&columns, &falls).unwrap()[1] < 0.0);
        // a rising column alone is a bad fit of what falls, but the only one
        let found = solve_positive(&columns, &falls).unwrap();
        assert!(found[0] == 0.0 && found[1] > 0.0, "{found:?}");
    }
}
