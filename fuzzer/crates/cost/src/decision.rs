//! Comparison of one input with several others: a degradation has to be slower than each of them.

use super::{
    judgement::{Judgement, Verdict, judge},
    resource::{Cost, Resource},
};

/// One input that the last input is compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Its index among all inputs.
    pub other: usize,
    /// Factor on its times: 1, unless it stands for an ordinary input of another size; then the instructions expected
    /// of that one over its own.
    pub scale: f64,
    /// Whether it stands for an ordinary input of the last input's size.
    pub by_size: bool,
}

/// Selection of the comparisons that a measurement makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Question {
    /// Each input against the first.
    #[default]
    First,
    /// The last input against each of the others.
    Last {
        /// Instructions expected of an ordinary input of the last input's size; for programs without counts, how many
        /// times the size of the first input that is. If given, the last input is compared with such an input as well.
        ordinary: Option<u64>,
        /// The input before the last is joined seeds: it only serves as a candidate for the ordinary input.
        is_joined: bool,
    },
}

impl Question {
    /// Comparisons of the last input with the others. `costs` holds `None` for inputs whose run did not return. For
    /// the ordinary input, takes the median seed (the first input) or the joined seeds, whichever has instructions
    /// nearest by ratio to the expected ones; the scale makes up for the rest. Without counts, takes the joined seeds
    /// unless they take longer than as many median seeds, which no linear program does. Empty for [`Question::First`].
    pub fn comparisons(self, costs: &[Option<Cost>]) -> Vec<Comparison> {
        let Self::Last { ordinary, is_joined } = self else { return Vec::new() };
        let Some(others) = costs.len().checked_sub(1) else { return Vec::new() };
        let known = |other: usize| costs[other].map(|cost| cost[Resource::Instructions].max(1) as f64);
        let plain = if is_joined { others.saturating_sub(1) } else { others };
        let as_they_are = (0..plain).filter(|&other| costs[other].is_some());
        let mut all: Vec<Comparison> =
            as_they_are.map(|other| Comparison { other, scale: 1.0, by_size: false }).collect();
        // the candidates are the median seed and the joined seeds, not the last input's own seed, which may be of
        // another kind
        let stand_in = [Some(0).filter(|_| plain > 0), Some(plain).filter(|_| is_joined && plain < others)];
        let scales = ordinary.into_iter().flat_map(|expected| {
            let scale = move |other: usize| known(other).map(|own| (other, expected as f64 / own));
            stand_in.into_iter().flatten().filter_map(scale)
        });
        let nearest = match ordinary.filter(|_| is_uncounted(costs)) {
            None => scales.min_by(|a, b| a.1.ln().abs().total_cmp(&b.1.ln().abs())),
            Some(times) => {
                let time = |place: Option<usize>| Some(costs[place?]?[Resource::Time]);
                let first = time(stand_in[0]);
                let is_linear = |joined| first.is_none_or(|first| joined <= first.saturating_mul(times));
                let joined = time(stand_in[1]).filter(|&joined| is_linear(joined)).and(stand_in[1]);
                joined.map(|joined| (joined, 1.0)).or(first.map(|_| (0, times as f64)))
            }
        };
        all.extend(nearest.map(|(other, scale)| Comparison { other, scale, by_size: true }));
        all
    }
}

/// Whether nothing was counted in any run.
fn is_uncounted(costs: &[Option<Cost>]) -> bool {
    costs.iter().flatten().all(|cost| cost[Resource::Instructions] == 0)
}

/// Judges the times of the last input against each comparison, in their order. `times` holds the times of every input,
/// `floor` the noise floor of [`judge`].
pub fn judge_last(times: &[&[f64]], comparisons: &[Comparison], floor: Option<f64>) -> Vec<Judgement> {
    let Some((last, others)) = times.split_last() else { return Vec::new() };
    let one = |comparison: &Comparison| {
        let scaled: Vec<f64> = others[comparison.other].iter().map(|time| time * comparison.scale).collect();
        judge(last, &scaled, floor)
    };
    comparisons.iter().map(one).collect()
}

/// Whether further rounds would not change the outcome: one comparison shows clearly that the input is not slower, or
/// all comparisons are clear.
pub fn is_settled(judgements: &[Judgement]) -> bool {
    let refutes = |one: &Judgement| one.is_clear && one.verdict != Verdict::Degradation;
    judgements.iter().any(refutes) || judgements.iter().all(|one| one.is_clear)
}

/// Index and value of the verdict that speaks least for a degradation: the joint outcome of several comparisons.
/// `None` without verdicts.
pub fn weakest(verdicts: impl IntoIterator<Item = Verdict>) -> Option<(usize, Verdict)> {
    let rank = |verdict: Verdict| match verdict {
        Verdict::Optimisation => 0,
        Verdict::NoChange => 1,
        Verdict::Maybe => 2,
        Verdict::Degradation => 3,
    };
    verdicts.into_iter().enumerate().min_by_key(|&(_, verdict)| rank(verdict))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs(instructions: &[u64]) -> Vec<Option<Cost>> {
        let cost = |&instructions: &u64| Cost::from([(Resource::Instructions, instructions)]);
        // 0 stands for an input whose run did not return
        instructions.iter().map(|amount| (*amount > 0).then(|| cost(amount))).collect()
    }

    /// `count` times from `middle` to 4 % above it, in steps of 1 %.
    fn times(middle: f64, count: u32) -> Vec<f64> {
        (0..count).map(|i| middle * (1.0 + 0.01 * f64::from(i % 5))).collect()
    }

    fn verdict_after(count: u32, middles: &[f64]) -> (Verdict, bool) {
        let times: Vec<Vec<f64>> = middles.iter().map(|&middle| times(middle, count)).collect();
        let times: Vec<&[f64]> = times.iter().map(Vec::as_slice).collect();
        let others = 0..middles.len() - 1;
        let all: Vec<_> = others.map(|other| Comparison { other, scale: 1.0, by_size: false }).collect();
        let judgements = judge_last(&times, &all, Some(0.02));
        (weakest(judgements.iter().map(|one| one.verdict)).unwrap().1, is_settled(&judgements))
    }

    #[test]
    fn what_is_clear_beside_the_median_seed_alone_is_not_settled() {
        // six samples: gross against the first, but no order of six and six is unlikely enough against the second
        assert_eq!(verdict_after(6, &[1.0, 10.0, 15.0]), (Verdict::Maybe, false));
        assert_eq!(verdict_after(20, &[1.0, 10.0, 15.0]), (Verdict::Degradation, true));
    }

    #[test]
    fn one_comparison_that_refutes_settles_it() {
        assert_eq!(verdict_after(40, &[1.0, 10.0, 10.0]), (Verdict::NoChange, true));
        assert_eq!(verdict_after(6, &[1.0, 10.0, 3.0]), (Verdict::Optimisation, true));
    }

    #[test]
    fn the_input_nearest_to_an_ordinary_one_stands_for_it() {
        let ask = |ordinary, instructions: &[u64]| {
            let question = Question::Last { ordinary: Some(ordinary), is_joined: true };
            let all = question.comparisons(&costs(instructions));
            let plain: Vec<usize> = all.iter().filter(|one| !one.by_size).map(|one| one.other).collect();
            (plain, all.last().map(|one| (one.other, one.scale)))
        };
        assert_eq!(ask(1_000, &[100, 500, 900, 5_000]), (vec![0, 1], Some((2, 1_000.0 / 900.0))));
        // joined seeds that cost no more than the seed, or far more, or that do not come back
        assert_eq!(ask(1_000, &[100, 500, 90, 5_000]), (vec![0, 1], Some((0, 10.0))));
        assert_eq!(ask(1_000, &[500, 90_000, 5_000]), (vec![0], Some((0, 2.0))));
        assert_eq!(ask(1_000, &[100, 500, 0, 5_000]), (vec![0, 1], Some((0, 10.0))));
    }

    #[test]
    fn without_counts_joined_seeds_stand_for_an_ordinary_input_if_they_take_linear_time() {
        let ask = |is_joined, times: &[u64]| {
            let cost = |&time: &u64| (time > 0).then(|| Cost::from([(Resource::Time, time)]));
            let costs: Vec<_> = times.iter().map(cost).collect();
            let all = Question::Last { ordinary: Some(4), is_joined }.comparisons(&costs);
            all.last().map(|one| (one.other, one.scale, one.by_size))
        };
        assert_eq!(ask(true, &[10, 40, 900]), Some((1, 1.0, true)));
        // slower than four seeds, one after the other, or without an end: no ordinary input
        assert_eq!(ask(true, &[10, 41, 900]), Some((0, 4.0, true)));
        assert_eq!(ask(true, &[10, 0, 900]), Some((0, 4.0, true)));
        assert_eq!(ask(false, &[10, 900]), Some((0, 4.0, true)));
    }

    #[test]
    fn without_an_expectation_the_others_are_taken_as_they_are() {
        let question = Question::Last { ordinary: None, is_joined: false };
        let all = question.comparisons(&costs(&[10, 20, 30]));
        assert!(all.iter().all(|one| one.scale == 1.0 && !one.by_size));
        assert_eq!(all.len(), 2);
        assert_eq!(Question::First.comparisons(&costs(&[10, 20])), []);
    }
}
