//! Evaluate and commit: the only way in which an input is run, judged and entered, and in which an early end is
//! recorded. Seeds, imports, resumed entries, mutants, probes and measured runs all take it.

#[cfg(test)]
pub(crate) mod tests;

use libafl::{
    Error,
    corpus::{Corpus, Testcase},
    executors::{Executor, HasObservers},
    fuzzer::ExecutesInput,
    inputs::{BytesInput, HasMutatorBytes},
    state::{HasCorpus, HasExecutions, HasMaxSize},
};

use crate::{
    EntryId,
    corpus::history::Novelty,
    hooks::{CampaignHooks, Moment},
    mask::{Goal, Probe},
    origin::{Admission, Origin},
    state::CampaignState,
};
use quagmire_choices::draws::Log;
use quagmire_cost::resource::{Cost, Resource};
use quagmire_execution::{abi::Status, counts::CountsObserver, executor::Observers};

/// LibAFL's types in a campaign, with all that is asked of them to run an input.
pub trait Campaign {
    type Hooks: CampaignHooks;
    /// Runs the target.
    type Executor: HasObservers<Observers = Observers>
        + Executor<Self::Manager, BytesInput, CampaignState<Self::Hooks>, Self::Fuzzer>;
    /// LibAFL's event manager, which does nothing here.
    type Manager;
    /// Runs inputs with the observers around them.
    type Fuzzer: ExecutesInput<Self::Executor, Self::Manager, BytesInput, CampaignState<Self::Hooks>>;
}

impl<E, EM, H, Z> Campaign for (E, EM, H, Z)
where
    E: HasObservers<Observers = Observers> + Executor<EM, BytesInput, CampaignState<H>, Z>,
    H: CampaignHooks,
    Z: ExecutesInput<E, EM, BytesInput, CampaignState<H>>,
{
    type Hooks = H;
    type Executor = E;
    type Manager = EM;
    type Fuzzer = Z;
}

/// LibAFL's arguments of a stage, bundled.
pub struct Parts<'a, C: Campaign> {
    pub fuzzer: &'a mut C::Fuzzer,
    pub executor: &'a mut C::Executor,
    pub state: &'a mut CampaignState<C::Hooks>,
    pub manager: &'a mut C::Manager,
}

impl<C: Campaign> Parts<'_, C> {
    /// Does the work that is due after a run. Returns whether to give up the current work.
    ///
    /// # Errors
    /// As [`CampaignState::look`].
    pub fn look(&mut self) -> Result<bool, Error> {
        self.state.look(&self.executor.observers().0)
    }

    /// Whether the target draws from its input.
    pub fn is_drawn(&self) -> bool {
        self.executor.observers().1.0.are_used()
    }
}

/// Result of one run, and the fate of its input.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// How the run ended.
    pub status: Status,
    /// Cost of the run; for a run that was cut off, up to that point.
    pub cost: Cost,
    /// Whether the run was valid.
    pub is_valid: bool,
    /// Whether no counted run had the same trace before; false for runs that do not count, such as probes, and if there
    /// are no traces.
    pub trace_is_new: bool,
    /// Reasons to enter its input; empty if the origin alone decides that.
    pub novelty: Novelty,
    /// Entry that its input became; `None` if it was not entered.
    pub entry: Option<EntryId>,
    /// Entries that are not top-rated any more; the new entry is among them if it is best at nothing.
    pub evicted: Vec<EntryId>,
}

impl Evaluation {
    /// Whether its input became an entry, and hits an edge that no entry had hit.
    pub fn has_new_edge(&self) -> bool {
        self.entry.is_some() && self.novelty.edge
    }
}

/// Runs `input`, judges the run, and commits it: with the bytes that draws have taken from an overlay, if there was one.
///
/// # Errors
/// If something could not be written; [`CampaignState::reason`] tells what.
pub fn evaluate<C: Campaign>(
    parts: &mut Parts<'_, C>,
    origin: &Origin<'_>,
    input: &BytesInput,
) -> Result<Evaluation, Error> {
    evaluate_as(parts, origin, input, origin.is_diverse())
}

/// As [`evaluate`]; `is_diverse` tells whether the run counts in the figures of validity and diversity.
fn evaluate_as<C: Campaign>(
    parts: &mut Parts<'_, C>,
    origin: &Origin<'_>,
    input: &BytesInput,
    is_diverse: bool,
) -> Result<Evaluation, Error> {
    let Parts { fuzzer, executor, state, manager } = parts;
    fuzzer.execute_input(state, executor, manager, input)?;
    let mut observers = executor.observers_mut();
    let (counts, (draws, ())) = &mut *observers;
    let patched = draws.patched().map(|bytes| BytesInput::new(bytes.to_vec()));
    let input = patched.as_ref().unwrap_or(input);
    state.search.diversity.fetch(counts);
    let moment = Moment::of(*state.executions(), counts.program());
    state.hooks.executed(origin, moment, counts);
    let bytes = input.mutator_bytes();
    let trace_is_new = is_diverse && state.search.diversity.observe(counts);
    let execution = *state.executions();
    let (mut novelty, mut admitted) = {
        let search = &mut state.search;
        if origin.is_search() {
            let work = search.objective.work(&counts.cost());
            search.effort.spend(work, bytes.len());
            if counts.status() == Status::Returned {
                search.size_limit.count(work, bytes.len());
            }
        }
        match origin.admission() {
            Admission::Always => (Novelty::default(), true),
            Admission::IfNew => {
                let mut novelty = search.judge(counts);
                search.choices.judge(counts.is_valid(), draws.log(), &mut novelty);
                (novelty, novelty.any() && search.holder(bytes).is_none())
            }
            Admission::Never => (Novelty::default(), false),
        }
    };
    if state.search.towards.is_waiting() && (novelty.edge || origin.admission() == Admission::Always) {
        state.search.towards.observe(counts, execution);
    }
    let noisy = state.search.objective.noisy().filter(|_| admitted && counts.status() == Status::Returned);
    if let Some(resource) = noisy {
        // the caller learns from the draws of the run with the overlay
        let drawn = parts.executor.observers_mut().1.0.take_drawn();
        admitted = repeat(parts, origin, input, resource, &mut novelty)?;
        parts.executor.observers_mut().1.0.put_back(drawn);
    }
    let Parts { executor, state, .. } = parts;
    let evaluation = commit(state, &mut executor.observers_mut().0, origin, input, novelty, admitted)?;
    Ok(Evaluation { trace_is_new, ..evaluation })
}

/// Commits the last run, which was one of `input`: enters the input if it is `admitted` and the run returned, or may end
/// early (`--keep-early-ends`), evicts the entries that it dominates, and records the run if it ended early.
///
/// # Errors
/// If something could not be written; [`CampaignState::reason`] tells what.
pub fn commit<H: CampaignHooks>(
    state: &mut CampaignState<H>,
    counts: &mut CountsObserver,
    origin: &Origin<'_>,
    input: &BytesInput,
    novelty: Novelty,
    admitted: bool,
) -> Result<Evaluation, Error> {
    let mut evaluation = Evaluation {
        status: counts.status(),
        cost: counts.cost(),
        is_valid: counts.is_valid(),
        trace_is_new: false,
        novelty,
        entry: None,
        evicted: Vec::new(),
    };
    match evaluation.status {
        Status::Returned => {
            if admitted {
                enter(state, counts, origin, input, &mut evaluation)?;
            }
            let is_known = admitted || !state.search.choices.structures.took_back;
            if origin.admission() != Admission::Never && is_known {
                counts.commit();
            }
        }
        Status::Rejected => {}
        Status::Crashed | Status::Exited | Status::Hung | Status::Memory => {
            let recorded = state.hooks.ended_early(origin, input.mutator_bytes(), counts);
            state.check(recorded)?;
            // where a run was cut off says nothing of its input: no hangs
            let is_whole = matches!(evaluation.status, Status::Crashed | Status::Exited);
            if admitted && is_whole && state.search.keeps_early_ends {
                enter(state, counts, origin, input, &mut evaluation)?;
                counts.commit();
            }
            state.ended_early();
        }
    }
    Ok(evaluation)
}

/// Enters the input of the last run into the record of the campaign, the knowledge of the search and LibAFL's corpus,
/// and evicts the entries that it dominates.
fn enter<H: CampaignHooks>(
    state: &mut CampaignState<H>,
    counts: &CountsObserver,
    origin: &Origin<'_>,
    input: &BytesInput,
    evaluation: &mut Evaluation,
) -> Result<(), Error> {
    let (bytes, novelty) = (input.mutator_bytes(), evaluation.novelty);
    let recorded = state.hooks.enter(origin, bytes, novelty, counts, &state.search);
    let score = state.check(recorded)?;
    let execution = *state.executions();
    let search = &mut state.search;
    if !origin.is_search() && search.size_limit.reach(search.objective.work(&evaluation.cost), bytes.len()) {
        state.libafl.set_max_size(search.size_limit.now());
    }
    let corpus = state.libafl.corpus_mut();
    let mut testcase = Testcase::new(input.clone());
    *testcase.filename_mut() = state.hooks.file(corpus.peek_free_id().into());
    let entry: EntryId = corpus.add(testcase)?.into();
    if origin.is_search() {
        search.effort.found(novelty);
        search.with_new_edges += u64::from(novelty.edge);
    }
    search.towards.note_costs(counts, execution, matches!(origin, Origin::Seed(_)));
    let evicted = search.enter(entry, bytes, score, novelty, counts);
    search.choices.structures.entered();
    if matches!(origin, Origin::Import { .. }) {
        search.leave_to_others(entry, counts);
    }
    for &dominated in &evicted {
        corpus.remove(dominated.into())?;
    }
    (evaluation.entry, evaluation.evicted) = (Some(entry), evicted);
    Ok(())
}

/// Draws from these bytes, and from fewer if nobody reads some of them: then `bytes` become fewer.
pub fn see_trimmed<C: Campaign>(parts: &mut Parts<'_, C>, bytes: &mut Vec<u8>) -> Result<Option<Log>, Error> {
    let Some(log) = see_draws(parts, bytes)? else { return Ok(None) };
    let Some(fewer) = log.trim_unread() else { return Ok(Some(log)) };
    let sites = |log: &Log| log.draws.iter().map(|draw| (draw.site, draw.value)).collect::<Vec<_>>();
    match see_draws(parts, &fewer)? {
        Some(trimmed) if sites(&trimmed) == sites(&log) => {
            *bytes = fewer;
            Ok(Some(trimmed))
        }
        _ => Ok(Some(log)),
    }
}

/// Runs the target once on these bytes, and returns its draws; nothing else comes of the run. `None` if it draws nothing,
/// or the run ended early, or the input is left out ([`CampaignHooks::is_left_out`]).
pub fn see_draws<C: Campaign>(parts: &mut Parts<'_, C>, bytes: &[u8]) -> Result<Option<Log>, Error> {
    if !parts.is_drawn() || parts.state.is_interrupted() || parts.state.hooks.is_left_out(bytes) {
        return Ok(None);
    }
    parts.executor.observers_mut().1.0.record(true);
    let run = run_unjudged(parts, &BytesInput::new(bytes.to_vec()));
    parts.executor.observers_mut().1.0.record(false);
    run?;
    parts.look()?;
    let observers = parts.executor.observers();
    let has_returned = matches!(observers.0.status(), Status::Returned | Status::Rejected);
    let draws = observers.1.0.log();
    let are_of_use = has_returned && !draws.is_empty();
    Ok(are_of_use.then(|| Log::new(draws, bytes, observers.1.0.is_cut())))
}

/// Evaluates `input` and returns whether it satisfies `goal`. Does not run it if it is left out
/// ([`CampaignHooks::is_left_out`]), or after the current work was given up.
pub fn probe<C: Campaign>(
    parts: &mut Parts<'_, C>,
    origin: &Origin<'_>,
    input: &BytesInput,
    goal: &impl Goal,
) -> Result<Probe, Error> {
    if parts.state.is_interrupted() {
        return Ok(Probe::Stop);
    }
    if parts.state.hooks.is_left_out(input.mutator_bytes()) {
        return Ok(Probe::Missed);
    }
    evaluate_as(parts, origin, input, false)?;
    let counts = &parts.executor.observers().0;
    let satisfied = goal.is_satisfied(counts);
    parts.state.look(counts)?;
    Ok(if satisfied { Probe::Satisfied } else { Probe::Missed })
}

/// Runs `input` without any effect on the campaign but its number of executions, and returns whether it satisfies
/// `goal`. A run that ended early is judged by its counts up to that point; `None` if `input` was not run.
pub fn run_shadow<C: Campaign>(
    parts: &mut Parts<'_, C>,
    input: &BytesInput,
    goal: &impl Goal,
) -> Result<Option<bool>, Error> {
    if parts.state.is_interrupted() || parts.state.hooks.is_left_out(input.mutator_bytes()) {
        return Ok(None);
    }
    run_unjudged(parts, input)?;
    let counts = &parts.executor.observers().0;
    let satisfied = goal.is_satisfied(counts);
    parts.state.look(counts)?;
    Ok(Some(satisfied))
}

/// Runs `input` without any effect on the campaign but its number of executions.
pub(crate) fn run_unjudged<C: Campaign>(parts: &mut Parts<'_, C>, input: &BytesInput) -> Result<(), Error> {
    let Parts { fuzzer, executor, state, manager } = parts;
    executor.observers_mut().0.count_hits(false);
    let run = fuzzer.execute_input(state, executor, manager, input);
    executor.observers_mut().0.count_hits(true);
    run?;
    if !matches!(executor.observers().0.status(), Status::Returned | Status::Rejected) {
        state.ended_early();
    }
    Ok(())
}

/// Number of runs of an input whose minimum counts, including the one that found it. What disturbs a run (an interrupt, a
/// cold cache, another process) only ever adds to it, so that one undisturbed run of five is enough.
pub const RUNS: u32 = 5;

/// Amount of all runs together from which on an input is not run again, in nanoseconds or cycles: what disturbs a run is
/// small beside it. There are two runs at least.
const LONG: u64 = 100_000_000;

/// Runs `input`, which has just run and is to be entered, again, and makes the minimum of its runs its amount of
/// `resource`, and of resident memory, which differs from run to run as well. Judges its cost anew, and gives up as soon as
/// nothing is left for which it would be entered. Returns whether it still is to be entered; a run that ends early leaves its
/// status in the counts.
pub(super) fn repeat<C: Campaign>(
    parts: &mut Parts<'_, C>,
    origin: &Origin<'_>,
    input: &BytesInput,
    resource: Resource,
    novelty: &mut Novelty,
) -> Result<bool, Error> {
    let Parts { fuzzer, executor, state, manager } = parts;
    let first = executor.observers().0.cost();
    let (mut least, mut all) = (first[resource], first[resource]);
    let mut resident = first[Resource::Resident];
    for run in 1..RUNS {
        if run > 1 && all >= LONG {
            break;
        }
        if state.hooks.is_over(*state.executions()) {
            // a single run is no measurement
            return Ok(run > 1 || origin.admission() == Admission::Always);
        }
        executor.observers_mut().0.count_hits(false);
        let done = fuzzer.execute_input(state, executor, manager, input);
        let mut observers = executor.observers_mut();
        let counts = &mut observers.0;
        counts.count_hits(true);
        done?;
        let moment = Moment::of(*state.executions(), counts.program());
        let counted = if origin.is_counted() { Origin::Measured } else { *origin };
        state.hooks.executed(&counted, moment, counts);
        if counts.status() != Status::Returned {
            return Ok(false);
        }
        let amount = counts.cost()[resource];
        (least, all) = (least.min(amount), all.saturating_add(amount));
        resident = resident.min(counts.cost()[Resource::Resident]);
        counts.set_amount(Resource::Resident, resident);
        counts.set_amount(resource, least);
        if origin.is_search() {
            let work = state.search.objective.work(&counts.cost());
            state.search.effort.spend(work, input.as_ref().len());
        }
        if origin.admission() != Admission::Always {
            state.search.judge_cost(counts, novelty);
            if !novelty.any() {
                return Ok(false);
            }
        }
    }
    Ok(true)
}
