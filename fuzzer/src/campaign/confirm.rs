//! Confirmation: a candidate is measured again outside the campaign's process, beside the seeds.

use std::{
    os::unix::process::CommandExt,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use super::supervisor::stop_requested;
use crate::{
    cost::{
        degradation::{Criteria, Excess},
        judgement::{Severity, Verdict, judge},
        resource::Resource,
        statistics::Estimate,
    },
    error::{Error, Result},
    output::summary::{FindingCost, Noise},
    replay::{
        growth::Growth,
        report::{InputReport, Report},
    },
    target::{fork_server, pipes},
};

/// CPU time that all runs of a confirmation together should not exceed by much.
const BUDGET: Duration = Duration::from_secs(2);

/// How often a measuring process is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// So many bytes of what a measuring process complains about are kept: the first line is shown.
const MOST_ERRORS: usize = 1 << 16;

/// What confirmation found out. Everything is against the baseline's seed.
#[derive(Clone, Debug)]
pub struct Confirmation {
    /// It is a degradation.
    pub confirmed: bool,
    /// Of its time.
    pub verdict: Verdict,
    /// By the largest ratio among the costs that count.
    pub severity: Severity,
    /// CPU time of the input over that of the seed.
    pub time_ratio: Estimate,
    /// Of the rank test of the times.
    pub p_value: f64,
    /// Of all resources.
    pub costs: Vec<FindingCost>,
    /// Where the cost grew.
    pub growth: Growth,
    /// CPU seconds of the baseline's seed.
    pub baseline_seconds: f64,
}

impl Confirmation {
    /// How many times the seed's amount of a resource the input used.
    pub fn ratio(&self, resource: Resource) -> Option<f64> {
        self.costs.iter().find(|cost| cost.resource == resource).map(|cost| cost.ratio)
    }
}

/// How to confirm.
#[derive(Clone, Debug)]
pub struct Confirmer {
    /// What has to be exceeded.
    pub criteria: Criteria,
    /// A run longer than this is a hang.
    pub hang_timeout: Duration,
    /// In bytes; 0 for none.
    pub memory_limit: u64,
    /// When the measuring process is killed at the latest.
    pub deadline: Instant,
}

impl Confirmer {
    /// Measures `candidate` beside the seed that is the baseline and beside the seed that it was made from. `None` if it
    /// does not come back when it is run by itself, or if there was no time to find out. `meanwhile` is called all the time.
    ///
    /// # Errors
    /// If the measuring process cannot be started or says nonsense.
    pub fn confirm(
        &self,
        reference: &Path,
        own_seed: &Path,
        candidate: &Path,
        meanwhile: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Option<Confirmation>> {
        let mut inputs = vec![reference];
        if own_seed != reference {
            inputs.push(own_seed);
        }
        inputs.push(candidate);
        let Some(report) = self.replay(&inputs, BUDGET, meanwhile)? else { return Ok(None) };
        let (Some(first), Some(last)) = (report.inputs.first(), report.inputs.last()) else {
            return Err(Error::other("the replay process reported nothing"));
        };
        if last.seconds.is_empty() || first.seconds.is_empty() || last.status != "returned" {
            return Ok(None);
        }
        let floor = report.noise_floor;
        let against = |seed: &InputReport| judge(&last.seconds, &seed.seconds, floor);
        let judgement = against(first);
        // slower than the median seed, and slower than what it was made from
        let mut verdict = judgement.verdict;
        for own in &report.inputs[1..report.inputs.len() - 1] {
            if against(own).verdict != Verdict::Degradation && verdict == Verdict::Degradation {
                verdict = Verdict::Maybe;
            }
        }
        let costs = costs(first, last);
        let excesses: Vec<Excess> = costs
            .iter()
            .map(|cost| Excess {
                resource: cost.resource,
                ratio: if cost.resource == Resource::Time { judgement.ratio.low } else { cost.ratio },
            })
            .collect();
        let chosen = costs.iter().filter(|cost| self.criteria.resources.contains(&cost.resource));
        Ok(Some(Confirmation {
            confirmed: self.criteria.are_met(&excesses, verdict),
            verdict,
            severity: Severity::of(chosen.map(|cost| cost.ratio).fold(0.0, f64::max)),
            time_ratio: judgement.ratio,
            p_value: judgement.p_value,
            costs,
            growth: crate::replay::growth::growth(first, last),
            baseline_seconds: first.seconds_median,
        }))
    }

    /// What the reference seed shows against itself. `None` if there was no time to find out. `meanwhile` is called all the
    /// time.
    ///
    /// # Errors
    /// If the measuring process cannot be started or says nonsense.
    pub fn noise(&self, reference: &Path, meanwhile: &mut dyn FnMut() -> Result<()>) -> Result<Option<Noise>> {
        // half of the time that there is: the process has to start and to report as well
        let budget = self.deadline.saturating_duration_since(Instant::now()) / 2;
        let Some(report) = self.replay(&[reference], budget, meanwhile)? else { return Ok(None) };
        let rounds = report.inputs.first().map_or(0, |input| input.seconds.len() as u32);
        Ok(report.noise_floor.map(|floor| Noise { floor, rounds }))
    }

    /// Runs the harness's own `replay`, the very command that findings are reproduced with. `None` if it was stopped.
    fn replay(
        &self,
        inputs: &[&Path],
        budget: Duration,
        meanwhile: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Option<Report>> {
        let cannot = |error: std::io::Error| Error::other(format!("cannot start the harness to measure: {error}"));
        let mut command = Command::new("/proc/self/exe");
        command
            .arg("replay")
            .args(["--json", "--repeats", "auto", "--budget", &format!("{}ms", budget.as_millis())])
            .args(["--hang-timeout", &format!("{}ms", self.hang_timeout.as_millis())])
            .args(["--memory-limit", &self.memory_limit.to_string()])
            .args(inputs)
            .args(fork_server::is_used().then_some("--"))
            .args(fork_server::command())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // of its own, so that it can be killed with the child that it measures in
            .process_group(0);
        // SAFETY: an async-signal-safe call. It does not outlive a worker that is killed.
        unsafe {
            command.pre_exec(|| {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                Ok(())
            })
        };
        let mut child = command.spawn().map_err(cannot)?;
        let (mut text, mut said) = (Vec::new(), Vec::new());
        let (Some(mut output), Some(mut errors)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(Error::other("the measuring process has no pipes"));
        };
        let mut says_more = true;
        // until it ends: what the target has started may have its pipes for longer
        while child.try_wait().map_err(cannot)?.is_none() {
            let looked = meanwhile();
            if looked.is_err() || stop_requested() || Instant::now() >= self.deadline {
                // SAFETY: the group of a child that was not waited for.
                unsafe { libc::kill(-(child.id() as i32), libc::SIGKILL) };
                let _ = child.wait();
                return looked.map(|()| None);
            }
            let [is_output, is_error] = pipes::readable([&output, if says_more { &errors } else { &output }], LOOK);
            if is_output && !pipes::read_part(&mut output, &mut text, usize::MAX).map_err(cannot)? {
                break;
            }
            // a process whose errors nobody reads does not go on
            if is_error && says_more {
                says_more = pipes::read_part(&mut errors, &mut said, MOST_ERRORS).map_err(cannot)?;
            }
        }
        pipes::read_rest(&mut output, &mut text, usize::MAX).map_err(cannot)?;
        pipes::read_rest(&mut errors, &mut said, MOST_ERRORS).map_err(cannot)?;
        let said = String::from_utf8_lossy(&said);
        let status = child.wait().map_err(cannot)?;
        serde_json::from_slice(&text)
            .map(Some)
            .map_err(|_| Error::other(format!("measuring failed ({status}): {}", said.lines().next().unwrap_or(""))))
    }
}

fn costs(seed: &InputReport, input: &InputReport) -> Vec<FindingCost> {
    let one = |resource: Resource| {
        let (amount, baseline) = (*input.costs.get(&resource)?, *seed.costs.get(&resource)?);
        Some(FindingCost { resource, amount, baseline, ratio: resource.ratio(amount, baseline) })
    };
    Resource::ALL.into_iter().filter_map(one).collect()
}
