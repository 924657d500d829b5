//! Control of false discoveries among many tests (Benjamini and Hochberg 1995).

/// Which tests are discoveries, if at most the share `rate` (0 to 1) of all discoveries may be false on average: those
/// whose p-value is at most that of the last one, in ascending order, that lies below `rate` times its rank by the number
/// of tests. For tests that are independent, or of which one rises with the others.
pub fn discoveries(p_values: &[f64], rate: f64) -> Vec<bool> {
    let mut sorted = p_values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let number = sorted.len() as f64;
    let passes = |(index, p): &(usize, &f64)| **p <= rate * (*index + 1) as f64 / number;
    let largest = sorted.iter().enumerate().filter(passes).map(|(_, p)| *p).next_back();
    p_values.iter().map(|p| largest.is_some_and(|largest| *p <= largest)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_paper_has_four_discoveries() {
        // Benjamini and Hochberg 1995, section 4: 15 tests at a rate of 0.05
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528,
            0.7590, 1.0,
        ];
        let found = discoveries(&p, 0.05);
        assert_eq!(found.iter().filter(|found| **found).count(), 4);
        assert!(found[..4].iter().all(|found| *found));
    }

    #[test]
    fn a_larger_p_value_is_a_discovery_if_one_further_on_passes() {
        // 0.03 fails at its own rank and passes with that of 0.04
        assert_eq!(discoveries(&[0.04, 0.03], 0.04), [true, true]);
        assert_eq!(discoveries(&[0.5, 0.03], 0.04), [false, false]);
        assert_eq!(discoveries(&[], 0.05), Vec::<bool>::new());
    }
}
