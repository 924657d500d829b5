//! Recorder of a worker's finds: in memory, in the output folder, on the display.

pub(super) mod advice;
mod candidates;
mod credit;
mod figures;
mod journal;
pub(super) mod reconcile;

use std::{
    collections::BTreeSet,
    fs::File,
    io::Write as _,
    path::PathBuf,
    sync::atomic::Ordering::Relaxed,
    time::{Duration, Instant},
};

use super::{
    Setup,
    clients::ClientPlace,
    confirm::Confirmer,
    listener::Progress,
    record::Record,
    supervisor::{Lost, stop_requested},
    sync::Index,
};
use quagmire_base::{
    atomic::{unwritable, write_whole},
    error::Result,
    files,
    plain::{Form, printed},
    terminal::terminal_size,
};
use quagmire_cost::resource::{Cost, Resource};
use quagmire_execution::{
    abi,
    counts::CountsObserver,
    own_mutator::MutatorFailure,
    sampled::Sampler,
    timer::{self, TIME_UP},
};
use quagmire_results::{
    Logs, OutputFolder, Phases, PlotData, Screen,
    folder::TEMPLATES,
    journal::Journal,
    screen::{Style, View},
    summary::{self, FindingKind},
};
use quagmire_search::{
    EntryId,
    corpus::{history::Novelty, objective::Objective, search_state::SearchState},
    hooks::{CampaignHooks, Measured, Moment},
    origin::Origin,
    stages::gathering::Gathering,
    strategy::Yields,
};

/// Rise of the largest ratio, as a factor, at which the time series get a point at once.
const POINT_STEP: f64 = 1.02;

/// Time that a process of its own has for all but its runs.
const TO_START: Duration = Duration::from_secs(10);

/// Factor by which a measured time has to exceed the longest one so far to be worth an entry.
const SLOWER_STEP: f64 = 1.125;

/// Record of a campaign, with the files and the display that show it.
pub struct Recorder<'a> {
    setup: &'a Setup,
    objective: Objective,
    /// State that one worker leaves to the next.
    pub record: Record,
    logs: Logs,
    journal: Journal,
    phases: Phases,
    plot: PlotData,
    /// Index of the queue for the other clients; `None` if there are none.
    index: Option<Index>,
    screen: Screen<File>,
    errors: File,
    terminal: bool,
    /// Choices of the user for the display, when it was drawn last.
    view: View,
    moment: Moment,
    /// Diversity at the last write of the summary.
    diversity: Option<summary::Diversity>,
    execution_limit: u64,
    lost: &'a [Lost],
    /// Where sampled program counters are; `None` before the first sample.
    sampler: Option<Sampler>,
    /// Advice on the place that nothing passes, if one was found.
    wall: Option<String>,
    /// Tokens of dictionaries and of the code; those that the search learns come to them.
    pub tokens: Vec<Vec<u8>>,
}

impl<'a> Recorder<'a> {
    /// Creates a recorder that continues `record`, shows the campaign on `terminal`, and complains to `errors` where nothing
    /// is shown.
    pub fn new(setup: &'a Setup, record: Record, [terminal, errors]: [File; 2]) -> Result<Self> {
        use std::io::IsTerminal;
        let journal = Journal::open(setup.folder.path(), &record.campaign)?;
        let is_terminal = terminal.is_terminal();
        let style = Style {
            terminal: is_terminal,
            color: setup.options.display.color.enabled(is_terminal),
            quiet: setup.options.display.quiet,
        };
        let window = terminal.try_clone().ok();
        let mut screen = Screen::new(terminal, style, move || window.as_ref().and_then(terminal_size));
        screen.lines = record.lines_on_screen;
        let now = record.earlier_sessions + since(setup.start_ns);
        Ok(Self {
            setup,
            objective: setup.options.objective(),
            record,
            logs: Logs::open(&setup.folder.logs())?,
            journal,
            phases: Phases::open(&setup.folder.logs(), "seeds", now)?,
            plot: PlotData::open(setup.folder.path())?,
            index: None,
            screen,
            errors,
            terminal: is_terminal,
            view: View::default(),
            moment: Moment::default(),
            diversity: None,
            execution_limit: u64::MAX,
            lost: &[],
            sampler: None,
            wall: None,
            tokens: Vec::new(),
        })
    }

    /// Opens the index of the queue, through which other clients learn of entries; does nothing if there are none.
    /// With `anew`, writes it again from the record.
    pub fn open_index(&mut self, anew: bool) -> Result<()> {
        if self.setup.place.of > 1 {
            let output = self.folder().path();
            let kept = self.record.entries.iter().filter(|entry| !entry.is_lost);
            let files = kept.map(|entry| entry.file.as_str());
            self.index = Some(if anew { Index::replace(output, files)? } else { Index::open(output)? });
        }
        Ok(())
    }

    /// Sets the number of executions that ends the campaign, and the inputs that are known to end a worker.
    pub fn set_limits(&mut self, execution_limit: u64, lost: &'a [Lost]) {
        (self.execution_limit, self.lost) = (execution_limit, lost);
    }

    /// Time since the start of the campaign, with all sessions added up.
    pub fn elapsed(&self) -> Duration {
        self.record.earlier_sessions + self.session()
    }

    /// Length of this session so far.
    pub fn session(&self) -> Duration {
        since(self.setup.start_ns)
    }

    /// Output folder of this client.
    pub fn folder(&self) -> &OutputFolder {
        &self.setup.folder
    }

    /// Begins the first gathering phase, unless an earlier worker did.
    pub fn begin_gathering(&mut self) {
        let limits = &self.setup.options.search.gathering();
        self.record.gathering.get_or_insert_with(|| Gathering::new(limits));
    }

    /// Begins a phase of the campaign, such as `coverage`.
    pub fn begin_phase(&mut self, phase: &'static str) -> Result<()> {
        let now = self.elapsed();
        self.phases.begin(phase, now)
    }

    /// Sets the counts that only the worker knows, and passes them to the other clients.
    pub fn set_moment(&mut self, moment: Moment, search: &SearchState) {
        self.moment = moment;
        self.tell_others(search);
    }

    /// Shows a message above the display, where it stays, and writes it to the log.
    pub fn note(&mut self, message: &str) -> Result<()> {
        self.screen.note(message);
        self.record.lines_on_screen = self.screen.lines;
        self.logs.message(message)
    }

    /// Shows a warning, also if nothing else is shown, and writes it to the log.
    pub fn warn(&mut self, message: &str) -> Result<()> {
        if self.setup.options.display.quiet && self.setup.listener.is_none() {
            let ClientPlace { number, .. } = self.setup.place;
            let of = if number == 0 { String::new() } else { format!("{}: ", ClientPlace::name(number)) };
            // a failure to print is no reason to stop
            let _ = writeln!(self.errors, "quagmire: {of}{}", printed(message, Form::Lines));
        }
        self.note(message)
    }

    /// Writes a message only to the log.
    pub fn log(&mut self, message: &str) -> Result<()> {
        self.logs.message(message)
    }

    /// Figures for the listener.
    pub fn progress(&self, search: &SearchState) -> Progress {
        Progress {
            // the shared figures are of the last tick
            executions: self.executions().max(self.moment.executions),
            edges: search.history.edges_found() as u64,
            buckets: search.history.buckets_found(),
            entries: self.record.entries.len() as u64,
            bytes: self.record.entries.iter().map(|entry| entry.bytes).sum(),
            elapsed: self.elapsed(),
            slowest_ns: self.record.slowest_ns,
        }
    }

    /// Path of an entry's file in the queue.
    pub fn path_of(&self, entry: EntryId) -> PathBuf {
        self.folder().queue().join(&self.record.entry(entry).file)
    }

    /// Cost as a multiple of the median seed's: that of the resource with the largest ratio, among those that the
    /// search follows; 1 before there is a baseline.
    pub fn ratio(&self, cost: &Cost) -> f64 {
        self.record.baseline.map_or(1.0, |baseline| self.objective.ratio(cost, &baseline.cost))
    }

    /// [`Self::ratio`] of an entry.
    pub fn ratio_of(&self, entry: EntryId) -> f64 {
        self.ratio(&self.record.entry(entry).cost)
    }
}

fn since(start_ns: u64) -> Duration {
    Duration::from_nanos(timer::now_ns().saturating_sub(start_ns))
}

impl CampaignHooks for Recorder<'_> {
    fn begin_round(&mut self) {
        self.record.rounds += 1;
    }

    fn parent(&self, entry: EntryId) -> Option<EntryId> {
        self.record.entry(entry).parent
    }

    fn relative_cost(&self, entry: EntryId) -> f64 {
        self.cost_of_round(entry)
    }

    fn file(&self, entry: EntryId) -> Option<String> {
        Some(self.record.entry(entry).file.clone())
    }

    fn yields(&self) -> &Yields {
        &self.record.yields
    }

    fn executed(&mut self, origin: &Origin<'_>, moment: Moment, counts: &CountsObserver) {
        self.moment = moment;
        if !origin.is_counted() {
            return;
        }
        if let Origin::Mutant { operators, .. } = origin {
            operators.iter().for_each(|&operator| self.record.apply(operator.into()));
        }
        if matches!(counts.status(), abi::Status::Returned | abi::Status::Rejected) {
            self.record.alike.learn(counts);
        }
        if counts.status() == abi::Status::Returned {
            self.record.distributions.record(&counts.cost());
        }
        if let Some(gathering) = &mut self.record.gathering {
            gathering.count();
        }
    }

    fn enter(
        &mut self,
        origin: &Origin<'_>,
        bytes: &[u8],
        novelty: Novelty,
        counts: &CountsObserver,
        search: &SearchState,
    ) -> Result<f64> {
        let number = self.record.next_entry();
        let entry = self.entry_of(origin, bytes, counts);
        let (score, parent, ratio) = (entry.score, entry.parent, self.ratio(&entry.cost));
        match origin {
            Origin::Resumed(_) => self.note_unsynced(&entry.file), // it is written
            Origin::Seed(_) => self.write(&entry, bytes)?,
            Origin::Mutant { .. } | Origin::Import { .. } | Origin::Measured | Origin::Unknown => {
                if novelty.edge || novelty.total {
                    self.record.last_new = Some(self.elapsed());
                }
                if novelty.total && self.largest_ratio(search) * POINT_STEP < ratio {
                    self.logs.point(self.elapsed(), self.record.count(FindingKind::Degradation), ratio)?;
                }
                self.write(&entry, bytes)?;
                if let Some(listener) = &self.setup.listener {
                    listener.entered(bytes, self.progress(search))?;
                }
            }
        }
        if let Some(parent) = parent {
            self.credit_tokens(parent, &entry.rules, bytes, search);
        }
        self.record.entries.push(entry);
        self.challenge_worst(number);
        match origin {
            Origin::Seed(_) => return Ok(score),
            Origin::Mutant { operators, .. } => self.credit(operators),
            Origin::Import { .. } | Origin::Resumed(_) | Origin::Measured | Origin::Unknown => {}
        }
        if !self.propose(number) {
            self.note_large(number);
        }
        if !matches!(origin, Origin::Resumed(_))
            && let (Some(parent), Some(_)) = (parent, &self.record.gathering)
            && counts.status() == abi::Status::Returned
        {
            let of_parent = self.ratio_of(parent);
            self.record.gathering.iter_mut().for_each(|gathering| gathering.offer(number, ratio, of_parent));
        }
        Ok(score)
    }

    fn note_template(&mut self, entry: EntryId, template: &str) -> Result<()> {
        let folder = self.folder().path().join(TEMPLATES);
        files::create_folder(&folder).map_err(|error| unwritable(&folder, &error))?;
        write_whole(&folder.join(&self.record.entry(entry).file), template.as_bytes())
    }

    fn ended_early(&mut self, origin: &Origin<'_>, bytes: &[u8], counts: &CountsObserver) -> Result<()> {
        match origin {
            // it is set aside and comes again, as one of unknown origin
            Origin::Resumed(_) => Ok(()),
            // it has returned before
            Origin::Measured => Ok(()),
            Origin::Seed(_) | Origin::Mutant { .. } | Origin::Import { .. } | Origin::Unknown => {
                self.early_end(bytes, origin, counts)
            }
        }
    }

    fn mutator_failed(&mut self, parent: EntryId, failure: MutatorFailure) -> Result<()> {
        self.own_mutator_failed(parent, failure)
    }

    fn is_gathered(&self) -> bool {
        self.record
            .gathering
            .as_ref()
            .is_some_and(|gathering| gathering.is_over(&self.setup.options.search.gathering()))
    }

    fn next_to_measure(&mut self) -> Result<Option<(EntryId, Cost)>> {
        let Some(gathering) = &mut self.record.gathering else { return Ok(None) };
        let next = gathering.pop();
        if next.is_none() {
            gathering.begin_anew();
        }
        self.begin_phase(if next.is_some() { "performance" } else { "coverage" })?;
        Ok(next.map(|entry| (entry, self.record.entry(entry).cost)))
    }

    fn is_slowest(&self, measured: &Measured) -> bool {
        measured.cost[Resource::Time] as f64 > self.record.slowest_ns as f64 * SLOWER_STEP
    }

    fn measured(&mut self, entry: EntryId, measured: &Measured) -> f64 {
        let measured = &self.with_least(entry, measured);
        let score = self.score(&measured.cost);
        let known = self.record.entry_mut(entry);
        (known.cost[Resource::Cycles], known.cost[Resource::Time], known.score) =
            (measured.cost[Resource::Cycles], measured.cost[Resource::Time], score);
        let rules: BTreeSet<u16> = known.rules.iter().copied().collect();
        self.record.varying += u64::from(measured.varies);
        self.record.slowest_ns = self.record.slowest_ns.max(measured.cost[Resource::Time]);
        if self.is_above_threshold(&measured.cost) {
            rules.into_iter().for_each(|rule| self.record.yields.credit(rule.into()));
            self.propose(entry);
        }
        score
    }

    fn tick(&mut self, moment: Moment, search: &SearchState) -> Result<()> {
        self.housekeeping(moment, search)
    }

    fn is_left_out(&self, bytes: &[u8]) -> bool {
        Lost::is_among(self.lost, bytes)
    }

    fn instructions_apart(&self, inputs: &[&[u8]]) -> Option<Vec<u64>> {
        let now = Instant::now();
        let runs = self.setup.options.target.hang_timeout.saturating_mul(inputs.len() as u32);
        let deadline = now.checked_add(runs.saturating_add(TO_START)).unwrap_or(now);
        let confirmer = Confirmer::new(self.setup, deadline);
        let report = confirmer.run_apart(inputs, &mut || Ok(())).ok()??;
        let returned = report.inputs.iter().filter(|input| input.status == "returned");
        let instructions: Vec<u64> = returned.map(|input| input.instructions).collect();
        (instructions.len() == inputs.len()).then_some(instructions)
    }

    fn is_over(&self, executions: u64) -> bool {
        executions >= self.execution_limit
            || TIME_UP.load(Relaxed)
            || stop_requested()
            || self.setup.place.is_stopped()
            || self.setup.place.statistics.is_ended_by_finding()
    }
}
