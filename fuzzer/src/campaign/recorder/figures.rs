//! Figures of the campaign: its summary, and the display and the files that render it.

use std::{
    path::Path,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use super::Recorder;
use crate::campaign::{
    clients::ClientPlace, groups::groups, heartbeat::Turn, record::Entry, shared_statistics::Figures,
};
use quagmire_base::{
    atomic::{unwritable, write_whole},
    error::Result,
    files::{self, sealed::FileKind},
    format::counted,
};
use quagmire_cost::{
    distribution::Distributions,
    resource::{Cost, Resource},
    sizes::Line,
};
use quagmire_execution::{
    diversity::{hill::Hill, table::TraceCounts, trace::TraceKind},
    notices,
};
use quagmire_mutators::kinds::GoalKind;
use quagmire_results::{
    Summary, explanation, final_report,
    screen::View,
    summary::{self, Distribution, Finding, FindingKind, LastFound, Live, StoppedBy, Worst},
    write_fuzzer_stats,
};
use quagmire_search::{
    EntryId,
    corpus::{
        rare::Rarity,
        search_state::{MaskFigures, SearchState},
        shadow::Row,
        towards::TargetPlace,
    },
    hooks::Moment,
};

/// Interval between two writes of the files that show the progress.
const WRITE_INTERVAL: Duration = Duration::from_secs(5);

/// Interval between two redraws of the display on a terminal.
const REDRAW_INTERVAL: Duration = Duration::from_secs(1);

/// Interval between two lines where there is no terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(10);

/// File in a client's folder with the cost distributions of its runs, for the first client.
const COSTS: &str = ".costs";

/// Kind of that file; its version changes with the table of resources.
const KIND: FileKind = FileKind { mark: *b"QGMCOSTS", version: Resource::LAYOUT.wrapping_add(2), largest: 16 << 20 };

impl Recorder<'_> {
    /// Updates the display and the files that are due. To be called after every timer tick.
    pub fn housekeeping(&mut self, moment: Moment, search: &SearchState) -> Result<()> {
        self.set_moment(moment, search);
        self.tell_notices()?;
        self.tell_unseen(search)?;
        let elapsed = self.elapsed();
        let interval = if self.terminal { REDRAW_INTERVAL } else { LINE_INTERVAL };
        let view = self.view();
        if elapsed.saturating_sub(self.record.last_print) >= interval || view != self.view {
            self.record.last_print = elapsed;
            self.view = view;
            self.screen.show_now(&self.figures(search), view);
            self.record.lines_on_screen = self.screen.lines;
        }
        if elapsed.saturating_sub(self.record.last_write) >= WRITE_INTERVAL {
            self.write_progress(None, search)?;
        }
        self.make_durable()
    }

    /// Shows notices of the runtime that were not shown yet.
    fn tell_notices(&mut self) -> Result<()> {
        let fresh = notices::noticed() & !self.record.told;
        self.record.told |= fresh;
        notices::among(fresh).try_for_each(|notice| self.note(notice.in_words()))
    }

    /// Choices of the user for the display; the default without a terminal.
    fn view(&self) -> View {
        if self.terminal { self.setup.place.statistics.view() } else { View::default() }
    }

    /// Largest cost, as a multiple of the median seed's.
    pub(super) fn largest_ratio(&self, search: &SearchState) -> f64 {
        search.top_rated.worst().map_or(1.0, |largest| self.ratio_of(largest))
    }

    /// The latest finding.
    fn last_found(&self) -> Option<LastFound> {
        let last = self.record.findings.iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds))?;
        let found = Duration::try_from_secs_f64(last.seconds).unwrap_or_default();
        let ratio = last.ratio.filter(|_| last.kind == FindingKind::Degradation);
        Some(LastFound { path: last.path.clone(), ratio, ago: self.elapsed().saturating_sub(found) })
    }

    /// Writes `summary.json`, `fuzzer_stats`, `plot_data` and a point of the time series.
    pub fn write_progress(&mut self, stopped_by: Option<StoppedBy>, search: &SearchState) -> Result<()> {
        self.make_durable()?;
        let now = self.elapsed();
        self.record.last_write = now;
        self.phases.flush(now)?;
        self.logs.point(self.elapsed(), self.record.count(FindingKind::Degradation), self.largest_ratio(search))?;
        self.diversity = self.setup.options.search.trace.and_then(|trace| diversity(search, trace));
        if let Some(diversity) = &self.diversity {
            self.logs.diversity_point(now, self.moment.executions, &validity(search), diversity)?;
        }
        let summary = self.summary(stopped_by, search);
        write_fuzzer_stats(&summary, self.folder().path())?;
        let ClientPlace { number, of, .. } = self.setup.place;
        if number == 0 && of > 1 {
            // beside those of the other clients, where afl-whatsup adds them up
            let folder = ClientPlace::listed(self.folder().path(), 0);
            for folder in folder.parent().into_iter().chain([&*folder]) {
                files::create_folder(folder).map_err(|error| unwritable(folder, &error))?;
            }
            let executions_per_second = self.rate_of(&self.own_figures(search));
            let executions = self.moment.executions;
            write_fuzzer_stats(&Summary { executions, executions_per_second, ..self.figures(search) }, &folder)?;
        }
        self.plot.push(&summary)?;
        self.leave_costs()?;
        let _turn = Turn::wait(self.folder().path());
        summary.write(&self.folder().summary())
    }

    fn worst_entry(&self) -> Option<&Entry> {
        self.record.entries.get(self.record.worst?.index())
    }

    /// Worst entry for the summary; its path is that of the finding if it was confirmed.
    fn worst(&self) -> Option<Worst> {
        let record = &self.record;
        let worst = record.worst?;
        let entry = self.worst_entry()?;
        let confirmed = self.relative(&self.folder().degradations().join(&entry.file));
        let is_finding = record.findings.iter().any(|finding| finding.path == confirmed);
        Some(Worst {
            path: if is_finding { confirmed } else { self.relative(&self.path_of(worst)) },
            bytes: entry.bytes,
            instructions_ratio: self.instructions_ratio(&entry.cost),
            time_ratio: record
                .worst_time
                .filter(|(entry, _)| *entry == worst)
                .map(|(_, ratio)| ratio)
                .or_else(|| self.searched_time(entry)),
            instructions_ratio_by_size: self.instructions_by_size(entry),
        })
    }

    /// Whether the target counts anything.
    pub(super) fn counts(&self) -> bool {
        self.setup.target.instrumentation.counts()
    }

    /// Instructions as a multiple of the baseline's; `None` before there is one, and where nothing is counted.
    pub(super) fn instructions_ratio(&self, cost: &Cost) -> Option<f64> {
        self.record.baseline.filter(|_| self.counts()).map(|baseline| baseline.icovr(cost))
    }

    /// Time as a multiple of the baseline's, as the search has measured it; `None` if there are counts, which say more, or
    /// the search follows another resource.
    fn searched_time(&self, entry: &Entry) -> Option<f64> {
        let is_time = self.setup.options.search.steer == Some(Resource::Time);
        (is_time && !self.counts()).then(|| self.ratio(&entry.cost))
    }

    pub(super) fn instructions_by_size(&self, entry: &Entry) -> Option<f64> {
        let model = self.record.sizes.model.as_ref().filter(|_| self.counts())?;
        Some(model.ratio(Resource::Instructions, entry.cost[Resource::Instructions], entry.bytes))
    }

    /// Entries that are only large, one for each function, the most expensive first.
    fn large(&self) -> Vec<summary::Large> {
        let one = |&entry: &EntryId| {
            let of = self.record.entry(entry);
            summary::Large {
                path: self.relative(&self.path_of(entry)),
                bytes: of.bytes,
                instructions_ratio: self.instructions_ratio(&of.cost),
                instructions_ratio_by_size: self.instructions_by_size(of),
            }
        };
        let mut all: Vec<summary::Large> = self.record.large.values().map(one).collect();
        let ratio = |large: &summary::Large| large.instructions_ratio.unwrap_or(0.0);
        all.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)));
        all
    }

    /// Size model for the summary; `None` before sizes were measured.
    fn sizes(&self) -> Option<summary::Sizes> {
        let model = self.record.sizes.model.as_ref().filter(|_| self.counts())?;
        let cost = |resource: Resource| {
            let Line { fixed, per_byte, per_byte_high } = model.line(resource)?;
            Some(summary::SizeCost { resource, fixed, per_byte, per_byte_high })
        };
        Some(summary::Sizes {
            seeds: model.seeds,
            runs: model.runs,
            largest: model.largest,
            costs: Resource::ALL.into_iter().filter_map(cost).collect(),
        })
    }

    /// Snapshot of the campaign as of now.
    fn summary(&self, stopped_by: Option<StoppedBy>, search: &SearchState) -> Summary {
        let mut summary = Summary {
            stopped_by,
            findings: self.record.findings.clone(),
            groups: groups(&self.record.findings),
            costs: self.distributions(&self.record.distributions),
            ..self.figures(search)
        };
        if stopped_by.is_some() {
            self.add_others(&mut summary);
        }
        summary
    }

    /// Snapshot without findings and distributions, which the display does not show and which take time to copy.
    fn figures(&self, search: &SearchState) -> Summary {
        let record = &self.record;
        Summary {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command: self.setup.options.target.command.clone(),
            seed: self.setup.options.search.seed(),
            steer: self.setup.options.search.steer.unwrap_or(Resource::Instructions),
            repeatable: self.setup.options.is_repeatable(),
            campaign: record.campaign.clone(),
            started: summary::rfc3339(self.setup.started),
            seconds: self.elapsed().as_secs_f64(),
            stopped_by: None,
            executions: self.executions(),
            executions_per_second: self.executions_per_second(),
            clients: self.clients(),
            size_limit: search.size_limit.now() as u64,
            entries: record.kept(),
            foreign: record.foreign(),
            target: summary::Target {
                program: self.program(),
                engine: self.setup.target.engine(),
                instrumentation: self.setup.target.instrumentation,
                edges: self.counts().then_some(self.moment.edges),
                progress_slots: self.moment.progress_slots,
            },
            edges_found: search.history.edges_found() as u64,
            progress_found: search.history.progress_found() as u64,
            baseline: summary::Baseline {
                instructions: record.baseline.filter(|_| self.counts()).map(|b| b.cost[Resource::Instructions]),
                seconds: record.baseline_seconds,
                bytes: record.baseline.map(|b| b.bytes),
            },
            worst: self.worst(),
            relative_to: self.setup.options.confirm.relative_to,
            sizes: self.sizes(),
            degradations: record.count(FindingKind::Degradation),
            large: record.large_entries,
            large_inputs: self.large(),
            unconfirmed: self.unconfirmed(),
            faults: record.count(FindingKind::Fault),
            hangs: record.count(FindingKind::Hang),
            rules: record.rules.clone(),
            findings: Vec::new(),
            groups: Vec::new(),
            costs: Vec::new(),
            rare: rare(search),
            masks: masks(search),
            shadow: shadow(search),
            towards: towards(search),
            validity: validity(search),
            diversity: self.diversity,
            dictionary: self.dictionary(search),
            unseen: self.unseen(search),
            advice: self.advice(search),
            noise: record.noise,
            environment: self.setup.environment.clone(),
            live: self.live(search),
        }
    }

    fn live(&self, search: &SearchState) -> Live {
        let record = &self.record;
        let active = search.top_rated.active() as u64;
        let since_1970 = |moment: SystemTime| moment.duration_since(UNIX_EPOCH).unwrap_or_default();
        Live {
            target: Path::new(&self.program()).file_name().unwrap_or_default().to_string_lossy().into_owned(),
            phase: self.phases.current(),
            limit: record.earlier_sessions + self.setup.options.time,
            started: since_1970(self.setup.started - record.earlier_sessions),
            now: since_1970(SystemTime::now()),
            process: std::os::unix::process::parent_id(),
            hang_timeout: self.setup.options.target.hang_timeout,
            cycles: record.rounds / active.max(1),
            current: record.rounds % active.max(1),
            active,
            pending: [0, 0],
            found: record.entries.iter().filter(|entry| entry.parent.is_some() && !entry.is_foreign()).count() as u64,
            depth: record.entries.iter().map(|entry| u64::from(entry.depth)).max().unwrap_or(0) + 1,
            worst_ratio: record.worst.map_or(1.0, |worst| self.ratio_of(worst)),
            worst_ratio_by_size: self.worst_entry().and_then(|worst| self.ratio_by_size(&worst.cost, worst.bytes)),
            worst_time_ratio: record.worst_time.map(|(_, ratio)| ratio),
            spent_in: Finding::slowest(&record.findings).map(explanation::brief_places).unwrap_or_default(),
            last_found: self.last_found(),
            last_new: record.last_new,
            last_fault: record.last_fault,
            last_hang: record.last_hang,
        }
    }

    fn distributions(&self, of: &Distributions) -> Vec<Distribution> {
        let baseline = self.record.baseline.unwrap_or_default().cost;
        let one = |resource: Resource| {
            let known = of.of(resource);
            let [p50, p90, p99, p999] = known.percentiles;
            Distribution {
                resource,
                unit: resource.unit().name().to_owned(),
                baseline: baseline[resource],
                count: known.count,
                min: known.min,
                mean: known.mean,
                p50,
                p90,
                p99,
                p999,
                max: known.max,
                histogram: known.bins,
            }
        };
        let (by, chosen) = (self.setup.target.instrumentation, &self.setup.options.confirm.cost);
        let is_measured = |resource: &Resource| match by.counts() {
            true => resource.is_always_measured() || chosen.contains(resource),
            false => by.measures(*resource),
        };
        Resource::ALL.into_iter().filter(is_measured).map(one).collect()
    }

    /// Writes all files for the last time and prints the final report.
    pub fn finish(&mut self, moment: Moment, stopped_by: StoppedBy, search: &SearchState) -> Result<()> {
        self.moment = moment;
        self.tell_notices()?;
        self.tell_unseen(search)?;
        self.tell_others(search);
        self.record.next_sync = Duration::ZERO;
        self.write_progress(Some(stopped_by), search)?;
        self.write_dictionary(search)?;
        if self.record.early_ends > 0 {
            let runs = counted(self.record.early_ends, "run");
            self.log(&format!("ended early, and survived: {runs}"))?;
        }
        // the keys have no effect any more
        let view = View { keys: false, ..self.view() };
        self.screen.show_now(&self.figures(search), view);
        let report = final_report(&self.summary(Some(stopped_by), search), self.setup.options.output());
        self.screen.finish(&report);
        Ok(())
    }

    /// Figures of this client so far.
    fn own_figures(&self, search: &SearchState) -> Figures {
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
    fn shown(&self) -> Vec<Figures> {
        let ClientPlace { number, statistics, .. } = self.setup.place;
        if number == 0 { statistics.figures().collect() } else { statistics.figures().skip(number).take(1).collect() }
    }

    /// Executions by all clients, all sessions together.
    pub(super) fn executions(&self) -> u64 {
        self.shown().iter().map(|client| client.executions).sum()
    }

    fn rate_of(&self, figures: &Figures) -> f64 {
        figures.executions.saturating_sub(figures.before) as f64 / self.session().as_secs_f64().max(1e-3)
    }

    pub(super) fn executions_per_second(&self) -> f64 {
        self.shown().iter().map(|client| self.rate_of(client)).sum()
    }

    /// Figures of each client for the summary; empty if there is only one.
    fn clients(&self) -> Vec<summary::Client> {
        let figures = self.shown();
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
    fn add_others(&self, summary: &mut Summary) {
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
    fn leave_costs(&self) -> Result<()> {
        if self.setup.place.number == 0 {
            return Ok(());
        }
        let bytes = KIND.seal(&self.record.distributions).unwrap_or_default();
        write_whole(&self.folder().path().join(COSTS), &bytes)
    }
}

fn rare(search: &SearchState) -> summary::Rare {
    let Rarity { cutoff, branches, paused } = search.rare.latest();
    summary::Rare { branches, cutoff, paused, bootstraps: search.rare.bootstraps }
}

fn validity(search: &SearchState) -> summary::Validity {
    summary::Validity {
        valid: search.diversity.valid(),
        invalid: search.diversity.invalid(),
        valid_edges: search.history.valid_edges_found() as u64,
    }
}

fn diversity(search: &SearchState, trace: TraceKind) -> Option<summary::Diversity> {
    let TraceCounts { all, valid, is_full } = search.diversity.traces()?;
    let Hill { b0, b1, b2 } = search.diversity.hill();
    Some(summary::Diversity { trace, unique_traces: all, unique_valid_traces: valid, b0, b1, b2, is_full })
}

fn masks(search: &SearchState) -> summary::Masks {
    let MaskFigures { computed, bytes, probes, trims, mutants, hits, kept } = search.masks;
    summary::Masks { computed, bytes, executions: probes, trimming: trims, mutants, hits, kept }
}

fn towards(search: &SearchState) -> Vec<summary::TowardsPlace> {
    let place = |(place, hits): (&TargetPlace, u64)| summary::TowardsPlace {
        place: place.name.clone(),
        edges: place.branches,
        hits,
        first_hit: place.first_hit,
        first_instructions: place.cost.map(|cost| cost.first),
        most_instructions: place.cost.map(|cost| cost.most),
        doubled: place.cost.and_then(|cost| cost.doubled),
    };
    search.towards.places(&search.rare.hits).map(place).collect()
}

fn shadow(search: &SearchState) -> Vec<summary::Shadow> {
    let row = |(stage, row): (_, Row)| summary::Shadow {
        goal: GoalKind::Branch,
        target: GoalKind::Branch,
        stage,
        masked_mutants: row.masked.mutants,
        masked_hits: row.masked.hits,
        plain_mutants: row.plain.mutants,
        plain_hits: row.plain.hits,
    };
    search.shadow.rows().map(row).collect()
}
