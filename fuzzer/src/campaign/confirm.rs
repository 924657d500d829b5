//! Confirmation: measures a candidate outside the campaign's process, beside the seeds and an ordinary input of its
//! size.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use super::{Setup, own_command, supervisor::stop_requested};
use quagmire_analysis::{
    against::Against,
    grown,
    report::{InputReport, Report},
};
use quagmire_base::{
    error::{Error, Result},
    files,
};
use quagmire_cost::{
    decision::{Question, weakest},
    degradation::{Criteria, Excess},
    judgement::{LEAST_EFFECT, Severity, Verdict},
    resource::Resource,
    sizes::SizeModel,
    statistics::Estimate,
};
use quagmire_execution::info::TargetInfo;
use quagmire_results::{
    growth::Growth,
    summary::{FindingCost, Noise},
};

/// CPU time that all runs of a confirmation together should not much exceed.
const BUDGET: Duration = Duration::from_secs(2);

/// Factor on the threshold up to which content that costs in proportion to its size is ordinary, although no seed has it:
/// a list of values of one byte costs a linear parser 3.7 times as much for its size as the documents that people write.
const DENSE: f64 = 2.0;

/// Shares of an input, and between which shares of its cost they cost where that is in proportion. What grows with
/// n to the power of 1.25 or more is below, what costs in one place is mostly outside.
const IN_PROPORTION: [(u64, std::ops::Range<f64>); 2] = [(2, 0.42..0.6), (4, 0.17..0.35)];

/// Factors on the times of an input within which it executes about what an ordinary one of its size does.
const LIKE_ORDINARY: std::ops::RangeInclusive<f64> = 0.5..=2.0;

/// Result of a confirmation. Ratios are relative to the median seed unless they are said to be by size.
#[derive(Clone, Debug)]
pub struct Confirmation {
    /// Whether the candidate is a degradation.
    pub confirmed: bool,
    /// Whether it is none only since its cost is in proportion to its size.
    pub is_dense: bool,
    /// Whether it is none only since its time was not told from noise.
    pub is_doubtful: bool,
    /// Verdict on its time, the weakest of the comparisons with the median seed, its own seed, and an ordinary input
    /// of its size.
    pub verdict: Verdict,
    /// Path of the input in the weakest of these comparisons.
    pub weakest: String,
    /// Verdict on its time against the median seed alone.
    pub by_seed: Verdict,
    /// Severity of `ratio`.
    pub severity: Severity,
    /// Largest ratio among the chosen costs; by size where degradations are relative to size.
    pub ratio: f64,
    /// CPU time of the input over that of the median seed.
    pub time_ratio: Estimate,
    /// CPU time of the input over that of an ordinary input of its size.
    pub time_ratio_by_size: Option<Estimate>,
    /// File that served as the ordinary input of its size, and the factor on its times.
    pub stand_in: Option<(PathBuf, f64)>,
    /// p-value of the rank test of the times, against the median seed.
    pub p_value: f64,
    /// Use of each resource that was measured.
    pub costs: Vec<FindingCost>,
    /// Places in the code where the cost grew against the median seed.
    pub growth: Growth,
    /// CPU seconds of the median seed.
    pub baseline_seconds: f64,
}

impl Confirmation {
    fn of(&self, resource: Resource) -> Option<&FindingCost> {
        self.costs.iter().find(|cost| cost.resource == resource)
    }

    /// Amount of a resource as a multiple of the median seed's.
    pub fn ratio(&self, resource: Resource) -> Option<f64> {
        self.of(resource).map(|cost| cost.ratio)
    }

    /// Amount of a resource as a multiple of an ordinary input of its size.
    pub fn ratio_by_size(&self, resource: Resource) -> Option<f64> {
        self.of(resource)?.ratio_by_size
    }
}

/// Inputs of a confirmation.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// File of the candidate.
    pub input: &'a Path,
    /// Size of the candidate, in bytes.
    pub bytes: u64,
    /// File of the median seed.
    pub reference: &'a Path,
    /// Size of the median seed, in bytes.
    pub reference_bytes: u64,
    /// File of the seed that the candidate descends from.
    pub own_seed: &'a Path,
    /// File of seeds joined to the candidate's size.
    pub joined: Option<&'a Path>,
    /// Expected costs by size; `None` if degradations are relative to the median seed.
    pub model: Option<&'a SizeModel>,
}

/// Settings of confirmations.
#[derive(Clone, Debug)]
pub struct Confirmer<'a> {
    /// The program that runs the inputs.
    pub target: &'a TargetInfo,
    /// Threshold and resources that make a degradation.
    pub criteria: Criteria,
    /// Time after which a run counts as a hang.
    pub hang_timeout: Duration,
    /// Memory limit of a run in bytes; 0 for none.
    pub memory_limit: u64,
    /// Moment at which the measuring process is killed.
    pub deadline: Instant,
}

impl<'a> Confirmer<'a> {
    /// Creates one with the settings of a campaign.
    pub fn new(setup: &'a Setup, deadline: Instant) -> Self {
        let options = &setup.options;
        Self {
            target: &setup.target,
            criteria: Criteria { threshold: options.confirm.threshold, resources: options.confirm.cost.clone() },
            hang_timeout: options.target.hang_timeout,
            memory_limit: options.target.memory_limit,
            deadline,
        }
    }

    /// Measures a candidate beside the median seed, the seed that it descends from, and an ordinary input of its size.
    /// `None` if it does not return when it is run by itself, or if there was no time. `meanwhile` is called
    /// repeatedly while the process measures.
    pub fn confirm(
        &self,
        candidate: &Candidate,
        meanwhile: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Option<Confirmation>> {
        let own_seed = Some(candidate.own_seed).filter(|&own| own != candidate.reference);
        let inputs: Vec<&Path> = [Some(candidate.reference), own_seed, candidate.joined, Some(candidate.input)]
            .into_iter()
            .flatten()
            .collect();
        let expected = |model: &SizeModel| match self.target.instrumentation.counts() {
            true => model.ordinary(Resource::Instructions, candidate.bytes).round() as u64,
            false => candidate.bytes.div_ceil(candidate.reference_bytes.max(1)).max(1),
        };
        let question =
            Question::Last { ordinary: candidate.model.map(expected), is_joined: candidate.joined.is_some() };
        let Some(report) = self.replay(&inputs, question, BUDGET, meanwhile)? else { return Ok(None) };
        let (Some(first), Some(last)) = (report.inputs.first(), report.inputs.last()) else {
            return Err(Error::other("the replay process reported nothing"));
        };
        if last.seconds.is_empty() || first.seconds.is_empty() || last.status != "returned" {
            return Ok(None);
        }
        let Some(mut confirmation) = self.judged(candidate, first, last, &report) else { return Ok(None) };
        if confirmation.is_dense {
            confirmation.is_dense = self.is_in_proportion(candidate, last, meanwhile)?;
            confirmation.confirmed = !confirmation.is_dense;
        }
        Ok(Some(confirmation))
    }

    /// Whether beginnings of a candidate cost in proportion to their sizes, in each of the chosen resources that are counted.
    fn is_in_proportion(
        &self,
        candidate: &Candidate,
        whole: &InputReport,
        meanwhile: &mut dyn FnMut() -> Result<()>,
    ) -> Result<bool> {
        let bytes = files::read(candidate.input, files::LARGEST_INPUT)
            .map_err(|error| Error::other(format!("cannot read {}: {error}", candidate.input.display())))?;
        let parts: Vec<&[u8]> =
            IN_PROPORTION.iter().map(|(share, _)| &bytes[..bytes.len() / *share as usize]).collect();
        let Some(report) = self.run_apart(&parts, meanwhile)? else { return Ok(false) };
        let counted = self.criteria.resources.iter().filter(|resource| resource.is_deterministic());
        let mut amounts = counted.filter_map(|resource| Some((resource, *whole.costs.get(resource)?)));
        Ok(amounts.all(|(resource, amount)| {
            report.inputs.iter().zip(&IN_PROPORTION).all(|(part, (_, shares))| {
                let of_part = part.costs.get(resource).copied().unwrap_or_default();
                part.status == "returned" && shares.contains(&(of_part as f64 / amount.max(1) as f64))
            })
        }))
    }

    /// Evaluates the measurements. `None` if the candidate was compared with nothing.
    fn judged(
        &self,
        candidate: &Candidate,
        first: &InputReport,
        last: &InputReport,
        report: &Report,
    ) -> Option<Confirmation> {
        let verdicts = last.against.iter().map(|one| one.verdict.unwrap_or(Verdict::NoChange));
        let (weakest, verdict) = weakest(verdicts)?;
        let by_seed = last.against.first()?;
        let estimate =
            |one: &Against| Estimate { value: one.time_ratio, low: one.time_ratio_low, high: one.time_ratio_high };
        let by_size = last.against.iter().find(|one| one.by_size);
        let ordinary = by_size.and_then(|one| {
            let stand_in = report.inputs.iter().find(|input| input.path == one.path)?;
            Some((stand_in, one.scale))
        });
        let costs = costs(first, last, candidate, ordinary);
        let chosen: Vec<&FindingCost> =
            costs.iter().filter(|cost| self.criteria.resources.contains(&cost.resource)).collect();
        let excess = |cost: &&FindingCost| {
            let ratio = match cost.resource {
                Resource::Time => by_size.unwrap_or(by_seed).time_ratio_low,
                _ => cost.ratio_by_size.unwrap_or(cost.ratio),
            };
            let margin = candidate.model.map_or(1.0, |model| model.margin(cost.resource, candidate.bytes));
            Excess { resource: cost.resource, ratio: ratio / margin }
        };
        let excesses: Vec<Excess> = chosen.iter().map(excess).collect();
        let confirmed = self.criteria.are_met(&excesses, verdict);
        let may_be_slower = last.against[weakest].time_ratio_high > 1.0 + LEAST_EFFECT;
        let dense = Criteria { threshold: DENSE * self.criteria.threshold, ..self.criteria.clone() };
        let may_be_dense = candidate.model.is_some() && self.target.instrumentation.counts();
        let ratio = chosen.iter().map(|cost| cost.ratio_by_size.unwrap_or(cost.ratio)).fold(0.0, f64::max);
        let mut growth = grown::growth(first, last);
        // what stands for an ordinary input need not be one: joined seeds of a quadratic program cost as much as the finding
        let like_ordinary = ordinary.filter(|(_, scale)| LIKE_ORDINARY.contains(scale));
        growth.around = grown::around(&growth, like_ordinary.map_or(first, |(input, _)| input), last);
        Some(Confirmation {
            confirmed,
            is_doubtful: !confirmed && may_be_slower && self.criteria.are_met(&excesses, Verdict::Degradation),
            is_dense: confirmed && may_be_dense && !dense.are_met(&excesses, verdict),
            verdict,
            weakest: last.against[weakest].path.clone(),
            by_seed: by_seed.verdict.unwrap_or(Verdict::NoChange),
            severity: Severity::of(ratio),
            ratio,
            time_ratio: estimate(by_seed),
            time_ratio_by_size: by_size.map(estimate),
            stand_in: by_size.map(|one| (PathBuf::from(&one.path), one.scale)),
            p_value: by_seed.p_value,
            growth,
            baseline_seconds: first.seconds_median,
            costs,
        })
    }

    /// Measures the noise of this machine by comparing the median seed with itself. `None` if there was no time.
    /// `meanwhile` is called repeatedly while the process measures.
    pub fn noise(&self, reference: &Path, meanwhile: &mut dyn FnMut() -> Result<()>) -> Result<Option<Noise>> {
        // half of the time that is left: the process has to start and to report as well
        let budget = self.deadline.saturating_duration_since(Instant::now()) / 2;
        let Some(report) = self.replay(&[reference], Question::First, budget, meanwhile)? else { return Ok(None) };
        let rounds = report.inputs.first().map_or(0, |input| input.seconds.len() as u32);
        Ok(report.noise_floor.map(|floor| Noise { floor, rounds }))
    }

    /// Runs inputs that are in no file, once and in one process of their own. `None` if it was stopped.
    pub fn run_apart(&self, inputs: &[&[u8]], meanwhile: &mut dyn FnMut() -> Result<()>) -> Result<Option<Report>> {
        let failed = |error: std::io::Error| Error::other(format!("cannot write an input to measure: {error}"));
        let folder = tempfile::tempdir().map_err(failed)?;
        let mut paths = Vec::new();
        for (number, bytes) in inputs.iter().enumerate() {
            paths.push(folder.path().join(number.to_string()));
            std::fs::write(&paths[number], bytes).map_err(failed)?;
        }
        let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
        self.replay(&paths, Question::First, Duration::ZERO, meanwhile)
    }

    /// Runs the harness's own `replay`, the command that reproduces findings. `None` if it was stopped.
    fn replay(
        &self,
        inputs: &[&Path],
        question: Question,
        budget: Duration,
        meanwhile: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Option<Report>> {
        let mut command = own_command::command(self.target, "replay", self.hang_timeout, self.memory_limit);
        command
            .args(["--json", "--repeats", "auto", "--budget", &format!("{}ms", budget.as_millis())])
            .args(in_words(question));
        own_command::end(&mut command, self.target, inputs);
        own_command::output(command, self.deadline, Duration::ZERO, &mut || stop_requested(), meanwhile)
    }
}

/// Options of `replay` for the comparisons of a question.
fn in_words(question: Question) -> Vec<String> {
    let Question::Last { ordinary, is_joined } = question else { return Vec::new() };
    let mut words = vec!["--against-all".to_owned()];
    words.extend(ordinary.into_iter().flat_map(|expected| ["--ordinary".to_owned(), expected.to_string()]));
    words.extend(is_joined.then(|| "--joined".to_owned()));
    words
}

/// Use of each resource by the candidate, beside the median seed and an ordinary input of its size. `stand_in` is the
/// input that was measured as that one, and the factor on its times.
fn costs(
    seed: &InputReport,
    input: &InputReport,
    candidate: &Candidate,
    stand_in: Option<(&InputReport, f64)>,
) -> Vec<FindingCost> {
    let growth =
        |model: &SizeModel| model.ordinary(Resource::Instructions, candidate.bytes) / seed.instructions.max(1) as f64;
    let one = |resource: Resource| {
        let (amount, baseline) = (*input.costs.get(&resource)?, *seed.costs.get(&resource)?);
        let ordinary = candidate.model.and_then(|model| match resource {
            Resource::Time => stand_in.map(|(input, scale)| (input.seconds_median * scale * 1e9) as u64),
            Resource::Resident => {
                stand_in.and_then(|(input, scale)| Some((*input.costs.get(&resource)? as f64 * scale) as u64))
            }
            _ if resource.is_deterministic() => Some(model.ordinary(resource, candidate.bytes).round() as u64),
            _ => Some((baseline as f64 * growth(model)) as u64),
        });
        // `--cost lines` may be off: the model then has no lines
        let ordinary = ordinary.filter(|&ordinary| ordinary > 0 || baseline == 0);
        Some(FindingCost {
            resource,
            amount,
            baseline,
            ratio: resource.ratio(amount, baseline),
            ordinary,
            ratio_by_size: ordinary.map(|ordinary| resource.ratio(amount, ordinary)),
        })
    };
    Resource::ALL.into_iter().filter_map(one).collect()
}
