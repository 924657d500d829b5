//! Next steps for a cause: commands to copy.

use std::{ffi::OsStr, path::Path};

use maud::{Markup, html};

use super::input;
use crate::{campaign::Campaign, markup};
use quagmire_base::{shell, visible::shown};
use quagmire_execution::info::Engine;
use quagmire_results::summary::{Finding, FindingKind, Summary};

/// Folder of inputs that were slow once, in the reader's repository.
const REGRESSIONS: &str = "regressions";

/// Renders the commands: reproduce, verify a repair, keep it from coming back, and the way to show others.
pub(super) fn next(campaign: &Campaign, finding: &Finding) -> Markup {
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
