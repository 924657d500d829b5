//! Laws of a template's runs: of the whole by its edges, of functions, of lines, and of other resources.

use std::{
    collections::{BTreeMap, HashMap},
    time::Instant,
};

use serde::Serialize;

use super::sample::{Axis, Sample};
use crate::{
    interruption,
    runner::{Detail, Run, Runner},
};
use quagmire_base::error::Result;
use quagmire_choices::template::Template;
use quagmire_cost::{
    law::{Confidence, EqualSteps, Fit, LARGEST_ERROR, Part, Point, Total, fit, sum},
    resource::Resource,
};

/// Edges that are fitted one by one carry this share of the instructions at the largest size; the others are one.
const FITTED: f64 = 0.999;
const MOST_EDGES: usize = 200;
/// Share of sure edges from which on their sum may overrule the fit of the total.
const SURE: f64 = 0.95;
/// Functions and lines with a law.
const MOST_PLACES: usize = 12;
/// Share of the instructions below which a place is left out.
const LEAST_SHARE: f64 = 0.001;
/// Equal steps, from the one that leaves vectors the same remainder down, and their number.
const STEPS: [u64; 4] = [64, 16, 4, 1];
const STEP_COUNT: u64 = 8;
/// Steps up to the far size, at least.
const FAR_STEPS: u64 = 30;

/// Law of a function or a source line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlaceLaw {
    /// Demangled name of the function.
    pub function: String,
    /// `file:line`, if there is debug information.
    pub location: Option<String>,
    /// Share of the instructions at the largest size, 0 to 1.
    pub share: f64,
    pub words: String,
    /// The law of its instructions.
    pub fit: Fit,
}

pub(super) fn points(samples: &[Sample], axis: Axis, amount: impl Fn(&Run) -> u64) -> Vec<Point> {
    samples.iter().map(|sample| Point { size: axis.size(sample), amount: amount(&sample.run) }).collect()
}

/// Runs at equal steps and at a far size, for exact polynomials.
pub(super) struct Equal {
    step: u64,
    runs: Vec<Run>,
    far: (u64, Run),
}

impl Equal {
    /// Makes the runs, if there is time left; `None` if the sizes that were run leave no room for them, or one does not return.
    pub(super) fn run(
        runner: &mut Runner,
        template: &Template,
        samples: &[Sample],
        until: Instant,
    ) -> Result<Option<Self>> {
        let largest = samples.last().map_or(0, |sample| sample.n);
        let Some(step) = STEPS.into_iter().find(|step| step * FAR_STEPS <= largest) else { return Ok(None) };
        let far = (largest / step).min(step * 1_000) * step;
        let mut run = |n: u64| -> Result<Option<Run>> {
            let Ok(input) = template.render(n, runner.capacity() as u64) else { return Ok(None) };
            if interruption::has_come() || Instant::now() >= until {
                return Ok(None);
            }
            let run = runner.run(&input, Detail::Edges)?;
            Ok(run.came_back().then_some(run))
        };
        let mut runs = Vec::new();
        for at in 1..=STEP_COUNT {
            match run(at * step)? {
                Some(run) => runs.push(run),
                None => return Ok(None),
            }
        }
        Ok(run(far)?.map(|last| Self { step, runs, far: (far, last) }))
    }

    /// The amounts of one thing at equal steps.
    pub(super) fn of(&self, amount: impl Fn(&Run) -> u64) -> EqualSteps {
        EqualSteps {
            start: self.step,
            step: self.step,
            amounts: self.runs.iter().map(&amount).collect(),
            far: Point { size: self.far.0, amount: amount(&self.far.1) },
        }
    }
}

/// The law of the instructions: of the total, and of the sum of edges where that says more.
pub(super) fn of_instructions(
    samples: &[Sample],
    axis: Axis,
    equal: Option<&Equal>,
    until: Instant,
) -> Option<(Fit, Option<Total>)> {
    let amount = |run: &Run| run.cost[Resource::Instructions];
    let total_points = points(samples, axis, amount);
    let direct = fit(&total_points, equal.map(|equal| equal.of(amount)).as_ref())?;
    let Some(total) = of_edges(samples, axis, equal, until) else { return Some((direct, None)) };
    let largest = &total_points[total_points.len().saturating_sub(3)..];
    let error = largest.iter().map(|point| {
        let (said, amount) = (total.law.amount_at(point.size as f64), point.amount.max(1) as f64);
        (said - amount).abs() / said.min(amount).max(1.0)
    });
    let error = error.fold(0.0, f64::max);
    let says_more = total.law.class() != direct.law.class() || direct.confidence < Confidence::High;
    if direct.exact || direct.cap.is_some() || !says_more || total.sure < SURE || error > LARGEST_ERROR {
        return Some((direct, Some(total)));
    }
    let same = total.law.class() == direct.law.class();
    // what neither the edges alone nor the total alone says is not said with high confidence
    let most = if direct.rival.is_none() && !direct.steps && same { Confidence::High } else { Confidence::Medium };
    let fit = Fit {
        law: total.law.clone(),
        error,
        steps: false,
        rival: None,
        confidence: total.confidence.min(most),
        ..direct
    };
    Some((fit, Some(total)))
}

/// The sum of the laws of all edges; those that carry next to nothing are one. `None` if there is no time left.
fn of_edges(samples: &[Sample], axis: Axis, equal: Option<&Equal>, until: Instant) -> Option<Total> {
    let last = samples.last()?;
    if last.run.edges.is_empty() {
        return None;
    }
    let mut hot = last.run.edges.clone();
    hot.sort_by_key(|edge| std::cmp::Reverse(edge.instructions()));
    let wanted = (last.run.cost[Resource::Instructions] as f64 * FITTED) as u64;
    let mut covered = 0;
    hot.truncate(MOST_EDGES);
    hot.retain(|edge| {
        let is_needed = covered < wanted;
        covered += edge.instructions();
        is_needed
    });
    let count_of = |edge: u32| {
        move |run: &Run| run.edges.binary_search_by_key(&edge, |one| one.edge).map_or(0, |at| run.edges[at].count)
    };
    // many edges have the same counts
    let mut known: HashMap<Vec<u64>, Option<Fit>> = HashMap::new();
    let mut fits: Vec<(Fit, u64)> = Vec::new();
    for edge in &hot {
        if Instant::now() >= until {
            return None;
        }
        let count = count_of(edge.edge);
        let series = points(samples, axis, count);
        let key = series.iter().map(|point| point.amount).collect();
        let fitted = known.entry(key).or_insert_with(|| fit(&series, equal.map(|equal| equal.of(count)).as_ref()));
        fits.push((fitted.clone()?, edge.weight.into()));
    }
    let rest = points(samples, axis, |run| {
        let of_hot: u64 = hot.iter().map(|edge| count_of(edge.edge)(run) * u64::from(edge.weight)).sum();
        run.cost[Resource::Instructions].saturating_sub(of_hot)
    });
    fits.extend(fit(&rest, None).map(|fit| (fit, 1)));
    Some(sum(fits.iter().map(|(fit, weight)| Part { fit, weight: *weight }), axis.size(last)))
}

/// The laws of the most expensive functions.
pub(super) fn of_functions(samples: &[Sample], axis: Axis) -> Vec<PlaceLaw> {
    let tables: Vec<BTreeMap<&str, u64>> = samples
        .iter()
        .map(|sample| sample.run.source.functions.iter().map(|f| (&*f.function, f.instructions)).collect())
        .collect();
    let Some(last) = samples.last() else { return Vec::new() };
    let places = last.run.source.functions.iter().map(|f| {
        let amounts = tables.iter().map(|table| table.get(&*f.function).copied().unwrap_or(0)).collect();
        (f.function.clone(), f.location.clone(), f.instructions, amounts)
    });
    laws_of_places(samples, axis, places)
}

/// The laws of the most expensive source lines.
pub(super) fn of_lines(samples: &[Sample], axis: Axis) -> Vec<PlaceLaw> {
    let tables: Vec<BTreeMap<(&str, u32, &str), u64>> = samples
        .iter()
        .map(|sample| sample.run.source.lines.iter().map(|line| (line.key(), line.instructions)).collect())
        .collect();
    let Some(last) = samples.last() else { return Vec::new() };
    let places = last.run.source.lines.iter().filter(|line| line.line > 0).map(|line| {
        let amounts = tables.iter().map(|table| table.get(&line.key()).copied().unwrap_or(0)).collect();
        let location = format!("{}:{}", line.file, line.line);
        (line.function.clone(), Some(location), line.instructions, amounts)
    });
    laws_of_places(samples, axis, places)
}

type Place = (String, Option<String>, u64, Vec<u64>);

fn laws_of_places(samples: &[Sample], axis: Axis, places: impl Iterator<Item = Place>) -> Vec<PlaceLaw> {
    let sizes: Vec<u64> = samples.iter().map(|sample| axis.size(sample)).collect();
    let whole = samples.last().map_or(1, |sample| sample.run.cost[Resource::Instructions].max(1));
    let shown = places.take(MOST_PLACES).filter(|place| place.2 as f64 >= LEAST_SHARE * whole as f64);
    let law = |(function, location, instructions, amounts): Place| {
        let fit = fit(&Point::series(&sizes, &amounts), None)?;
        let share = instructions as f64 / whole as f64;
        Some(PlaceLaw { function, location, share, words: fit.to_string(), fit })
    };
    shown.filter_map(law).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::EdgeCount;
    use quagmire_cost::{law::Class, resource::Cost};
    use quagmire_execution::lines::{LineCost, SourceCosts};

    /// Samples of a program with these counts by edge, each with weight 3, and a line for each edge.
    fn samples(largest: u64, counts: &[fn(u64) -> u64]) -> Vec<Sample> {
        let sizes = std::iter::successors(Some(5), |n| Some(n * 17 / 10 + 1)).take_while(|n| *n <= largest);
        let sample = |n: u64| {
            let edge = |(edge, count): (u32, &fn(u64) -> u64)| EdgeCount { edge, count: count(n), weight: 3 };
            let edges: Vec<EdgeCount> = (0..).zip(counts).map(edge).filter(|edge| edge.count > 0).collect();
            let line = |edge: &EdgeCount| LineCost {
                function: format!("f{}", edge.edge),
                file: "/src/a.c".into(),
                line: edge.edge + 1,
                count: edge.count,
                instructions: edge.instructions(),
            };
            let lines = edges.iter().map(line).collect();
            let instructions = edges.iter().map(|edge| edge.instructions()).sum();
            let cost = Cost::from([(Resource::Instructions, instructions)]);
            let source = SourceCosts { lines, functions: Vec::new() };
            Sample { n, bytes: n, run: Run { cost, edges, source, status: "returned".into(), ..Run::default() } }
        };
        sizes.map(sample).collect()
    }

    fn far_off() -> Instant {
        Instant::now() + std::time::Duration::from_secs(1_000)
    }

    #[test]
    fn edges_show_a_quadratic_part_that_the_total_hides() {
        // in the total, n + n log n + n²/4,000 is bent like a power
        let samples = samples(20_000, &[|n| 40 * n, |n| n * n / 4_000, |n| (n as f64).log2() as u64 * n, |_| 900]);
        let (fit, total) = of_instructions(&samples, Axis::Repetitions, None, far_off()).unwrap();
        assert_eq!(total.unwrap().law.class(), Class::Quadratic, "{fit:?}");
    }

    #[test]
    fn lines_have_laws_of_their_own() {
        let samples = samples(20_000, &[|n| 40 * n, |n| n * n, |n| n.min(700)]);
        let lines = of_lines(&samples, Axis::Repetitions);
        let said: Vec<(&str, &str)> =
            lines.iter().map(|line| (line.location.as_deref().unwrap_or(""), &*line.words)).collect();
        assert_eq!(said[..2], [("/src/a.c:1", "linear"), ("/src/a.c:2", "quadratic")]);
        assert!(lines.len() == 2, "what carries less than a thousandth is left out: {said:?}");
    }

    #[test]
    fn an_edge_that_small_inputs_do_not_execute_counts_as_never_executed_there() {
        let samples = samples(20_000, &[|n| 2 * n, |n| n.saturating_sub(100) * 50]);
        let (fit, _) = of_instructions(&samples, Axis::Repetitions, None, far_off()).unwrap();
        assert_eq!(fit.law.class(), Class::Linear, "{fit:?}");
    }

    #[test]
    fn what_becomes_longer_each_round_is_measured_in_bytes() {
        let axis = |text| Axis::of(&Template::parse(text).unwrap());
        assert_eq!(axis(r#"rep(N){"ab"}"#), Axis::Repetitions);
        assert_eq!(axis(r#""long prefix" rep(N){"a"} rep(2*N+7){"b"}"#), Axis::Repetitions);
        assert_eq!(axis(r#"rep(N){stair{"a"} "\n"}"#), Axis::Bytes);
    }
}
