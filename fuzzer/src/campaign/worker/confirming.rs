//! Confirmation of candidates during and after the search.

use std::{
    path::PathBuf,
    sync::atomic::Ordering::Relaxed,
    time::{Duration, Instant},
};

use super::Worker;
use crate::campaign::{
    confirm::{Candidate, Confirmer},
    ordinary,
    supervisor::stop_requested,
};
use quagmire_base::{
    atomic::write_whole,
    error::{Error, Result},
};
use quagmire_cost::{degradation::Criteria, judgement::Verdict, sizes::SizeModel};
use quagmire_execution::timer::TICKED;

/// Largest share of the campaign's time for confirmations.
const CONFIRMATION_SHARE: f64 = 0.1;

/// Number of candidates that are confirmed after the time is up, the most expensive first.
const LAST_CONFIRMATIONS: usize = 3;

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
            self.archive.borrow_mut().begin_phase("confirming")?;
            self.confirm_next()?;
            self.archive.borrow_mut().begin_phase("coverage")?;
        }
        Ok(())
    }

    /// Confirms candidates after the search, the worst entry among them.
    pub(super) fn confirm_last(&mut self) -> Result<()> {
        if !self.setup.options.confirm {
            return Ok(());
        }
        self.archive.borrow_mut().propose_worst();
        self.archive.borrow_mut().begin_phase("confirming")?;
        let started = Instant::now();
        for _ in 0..LAST_CONFIRMATIONS {
            if started.elapsed() < LAST_CONFIRMATIONS_START && !stop_requested() {
                self.confirm_next()?;
            }
        }
        Ok(())
    }

    /// Measures the noise of this machine, if the campaign is long enough and confirms.
    pub(super) fn measure_noise(&mut self) -> Result<()> {
        if !self.setup.options.confirm || self.setup.options.time < ENOUGH_FOR_NOISE {
            return Ok(());
        }
        let reference = self.archive.borrow().path_of(self.archive.borrow().record.reference);
        let mut confirmer = self.confirmer();
        confirmer.deadline = Instant::now() + NOISE.min(self.setup.options.time.mul_f64(NOISE_SHARE));
        let noise = confirmer.noise(&reference, &mut self.housekeeping());
        match noise {
            Ok(Some(noise)) => {
                let mut archive = self.archive.borrow_mut();
                archive.record.noise = Some(noise);
                let percent = noise.floor * 100.0;
                archive.note(&format!(
                    "noise floor {percent:.1} %: the median seed, timed against itself, differs by that much"
                ))
            }
            Ok(None) => Ok(()),
            Err(error) => self.archive.borrow_mut().log(&error.to_string()),
        }
    }

    /// Work on each timer tick while another process measures: display and files.
    fn housekeeping(&self) -> impl FnMut() -> Result<()> + use<'a> {
        let (archive, kept, moment) = (self.archive.clone(), self.kept.clone(), self.moment());
        move || {
            if TICKED.swap(false, Relaxed) { archive.borrow_mut().housekeeping(moment, &kept.borrow()) } else { Ok(()) }
        }
    }

    fn may_confirm(&self) -> bool {
        let archive = self.archive.borrow();
        self.setup.options.confirm
            && !archive.record.candidates.is_empty()
            && (archive.record.confirming.is_zero()
                || archive.record.confirming.as_secs_f64() < CONFIRMATION_SHARE * archive.session().as_secs_f64())
    }

    fn confirmer(&self) -> Confirmer<'a> {
        let options = &self.setup.options;
        let (now, session) = (Instant::now(), self.archive.borrow().session());
        let left = left_for_confirmations(options.time, options.hang_timeout, session);
        Confirmer {
            target: &self.setup.target,
            criteria: Criteria { threshold: options.threshold, resources: options.cost.clone() },
            hang_timeout: options.hang_timeout,
            memory_limit: options.memory_limit,
            deadline: now.checked_add(left).unwrap_or(now),
        }
    }

    /// Confirms the most expensive candidate, and records the result.
    fn confirm_next(&mut self) -> Result<()> {
        let started = Instant::now();
        let confirmer = self.confirmer();
        let Some(candidate) = self.archive.borrow_mut().next_candidate() else { return Ok(()) };
        let ([reference, own_seed, path], bytes, model) = {
            let archive = self.archive.borrow();
            let entry = archive.record.entry(candidate);
            let paths = [archive.record.reference, entry.root, candidate].map(|entry| archive.path_of(entry));
            (paths, entry.bytes, archive.size_model().cloned())
        };
        let joined = self.joined_to(bytes, model.as_ref())?;
        let inputs = Candidate {
            input: &path,
            bytes,
            reference: &reference,
            own_seed: &own_seed,
            joined: joined.as_deref(),
            model: model.as_ref(),
        };
        let confirmation = confirmer.confirm(&inputs, &mut self.housekeeping());
        let mut archive = self.archive.borrow_mut();
        match confirmation {
            Ok(Some(confirmation)) => {
                archive.record.baseline_seconds = Some(confirmation.baseline_seconds);
                let time = confirmation.time_ratio.value;
                if archive.record.worst == Some(candidate) {
                    archive.record.worst_time = Some((candidate, time));
                }
                if confirmation.confirmed {
                    let bytes = quagmire_base::files::read(&path, quagmire_base::files::LARGEST_INPUT)
                        .map_err(|error| Error::other(format!("cannot read {}: {error}", path.display())))?;
                    archive.degradation(candidate, &bytes, &confirmation)?;
                    archive.write_progress(None, &self.kept.borrow())?;
                } else {
                    if confirmation.by_seed == Verdict::Degradation {
                        archive.note_large(candidate);
                    }
                    let (verdict, beside) = (confirmation.verdict.words(), confirmation.weakest);
                    let path = path.display();
                    archive.log(&format!("not confirmed: {path} ({time:.2} x the time; {verdict} beside {beside})"))?;
                }
            }
            Ok(None) => archive.log(&format!("not confirmed: {} did not come back in time", path.display()))?,
            Err(error) => archive.log(&format!("{error}"))?,
        }
        archive.record.confirming += started.elapsed();
        if let Some(joined) = joined {
            archive.drop_unless_used(&joined);
        }
        Ok(())
    }

    /// Path of the file with seeds joined to `bytes`, which is written if it does not exist. `None` if the median seed
    /// is at least as large, or if inputs of that size were not measured.
    fn joined_to(&self, bytes: u64, model: Option<&SizeModel>) -> Result<Option<PathBuf>> {
        let archive = self.archive.borrow();
        let median = archive.record.entry(archive.record.reference).bytes;
        if model.is_none_or(|model| bytes > model.largest) || bytes <= median {
            return Ok(None);
        }
        let path = archive.folder().ordinary().join(format!("size_{bytes:06}"));
        drop(archive);
        if !path.exists() {
            let (_, seeds) = self.sampled_seeds()?;
            write_whole(&path, &ordinary::joined(&seeds, 0, usize::try_from(bytes).unwrap_or(usize::MAX)))?;
        }
        Ok(Some(path))
    }
}

/// Time left for confirmations once `session` has passed. Counted from the planned end, even if the run in progress
/// exceeded it.
fn left_for_confirmations(time: Duration, hang_timeout: Duration, session: Duration) -> Duration {
    time.saturating_add(hang_timeout.mul_f64(OF_HANG_TIMEOUT)).saturating_sub(session)
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
