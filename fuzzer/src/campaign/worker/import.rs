//! Inputs that are entered before mutation begins: seeds, and files that earlier sessions and workers left.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    path::Path,
    sync::atomic::Ordering::Relaxed,
    time::{Duration, Instant},
};

use libafl::{
    corpus::{Corpus, CorpusId},
    inputs::BytesInput,
    state::{HasCorpus, HasExecutions},
};
use libafl_bolts::hash_std;

use super::{Worker, internal};
use crate::campaign::{
    Setup,
    record::Record,
    recorder::{advice::RUNS_ALIKE, reconcile::imports},
    supervisor::{Lost, Outcome, stop_requested},
};
use quagmire_base::{
    error::{Error, Result},
    files,
    seeds::Seed,
};
use quagmire_cost::{
    baseline::Baseline,
    resource::{Cost, Resource},
};
use quagmire_execution::{
    abi::Status,
    lines::place_of,
    notices::{self, Notice},
    process::signal_name,
    symbols::{CodeLocation, Symbols},
    timer::{TIME_UP, WORN_OUT},
};
use quagmire_results::names::{files_in, written_since};
use quagmire_search::{
    EntryId,
    corpus::history::Novelty,
    evaluate::{Evaluation, commit},
    hooks::CampaignHooks as _,
    origin::Origin,
    state::CampaignState,
};

/// Input that is no seed and not derived from one, for testing whether the program uses its input.
const SOME_TEXT: &[u8] = b"<a b='0'>{[1, 2]}</a>\n\0\xff";

/// Moves files that are no entry's out of the queue, to be run again: new entries need their names.
pub(super) fn set_imports_aside(setup: &Setup, record: &Record) -> Result<()> {
    let queue = setup.folder.queue();
    let aside = imports(setup);
    let failed = |path: &Path, error: std::io::Error| quagmire_base::atomic::unwritable(path, &error);
    for file in files_in(&queue) {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if record.entry_of_file(&name).is_some() {
            continue;
        }
        files::create_folder(&aside).map_err(|error| failed(&aside, error))?;
        std::fs::rename(&file, aside.join(name)).map_err(|error| failed(&file, error))?;
    }
    Ok(())
}

impl Worker<'_> {
    /// Enters files of a worker that died or of an earlier session, which the checkpoint does not know. Returns an
    /// outcome if this process cannot continue.
    pub(super) fn take_up(&mut self) -> Result<Option<Outcome>> {
        let mut goes_on = true;
        if self.more_is_written {
            // in case this worker dies before the next one is due
            self.checkpoint(false)?;
            if self.state.hooks.record.baseline.is_some() {
                goes_on = self.enter_again()?;
            }
            self.reconcile()?;
        }
        self.record_lost_runs()?;
        if self.more_is_written {
            self.checkpoint(false)?;
        }
        Ok((!goes_on).then_some(Outcome::Again))
    }

    /// Makes the files of the output folder, and the state, agree. Entries whose inputs are lost are no parents any more.
    pub(super) fn reconcile(&mut self) -> Result<()> {
        let moment = self.moment();
        let CampaignState { libafl, search, hooks, .. } = &mut self.state;
        hooks.set_moment(moment, search);
        hooks.reconcile(libafl.corpus())?;
        let is_lost = |id: &CorpusId| hooks.record.entry((*id).into()).is_lost;
        for lost in libafl.corpus().ids().filter(is_lost).collect::<Vec<_>>() {
            libafl.corpus_mut().remove(lost).map_err(|error| internal(&error))?;
            search.top_rated.forget(lost.into());
        }
        Ok(())
    }

    /// Records inputs that ended an earlier worker, each once.
    fn record_lost_runs(&mut self) -> Result<()> {
        let recorder = &mut self.state.hooks;
        for lost in self.restart.lost {
            if recorder.record.lost.insert(lost.hash) {
                recorder.lost_run(lost)?;
            }
        }
        Ok(())
    }

    pub(super) fn is_lost(&self, bytes: &[u8]) -> bool {
        Lost::is_among(self.restart.lost, bytes)
    }

    /// Runs the first entry once without counting it: the first run in a process does work that no other does
    /// (statics, caches).
    ///
    /// Not done if runs might leave threads that would count in later ones.
    pub(super) fn warm_up(&mut self) {
        if self.state.hooks.record.told & Notice::Threads as u32 != 0 {
            return;
        }
        let input = self.state.corpus().first().and_then(|id| self.state.corpus().cloned_input_for_id(id).ok());
        if let Some(input) = input {
            self.executor.execute(input.as_ref());
        }
    }

    /// Whether an earlier session ended before it had run all seeds: it has run nothing else, then.
    pub(super) fn has_seeds_left(&self) -> bool {
        let record = &self.state.hooks.record;
        record.seeds_done < self.setup.seeds.inputs.len() && record.entries.iter().all(|entry| entry.parent.is_none())
    }

    /// Runs the seeds. Returns an outcome if the campaign cannot continue in this process.
    pub(super) fn seeds(&mut self) -> Result<Option<Outcome>> {
        let setup = self.setup;
        let mut warm = !self.state.hooks.record.entries.is_empty();
        let is_watched = self.executor.watch_input();
        let mut is_given = false;
        loop {
            let at = self.state.hooks.record.seeds_done;
            let Some(seed) = setup.seeds.inputs.get(at) else {
                if is_watched && is_given && !self.executor.has_read_input() {
                    return Err(self.not_read());
                }
                return self.note_seed_ends().map(|()| None);
            };
            self.state.hooks.record.seeds_done += 1;
            if let Some(lost) = self.restart.lost.iter().find(|lost| lost.hash == hash_std(&seed.bytes)) {
                let how = format!(
                    "ends the process ({}): set aside under {}/",
                    lost.end,
                    if lost.stuck { "hangs" } else { "faults" }
                );
                self.seed_ends(seed, how);
                continue;
            }
            is_given |= !seed.bytes.is_empty();
            let input = BytesInput::new(seed.bytes.clone());
            // the first run of a process is not counted, unless no other can follow it
            let cold = !std::mem::replace(&mut warm, true);
            let origin = Origin::Seed(&seed.path);
            let is_last = cold && (ended_early(self.executor.execute(&seed.bytes)) || WORN_OUT.load(Relaxed));
            let Evaluation { status, .. } =
                if is_last { self.commit_last(&origin, &input)? } else { self.evaluate(&origin, &input)? };
            match status {
                Status::Returned => self.note_exit_code(&seed.path)?,
                Status::Rejected => self.seed_ends(seed, "is rejected (-1): not used".to_owned()),
                _ => {
                    let how = self.how_it_ended(status);
                    self.seed_ends(seed, how);
                    if !self.setup.target.is_isolated() {
                        return self.again();
                    }
                }
            }
            self.keep_house()?;
            if stop_requested() || TIME_UP.load(Relaxed) || setup.place.statistics.is_ended_by_finding() {
                return Ok(None);
            }
            if WORN_OUT.load(Relaxed) {
                return self.again();
            }
        }
    }

    /// Words for the early end of the last run, after "it".
    fn how_it_ended(&self, status: Status) -> String {
        let counts = self.executor.counts();
        let event = counts.event();
        let mut symbols = Symbols::new();
        let hottest = || {
            let (function, _) = counts.hottest_function()?;
            Some(place_of(&counts.program().functions()[function as usize], &mut Symbols::new()))
        };
        // abort() ends in the C library
        let place = if status == Status::Crashed && event.pc != 0 && event.signal != i64::from(libc::SIGABRT) {
            Some(symbols.place(usize::try_from(event.pc).unwrap_or_default()))
        } else {
            hottest()
        };
        let place = place.map_or_else(String::new, |CodeLocation { function, location }| {
            format!(" in {function}{}", location.map_or_else(String::new, |location| format!(" at {location}")))
        });
        match status {
            Status::Hung => format!("runs into the hang timeout{place}: set aside under hangs/"),
            Status::Memory => format!("exceeds the memory limit{place}: set aside under faults/"),
            Status::Exited => format!("makes the target exit with code {}: set aside under faults/", event.exit_code),
            _ if event.signal == 0 => format!("crashes the target (sanitizer report{place}): set aside under faults/"),
            _ => {
                let signal = signal_name(i32::try_from(event.signal).unwrap_or_default());
                format!("crashes the target ({signal}{place}): set aside under faults/")
            }
        }
    }

    /// Remembers a seed that cannot be used, and logs it.
    fn seed_ends(&mut self, seed: &Seed, how: String) {
        let recorder = &mut self.state.hooks;
        let shown = seed.path.display().to_string();
        // the log has them all; a full disk shows elsewhere
        let _ = recorder.log(&format!("the seed {shown} {how}"));
        let target = &self.setup.target;
        let file = recorder.record.findings.last().map(|finding| self.setup.options.output().join(&finding.path));
        let path = if seed.path.exists() { seed.path.clone() } else { file.unwrap_or_default() };
        recorder.record.seed_ends.add(how, shown, || target.replay_command(&[], &[&path]));
    }

    /// Says once of all seeds that cannot be used how they end; nothing if none can, which is an error.
    fn note_seed_ends(&mut self) -> Result<()> {
        let recorder = &mut self.state.hooks;
        let words = recorder.record.seed_ends.in_words().filter(|_| !recorder.record.entries.is_empty());
        words.map_or(Ok(()), |words| recorder.note(&words))
    }

    /// Error of a program that reads nothing of its standard input.
    fn not_read(&self) -> Error {
        Error::target(format!(
            "{} reads nothing of its standard input: if it takes a file, `@@` among its arguments stands for that, as in -- {} @@",
            self.setup.target.name(),
            self.setup.target.command.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
        ))
    }

    /// Warns, once in a campaign, if a program that is run as it is exits with an error: the command may be wrong.
    fn note_exit_code(&mut self, seed: &Path) -> Result<()> {
        let code = self.executor.counts().event().exit_code;
        let recorder = &mut self.state.hooks;
        let is_counted = self.setup.target.instrumentation.counts();
        if is_counted || code == 0 || !recorder.record.said.insert("exit code of a seed".to_owned()) {
            return Ok(());
        }
        recorder.note(&format!(
            "the program ends with exit code {code} for the seed {}: if that is not as it should be, run the command by hand \
             (it gets no terminal here), or see what it prints with --debug-target",
            seed.display()
        ))
    }

    /// Commits the last run, which was not counted as an execution of the campaign.
    fn commit_last(&mut self, origin: &Origin<'_>, input: &BytesInput) -> Result<Evaluation> {
        let moment = self.moment();
        self.state.hooks.set_moment(moment, &self.state.search);
        let counts = self.executor.counts_mut();
        commit(&mut self.state, counts, origin, input, Novelty::default(), true)
            .map_err(|error| self.state.reason(&error))
    }

    pub(super) fn set_baseline(&mut self) -> Result<()> {
        let (baseline, reference) = {
            let recorder = &self.state.hooks;
            let seeds = recorder.record.entries.iter().filter(|entry| entry.parent.is_none());
            let costs: Vec<(Cost, u64)> = seeds.map(|entry| (entry.cost, entry.bytes)).collect();
            let Some(baseline) = Baseline::of_seeds(&costs) else {
                if self.setup.target.generator.is_some() && notices::noticed() & Notice::GeneratorFails as u32 != 0 {
                    return Err(Error::target(format!(
                        "no seed can be used: {}; give seeds that it can draw from, or repair it",
                        Notice::GeneratorFails.in_words()
                    )));
                }
                let none = match self.setup.seeds.inputs.len() {
                    1 => "the seed cannot be used".to_owned(),
                    all => format!("none of the {all} seeds can be used"),
                };
                let ends = self.state.hooks.record.seed_ends.in_words().unwrap_or_default();
                return Err(Error::target(format!(
                    "{none}: {ends} (faults/ and hangs/ are in {}); give at least one that the target takes",
                    self.setup.options.output().display()
                )));
            };
            let ranked =
                if self.setup.target.instrumentation.counts() { Resource::Instructions } else { Resource::Time };
            let reference =
                costs.iter().position(|cost| cost.0[ranked].max(1) == baseline.cost[ranked].max(1)).unwrap_or(0);
            (baseline, EntryId::at(reference))
        };
        let recorder = &mut self.state.hooks;
        recorder.record.baseline = Some(baseline);
        recorder.record.reference = reference;
        self.time_reference(reference)?;
        self.measure_steered_noise()?;
        self.state.hooks.rescore_seeds(&mut self.state.search);
        self.checkpoint(true)
    }

    /// Warns if the program does the same whatever its input: it may need arguments.
    pub(super) fn look_at_use_of_input(&mut self) -> Result<()> {
        let (seed, others) = {
            let recorder = &self.state.hooks;
            let mut seeds = recorder.record.entries.iter().map(|entry| entry.cost[Resource::Instructions]);
            (seeds.next(), seeds.collect::<Vec<u64>>())
        };
        let is_told = self.setup.target.is_isolated() && self.setup.target.instrumentation.counts();
        let Some(first) = self.setup.seeds.inputs.first().filter(|_| is_told) else {
            return Ok(());
        };
        let half = first.bytes[..first.bytes.len() / 2].to_vec();
        let flipped = first.bytes.iter().map(|byte| !byte).collect();
        let is_same = |instructions| Some(instructions) == seed;
        for other in [half, flipped, SOME_TEXT.to_vec()] {
            let ended = ended_early(self.executor.execute(&other));
            if ended || !is_same(self.executor.counts().cost()[Resource::Instructions]) {
                return Ok(());
            }
        }
        if !others.into_iter().all(is_same) {
            return Ok(());
        }
        let remedy = if self.setup.target.reads_file() {
            "does it take other arguments?"
        } else {
            "does it read standard input? `@@` in its arguments stands for a file with the input"
        };
        self.state.hooks.record.said.insert(RUNS_ALIKE.to_owned());
        self.state.hooks.note(&format!("the program does the same whatever its input is: {remedy}"))
    }

    /// Measures the time of the reference seed with warm caches, by some more runs if they are short.
    fn time_reference(&mut self, reference: EntryId) -> Result<()> {
        const RUNS: usize = 5;
        const ENOUGH: Duration = Duration::from_millis(200);
        let started = Instant::now();
        let path = self.state.hooks.path_of(reference);
        let bytes = files::read(&path, files::LARGEST_INPUT)
            .map_err(|error| Error::other(format!("cannot read {}: {error}", path.display())))?;
        let mut runs = vec![self.state.hooks.record.entry(reference).cost];
        while runs.len() < RUNS && started.elapsed() < ENOUGH && !TIME_UP.load(Relaxed) && !stop_requested() {
            if ended_early(self.executor.execute(&bytes)) {
                break;
            }
            runs.push(self.executor.counts().cost());
        }
        // the first run filled the caches
        let warm = if runs.len() > 1 { &runs[1..] } else { &runs };
        let median = |amount: fn(&Cost) -> u64| {
            let mut amounts: Vec<u64> = warm.iter().map(amount).collect();
            amounts.sort_unstable();
            amounts[amounts.len() / 2]
        };
        let (time_ns, cycles) = (median(|cost| cost[Resource::Time]), median(|cost| cost[Resource::Cycles]));
        let record = &mut self.state.hooks.record;
        if let Some(baseline) = &mut record.baseline {
            (baseline.cost[Resource::Time], baseline.cost[Resource::Cycles]) = (time_ns, cycles);
        }
        record.slowest_ns = record.entries.iter().map(|entry| entry.cost[Resource::Time]).max().unwrap_or(0);
        record.baseline_seconds = Some(time_ns as f64 * 1e-9);
        Ok(())
    }

    /// Enters files that were kept after the last checkpoint again, under the same numbers and names: other campaigns
    /// may have imported them. Returns false if this process cannot continue.
    fn enter_again(&mut self) -> Result<bool> {
        let queue = self.setup.folder.queue();
        let known = |worker: &Self| worker.state.hooks.record.entries.len();
        let files = written_since(&queue, known(self) as u64);
        let mut goes_on = true;
        while let Some(file) = files.get(&(known(self) as u64)) {
            let bytes = files::read(&queue.join(file), self.setup.max_size as u64).ok();
            let Some(bytes) = bytes.filter(|bytes| !self.is_lost(bytes)) else { break };
            let input = BytesInput::new(bytes);
            let Evaluation { status, .. } = self.evaluate(&Origin::Resumed(file), &input)?;
            if status != Status::Returned {
                goes_on = !ended_early(status) || self.setup.target.is_isolated();
                break;
            }
            self.keep_house()?;
        }
        // the number of the first file that does not behave as before is free
        set_imports_aside(self.setup, &self.state.hooks.record)?;
        self.state.hooks.open_index(true)?;
        Ok(goes_on)
    }

    /// Runs files that were set aside since they could not keep their numbers. Returns an outcome if this process
    /// cannot continue.
    pub(super) fn import(&mut self) -> Result<Option<Outcome>> {
        let folder = imports(self.setup);
        for file in files_in(&folder) {
            let bytes = files::read(&file, self.setup.max_size as u64).ok();
            if let Some(bytes) = bytes.filter(|bytes| !self.is_lost(bytes)) {
                let input = BytesInput::new(bytes);
                let Evaluation { status, .. } = self.evaluate(&Origin::Unknown, &input)?;
                if self.has_to_end(status) {
                    let _ = std::fs::remove_file(&file);
                    return self.again();
                }
            }
            let _ = std::fs::remove_file(&file);
            self.keep_house()?;
            if stop_requested() || TIME_UP.load(Relaxed) {
                break;
            }
        }
        let _ = std::fs::remove_dir(&folder);
        Ok(None)
    }
}

impl Worker<'_> {
    /// Runs inputs that the listener brings. Returns an outcome if this process cannot continue.
    pub(super) fn run_added(&mut self) -> Result<Option<Outcome>> {
        let first = self.setup.place.number == 0;
        let Some(listener) = self.setup.listener.clone().filter(|_| first) else { return Ok(None) };
        let added = listener.added();
        let is_any = !added.is_empty();
        for mut bytes in added {
            bytes.truncate(self.setup.max_size);
            if self.is_lost(&bytes) || self.state.hooks.is_over(*self.state.executions()) {
                continue;
            }
            let Evaluation { status, .. } = self.evaluate(&Origin::Unknown, &BytesInput::new(bytes))?;
            if self.has_to_end(status) {
                return self.again();
            }
        }
        if is_any {
            self.tell(|listener, progress| listener.reloaded(progress));
        }
        Ok(None)
    }
}

pub(super) fn ended_early(status: Status) -> bool {
    !matches!(status, Status::Returned | Status::Rejected)
}

/// Largest number of entries of a folder that is looked at.
const MOST_ENTRIES: usize = 10_000;

/// Names that a message shows.
const SHOWN: usize = 3;

/// Names in a folder; `None` if it is large, or cannot be read.
fn names_in(folder: &Path) -> Option<BTreeSet<OsString>> {
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    let names: BTreeSet<OsString> = entries.take(MOST_ENTRIES + 1).map(|entry| entry.file_name()).collect();
    (names.len() <= MOST_ENTRIES).then_some(names)
}

impl Worker<'_> {
    /// Names in the working folder, before the seeds run; `None` if nothing is to be said of new ones.
    pub(super) fn names_before_seeds(&self) -> Option<BTreeSet<OsString>> {
        let setup = self.setup;
        let is_first = setup.place.number == 0 && self.state.hooks.record.seeds_done == 0;
        // a harness is the user's own
        let is_asked = setup.target.is_isolated() && !setup.target.scratch && is_first;
        is_asked.then(|| names_in(Path::new("."))).flatten()
    }

    /// Names the option for programs that write files, if some have appeared in the working folder since it was looked at.
    pub(super) fn note_new_files(&mut self, before: Option<BTreeSet<OsString>>) -> Result<()> {
        let Some(before) = before else { return Ok(()) };
        let Some(now) = names_in(Path::new(".")) else { return Ok(()) };
        let new: Vec<&OsString> = now.difference(&before).collect();
        if new.is_empty() {
            return Ok(());
        }
        let names: Vec<_> = new.iter().take(SHOWN).map(|name| name.to_string_lossy()).collect();
        let more = if new.len() > SHOWN { ", ..." } else { "" };
        self.state.hooks.note(&format!(
            "new in this folder since the seeds ran: {}{more}: if the program writes files, --scratch gives its runs a folder of their own",
            names.join(", ")
        ))
    }
}
