//! Least squares with up to four columns.

/// Columns that are this close to a sum of the others carry nothing.
const DEPENDENT: f64 = 1e-13;

/// The coefficients that minimise the squared distance between the sum of columns and `right`, by Gram-Schmidt with
/// reorthogonalisation. None if the columns depend on each other.
pub(super) fn solve(columns: &[Vec<f64>], right: &[f64]) -> Option<Vec<f64>> {
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
pub(super) fn solve_positive(columns: &[Vec<f64>], right: &[f64]) -> Option<Vec<f64>> {
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
pub(super) fn distance(columns: &[Vec<f64>], coefficients: &[f64], right: &[f64]) -> f64 {
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
