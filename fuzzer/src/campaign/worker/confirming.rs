//! Confirmation of candidates during and after the search, and outlines of degradations: the parts of an input by the grammar,
//! or by what the harness draws from it.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::atomic::Ordering::Relaxed,
    time::{Duration, Instant},
};

use libafl::state::HasExecutions;

use super::Worker;
use crate::campaign::{
    confirm::{Candidate, Confirmer},
    ordinary,
    supervisor::stop_requested,
};
use quagmire_base::{
    atomic::write_whole,
    error::{Error, Result},
    files,
    format::ratio,
};
use quagmire_choices::{
    draws::{Draw, Kind, Log},
    outline::{Item, items, outline, quoted},
};
use quagmire_cost::{
    judgement::{LEAST_EFFECT, Verdict},
    sizes::SizeModel,
};
use quagmire_execution::{
    symbols::{CodeLocation, Symbols},
    timer::TICKED,
};
use quagmire_results::summary::WhyUnconfirmed;
use quagmire_search::{evaluate::see_draws, state::CampaignState};

/// Largest share of the campaign's time for confirmations.
const CONFIRMATION_SHARE: f64 = 0.1;

/// Share of the hang timeout that confirmations may take after the end of the campaign's time; the rest is for
/// writing.
const OF_HANG_TIMEOUT: f64 = 0.6;

/// Duration of a campaign from which the noise of the machine is measured.
const ENOUGH_FOR_NOISE: Duration = Duration::from_secs(20);

/// Largest duration of that measurement, absolute and as a share of the campaign's time.
const NOISE: Duration = Duration::from_secs(1);
const NOISE_SHARE: f64 = 0.02;

/// Time after which no further confirmation begins at the end.
const LAST_CONFIRMATIONS_START: Duration = Duration::from_secs(2);

impl<'a> Worker<'a> {
    /// Confirms a candidate, if there is one and confirmations have not used up their share of the time.
    pub(super) fn confirm_if_due(&mut self) -> Result<()> {
        if self.may_confirm() {
            self.state.hooks.begin_phase("confirming")?;
            self.confirm_next(false)?;
            self.state.hooks.begin_phase("coverage")?;
        }
        Ok(())
    }

    /// Confirms candidates after the search, the worst entry among them.
    pub(super) fn confirm_last(&mut self) -> Result<()> {
        if self.setup.options.confirm.no_confirm {
            return Ok(());
        }
        self.state.hooks.propose_worst();
        self.state.hooks.begin_phase("confirming")?;
        let started = Instant::now();
        let may_begin = |worker: &Self| {
            let is_time = Instant::now() < worker.confirmer().deadline;
            is_time && started.elapsed() < LAST_CONFIRMATIONS_START && !stop_requested()
        };
        while may_begin(self) && self.confirm_next(true)? {}
        Ok(())
    }

    /// Measures the noise of this machine, if the campaign is long enough and confirms.
    pub(super) fn measure_noise(&mut self) -> Result<()> {
        if self.setup.options.confirm.no_confirm || self.setup.options.time < ENOUGH_FOR_NOISE {
            return Ok(());
        }
        let reference = self.state.hooks.path_of(self.state.hooks.record.reference);
        let mut confirmer = self.confirmer();
        confirmer.deadline = Instant::now() + NOISE.min(self.setup.options.time.mul_f64(NOISE_SHARE));
        let noise = confirmer.noise(&reference, &mut self.housekeeping());
        match noise {
            Ok(Some(noise)) => {
                let recorder = &mut self.state.hooks;
                recorder.record.noise = Some(noise);
                let percent = noise.floor * 100.0;
                if noise.floor > LEAST_EFFECT {
                    recorder.note(&format!(
                        "noise floor {percent:.1} %: inputs that are slower by less than that are not confirmed; an idle \
                         machine has less noise"
                    ))
                } else {
                    recorder.log(&format!("noise floor {percent:.1} %"))
                }
            }
            Ok(None) => Ok(()),
            Err(error) => self.state.hooks.log(&error.to_string()),
        }
    }

    /// Work on each timer tick while another process measures: display and files.
    fn housekeeping(&mut self) -> impl FnMut() -> Result<()> {
        let moment = self.moment();
        let CampaignState { hooks, search, .. } = &mut self.state;
        move || if TICKED.swap(false, Relaxed) { hooks.housekeeping(moment, search) } else { Ok(()) }
    }

    fn may_confirm(&self) -> bool {
        let recorder = &self.state.hooks;
        !self.setup.options.confirm.no_confirm
            && recorder.has_candidate()
            && (recorder.record.confirming.is_zero()
                || recorder.record.confirming.as_secs_f64() < CONFIRMATION_SHARE * recorder.session().as_secs_f64())
    }

    fn confirmer(&self) -> Confirmer<'a> {
        let (now, session) = (Instant::now(), self.state.hooks.session());
        let options = &self.setup.options;
        let left = left_for_confirmations(options.time, options.target.hang_timeout, session);
        Confirmer::new(self.setup, now.checked_add(left).unwrap_or(now))
    }

    /// Confirms the next candidate, and records the result. Returns whether there was one.
    fn confirm_next(&mut self, is_end: bool) -> Result<bool> {
        let started = Instant::now();
        let confirmer = self.confirmer();
        let Some(proposed) = self.state.hooks.next_candidate(is_end) else { return Ok(false) };
        let candidate = proposed.entry;
        let ([reference, own_seed, path], bytes, reference_bytes, model) = {
            let recorder = &self.state.hooks;
            let entry = recorder.record.entry(candidate);
            let paths = [recorder.record.reference, entry.root, candidate].map(|entry| recorder.path_of(entry));
            let reference_bytes = recorder.record.entry(recorder.record.reference).bytes;
            (paths, entry.bytes, reference_bytes, recorder.size_model().cloned())
        };
        let joined = self.joined_to(bytes, model.as_ref())?;
        let inputs = Candidate {
            input: &path,
            bytes,
            reference: &reference,
            reference_bytes,
            own_seed: &own_seed,
            joined: joined.as_deref(),
            model: model.as_ref(),
        };
        let confirmation = confirmer.confirm(&inputs, &mut self.housekeeping());
        let parts = match &confirmation {
            Ok(Some(confirmation)) if confirmation.confirmed => self.parts_of(&path)?,
            _ => Vec::new(),
        };
        let recorder = &mut self.state.hooks;
        match confirmation {
            Ok(Some(confirmation)) => {
                recorder.record.baseline_seconds = Some(confirmation.baseline_seconds);
                let time = confirmation.time_ratio.value;
                if recorder.record.worst == Some(candidate) {
                    recorder.record.worst_time = Some((candidate, time));
                }
                if confirmation.confirmed {
                    let bytes = files::read(&path, files::LARGEST_INPUT)
                        .map_err(|error| Error::other(format!("cannot read {}: {error}", path.display())))?;
                    recorder.degradation(candidate, &bytes, parts, &confirmation)?;
                    recorder.write_progress(None, &self.state.search)?;
                } else {
                    recorder.correct(proposed, time, &mut self.state.search);
                    let why = if confirmation.is_dense { WhyUnconfirmed::Dense } else { WhyUnconfirmed::NotConfirmed };
                    let is_above = recorder.note_unconfirmed(candidate, why);
                    if confirmation.is_doubtful {
                        recorder.doubt(proposed);
                    }
                    if !is_above && confirmation.by_seed == Verdict::Degradation {
                        recorder.note_large(candidate);
                    }
                    let (verdict, beside) = (confirmation.verdict.words(), confirmation.weakest);
                    let beside = match confirmation.is_dense {
                        true => why.in_words().to_owned(),
                        false => format!("{verdict} beside {beside}"),
                    };
                    recorder.log(&format!("not confirmed: {} ({} the time; {beside})", path.display(), ratio(time)))?;
                }
            }
            Ok(None) if stop_requested() || Instant::now() >= confirmer.deadline => {
                recorder.put_back(proposed);
                recorder.log(&format!("not measured to the end: {}; --resume measures it again", path.display()))?;
            }
            Ok(None) => {
                recorder.note_unconfirmed(candidate, WhyUnconfirmed::DidNotReturn);
                recorder.log(&format!("not confirmed: {} did not come back in time", path.display()))?;
            }
            Err(error) => {
                recorder.note_unconfirmed(candidate, WhyUnconfirmed::NotMeasured);
                recorder.log(&format!("{error}"))?;
            }
        }
        recorder.record.confirming += started.elapsed();
        if let Some(joined) = joined {
            recorder.drop_unless_used(&joined);
        }
        Ok(true)
    }

    /// Path of the file with seeds joined to `bytes`, which is written if it does not exist. `None` if the median seed
    /// is at least as large, or if inputs of that size were not measured where there are counts.
    fn joined_to(&mut self, bytes: u64, model: Option<&SizeModel>) -> Result<Option<PathBuf>> {
        let recorder = &mut self.state.hooks;
        let median = recorder.record.entry(recorder.record.reference).bytes;
        let counts = self.setup.target.instrumentation.counts();
        if model.is_none_or(|model| counts && bytes > model.largest) || bytes <= median {
            return Ok(None);
        }
        let path = recorder.folder().ordinary().join(format!("size_{bytes:06}"));
        if !path.exists() {
            let (_, seeds) = recorder.sampled_seeds()?;
            let joined = ordinary::joined(&seeds, 0, usize::try_from(bytes).unwrap_or(usize::MAX));
            write_whole(&path, &joined)?;
            recorder.note_ordinary(&path, &joined);
        }
        Ok(Some(path))
    }
}

/// Time left for confirmations once `session` has passed. Counted from the planned end, even if the run in progress
/// exceeded it.
fn left_for_confirmations(time: Duration, hang_timeout: Duration, session: Duration) -> Duration {
    time.saturating_add(hang_timeout.mul_f64(OF_HANG_TIMEOUT)).saturating_sub(session)
}

impl Worker<'_> {
    /// Outline of the input in this file; empty if nothing tells its parts.
    pub(super) fn parts_of(&mut self, path: &Path) -> Result<Vec<String>> {
        let Ok(bytes) = files::read(path, files::LARGEST_INPUT) else { return Ok(Vec::new()) };
        if let Some(grammar) = &self.setup.grammar {
            let name = |symbol| grammar.name(symbol).unwrap_or_default().to_owned();
            return Ok(grammar.parse(&bytes).map(|tree| outline(&items(&tree, name))).unwrap_or_default());
        }
        // when this is done depends on the clock: it is no execution of the search
        let executions = *self.state.executions();
        let log = see_draws(&mut self.parts(), &bytes);
        *self.state.executions_mut() = executions;
        let log = log.map_err(|error| self.state.reason(&error))?;
        Ok(log.map(|log| of_draws(&log)).unwrap_or_default())
    }
}

/// Outline of draws: parts by the functions that drew them, draws by their lines.
fn of_draws(log: &Log) -> Vec<String> {
    let mut symbols = Symbols::new();
    let mut known: HashMap<u64, CodeLocation> = HashMap::new();
    let mut place = |site: u64| known.entry(site).or_insert_with(|| symbols.caller(site)).clone();
    let mut shown = Vec::new();
    let (draws, parts) = (&log.draws, &log.parts);
    let mut open: Vec<usize> = Vec::new();
    let mut next = 0;
    for (at, draw) in draws.iter().enumerate() {
        open.retain(|&end| end > at);
        while let Some(part) = parts.get(next).filter(|part| part.draws.start == at) {
            let depth = open.len() as u32;
            shown.push(Item { depth, kind: part.site, text: place(part.site).function });
            open.push(part.draws.end);
            next += 1;
        }
        let location = place(draw.site);
        let line = location.location.as_deref().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
        let depth = open.len() as u32;
        // beside a part of the same site, a draw is of another kind
        shown.push(Item { depth, kind: !draw.site, text: format!("{}  {line}", drawn(log, at, draw)) });
    }
    outline(&shown)
}

/// A draw and its value, for people.
fn drawn(log: &Log, at: usize, draw: &Draw) -> String {
    let bytes = || quoted(log.draw_range(at).and_then(|range| log.bytes.get(range)).unwrap_or_default());
    let (value, most) = (draw.value, draw.range);
    match draw.kind() {
        Some(Kind::Integer) => format!("integer: smallest + {value} of {most}"),
        Some(Kind::Flip) => format!("flag {}", value != 0),
        Some(Kind::Pick) => format!("choice {value} of 0 to {most}"),
        Some(Kind::Real) => "real number".to_owned(),
        Some(Kind::Text) => format!("text {}", bytes()),
        Some(Kind::Bytes | Kind::Rest) => format!("bytes {}", bytes()),
        Some(Kind::Size) => format!("{value} bytes left"),
        Some(Kind::Open | Kind::Close) | None => "part".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_goes_on_after_the_end_takes_from_the_time_of_confirmations() {
        let left = |session| left_for_confirmations(Duration::from_secs(3), Duration::from_secs(5), session);
        assert_eq!([0, 3, 5, 6, 8].map(|session| left(Duration::from_secs(session)).as_secs()), [6, 3, 1, 0, 0]);
        assert_eq!(left_for_confirmations(Duration::MAX, Duration::MAX / 2, Duration::ZERO), Duration::MAX);
    }
}
