//! Where everything that a worker finds goes: the record in memory, the folder on disk, the screen.

mod candidates;
mod clients;
mod findings;
mod progress;

pub use findings::Origin;

use std::{
    cell::RefCell,
    collections::BTreeSet,
    fs::File,
    path::{Path, PathBuf},
    rc::Rc,
    sync::atomic::Ordering::Relaxed,
    time::Duration,
};

use super::{
    Setup,
    record::{Entry, Record},
    supervisor::{Lost, stop_requested},
    sync::Index,
};
use quagmire_base::{atomic::write_whole, error::Result, terminal::terminal_size};
use quagmire_cost::resource::{Cost, Resource};
use quagmire_execution::{
    abi,
    counts::CountsObserver,
    timer::{self, TIME_UP},
};
use quagmire_results::{
    EntryName, Logs, OutputFolder, Phases, PlotData, Screen,
    screen::{Style, View},
};
use quagmire_search::{
    keep::feedback::Kept,
    stages::{
        gathering::Gathering,
        keeper::{Keeper, Measured, Moment},
        strategy::Yields,
    },
};

/// The time series get a point at once when the largest ratio rises by this factor.
const POINT_STEP: f64 = 1.02;

/// What was measured has to exceed the longest time so far by this factor to be worth an entry.
const SLOWER_STEP: f64 = 1.125;

/// See the module's text.
pub struct Archive<'a> {
    setup: &'a Setup,
    kept: Rc<RefCell<Kept>>,
    /// What is remembered.
    pub record: Record,
    logs: Logs,
    phases: Phases,
    plot: PlotData,
    /// Of the queue, for the other clients.
    index: Option<Index>,
    screen: Screen<File>,
    terminal: bool,
    /// What the screen shows.
    view: View,
    moment: Moment,
    execution_limit: u64,
    lost: &'a [Lost],
}

impl<'a> Archive<'a> {
    /// An archive that goes on from `record` and shows the campaign on `terminal`.
    pub fn new(setup: &'a Setup, kept: Rc<RefCell<Kept>>, record: Record, terminal: File) -> Result<Self> {
        use std::io::IsTerminal;
        let is_terminal = terminal.is_terminal();
        let style = Style {
            terminal: is_terminal,
            color: setup.options.color.enabled(is_terminal),
            quiet: setup.options.quiet,
        };
        let window = terminal.try_clone().ok();
        let screen = Screen::new(terminal, style, move || window.as_ref().and_then(terminal_size))
            .with_lines(record.lines_on_screen);
        let now = record.earlier_sessions + since(setup.start_ns);
        Ok(Self {
            setup,
            kept,
            record,
            logs: Logs::open(&setup.folder.logs())?,
            phases: Phases::open(&setup.folder.logs(), "seeds", now)?,
            plot: PlotData::open(setup.folder.path())?,
            index: None,
            screen,
            terminal: is_terminal,
            view: View::default(),
            moment: Moment::default(),
            execution_limit: u64::MAX,
            lost: &[],
        })
    }

    /// Begins to tell the other clients what is kept. `anew`: what is in the index is not what is in the record.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn open_index(&mut self, anew: bool) -> Result<()> {
        if self.setup.place.of > 1 {
            let output = self.folder().path();
            let files = self.record.entries.iter().map(|entry| entry.file.as_str());
            self.index = Some(if anew { Index::replace(output, files)? } else { Index::open(output)? });
        }
        Ok(())
    }

    /// Tells when the campaign is over and which inputs are not to be run.
    pub fn set_limits(&mut self, execution_limit: u64, lost: &'a [Lost]) {
        (self.execution_limit, self.lost) = (execution_limit, lost);
    }

    /// Time since the start of the campaign, earlier sessions included.
    pub fn elapsed(&self) -> Duration {
        self.record.earlier_sessions + self.session()
    }

    /// Length of this session so far.
    pub fn session(&self) -> Duration {
        since(self.setup.start_ns)
    }

    /// The output folder.
    pub fn folder(&self) -> &OutputFolder {
        &self.setup.folder
    }

    /// Begins to gather interesting inputs, if nothing was gathered before.
    pub fn begin_gathering(&mut self) {
        let limits = &self.setup.options.gathering;
        self.record.gathering.get_or_insert_with(|| Gathering::new(limits));
    }

    /// What the campaign does from now on.
    ///
    /// # Errors
    /// If the log of phases cannot be written.
    pub fn begin_phase(&mut self, phase: &'static str) -> Result<()> {
        let now = self.elapsed();
        self.phases.begin(phase, now)
    }

    /// Numbers of now that only the worker knows.
    pub fn set_moment(&mut self, moment: Moment) {
        self.moment = moment;
        self.tell_others();
    }

    /// Says something that should not scroll away with the status.
    pub fn note(&mut self, message: &str) -> Result<()> {
        self.screen.note(message);
        self.record.lines_on_screen = self.screen.lines();
        self.logs.message(message)
    }

    /// Says something only in the log.
    pub fn log(&mut self, message: &str) -> Result<()> {
        self.logs.message(message)
    }

    /// Path of an entry's file.
    pub fn path_of(&self, entry: u32) -> PathBuf {
        self.folder().queue().join(&self.record.entries[entry as usize].file)
    }

    /// Cost as a multiple of the median seed's, of that among the chosen costs in which it is largest; 1 before there is a
    /// baseline.
    pub fn ratio(&self, cost: &Cost) -> f64 {
        self.record.baseline.map_or(1.0, |baseline| self.kept.borrow().steering.ratio(cost, &baseline.cost))
    }

    /// As [`Self::ratio`], of an entry.
    pub fn ratio_of(&self, entry: u32) -> f64 {
        self.ratio(&self.record.entries[entry as usize].cost)
    }

    /// Enters a seed that ran as the next entry.
    pub fn keep_seed(&mut self, path: &Path, bytes: &[u8], counts: &CountsObserver) -> Result<Vec<u32>> {
        let number = self.record.entries.len() as u32;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let file = EntryName::seed(number.into(), &name).to_string();
        self.enter(Entry { file, root: number, ..Entry::default() }, bytes, counts)
    }

    /// The baseline is known: the seeds get their scores.
    pub fn rescore_seeds(&mut self) {
        for entry in 0..self.record.entries.len() as u32 {
            let score = self.score(&self.record.entries[entry as usize].cost);
            self.record.entries[entry as usize].score = score;
            self.kept.borrow_mut().champions.rescore(entry, score);
        }
    }

    /// Perun's score of an input that was measured: its cost ratio, times one plus the share of degraded resources.
    fn score(&self, cost: &Cost) -> f64 {
        let threshold = self.setup.options.threshold;
        let degraded = self.record.baseline.map_or(0.0, |baseline| baseline.degraded_share(cost, threshold));
        self.ratio(cost) * (1.0 + degraded)
    }

    fn enter(&mut self, mut entry: Entry, bytes: &[u8], counts: &CountsObserver) -> Result<Vec<u32>> {
        self.describe(&mut entry, bytes, counts);
        write_whole(&self.folder().queue().join(&entry.file), bytes)?;
        self.logs.entry(entry.found, entry.executions, &entry.file, &entry.cost)?;
        if let Some(index) = &mut self.index {
            index.add(&entry.file)?;
        }
        Ok(self.remember(entry, bytes, counts))
    }

    fn describe(&self, entry: &mut Entry, bytes: &[u8], counts: &CountsObserver) {
        entry.bytes = bytes.len() as u64;
        entry.cost = counts.cost();
        // what is not known yet: the share of degraded resources
        entry.score = self.ratio(&entry.cost);
        entry.hottest =
            counts.hottest_function().map(|(function, _)| counts.program().functions()[function as usize].first_edge);
        (entry.found, entry.executions) = (self.elapsed(), self.moment.executions);
    }

    fn remember(&mut self, entry: Entry, bytes: &[u8], counts: &CountsObserver) -> Vec<u32> {
        let (number, score) = (self.record.entries.len() as u32, entry.score);
        self.record.entries.push(entry);
        let fallen = self.kept.borrow_mut().enter(number, bytes, score, counts);
        self.challenge_worst(number);
        fallen
    }

    /// Enters what is in the queue already, as `file`, and has the next number. Returns the entries that do not matter any
    /// more.
    pub fn keep_again(&mut self, file: &str, bytes: &[u8], counts: &CountsObserver) -> Vec<u32> {
        let number = self.record.entries.len() as u32;
        let name: EntryName = file.parse().unwrap_or_default();
        let (parent, rules) = self.origin_in(&name);
        let of_parent = parent.map(|parent| &self.record.entries[parent as usize]);
        let (root, depth) = of_parent.map_or((number, 0), |parent| (parent.root, parent.depth + 1));
        let mut entry = Entry { file: file.to_owned(), parent, root, rules, depth, ..Entry::default() };
        self.describe(&mut entry, bytes, counts);
        self.record.foreign += u64::from(name.sync.is_some());
        let fallen = self.remember(entry, bytes, counts);
        self.propose(number);
        fallen
    }

    /// What a name says: the entry that it was made from, and by which rules.
    fn origin_in(&self, name: &EntryName) -> (Option<u32>, Vec<u16>) {
        let parent = name.src.filter(|&parent| parent < self.record.entries.len() as u64).map(|parent| parent as u32);
        (parent, self.record.labelled(&name.rules))
    }
}

fn since(start_ns: u64) -> Duration {
    Duration::from_nanos(timer::now_ns().saturating_sub(start_ns))
}

impl Archive<'_> {
    /// Enters what `rules` made from the entry `parent`, here or in the campaign `sync`.
    fn keep(
        &mut self,
        sync: Option<&str>,
        parent: u32,
        rules: &[u16],
        bytes: &[u8],
        counts: &CountsObserver,
    ) -> Result<Vec<u32>> {
        let number = self.record.entries.len() as u32;
        let ratio = self.ratio(&counts.cost());
        let labels = rules.iter().map(|&rule| self.record.rules[usize::from(rule)].label.clone());
        let name = EntryName {
            sync: sync.map(str::to_owned),
            by_size: self.ratio_by_size(&counts.cost(), bytes.len() as u64),
            ..EntryName::mutant(number.into(), parent.into(), ratio, labels)
        };
        let of_parent = &self.record.entries[parent as usize];
        let entry = Entry {
            file: name.to_string(),
            parent: Some(parent),
            root: of_parent.root,
            rules: rules.to_vec(),
            depth: of_parent.depth + 1,
            ..Entry::default()
        };
        let novelty = self.kept.borrow().novelty;
        if novelty.edge || novelty.total {
            self.record.last_new = Some(self.elapsed());
        }
        if novelty.total && self.largest_ratio() * POINT_STEP < ratio {
            self.logs.point(self.elapsed(), self.record.degradations, ratio)?;
        }
        let fallen = self.enter(entry, bytes, counts)?;
        self.propose(number);
        let of_parent = self.ratio_of(parent);
        if let Some(gathering) = &mut self.record.gathering {
            gathering.offer(number, ratio, of_parent);
        }
        Ok(fallen)
    }

    /// Keeps what the campaign `sync` has found. `origin`: the nearest ancestor that is here, and the rules that lead from it
    /// to the input. Returns the number of the entry, and those that do not matter any more.
    pub fn keep_foreign(
        &mut self,
        sync: &str,
        origin: (u32, &[u16]),
        bytes: &[u8],
        counts: &CountsObserver,
    ) -> Result<(u32, Vec<u32>)> {
        let number = self.record.entries.len() as u32;
        self.record.foreign += 1;
        let fallen = self.keep(Some(sync), origin.0, origin.1, bytes, counts)?;
        self.kept.borrow_mut().leave_to_others(number, counts);
        Ok((number, fallen))
    }
}

impl Keeper for Archive<'_> {
    fn begin_round(&mut self) {
        self.record.rounds += 1;
    }

    fn parent(&self, entry: u32) -> Option<u32> {
        self.record.entries[entry as usize].parent
    }

    fn relative_cost(&self, entry: u32) -> f64 {
        self.record.baseline.map_or(1.0, |baseline| baseline.icovr(&self.record.entries[entry as usize].cost))
    }

    fn yields(&self) -> &Yields {
        &self.record.yields
    }

    fn executed(&mut self, operators: &[u16], counts: &CountsObserver) {
        self.moment.executions += 1;
        for &operator in operators {
            self.record.rules[usize::from(operator)].applied += 1;
        }
        if counts.status() == abi::Status::Returned {
            self.record.distributions.record(&counts.cost());
        }
        if let Some(gathering) = &mut self.record.gathering {
            gathering.count();
        }
    }

    fn keep_mutant(&mut self, parent: u32, rules: &[u16], bytes: &[u8], counts: &CountsObserver) -> Result<Vec<u32>> {
        for &rule in rules.iter().collect::<BTreeSet<_>>() {
            self.record.rules[usize::from(rule)].coverage_increases += 1;
            self.record.yields.credit(rule.into());
        }
        {
            let kept = &mut *self.kept.borrow_mut();
            kept.effort.found(kept.novelty);
        }
        self.keep(None, parent, rules, bytes, counts)
    }

    fn mutant_ended(&mut self, parent: u32, rules: &[u16], bytes: &[u8], counts: &CountsObserver) -> Result<()> {
        self.early_end(bytes, Origin::Mutant { parent, rules: rules.to_vec() }, counts)
    }

    fn is_gathered(&self) -> bool {
        self.record.gathering.as_ref().is_some_and(|gathering| gathering.is_over(&self.setup.options.gathering))
    }

    fn next_to_measure(&mut self) -> Result<Option<(u32, Cost)>> {
        let Some(gathering) = &mut self.record.gathering else { return Ok(None) };
        let next = gathering.pop();
        if next.is_none() {
            gathering.begin_anew();
        }
        self.begin_phase(if next.is_some() { "performance" } else { "coverage" })?;
        Ok(next.map(|entry| (entry, self.record.entries[entry as usize].cost)))
    }

    fn is_slowest(&self, measured: &Measured) -> bool {
        measured.cost[Resource::Time] as f64 > self.record.slowest_ns as f64 * SLOWER_STEP
    }

    fn measured(&mut self, entry: u32, measured: &Measured) {
        let score = self.score(&measured.cost);
        let known = &mut self.record.entries[entry as usize];
        (known.cost[Resource::Cycles], known.cost[Resource::Time], known.score) =
            (measured.cost[Resource::Cycles], measured.cost[Resource::Time], score);
        let rules: BTreeSet<u16> = known.rules.iter().copied().collect();
        self.kept.borrow_mut().champions.rescore(entry, score);
        self.record.varying += u64::from(measured.varies);
        self.record.slowest_ns = self.record.slowest_ns.max(measured.cost[Resource::Time]);
        if self.is_above_threshold(&measured.cost) {
            rules.into_iter().for_each(|rule| self.record.yields.credit(rule.into()));
            self.propose(entry);
        }
    }

    fn tick(&mut self, moment: Moment) -> Result<()> {
        self.housekeeping(moment)
    }

    fn is_deadly(&self, bytes: &[u8]) -> bool {
        self.lost.iter().any(|lost| lost.input == bytes)
    }

    fn is_over(&self, executions: u64) -> bool {
        executions >= self.execution_limit || TIME_UP.load(Relaxed) || stop_requested() || self.setup.place.is_stopped()
    }
}
