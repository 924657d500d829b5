//! Evaluate and commit: the only way in which an input is run, judged and entered, and in which an early end is
//! recorded. Seeds, imports, resumed entries, mutants, probes and measured runs all take it.

pub mod draws;
pub mod probe;
pub mod repeat;
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
    origin::{Admission, Origin},
    state::CampaignState,
};
use quagmire_cost::resource::Cost;
use quagmire_execution::{abi::Status, counts::CountsObserver, executor::Observers};

/// LibAFL's arguments of a stage, bundled.
pub struct Parts<'a, E, EM, H, Z> {
    /// Runs inputs with the observers around them.
    pub fuzzer: &'a mut Z,
    /// Runs the target.
    pub executor: &'a mut E,
    pub state: &'a mut CampaignState<H>,
    /// LibAFL's event manager, which does nothing here.
    pub manager: &'a mut EM,
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
pub fn evaluate<E, EM, H, Z>(
    parts: &mut Parts<'_, E, EM, H, Z>,
    origin: &Origin<'_>,
    input: &BytesInput,
) -> Result<Evaluation, Error>
where
    E: HasObservers<Observers = Observers> + Executor<EM, BytesInput, CampaignState<H>, Z>,
    H: CampaignHooks,
    Z: ExecutesInput<E, EM, BytesInput, CampaignState<H>>,
{
    evaluate_as(parts, origin, input, origin.is_diverse())
}

/// As [`evaluate`]; `is_diverse` tells whether the run counts in the figures of validity and diversity.
fn evaluate_as<E, EM, H, Z>(
    parts: &mut Parts<'_, E, EM, H, Z>,
    origin: &Origin<'_>,
    input: &BytesInput,
    is_diverse: bool,
) -> Result<Evaluation, Error>
where
    E: HasObservers<Observers = Observers> + Executor<EM, BytesInput, CampaignState<H>, Z>,
    H: CampaignHooks,
    Z: ExecutesInput<E, EM, BytesInput, CampaignState<H>>,
{
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
        admitted = repeat::repeat(parts, origin, input, resource, &mut novelty)?;
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
    let entry: EntryId = corpus.add(Testcase::new(input.clone()))?.into();
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
