//! Reasons for verdicts, in words.

use quagmire_base::format::{counted, ratio};
use quagmire_cost::{
    judgement::{GROSS, Judgement, LEAST_EFFECT, Verdict},
    statistics::Estimate,
};

/// Reason for a verdict, in one line for reports. Calls the input compared with `the first`.
pub(crate) fn explanation(judgement: &Judgement) -> String {
    let Estimate { value, low, high } = judgement.ratio;
    let took = format!("{} the time of the first [{}, {}]", ratio(value), ratio(low), ratio(high));
    let runs = counted(judgement.runs as u64, "run");
    let noise = judgement.floor.map_or(String::new(), |floor| format!(" than the noise of {:.1} %", floor * 100.0));
    match judgement.verdict {
        Verdict::Degradation | Verdict::Optimisation if judgement.is_gross => {
            format!("{took}: no run of the one is within a factor of {GROSS:.0} of any of the other, over {runs}")
        }
        Verdict::Degradation => format!("{took}: more{noise}, and not by chance"),
        Verdict::Optimisation => format!("{took}: less by more{noise}, and not by chance"),
        Verdict::Maybe => format!("{took}: not settled after {runs}; a larger --budget may settle it"),
        Verdict::NoChange if judgement.is_clear => {
            format!("{took}: a difference of less than {:.0} % does not matter", LEAST_EFFECT * 100.0)
        }
        Verdict::NoChange if judgement.runs == 0 => "not timed".to_owned(),
        Verdict::NoChange => format!("{took}: no difference can be told after {runs}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quagmire_cost::judgement::judge;

    #[test]
    fn explanations_name_the_difference_and_what_it_was_held_against() {
        let seed: Vec<f64> = (0..20).map(|i| 1.0 + f64::from(i) * 1e-3).collect();
        let times = |factor: f64| seed.iter().map(|time| time * factor).collect::<Vec<f64>>();
        let explained = |factor| explanation(&judge(&times(factor), &seed, Some(0.018)));
        let more = explained(1.2);
        assert!(more.starts_with("1.20x the time of the first [1.1"), "{more}");
        assert!(more.ends_with("more than the noise of 1.8 %, and not by chance"), "{more}");
        assert!(explained(0.8).contains("less by more than the noise"));
        assert!(explained(9.0).contains("no run of the one is within a factor of 2 of any of the other, over 20 runs"));
        assert!(explained(1.001).ends_with("less than 5 % does not matter"), "{}", explained(1.001));
        let perhaps = explanation(&judge(&[1.5, 1.6, 1.7], &[1.0, 1.1, 1.2], None));
        assert!(perhaps.contains("not settled after 3 runs"), "{perhaps}");
    }

    #[test]
    fn large_ratios_are_grouped_and_one_run_is_singular() {
        let once = explanation(&judge(&[37_451_838.0], &[1.0], None));
        assert!(once.starts_with("37,451,838x the time of the first [37,451,838x, "), "{once}");
        assert!(once.ends_with("no difference can be told after 1 run"), "{once}");
        assert_eq!(explanation(&judge(&[], &[], None)), "not timed");
    }
}
