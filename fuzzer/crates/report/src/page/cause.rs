//! The details of a cause: where it burns, what to do next, how it grows, its input.

use std::{ffi::OsStr, path::Path};

use maud::{Markup, html};

use super::{
    Extras,
    causes::{self, Cause, SHOWN},
    input, source,
};
use crate::{
    campaign::Campaign,
    graph::{self, chart::WIDTH, growth::growth},
    markup,
    rules::RuleWords,
    sources::Sources,
    words,
};
use quagmire_base::{
    format::{counted, grouped, ratio},
    shell,
    visible::shown,
};
use quagmire_cost::resource::Resource;
use quagmire_execution::info::{Engine, Instrumentation};
use quagmire_results::{
    explanation::special_cost,
    growth_plot::GrowthPlot,
    summary::{Finding, FindingKind, FindingLaw, OrdinaryInput, Summary, Unexplained},
};

/// Number of causes that are open at first.
const OPEN: usize = 3;

/// Maximum number of other findings of a cause that are listed.
const OTHERS: usize = 100;

/// Renders the causes in full.
pub(super) fn details(campaign: &Campaign, rules: &RuleWords, extras: &Extras, causes: &[Cause]) -> Markup {
    let mut sources = Sources::default();
    html! {
        @for (at, cause) in causes.iter().take(SHOWN).enumerate() {
            (detail(campaign, rules, extras, (at, cause), &mut sources))
        }
        @if causes.len() > SHOWN { p class="dim" { "The others are in the table above, and in " span class="code" { "summary.json" } "." } }
    }
}

fn detail(
    campaign: &Campaign,
    rules: &RuleWords,
    extras: &Extras,
    (at, cause): (usize, &Cause),
    sources: &mut Sources,
) -> Markup {
    let finding = &campaign.summary.findings[cause[0]];
    let by = campaign.summary.target.instrumentation;
    html! {
        details class="finding" id={ "c" (at) } open[at < OPEN] {
            summary {
                span class="headline" { (causes::place(finding)) }
                @if let Some(law) = &finding.law { " " (causes::badge_of_law(&law.class)) }
                " " span class="dim" { (headline(finding, by)) }
            }
            h3 { "Where" }
            (source::places(finding, sources))
            (law(finding, extras.has_pictures))
            h3 { "Next" }
            (next(campaign, finding))
            h3 { "The input" }
            p { (input_line(finding)) }
            (input::excerpt(campaign, finding))
            p class="dim" {
                @if finding.minimized.is_some() { "The large one: " (markup::input_link("", &finding.path)) ", " (counted(finding.bytes, "byte")) "; " }
                "found after " (words::duration(finding.seconds))
                @if let Some(page) = extras.diffs.get(&cause[0]) { " · " a href=(markup::address("", page)) { "differences from its seed" } }
            }
            details class="more" {
                summary { "Measurements, and how it was found" }
                (facts(campaign, finding))
                (markup::costs(finding))
                (source::table(finding, by))
                @if !finding.parts.is_empty() { h4 { "Its parts" } pre class="parts" { (finding.parts.join("\n")) } }
                h4 { "From the seed to it" }
                (markup::history(&rules.steps(&finding.rules)))
            }
            @if cause.len() > 1 { (others(campaign, extras, &cause[1..])) }
        }
    }
}

/// The clearest input, and why there is no smaller one.
fn input_line(finding: &Finding) -> Markup {
    let (path, bytes) = input::clearest(finding);
    html! {
        @if finding.minimized.is_some() { "The smallest with the same cause: " }
        (markup::input_link("", path)) ", " (counted(bytes, "byte"))
        @if let Some(reason) = &finding.no_smallest { " " span class="dim" { (unexplained("No smaller one", reason)) } }
    }
}

/// Verdict, and the inputs that it was measured beside.
fn facts(campaign: &Campaign, finding: &Finding) -> Markup {
    html! {
        dl class="facts" {
            dt { "verdict" } dd { (words::verdict(finding)) }
            @if let Some(ordinary) = &finding.ordinary_input { dt { "ordinary input" } dd { (ordinary_input(ordinary)) } }
            @if let Some(root) = campaign.root(finding) { dt { "seed" } dd { (markup::input_link("", &root)) } }
            dt { "found" } dd { "after " (words::duration(finding.seconds)) ", " (counted(finding.executions, "execution")) }
        }
    }
}

/// The ordinary input that a finding was measured beside, and why its times were corrected.
fn ordinary_input(ordinary: &OrdinaryInput) -> Markup {
    let scale = ordinary.scale;
    html! {
        (markup::input_link("", &ordinary.path))
        @if scale.is_finite() && scale > 0.0 && (scale - 1.0).abs() >= 0.005 {
            ": it costs " (words::percent((1.0 / scale - 1.0).abs())) (if scale < 1.0 { " more" } else { " less" })
            " than is ordinary for its size, so its times were multiplied by " (format!("{scale:.2}"))
        }
    }
}

/// Answers that are not known, with the reason and the command that would give them.
fn unexplained(title: &str, reason: &Unexplained) -> Markup {
    html! { (title) ": " (shown(&reason.why)) @if !reason.command.is_empty() { ": " span class="code" { (shown(&reason.command)) } } }
}

/// The other findings of a cause, the worst first.
fn others(campaign: &Campaign, extras: &Extras, cause: &[usize]) -> Markup {
    let summary = &campaign.summary;
    html! {
        details class="more" {
            summary { (counted(cause.len() as u64, "other finding")) " with this cause" }
            div class="scroll" { table class="sortable" {
                thead { tr {
                    th { "input" } th class="number" { "bytes" } th class="number" { "cost for its size" } th class="number" { "by time" }
                    th class="number" { "found after" } @if !extras.diffs.is_empty() { th { "seed" } }
                } }
                tbody { @for &index in cause.iter().take(OTHERS) {
                    @let finding = &summary.findings[index];
                    tr {
                        td class="place" { (markup::input_link("", &finding.path)) }
                        td class="number" data-v=(finding.bytes) { (grouped(finding.bytes)) }
                        (markup::ratio_cell(finding.ratio.or(finding.instructions_ratio), None))
                        (markup::ratio_cell(finding.time_ratio_by_size.or(finding.time_ratio), None))
                        td class="number" data-v=(if finding.seconds.is_finite() { finding.seconds } else { -1.0 }) { (words::duration(finding.seconds)) }
                        @if !extras.diffs.is_empty() {
                            td { @if let Some(page) = extras.diffs.get(&index) { a href=(markup::address("", page)) { "differences" } } }
                        }
                    }
                } }
            } }
            @if cause.len() > OTHERS { p class="dim" { "and " (cause.len() - OTHERS) " more in " span class="code" { "summary.json" } } }
        }
    }
}

/// Formats how a finding ended, or its ratios: `6,804x instructions, 9,870x CPU time (9,700x to 9,990x) for its size`; against the
/// median seed where that is not known.
fn headline(finding: &Finding, by: Instrumentation) -> String {
    let ratios = |instructions: Option<f64>, time: Option<f64>, interval: Option<(f64, f64)>| {
        let instructions = instructions.map(|value| format!("{} {}", ratio(value), by.work()));
        let instructions = special_cost(finding, by).filter(|_| instructions.is_some()).or(instructions);
        let time = time.map(|value| match interval {
            Some((low, high)) => format!("{} {} ({} to {})", ratio(value), by.time(), ratio(low), ratio(high)),
            None => format!("{} {}", ratio(value), by.time()),
        });
        instructions.into_iter().chain(time).collect::<Vec<String>>().join(", ")
    };
    let interval = finding.interval_by_size();
    let by_size = ratios(finding.instructions_ratio_by_size, finding.time_ratio_by_size, interval);
    let by_seed = ratios(finding.instructions_ratio, finding.time_ratio, finding.interval());
    match (finding.kind, by_size.is_empty(), by_seed.is_empty()) {
        (FindingKind::Degradation, false, _) => format!("{by_size} for its size"),
        (FindingKind::Degradation, true, false) => format!("{by_seed} against the median seed"),
        _ => words::verdict(finding),
    }
}

/// Section about the law of a finding, with a plot of it if there are pictures; the reason where there is no law; empty
/// where nobody has looked for one.
fn law(finding: &Finding, has_pictures: bool) -> Markup {
    let Some(law) = &finding.law else {
        return html! {
            @if let Some(reason) = &finding.no_law {
                h3 { "How the cost grows" }
                p { "No law: " (shown(&reason.why)) "." }
                @if !reason.command.is_empty() { (markup::command(&reason.command)) }
            }
        };
    };
    // the law stands above the picture
    let plot = GrowthPlot { title: String::new(), ..GrowthPlot::of_finding(law) };
    html! {
        h3 { "How the cost grows" }
        p { @if law.resource != Resource::Instructions { (law.resource.name()) ": " } (shown(&law.words)) "; confidence: " (shown(&law.confidence)) (facts_of_law(law)) "." }
        @if let Some(chart) = growth(&plot).filter(|_| has_pictures) {
            div class="graph" { (graph::inline(WIDTH, chart.height, &shown(&law.words), &chart.content)) }
        }
    }
}

/// Rival and sizes of a law, each after a semicolon.
fn facts_of_law(law: &FindingLaw) -> String {
    let rival = law.rival.as_ref().map(|rival| format!("; {} does as well", shown(rival)));
    let bytes = |size: Option<u64>, time: &str| size.map(|size| format!("; {time} at about {} bytes", grouped(size)));
    let parts = [rival, bytes(law.bytes_of_second, "1 s"), bytes(law.bytes_of_minute, "1 min")];
    parts.into_iter().flatten().collect()
}

/// Folder of inputs that were slow once, in the reader's repository.
const REGRESSIONS: &str = "regressions";

/// Renders the commands: reproduce, verify a repair, keep it from coming back, and the way to show others.
fn next(campaign: &Campaign, finding: &Finding) -> Markup {
    let summary = &campaign.summary;
    // two builds are compared by counts
    let program = program(summary).filter(|_| summary.target.engine != Engine::Processes);
    html! {
        h4 { "Reproduce it" }
        (markup::command(&finding.reproduce))
        @if let Some(program) = program {
            h4 { "Verify a repair" }
            p { "Build the program again, as before, and compare it with what this campaign measured:" }
            (markup::command(&quagmire(["compare".as_ref(), campaign.shown.as_os_str()], program)))
            @if finding.kind == FindingKind::Degradation {
                h4 { "Keep it from coming back" }
                p { "Put the input into your repository, and with the repaired program note what it costs:" }
                (markup::command(&kept(campaign, finding)))
                (markup::command(&baseline(program, true)))
                p { "The line for CI, which ends with exit code 4 if it is slow again:" }
                (markup::command(&baseline(program, false)))
            }
        } @else {
            p class="dim" { "To verify a repair, build the program again and repeat the command." }
        }
        @if let Some(law) = &finding.law {
            @if law.generator.is_some() || finding.template.is_some() { h4 { "Report the fault" } }
            @if let Some(generator) = &law.generator {
                p { "This prints an input; how often the part repeats is the number in it:" }
                (markup::command(generator))
            }
            @if let Some(template) = &finding.template { p { "The input as a template:" } pre { (shown(template)) } }
        }
    }
}

/// The program with its arguments, as the campaign was started; `None` if that is not known.
fn program(summary: &Summary) -> Option<&[String]> {
    match summary.command.iter().position(|word| word == "--") {
        Some(at) => summary.command.get(at + 1..).filter(|words| !words.is_empty()),
        // a harness that was started by itself
        None => summary.command.get(..1),
    }
}

fn quagmire<'a>(words: impl IntoIterator<Item = &'a OsStr>, program: &'a [String]) -> String {
    let words = std::iter::once("quagmire".as_ref()).chain(words).chain(std::iter::once("--".as_ref()));
    shell::command(words.chain(program.iter().map(OsStr::new)))
}

/// Command that copies the clearest input of a finding into the repository.
fn kept(campaign: &Campaign, finding: &Finding) -> String {
    let path = campaign.shown.join(input::clearest(finding).0);
    let folder = Path::new(REGRESSIONS);
    format!(
        "mkdir -p {REGRESSIONS} && {}",
        shell::command(["cp".as_ref(), path.as_os_str(), folder.join("").as_os_str()])
    )
}

/// Command that writes what the kept inputs cost, or compares with it.
fn baseline(program: &[String], is_written: bool) -> String {
    let update = is_written.then_some("--update");
    let words = ["compare", REGRESSIONS, "--baseline", "costs.json"].into_iter().chain(update);
    quagmire(words.map(OsStr::new), program)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{example, example_folder};

    #[test]
    fn what_ended_early_has_no_costs_to_tell() {
        let finding = Finding {
            kind: FindingKind::Fault,
            detail: Some("SIGILL".into()),
            instructions_ratio: Some(0.89),
            ..Finding::default()
        };
        assert_eq!(headline(&finding, Instrumentation::default()), "ends the program early: SIGILL");
    }

    #[test]
    fn a_correction_of_times_is_explained_where_it_stands() {
        let told = |scale: f64| ordinary_input(&OrdinaryInput { path: "ordinary/a".into(), scale }).into_string();
        assert!(!told(1.0).contains("times"));
        assert!(
            told(0.8)
                .ends_with("it costs 25 % more than is ordinary for its size, so its times were multiplied by 0.80")
        );
        assert!(told(1.25).contains("20 % less") && !told(0.0).contains("multiplied"));
    }

    fn text(summary: &Summary) -> String {
        let folder = example_folder();
        summary.write(&folder.path().join("summary.json")).unwrap();
        let mut campaign = Campaign::read(folder.path()).unwrap();
        campaign.shown = "out dir".into();
        next(&campaign, &summary.findings[0]).into_string()
    }

    #[test]
    fn commands_can_be_copied_as_they_are() {
        let html = text(&example());
        for command in [
            "quagmire replay out/degradations/id_000012,src_000003,cost_41.4,op_T.10+T.8 -- ./trim @@",
            "quagmire compare &#39;out dir&#39; -- ./trim @@",
            "mkdir -p regressions &amp;&amp; cp &#39;out dir/minimized/id_000012&#39; regressions/",
            "quagmire compare regressions --baseline costs.json --update -- ./trim @@",
            "quagmire compare regressions --baseline costs.json -- ./trim @@",
            "python3 -c &#39;print(&quot;x&quot; + &quot; &quot; * N + &quot;x&quot;)&#39;",
        ] {
            let command = command.replace("&#39;", "'");
            assert!(html.contains(&format!("<pre class=\"command\">{command}</pre>")), "{command}: {html}");
        }
    }

    #[test]
    fn builds_that_count_nothing_are_not_compared() {
        let mut summary = example();
        summary.target.engine = Engine::Processes;
        let html = text(&summary);
        assert!(!html.contains("quagmire compare") && html.contains("repeat the command"), "{html}");
        // a harness that was started by itself
        summary.target.engine = Engine::InProcess;
        summary.command = ["./harness", "-i", "seeds"].map(String::from).to_vec();
        assert!(text(&summary).contains("quagmire compare 'out dir' -- ./harness</pre>"));
    }
}
