//! Output of `minimize`.

use serde::Serialize;

use super::search::Stop;
use crate::print::LONGEST_TEMPLATE;
use quagmire_base::format::{counted, grouped, ratio, short, shortened_text};
use quagmire_cost::resource::Resource;

/// Result of a search for a smaller input. JSON keys are an interface.
#[derive(Clone, Debug, Serialize)]
pub struct MinimizeReport {
    /// Path of the input, as given.
    pub input: String,
    /// Path of the smallest input.
    pub output: String,
    /// Size of the smallest input in bytes.
    pub bytes: u64,
    /// Size of the input in bytes.
    pub bytes_before: u64,
    /// Instructions of the smallest input.
    pub instructions: u64,
    /// Instructions of the input.
    pub instructions_before: u64,
    /// Runs of the target.
    pub executions: u64,
    /// Seconds that the search took.
    pub seconds: f64,
    /// How the runs of both end.
    pub status: String,
    /// Resource that is kept relative to an ordinary input; `null` for early ends.
    pub resource: Option<Resource>,
    /// Amount as a multiple of an ordinary input of the same size.
    pub ratio: Option<f64>,
    /// The same of the input.
    pub ratio_before: Option<f64>,
    /// Ratio that had to be kept.
    pub ratio_wanted: Option<f64>,
    /// Hottest function of the input, which stays the reason; `null` if the reason may change.
    pub function: Option<String>,
    /// Share of that function in the smallest input, relative to its share in the input.
    pub kept_share: f64,
    /// Cosine between the costs of all functions of both.
    pub cosine: f64,
    /// Template of the smallest input, if there is one.
    pub template: Option<String>,
    /// Its number of repetitions.
    pub n: Option<u64>,
    /// Local exponent of the cost over the number of repetitions.
    pub order: Option<f64>,
    /// Command in one line that prints the smallest input.
    pub generator: Option<String>,
    /// Reason why the search ended before nothing was left to try.
    pub stopped: Option<Stop>,
}

impl MinimizeReport {
    pub(super) fn for_people(&self) -> String {
        let percent = 100.0 * self.bytes as f64 / self.bytes_before.max(1) as f64;
        let mut lines = vec![format!(
            "{}: {} of {} ({percent:.1} %), after {}",
            self.output,
            counted(self.bytes, "byte"),
            grouped(self.bytes_before),
            counted(self.executions, "run"),
        )];
        if self.bytes == self.bytes_before {
            let what = match self.stopped {
                None => "nothing smaller keeps what was asked for: this is the input itself",
                Some(_) => "nothing smaller was found before the end of the search: this is the input itself",
            };
            lines.push(format!("  {what}"));
        }
        let mut row = |title: &str, text: String| lines.push(format!("  {title:<13} {text}"));
        row("run", self.status.clone());
        row("instructions", format!("{} of {}", grouped(self.instructions), grouped(self.instructions_before)));
        if let (Some(resource), Some(now), Some(before), Some(wanted)) =
            (self.resource, self.ratio, self.ratio_before, self.ratio_wanted)
        {
            let title = resource.describe().title;
            row(
                "ratio",
                format!(
                    "{} of an ordinary input of its size in {title}; {} before, {} wanted",
                    ratio(now),
                    ratio(before),
                    ratio(wanted)
                ),
            );
        }
        if let Some(function) = &self.function {
            let share = 100.0 * self.kept_share;
            row(
                "cause",
                format!("{}: {share:.0} % of its share; cosine {:.2} over all functions", short(function), self.cosine),
            );
        }
        if let Some(template) = &self.template {
            let n = self.n.map_or(String::new(), |n| format!(" at N = {}", grouped(n)));
            let order = self.order.map_or(String::new(), |order| format!(", cost grows as N^{order:.1}"));
            row("template", format!("{}{n}{order}", shortened_text(template, LONGEST_TEMPLATE)));
        }
        if let Some(generator) = &self.generator {
            row("generator", generator.clone());
        }
        let why = match self.stopped {
            Some(Stop::Executions) => "the number of runs is used up: more with --execs",
            Some(Stop::Time) => "the time is used up: more with --budget",
            Some(Stop::Interrupted) => "stopped by a signal",
            None => return lines.join("\n") + "\n",
        };
        row("stopped", why.to_owned());
        lines.join("\n") + "\n"
    }
}
