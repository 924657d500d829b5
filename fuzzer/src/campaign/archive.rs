//! Where everything that a worker finds goes: the record in memory, the folder on disk, the screen.

mod progress;

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
};
use crate::{
    error::Result,
    keep::feedback::Kept,
    output::{
        EntryName, Logs, OutputFolder, PlotData, Screen,
        screen::{Style, terminal_width},
        summary::{Finding, FindingKind},
        write_whole,
    },
    stages::mutate::{Keeper, Moment},
    target::{
        abi,
        counts::CountsObserver,
        process,
        symbols::{Place, Symbols},
        tick::{self, TIME_UP},
    },
};

/// Inputs saved for one way of ending the process from outside: nothing tells one such input from another.
const LOST_SAVED: u32 = 5;

/// The time series get a point at once when the largest ratio rises by this factor.
const POINT_STEP: f64 = 1.02;

/// See the module's text.
pub struct Archive<'a> {
    setup: &'a Setup,
    kept: Rc<RefCell<Kept>>,
    /// What is remembered.
    pub record: Record,
    logs: Logs,
    plot: PlotData,
    screen: Screen<File>,
    terminal: bool,
    phase: &'static str,
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
        let width = terminal.try_clone().ok();
        let screen = Screen::new(terminal, style, move || width.as_ref().and_then(terminal_width))
            .with_lines(record.lines_on_screen);
        Ok(Self {
            setup,
            kept,
            record,
            logs: Logs::open(&setup.folder.logs())?,
            plot: PlotData::open(setup.folder.path())?,
            screen,
            terminal: is_terminal,
            phase: "seeds",
            moment: Moment { executions: 0, edges: 0 },
            execution_limit: u64::MAX,
            lost: &[],
        })
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
        Duration::from_nanos(tick::now_ns().saturating_sub(self.setup.start_ns))
    }

    /// The output folder.
    pub fn folder(&self) -> &OutputFolder {
        &self.setup.folder
    }

    /// What the campaign does now, for the screen.
    pub fn set_phase(&mut self, phase: &'static str) {
        self.phase = phase;
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

    /// Enters a seed that ran as the next entry.
    pub fn keep_seed(&mut self, path: &Path, bytes: &[u8], counts: &CountsObserver) -> Result<Vec<u32>> {
        let number = self.record.entries.len() as u32;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let file = EntryName::seed(number.into(), &name).to_string();
        let entry = Entry {
            file,
            bytes: bytes.len() as u64,
            instructions: counts.cost().instructions,
            parent: None,
            root: number,
            rules: Vec::new(),
            depth: 0,
        };
        self.enter(entry, bytes, counts)
    }

    /// Enters a mutant as the next entry. Returns the entries that do not matter any more.
    pub fn keep_mutant(
        &mut self,
        parent: u32,
        rules: &[u16],
        bytes: &[u8],
        counts: &CountsObserver,
    ) -> Result<Vec<u32>> {
        let number = self.record.entries.len() as u32;
        let instructions = counts.cost().instructions;
        let labels = rules.iter().map(|&rule| self.record.rules[rule as usize].label.clone());
        let name = EntryName::mutant(number.into(), parent.into(), self.record.ratio(instructions), labels);
        for rule in rules.iter().collect::<BTreeSet<_>>() {
            self.record.rules[*rule as usize].coverage_increases += 1;
        }
        let (root, depth) = (self.record.entries[parent as usize].root, self.record.entries[parent as usize].depth + 1);
        let entry = Entry {
            file: name.to_string(),
            bytes: bytes.len() as u64,
            instructions,
            parent: Some(parent),
            root,
            rules: rules.to_vec(),
            depth,
        };
        let novelty = self.kept.borrow().novelty;
        if novelty.edge || novelty.total {
            self.record.last_new = Some(self.elapsed());
        }
        if novelty.total && self.worst_ratio() * POINT_STEP < self.record.ratio(instructions) {
            self.logs.point(self.elapsed(), self.record.degradations, self.record.ratio(instructions))?;
        }
        let fallen = self.enter(entry, bytes, counts)?;
        self.propose(number, counts);
        Ok(fallen)
    }

    fn enter(&mut self, entry: Entry, bytes: &[u8], counts: &CountsObserver) -> Result<Vec<u32>> {
        let number = self.record.entries.len() as u32;
        write_whole(&self.folder().queue().join(&entry.file), bytes)?;
        self.record.entries.push(entry);
        Ok(self.kept.borrow_mut().enter(number, bytes, counts))
    }

    /// A kept input whose cost is clearly above what was confirmed for its hottest function waits for confirmation.
    fn propose(&mut self, number: u32, counts: &CountsObserver) {
        /// A finding for the same function has to cost this much more than the one before.
        const STEP: f64 = 1.25;
        let ratio = self.record.ratio(counts.cost().instructions);
        let Some((function, _)) = counts.hottest_function() else { return };
        let key = counts.program().functions()[function as usize].first_edge;
        let judged = self.record.judged.get(&key).copied().unwrap_or(0.0);
        let waiting = self
            .record
            .candidates
            .get(&key)
            .map_or(0.0, |&c| self.record.ratio(self.record.entries[c as usize].instructions));
        if ratio >= self.setup.options.threshold && ratio >= judged * STEP && ratio > waiting {
            self.record.candidates.insert(key, number);
        }
    }

    /// At the end the worst input is confirmed however little it is above the finding before.
    pub fn propose_worst(&mut self) {
        /// No function has this number.
        const WORST: u32 = u32::MAX;
        let Some(worst) = self.kept.borrow().champions.worst() else { return };
        let Some(entry) = self.record.entries.get(worst as usize) else { return };
        let ratio = self.record.ratio(entry.instructions);
        let known = self.record.judged.values().any(|&judged| judged >= ratio);
        if ratio >= self.setup.options.threshold && !known && !self.record.candidates.values().any(|&c| c == worst) {
            self.record.candidates.insert(WORST, worst);
        }
    }

    /// Saves the input of a run that ended early, if it ended in a new way.
    pub fn early_end(&mut self, bytes: &[u8], origin: Origin, counts: &CountsObserver) -> Result<()> {
        self.record.early_ends += 1;
        let mut symbols = Symbols::new();
        if !self.record.is_new_end(counts, &symbols) {
            return Ok(());
        }
        let status = counts.status();
        let event = counts.event();
        let (kind, what) = match status {
            abi::Status::Hung => (FindingKind::Hang, "hang".to_owned()),
            abi::Status::Memory => (FindingKind::Fault, "out of memory".to_owned()),
            abi::Status::Exited => (FindingKind::Fault, format!("exit code {}", event.exit_code)),
            _ if event.signal == 0 => (FindingKind::Fault, "sanitizer report".to_owned()),
            _ => (FindingKind::Fault, process::signal_name(event.signal as i32)),
        };
        let place = counts
            .hottest_function()
            .map(|(function, _)| symbols.place(counts.program().functions()[function as usize].pc(0)));
        let ratio = self.record.baseline.map(|baseline| baseline.icovr(counts.cost().instructions));
        self.save_early_end(kind, &what, bytes, origin, ratio, place)
    }

    /// Saves an input that ended its worker (SIGKILL, a raw system call, a run that no signal ends): nothing more is
    /// known of it.
    pub fn lost_run(&mut self, lost: &Lost) -> Result<()> {
        self.record.early_ends += 1;
        let saved = self.record.lost_saved.entry(lost.end.to_string()).or_default();
        *saved += 1;
        if *saved > LOST_SAVED {
            return Ok(());
        }
        let kind = if lost.stuck { FindingKind::Hang } else { FindingKind::Fault };
        self.save_early_end(kind, &format!("process ended: {}", lost.end), &lost.input, Origin::Unknown, None, None)
    }

    fn save_early_end(
        &mut self,
        kind: FindingKind,
        what: &str,
        bytes: &[u8],
        origin: Origin,
        ratio: Option<f64>,
        place: Option<Place>,
    ) -> Result<()> {
        let (folder, number) = match kind {
            FindingKind::Hang => (self.folder().hangs(), self.record.hangs),
            _ => (self.folder().faults(), self.record.faults),
        };
        let (parent, rules) = match &origin {
            Origin::Mutant { parent, rules } => (Some(*parent), rules.clone()),
            Origin::Seed | Origin::Unknown => (None, Vec::new()),
        };
        let labels: Vec<String> = rules.iter().map(|&rule| self.record.rules[rule as usize].label.clone()).collect();
        let mut name =
            EntryName { id: number, src: parent.map(u64::from), cost: ratio, rules: labels.clone(), orig: None };
        if let Origin::Seed = origin {
            name.orig = Some("seed".to_owned());
        }
        let path = folder.join(name.to_string());
        write_whole(&path, bytes)?;
        let elapsed = self.elapsed();
        match kind {
            FindingKind::Hang => {
                self.record.hangs += 1;
                self.record.last_hang = Some(elapsed);
            }
            _ => {
                self.record.faults += 1;
                self.record.last_fault = Some(elapsed);
            }
        }
        let mut history = parent.map(|parent| self.record.history(parent)).unwrap_or_default();
        history.extend(labels);
        let finding = Finding {
            kind,
            path: self.relative(&path),
            bytes: bytes.len() as u64,
            parent: parent.map(|parent| self.relative(&self.path_of(parent))),
            rules: history,
            instructions_ratio: ratio,
            time_ratio: None,
            time_ratio_low: None,
            time_ratio_high: None,
            hot_function: place.as_ref().map(|place| place.function.clone()),
            hot_location: place.and_then(|place| place.location),
            reproduce: self.reproduce(&path),
            root: None,
            seconds: elapsed.as_secs_f64(),
            executions: self.moment.executions,
            verdict: None,
            severity: None,
            p_value: None,
            costs: Vec::new(),
            growth: crate::replay::growth::Growth::default(),
        };
        self.logs.finding(elapsed, &finding)?;
        self.logs.message(&format!("{what}: {}", finding.path))?;
        self.record.findings.push(finding);
        Ok(())
    }

    /// Saves a confirmed degradation.
    pub fn degradation(&mut self, entry: u32, bytes: &[u8], confirmation: &super::confirm::Confirmation) -> Result<()> {
        let of = self.record.entries[entry as usize].clone();
        let path = self.folder().degradations().join(&of.file);
        write_whole(&path, bytes)?;
        self.record.degradations += 1;
        for rule in of.rules.iter().collect::<BTreeSet<_>>() {
            self.record.rules[*rule as usize].degradations += 1;
        }
        let time = confirmation.comparison.time_ratio;
        let elapsed = self.elapsed();
        let finding = Finding {
            kind: FindingKind::Degradation,
            path: self.relative(&path),
            bytes: of.bytes,
            parent: of.parent.map(|parent| self.relative(&self.path_of(parent))),
            rules: self.record.history(entry),
            instructions_ratio: Some(confirmation.comparison.instructions_ratio),
            time_ratio: Some(time.value),
            time_ratio_low: Some(time.low),
            time_ratio_high: Some(time.high),
            hot_function: confirmation.hot_function.clone(),
            hot_location: confirmation.hot_location.clone(),
            reproduce: self.reproduce(&path),
            root: None,
            seconds: elapsed.as_secs_f64(),
            executions: self.moment.executions,
            verdict: None,
            severity: None,
            p_value: None,
            costs: Vec::new(),
            growth: crate::replay::growth::Growth::default(),
        };
        self.logs.finding(self.elapsed(), &finding)?;
        self.record.findings.push(finding);
        Ok(())
    }

    fn relative(&self, path: &Path) -> String {
        path.strip_prefix(self.folder().path()).unwrap_or(path).display().to_string()
    }

    /// The command that shows a finding again, beside the seed.
    fn reproduce(&self, path: &Path) -> String {
        let quote = |path: &Path| {
            let text = path.display().to_string();
            let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,=:@%".contains(c);
            if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
        };
        let program = quote(Path::new(&self.program()));
        let shown = |path: &Path| quote(&self.setup.options.output.join(self.relative(path)));
        match self.record.entries.get(self.record.reference as usize) {
            Some(_) => format!("{program} replay {} {}", shown(&self.path_of(self.record.reference)), shown(path)),
            None => format!("{program} replay {}", shown(path)),
        }
    }

    fn program(&self) -> String {
        crate::engine::program()
    }
}

impl Keeper for Archive<'_> {
    fn begin_round(&mut self, entry: u32) -> f64 {
        self.record.rounds += 1;
        self.record.ratio(self.record.entries[entry as usize].instructions)
    }

    fn applied(&mut self, rules: &[u16]) {
        for &rule in rules {
            self.record.rules[rule as usize].applied += 1;
        }
    }

    fn keep_mutant(&mut self, parent: u32, rules: &[u16], bytes: &[u8], counts: &CountsObserver) -> Result<Vec<u32>> {
        Archive::keep_mutant(self, parent, rules, bytes, counts)
    }

    fn mutant_ended(&mut self, parent: u32, rules: &[u16], bytes: &[u8], counts: &CountsObserver) -> Result<()> {
        self.early_end(bytes, Origin::Mutant { parent, rules: rules.to_vec() }, counts)
    }

    fn tick(&mut self, moment: Moment) -> Result<()> {
        self.housekeeping(moment)
    }

    fn is_deadly(&self, bytes: &[u8]) -> bool {
        self.lost.iter().any(|lost| lost.input == bytes)
    }

    fn is_over(&self, executions: u64) -> bool {
        executions >= self.execution_limit || TIME_UP.load(Relaxed) || stop_requested()
    }
}

/// Where an input that ended its run early came from.
#[derive(Clone, Debug)]
pub enum Origin {
    /// The user.
    Seed,
    /// This campaign.
    Mutant {
        /// Entry that it was made from.
        parent: u32,
        /// Indices of the rules that made it.
        rules: Vec<u16>,
    },
    /// A worker that is gone.
    Unknown,
}
