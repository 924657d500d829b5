//! A campaign: options resolved, assembled from LibAFL's parts and ours, run, and supervised.

pub mod archive;
pub mod board;
pub mod checkpoint;
pub mod clients;
pub mod confirm;
mod environment;
mod groups;
pub mod keys;
mod ordinary;
pub mod pages;
pub mod record;
mod refresh;
pub mod rules;
mod strays;
pub mod supervisor;
pub mod sync;
pub mod worker;

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime},
};

use self::{
    board::Board,
    clients::{Clients, Place},
    keys::Keys,
    supervisor::Meanwhile,
};
use crate::options::Options;
use quagmire_analysis::{measure, measurement, rounds::Rounds};
use quagmire_base::{
    error::{Error, ExitCode, Result},
    plain::{self, Form},
    seeds::Seeds,
};
use quagmire_cost::decision::Question;
use quagmire_execution::{abi::Harness, clock::ns_per_tick, info::TargetInfo, input_page::InputPage, timer};
use quagmire_mutators::Rule;
use quagmire_results::{
    OutputFolder,
    metrics::{About, Address, Endpoint, Server},
    summary::Environment,
};

/// Everything else that is not urgent is looked at this often.
const SECOND: Duration = Duration::from_secs(1);

/// Keys are looked at this often.
const BETWEEN_KEYS: Duration = Duration::from_millis(100);

/// Everything that all workers of a campaign, one after the other, start from.
#[derive(Debug)]
pub struct Setup {
    /// As resolved.
    pub options: Options,
    /// The program under test.
    pub target: TargetInfo,
    /// Loaded before anything was written.
    pub seeds: Seeds,
    /// What inputs are mutated by, beside LibAFL's mutations.
    pub rules: Vec<Arc<dyn Rule>>,
    /// Locked.
    pub folder: OutputFolder,
    /// Its place in a sync folder, locked too; the first client's.
    pub publisher: Option<sync::Publisher>,
    /// No input is larger, in bytes.
    pub max_size: usize,
    /// CLOCK_MONOTONIC at the start of this session, nanoseconds.
    pub start_ns: u64,
    /// The same moment on the clock on the wall.
    pub started: SystemTime,
    /// The machine.
    pub environment: Environment,
    /// Which of the clients this is.
    pub place: Place,
}

/// Searches with this client until the campaign is over. `meanwhile` is what the process that watches does beside.
///
/// # Errors
/// Anything that keeps it from starting or from writing what it found.
fn search(setup: &Setup, harness: &'static Harness, meanwhile: &mut dyn Meanwhile) -> Result<ExitCode> {
    let page = InputPage::new(setup.max_size.max(1))?;
    let alone = measure::MeasurementPlan {
        counters: false,
        rounds: Rounds::Fixed(0),
        question: Question::First,
        hang_timeout: setup.options.hang_timeout,
        memory_limit: setup.options.memory_limit,
        debug_target: setup.options.debug_target,
        annotate: Vec::new(),
    };
    let kills = |bytes: &[u8]| {
        let input = measure::Input { path: PathBuf::new(), bytes: bytes.to_vec() };
        Ok(measure::measure(harness, &[input], &alone)?.iter().any(measurement::Measurement::was_killed))
    };
    let mut work = |restart: &supervisor::Restart| worker::work(setup, harness, page.share(), restart);
    supervisor::supervise(&page.share(), &mut work, &kills, meanwhile)
}

/// What the process above the first client does beside watching its worker.
struct First<'a> {
    setup: &'a Setup,
    looked: u64,
    others: Clients<'a>,
    keys: Option<Keys>,
}

impl Meanwhile for First<'_> {
    fn look(&mut self) -> Result<()> {
        self.keys.iter_mut().for_each(Keys::look);
        if timer::now_ns() - self.looked >= SECOND.as_nanos() as u64 {
            self.looked = timer::now_ns();
            refresh::refresh(self.setup)?;
        }
        self.others.look_after()
    }

    fn interval(&self) -> Duration {
        if self.keys.is_some() { BETWEEN_KEYS } else { SECOND }
    }

    fn keys(&mut self) -> Option<&mut Keys> {
        self.keys.as_mut()
    }
}

/// Shows the campaign's figures, and says where.
fn serve(endpoint: Endpoint, setup: &Setup) -> Result<Server> {
    let is_asked = setup.options.metrics.as_ref().is_some_and(Address::is_chosen_by_system);
    if !setup.options.quiet || is_asked {
        // what cannot be printed is no reason to stop
        let _ = plain::print(&format!("Metrics: {}\n", endpoint.url()), Form::Lines);
    }
    let about = About { target: setup.target.name(), engine: setup.target.engine().name().to_owned() };
    endpoint.serve(setup.folder.path(), about)
}

/// Runs a campaign over the harness that this process is.
///
/// # Errors
/// Anything that keeps it from starting or from writing what it found.
pub fn launch(options: Options, target: TargetInfo, harness: &'static Harness) -> Result<ExitCode> {
    let mut seeds = Seeds::load(&options.seeds, options.workloads_filter.as_ref())?;
    let max_size = usize::try_from(seeds.size_limit(options.size)?).unwrap_or(usize::MAX);
    let rules = rules::choose(&options, &mut seeds)?;
    worker::check_options(&options)?;
    // absolute, since the target may change the working folder
    let output = std::path::absolute(&options.output).unwrap_or_else(|_| options.output.clone());
    // before anything is written: it may be refused
    let endpoint = options.metrics.as_ref().map(Endpoint::listen).transpose()?;
    // the same
    let meeting = options.sync.as_ref();
    let publisher = meeting.map(|(meeting, name)| sync::Publisher::open(meeting, name)).transpose()?;
    let folder = OutputFolder::open(&output, options.resume, options.force).map_err(|error| Error {
        message: error.message.replace(&*output.to_string_lossy(), &options.output.to_string_lossy()),
        ..error
    })?;
    // once, before workers are forked
    ns_per_tick();
    let clients = options.cores.len().max(1);
    let setup = Setup {
        options,
        target,
        seeds,
        rules,
        folder,
        publisher,
        max_size,
        start_ns: timer::now_ns(),
        started: SystemTime::now(),
        environment: environment::environment(),
        place: Place { number: 0, of: clients, board: Board::new(clients)? },
    };
    let _server = endpoint.map(|endpoint| serve(endpoint, &setup)).transpose()?;
    let mut first = First {
        setup: &setup,
        looked: setup.start_ns,
        others: Clients::start(&setup, harness)?,
        keys: Keys::new(&setup.options, setup.place.board),
    };
    clients::pin(&setup.options, 0);
    let code = search(&setup, harness, &mut first)?;
    // the terminal is given back
    drop(first);
    // everything is written: from here on, Ctrl-C ends the process
    supervisor::release_signals();
    let options = &setup.options;
    pages::write(setup.folder.path(), &options.output, options.plotting, !setup.target.is_isolated());
    Ok(code)
}
