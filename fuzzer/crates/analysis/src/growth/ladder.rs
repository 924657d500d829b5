//! Runs of a template at growing sizes.

use std::time::{Duration, Instant};

use super::{alike::Finding, sample::Sample};
use crate::{
    interruption,
    runner::{Detail, Run, Runner},
};
use quagmire_base::error::Result;
use quagmire_choices::template::Template;
use quagmire_cost::{
    law::{Point, before_plateau},
    resource::{Capability, Resource},
};

/// Number of repetitions of the smallest size.
const SMALLEST: u64 = 5;
/// Ratio of neighbouring sizes: off the powers of two, at which memory that doubles and whole logarithms look smooth.
const RATIO: f64 = 1.7;
/// Most sizes on the way up, and the sizes that there should be at least: where the way up is short, as it is for
/// exponential costs, sizes between are added.
const MOST_SIZES: usize = 24;
const LEAST_SIZES: usize = 14;
/// Fewest sizes in front of a plateau: its law is what is asked for.
const BEFORE_PLATEAU: usize = 8;
/// Part of the hang timeout that a run may be expected to take.
const HANG_SHARE: f64 = 0.4;
/// Part of the time that is left which a run may be expected to take: the first run in a process runs twice.
const BUDGET_SHARE: f64 = 0.25;
/// Local exponent above which growth may be exponential.
const STEEP: f64 = 4.0;
/// Status of inputs that a harness returns -1 for.
pub(super) const REJECTED: &str = "rejected";
/// Shortest run whose time says anything of the next one.
const SHORTEST: f64 = 1e-4;

/// Limits of the runs at growing sizes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Time at which no larger size is begun.
    pub deadline: Instant,
    /// Hang timeout of a run.
    pub hang_timeout: Duration,
    /// Largest input in bytes.
    pub bytes: u64,
    /// Runs of each size, of which the fastest counts: 1 where the cost is not a time.
    pub rounds: u32,
    /// How much of each run is wanted.
    pub detail: Detail,
    /// Resource whose law is looked for.
    pub resource: Resource,
}

/// Reason why no larger size was run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// There are as many sizes as are wanted.
    Sizes,
    /// The next input would be larger than the limit.
    Bytes,
    /// The next run would come near the hang timeout, or exceed the time.
    Time,
    /// A run did not return.
    Failed {
        /// Number of repetitions.
        n: u64,
        /// Size of the input in bytes.
        bytes: u64,
        /// How it ended, in words.
        how: String,
    },
    /// A larger input is not what the smaller ones were: it is rejected, costs less than half, or costs elsewhere.
    Other {
        /// Number of repetitions.
        n: u64,
        /// Size of the input in bytes.
        bytes: u64,
        /// Difference, as a clause without a subject.
        how: &'static str,
    },
    /// A number of the template has no more digits.
    Digits,
    /// A list of the template has no more texts.
    List,
    /// The user asked for the end.
    Stopped,
}

/// Runs at growing sizes.
#[derive(Clone, Debug)]
pub(super) struct Ladder {
    /// The runs that returned, by size.
    pub samples: Vec<Sample>,
    /// Reason why there is no larger one.
    pub end: End,
}

/// Runs `template` at growing sizes, as far as the limits allow. Of a finding, whose number of repetitions comes with it,
/// only runs like it are kept, and smaller ones only behind the last that is not.
pub(super) fn climb(
    runner: &mut Runner,
    template: &Template,
    limits: &Limits,
    finding: Option<(&Finding<'_>, u64)>,
) -> Result<Ladder> {
    let mut ladder = Ladder { samples: Vec::new(), end: End::Sizes };
    // all runs, also of those that are not like the finding
    let mut steps: Vec<Sample> = Vec::new();
    let last_of_list = template.list_end();
    let mut n = SMALLEST;
    while steps.len() < MOST_SIZES {
        if let Some(end) = end_before(template, n, last_of_list) {
            ladder.end = end;
            break;
        }
        let Ok(input) = template.render(n, limits.bytes) else {
            ladder.end = End::Bytes;
            break;
        };
        let run = fastest(runner, &input, limits.detail, limits.rounds);
        if interruption::has_come() {
            // the signal goes to the child as well, which may have ended by it
            ladder.end = End::Stopped;
            break;
        }
        let run = run?;
        let bytes = input.len() as u64;
        let is_smaller = finding.is_some_and(|(_, own)| n <= own);
        if !run.came_back() && !is_smaller {
            ladder.end = End::Failed { n, bytes, how: run.end_in_words() };
            break;
        }
        let how = difference(&run, ladder.samples.last(), finding.map(|(finding, _)| finding), limits);
        match how {
            Some(how) if !is_smaller => {
                ladder.end = End::Other { n, bytes, how };
                break;
            }
            Some(_) => ladder.samples.clear(),
            None => ladder.samples.push(Sample { n, bytes, run: run.clone() }),
        }
        steps.push(Sample { n, bytes, run });
        match next(&steps, limits) {
            // the last size is the end of a list
            Some(larger) => n = last_of_list.filter(|&last| larger > last && n < last).unwrap_or(larger),
            None => {
                ladder.end = End::Time;
                break;
            }
        }
    }
    fill(runner, template, limits, finding, &mut ladder)?;
    Ok(ladder)
}

/// The reason why there is no run at `n`, if there is one before it is made.
fn end_before(template: &Template, n: u64, last_of_list: Option<u64>) -> Option<End> {
    if interruption::has_come() {
        Some(End::Stopped)
    } else if template.largest_n().is_some_and(|last| n > last) {
        Some(End::Digits)
    } else {
        last_of_list.is_some_and(|last| n > last).then_some(End::List)
    }
}

/// Difference of a run from the finding, or from the one before it: it says nothing of the same law.
fn difference(
    run: &Run,
    before: Option<&Sample>,
    finding: Option<&Finding<'_>>,
    limits: &Limits,
) -> Option<&'static str> {
    let cost = |run: &Run| run.cost[Resource::Instructions];
    let falls = before.is_some_and(|before| cost(run) <= cost(&before.run) / 2);
    let is_rejected = run.status == REJECTED;
    match finding {
        Some(finding) if !finding.ends_like(run) => {
            Some(if is_rejected { "is rejected" } else { "ends in another way" })
        }
        Some(finding) if limits.detail >= Detail::Edges && !finding.is_like(run) => {
            Some("costs most in another function")
        }
        _ if falls && is_rejected => Some("is rejected"),
        _ if falls && finding.is_some() => Some("costs less than half of a smaller one"),
        // an allocation has failed, most likely: that is no law of the program
        _ if limits.resource.describe().needs == Capability::Memory
            && before.is_some_and(|before| run.amount(limits.resource) <= before.run.amount(limits.resource) / 2) =>
        {
            Some("uses less than half of the memory of a smaller one")
        }
        _ => None,
    }
}

/// The fastest of several runs, or the first that does not return.
pub(super) fn fastest(runner: &mut Runner, input: &[u8], detail: Detail, rounds: u32) -> Result<Run> {
    let mut best = runner.run(input, detail)?;
    for _ in 1..rounds {
        if !best.came_back() || interruption::has_come() {
            break;
        }
        let run = runner.run(input, detail)?;
        if !run.came_back() || run.seconds < best.seconds {
            best = run;
        }
    }
    Ok(best)
}

/// A size off the powers of two.
fn off_powers_of_two(n: u64) -> u64 {
    if n.is_power_of_two() && n > 4 { n + 1 } else { n }
}

/// The next larger size whose run is affordable.
fn next(samples: &[Sample], limits: &Limits) -> Option<u64> {
    let last = samples.last()?;
    let mut step = (last.n as f64 * (RATIO - 1.0)).ceil().max(1.0);
    loop {
        let n = off_powers_of_two(last.n + step as u64);
        if affordable(samples, n, limits) {
            return Some(n);
        }
        step = (step / 2.0).floor();
        // a size that is nearly the same tells nothing more
        if step < 1.0 || step < last.n as f64 * 0.1 {
            return None;
        }
    }
}

/// Whether a run of size `n` is expected to end in time.
fn affordable(samples: &[Sample], n: u64, limits: &Limits) -> bool {
    let left = limits.deadline.saturating_duration_since(Instant::now()).as_secs_f64();
    let most = (limits.hang_timeout.as_secs_f64() * HANG_SHARE).min(left * BUDGET_SHARE);
    left > 0.0 && expected_seconds(samples, n) <= most
}

/// The CPU time that a run of size `n` is expected to take, by the last three sizes.
fn expected_seconds(samples: &[Sample], n: u64) -> f64 {
    let Some(last) = samples.last() else { return 0.0 };
    let seconds = last.run.seconds.max(SHORTEST);
    let work = |sample: &Sample| sample.run.cost[Resource::Instructions].max(1) as f64;
    let growth = |pair: &[Sample]| (work(&pair[1]) / work(&pair[0])).ln().max(0.0);
    let exponents: Vec<f64> = samples.windows(2).map(|p| growth(p) / (p[1].n as f64 / p[0].n as f64).ln()).collect();
    let Some(exponent) = exponents.last() else { return seconds };
    let polynomial = (n as f64 / last.n as f64).powf(exponent.max(1.0));
    let rises = exponents.len() < 2 || *exponent > exponents[exponents.len() - 2] + 0.5;
    if *exponent < STEEP || !rises {
        return seconds * polynomial;
    }
    let pair = &samples[samples.len() - 2..];
    let rate = growth(pair) / (pair[1].n - pair[0].n) as f64;
    seconds * polynomial.max((rate * (n - last.n) as f64).exp())
}

/// Adds the finding's own size, and sizes between the others, in the widest gaps first, until there are enough of them: in all,
/// and in front of a plateau.
fn fill(
    runner: &mut Runner,
    template: &Template,
    limits: &Limits,
    finding: Option<(&Finding<'_>, u64)>,
    ladder: &mut Ladder,
) -> Result<()> {
    let own = finding.map(|(_, own)| own);
    let mut refused = Vec::new();
    while !interruption::has_come() && Instant::now() < limits.deadline {
        let Some(n) = wanted(&ladder.samples, own, &refused) else { break };
        let Ok(input) = template.render(n, limits.bytes) else { break };
        let run = fastest(runner, &input, limits.detail, limits.rounds);
        if interruption::has_come() {
            ladder.end = End::Stopped;
            break;
        }
        let run = run?;
        if !run.came_back() || difference(&run, None, finding.map(|(finding, _)| finding), limits).is_some() {
            refused.push(n);
            continue;
        }
        let at = ladder.samples.partition_point(|sample| sample.n < n);
        ladder.samples.insert(at, Sample { n, bytes: input.len() as u64, run });
    }
    Ok(())
}

/// The next size to add; `None` if there are enough, or none is left.
fn wanted(samples: &[Sample], own: Option<u64>, refused: &[u64]) -> Option<u64> {
    let (first, last) = (samples.first()?, samples.last()?);
    let is_finding = own.is_some();
    let is_missing = |n: &u64| samples.iter().all(|sample| sample.n != *n) && !refused.contains(n);
    let own = own.filter(|own| (first.n..=last.n).contains(own)).filter(is_missing);
    if own.is_some() {
        return own;
    }
    let points: Vec<Point> = samples
        .iter()
        .map(|sample| Point { size: sample.n, amount: sample.run.cost[Resource::Instructions] })
        .collect();
    let plateau = before_plateau(&points).unwrap_or(samples.len());
    let some = match plateau {
        few if is_finding && few < BEFORE_PLATEAU && few < samples.len() => &samples[..=few],
        _ if samples.len() < LEAST_SIZES => samples,
        _ => return None,
    };
    let ratio = |pair: &[Sample]| pair[1].n as f64 / pair[0].n as f64;
    let middle = |pair: &[Sample]| {
        let n = ((pair[0].n * pair[1].n) as f64).sqrt().round() as u64;
        n.clamp(pair[0].n + 1, pair[1].n - 1)
    };
    let pairs = some.windows(2).filter(|pair| pair[1].n - pair[0].n > 1).map(|pair| (middle(pair), ratio(pair)));
    pairs.filter(|(n, _)| is_missing(n)).max_by(|a, b| a.1.total_cmp(&b.1)).map(|(n, _)| n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use quagmire_cost::resource::Cost;

    fn sample(n: u64, instructions: u64) -> Sample {
        let cost = Cost::from([(Resource::Instructions, instructions)]);
        let run = Run { cost, seconds: instructions as f64 * 1e-9, ..Run::default() };
        Sample { n, bytes: n, run }
    }

    fn limits() -> Limits {
        Limits {
            deadline: Instant::now() + Duration::from_secs(1_000),
            hang_timeout: Duration::from_secs(10),
            bytes: 1 << 20,
            rounds: 1,
            detail: Detail::Cost,
            resource: Resource::Instructions,
        }
    }

    #[test]
    fn what_uses_much_less_memory_than_a_smaller_one_had_none() {
        let run = |heap| Run { cost: Cost::from([(Resource::Heap, heap)]), ..Run::default() };
        let before = Sample { n: 5, bytes: 5, run: run(1 << 30) };
        let of = |resource, heap| difference(&run(heap), Some(&before), None, &Limits { resource, ..limits() });
        assert!(of(Resource::Heap, 1 << 20).is_some());
        assert!(of(Resource::Heap, 1 << 31).is_none() && of(Resource::Instructions, 1 << 20).is_none());
    }

    #[test]
    fn sizes_grow_by_their_ratio_and_are_no_powers_of_two() {
        let mut samples = vec![sample(SMALLEST, 5_000)];
        while samples.len() < 20 {
            let n = next(&samples, &limits()).unwrap();
            assert!(!n.is_power_of_two());
            samples.push(sample(n, n * 1_000));
        }
        let (first, last) = (samples[0].n as f64, samples[19].n as f64);
        assert!((last / first).powf(1.0 / 19.0) < 1.75);
    }

    #[test]
    fn the_finding_itself_and_sizes_in_front_of_a_plateau_are_added() {
        let mut samples: Vec<Sample> =
            [5, 9, 17, 400, 700, 1_200, 2_100].map(|n| sample(n, n.min(200) * 1_000)).to_vec();
        assert_eq!(wanted(&samples, Some(30), &[]), Some(30));
        let mut added = Vec::new();
        while let Some(n) = wanted(&samples, Some(9), &[]).filter(|_| added.len() < 20) {
            added.push(n);
            let at = samples.partition_point(|sample| sample.n < n);
            samples.insert(at, sample(n, n.min(200) * 1_000));
        }
        assert!(added.iter().filter(|n| **n < 400).count() >= 5, "{added:?}");
        assert!(added.len() < 20 && samples.windows(2).all(|pair| pair[0].n < pair[1].n), "{added:?}");
    }

    #[test]
    fn exponential_runs_are_approached_with_small_steps() {
        let mut samples = vec![sample(SMALLEST, 5_000)];
        while let Some(n) = next(&samples, &limits()) {
            samples.push(sample(n, 1_000 << n.min(50)));
            assert!(samples.len() < 30);
        }
        let last = samples.last().unwrap();
        assert!(last.run.seconds < 5.0 && last.n >= 20, "{} {}", last.n, last.run.seconds);
    }
}
