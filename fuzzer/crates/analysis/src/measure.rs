//! Runs inputs in turn, in a child process, and times each run.

use std::{io::Write, path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

use super::{
    attribution::Attribution,
    rounds::{self, Rounds, Turn},
    source::{self, SourceFile},
};
use quagmire_base::error::{Error, ExitCode, Result};
use quagmire_cost::{
    decision::{Comparison, Question},
    resource::{Cost, Resource},
};
use quagmire_execution::{
    abi::{Harness, Status},
    counts::CountsObserver,
    executor::HarnessExecutor,
    input_page::InputPage,
    lines, notices,
    perf::{Amounts, Counters},
    pipes, process,
    program::Program,
    symbols::Symbols,
    tick,
    watchdog::Watchdog,
};

/// One input to measure.
#[derive(Clone, Debug)]
pub struct Input {
    /// Where it came from.
    pub path: PathBuf,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// How to measure.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Timed runs of each input, after one that is not timed.
    pub rounds: Rounds,
    /// Which verdicts have to be clear.
    pub question: Question,
    /// A run longer than this is a hang.
    pub hang_timeout: Duration,
    /// In bytes; 0 for none.
    pub memory_limit: u64,
    /// Show what the target prints.
    pub debug_target: bool,
    /// Read the hardware counters.
    pub counters: bool,
    /// Source files all lines of which are wanted, as the user named them.
    pub annotate: Vec<PathBuf>,
}

/// What was measured of one input.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Measurement {
    /// How its runs ended: `returned`, `rejected`, `crashed`, `hung`, `out-of-memory`, `exited` or `killed`.
    pub status: String,
    /// What more is known of an early end.
    pub detail: Option<String>,
    /// Of one run; up to where it was cut off if it was.
    pub cost: Cost,
    /// The smallest and the largest instructions over all runs: the same two numbers for a deterministic target.
    pub instructions_range: (u64, u64),
    /// Edges that it hits.
    pub edges_hit: u64,
    /// CPU seconds of one run, sample by sample.
    pub seconds: Vec<f64>,
    /// What the hardware counted in one run, sample by sample; empty where it does not count.
    pub counters: Vec<Amounts>,
    /// Where it spent its instructions; all of it for the first input, what is worth a look for the others.
    pub attribution: Attribution,
    /// The files that [`Plan::annotate`] means.
    pub sources: Vec<SourceFile>,
    /// What was noticed meanwhile (`notices::noticed`).
    pub notices: u32,
}

/// How often a measuring process is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// Status of an input that ends the target's process.
const KILLED: &str = "killed";

/// What more is known of a run that had to be ended from outside.
const STUCK: &str = "it blocks signals and was killed from outside";

/// Status of a target that cannot be run at all.
const UNUSABLE: &str = "unusable";

/// Status if what was asked for does not make sense with this target.
const REFUSED: &str = "refused";

impl Measurement {
    fn ended(status: &str, detail: Option<String>) -> Self {
        Self { status: status.to_owned(), detail, ..Self::default() }
    }

    /// Whether a run took the process with it, and the runtime could do nothing about it.
    pub fn was_killed(&self) -> bool {
        self.status == KILLED || self.detail.as_deref() == Some(STUCK)
    }

    /// Whether its runs came back by themselves.
    pub fn came_back(&self) -> bool {
        matches!(self.status.as_str(), "returned" | "rejected")
    }
}

/// How a status is called in reports.
pub fn status_name(status: Status) -> &'static str {
    match status {
        Status::Returned => "returned",
        Status::Rejected => "rejected",
        Status::Crashed => "crashed",
        Status::Hung => "hung",
        Status::Memory => "out-of-memory",
        Status::Exited => "exited",
    }
}

/// Measures all inputs, their runs taken in turn so that whatever else the machine does hits all of them alike. An
/// input that ends its run early is reported so; the others are then measured afresh without it.
///
/// # Errors
/// When no child process can be started, or the target ends it outside a run.
pub fn measure(harness: &'static Harness, inputs: &[Input], plan: &Plan) -> Result<Vec<Measurement>> {
    let capacity = inputs.iter().map(|i| i.bytes.len()).max().unwrap_or(0).max(1);
    let mut results: Vec<Option<Measurement>> = vec![None; inputs.len()];
    while results.iter().any(Option::is_none) {
        let open: Vec<usize> = (0..inputs.len()).filter(|&i| results[i].is_none()).collect();
        let page = InputPage::new(capacity)?;
        page.set_hang_timeout(plan.hang_timeout);
        let shared = page.share();
        let pipe = std::io::pipe();
        let (reader, writer) = pipe.map_err(|error| Error::other(format!("cannot make a pipe: {error}")))?;
        let child = process::fork()?;
        if child == 0 {
            drop(reader);
            process::die_with_parent();
            process::usual_signals();
            let first = results[0].as_ref().map(|first| first.attribution.clone());
            let mut outcome = in_child(harness, inputs, &open, plan, page, first);
            outcome.iter_mut().for_each(|(_, measurement)| measurement.notices = notices::noticed());
            let mut pipe = writer;
            let sent = postcard::to_stdvec(&outcome).is_ok_and(|bytes| pipe.write_all(&bytes).is_ok());
            drop(pipe);
            process::leave(if sent { 0 } else { 1 });
        }
        drop(writer);
        let mut bytes = Vec::new();
        let (end, is_stuck) = read_from(child, reader, &mut bytes, &shared)?;
        match (is_stuck, postcard::from_bytes::<Vec<(usize, Measurement)>>(&bytes)) {
            (false, Ok(outcome)) if !outcome.is_empty() => {
                for (index, measurement) in outcome {
                    if measurement.status == UNUSABLE {
                        return Err(Error::target(measurement.detail.unwrap_or_default()));
                    }
                    if measurement.status == REFUSED {
                        return Err(Error::usage(measurement.detail.unwrap_or_default()));
                    }
                    results[index] = Some(measurement);
                }
            }
            (is_stuck, _) => {
                // Killed from outside, or by its own means: the input that was running is to blame.
                let Some(running) = shared.interrupted() else {
                    return Err(Error::target(format!("the target ended its process before the first run ({end})")));
                };
                let Some(&index) = open.iter().find(|&&i| inputs[i].bytes == running) else {
                    return Err(Error::target(format!("the target ended its process ({end})")));
                };
                results[index] = Some(match is_stuck {
                    true => Measurement::ended(status_name(Status::Hung), Some(STUCK.to_owned())),
                    false => Measurement::ended(KILLED, Some(end.to_string())),
                });
            }
        }
    }
    Ok(results.into_iter().flatten().collect())
}

/// Reads all that a child writes until it ends: what the target has started may have the pipe for longer. One whose run does
/// not end, whatever the tick does, is killed; tells how it ended, and whether it was that.
fn read_from(
    child: libc::pid_t,
    mut pipe: std::io::PipeReader,
    bytes: &mut Vec<u8>,
    page: &InputPage,
) -> Result<(process::End, bool)> {
    let failed = |error| Error::other(format!("cannot read from the measuring process: {error}"));
    let mut is_stuck = false;
    let mut watchdog = Watchdog::new(page);
    loop {
        if pipes::readable([&pipe], LOOK) == [true]
            && !pipes::read_part(&mut pipe, bytes, usize::MAX).map_err(failed)?
        {
            return Ok((process::wait(child)?, is_stuck));
        }
        if let Some(end) = process::poll(child)? {
            pipes::read_rest(&mut pipe, bytes, usize::MAX).map_err(failed)?;
            return Ok((end, is_stuck));
        }
        if watchdog.is_stuck(page) {
            is_stuck = true;
            // SAFETY: a child of ours that was not waited for.
            unsafe { libc::kill(child, libc::SIGKILL) };
        }
    }
}

/// Measurements of all `open` inputs, or of the one that ended its run early and no other.
fn in_child(
    harness: &'static Harness,
    inputs: &[Input],
    open: &[usize],
    plan: &Plan,
    page: InputPage,
    first: Option<Attribution>,
) -> Vec<(usize, Measurement)> {
    let no_use = |error: Error| {
        let status = if error.code == ExitCode::Usage { REFUSED } else { UNUSABLE };
        vec![(open[0], Measurement::ended(status, Some(error.message)))]
    };
    let mut executor = match process::prepare_target(harness, page, plan.debug_target) {
        Ok(executor) => executor,
        Err(error) => return no_use(error),
    };
    let counters = if plan.counters { Counters::start().ok() } else { None };
    let limits = tick::Limits { hang: plan.hang_timeout, memory: plan.memory_limit, deadline: u64::MAX };
    tick::start(harness, limits);
    let mut turns: Vec<Turn> = Vec::with_capacity(open.len());
    let mut places = Places { symbols: Symbols::new(), sources: Vec::new(), first };
    // Once each, not timed: caches fill, first-time work is done, and it shows how long a run takes.
    for &index in open {
        let before = executor.cpu_seconds();
        let status = executor.execute(&inputs[index].bytes);
        let seconds = executor.cpu_seconds() - before;
        let mut measurement = describe(status, executor.counts());
        if !measurement.came_back() {
            measurement.seconds = vec![seconds];
            if let Err(error) = places.find_sources(&plan.annotate, executor.counts().program()) {
                return no_use(error);
            }
            places.attribute(index, &mut measurement, executor.counts());
            return vec![(index, measurement)];
        }
        turns.push(Turn::new(&inputs[index].bytes, measurement, seconds));
    }
    // now that the target has opened its libraries, and before much time is spent
    if let Err(error) = places.find_sources(&plan.annotate, executor.counts().program()) {
        return no_use(error);
    }
    let describe_again = |place: usize, executor: &HarnessExecutor, measurement: &mut Measurement| {
        // not of the run that was not timed: it also did what is done only once
        measurement.edges_hit = executor.counts().edges_hit();
        places.attribute(open[place], measurement, executor.counts());
    };
    let comparisons = comparisons(inputs.len(), open, &turns, plan.question);
    match rounds::run(&mut executor, &mut turns, plan.rounds, &comparisons, counters, describe_again) {
        Ok(()) => open.iter().zip(turns).map(|(&index, turn)| (index, turn.measurement)).collect(),
        Err((place, status)) => {
            let mut ended = describe(status, executor.counts());
            places.attribute(open[place], &mut ended, executor.counts());
            vec![(open[place], ended)]
        }
    }
}

/// Whom the last of `inputs` inputs is held against, by their places among the `turns`, which are those that are `open`.
/// None if it is not among them.
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

/// What is needed to say where a run spent its instructions. Names are looked up here and not by the caller: it has not
/// opened the libraries that the target opened.
struct Places {
    symbols: Symbols,
    /// The files all lines of which are wanted.
    sources: Vec<SourceFile>,
    /// Of the first input, once that was measured.
    first: Option<Attribution>,
}

impl Places {
    fn find_sources(&mut self, wanted: &[PathBuf], program: &Program) -> Result<()> {
        if !wanted.is_empty() {
            let files = lines::source_files(program);
            self.sources =
                wanted.iter().map(|wanted| source::find(&files, wanted, "--annotate")).collect::<Result<_>>()?;
        }
        Ok(())
    }

    /// Adds to a measurement where its last run spent its instructions.
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

/// What a run did, without times.
pub fn describe(status: Status, counts: &CountsObserver) -> Measurement {
    let event = counts.event();
    let detail = match status {
        Status::Crashed if event.signal == 0 => Some("sanitizer report".to_owned()),
        Status::Crashed => Some(process::signal_name(event.signal as i32)),
        Status::Exited => Some(format!("exit code {}", event.exit_code)),
        _ => None,
    };
    Measurement {
        status: status_name(status).to_owned(),
        detail,
        cost: counts.cost(),
        instructions_range: (counts.cost()[Resource::Instructions], counts.cost()[Resource::Instructions]),
        edges_hit: counts.edges_hit(),
        ..Measurement::default()
    }
}
