//! What ordinary inputs of each size cost: a fixed part, and a part for each byte.
//!
//! A linear program costs more for a larger input, and nobody calls that slow. So the seeds are measured at several sizes:
//! parts of them, and several of them joined. What a byte costs is estimated twice:
//! - *inside* a seed, by the median of the increments from one part to the next;
//! - by *joining*, by the median of the increments from one size to its double.
//!
//! Medians, since a header that is complete at one size, a buffer that is enlarged, or a program that is quadratic makes
//! some increments large that are not ordinary. The larger of the two counts: a parser that stops after the first document
//! makes joined seeds cheap, and a program that works once its input is complete makes parts cheap. Either estimate is
//! left out where the program shows that it refused the inputs; without both, all of what a seed costs above the cheapest
//! run is divided by its bytes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    resource::{Cost, Resource},
    statistics::median,
};

/// What an input has to exceed to be a degradation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RelativeTo {
    /// An ordinary input of its size.
    Size,
    /// The median seed, whatever its size: as in Perun, and in campaigns that say nothing about it.
    #[default]
    Seed,
}

/// Size and cost of one run.
pub type Sized = (u64, Cost);

/// One seed at several sizes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// The seed.
    pub seed: Sized,
    /// Its beginnings that the target accepted, the shortest first.
    pub parts: Vec<Sized>,
    /// The seed and others, joined, that the target accepted, the shortest first.
    pub joined: Vec<Sized>,
    /// Of each run on a part that came back, also of those that were rejected: the cheapest.
    pub cheapest: Option<Cost>,
}

/// Cost as a straight line over size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// What remains for no bytes; negative where the seeds cost less than their bytes would.
    pub fixed: f64,
    /// For each byte; the median over the seeds.
    pub per_byte: f64,
    /// By how much seeds differ in it: 1.48 times the median absolute deviation, which is the standard deviation of
    /// values that are distributed normally.
    pub spread: f64,
}

/// What is expected of inputs by their size. Without seeds of any size, what the baseline costs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SizeModel {
    baseline: Cost,
    lines: BTreeMap<Resource, Line>,
    /// Seeds that it rests on.
    pub seeds: u64,
    /// Runs that it rests on.
    pub runs: u64,
    /// The largest input that it rests on, in bytes.
    pub largest: u64,
}

/// Makes the median absolute deviation the standard deviation of normally distributed values.
const OF_NORMAL: f64 = 1.4826;

/// So many standard deviations above the median is still ordinary: 97.7 % of normally distributed values are below.
const ORDINARY: f64 = 2.0;

fn slopes(resource: Resource, runs: &[Sized]) -> Option<f64> {
    let slope = |pair: &[Sized]| {
        let [(small, cheap), (large, dear)] = pair else { return None };
        let bytes = large.checked_sub(*small).filter(|&bytes| bytes > 0)?;
        Some((resource.of(dear) as f64 - resource.of(cheap) as f64) / bytes as f64)
    };
    let slopes: Vec<f64> = runs.windows(2).filter_map(slope).collect();
    (!slopes.is_empty()).then(|| median(&slopes).max(0.0))
}

impl Series {
    /// What the seed costs above the cheapest run.
    fn above_cheapest(&self, resource: Resource) -> f64 {
        let least = self.cheapest.map_or(0, |cost| resource.of(&cost));
        resource.of(&self.seed.1).saturating_sub(least) as f64
    }

    /// A byte inside the seed. `None` if more than half of the cost comes with the last part: the others were refused.
    fn inside(&self, resource: Resource) -> Option<f64> {
        let last = resource.of(&self.parts.last()?.1);
        let of_last = resource.of(&self.seed.1).saturating_sub(last) as f64;
        let runs: Vec<Sized> = self.parts.iter().copied().chain([self.seed]).collect();
        if of_last > self.above_cheapest(resource) / 2.0 { None } else { slopes(resource, &runs) }
    }

    /// A byte of joined seeds. `None` if they cost less than the seed: they were refused.
    fn joined(&self, resource: Resource) -> Option<f64> {
        let runs: Vec<Sized> = [self.seed].into_iter().chain(self.joined.iter().copied()).collect();
        let last = runs.last()?;
        if resource.of(&last.1) < resource.of(&self.seed.1) { None } else { slopes(resource, &runs) }
    }

    /// Whether what was joined to the seed costs at least half of what as many of its own bytes do (as the whole seed, if
    /// more was joined): otherwise it may be that nobody reads it.
    fn is_joined_read(&self, resource: Resource) -> bool {
        let Some((bytes, cost)) = self.joined.last() else { return false };
        let share = (bytes.saturating_sub(self.seed.0) as f64 / self.seed.0.max(1) as f64).min(1.0);
        let grown = resource.of(cost) as f64 - resource.of(&self.seed.1) as f64;
        grown >= share * self.above_cheapest(resource) / 2.0
    }

    /// What a byte costs.
    fn per_byte(&self, resource: Resource) -> f64 {
        match (self.inside(resource), self.joined(resource)) {
            (Some(inside), Some(joined)) => inside.max(joined),
            (Some(inside), None) => inside,
            (None, Some(joined)) if self.is_joined_read(resource) => joined,
            _ => self.above_cheapest(resource) / self.seed.0.max(1) as f64,
        }
    }
}

impl Line {
    fn through(resource: Resource, series: &[Series]) -> Self {
        let rates: Vec<f64> = series.iter().map(|one| one.per_byte(resource)).collect();
        let per_byte = median(&rates);
        let deviations: Vec<f64> = rates.iter().map(|rate| (rate - per_byte).abs()).collect();
        let rest = |one: &Series| resource.of(&one.seed.1) as f64 - per_byte * one.seed.0 as f64;
        Self {
            fixed: median(&series.iter().map(rest).collect::<Vec<f64>>()),
            per_byte,
            spread: OF_NORMAL * median(&deviations),
        }
    }

    fn at(&self, bytes: u64) -> f64 {
        self.fixed + self.per_byte * bytes as f64
    }
}

impl SizeModel {
    /// From the seeds at several sizes; `baseline` is what the median seed costs.
    pub fn new(baseline: Cost, series: &[Series]) -> Self {
        let sampled: Vec<Series> = series.iter().filter(|one| one.seed.0 > 0).cloned().collect();
        let resources = Resource::ALL.into_iter().filter(|resource| resource.is_deterministic());
        let line = |resource| (resource, Line::through(resource, &sampled));
        let all = |one: &Series| one.parts.len() + one.joined.len() + 1;
        let largest = sampled.iter().flat_map(|one| one.joined.iter().chain([&one.seed])).map(|run| run.0);
        Self {
            baseline,
            lines: if sampled.is_empty() { BTreeMap::new() } else { resources.map(line).collect() },
            seeds: sampled.len() as u64,
            runs: sampled.iter().map(all).sum::<usize>() as u64,
            largest: largest.max().unwrap_or(0),
        }
    }

    /// The line of a resource that is the same in every run.
    pub fn line(&self, resource: Resource) -> Option<Line> {
        self.lines.get(&resource).copied()
    }

    /// What an ordinary input of this size uses, never less than the baseline. Time and cycles, which single runs do not
    /// tell, grow as instructions do.
    pub fn ordinary(&self, resource: Resource, bytes: u64) -> f64 {
        let baseline = resource.of(&self.baseline) as f64;
        if resource.is_deterministic() {
            return self.lines.get(&resource).map_or(0.0, |line| line.at(bytes)).max(baseline);
        }
        let instructions = Resource::Instructions.of(&self.baseline).max(1) as f64;
        baseline * self.ordinary(Resource::Instructions, bytes) / instructions
    }

    /// What an input of `bytes` uses, as a multiple of an ordinary one of its size.
    pub fn ratio(&self, resource: Resource, amount: u64, bytes: u64) -> f64 {
        resource.ratio(amount, self.ordinary(resource, bytes).round() as u64)
    }

    /// Whether as much lies within the spread of the seeds.
    pub fn is_ordinary(&self, resource: Resource, amount: u64, bytes: u64) -> bool {
        let line = self.lines.get(if resource.is_deterministic() { &resource } else { &Resource::Instructions });
        let Some(line) = line.filter(|line| line.per_byte > 0.0) else { return false };
        let widened = Line { per_byte: line.per_byte + ORDINARY * line.spread, ..*line };
        // as a share of the line, so that it holds for time as well
        let share = widened.at(bytes) / line.at(bytes).max(1.0);
        amount as f64 <= share * self.ordinary(resource, bytes)
    }
}

#[cfg(test)]
mod tests;
