//! State that a worker starts with: from a checkpoint, or new.

use std::{
    ffi::OsString,
    fs::File,
    hash::{BuildHasher as _, Hasher as _, RandomState},
    os::unix::fs::MetadataExt,
    time::Duration,
};

use libafl::{
    HasMetadata,
    mutators::Tokens,
    state::{HasExecutions, HasMaxSize},
};
use libafl_bolts::hash_std;

use super::{import, internal, measuring};
use crate::{
    campaign::{
        Setup,
        checkpoint::Checkpoint,
        language,
        record::{Record, stays_inside},
        recorder::Recorder,
        supervisor::Restart,
    },
    options::{Experiment, Options},
};
use quagmire_analysis::required::require;
use quagmire_base::{
    dictionary,
    error::{Error, Result},
    files,
    format::{counted, grouped},
};
use quagmire_cost::resource::Resource;
use quagmire_execution::{
    diversity::table::TraceTable,
    executor::HarnessExecutor,
    fork_server,
    harness::Harness,
    info::{Instrumentation, TargetInfo},
    input_page::InputPage,
    known_lines::has_lines,
    mutator_library::MutatorLibrary,
};
use quagmire_results::{
    Summary,
    damaged_logs::{self, DamagedLog},
    journal::Journal,
    names::files_in,
    summary::rfc3339,
};
use quagmire_search::{
    choices::mode::Mode,
    corpus::{
        rare::ClientPart,
        search_state::{Masking, SearchState},
        towards::Towards,
    },
    stages::{
        choices::ChoiceOptions,
        operators::{Operators, is_used},
    },
    state::LibaflState,
};

/// State of the campaign when a worker starts.
pub(super) struct Start {
    /// LibAFL's state; `None` if there is no usable checkpoint.
    pub(super) state: Option<LibaflState>,
    pub(super) search: SearchState,
    pub(super) record: Record,
    /// Reason why the checkpoint cannot be used, in a few words.
    pub(super) unusable: Option<String>,
    /// Logs that begin anew.
    pub(super) damaged_logs: Vec<DamagedLog>,
    /// Whether the folder may hold files that this state does not know.
    pub(super) more_is_written: bool,
    /// Whether such files can be entered under their old numbers.
    pub(super) enters_again: bool,
}

impl Start {
    /// Reads the checkpoint, from disk for the first worker of a resumed session, and moves away files whose names
    /// have to be free.
    ///
    /// # Errors
    /// If files in the output folder cannot be moved.
    pub(super) fn new(
        setup: &Setup,
        restart: &Restart,
        fingerprint: u64,
        executor: &mut HarnessExecutor,
    ) -> Result<Self> {
        let output = setup.folder.path();
        let resumed = restart.workers == 0 && setup.folder.resumed();
        let summary = if resumed { Summary::read(&setup.folder.summary()).ok() } else { None };
        let named = [Journal::campaign(output), summary.as_ref().map(|summary| summary.campaign.clone())];
        let named: Vec<String> = named.into_iter().flatten().filter(|name| !name.is_empty()).collect();
        let (saved, unusable) = if resumed {
            match Checkpoint::read(output) {
                // one of both may be damaged as well
                Ok(Some(saved)) if !named.is_empty() && !named.contains(&saved.record.campaign) => {
                    (None, Some("it is of another campaign: to go on with this one's, put that back first".to_owned()))
                }
                Ok(saved) => {
                    let of_other = match &saved {
                        Some(saved) => {
                            check_steering(setup, &saved.record)?;
                            of_other(setup, &saved.record)?
                        }
                        None => None,
                    };
                    match of_other {
                        Some(why) => (None, Some(why.to_owned())),
                        None => checked(setup, executor, saved.filter(|saved| saved.fingerprint == fingerprint)),
                    }
                }
                Err(why) => (None, Some(why)),
            }
        } else {
            (restart.vault.load().filter(|saved| saved.fingerprint == fingerprint), None)
        };
        let towards = Towards::new(setup.places.clone(), setup.options.search.has(Experiment::TowardsWatch));
        let (saved, unusable) = match saved {
            Some(saved) if !saved.search.towards.is_same(&towards) => {
                (None, Some("it is of other places of --towards".to_owned()))
            }
            saved => (saved, unusable),
        };
        let (state, mut search, mut record) = match saved {
            Some(Checkpoint { state, search, record, .. }) => {
                let files = record.entries.iter().map(|entry| entry.file.as_str());
                let state = state.restore(&setup.folder.queue(), files).map_err(|error| internal(&error))?;
                (Some(state), search, record)
            }
            None => {
                let mut search = SearchState::default();
                search.towards = towards;
                (None, search, Record::default())
            }
        };
        search.towards.prepare(executor.counts().program());
        record.generator = generator_hash(setup);
        if restart.workers == 0 || record.uncounted.is_none() {
            record.uncounted = uncounted_hash(setup);
        }
        if record.campaign.is_empty() {
            record.campaign = named.into_iter().next().unwrap_or_else(new_name);
        }
        let mut damaged_logs = Vec::new();
        if resumed {
            // of a session that was killed before it had logs, nothing is missing
            if summary.is_some() || state.is_some() {
                damaged_logs = damaged_logs::remove(output, &record.campaign);
            }
            let is_other = |summary: &Summary| ![&record.campaign, ""].contains(&summary.campaign.as_str());
            let damage =
                if summary.as_ref().is_some_and(is_other) { "is of another campaign" } else { "is missing or damaged" };
            let summary = summary.filter(|summary| !is_other(summary));
            if summary.is_none() && record.baseline.is_some() {
                damaged_logs.push(DamagedLog { path: "summary.json".to_owned(), damage });
            }
            remember_earlier_sessions(setup, &mut record, state.as_ref(), summary);
        }
        if let Some(process) = restart.died {
            setup.folder.remove_unfinished_of(process);
            setup.publisher.iter().for_each(|publisher| publisher.remove_unfinished_of(process));
        }
        let more_is_written = resumed || restart.died.is_some();
        let enters_again = more_is_written && record.baseline.is_some();
        if more_is_written && !enters_again {
            // seeds are run again, and their files need these names
            import::set_imports_aside(setup, &record)?;
        }
        Ok(Self { state, search, record, unusable, damaged_logs, more_is_written, enters_again })
    }
}

/// Opens a file that takes the place of the display if nothing is shown.
///
/// # Errors
/// If there is no `/dev/null`.
pub(super) fn no_display() -> Result<File> {
    let null = File::options().write(true).open("/dev/null");
    null.map_err(|error| Error::other(format!("cannot open /dev/null: {error}")))
}

/// Applies the options of this session to the observation of runs. To be called before the first run, and once all
/// objects are loaded.
///
/// # Errors
/// If no function has the name of one that valid runs enter.
pub(super) fn observe(executor: &mut HarnessExecutor, options: &Options) -> Result<()> {
    let counts = executor.counts_mut();
    if let Some(kind) = options.search.trace {
        counts.trace(kind);
    }
    counts.follow_memory(&options.confirm.cost);
    options.search.validity.valid_if_reached.as_ref().map_or(Ok(()), |function| require(counts, function))
}

/// Applies the options of this session to the knowledge of the search.
pub(super) fn configure(search: &mut SearchState, record: &Record, setup: &Setup, traces: Option<TraceTable>) {
    if let Some(traces) = traces {
        search.diversity.count_traces(traces);
    }
    let options = &setup.options;
    search.objective = match setup.target.instrumentation.measures(Resource::Instructions) {
        true => options.objective(),
        false => options.objective().of_edges(),
    };
    record.steered.iter().for_each(|&(_, noise)| search.objective.set_noise(noise));
    search.ignores_maxima = options.search.has(Experiment::NoEdgeMaxima);
    search.keeps_early_ends = options.search.keep_early_ends;
    search.effort.focus = options.search.focus;
    search.size_limit.begin(setup.first_size, setup.max_size);
    // with a grammar, bytes have a tenth of the mutants, which pays for no masks of bytes
    let has_grammar = setup.grammar.is_some() && options.search.choices != Mode::Off;
    search.set_masking(Masking {
        no_mask: options.search.masking().no_mask || has_grammar,
        no_trim: options.search.masking().no_trim || has_grammar,
        ..options.search.masking()
    });
    search.rare.no_bootstrap = options.search.has(Experiment::NoBootstrap);
    search.choices.structures.are_required = options.search.choices == Mode::Structure;
    search.rare.part = ClientPart { number: setup.place.number as u32, of: setup.place.of as u32 };
}

/// Shows the warnings at the start of a session.
pub(super) fn warn(
    setup: &Setup,
    recorder: &mut Recorder<'_>,
    without_lines: Option<String>,
    unusable: Option<String>,
) -> Result<()> {
    for warning in setup.seeds.warnings.iter().chain(&without_lines).chain(&measuring::warning(&setup.options)) {
        recorder.note(warning)?;
    }
    unusable.map_or(Ok(()), |why| {
        recorder.note(&format!(
            "the saved state cannot be used ({why}): the campaign goes on with the seeds and all files in queue/"
        ))
    })
}

/// Checks the dictionaries of `--dict` and the counters for `--steer`, before anything is written.
///
/// # Errors
/// If a dictionary cannot be read, or if there are no counters.
pub(crate) fn check_options(options: &Options, target: &TargetInfo) -> Result<()> {
    measuring::check(options, target)?;
    read_tokens(options).map(drop)
}

/// Prepares LibAFL's state for mutation, and creates the operators of the campaign. Returns the tokens that `search` has not
/// learnt, too.
///
/// # Errors
/// If a dictionary cannot be read, or there is no memory for mutants.
pub(super) fn operators(
    setup: &Setup,
    harness: &Harness,
    page: &InputPage,
    state: &mut LibaflState,
    search: &SearchState,
) -> Result<(Operators, ChoiceOptions, Vec<Vec<u8>>)> {
    let Setup { options, rules, grammar, .. } = setup;
    let mut tokens = read_tokens(options)?;
    if !options.search.no_auto_dict {
        tokens.add_tokens(harness.tokens().iter().filter(|token| token.len() <= setup.first_size));
    }
    let learns = !options.search.no_auto_dict && harness.comparisons().is_some();
    let has_tokens = learns || !tokens.tokens().is_empty();
    let known = tokens.tokens().to_vec();
    let choices = language::choices(options, grammar.as_ref(), rules, known.clone());
    tokens.add_tokens(&search.words);
    state.set_max_size(search.size_limit.now());
    state.add_metadata(tokens);
    let uses = |name: &str| is_used(options.search.rules.as_deref(), name);
    let own = harness.own_mutator(search.size_limit.now())?;
    let queue = setup.folder.queue();
    let start = |library: &MutatorLibrary| {
        let mut started = library.start(options.search.seed() as u32, &queue, page)?;
        started.check(setup.seeds.inputs.iter().map(|seed| &*seed.bytes))?;
        Ok(started)
    };
    let libraries = setup.libraries.iter().map(start).collect::<Result<_>>()?;
    let operators = Operators::new(
        rules,
        uses,
        has_tokens,
        own,
        libraries,
        options.search.mutations_per_rule,
        options.search.input_type.is_some(),
    );
    let operators = if setup.target.instrumentation.counts() { operators } else { operators.prefer_rules() };
    Ok((operators, choices, known))
}

/// Reads the tokens of the dictionaries.
fn read_tokens(options: &Options) -> Result<Tokens> {
    let mut tokens = Tokens::new();
    for path in &options.search.dict {
        let refused = |what: &dyn std::fmt::Display| {
            Error::usage(format!(
                "--dict {}: {what}; it takes AFL's dictionaries, lines of name=\"value\"",
                path.display()
            ))
        };
        // LibAFL panics at bytes that are not UTF-8
        let text = files::read_named(path, files::LARGEST_TEXT).map_err(|error| refused(&error))?;
        let text = String::from_utf8(text).map_err(|_| refused(&"it is not UTF-8"))?;
        dictionary::count(text.as_bytes()).map_err(|line| refused(&format!("line {line} is none of an entry")))?;
        tokens.add_from_file(path).map_err(|error| refused(&error))?;
    }
    Ok(tokens)
}

/// Checks that a campaign goes on with the `--steer` that it was made with: amounts of other resources do not compare.
///
/// # Errors
/// If it was made with another one.
fn check_steering(setup: &Setup, saved: &Record) -> Result<()> {
    let (before, now) = (saved.steered.map(|(resource, _)| resource), setup.options.search.steer);
    if saved.baseline.is_none() || before == now {
        return Ok(());
    }
    let (folder, before) = (setup.options.output().display(), before.unwrap_or(Resource::Instructions));
    Err(Error::usage(format!("{folder} holds a campaign of --steer {before}: give that, or another folder")))
}

/// Hash of the file of the generator in front of the program; `None` without one.
fn generator_hash(setup: &Setup) -> Option<u64> {
    setup.target.generator.as_ref().map(|file| hash_std(&std::fs::read(file).unwrap_or_default()))
}

/// Identifies an uninstrumented program, which has no tables to compare: a hash of the words of its command, and of the size and
/// time of the program and of a script, which is its first argument. Other files that it names may be written by it.
/// `None` if something is counted.
fn uncounted_hash(setup: &Setup) -> Option<u64> {
    let is_counted = setup.target.instrumentation.counts();
    let word = |(at, word): (usize, &OsString)| {
        let file = std::fs::metadata(word).ok().filter(|file| file.is_file() && at < 2);
        let state = file.map(|file| (file.len(), file.mtime(), file.mtime_nsec()));
        format!("{word:?} {state:?}\n")
    };
    let words = || setup.target.command.iter().enumerate().map(word).collect::<String>();
    (!is_counted).then(|| hash_std(words().as_bytes()))
}

/// Reason why the inputs of a campaign have to be run again, though the tables of the program are the same; `None` if they need not.
///
/// # Errors
/// If it was made with a generator and goes on without one, or the other way: its inputs would mean something else.
fn of_other(setup: &Setup, saved: &Record) -> Result<Option<&'static str>> {
    let folder = setup.options.output().display();
    match (saved.generator, generator_hash(setup)) {
        (Some(_), None) => {
            Err(Error::usage(format!("{folder} holds a campaign with a generator: name that with --generator")))
        }
        (None, Some(_)) => {
            Err(Error::usage(format!("{folder} holds a campaign without a generator: leave out --generator")))
        }
        (saved, now) if saved != now => Ok(Some("it is of another generator")),
        _ if saved.uncounted != uncounted_hash(setup) => {
            Ok(Some("it is of another command, or the program or its script has changed"))
        }
        _ => Ok(None),
    }
}

/// Returns the checkpoint, unless it names libraries that the program does not open by itself; then the reason.
/// Somebody else may have written it, and opening a library executes its code.
fn checked(
    setup: &Setup,
    executor: &mut HarnessExecutor,
    saved: Option<Checkpoint>,
) -> (Option<Checkpoint>, Option<String>) {
    let Some(mut saved) = saved else { return (None, None) };
    let queue = setup.folder.queue();
    let entries = saved.record.entries.iter().map(|entry| queue.join(&entry.file));
    let inputs = entries.chain(files_in(&setup.folder.faults()));
    let inputs = inputs.filter_map(|file| files::read(&file, setup.max_size as u64).ok());
    // libraries that are gone had no edges, or cannot have them again
    saved.record.libraries = fork_server::existing(&saved.record.libraries);
    if executor.opens_by_itself(&saved.record.libraries, inputs) {
        (Some(saved), None)
    } else {
        (None, Some("it names libraries that the program does not open".to_owned()))
    }
}

/// Turns on counting of source lines in every run. Returns a warning if some functions have no debug information.
///
/// # Errors
/// If no function has debug information.
pub(super) fn count_lines(executor: &mut HarnessExecutor, by: Instrumentation) -> Result<Option<String>> {
    executor.counts_mut().count_lines();
    let functions = executor.counts().program().functions();
    let without = functions.iter().filter(|function| !has_lines(function)).count();
    if without == functions.len() {
        return Err(Error::target(match by {
            Instrumentation::Counts => {
                "--cost lines: the target has no debug information: compile it and its libraries with -g as well"
            }
            _ => {
                "--cost lines: nothing says in which lines the target's edges are: compile it and its libraries with -g, and \
                 with a PC table (-fsanitize-coverage=...,pc-table; -fsanitize=fuzzer-no-link has one)"
            }
        }));
    }
    Ok((without > 0).then(|| {
        let of = counted(functions.len() as u64, "function");
        let (have, their) = if without == 1 { ("has", "its") } else { ("have", "their") };
        let without = grouped(without as u64);
        format!("--cost lines: {without} of {of} {have} no debug information, so that {their} lines do not count")
    }))
}

/// Name for a new campaign: a random number.
fn new_name() -> String {
    format!("{:016x}", RandomState::new().build_hasher().finish())
}

/// Adds the earlier sessions to the record. Without a checkpoint, takes the findings from the summary.
fn remember_earlier_sessions(
    setup: &Setup,
    record: &mut Record,
    state: Option<&LibaflState>,
    summary: Option<Summary>,
) {
    // of a client that was killed later than its first summary, whose session goes on
    let is_of_session = summary.as_ref().is_some_and(|summary| summary.started == rfc3339(setup.started));
    let goes_on = setup.is_restarted && is_of_session;
    if !goes_on {
        // what comes at intervals was done at these times, whatever has become of the summary
        record.earlier_sessions = record.last_write.max(record.last_print).max(record.last_save);
        record.earlier_executions = state.map_or(0, |state| *state.executions());
    }
    if let Some(summary) = summary {
        if !goes_on {
            let known = Duration::try_from_secs_f64(summary.seconds).unwrap_or_default();
            record.earlier_sessions = record.earlier_sessions.max(known);
        }
        if state.is_none() {
            record.findings = summary.findings;
            record.findings.retain(stays_inside);
        }
    }
    record.unsynced.clear();
    record.left_out.clear();
    record.confirming = Duration::ZERO;
    record.lines_on_screen = 0;
}
