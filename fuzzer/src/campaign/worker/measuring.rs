//! Measurements before mutation begins: seeds at several sizes, for the size model; and for a search that follows a measured
//! resource (`--steer`) its noise, and hardware counters.

use std::{
    collections::BTreeSet,
    sync::atomic::Ordering::Relaxed,
    time::{Duration, Instant},
};

use super::{Worker, import::ended_early};
use crate::{
    campaign::{
        ordinary::{joined, sizes_of_joined, sizes_of_parts},
        supervisor::{Outcome, stop_requested},
    },
    options::Options,
};
use quagmire_base::error::{Error, Result};
use quagmire_cost::{
    judgement::LEAST_EFFECT,
    noise::NoiseFloor,
    resource::Resource,
    sizes::{Series, SizeModel},
};
use quagmire_execution::{abi::Status, executor::HarnessExecutor, info::TargetInfo, perf::Counters, timer::TIME_UP};
use quagmire_search::{EntryId, evaluate::RUNS, origin::Origin};

/// Largest share of the campaign's time for the measurement, which also takes no longer than the hang timeout.
const SHARE: f64 = 0.02;

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
                return self.again();
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

/// Noise from which on a program is said to be unstable.
const UNSTABLE: f64 = 0.5;

/// Number of minima for each seed, each of [`RUNS`] runs. Between two of a seed all others run, so that slow changes of
/// the machine show as well.
const MINIMA: u32 = 3;

/// Checks that there are hardware counters, if the search is to follow cycles.
///
/// # Errors
/// If there are none, or the target runs in processes of its own, where they do not count.
pub(super) fn check(options: &Options, target: &TargetInfo) -> Result<()> {
    counters(options, target).map(drop)
}

/// Makes the executor count cycles by hardware counters, if the search follows them.
///
/// # Errors
/// As [`check`].
pub(super) fn count_cycles(executor: &mut HarnessExecutor, options: &Options, target: &TargetInfo) -> Result<()> {
    if let Some(counters) = counters(options, target)? {
        executor.count_cycles(counters);
    }
    Ok(())
}

fn counters(options: &Options, target: &TargetInfo) -> Result<Option<Counters>> {
    if options.search.steer != Some(Resource::Cycles) {
        return Ok(None);
    }
    if target.is_isolated() {
        return Err(Error::usage(
            "--steer cycles counts in harnesses, and this program runs in processes of its own: write --steer time",
        ));
    }
    let refused = |why| Error::usage(format!("--steer cycles: no hardware counters ({why}): write --steer time"));
    Counters::start_tested().map(Some).map_err(refused)
}

/// Warning at the start of a search that follows a measured resource; `None` if it follows counts.
pub(super) fn warning(options: &Options) -> Option<String> {
    let steered = options.search.steer?;
    Some(format!(
        "--steer {steered}: the search follows {steered}, which differs from run to run: --seed does not repeat it"
    ))
}

impl Worker<'_> {
    /// Measures the noise of the resource that the search follows, if it is a measured one, by repeated runs of seeds.
    /// Takes 2 % of the campaign's time at most, 4 % where nothing is counted.
    pub(super) fn measure_steered_noise(&mut self) -> Result<()> {
        let Some(resource) = self.setup.options.search.steer else { return Ok(()) };
        let (_, seeds) = self.state.hooks.sampled_seeds()?;
        let started = Instant::now();
        let mut ends = vec![BTreeSet::new(); seeds.len()];
        let mut minima = vec![Vec::new(); seeds.len()];
        for seed in (0..MINIMA).flat_map(|_| 0..seeds.len()) {
            if !self.is_time_for_noise(started) {
                break;
            }
            let Some(least) = self.least_of_runs(&seeds[seed], resource, &mut ends[seed]) else { break };
            minima[seed].push(least);
        }
        if let Some(ends) = ends.iter().find(|ends| ends.len() > 1) {
            let ends = ends.iter().map(|code| format!("exit code {code}")).collect::<Vec<_>>().join(" and ");
            self.state.hooks.note(&format!(
                "the program is unstable: runs of the same seed end with {ends}; findings may not come back"
            ))?;
        }
        let noise = NoiseFloor::of(&minima);
        self.state.search.objective.set_noise(noise);
        let recorder = &mut self.state.hooks;
        recorder.record.steered = Some((resource, noise));
        let percent = noise.relative * 100.0;
        if noise.relative > UNSTABLE {
            recorder.note(&format!(
                "the program is unstable: {resource} of the same seed differs by {percent:.0} % from run to run, and the search \
                 does not see smaller steps; leave out what is random in it, or use an idle machine"
            ))
        } else if noise.relative > LEAST_EFFECT {
            recorder.note(&format!("noise of {resource} {percent:.0} %: the search does not see smaller steps"))
        } else {
            recorder.log(&format!("noise of {resource} below {percent:.0} %"))
        }
    }

    /// Least amount of several runs, whose exit codes are added to `ends`; `None` if one ends early.
    fn least_of_runs(&mut self, input: &[u8], resource: Resource, ends: &mut BTreeSet<i64>) -> Option<u64> {
        let mut run = || {
            let is_whole = !ended_early(self.executor.execute(input));
            let counts = self.executor.counts();
            ends.insert(counts.event().exit_code);
            is_whole.then(|| counts.cost()[resource])
        };
        (1..RUNS).try_fold(run()?, |least, _| Some(least.min(run()?)))
    }

    fn is_time_for_noise(&self, started: Instant) -> bool {
        let options = &self.setup.options;
        // without counts there is no model of sizes, which would take as much
        let share = if self.setup.target.instrumentation.counts() { SHARE } else { 2.0 * SHARE };
        let limit: Duration = options.time.mul_f64(share).min(options.target.hang_timeout);
        // the next runs may take as long as all runs before them together
        2 * started.elapsed() < limit && !TIME_UP.load(Relaxed) && !stop_requested()
    }
}
