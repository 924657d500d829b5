//! When an input counts as a degradation: only after it was measured outside the campaign, against its seed.

use super::statistics::{Estimate, ratio_of_medians};

/// Measurements of one input in a process of its own.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Deterministic cost of a run.
    pub instructions: u64,
    /// CPU seconds of each run, the runs of both inputs taken in turn.
    pub seconds: Vec<f64>,
}

/// Which costs have to exceed the threshold.
#[derive(Clone, Copy, Debug)]
pub struct Criteria {
    /// How many times the seed's cost; above 1.
    pub threshold: f64,
    /// Instructions count.
    pub instructions: bool,
    /// CPU time counts: the lower end of its interval has to reach the threshold.
    pub time: bool,
}

/// What the comparison of an input with its seed gave.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    /// Instructions of the input over those of its seed.
    pub instructions_ratio: f64,
    /// CPU time of the input over that of its seed.
    pub time_ratio: Estimate,
    /// It is a degradation.
    pub confirmed: bool,
}

/// Compares an input with its seed. Whatever the criteria: if the interval of the time ratio does not exclude that the
/// input is as fast as its seed, it is no degradation, since nobody would feel it.
pub fn compare(input: &Measured, seed: &Measured, criteria: Criteria) -> Comparison {
    let instructions_ratio = input.instructions as f64 / seed.instructions.max(1) as f64;
    let time_ratio = ratio_of_medians(&input.seconds, &seed.seconds);
    let confirmed = time_ratio.low > 1.0
        && (!criteria.instructions || instructions_ratio >= criteria.threshold)
        && (!criteria.time || time_ratio.low >= criteria.threshold);
    Comparison { instructions_ratio, time_ratio, confirmed }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(instructions: u64, seconds: f64) -> Measured {
        Measured { instructions, seconds: (0..15).map(|i| seconds * (1.0 + f64::from(i % 5) * 0.01)).collect() }
    }

    const BOTH: Criteria = Criteria { threshold: 2.0, instructions: true, time: true };

    #[test]
    fn three_times_the_instructions_and_the_time_is_a_degradation() {
        let found = compare(&measured(300, 0.3), &measured(100, 0.1), BOTH);
        assert!(found.confirmed && (found.instructions_ratio - 3.0).abs() < 1e-9);
    }

    #[test]
    fn instructions_that_take_no_time_are_not_one() {
        let only_instructions = Criteria { time: false, ..BOTH };
        assert!(!compare(&measured(300, 0.1), &measured(100, 0.1), only_instructions).confirmed);
        assert!(compare(&measured(300, 0.15), &measured(100, 0.1), only_instructions).confirmed);
        assert!(!compare(&measured(300, 0.15), &measured(100, 0.1), BOTH).confirmed);
    }

    #[test]
    fn an_input_compared_with_itself_is_not_one() {
        assert!(!compare(&measured(100, 0.1), &measured(100, 0.1), BOTH).confirmed);
    }

    #[test]
    fn no_measurements_are_no_proof() {
        assert!(!compare(&Measured { instructions: 1000, seconds: vec![] }, &measured(1, 0.1), BOTH).confirmed);
    }
}
