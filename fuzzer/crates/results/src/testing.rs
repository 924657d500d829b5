//! A made-up summary, for tests of this crate and of others.

use std::time::{Duration, UNIX_EPOCH};

use quagmire_cost::{
    judgement::{Severity, Verdict},
    resource::Resource,
    sizes::RelativeTo,
};
use quagmire_execution::{diversity::trace::TraceKind, info::Engine};
use quagmire_mutators::kinds::{GoalKind, Source};

use crate::{
    growth::{Grown, Growth, LineCount},
    summary::*,
};

fn target() -> Target {
    Target {
        program: "./trim".into(),
        engine: Engine::ForkServer,
        instrumentation: Default::default(),
        edges: Some(8_123),
        progress_slots: 0,
    }
}

fn dictionary() -> Dictionary {
    Dictionary { tokens: 45, useful: vec![Token { token: "<!\\x00".into(), entries: 3 }] }
}

fn large() -> Large {
    Large {
        path: "queue/id_000007,src_000003,cost_2.2,bysize_1.6,op_T.2".into(),
        bytes: 4_900,
        instructions_ratio: Some(2.2),
        instructions_ratio_by_size: Some(1.6),
    }
}

fn unconfirmed() -> Unconfirmed {
    Unconfirmed {
        path: "queue/id_000009,src_000003,cost_20.1,bysize_15.0,op_T.2".into(),
        bytes: 4_700,
        ratio: 15.0,
        instructions_ratio: Some(20.1),
        instructions_ratio_by_size: Some(15.0),
        why: WhyUnconfirmed::NotMeasured,
    }
}

/// Summary of a campaign with a finding of each kind but a fault.
pub fn example() -> Summary {
    Summary {
        version: "0.1.0".into(),
        command: ["quagmire", "fuzz", "-i", "seeds", "-o", "out", "--", "./trim", "@@"].map(Into::into).to_vec(),
        seed: 42,
        campaign: "00c0ffee00c0ffee".into(),
        started: rfc3339(UNIX_EPOCH + Duration::from_millis(1_700_000_000_123)),
        seconds: 90.5,
        stopped_by: Some(StoppedBy::Time),
        executions: 812_331,
        executions_per_second: 8_976.0,
        clients: Vec::new(),
        entries: 120,
        foreign: 0,
        size_limit: 4_160,
        target: target(),
        edges_found: 512,
        progress_found: 0,
        baseline: Baseline { instructions: Some(10_000), seconds: Some(0.000_25), bytes: Some(3_535) },
        worst: Some(Worst {
            path: "degradations/id_000012,src_000003,cost_41.4,op_T.10+T.8".into(),
            bytes: 4_990,
            instructions_ratio: Some(41.38),
            time_ratio: Some(38.2),
            instructions_ratio_by_size: Some(29.5),
        }),
        steer: Resource::Instructions,
        repeatable: true,
        relative_to: RelativeTo::Size,
        sizes: Some(sizes()),
        degradations: 1,
        large: 3,
        large_inputs: vec![large()],
        unconfirmed: vec![unconfirmed()],
        faults: 0,
        hangs: 1,
        rules: vec![Rule {
            label: "T.10".into(),
            name: "insert_whitespace".into(),
            applied: 1_000,
            coverage_increases: 12,
            degradations: 1,
        }],
        findings: vec![degradation(), hang()],
        groups: vec![
            Group { title: "trim".into(), findings: vec![0] },
            Group { title: "hang".into(), findings: vec![1] },
        ],
        costs: vec![distribution()],
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
        shadow: vec![shadow()],
        towards: vec![TowardsPlace {
            place: "trim.cpp:12".into(),
            edges: 2,
            hits: 31_004,
            first_hit: Some(17),
            first_instructions: Some(120),
            most_instructions: Some(4_020),
            doubled: Some(412),
        }],
        validity: Validity { valid: 500_000, invalid: 300_000, valid_edges: 498 },
        diversity: Some(diversity()),
        dictionary: Some(dictionary()),
        unseen: unseen(),
        advice: Some("no grammar is used: all seeds are JSON".into()),
        noise: Some(Noise { floor: 0.021, rounds: 20 }),
        environment: environment(),
    }
}

/// Time of a campaign whose library is counted in part.
fn unseen() -> Unseen {
    Unseen {
        samples: 200,
        uncounted_share: Some(0.31),
        system_share: Some(0.04),
        functions: vec![UnseenFunction { function: "deflate".into(), object: "libz.so.1".into(), share: 0.29 }],
        runs: 1_000,
        runs_alike: 12,
        edges: 96,
        warning: Some("31 % of the time is spent in code without counts".into()),
    }
}

/// Success of havoc with masks and without.
fn shadow() -> Shadow {
    Shadow {
        goal: GoalKind::Branch,
        target: GoalKind::Branch,
        stage: Source::Havoc,
        masked_mutants: 1_000,
        masked_hits: 450,
        plain_mutants: 1_000,
        plain_hits: 90,
    }
}

/// Diversity of half of the runs of a campaign.
fn diversity() -> Diversity {
    Diversity {
        trace: TraceKind::Bucketed,
        unique_traces: 41_234,
        unique_valid_traces: 21_034,
        b0: 498.0,
        b1: 311.5,
        b2: 240.25,
        is_full: false,
    }
}

/// Degradation that is slow for its size.
fn degradation() -> Finding {
    Finding {
        kind: FindingKind::Degradation,
        detail: None,
        path: "degradations/id_000012,src_000003,cost_41.4,op_T.10+T.8".into(),
        bytes: 4_990,
        parent: Some("queue/id_000003,src_000000,cost_2.1,op_T.2".into()),
        rules: ["T.2", "T.10", "T.8"].map(Into::into).to_vec(),
        instructions_ratio: Some(41.38),
        time_ratio: Some(38.2),
        time_ratio_low: Some(36.9),
        time_ratio_high: Some(39.4),
        instructions_ratio_by_size: Some(29.5),
        time_ratio_by_size: Some(27.1),
        time_ratio_by_size_low: Some(26.2),
        time_ratio_by_size_high: Some(27.9),
        ratio: Some(29.5),
        ordinary_input: Some(OrdinaryInput { path: "ordinary/size_004990".into(), scale: 1.01 }),
        hot_function: Some("trim".into()),
        hot_location: Some("trim.cpp:12".into()),
        reproduce: "quagmire replay out/degradations/id_000012,src_000003,cost_41.4,op_T.10+T.8 -- ./trim @@".into(),
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
            ordinary: Some(14_030),
            ratio_by_size: Some(29.5),
        }],
        law: Some(law()),
        no_law: None,
        template: Some("lit \"x\" rep(N){ \" \" } lit \"x\"".into()),
        minimized: Some(Minimized {
            path: "minimized/id_000012".into(),
            bytes: 41,
            instructions: 11_200,
            executions: 512,
        }),
        no_smallest: None,
        parts: vec!["<list>  nested 12 deep, the innermost:".into(), "  <word> \"a\"".into()],
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
            around: [(11, 1, Some(1)), (12, 40_000, Some(1_300)), (13, 40_000, None)].map(line_count).to_vec(),
        },
    }
}

fn line_count((line, count, ordinary_count): (u32, u64, Option<u64>)) -> LineCount {
    LineCount { file: "trim.cpp".into(), line, count, ordinary_count }
}

/// Law of the degradation: quadratic, with a kink.
fn law() -> FindingLaw {
    let amount = |n: u64| 700 + 3 * n * n.max(40);
    let point = |n: u64| LawPoint { n, bytes: n + 2, amount: amount(n), expected: (700 + 3 * n * n) as f64 };
    FindingLaw {
        words: "exactly quadratic in the number of \" \", from 40 on".into(),
        class: "quadratic".into(),
        resource: Resource::Instructions,
        confidence: "high".into(),
        rival: None,
        onset: Some(40),
        cap: None,
        bytes_of_second: Some(14_200),
        bytes_of_minute: Some(110_000),
        generator: Some("python3 -c 'print(\"x\" + \" \" * N + \"x\")'".into()),
        points: [15, 25, 43, 73, 125, 213, 361, 615, 1_045, 1_777].map(point).to_vec(),
    }
}

/// Finding that ran into the hang timeout.
fn hang() -> Finding {
    Finding {
        kind: FindingKind::Hang,
        detail: Some("hang".into()),
        path: "hangs/id_000013,src_000012,op_T.10".into(),
        bytes: 5_000,
        parent: Some("queue/id_000012,src_000003,cost_41.4,op_T.10+T.8".into()),
        rules: ["T.2", "T.10", "T.8", "T.10"].map(Into::into).to_vec(),
        reproduce: "quagmire replay out/hangs/id_000013,src_000012,op_T.10 -- ./trim @@".into(),
        seconds: 20.0,
        executions: 9_876,
        ..Finding::default()
    }
}

/// Distribution of time over all runs.
fn distribution() -> Distribution {
    Distribution {
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
    }
}

/// Size model of the seeds.
fn sizes() -> Sizes {
    Sizes {
        seeds: 1,
        runs: 12,
        largest: 5_000,
        costs: vec![SizeCost { resource: Resource::Instructions, fixed: 250.0, per_byte: 2.75, per_byte_high: 3.5 }],
    }
}

/// Machine of the campaign.
fn environment() -> Environment {
    Environment {
        system: "Debian GNU/Linux 12, Linux 6.1.0".into(),
        processor: "Example CPU".into(),
        processors: 2,
        memory: 25_769_803_776,
        load: 0.5,
    }
}
