//! Cost of an ordinary input of each size, by which a smaller input is judged.

use crate::{
    interruption,
    runner::{Detail, Runner},
};
use quagmire_base::error::Result;
use quagmire_cost::{
    resource::{Cost, Resource},
    sizes::{Series, SizeModel},
};

/// Seeds that are measured: the first ones.
const SEEDS: usize = 4;

/// Beginnings of a seed that are run.
const PARTS: usize = 8;

/// Multiples of a seed that are run.
const JOINED: [usize; 2] = [2, 4];

/// Without seeds, this part of the beginning of the input stands for one: it is too short for what grows faster than
/// its size to matter.
const BEGINNING: usize = 64;

/// Shortest such beginning in bytes.
const SHORTEST: usize = 8;

/// Runs seeds at several sizes and fits a line to their costs. Without seeds, the first bytes of the input stand for
/// one.
pub(super) fn measure(runner: &mut Runner, seeds: &[Vec<u8>], input: &[u8]) -> Result<SizeModel> {
    let beginning = input[..(input.len() / BEGINNING).max(SHORTEST).min(input.len())].to_vec();
    let stand_in = [beginning];
    let seeds = if seeds.is_empty() { &stand_in[..] } else { &seeds[..seeds.len().min(SEEDS)] };
    let mut all = Vec::new();
    for seed in seeds {
        if interruption::has_come() {
            break;
        }
        all.extend(series(runner, seed)?);
    }
    let mut costs: Vec<Cost> = all.iter().map(|series| series.seed.1).collect();
    costs.sort_by_key(|cost| cost[Resource::Instructions]);
    let baseline = costs.get(costs.len() / 2).copied().unwrap_or_default();
    Ok(SizeModel::new(baseline, &all))
}

/// Runs of one seed; `None` if it does not return.
fn series(runner: &mut Runner, seed: &[u8]) -> Result<Option<Series>> {
    if seed.len() > runner.capacity() {
        return Ok(None);
    }
    let whole = runner.run(seed, Detail::Cost)?;
    if !whole.came_back() {
        return Ok(None);
    }
    let mut series = Series { seed: (seed.len() as u64, whole.cost), ..Series::default() };
    let mut sizes: Vec<usize> = (0..PARTS).map(|part| seed.len() * part / PARTS).collect();
    sizes.dedup();
    for size in sizes {
        let run = runner.run(&seed[..size], Detail::Cost)?;
        if !run.came_back() {
            continue;
        }
        let instructions = run.cost[Resource::Instructions];
        if series.cheapest.is_none_or(|known| instructions < known[Resource::Instructions]) {
            series.cheapest = Some(run.cost);
        }
        if run.status == "returned" {
            series.parts.push((size as u64, run.cost));
        }
    }
    for times in JOINED {
        let input = seed.repeat(times);
        if input.is_empty() || input.len() > runner.capacity() {
            break;
        }
        let run = runner.run(&input, Detail::Cost)?;
        if run.status != "returned" {
            break;
        }
        series.joined.push((input.len() as u64, run.cost));
    }
    Ok(Some(series))
}
