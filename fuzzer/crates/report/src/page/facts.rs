//! Sections of the page with figures of the campaign, the target and the machine.

use maud::{Markup, html};

use crate::{markup, words};
use quagmire_base::{
    format::{counted, grouped, rate},
    shell,
    visible::shown,
};
use quagmire_cost::{resource::Resource, sizes::RelativeTo};
use quagmire_execution::info::Engine;
use quagmire_results::summary::Summary;

/// The figures below the verdict, in a line.
pub(crate) fn figures(summary: &Summary) -> Markup {
    let edges = match summary.target.edges {
        Some(edges) => format!("{} of {} edges", grouped(summary.edges_found), grouped(edges)),
        None => counted(summary.edges_found, "edge"),
    };
    let counts = summary.target.instrumentation.counts();
    let figures = [
        Some(counted(summary.findings.len() as u64, "finding")),
        Some(format!("{} in {}", counted(summary.executions, "execution"), words::duration(summary.seconds))),
        counts.then_some(edges),
    ];
    html! { p class="dim figures" { @for figure in figures.into_iter().flatten() { span { (figure) } " " } } }
}

/// The baseline, and the noise of time measurements.
pub(crate) fn baseline(summary: &Summary) -> Markup {
    let baseline = &summary.baseline;
    html! {
        @match (&summary.sizes, summary.relative_to) {
            (None, RelativeTo::Size) if !summary.target.instrumentation.counts() => p { "Degradations take more time than the median seed, than the seed that they descend from, and than several seeds joined to their size." },
            (Some(_), RelativeTo::Size) => p { "Degradations cost more than an ordinary input of their size. What that is was measured with the seeds, parts of them, and several of them joined; it is never less than the median seed." },
            _ => p { "Degradations cost more than the median seed." },
        }
        dl class="facts" {
            dt { (summary.target.instrumentation.work()) } dd { (baseline.instructions.map_or("not measured".into(), grouped)) }
            dt { (summary.target.instrumentation.time()) } dd { (baseline.seconds.map_or("not measured".into(), words::duration)) }
            dt { "size" } dd { (baseline.bytes.map_or("not known".into(), |bytes| counted(bytes, "byte"))) }
            @if let Some(sizes) = &summary.sizes {
                @if let Some(line) = sizes.costs.iter().find(|cost| cost.resource == Resource::Instructions) {
                    dt { "by size" } dd {
                        (format!("{:.0} {} and {:.2} a byte", line.fixed, summary.target.instrumentation.work(), line.per_byte))
                        @if line.per_byte_high > line.per_byte { (format!(", up to {:.2} for expensive content", line.per_byte_high)) }
                        ", from " (counted(sizes.runs, "run")) " of up to " (counted(sizes.largest, "byte"))
                    }
                }
            }
            dt { "noise floor" } dd {
                @match &summary.noise {
                    Some(noise) => { (words::percent(noise.floor)) ": the seed measured against itself " (counted(noise.rounds.into(), "time")) " looked at most this much slower or faster. Smaller differences in time mean nothing on this machine." },
                    None => "not measured",
                }
            }
        }
    }
}

/// Time in code without counts; nothing if that is not known.
fn unseen(summary: &Summary) -> Markup {
    let unseen = &summary.unseen;
    let share = |share: Option<f64>| share.filter(|share| share.is_finite()).map(words::percent);
    html! {
        @if let Some(uncounted) = share(unseen.uncounted_share) {
            dt { "time without counts" } dd {
                (uncounted) " in code of the program, " (share(unseen.system_share).unwrap_or_default()) " in libraries of the system, of "
                (counted(unseen.samples, "sample"))
                @for function in &unseen.functions { ", " (words::percent(function.share)) " in " span class="code" { (shown(&function.function)) } " of " (shown(&function.object)) }
            }
        }
    }
}

/// Facts about the campaign and the machine.
pub(crate) fn facts(summary: &Summary) -> Markup {
    let machine = &summary.environment;
    let engine = match summary.target.engine {
        Engine::InProcess => "in process",
        Engine::ForkServer => "fork server",
        Engine::Processes => "a process for each run",
    };
    html! {
        (markup::command(&shell::command(&summary.command)))
        dl class="facts" {
            dt { "target" } dd { span class="code" { (shown(&summary.target.program)) } ", " (engine)
                @if !summary.target.instrumentation.is_usual() { ", " (summary.target.instrumentation.origin()) ": " (summary.target.instrumentation.remark()) }
            }
            (unseen(summary))
            @if let Some(advice) = &summary.advice { dt { "advice" } dd { (shown(advice)) } }
            dt { "started" } dd { (shown(&summary.started)) }
            dt { "speed" } dd { (rate(summary.executions_per_second)) " executions a second" }
            dt { "ended" } dd { (words::stopped_by(summary)) }
            dt { "random seed" } dd { (summary.seed) }
            @if !machine.system.is_empty() { dt { "system" } dd { (shown(&machine.system)) } }
            @if !machine.processor.is_empty() {
                dt { "processor" } dd { (shown(&machine.processor)) ", " (counted(machine.processors, "processor")) " to use" }
            }
            @if machine.memory > 0 { dt { "memory" } dd { (words::bytes(machine.memory)) } }
            @if !machine.system.is_empty() && machine.load.is_finite() { dt { "load at the start" } dd { (format!("{:.2}", machine.load)) } }
            dt { "quagmire" } dd { (shown(&summary.version)) }
        }
    }
}
