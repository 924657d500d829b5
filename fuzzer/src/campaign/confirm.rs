//! Confirmation: a candidate is measured again outside the campaign's process, beside the seeds.

use std::{
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use crate::{
    cost::degradation::{Comparison, Criteria, Measured, compare},
    error::{Error, Result},
    replay::report::{InputReport, Report},
};

/// Rounds that a candidate is measured for if it is quick.
const ROUNDS: u32 = 15;

/// CPU time that all rounds together should not exceed by much.
const BUDGET: Duration = Duration::from_secs(2);

/// The fewest rounds that give an interval at all.
const FEWEST_ROUNDS: u32 = 3;

/// What confirmation found out.
#[derive(Debug)]
pub struct Confirmation {
    /// Against the baseline's seed.
    pub comparison: Comparison,
    /// CPU seconds of the baseline's seed.
    pub baseline_seconds: f64,
    /// The function whose cost grew most against the baseline's seed, and where its hottest block is.
    pub hot_function: Option<String>,
    /// `file:line`.
    pub hot_location: Option<String>,
}

/// How to confirm.
#[derive(Clone, Copy, Debug)]
pub struct Confirmer {
    /// What has to be exceeded.
    pub criteria: Criteria,
    /// A run longer than this is a hang.
    pub hang_timeout: Duration,
    /// In bytes; 0 for none.
    pub memory_limit: u64,
}

impl Confirmer {
    /// Measures `candidate` beside the seed that is the baseline and beside the seed that it was made from.
    /// `expected` is how long one of its runs takes. `None` if it does not come back when it is run by itself.
    ///
    /// # Errors
    /// If the measuring process cannot be started or says nonsense.
    pub fn confirm(
        &self,
        reference: &Path,
        own_seed: &Path,
        candidate: &Path,
        expected: Duration,
    ) -> Result<Option<Confirmation>> {
        let affordable = (BUDGET.as_secs_f64() / expected.as_secs_f64().max(1e-6)) as u32;
        let rounds = affordable.clamp(FEWEST_ROUNDS, ROUNDS);
        let mut inputs = vec![reference];
        if own_seed != reference {
            inputs.push(own_seed);
        }
        inputs.push(candidate);
        let report = self.replay(&inputs, rounds)?;
        let (Some(first), Some(last)) = (report.inputs.first(), report.inputs.last()) else {
            return Err(Error::other("the replay process reported nothing"));
        };
        if last.seconds.is_empty() || first.seconds.is_empty() || last.status != "returned" {
            return Ok(None);
        }
        let mut comparison = compare(&measured(last), &measured(first), self.criteria);
        for seed in &report.inputs[1..report.inputs.len() - 1] {
            let against_own = compare(&measured(last), &measured(seed), self.criteria);
            comparison.confirmed &= against_own.time_ratio.low > 1.0;
        }
        let before = |name: &str| first.functions.iter().find(|f| f.function == name).map_or(0, |f| f.instructions);
        let hot = last.functions.iter().max_by_key(|f| f.instructions.saturating_sub(before(&f.function)));
        Ok(Some(Confirmation {
            comparison,
            baseline_seconds: first.seconds_median,
            hot_function: hot.map(|f| f.function.clone()),
            hot_location: hot.and_then(|f| f.location.clone()),
        }))
    }

    fn replay(&self, inputs: &[&Path], rounds: u32) -> Result<Report> {
        let output = Command::new("/proc/self/exe")
            .arg("replay")
            .args(["--json", "--repeats", &rounds.to_string()])
            .args(["--hang-timeout", &format!("{}ms", self.hang_timeout.as_millis())])
            .args(["--memory-limit", &self.memory_limit.to_string()])
            .args(inputs)
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .output()
            .map_err(|error| Error::other(format!("cannot start the harness for a confirmation: {error}")))?;
        serde_json::from_slice(&output.stdout).map_err(|_| {
            let said = String::from_utf8_lossy(&output.stderr);
            Error::other(format!("confirmation failed ({}): {}", output.status, said.lines().next().unwrap_or("")))
        })
    }
}

fn measured(input: &InputReport) -> Measured {
    Measured { instructions: input.instructions, seconds: input.seconds.clone() }
}
