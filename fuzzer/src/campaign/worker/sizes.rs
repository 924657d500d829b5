//! Measurement of seeds at several sizes, before mutation begins, for the size model.

use std::{
    sync::atomic::Ordering::Relaxed,
    time::{Duration, Instant},
};

use super::{Worker, import::ended_early};
use crate::campaign::{
    ordinary::{joined, sizes_of_joined, sizes_of_parts},
    supervisor::{Outcome, stop_requested},
};
use quagmire_base::error::Result;
use quagmire_cost::{
    resource::Resource,
    sizes::{Series, SizeModel},
};
use quagmire_execution::{abi::Status, timer::TIME_UP};
use quagmire_search::{EntryId, origin::Origin};

/// Largest share of the campaign's time for the measurement, which also takes no longer than the hang timeout.
pub(super) const SHARE: f64 = 0.02;

/// One run: a beginning of a seed, or several seeds joined.
struct Step {
    is_joined: bool,
    bytes: usize,
}

fn steps(seed: usize, largest: usize) -> Vec<Step> {
    let parts = sizes_of_parts(seed).into_iter().map(|bytes| Step { is_joined: false, bytes });
    let joined = sizes_of_joined(seed, largest).into_iter().map(|bytes| Step { is_joined: true, bytes });
    parts.chain(joined).collect()
}

impl Worker<'_> {
    /// Measures seeds at several sizes, unless that was done. Returns an outcome if the campaign cannot continue in
    /// this process.
    pub(super) fn measure_sizes(&mut self) -> Result<Option<Outcome>> {
        if self.state.hooks.record.sizes.model.is_some() {
            return Ok(None);
        }
        let (mut entries, seeds) = self.state.hooks.sampled_seeds()?;
        if !self.setup.target.instrumentation.counts() {
            // single times are too inexact for a model: confirmations measure an ordinary input themselves
            entries.clear();
        }
        let started = Instant::now();
        for (at, &entry) in entries.iter().enumerate() {
            if self.series_of(entry, at, &seeds, started)? {
                self.checkpoint(false)?;
                return Ok(Some(Outcome::Again));
            }
        }
        {
            let recorder = &mut self.state.hooks;
            let baseline = recorder.record.baseline.unwrap_or_default().cost;
            let sizes = &mut recorder.record.sizes;
            sizes.model = Some(SizeModel::new(baseline, &sizes.series));
            sizes.series = Vec::new();
            recorder.find_worst();
        }
        self.checkpoint(true)?;
        Ok(None)
    }

    /// Measures one seed, at index `at` of `seeds`. Returns true if a run ended early and the target has to be loaded
    /// afresh.
    fn series_of(&mut self, entry: EntryId, at: usize, seeds: &[Vec<u8>], started: Instant) -> Result<bool> {
        {
            let record = &mut self.state.hooks.record;
            if record.sizes.series.len() <= at {
                let cost = record.entry(entry).cost;
                let series = Series { seed: (seeds[at].len() as u64, cost), ..Series::default() };
                record.sizes.series.push(series);
                record.sizes.step = 0;
            } else if record.sizes.series.len() > at + 1 {
                return Ok(false);
            }
        }
        let steps = steps(seeds[at].len(), self.setup.max_size);
        loop {
            let number = self.state.hooks.record.sizes.step;
            let Some(step) = steps.get(number).filter(|_| self.is_time_for_sizes(started)) else { return Ok(false) };
            self.state.hooks.record.sizes.step += 1;
            let input = if step.is_joined { joined(seeds, at, step.bytes) } else { seeds[at][..step.bytes].to_vec() };
            if self.is_lost(&input) {
                continue;
            }
            let status = self.executor.execute(&input);
            self.keep_house()?;
            if ended_early(status) {
                let recorder = &mut self.state.hooks;
                recorder.early_end(&input, &Origin::Unknown, self.executor.counts())?;
                recorder.record.sizes.spent += started.elapsed();
                if step.is_joined {
                    // larger ones would end early as well
                    recorder.record.sizes.step = steps.len();
                }
                if !self.setup.target.is_isolated() {
                    return Ok(true);
                }
            } else {
                self.learn_size(step, status);
            }
        }
    }

    /// Adds the cost of the last run to the last series.
    fn learn_size(&mut self, step: &Step, status: Status) {
        let cost = self.executor.counts().cost();
        let recorder = &mut self.state.hooks;
        let Some(series) = recorder.record.sizes.series.last_mut() else { return };
        let run = (step.bytes as u64, cost);
        if !step.is_joined
            && series.cheapest.is_none_or(|known| cost[Resource::Instructions] < known[Resource::Instructions])
        {
            series.cheapest = Some(cost);
        }
        match (status, step.is_joined) {
            (Status::Returned, true) => series.joined.push(run),
            (Status::Returned, false) => series.parts.push(run),
            _ => {}
        }
    }

    fn is_time_for_sizes(&self, started: Instant) -> bool {
        let options = &self.setup.options;
        let limit: Duration = options.time.mul_f64(SHARE).min(options.target.hang_timeout);
        // the next run may take as long as all runs before it together
        let spent = self.state.hooks.record.sizes.spent + started.elapsed();
        2 * spent < limit && !TIME_UP.load(Relaxed) && !stop_requested()
    }
}
