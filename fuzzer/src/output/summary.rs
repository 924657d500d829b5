//! `summary.json`: the campaign in numbers. The keys are an interface: more may be added, none may change.

use super::atomic::write_whole;
use crate::cost::{
    judgement::{Severity, Verdict},
    resource::Resource,
};
use crate::error::{Error, Result};
use crate::keep::shadow::Source;
use crate::mask::TargetKind;
use crate::replay::growth::Growth;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Everything in `summary.json`. What is not known (yet) is `null`, and so is a ratio that is not a finite number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Version of quagmire.
    pub version: String,
    /// The command line, as typed.
    pub command: Vec<String>,
    /// The number that all random choices followed from.
    pub seed: u64,
    /// When the campaign started, in RFC 3339; see [`rfc3339`].
    pub started: String,
    /// How long it has run, in seconds, all resumptions together.
    pub seconds: f64,
    /// Why it stopped; nothing while it runs.
    pub stopped_by: Option<StoppedBy>,
    /// Runs of the target.
    pub executions: u64,
    /// Runs of the target per second, on average; see [`per_second`].
    pub executions_per_second: f64,
    /// The target.
    pub target: Target,
    /// Edges executed by any input.
    pub edges_found: u64,
    /// Progress slots of comparisons (see [`Target::progress_slots`]) that any input hit; left out if 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub progress_found: u64,
    /// What the seeds cost.
    pub baseline: Baseline,
    /// The worst input so far.
    pub worst: Option<Worst>,
    /// Number of confirmed degradations.
    pub degradations: u64,
    /// Number of inputs that crash.
    pub faults: u64,
    /// Number of inputs that run into the hang timeout.
    pub hangs: u64,
    /// What each rule did.
    pub rules: Vec<Rule>,
    /// Degradations, faults and hangs, in the order in which they were found.
    pub findings: Vec<Finding>,
    /// Findings with the same cause, the worst group first.
    #[serde(default)]
    pub groups: Vec<Group>,
    /// What runs cost, over all executions.
    #[serde(default)]
    pub costs: Vec<Distribution>,
    /// Branches that few runs hit.
    #[serde(default)]
    pub rare: Rare,
    /// Inputs that were held to masks.
    #[serde(default)]
    pub masks: Masks,
    /// Mutants with and without masks; empty without `--shadow-mask`.
    #[serde(default)]
    pub shadow: Vec<Shadow>,
    /// What the same input measured against itself shows on this machine; nothing if it was not measured.
    #[serde(default)]
    pub noise: Option<Noise>,
    /// Where it ran.
    #[serde(default)]
    pub environment: Environment,
}

/// Branches that few runs hit, as FairFuzz has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rare {
    /// How many there are now.
    pub branches: u64,
    /// Branches that no more runs have hit are rare.
    pub cutoff: u64,
    /// Those that could not be hit again and are left alone for a while.
    pub paused: u64,
    /// How often ordinary mutation took over since rare branches brought nothing new.
    pub bootstraps: u64,
}

/// What masks cost and brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Masks {
    /// Inputs that were made ready for a target: trimmed, and their masks computed.
    pub computed: u64,
    /// Bytes of these inputs, after trimming.
    pub bytes: u64,
    /// Executions for masks.
    pub executions: u64,
    /// Executions for trimming.
    pub trimming: u64,
    /// Mutants that were held to a mask.
    pub mutants: u64,
    /// Those of them that satisfied their target.
    pub hits: u64,
    /// Those of them that were kept.
    pub kept: u64,
}

/// How many mutants of one kind satisfy their target, with a mask and without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shadow {
    /// Kind of target.
    pub target: TargetKind,
    /// Where the mutants come from.
    pub stage: Source,
    /// Mutants with a mask.
    pub masked_mutants: u64,
    /// Those that satisfy the target.
    pub masked_hits: u64,
    /// Mutants without.
    pub plain_mutants: u64,
    /// Those that satisfy the target.
    pub plain_hits: u64,
}

/// Findings with the same cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// What grew: the function, or how a run ended.
    pub title: String,
    /// Places of its findings in `findings`, the worst first.
    pub findings: Vec<usize>,
}

/// How much of a resource runs used, over all executions that returned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Which resource.
    pub resource: Resource,
    /// Of all amounts here: `ns`, `bytes`, or nothing for counts.
    pub unit: String,
    /// Of the seeds: their median.
    pub baseline: u64,
    /// Runs.
    pub count: u64,
    /// The smallest amount.
    pub min: u64,
    /// The arithmetic mean.
    pub mean: f64,
    /// The median. Percentiles are exact to 1 %.
    pub p50: u64,
    /// 90 % of the runs used at most this.
    pub p90: u64,
    /// 99 %.
    pub p99: u64,
    /// 99.9 %.
    pub p999: u64,
    /// The largest amount.
    pub max: u64,
    /// (upper bound, runs up to it and above the previous one), with two to four bounds for each doubling; those
    /// without runs are left out.
    pub histogram: Vec<(u64, u64)>,
}

/// What the seed measured against itself shows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// Largest deviation from 1 of the interval of the time ratio: 0.03 is 3 %.
    pub floor: f64,
    /// Times that it was measured.
    pub rounds: u32,
}

/// The machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// Name and version of the system and its kernel.
    pub system: String,
    /// Model of the processor.
    pub processor: String,
    /// Processors that the campaign could use.
    pub processors: u64,
    /// Memory, in bytes.
    pub memory: u64,
    /// Load average over one minute at the start.
    pub load: f64,
}

/// Why a campaign stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StoppedBy {
    /// `--time`.
    Time,
    /// `--execs`.
    Execs,
    /// Ctrl-C, or a request to terminate.
    Signal,
    /// An error, such as a full disk.
    Error,
}

/// How the target is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// `LLVMFuzzerTestOneInput` in the process of the engine.
    InProcess,
    /// A fork server.
    ForkServer,
}

/// The target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// Its path, as typed.
    pub program: String,
    /// How it is run.
    pub engine: Engine,
    /// Edges in it.
    pub edges: Option<u64>,
    /// How many steps of comparisons it shows, if it was built with `QUAGMIRE_COMPARES=1`; left out if 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub progress_slots: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What the seeds cost: the median over them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// Instructions of a run.
    pub instructions: Option<u64>,
    /// Seconds of CPU time of a run.
    pub seconds: Option<f64>,
    /// Size in bytes.
    pub bytes: Option<u64>,
}

/// The worst input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Worst {
    /// Its file, relative to the output folder.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its instructions as a multiple of the baseline.
    pub instructions_ratio: Option<f64>,
    /// Its CPU time as a multiple of the baseline.
    pub time_ratio: Option<f64>,
}

/// What one rule did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// Its label, such as `T.10`.
    pub label: String,
    /// Its name, such as `insert_whitespace`.
    pub name: String,
    /// How often it was applied.
    pub applied: u64,
    /// How many of its mutants cost more than what was known.
    pub coverage_increases: u64,
    /// How many of its mutants are degradations.
    pub degradations: u64,
}

/// What a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// Costs more than the baseline by the threshold, confirmed.
    Degradation,
    /// Crashes.
    Fault,
    /// Runs into the hang timeout.
    Hang,
}

impl FindingKind {
    /// As in `summary.json` and the logs.
    pub fn label(self) -> &'static str {
        match self {
            Self::Degradation => "degradation",
            Self::Fault => "fault",
            Self::Hang => "hang",
        }
    }
}

/// A degradation, a fault or a hang.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// Its file, relative to the output folder.
    pub path: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// The file of its parent, relative to the output folder; nothing for a seed.
    pub parent: Option<String>,
    /// Labels of the rules from its seed to it, in order.
    pub rules: Vec<String>,
    /// Its instructions as a multiple of the baseline.
    pub instructions_ratio: Option<f64>,
    /// Its CPU time as a multiple of the baseline.
    pub time_ratio: Option<f64>,
    /// Lower end of the interval around `time_ratio`.
    pub time_ratio_low: Option<f64>,
    /// Upper end of the interval around `time_ratio`.
    pub time_ratio_high: Option<f64>,
    /// The function that grew most.
    pub hot_function: Option<String>,
    /// Where in the code, as `file:line`.
    pub hot_location: Option<String>,
    /// The command that shows it.
    pub reproduce: String,
    /// The seed that it goes back to, relative to the output folder.
    #[serde(default)]
    pub root: Option<String>,
    /// When it was found: seconds since the start of the campaign.
    #[serde(default)]
    pub seconds: f64,
    /// When it was found: executions since the start of the campaign.
    #[serde(default)]
    pub executions: u64,
    /// What the judgement of its time is; nothing for faults and hangs.
    #[serde(default)]
    pub verdict: Option<Verdict>,
    /// How bad it is, by the largest ratio among the costs that count.
    #[serde(default)]
    pub severity: Option<Severity>,
    /// Probability that the rank test finds the times this different by chance.
    #[serde(default)]
    pub p_value: Option<f64>,
    /// Each resource: what it used, beside the median seed.
    #[serde(default)]
    pub costs: Vec<FindingCost>,
    /// Where the cost grew against the median seed.
    #[serde(default)]
    pub growth: Growth,
}

/// How much of a resource a finding used.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FindingCost {
    /// Which resource.
    pub resource: Resource,
    /// What it used.
    pub amount: u64,
    /// What the median seed used.
    pub baseline: u64,
    /// One as a multiple of the other.
    pub ratio: f64,
}

impl Summary {
    /// The text of `summary.json`.
    pub fn to_json(&self) -> String {
        // strings, numbers and lists of them: nothing in it that has no JSON
        serde_json::to_string_pretty(self).expect("a summary is plain data") + "\n"
    }

    /// Writes `summary.json` whole.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        write_whole(path, self.to_json().as_bytes())
    }

    /// Reads `summary.json`.
    ///
    /// # Errors
    /// If it cannot be read or is not a summary.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            Error::other(format!("cannot read {}: {error}; name the output folder of a campaign", path.display()))
        })?;
        serde_json::from_str(&text).map_err(|error| {
            Error::other(format!("{} is not a summary of a campaign ({error}): remove it", path.display()))
        })
    }
}

/// Runs of the target per second on average; 0 before any time has passed.
pub fn per_second(executions: u64, time: Duration) -> f64 {
    if time.is_zero() { 0.0 } else { executions as f64 / time.as_secs_f64() }
}

/// A moment as in `summary.json`: RFC 3339, in UTC, to the second.
pub fn rfc3339(moment: SystemTime) -> String {
    let moment = jiff::Timestamp::try_from(moment).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    // whole seconds: a fraction adds nothing and its digits vary
    jiff::Timestamp::from_second(moment.as_second()).unwrap_or(moment).to_string()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::replay::growth::Grown;
    use std::time::UNIX_EPOCH;

    /// A campaign that found something of each kind.
    pub fn example() -> Summary {
        Summary {
            version: "0.1.0".into(),
            command: ["quagmire", "fuzz", "-i", "seeds", "-o", "out", "--", "./trim", "@@"].map(Into::into).to_vec(),
            seed: 42,
            started: rfc3339(UNIX_EPOCH + Duration::from_millis(1_700_000_000_123)),
            seconds: 90.5,
            stopped_by: Some(StoppedBy::Time),
            executions: 812_331,
            executions_per_second: 8_976.0,
            target: Target {
                program: "./trim".into(),
                engine: Engine::ForkServer,
                edges: Some(8_123),
                progress_slots: 0,
            },
            edges_found: 512,
            progress_found: 0,
            baseline: Baseline { instructions: Some(10_000), seconds: Some(0.000_25), bytes: Some(3_535) },
            worst: Some(Worst {
                path: "degradations/id_000012,src_000003,cost_41.4,op_T.10+T.8".into(),
                bytes: 4_990,
                instructions_ratio: Some(41.38),
                time_ratio: Some(38.2),
            }),
            degradations: 1,
            faults: 0,
            hangs: 1,
            rules: vec![Rule {
                label: "T.10".into(),
                name: "insert_whitespace".into(),
                applied: 1_000,
                coverage_increases: 12,
                degradations: 1,
            }],
            findings: vec![
                Finding {
                    kind: FindingKind::Degradation,
                    path: "degradations/id_000012,src_000003,cost_41.4,op_T.10+T.8".into(),
                    bytes: 4_990,
                    parent: Some("queue/id_000003,src_000000,cost_2.1,op_T.2".into()),
                    rules: ["T.2", "T.10", "T.8"].map(Into::into).to_vec(),
                    instructions_ratio: Some(41.38),
                    time_ratio: Some(38.2),
                    time_ratio_low: Some(36.9),
                    time_ratio_high: Some(39.4),
                    hot_function: Some("trim".into()),
                    hot_location: Some("trim.cpp:12".into()),
                    reproduce:
                        "quagmire replay out/degradations/id_000012,src_000003,cost_41.4,op_T.10+T.8 -- ./trim @@"
                            .into(),
                    root: Some("queue/id_000000,orig_seed.txt".into()),
                    seconds: 12.5,
                    executions: 4_321,
                    verdict: Some(Verdict::Degradation),
                    severity: Some(Severity::Severe),
                    p_value: Some(0.000_1),
                    costs: vec![FindingCost {
                        resource: Resource::Instructions,
                        amount: 413_800,
                        baseline: 10_000,
                        ratio: 41.38,
                    }],
                    growth: Growth {
                        functions: vec![],
                        lines: vec![Grown {
                            function: "trim".into(),
                            file: Some("trim.cpp".into()),
                            line: Some(12),
                            count: 40_000,
                            first_count: 900,
                            instructions: 400_000,
                            first_instructions: 9_000,
                            share: 0.968,
                        }],
                    },
                },
                Finding {
                    kind: FindingKind::Hang,
                    path: "hangs/id_000013,src_000012,op_T.10".into(),
                    bytes: 5_000,
                    parent: Some("queue/id_000012,src_000003,cost_41.4,op_T.10+T.8".into()),
                    rules: ["T.2", "T.10", "T.8", "T.10"].map(Into::into).to_vec(),
                    instructions_ratio: None,
                    time_ratio: None,
                    time_ratio_low: None,
                    time_ratio_high: None,
                    hot_function: None,
                    hot_location: None,
                    reproduce: "quagmire replay out/hangs/id_000013,src_000012,op_T.10 -- ./trim @@".into(),
                    root: None,
                    seconds: 20.0,
                    executions: 9_876,
                    verdict: None,
                    severity: None,
                    p_value: None,
                    costs: vec![],
                    growth: Growth::default(),
                },
            ],
            groups: vec![
                Group { title: "trim".into(), findings: vec![0] },
                Group { title: "hang".into(), findings: vec![1] },
            ],
            costs: vec![Distribution {
                resource: Resource::Time,
                unit: "ns".into(),
                baseline: 250_000,
                count: 812_330,
                min: 1_200,
                mean: 260_000.5,
                p50: 250_100,
                p90: 300_000,
                p99: 1_000_000,
                p999: 9_000_000,
                max: 9_500_000,
                histogram: vec![(262_143, 700_000), (524_287, 112_330)],
            }],
            rare: Rare { branches: 7, cutoff: 64, paused: 1, bootstraps: 2 },
            masks: Masks {
                computed: 41,
                bytes: 1_640,
                executions: 6_003,
                trimming: 812,
                mutants: 40_210,
                hits: 18_450,
                kept: 96,
            },
            shadow: vec![Shadow {
                target: TargetKind::Branch,
                stage: Source::Havoc,
                masked_mutants: 1_000,
                masked_hits: 450,
                plain_mutants: 1_000,
                plain_hits: 90,
            }],
            noise: Some(Noise { floor: 0.021, rounds: 20 }),
            environment: Environment {
                system: "Debian GNU/Linux 12, Linux 6.1.0".into(),
                processor: "Example CPU".into(),
                processors: 2,
                memory: 25_769_803_776,
                load: 0.5,
            },
        }
    }

    #[test]
    fn the_keys_are_those_that_are_promised() {
        insta::assert_snapshot!("summary", example().to_json());
    }

    #[test]
    fn a_summary_is_read_back_as_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("summary.json");
        example().write(&path).unwrap();
        assert_eq!(Summary::read(&path).unwrap(), example());
    }

    #[test]
    fn ratios_that_are_not_finite_become_null() {
        let mut summary = example();
        summary.findings[0].time_ratio = Some(f64::INFINITY);
        let read: Summary = serde_json::from_str(&summary.to_json()).unwrap();
        assert_eq!(read.findings[0].time_ratio, None);
    }

    #[test]
    fn what_is_not_a_summary_is_an_error_with_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("summary.json");
        assert!(Summary::read(&path).unwrap_err().message.contains("summary.json"));
        std::fs::write(&path, "{}").unwrap();
        assert!(Summary::read(&path).unwrap_err().message.contains("is not a summary"));
    }
}
