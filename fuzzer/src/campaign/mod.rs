//! A campaign: assembled from resolved options, LibAFL's parts and quagmire's, run, and supervised.

mod alike;
pub mod checkpoint;
pub mod clients;
pub mod confirm;
mod environment;
mod explain;
mod fitting;
mod groups;
mod heartbeat;
pub mod keyboard;
pub(crate) mod language;
pub mod listener;
pub(crate) mod ordinary;
mod own_command;
pub mod pages;
pub mod record;
pub mod recorder;
pub mod rules;
mod samples;
mod seed_ends;
pub mod shared_statistics;
pub mod supervisor;
pub mod sync;
pub mod worker;

use std::{
    os::unix::ffi::OsStrExt as _,
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime},
};

use self::{
    clients::{ClientPlace, Clients},
    keyboard::Keyboard,
    listener::Listener,
    shared_statistics::SharedStatistics,
    supervisor::Meanwhile,
};
use crate::options::Options;
use quagmire_analysis::{
    command::{Command, TargetOptions, say_what_is_missing},
    measure, measurement,
    rounds::Rounds,
    towards,
};
use quagmire_base::{
    error::{Error, ExitCode, Result},
    plain::{self, Form},
    seeds::Seeds,
};
use quagmire_choices::grammar::Grammar;
use quagmire_cost::decision::Question;
use quagmire_execution::{
    clock::ns_per_tick,
    diversity::{table::TraceTable, trace::TraceKind},
    harness::Harness,
    info::TargetInfo,
    input_page::InputPage,
    mutator_library::MutatorLibrary,
    timer,
};
use quagmire_mutators::Rule;
use quagmire_results::{
    OutputFolder,
    metrics::{About, Address, Endpoint, Server},
    names::files_in,
    summary::Environment,
};
use quagmire_search::{choices::mode::Mode, corpus::towards::TargetPlace};

/// Interval at which the supervisor looks at everything but the keys.
const SECOND: Duration = Duration::from_secs(1);

/// Interval at which keys are read.
const BETWEEN_KEYS: Duration = Duration::from_millis(100);

/// State that all workers of a campaign start from, one after the other.
#[derive(Debug)]
pub struct Setup {
    /// Options, resolved.
    pub options: Options,
    pub target: TargetInfo,
    /// Seeds, loaded before anything was written.
    pub seeds: Seeds,
    /// Rules that mutate inputs, beside LibAFL's operators.
    pub rules: Vec<Arc<dyn Rule>>,
    /// Libraries of `--custom-mutator`.
    pub libraries: Vec<MutatorLibrary>,
    /// Grammar of the inputs.
    pub grammar: Option<Arc<Grammar>>,
    /// Output folder, locked.
    pub folder: OutputFolder,
    /// Place of the campaign in a sync folder, locked; `None` for clients but the first.
    pub publisher: Option<sync::Publisher>,
    /// Size limit of inputs, in bytes.
    pub max_size: usize,
    /// Size limit that the search begins with, in bytes; it grows to the other one.
    pub first_size: usize,
    /// Places that the search works towards.
    pub places: Vec<TargetPlace>,
    /// Start of this session by CLOCK_MONOTONIC, in nanoseconds.
    pub start_ns: u64,
    /// Start of this session by the wall clock.
    pub started: SystemTime,
    /// Whether this is a client that was killed in this session.
    pub is_restarted: bool,
    /// Machine and system.
    pub environment: Environment,
    /// Number of this client.
    pub place: ClientPlace,
    /// Front end that hears of the campaign; `None` if it is shown on the display.
    pub listener: Option<Arc<dyn Listener>>,
}

/// Runs the search of this client until the campaign is over. The supervising process calls `meanwhile` beside its
/// work.
///
/// # Errors
/// Errors that keep it from starting or from writing its finds.
fn search(setup: &Setup, harness: &'static Harness, meanwhile: &mut dyn Meanwhile) -> Result<ExitCode> {
    let page = InputPage::new(setup.max_size.max(1))?;
    let alone = measure::MeasurementPlan {
        counters: false,
        rounds: Rounds::Fixed(0),
        question: Question::First,
        hang_timeout: setup.options.target.hang_timeout,
        memory_limit: setup.options.target.memory_limit,
        debug_target: setup.options.target.debug_target,
        annotate: Vec::new(),
    };
    let kills = |bytes: &[u8]| {
        let input = measure::Input { path: PathBuf::new(), bytes: bytes.to_vec() };
        // what could not be measured says nothing: somebody may have killed that process, too
        let measured = measure::measure(harness, &[input], &alone);
        measured.is_ok_and(|all| all.iter().any(measurement::Measurement::was_killed))
    };
    let traces = setup.options.search.trace.map(|_| TraceTable::new()).transpose()?;
    let mut work = |restart: &supervisor::Restart| worker::work(setup, harness, page.share(), traces, restart);
    supervisor::supervise(&page.share(), &mut work, &kills, meanwhile)
}

/// Work of the process above the first client, beside watching its worker: keys, the summary, the other clients.
struct First<'a> {
    setup: &'a Setup,
    looked: u64,
    others: Clients<'a>,
    keys: Option<Keyboard>,
}

impl Meanwhile for First<'_> {
    fn look(&mut self) -> Result<()> {
        self.keys.iter_mut().for_each(Keyboard::look);
        if timer::now_ns() - self.looked >= SECOND.as_nanos() as u64 {
            self.looked = timer::now_ns();
            heartbeat::refresh(self.setup)?;
        }
        self.others.look_after()
    }

    fn interval(&self) -> Duration {
        if self.keys.is_some() { BETWEEN_KEYS } else { SECOND }
    }

    fn keys(&mut self) -> Option<&mut Keyboard> {
        self.keys.as_mut()
    }
}

/// Starts the metrics endpoint, and prints its address.
fn serve(endpoint: Endpoint, setup: &Setup) -> Result<Server> {
    let is_asked = setup.options.display.metrics.as_ref().is_some_and(Address::is_chosen_by_system);
    if !setup.options.display.quiet || is_asked {
        // a failure to print is no reason to stop
        let _ = plain::print(&format!("Metrics: {}\n", endpoint.url), Form::Lines);
    }
    let about = About { target: setup.target.name(), engine: setup.target.engine().name().to_owned() };
    endpoint.serve(setup.folder.path(), about)
}

impl Command for Options {
    fn target(&mut self) -> Option<&mut TargetOptions> {
        Some(&mut self.target)
    }

    /// The seeds, or what the campaign that goes on has saved.
    fn inputs(&self) -> Vec<PathBuf> {
        if self.resume {
            // files that a campaign has not finished are hidden
            let is_entry = |path: &PathBuf| !path.file_name().is_some_and(|name| name.as_bytes().starts_with(b"."));
            let saved: Vec<PathBuf> = files_in(&self.output().join("queue")).into_iter().filter(is_entry).collect();
            if !saved.is_empty() {
                return saved;
            }
        }
        let takes = |path: &PathBuf| self.workloads_filter.as_ref().is_none_or(|filter| filter.takes(path) == Ok(true));
        // a path that cannot be read is an error of the campaign
        let files = Seeds::list(&self.seeds).map_or_else(|_| Vec::new(), |(files, _)| files);
        files.into_iter().filter(takes).collect()
    }

    fn is_uninstrumented(&self) -> bool {
        self.uninstrumented
    }

    fn says_extension(&self) -> bool {
        !self.display.quiet
    }

    fn check(&self) -> Result<()> {
        self.refuse_contradictions()
    }

    fn run(self: Box<Self>, target: TargetInfo, harness: &'static Harness) -> Result<ExitCode> {
        let options = self.with_saved_seeds()?.for_target(&target)?;
        say_what_is_missing(&target, harness, options.display.quiet);
        launch(options, target, harness)
    }
}

/// Runs a campaign over the harness that this process is.
///
/// # Errors
/// Errors that keep it from starting or from writing its finds.
fn launch(options: Options, target: TargetInfo, harness: &'static Harness) -> Result<ExitCode> {
    let grammar = language::load(&options)?;
    let mut seeds = language::seeds(&options, grammar.as_deref())?;
    if let Some(grammar) = &grammar {
        seeds.warnings.extend(language::warnings(grammar, &seeds, options.search.choices));
    }
    let (shown, plotting, is_harness) =
        (options.output().to_owned(), !options.display.no_plotting, !target.is_isolated());
    let (code, folder) = run(options, seeds, grammar, target, harness, None)?;
    pages::write(folder.path(), &shown, plotting, is_harness);
    Ok(code)
}

/// Runs a campaign with seeds that are loaded, and returns its locked output folder. `listener` hears of it, instead
/// of the user.
///
/// # Errors
/// Errors that keep it from starting or from writing its finds.
pub fn run(
    mut options: Options,
    mut seeds: Seeds,
    grammar: Option<Arc<Grammar>>,
    target: TargetInfo,
    harness: &'static Harness,
    listener: Option<Arc<dyn Listener>>,
) -> Result<(ExitCode, OutputFolder)> {
    if options.search.trace.is_none() && options.search.choices != Mode::Off && harness.draws_are_compiled() {
        options.search.trace = Some(TraceKind::default());
    }
    seeds.leave_out_far_larger(options.search.size.limit());
    let max_size = usize::try_from(seeds.size_limit(options.search.size.limit())?).unwrap_or(usize::MAX);
    let first_size = usize::try_from(options.search.size.limit().first(seeds.largest())).unwrap_or(usize::MAX);
    let libraries = options.search.custom_mutator.iter().map(|path| MutatorLibrary::load(path));
    let libraries = libraries.collect::<Result<Vec<_>>>()?;
    let has_own = harness.has_own_mutator() || libraries.iter().any(MutatorLibrary::mutates);
    let rules = rules::choose(&options, has_own)?;
    worker::check_options(&options, &target)?;
    // before anything is written, since there may be no such place
    let places = towards::find(harness, &options.search.wanted()?, options.target.debug_target)?;
    // absolute, since the target may change the working folder
    let output = std::path::absolute(options.output()).unwrap_or_else(|_| options.output().to_owned());
    // before anything is written, since the address may be refused
    let endpoint = options.display.metrics.as_ref().map(Endpoint::listen).transpose()?;
    // before anything is written, since the place may be taken
    let publisher = options.meeting().map(|(meeting, name)| sync::Publisher::open(meeting, &name)).transpose()?;
    let folder = OutputFolder::open(&output, options.resume, options.force).map_err(|error| Error {
        message: error.message.replace(&*output.to_string_lossy(), &options.output().to_string_lossy()),
        ..error
    })?;
    // measured once, before workers are forked
    ns_per_tick();
    let clients = options.cores().len().max(1);
    let setup = Setup {
        options,
        target,
        seeds,
        rules,
        libraries,
        grammar,
        folder,
        publisher,
        max_size,
        first_size,
        places,
        start_ns: timer::now_ns(),
        started: SystemTime::now(),
        is_restarted: false,
        environment: environment::environment(),
        place: ClientPlace { number: 0, of: clients, statistics: SharedStatistics::new(clients)? },
        listener,
    };
    let _server = endpoint.map(|endpoint| serve(endpoint, &setup)).transpose()?;
    let mut first = First {
        setup: &setup,
        looked: setup.start_ns,
        others: Clients::start(&setup, harness)?,
        keys: if setup.listener.is_none() { Keyboard::new(&setup.options, setup.place.statistics) } else { None },
    };
    clients::pin(&setup.options, 0);
    let code = search(&setup, harness, &mut first)?;
    // restores the terminal
    drop(first);
    if setup.listener.is_none() {
        explain::explain(&setup)?;
    }
    // everything is written: from here on, Ctrl-C ends the process
    supervisor::release_signals();
    Ok((code, setup.folder))
}
