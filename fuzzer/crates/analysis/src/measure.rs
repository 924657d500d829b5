//! Measurement of inputs: runs them alternately in a child process and times each run.

use std::{path::PathBuf, time::Duration};

use super::{
    attribution::Attribution,
    measurement::{KILLED, Measurement, STUCK, describe, status_name},
    rounds::{self, Rounds, Turn},
    source::{self, SourceFile},
};
use quagmire_base::error::{Error, Result};
use quagmire_cost::decision::{Comparison, Question};
use quagmire_execution::{
    abi::Status,
    counts::CountsObserver,
    executor::HarnessExecutor,
    harness::Harness,
    input_page::InputPage,
    lines, notices,
    perf::Counters,
    program::Program,
    session::{Limits, in_child},
    symbols::Symbols,
    timer::HangClock,
};

/// An input to measure.
#[derive(Clone, Debug)]
pub struct Input {
    /// Path of the file.
    pub path: PathBuf,
    /// Contents.
    pub bytes: Vec<u8>,
}

/// Options of a measurement.
#[derive(Clone, Debug)]
pub struct MeasurementPlan {
    /// Number of timed runs of each input, after one that is not timed.
    pub rounds: Rounds,
    /// The verdicts that have to be clear.
    pub question: Question,
    /// Hang timeout of a run.
    pub hang_timeout: Duration,
    /// Memory limit in bytes; 0 for none.
    pub memory_limit: u64,
    /// Whether to show the target's output.
    pub debug_target: bool,
    /// Whether to read hardware counters.
    pub counters: bool,
    /// Source files for which all lines are reported, as named by the user.
    pub annotate: Vec<PathBuf>,
}

/// Measures all inputs alternately, so that disturbances by other processes affect all of them alike. An input that
/// ends its run early is reported as such; the others are then measured again without it, once it is known which of them
/// do so as well.
///
/// # Errors
/// If no child process can be started, or the target ends it outside of a run.
pub fn measure(harness: &'static Harness, inputs: &[Input], plan: &MeasurementPlan) -> Result<Vec<Measurement>> {
    let limits = Limits {
        hang_timeout: plan.hang_timeout,
        clock: HangClock::Wall,
        memory_limit: plan.memory_limit,
        debug_target: plan.debug_target,
    };
    let page = limits.page(inputs.iter().map(|input| input.bytes.len()).max().unwrap_or(0))?;
    let mut results: Vec<Option<Measurement>> = vec![None; inputs.len()];
    // inputs from here on may still end their runs early
    let mut unknown = 0;
    while results.iter().any(Option::is_none) {
        let mut open: Vec<usize> = (0..inputs.len()).filter(|&i| results[i].is_none()).collect();
        let is_trial = unknown > 0 && open.last().is_some_and(|&last| last >= unknown);
        if is_trial {
            open.retain(|&i| i >= unknown);
        }
        let first = results[0].as_ref().map(|first| first.attribution.clone());
        let work = || {
            let mut outcome = measure_open(harness, inputs, (&open, is_trial), plan, (limits, &page), first)?;
            outcome.iter_mut().for_each(|(_, measurement)| measurement.notices = notices::noticed());
            Ok(outcome)
        };
        match in_child(&page, work)? {
            Ok(outcome) if outcome.is_empty() && !is_trial => {
                return Err(Error::target("the target has written into what is measured of it"));
            }
            Ok(outcome) => {
                if outcome.is_empty() {
                    unknown = inputs.len();
                }
                for (index, measurement) in outcome {
                    results[index] = Some(measurement);
                    unknown = unknown.max(index + 1);
                }
            }
            Err(gone) => {
                // killed from outside or by itself: attribute it to the input that was running
                let end = gone.end;
                let Some(running) = page.interrupted() else {
                    return Err(Error::target(format!("the target ended its process before the first run ({end})")));
                };
                page.end();
                let Some(&index) = open.iter().find(|&&i| inputs[i].bytes == running) else {
                    return Err(Error::target(format!("the target ended its process ({end})")));
                };
                unknown = unknown.max(index + 1);
                results[index] = Some(match gone.was_stuck {
                    true => Measurement::ended(status_name(Status::Hung), Some(STUCK.to_owned())),
                    false => Measurement::ended(KILLED, Some(end.to_string())),
                });
            }
        }
    }
    Ok(results.into_iter().flatten().collect())
}

/// In the child: measures all `open` inputs, or returns the result of the first that ends its run early. In a trial, returns
/// nothing if there is none.
fn measure_open(
    harness: &'static Harness,
    inputs: &[Input],
    (open, is_trial): (&[usize], bool),
    plan: &MeasurementPlan,
    (limits, page): (Limits, &InputPage),
    first: Option<Attribution>,
) -> Result<Vec<(usize, Measurement)>> {
    let mut executor = limits.prepare(harness, page)?;
    let counters = if plan.counters { Counters::start().ok() } else { None };
    limits.start(harness);
    let mut turns: Vec<Turn> = Vec::with_capacity(open.len());
    let mut attributor = Attributor { symbols: Symbols::new(), sources: Vec::new(), first };
    // one untimed run each: fills caches, includes one-time initialisation, and shows the duration of a run
    for &index in open {
        let before = executor.cpu_seconds();
        let status = executor.execute(&inputs[index].bytes);
        let seconds = executor.cpu_seconds() - before;
        let mut measurement = describe(status, executor.counts());
        if !measurement.came_back() {
            measurement.seconds = vec![seconds];
            attributor.find_sources(&plan.annotate, executor.counts().program())?;
            attributor.attribute(index, &mut measurement, executor.counts());
            return Ok(vec![(index, measurement)]);
        }
        turns.push(Turn::new(&inputs[index].bytes, measurement, seconds));
    }
    if is_trial {
        return Ok(Vec::new());
    }
    // after the target has opened its libraries, and before the timed runs
    attributor.find_sources(&plan.annotate, executor.counts().program())?;
    let describe_again = |place: usize, executor: &HarnessExecutor, measurement: &mut Measurement| {
        // not the untimed run, which includes one-time initialisation
        measurement.edges_hit = executor.counts().edges_hit();
        attributor.attribute(open[place], measurement, executor.counts());
    };
    let comparisons = comparisons(inputs.len(), open, &turns, plan.question);
    match rounds::run(&mut executor, &mut turns, plan.rounds, &comparisons, counters, describe_again) {
        Ok(()) => Ok(open.iter().zip(turns).map(|(&index, turn)| (index, turn.measurement)).collect()),
        Err((place, status)) => {
            let mut ended = describe(status, executor.counts());
            attributor.attribute(open[place], &mut ended, executor.counts());
            Ok(vec![(open[place], ended)])
        }
    }
}

/// Comparisons of the last of `inputs` inputs, by indices of `turns`, which are the `open` inputs. Empty if the last
/// one is not open.
fn comparisons(inputs: usize, open: &[usize], turns: &[Turn], question: Question) -> Vec<Comparison> {
    let mut costs = vec![None; inputs];
    open.iter().zip(turns).for_each(|(&index, turn)| costs[index] = Some(turn.measurement.cost));
    if costs.last().is_none_or(Option::is_none) {
        return Vec::new();
    }
    let all = question.comparisons(&costs).into_iter();
    all.filter_map(|one| Some(Comparison { other: open.iter().position(|&index| index == one.other)?, ..one }))
        .collect()
}

/// Symbols and sources for attributing instructions. Names are looked up in the child, since the parent has not
/// opened the libraries that the target has.
struct Attributor {
    symbols: Symbols,
    /// Files for which all lines are reported.
    sources: Vec<SourceFile>,
    /// Attribution of the first input, once it was measured.
    first: Option<Attribution>,
}

impl Attributor {
    fn find_sources(&mut self, wanted: &[PathBuf], program: &Program) -> Result<()> {
        if !wanted.is_empty() {
            let files = lines::source_files(program);
            self.sources =
                wanted.iter().map(|wanted| source::find(&files, wanted, "--annotate")).collect::<Result<_>>()?;
        }
        Ok(())
    }

    /// Adds the attribution of the last run to a measurement.
    fn attribute(&mut self, index: usize, measurement: &mut Measurement, counts: &CountsObserver) {
        self.symbols.update();
        let all = Attribution::complete(lines::source_costs(counts, &mut self.symbols));
        measurement.sources.clone_from(&self.sources);
        measurement.attribution = if index == 0 {
            self.first = Some(all.clone());
            all
        } else {
            let nothing = Attribution::default();
            all.against(self.first.as_ref().unwrap_or(&nothing), &self.sources)
        };
    }
}
