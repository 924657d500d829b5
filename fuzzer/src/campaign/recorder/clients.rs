//! Figures of all clients of a campaign, as the first client shows them.

use super::Recorder;
use crate::campaign::{clients::ClientPlace, shared_statistics::Figures};
use quagmire_base::{
    atomic::write_whole,
    error::Result,
    files::{self, sealed::FileKind},
};
use quagmire_cost::{distribution::Distributions, resource::Resource};
use quagmire_results::{Summary, summary};
use quagmire_search::corpus::search_state::SearchState;

/// File in a client's folder with the cost distributions of its runs, for the first client.
const COSTS: &str = ".costs";

/// Kind of that file; its version changes with the table of resources.
const KIND: FileKind = FileKind { mark: *b"QGMCOSTS", version: Resource::LAYOUT.wrapping_add(2), largest: 16 << 20 };

impl Recorder<'_> {
    /// Figures of this client so far.
    pub(super) fn own_figures(&self, search: &SearchState) -> Figures {
        Figures {
            executions: self.moment.executions,
            before: self.record.earlier_executions,
            edges_found: search.history.edges_found() as u64,
            entries: self.record.entries.len() as u64,
        }
    }

    /// Publishes the figures of this client on the shared statistics.
    pub(super) fn tell_others(&self, search: &SearchState) {
        let figures = self.own_figures(search);
        self.setup.place.statistics.tell(self.setup.place.number, figures);
    }

    /// Figures of the clients that this one shows: all for the first client, its own for the others.
    fn figures(&self) -> Vec<Figures> {
        let ClientPlace { number, statistics, .. } = self.setup.place;
        if number == 0 { statistics.figures().collect() } else { statistics.figures().skip(number).take(1).collect() }
    }

    /// Executions by all clients, all sessions together.
    pub(super) fn executions(&self) -> u64 {
        self.figures().iter().map(|client| client.executions).sum()
    }

    pub(super) fn rate_of(&self, figures: &Figures) -> f64 {
        figures.executions.saturating_sub(figures.before) as f64 / self.session().as_secs_f64().max(1e-3)
    }

    pub(super) fn executions_per_second(&self) -> f64 {
        self.figures().iter().map(|client| self.rate_of(client)).sum()
    }

    /// Figures of each client for the summary; empty if there is only one.
    pub(super) fn clients(&self) -> Vec<summary::Client> {
        let figures = self.figures();
        if figures.len() < 2 {
            return Vec::new();
        }
        let client = |(number, figures): (usize, &Figures)| summary::Client {
            name: ClientPlace::name(number),
            executions: figures.executions,
            executions_per_second: self.rate_of(figures),
            edges_found: figures.edges_found,
            entries: figures.entries,
        };
        figures.iter().enumerate().map(client).collect()
    }

    /// Adds what the other clients wrote into their folders to the summary: finds of rules and masks, and cost
    /// distributions. Does nothing unless this is the first client.
    pub(super) fn add_others(&self, summary: &mut Summary) {
        let ClientPlace { number, .. } = self.setup.place;
        if number != 0 {
            return;
        }
        let mut costs = self.record.distributions.clone();
        for (_, folder) in self.setup.place.others(self.folder().path()) {
            let of_other = files::read(&folder.join(COSTS), KIND.largest).ok();
            if let Some(of_other) = of_other.and_then(|bytes| KIND.open::<Distributions>(&bytes).ok()) {
                costs.add(&of_other);
            }
            // a client that was killed a moment ago may have none
            let Ok(other) = Summary::read(&folder.join("summary.json")) else { continue };
            summary.masks += other.masks;
            summary::Shadow::add_all(&mut summary.shadow, &other.shadow);
            summary::TowardsPlace::add_all(&mut summary.towards, &other.towards);
            for rule in other.rules {
                if let Some(known) = summary.rules.iter_mut().find(|known| known.label == rule.label) {
                    known.applied += rule.applied;
                    known.coverage_increases += rule.coverage_increases;
                }
            }
        }
        summary.costs = self.distributions(&costs);
    }

    /// Writes the cost distributions of this client for the first one, which writes none.
    pub(super) fn leave_costs(&self) -> Result<()> {
        if self.setup.place.number == 0 {
            return Ok(());
        }
        let bytes = KIND.seal(&self.record.distributions).unwrap_or_default();
        write_whole(&self.folder().path().join(COSTS), &bytes)
    }
}
