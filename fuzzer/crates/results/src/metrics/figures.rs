//! Metrics of a campaign, computed from its summary.

use std::time::SystemTime;

use super::exposition::{
    Exposition,
    MetricKind::{Counter, Gauge, Histogram},
    Peaks,
};
use crate::{
    Summary,
    summary::{Distribution, Validity},
};
use quagmire_cost::resource::Description;

/// Number of buckets of a histogram; their upper bounds are 4^k - 1. The bounds are fixed, since Prometheus compares
/// buckets over time, and each is also the end of one of the summary's bins.
const BUCKETS: u32 = 20;

/// Facts about a campaign that do not come from its summary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// Target, as typed.
    pub target: String,
    /// `in-process` or `fork-server`.
    pub engine: String,
}

/// A summary and its age.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<'a> {
    /// The summary as read from disk.
    pub summary: &'a Summary,
    /// Time of the last write to the file.
    pub written: SystemTime,
    /// Whether an earlier session wrote it, and this one none yet.
    pub is_old: bool,
}

/// Text of all metrics. Without a summary, only that the campaign is there.
pub(super) fn figures(about: &About, known: Option<Known>, peaks: &mut Peaks) -> String {
    let mut text = Exposition::new(peaks);
    text.family(Gauge, "build_info", "Always 1: what runs is in the labels.");
    let version = env!("CARGO_PKG_VERSION");
    text.sample(&[("version", version), ("target", &about.target), ("engine", &about.engine)], 1.0);
    let is_over = known.is_some_and(|known| !known.is_old && known.summary.stopped_by.is_some());
    text.one(Gauge, "up", "1 while the campaign searches, 0 once it has ended.", f64::from(!is_over));
    if let Some(Known { summary, written, .. }) = known {
        let written = written.duration_since(SystemTime::UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
        text.one(Gauge, "updated_timestamp_seconds", "When these figures were written, in Unix time.", written);
        whole(&mut text, summary);
        parts(&mut text, summary);
        for costs in &summary.costs {
            distribution(&mut text, costs);
        }
    }
    text.finish()
}

fn whole(text: &mut Exposition, summary: &Summary) {
    let Summary { executions, executions_per_second, edges_found, degradations, faults, hangs, .. } = *summary;
    text.one(
        Counter,
        "campaign_seconds_total",
        "How long the campaign has run, all sessions together.",
        summary.seconds,
    );
    text.one(Counter, "executions_total", "Runs of the target.", executions as f64);
    let help = "Runs of the target per second, on average over this session.";
    text.one(Gauge, "executions_per_second", help, executions_per_second);
    text.one(Gauge, "edges_found", "Edges that kept inputs execute.", edges_found as f64);
    if let Some(edges) = summary.target.edges {
        text.one(Gauge, "edges", "Edges of the target.", edges as f64);
    }
    text.one(Gauge, "queue_entries", "Kept inputs.", summary.entries as f64);
    let help = "Kept inputs that other clients and campaigns have found.";
    text.one(Gauge, "queue_foreign_entries", help, summary.foreign as f64);
    text.one(Counter, "degradations_total", "Confirmed degradations.", degradations as f64);
    let help = "Kept inputs that cost more than the median seed only because they are larger.";
    text.one(Counter, "large_inputs_total", help, summary.large as f64);
    text.one(Counter, "faults_total", "Inputs that crash.", faults as f64);
    text.one(Counter, "hangs_total", "Inputs that run into the hang timeout.", hangs as f64);
    if let Some(worst) = &summary.worst {
        let ratios = [("instructions", worst.instructions_ratio), ("time", worst.time_ratio)];
        let known = ratios.into_iter().filter_map(|(resource, ratio)| Some((resource, ratio?)));
        let help = "What the worst kept input costs, as a multiple of the baseline.";
        text.each(Gauge, "worst_ratio", help, "resource", known);
        if let Some(by_size) = worst.instructions_ratio_by_size {
            let help = "Instructions of the worst kept input, as a multiple of an ordinary input of its size.";
            text.one(Gauge, "worst_ratio_by_size", help, by_size);
        }
    }
    if let Some(instructions) = summary.baseline.instructions {
        text.one(Gauge, "baseline_instructions", "Instructions of the median seed.", instructions as f64);
    }
    text.one(Gauge, "rare_branches", "Branches that few runs hit.", summary.rare.branches as f64);
    text.one(Gauge, "rarity_cutoff", "No more runs hit a rare branch.", summary.rare.cutoff as f64);
    let Validity { valid, invalid, valid_edges } = summary.validity;
    let runs = [("valid", valid as f64), ("invalid", invalid as f64)];
    let help = "Mutants and seeds whose runs were valid, or not, of the first client.";
    text.each(Counter, "judged_runs_total", help, "validity", runs);
    text.one(Gauge, "valid_edges_found", "Edges that valid kept inputs execute.", valid_edges as f64);
    if let Some(diversity) = &summary.diversity {
        let traces = [("all", diversity.unique_traces as f64), ("valid", diversity.unique_valid_traces as f64)];
        let help = "Distinct traces of runs in this session, of the first client.";
        text.each(Gauge, "unique_traces", help, "runs", traces);
        let orders = [("0", diversity.b0), ("1", diversity.b1), ("2", diversity.b2)];
        let help = "Hill numbers of branches over distinct valid traces: how many are exercised, and how evenly.";
        text.each(Gauge, "behavioural_diversity", help, "order", orders);
    }
    text.one(Counter, "masks_total", "Inputs that were given masks.", summary.masks.computed as f64);
}

fn parts(text: &mut Exposition, summary: &Summary) {
    let rules = || summary.rules.iter();
    let applied = rules().map(|rule| (rule.label.as_str(), rule.applied as f64));
    text.each(Counter, "rule_applications_total", "How often each rule was applied.", "rule", applied);
    let finds = rules().map(|rule| (rule.label.as_str(), rule.coverage_increases as f64));
    text.each(Counter, "rule_finds_total", "Mutants of each rule that were kept.", "rule", finds);
    let clients = || summary.clients.iter();
    let executions = clients().map(|client| (client.name.as_str(), client.executions as f64));
    text.each(Counter, "client_executions_total", "Runs of the target by each client.", "client", executions);
    let rates = clients().map(|client| (client.name.as_str(), client.executions_per_second));
    let help = "Runs of the target per second by each client, on average over this session.";
    text.each(Gauge, "client_executions_per_second", help, "client", rates);
    let edges = clients().map(|client| (client.name.as_str(), client.edges_found as f64));
    text.each(Gauge, "client_edges_found", "Edges that each client's kept inputs execute.", "client", edges);
    let entries = clients().map(|client| (client.name.as_str(), client.entries as f64));
    text.each(Gauge, "client_queue_entries", "Kept inputs of each client.", "client", entries);
}

/// Adds the histogram of one resource, over the runs of the first client that returned.
fn distribution(text: &mut Exposition, costs: &Distribution) {
    let Description { metric: (name, help), unit, .. } = *costs.resource.describe();
    let divisor = unit.per_base_unit();
    let bucket = |power: u32| {
        let bound = 4u64.pow(power) - 1;
        let amounts = costs.histogram.iter().take_while(|(upper, _)| *upper <= bound).map(|(_, runs)| runs).sum();
        (bound as f64 / divisor, amounts)
    };
    let buckets: Vec<(f64, u64)> = (1..=BUCKETS).map(bucket).collect();
    text.family(Histogram, name, help);
    text.histogram(&buckets, costs.mean * costs.count as f64 / divisor, costs.count);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{summary::Client, testing::example};
    use std::time::Duration;

    fn about() -> About {
        About { target: "./trim".into(), engine: "fork-server".into() }
    }

    fn client(name: &str, executions: u64) -> Client {
        Client { name: name.into(), executions, executions_per_second: 10.5, edges_found: 7, entries: 9 }
    }

    #[test]
    fn the_page_of_a_campaign() {
        let summary = Summary { clients: vec![client("client-0", 5), client("client-1", 6)], ..example() };
        let written = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_090);
        let known = Known { summary: &summary, written, is_old: false };
        let page = figures(&about(), Some(known), &mut Peaks::new());
        insta::assert_snapshot!("figures", page.replace(env!("CARGO_PKG_VERSION"), "VERSION"));
        let known = Known { is_old: true, ..known };
        assert!(figures(&about(), Some(known), &mut Peaks::new()).contains("\nquagmire_up 1\n"));
    }

    #[test]
    fn before_the_first_summary_there_is_little_to_say() {
        let page = figures(&about(), None, &mut Peaks::new());
        insta::assert_snapshot!("figures_at_first", page.replace(env!("CARGO_PKG_VERSION"), "VERSION"));
    }
}
