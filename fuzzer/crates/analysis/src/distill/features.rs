//! Features of runs: properties that the distilled corpus keeps.

use std::fmt;

use super::rows::Rows;
use crate::runner::{EdgeCount, Run};
use quagmire_cost::resource::Resource;
use quagmire_execution::bucket::bucket;

/// Properties of a corpus that `distill` keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// Each edge, in each of AFL's buckets.
    #[default]
    Coverage,
    /// The maximum of each edge's executions, of each function's instructions and of each resource, and each law.
    Cost,
}

impl Purpose {
    pub const ALL: [Self; 2] = [Self::Coverage, Self::Cost];

    /// Name in options and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Coverage => "coverage",
            Self::Cost => "cost",
        }
    }

    /// Names of one of its features, and of several.
    pub(super) const fn features(self) -> [&'static str; 2] {
        match self {
            Self::Coverage => ["bucket of an edge", "buckets of edges"],
            Self::Cost => ["maximum", "maxima"],
        }
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Number of a law, by which its cause and its class can be told from others.
pub(super) type LawNumber = u32;

/// Largest amount so far, and the number that rows have for it.
#[derive(Clone, Copy, Debug, Default)]
struct Maximum {
    amount: u64,
    number: u32,
}

/// Numbers the features of runs. A maximum that is exceeded gets another number: those of earlier rows are dead then.
#[derive(Clone, Debug)]
pub(super) struct Features {
    purpose: Purpose,
    /// For coverage: buckets of each edge that were seen.
    buckets: Vec<u8>,
    /// For cost: maxima of edges, functions, resources and laws, by their numbers.
    maxima: [Vec<Maximum>; 4],
    /// First number that was not given out.
    next: u32,
}

impl Features {
    pub(super) fn new(purpose: Purpose) -> Self {
        Self { purpose, buckets: Vec::new(), maxima: Default::default(), next: 0 }
    }

    /// Whether a run has a feature that no run before it had.
    pub(super) fn has_new(&self, run: &Run) -> bool {
        match self.purpose {
            Purpose::Coverage => {
                let seen = |edge: u32| self.buckets.get(edge as usize).copied().unwrap_or(0);
                buckets(run).any(|(edge, class)| seen(edge) & 1 << class == 0)
            }
            Purpose::Cost => amounts(run, None)
                .any(|(kind, place, amount)| amount > self.maxima[kind].get(place).map_or(0, |maximum| maximum.amount)),
        }
    }

    /// Puts the numbers of a run's features into `numbers`, in no order. `law` is the law of its input, if it is known.
    pub(super) fn number(&mut self, run: &Run, law: Option<LawNumber>, numbers: &mut Vec<u32>) {
        numbers.clear();
        if self.purpose == Purpose::Coverage {
            for (edge, class) in buckets(run) {
                *at(&mut self.buckets, edge as usize) |= 1 << class;
                let number = edge << 3 | class;
                self.next = self.next.max(number + 1);
                numbers.push(number);
            }
            return;
        }
        for (kind, place, amount) in amounts(run, law) {
            let maximum = at(&mut self.maxima[kind], place);
            if amount > maximum.amount {
                *maximum = Maximum { amount, number: self.next };
                self.next += 1;
            }
            if amount > 0 && amount == maximum.amount {
                numbers.push(maximum.number);
            }
        }
    }

    /// Makes features of the numbers that are alive.
    pub(super) fn finish(&self, rows: &mut Rows) {
        let mut is_live = vec![false; self.next as usize];
        match self.purpose {
            Purpose::Coverage => {
                let mut numbers = Vec::new();
                for row in 0..rows.len() as u32 {
                    rows.read(row, &mut numbers);
                    numbers.iter().for_each(|&number| is_live[number as usize] = true);
                }
            }
            Purpose::Cost => {
                let maxima = self.maxima.iter().flatten().filter(|one| one.amount > 0);
                maxima.for_each(|one| is_live[one.number as usize] = true);
            }
        }
        rows.finish(&is_live);
    }
}

/// Edges of a run with the numbers of their buckets. Charges for calls of the C library are no edges.
fn buckets(run: &Run) -> impl Iterator<Item = (u32, u32)> {
    let is_edge = |one: &&EdgeCount| run.charges.binary_search(&one.edge).is_err();
    let class = |one: &EdgeCount| bucket(u32::try_from(one.count).unwrap_or(u32::MAX)).trailing_zeros();
    run.edges.iter().filter(is_edge).map(move |one| (one.edge, class(one)))
}

/// Amounts of a run that have maxima: kind, number and amount.
fn amounts(run: &Run, law: Option<LawNumber>) -> impl Iterator<Item = (usize, usize, u64)> {
    let edges = run.edges.iter().map(|one| (0, one.edge as usize, one.count));
    let functions = run.functions.iter().map(|one| (1, one.function as usize, one.instructions));
    let resources = Resource::ALL.into_iter().filter(|resource| resource.is_deterministic());
    let resources = resources.map(|resource| (2, resource as usize, run.cost[resource]));
    edges.chain(functions).chain(resources).chain(law.map(|law| (3, law as usize, 1)))
}

/// The element at a place, for which room is made.
fn at<T: Default + Clone>(all: &mut Vec<T>, place: usize) -> &mut T {
    if all.len() <= place {
        all.resize(place + 1, T::default());
    }
    &mut all[place]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::FunctionCount;
    use quagmire_cost::resource::Cost;

    fn run(counts: &[(u32, u64)]) -> Run {
        let edges = counts.iter().map(|&(edge, count)| EdgeCount { edge, count, weight: 1 }).collect();
        Run { edges, ..Run::default() }
    }

    /// Features of each run, all runs known.
    fn features(purpose: Purpose, runs: &[Run]) -> Vec<Vec<u32>> {
        let (mut features, mut rows, mut numbers) = (Features::new(purpose), Rows::default(), Vec::new());
        let mut pushed = Vec::new();
        for run in runs {
            features.number(run, None, &mut numbers);
            pushed.push(rows.push(&mut numbers));
        }
        features.finish(&mut rows);
        let read = |row| {
            rows.read(row, &mut numbers);
            numbers.clone()
        };
        pushed.into_iter().map(read).collect()
    }

    #[test]
    fn counts_of_a_bucket_are_one_feature_and_those_of_another_are_another() {
        let runs = [run(&[(7, 4)]), run(&[(7, 7)]), run(&[(7, 8)]), run(&[(7, 1 << 40), (9, 1)])];
        assert_eq!(features(Purpose::Coverage, &runs), [vec![0], vec![0], vec![1], vec![2, 3]]);
    }

    #[test]
    fn charges_have_maxima_and_no_buckets() {
        let charged = |edge, count| Run { charges: vec![edge], ..run(&[(0, 1), (edge, count)]) };
        let runs = [charged(1, 100), charged(1, 900)];
        assert_eq!(features(Purpose::Coverage, &runs), [vec![0], vec![0]]);
        assert_eq!(features(Purpose::Cost, &runs).iter().map(Vec::len).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn only_the_largest_count_is_a_maximum_and_all_that_reach_it_hold_it() {
        let runs = [run(&[(0, 5), (1, 2)]), run(&[(0, 9)]), run(&[(0, 9), (1, 1)]), run(&[(0, 8)])];
        let [first, second, third, fourth] = features(Purpose::Cost, &runs).try_into().unwrap();
        assert_eq!((first.len(), fourth.len()), (1, 0));
        assert_eq!(second, third);
        assert!(second.len() == 1 && second != first);
    }

    #[test]
    fn functions_and_resources_have_maxima_of_their_own_and_times_have_none() {
        let of = |function, instructions, cost: [(Resource, u64); 1]| {
            let functions = vec![FunctionCount { function, instructions }];
            Run { functions, cost: Cost::from(cost), ..Run::default() }
        };
        let runs = [
            of(3, 10, [(Resource::Stack, 1)]),
            of(3, 11, [(Resource::Stack, 1)]),
            of(3, 1, [(Resource::Heap, 1)]),
            of(3, 2, [(Resource::Time, 9)]),
        ];
        let lengths: Vec<usize> = features(Purpose::Cost, &runs).iter().map(Vec::len).collect();
        assert_eq!(lengths, [1, 2, 1, 0]);
    }

    #[test]
    fn what_a_run_before_had_is_not_new() {
        for (purpose, known, new) in [(Purpose::Coverage, [(7, 5)], [(7, 9)]), (Purpose::Cost, [(7, 4)], [(7, 6)])] {
            let (mut features, mut numbers) = (Features::new(purpose), Vec::new());
            assert!(features.has_new(&run(&known)));
            features.number(&run(&[(7, 5)]), None, &mut numbers);
            assert!(!features.has_new(&run(&known)) && features.has_new(&run(&new)), "{purpose:?}");
        }
    }

    #[test]
    fn each_law_keeps_an_input_that_shows_it() {
        let (mut features, mut numbers) = (Features::new(Purpose::Cost), Vec::new());
        let mut of = |law| {
            features.number(&Run::default(), law, &mut numbers);
            numbers.clone()
        };
        assert_eq!([of(None), of(Some(1)), of(Some(0)), of(Some(1))], [vec![], vec![0], vec![1], vec![0]]);
    }
}
