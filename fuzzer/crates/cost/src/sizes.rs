//! Expected cost of an ordinary input as a function of its size: a fixed part and a part for each byte.
//!
//! A linear program costs more for a larger input, which is not slowness. So the seeds are measured at several sizes:
//! beginnings of them, and several of them joined. The cost of a byte is estimated twice:
//! - *inside* a seed, by the median of the increments from one eighth of it to the next;
//! - by *joining*, by the lower quartile of the increments from one size to its double: if a program is worse than
//!   linear, the increments between large sizes are what the search looks for, and not ordinary.
//!
//! Medians and quartiles instead of means, since a header that is complete at one size, or a buffer that is enlarged,
//! makes some increments large that are not ordinary. The larger of the two estimates counts: a parser that stops
//! after the first document makes joined seeds cheap, and a program that works once its input is complete makes parts
//! cheap. Either estimate is left out where the program shows that it refused the inputs; without both, the cost of
//! the seed above the cheapest run is divided by its bytes.
//!
//! Not all bytes cost the same: a number in a list is more work than the inside of a string, and a program that does
//! more of that work is linear as well. The cost that nine tenths of the small pieces of the seeds do not exceed is
//! still ordinary, so an input has to exceed that by the threshold. Nine tenths and not all, since some pieces of any
//! seed are special, such as the one that completes its header.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    resource::{Cost, Resource},
    statistics::median,
};

/// Reference that an input has to exceed to be a degradation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RelativeTo {
    /// An ordinary input of its size.
    Size,
    /// The median seed, whatever its size: as in Perun, and the value for summaries that do not name one.
    #[default]
    Seed,
}

/// Size in bytes and cost of one run.
pub type Sized = (u64, Cost);

/// Measurements of one seed at several sizes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Run of the whole seed.
    pub seed: Sized,
    /// Runs of beginnings of the seed that the target accepted, the shortest first.
    pub parts: Vec<Sized>,
    /// Runs of the seed joined with others that the target accepted, the shortest first.
    pub joined: Vec<Sized>,
    /// Cost of the run on a part with the fewest instructions, rejected parts included. `None` without such runs.
    pub cheapest: Option<Cost>,
}

/// Cost as a straight line over size in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Amount at size 0, the median over the seeds; negative where the seeds cost less than `per_byte` times their
    /// size.
    pub fixed: f64,
    /// Amount for each byte, the median over the seeds.
    pub per_byte: f64,
    /// Amount for each byte of expensive content: the cost that nine tenths of the pieces of the seeds do not exceed.
    /// Not less than `per_byte`.
    pub per_byte_high: f64,
}

/// Expected cost of an ordinary input of each size. Without seeds of at least one byte, the baseline for every size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SizeModel {
    baseline: Cost,
    lines: BTreeMap<Resource, Line>,
    /// Number of seeds that were measured.
    pub seeds: u64,
    /// Number of runs that were measured.
    pub runs: u64,
    /// Size of the largest input that was measured, in bytes.
    pub largest: u64,
}

/// Number of parts of a seed between which the increments for a byte inside it are taken.
const COARSE: u64 = 8;

/// Share of the pieces of seeds that count as ordinary.
const ORDINARY: f64 = 0.9;

/// Cost of a byte between each run and the next larger one.
fn slopes(resource: Resource, runs: &[Sized]) -> Vec<f64> {
    let slope = |pair: &[Sized]| {
        let [(small, cheap), (large, dear)] = pair else { return None };
        let bytes = large.checked_sub(*small).filter(|&bytes| bytes > 0)?;
        Some((dear[resource] as f64 - cheap[resource] as f64) / bytes as f64)
    };
    runs.windows(2).filter_map(slope).collect()
}

fn median_slope(resource: Resource, runs: &[Sized]) -> Option<f64> {
    let slopes = slopes(resource, runs);
    (!slopes.is_empty()).then(|| median(&slopes).max(0.0))
}

/// Lower quartile of the slopes, at least 0; `None` for fewer than two runs.
fn low_slope(resource: Resource, runs: &[Sized]) -> Option<f64> {
    let mut slopes = slopes(resource, runs);
    slopes.sort_by(f64::total_cmp);
    slopes.get(slopes.len().saturating_sub(1) / 4).map(|slope| slope.max(0.0))
}

impl Series {
    /// Cost of the seed above the cheapest run.
    fn above_cheapest(&self, resource: Resource) -> f64 {
        let least = self.cheapest.map_or(0, |cost| cost[resource]);
        self.seed.1[resource].saturating_sub(least) as f64
    }

    /// The largest part within each eighth of the seed.
    fn eighths(&self) -> Vec<Sized> {
        let up_to = |eighth: u64| self.parts.iter().rfind(|part| part.0 <= self.seed.0 * eighth / COARSE).copied();
        let mut parts: Vec<Sized> = (0..COARSE).filter_map(up_to).collect();
        parts.dedup_by_key(|part| part.0);
        parts
    }

    /// Whether the parts were refused: more than half of the cost comes with the last eighth.
    fn are_parts_refused(&self, resource: Resource) -> bool {
        let Some(last) = self.eighths().last().map(|part| part.1[resource]) else { return true };
        self.seed.1[resource].saturating_sub(last) as f64 > self.above_cheapest(resource) / 2.0
    }

    /// Cost of a byte inside the seed; `None` if its parts were refused.
    fn inside(&self, resource: Resource) -> Option<f64> {
        let runs: Vec<Sized> = self.eighths().into_iter().chain([self.seed]).collect();
        if self.are_parts_refused(resource) { None } else { median_slope(resource, &runs) }
    }

    /// Cost of a byte in each small piece of the seed; one value for all of it if its parts were refused.
    fn pieces(&self, resource: Resource) -> Vec<f64> {
        if self.are_parts_refused(resource) {
            return vec![self.per_byte(resource)];
        }
        let runs: Vec<Sized> = self.parts.iter().copied().chain([self.seed]).collect();
        slopes(resource, &runs)
    }

    /// Cost of a byte of joined seeds; `None` if they were refused, that is if the largest of them costs less than the
    /// seed.
    fn joined(&self, resource: Resource) -> Option<f64> {
        let runs: Vec<Sized> = [self.seed].into_iter().chain(self.joined.iter().copied()).collect();
        let last = runs.last()?;
        if last.1[resource] < self.seed.1[resource] { None } else { low_slope(resource, &runs) }
    }

    /// Whether the target reads what is joined to the seed: the joined part costs at least half of what as many bytes
    /// of the seed do (of what the whole seed does, if more was joined).
    fn is_joined_read(&self, resource: Resource) -> bool {
        let Some((bytes, cost)) = self.joined.last() else { return false };
        let share = (bytes.saturating_sub(self.seed.0) as f64 / self.seed.0.max(1) as f64).min(1.0);
        let grown = cost[resource] as f64 - self.seed.1[resource] as f64;
        grown >= share * self.above_cheapest(resource) / 2.0
    }

    /// Cost of a byte: the larger of the estimates that are usable.
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
        let mut pieces: Vec<f64> = series.iter().flat_map(|one| one.pieces(resource)).collect();
        pieces.sort_by(f64::total_cmp);
        let ordinary = ((pieces.len().max(1) - 1) as f64 * ORDINARY) as usize;
        let rest = |one: &Series| one.seed.1[resource] as f64 - per_byte * one.seed.0 as f64;
        Self {
            fixed: median(&series.iter().map(rest).collect::<Vec<f64>>()),
            per_byte,
            per_byte_high: pieces.get(ordinary).copied().unwrap_or(0.0).max(per_byte),
        }
    }

    fn at(&self, bytes: u64) -> f64 {
        self.fixed + self.per_byte * bytes as f64
    }
}

impl SizeModel {
    /// Fits the model to the seeds at several sizes. `baseline` is the cost of the median seed.
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

    /// Line of a deterministic resource; `None` for others, and without seeds.
    pub fn line(&self, resource: Resource) -> Option<Line> {
        self.lines.get(&resource).copied()
    }

    /// Amount expected of an ordinary input of `bytes`, at least the baseline. Time and cycles, for which single runs
    /// are too inexact, are scaled as instructions are.
    pub fn ordinary(&self, resource: Resource, bytes: u64) -> f64 {
        let baseline = self.baseline[resource] as f64;
        if resource.is_deterministic() {
            return self.lines.get(&resource).map_or(0.0, |line| line.at(bytes)).max(baseline);
        }
        let instructions = self.baseline[Resource::Instructions].max(1) as f64;
        baseline * self.ordinary(Resource::Instructions, bytes) / instructions
    }

    /// `amount` of an input of `bytes` as a multiple of an ordinary input of its size.
    pub fn ratio(&self, resource: Resource, amount: u64, bytes: u64) -> f64 {
        resource.ratio(amount, self.ordinary(resource, bytes).round() as u64)
    }

    /// Cost of an input of `bytes` that is all expensive content, as a multiple of an ordinary input of its size; at
    /// least 1.
    pub fn margin(&self, resource: Resource, bytes: u64) -> f64 {
        let resource = if resource.is_deterministic() { resource } else { Resource::Instructions };
        let Some(line) = self.lines.get(&resource) else { return 1.0 };
        let dear = Line { per_byte: line.per_byte_high, ..*line };
        (dear.at(bytes) / self.ordinary(resource, bytes).max(1.0)).max(1.0)
    }
}

#[cfg(test)]
mod tests;
