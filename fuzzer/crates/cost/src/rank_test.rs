//! Rank test of Mann and Whitney (Wilcoxon's rank-sum test).

/// One-sided p-value: the probability that `a` ranks as high above `b` as it does, or higher, if both come from the
/// same distribution. 0 to 1; 1 if either is empty. Exact without ties; with ties, or for many values, by the normal
/// approximation with the correction for ties and for continuity.
pub fn p_above(a: &[f64], b: &[f64]) -> f64 {
    if a.is_empty() || b.is_empty() {
        return 1.0;
    }
    let (twice_u, ties) = statistic(a, b);
    if ties.is_empty() && a.len() * b.len() <= EXACT {
        exact(a.len(), b.len(), twice_u / 2)
    } else {
        approximate(a.len(), b.len(), twice_u as f64 / 2.0, &ties)
    }
}

/// Largest number of pairs for which the p-value is computed exactly.
const EXACT: usize = 2500;

/// Twice the number of pairs in which `a` is larger (ties count half), and the sizes of all groups of equal values;
/// these are empty if no value of `a` equals one of `b`, since ties within one sample do not matter.
fn statistic(a: &[f64], b: &[f64]) -> (usize, Vec<usize>) {
    let (mut twice_u, mut tied) = (0, false);
    for x in a {
        for y in b {
            twice_u += match x.total_cmp(y) {
                std::cmp::Ordering::Greater => 2,
                std::cmp::Ordering::Equal => 1,
                std::cmp::Ordering::Less => 0,
            };
            tied |= x == y;
        }
    }
    if !tied {
        return (twice_u, Vec::new());
    }
    let mut all: Vec<f64> = a.iter().chain(b).copied().collect();
    all.sort_by(f64::total_cmp);
    (twice_u, all.chunk_by(|x, y| x == y).map(<[f64]>::len).filter(|&size| size > 1).collect())
}

/// P(U >= u) without ties: of all ways to rank n and m values, the share in which at least u pairs are in favour of
/// the n.
fn exact(n: usize, m: usize, u: usize) -> f64 {
    // ways[k][v]: of choosing k of the values seen so far such that v pairs are in favour
    let most = n * m;
    let mut ways = vec![vec![0.0f64; most + 1]; n + 1];
    ways[0][0] = 1.0;
    // the value with j others below it in all adds (j - k) pairs if it is the (k + 1)th of the n
    for j in 0..n + m {
        for k in (0..n.min(j + 1)).rev() {
            let Some(below) = j.checked_sub(k).filter(|&below| below <= m) else { continue };
            for v in (0..=most - below.min(most)).rev() {
                if ways[k][v] > 0.0 && v + below <= most {
                    let add = ways[k][v];
                    ways[k + 1][v + below] += add;
                }
            }
        }
    }
    let total: f64 = ways[n].iter().sum();
    (ways[n][u.min(most)..].iter().sum::<f64>() / total).min(1.0)
}

fn approximate(n: usize, m: usize, u: f64, ties: &[usize]) -> f64 {
    let (n, m) = (n as f64, m as f64);
    let all = n + m;
    let tied: f64 = ties.iter().map(|&size| (size as f64).powi(3) - size as f64).sum();
    let variance = n * m / 12.0 * ((all + 1.0) - tied / (all * (all - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    upper_tail((u - n * m / 2.0 - 0.5) / variance.sqrt())
}

/// P(Z >= z) of the standard normal distribution; the relative error is below 1.2e-7 (Numerical Recipes' erfcc).
fn upper_tail(z: f64) -> f64 {
    let x = z.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.5 * x);
    const COEFFICIENTS: [f64; 10] = [
        -1.265_512_23,
        1.000_023_68,
        0.374_091_96,
        0.096_784_18,
        -0.186_288_06,
        0.278_868_07,
        -1.135_203_98,
        1.488_515_87,
        -0.822_152_23,
        0.170_872_77,
    ];
    let series = COEFFICIENTS.iter().rev().fold(0.0, |sum, coefficient| sum * t + coefficient);
    let erfc = t * (-x * x + series).exp();
    if z >= 0.0 { erfc / 2.0 } else { 1.0 - erfc / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(value: f64, expected: f64, error: f64) {
        assert!((value - expected).abs() <= expected * error, "{value} is not {expected}");
    }

    #[test]
    fn small_samples_are_exact() {
        // one of C(6, 3) = 20 orders, one of C(8, 4) = 70, one of C(53, 3)
        close(p_above(&[4.0, 5.0, 6.0], &[1.0, 2.0, 3.0]), 1.0 / 20.0, 1e-12);
        close(p_above(&[5.0, 6.0, 7.0, 8.0], &[1.0, 2.0, 3.0, 4.0]), 1.0 / 70.0, 1e-12);
        let many: Vec<f64> = (0..50).map(f64::from).collect();
        close(p_above(&[99.0, 98.0, 97.0], &many), 1.0 / 23_426.0, 1e-9);
        close(p_above(&[99.0, 98.0, 97.0], &[1.0; 50]), 1.0 / 23_426.0, 1e-9);
        assert_eq!(p_above(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]), 1.0);
        assert_eq!(p_above(&[], &[1.0]), 1.0);
    }

    #[test]
    fn the_exact_distribution_is_that_of_scipy() {
        // scipy.stats.mannwhitneyu(a, b, alternative="greater", method="exact")
        let a = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
        let b = [1.15, 0.88, 0.90, 0.74, 1.21];
        close(p_above(&a, &b), 0.127_206_127, 1e-6);
    }

    #[test]
    fn the_approximation_agrees_with_the_exact_value() {
        let a: Vec<f64> = (0..30).map(|i| f64::from(i) * 1.1 + 5.0).collect();
        let b: Vec<f64> = (0..30).map(|i| f64::from(i) * 1.07 + 0.3).collect();
        let (twice_u, ties) = statistic(&a, &b);
        assert!(ties.is_empty());
        close(approximate(30, 30, twice_u as f64 / 2.0, &[]), exact(30, 30, twice_u / 2), 0.02);
    }

    #[test]
    fn the_normal_tail_is_that_of_the_tables() {
        for (z, tail) in [(0.0, 0.5), (1.0, 0.158_655_25), (1.96, 0.024_997_9), (3.0, 0.001_349_898), (5.0, 2.866_5e-7)]
        {
            close(upper_tail(z), tail, 1e-4);
            close(upper_tail(-z), 1.0 - tail, 1e-4);
        }
    }

    #[test]
    fn values_that_are_all_equal_say_nothing() {
        assert!(p_above(&[1.0; 20], &[1.0; 20]) >= 0.5);
    }
}
