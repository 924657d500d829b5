//! Tests of judgements on simulated measurements, seeded, with the noise of shared machines.

use libafl_bolts::rands::{Rand, StdRand};

use super::*;

/// Model of the noise of time measurements. Every sample is 1 or more before the factor.
#[derive(Clone, Copy, Debug)]
enum Noise {
    /// A few percent of jitter, now and then up to five times as long, and a drift over the measurement.
    Spikes,
    /// A Pareto tail of index 1.5, which has no finite variance.
    HeavyTail,
    /// Two speeds, a third apart, each lasting for many samples: a neighbour on the same core.
    TwoSpeeds,
}

impl Noise {
    const ALL: [Self; 3] = [Self::Spikes, Self::HeavyTail, Self::TwoSpeeds];

    /// Samples of a seed and of an input that takes `factor` times as long, in `rounds` rounds of seed, input, input,
    /// seed.
    fn measured(self, factor: f64, rounds: u32, rand: &mut StdRand) -> (Vec<f64>, Vec<f64>) {
        let (mut seed, mut input) = (Vec::new(), Vec::new());
        let drift = 0.2 * rand.next_float();
        let mut is_slowed = rand.coinflip(0.5);
        for round in 0..rounds {
            for is_input in [false, true, true, false] {
                let jitter = 1.0 + 0.04 * rand.next_float();
                let noise = match self {
                    Self::Spikes => {
                        let spike = if rand.coinflip(0.05) { 1.0 + 4.0 * rand.next_float() } else { 1.0 };
                        spike * (1.0 + drift * f64::from(round) / f64::from(rounds))
                    }
                    Self::HeavyTail => 1.0 + 0.02 * (1.0 - rand.next_float()).powf(-1.0 / 1.5),
                    Self::TwoSpeeds => {
                        is_slowed ^= rand.coinflip(0.1);
                        if is_slowed { 4.0 / 3.0 } else { 1.0 }
                    }
                };
                let (times, factor) = if is_input { (&mut input, factor) } else { (&mut seed, 1.0) };
                times.push(factor * jitter * noise);
            }
        }
        (seed, input)
    }

    /// Verdicts of `trials` measurements, each judged at all looks as `replay` does.
    fn verdicts(self, factor: f64, trials: u64) -> Vec<Verdict> {
        let judged = |trial: u64| {
            let (seed, input) = self.measured(factor, LOOKS[LOOKS.len() - 1], &mut StdRand::with_seed(trial + 1));
            let mut last = None;
            for look in LOOKS {
                let (seed, input) = (&seed[..2 * look as usize], &input[..2 * look as usize]);
                let judgement = judge(input, seed, noise_floor(seed));
                last = Some(judgement.verdict);
                if judgement.is_clear {
                    break;
                }
            }
            last.expect("there are looks")
        };
        (0..trials).map(judged).collect()
    }
}

fn count(verdicts: &[Verdict], verdict: Verdict) -> usize {
    verdicts.iter().filter(|&&v| v == verdict).count()
}

#[test]
fn the_same_input_is_hardly_ever_a_degradation() {
    for noise in Noise::ALL {
        let verdicts = noise.verdicts(1.0, 300);
        assert!(count(&verdicts, Verdict::Degradation) <= 1, "{noise:?}");
        assert!(count(&verdicts, Verdict::Maybe) <= 6, "{noise:?}");
    }
}

#[test]
fn a_slowdown_by_a_fifth_is_nearly_always_seen_and_its_opposite_too() {
    for noise in [Noise::Spikes, Noise::HeavyTail] {
        assert!(count(&noise.verdicts(1.2, 100), Verdict::Degradation) >= 98, "{noise:?}");
        assert!(count(&noise.verdicts(1.0 / 1.2, 100), Verdict::Optimisation) >= 98, "{noise:?}");
    }
}

#[test]
fn three_runs_settle_a_gross_difference() {
    let found = judge(&[5.0, 5.1, 5.2], &[0.9, 1.0, 1.1], None);
    assert_eq!((found.verdict, found.severity, found.is_clear), (Verdict::Degradation, Severity::Moderate, true));
    assert_eq!(judge(&[0.9, 1.0, 1.1], &[5.0, 5.1, 5.2], None).verdict, Verdict::Optimisation);
    // the slowest of the seed's is not half as slow
    assert_eq!(judge(&[5.0, 5.1, 5.2], &[0.9, 1.0, 2.7], None).verdict, Verdict::Maybe);
    assert_eq!(judge(&[5.0, 5.1], &[0.9, 1.0, 1.1], None).verdict, Verdict::NoChange);
}

#[test]
fn a_difference_below_the_noise_or_the_least_effect_is_none_however_certain() {
    let judged = |count: u32, step: f64, factor: f64, floor| {
        let seed: Vec<f64> = (0..count).map(|i| 1.0 + f64::from(i) * step).collect();
        judge(&seed.iter().map(|time| time * factor).collect::<Vec<f64>>(), &seed, Some(floor))
    };
    assert_eq!(judged(40, 1e-4, 1.2, 0.02).verdict, Verdict::Degradation);
    let noisy = judged(40, 1e-4, 1.2, 0.30);
    assert_eq!((noisy.verdict, noisy.is_clear), (Verdict::NoChange, false));
    let small = judged(80, 1e-6, 1.03, 0.001);
    assert!(small.p_value < 1e-9);
    assert_eq!((small.verdict, small.is_clear), (Verdict::NoChange, true));
}

#[test]
fn nothing_measured_is_no_change_and_not_clear() {
    for (input, seed) in [(&[][..], &[1.0][..]), (&[1.0], &[]), (&[], &[])] {
        let found = judge(input, seed, None);
        assert_eq!((found.verdict, found.is_clear), (Verdict::NoChange, false));
    }
}

#[test]
fn the_noise_floor_is_what_one_input_shows_against_itself() {
    assert_eq!(noise_floor(&[1.0; 9]), None);
    assert_eq!(noise_floor(&[1.0; 10]), Some(0.0));
    // the second of each round is a tenth slower
    let biased: Vec<f64> = (0..40).map(|i| if i % 2 == 0 { 1.0 } else { 1.1 }).collect();
    let floor = noise_floor(&biased).expect("enough samples");
    assert!((0.09..0.11).contains(&floor), "{floor}");
}

#[test]
fn severity_goes_by_the_ratio() {
    assert_eq!(
        [1.2, 2.0, 9.9, 10.0, 100.0].map(Severity::of),
        [Severity::Minor, Severity::Moderate, Severity::Moderate, Severity::Severe, Severity::Critical]
    );
}
