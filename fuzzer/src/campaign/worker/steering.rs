//! Preparation of a search that follows a measured resource (`--steer`): its noise, and hardware counters.

use std::{
    collections::BTreeSet,
    sync::atomic::Ordering::Relaxed,
    time::{Duration, Instant},
};

use super::{Worker, import::ended_early, sizes::SHARE};
use crate::{campaign::supervisor::stop_requested, options::Options};
use quagmire_base::error::{Error, Result};
use quagmire_cost::{judgement::LEAST_EFFECT, noise::NoiseFloor, resource::Resource};
use quagmire_execution::{executor::HarnessExecutor, info::TargetInfo, perf::Counters, timer::TIME_UP};
use quagmire_search::evaluate::repeat::RUNS;

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
    if options.steer != Some(Resource::Cycles) {
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
    let steered = options.steer?;
    Some(format!(
        "--steer {steered}: the search follows {steered}, which differs from run to run: --seed does not repeat it"
    ))
}

impl Worker<'_> {
    /// Measures the noise of the resource that the search follows, if it is a measured one, by repeated runs of seeds.
    /// Takes 2 % of the campaign's time at most, 4 % where nothing is counted.
    pub(super) fn measure_steered_noise(&mut self) -> Result<()> {
        let Some(resource) = self.setup.options.steer else { return Ok(()) };
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
        let limit: Duration = options.time.mul_f64(share).min(options.hang_timeout);
        // the next runs may take as long as all runs before them together
        2 * started.elapsed() < limit && !TIME_UP.load(Relaxed) && !stop_requested()
    }
}
