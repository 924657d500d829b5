//! When candidates are confirmed, and what becomes of them.

use std::time::{Duration, Instant};

use super::Worker;
use crate::{
    campaign::{confirm::Confirmer, supervisor::stop_requested},
    cost::{degradation::Criteria, resource::Resource},
    error::{Error, Result},
};

/// Confirmations take at most this share of the campaign's time.
const CONFIRMATION_SHARE: f64 = 0.1;

/// Candidates that are confirmed after the time is up, the most expensive first.
const LAST_CONFIRMATIONS: usize = 3;

/// No further one begins after this.
const LAST_CONFIRMATIONS_START: Duration = Duration::from_secs(2);

impl Worker<'_> {
    /// Confirms a candidate if there is one and confirming has not had its share of the time.
    pub(super) fn confirm_if_due(&mut self) -> Result<()> {
        if self.may_confirm() {
            self.archive.borrow_mut().begin_phase("confirming")?;
            self.confirm_next()?;
            self.archive.borrow_mut().begin_phase("coverage")?;
        }
        Ok(())
    }

    /// After the search: the worst input, and what else waits.
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

    fn may_confirm(&self) -> bool {
        let archive = self.archive.borrow();
        self.setup.options.confirm
            && !archive.record.candidates.is_empty()
            && (archive.record.confirming.is_zero()
                || archive.record.confirming.as_secs_f64() < CONFIRMATION_SHARE * archive.session().as_secs_f64())
    }

    /// Confirms the most expensive candidate.
    fn confirm_next(&mut self) -> Result<()> {
        let started = Instant::now();
        let mut archive = self.archive.borrow_mut();
        let Some(candidate) = archive.next_candidate() else { return Ok(()) };
        let record = &archive.record;
        let ratio = archive.ratio_of(candidate);
        let expected = record.baseline_seconds.unwrap_or(0.0) * ratio;
        let (reference, root) = (record.reference, record.entries[candidate as usize].root);
        let options = &self.setup.options;
        let confirmer = Confirmer {
            criteria: Criteria {
                threshold: options.threshold,
                instructions: options.cost.contains(&Resource::Instructions),
                time: options.cost.contains(&Resource::Time),
            },
            hang_timeout: options.hang_timeout,
            memory_limit: options.memory_limit,
        };
        let path = archive.path_of(candidate);
        let confirmed = confirmer.confirm(
            &archive.path_of(reference),
            &archive.path_of(root),
            &path,
            Duration::try_from_secs_f64(expected).unwrap_or(options.hang_timeout),
        );
        match confirmed {
            Ok(Some(confirmation)) => {
                archive.record.baseline_seconds = Some(confirmation.baseline_seconds);
                let time = confirmation.comparison.time_ratio.value;
                if self.kept.borrow().champions.worst() == Some(candidate) {
                    archive.record.worst_time = Some((candidate, time));
                }
                if confirmation.comparison.confirmed {
                    let bytes = std::fs::read(&path)
                        .map_err(|error| Error::other(format!("cannot read {}: {error}", path.display())))?;
                    archive.degradation(candidate, &bytes, &confirmation)?;
                } else {
                    archive.log(&format!("not confirmed: {} ({time:.2} x the time)", path.display()))?;
                }
            }
            Ok(None) => archive.log(&format!("not confirmed: {} does not come back by itself", path.display()))?,
            Err(error) => archive.log(&format!("{error}"))?,
        }
        archive.record.confirming += started.elapsed();
        Ok(())
    }
}
