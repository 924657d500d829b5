//! Costs of the ordinary inputs of a harness, measured anew by the process that needs them.

use std::path::PathBuf;

use quagmire_analysis::{
    measure::{self, MeasurementPlan},
    measurement::Measurement,
};
use quagmire_base::error::Result;
use quagmire_cost::{
    baseline::Baseline as Medians,
    resource::{Cost, Resource},
    sizes::{Series, SizeModel},
};
use quagmire_execution::harness::Harness;

use crate::campaign::ordinary::{joined, sizes_of_joined, sizes_of_parts, spread_out};

/// Largest number of ordinary inputs that are measured.
const MOST: usize = 256;

/// Number of instructions after which no further input is measured at other sizes.
const ENOUGH: u64 = 1_000_000_000;

/// Ordinary inputs and what they cost.
#[derive(Debug)]
pub(super) struct Baseline {
    /// Expected cost by size.
    pub(super) model: SizeModel,
    /// Inputs to join, the median one first.
    inputs: Vec<Vec<u8>>,
}

impl Baseline {
    /// Measures inputs, some of them at several sizes up to `largest` bytes. `None` if a run of none of them returns.
    pub(super) fn measure(
        harness: &'static Harness,
        plan: &MeasurementPlan,
        mut inputs: Vec<Vec<u8>>,
        largest: usize,
    ) -> Result<Option<Self>> {
        let step = inputs.len().div_ceil(MOST).max(1);
        inputs = inputs.into_iter().step_by(step).collect();
        let runs = run(harness, plan, &inputs)?;
        let usable: Vec<(Vec<u8>, Cost)> =
            inputs.into_iter().zip(runs).filter_map(|(input, run)| Some((input, returned(&run)?))).collect();
        let costs: Vec<(Cost, u64)> = usable.iter().map(|(input, cost)| (*cost, input.len() as u64)).collect();
        let Some(medians) = Medians::of_seeds(&costs) else { return Ok(None) };
        let middle = medians.cost[Resource::Instructions];
        let median = costs.iter().position(|(cost, _)| cost[Resource::Instructions].max(1) == middle).unwrap_or(0);
        let sample: Vec<(Vec<u8>, Cost)> =
            spread_out(usable.len(), median).into_iter().map(|one| usable[one].clone()).collect();
        let inputs: Vec<Vec<u8>> = sample.iter().map(|(input, _)| input.clone()).collect();
        let (mut all, mut spent) = (Vec::new(), 0_u64);
        for (at, (_, cost)) in sample.iter().enumerate() {
            if spent < ENOUGH {
                let (series, instructions) = series(harness, plan, &inputs, at, *cost, largest)?;
                all.push(series);
                spent = spent.saturating_add(instructions);
            }
        }
        Ok(Some(Self { model: SizeModel::new(medians.cost, &all), inputs }))
    }

    /// The median input.
    pub(super) fn median(&self) -> &[u8] {
        &self.inputs[0]
    }

    /// Ordinary inputs joined to this size; `None` if the median one is as large, or if that size was not measured.
    pub(super) fn joined(&self, bytes: usize) -> Option<Vec<u8>> {
        let is_measured = bytes > self.median().len() && bytes as u64 <= self.model.largest;
        is_measured.then(|| joined(&self.inputs, 0, bytes))
    }
}

/// Cost of a run that returned.
pub(super) fn returned(run: &Measurement) -> Option<Cost> {
    (run.status == "returned").then_some(run.cost)
}

/// Runs each input once, in processes of their own.
pub(super) fn run(harness: &'static Harness, plan: &MeasurementPlan, inputs: &[Vec<u8>]) -> Result<Vec<Measurement>> {
    let input = |bytes: &Vec<u8>| measure::Input { path: PathBuf::new(), bytes: bytes.clone() };
    let inputs: Vec<measure::Input> = inputs.iter().map(input).collect();
    measure::measure(harness, &inputs, plan)
}

/// Measures the input at index `at` at several sizes. Returns the number of executed instructions as well.
fn series(
    harness: &'static Harness,
    plan: &MeasurementPlan,
    inputs: &[Vec<u8>],
    at: usize,
    cost: Cost,
    largest: usize,
) -> Result<(Series, u64)> {
    let input = &inputs[at];
    let parts = sizes_of_parts(input.len());
    let mut all: Vec<Vec<u8>> = parts.iter().map(|&size| input[..size].to_vec()).collect();
    all.extend(sizes_of_joined(input.len(), largest).into_iter().map(|size| joined(inputs, at, size)));
    let mut series = Series { seed: (input.len() as u64, cost), ..Series::default() };
    let mut instructions = 0_u64;
    for (number, (bytes, ran)) in all.iter().zip(run(harness, plan, &all)?).enumerate() {
        if !matches!(ran.status.as_str(), "returned" | "rejected") {
            continue;
        }
        let cost = ran.cost;
        let amount = cost[Resource::Instructions];
        instructions = instructions.saturating_add(amount);
        let is_part = number < parts.len();
        if is_part && series.cheapest.is_none_or(|least| amount < least[Resource::Instructions]) {
            series.cheapest = Some(cost);
        }
        if returned(&ran).is_some() {
            let runs = if is_part { &mut series.parts } else { &mut series.joined };
            runs.push((bytes.len() as u64, cost));
        }
    }
    Ok((series, instructions))
}
