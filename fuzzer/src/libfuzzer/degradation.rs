//! `-degradations=1`: one check, in fuzzing and in runs of files, that an input costs far more than the ordinary inputs
//! that come with the harness, reported as a timeout.

use std::{
    ffi::OsString,
    time::{Duration, Instant},
};

use quagmire_analysis::{measure::MeasurementPlan, rounds::Rounds};
use quagmire_base::{atomic::write_whole, error::Result};
use quagmire_cost::{decision::Question, degradation::Criteria, resource::Resource};
use quagmire_execution::{harness::Harness, info::TargetInfo};
use tempfile::TempDir;

use super::{
    Call,
    baseline::{self, Baseline},
    console::Console,
    ends::TEST,
    limits, scratch, seed_corpus,
};
use crate::{
    campaign::confirm::{Candidate, Confirmer},
    options::THRESHOLD,
};

/// Percent by which an input has to exceed the threshold to become an artifact, so that later runs find it slow as
/// well.
pub(super) const MARGIN: u64 = 25;

/// Measurements of an input whose time was not told from noise.
const ATTEMPTS: usize = 4;

/// Time for the measurements of one input.
const PATIENCE: Duration = Duration::from_secs(120);

/// Check of inputs against the ordinary ones.
pub(super) struct Check {
    harness: &'static Harness,
    target: TargetInfo,
    criteria: Criteria,
    plan: MeasurementPlan,
    baseline: Baseline,
    scratch: TempDir,
}

/// Input that costs far more than ordinary ones.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Degradation {
    /// Its cost as a multiple of an ordinary input's.
    ratio: f64,
    /// Function that takes most of it.
    pub(super) function: String,
    /// Location in that function, as `file:line`.
    location: Option<String>,
}

impl Check {
    /// Measures the ordinary inputs, if the flags ask for the check, for inputs of up to `largest` bytes. `None` without
    /// the flag, and with a warning if there are none.
    pub(super) fn new(call: &Call, largest: usize) -> Result<Option<Self>> {
        let Call { program, harness, flags, console, .. } = call;
        if !flags.is_on("degradations") {
            return Ok(None);
        }
        let limits = limits(flags);
        let plan = MeasurementPlan {
            counters: false,
            rounds: Rounds::Fixed(0),
            question: Question::First,
            hang_timeout: limits.hang,
            memory_limit: limits.memory,
            debug_target: false,
            annotate: Vec::new(),
        };
        let Some(baseline) = Baseline::measure(harness, &plan, seed_corpus::of_this_harness()?, largest)? else {
            console.say(&format!("WARNING: -degradations=1 has no effect: {}", seed_corpus::why_none()));
            return Ok(None);
        };
        let scratch = scratch()?;
        write_whole(&scratch.path().join("ordinary"), baseline.median())?;
        let instrumentation = harness.sources().instrumentation();
        let target = TargetInfo::of_harness(OsString::from(program), instrumentation);
        Ok(Some(Self {
            harness,
            target,
            criteria: Criteria { threshold: THRESHOLD, resources: vec![Resource::Instructions] },
            plan,
            baseline,
            scratch,
        }))
    }

    /// Judges an input, whose cost has to exceed the threshold by `margin` percent. `None` if it is no degradation, or if
    /// its run does not return.
    ///
    /// # Errors
    /// If the target cannot be run, or no file can be written.
    pub(super) fn judge(&self, input: &[u8], margin: u64) -> Result<Option<Degradation>> {
        let criteria = Criteria {
            threshold: self.criteria.threshold * (1.0 + margin as f64 / 100.0),
            resources: self.criteria.resources.clone(),
        };
        if !self.may_be_one(input, &criteria)? {
            return Ok(None);
        }
        let place = |name: &str| self.scratch.path().join(name);
        let (path, reference) = (place("input"), place("ordinary"));
        write_whole(&path, input)?;
        let joined = match self.baseline.joined(input.len()) {
            Some(bytes) => {
                write_whole(&place("joined"), &bytes)?;
                Some(place("joined"))
            }
            None => None,
        };
        let candidate = Candidate {
            input: &path,
            bytes: input.len() as u64,
            reference: &reference,
            // only asked for without counts
            reference_bytes: 1,
            own_seed: &reference,
            joined: joined.as_deref(),
            model: Some(&self.baseline.model),
        };
        let confirmer = Confirmer {
            target: &self.target,
            criteria,
            hang_timeout: self.plan.hang_timeout,
            memory_limit: self.plan.memory_limit,
            deadline: Instant::now() + PATIENCE,
        };
        let mut confirmation = confirmer.confirm(&candidate, &mut || Ok(()))?;
        for _ in 1..ATTEMPTS {
            // the counts are above the threshold, the clock was disturbed: the same input has to get the same answer later
            if confirmation.as_ref().is_some_and(|found| found.is_doubtful) {
                confirmation = confirmer.confirm(&candidate, &mut || Ok(()))?;
            }
        }
        Ok(confirmation.filter(|found| found.confirmed).map(|found| {
            let hottest = found.growth.hottest();
            Degradation {
                ratio: found.ratio,
                function: hottest.map_or_else(|| TEST.to_owned(), |grown| grown.function.clone()),
                location: hottest.and_then(|grown| grown.location()),
            }
        }))
    }

    /// Whether the counts of one run reach the threshold, which takes less time than a measurement.
    fn may_be_one(&self, input: &[u8], criteria: &Criteria) -> Result<bool> {
        let ran = baseline::run(self.harness, &self.plan, &[input.to_vec()])?;
        let Some(cost) = ran.first().and_then(baseline::returned) else { return Ok(false) };
        let (model, bytes) = (&self.baseline.model, input.len() as u64);
        let ratio = |&resource| model.ratio(resource, cost[resource], bytes) / model.margin(resource, bytes);
        Ok(criteria.resources.iter().map(ratio).any(|ratio| ratio >= criteria.threshold))
    }
}

impl Degradation {
    /// Prints it as a timeout, with the place that takes most of the cost on top of a stack trace: what services group
    /// their testcases by.
    pub(super) fn report(&self, console: &Console) {
        let frame = |number: u32, function: &str, location: Option<&str>| {
            format!("    #{number} 0x0 in {function} {}\n", location.unwrap_or("(<unknown module>)"))
        };
        let mut stack = frame(0, &self.function, self.location.as_deref());
        if self.function != TEST {
            stack += &frame(1, TEST, None);
        }
        console.say(&format!(
            "=={}== ERROR: libFuzzer: timeout: a degradation, {:.1} times the cost of an ordinary input of its size\n\
             {stack}\nSUMMARY: libFuzzer: timeout",
            std::process::id(),
            self.ratio
        ));
    }
}
