//! Clients of a campaign on several cores. Each is a campaign of its own in a folder of its own; they share their
//! finds as campaigns on different machines do (see [`super::sync`]). The first client is the campaign that the user
//! sees: its folder is the output folder, it imports the finds of the others, confirms, and reports.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use libafl_bolts::core_affinity::CoreId;

use super::{Setup, shared_statistics::SharedStatistics, supervisor};
use crate::options::Options;
use quagmire_base::{
    atomic::unwritable,
    error::{ExitCode, Result},
    files,
    plain::warn,
};
use quagmire_execution::{
    harness::Harness,
    process::{self, End},
    timer,
};
use quagmire_results::OutputFolder;

/// Folder of the other clients in the output folder.
const FOLDER: &str = "clients";

/// Number of times that a client may end by itself before it is given up.
const ATTEMPTS: u32 = 3;

/// Time after which the processes of a killed client are gone.
const GONE: Duration = Duration::from_secs(2);

/// Number of a client and of all clients, and their shared memory.
#[derive(Clone, Copy, Debug)]
pub struct ClientPlace {
    /// Number of this client; 0 is the one that the user sees.
    pub number: usize,
    /// Number of clients, at least 1.
    pub of: usize,
    /// Memory that all clients share.
    pub statistics: SharedStatistics,
}

impl ClientPlace {
    /// Name of a client in files and folders.
    pub fn name(client: usize) -> String {
        format!("client-{client}")
    }

    /// Folder of a client of the campaign in `output`.
    pub fn folder(output: &Path, client: usize) -> PathBuf {
        if client == 0 { output.to_owned() } else { Self::listed(output, client) }
    }

    /// Folder of a client in `clients/`; the first client has one as well, for tools that add up the figures of all.
    pub fn listed(output: &Path, client: usize) -> PathBuf {
        output.join(FOLDER).join(Self::name(client))
    }

    /// Output folder of the campaign, given `folder` of this client; inverse of [`Self::folder`].
    pub fn output(self, folder: &Path) -> &Path {
        let above = if self.number == 0 { 0 } else { 2 };
        folder.ancestors().nth(above).unwrap_or(folder)
    }

    /// Whether the first client has asked this one to end.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.number > 0 && self.statistics.is_stopped()
    }

    /// Names and folders of the other clients of the campaign in `output`.
    pub fn others(self, output: &Path) -> impl Iterator<Item = (String, PathBuf)> {
        let others = (0..self.of).filter(move |&other| other != self.number);
        others.map(move |other| (Self::name(other), Self::folder(output, other)))
    }

    /// Names and folders of clients of an earlier session that this session does not run: their last finds are still
    /// to be imported.
    pub fn earlier(self, output: &Path) -> impl Iterator<Item = (String, PathBuf)> {
        let clients = (self.of..).map(move |client| (Self::name(client), Self::folder(output, client)));
        clients.take_while(|(_, folder)| files::is_folder(folder))
    }
}

/// Pins this process to the core of a client.
pub fn pin(options: &Options, client: usize) {
    if let Some(&core) = options.cores().get(client) {
        // if the core was taken away meanwhile, the system chooses another one
        let _ = CoreId(core).set_affinity();
    }
}

struct Client {
    process: libc::pid_t,
    failures: u32,
}

/// The other clients, supervised by the process above the first one.
pub struct Clients<'a> {
    setup: &'a Setup,
    harness: &'static Harness,
    /// Clients from number 1 on; `None` for one that has ended for good.
    running: Vec<Option<Client>>,
}

impl<'a> Clients<'a> {
    /// Starts the other clients.
    pub fn start(setup: &'a Setup, harness: &'static Harness) -> Result<Self> {
        let mut clients = Self { setup, harness, running: Vec::new() };
        for number in 1..setup.place.of {
            let process = clients.fork(number, false)?;
            clients.running.push(Some(Client { process, failures: 0 }));
        }
        Ok(clients)
    }

    /// Starts clients again that were killed; gives up one that has ended by itself too often.
    pub fn look_after(&mut self) -> Result<()> {
        for number in 1..self.setup.place.of {
            let Some(client) = &mut self.running[number - 1] else { continue };
            let Some(end) = process::poll(client.process)? else { continue };
            let failures = client.failures + u32::from(matches!(end, End::Code(_)));
            let is_over = end == End::Code(ExitCode::Ended as i32) || failures >= ATTEMPTS;
            if is_over || self.setup.place.statistics.is_stopped() {
                self.running[number - 1] = None;
                self.setup.place.statistics.ended(number);
            } else {
                let process = self.fork(number, true)?;
                self.running[number - 1] = Some(Client { process, failures });
            }
        }
        Ok(())
    }

    /// Starts a client; `is_restarted` if it was killed.
    fn fork(&self, number: usize, is_restarted: bool) -> Result<libc::pid_t> {
        let parent = std::process::id();
        // SAFETY: the process that starts clients has no other thread.
        let child = unsafe { process::fork()? };
        if child != 0 {
            return Ok(child);
        }
        // nobody would import its finds
        process::die_with_parent(parent);
        process::silence_output();
        pin(&self.setup.options, number);
        process::leave(match client(self.setup, self.harness, number, is_restarted) {
            Ok(code) => code as i32,
            Err(error) => {
                warn(&format!("{}: {error}", ClientPlace::name(number)));
                error.code as i32
            }
        })
    }
}

/// Runs a client to its end, in a process of its own.
fn client(main: &Setup, harness: &'static Harness, number: usize, is_restarted: bool) -> Result<ExitCode> {
    let path = ClientPlace::folder(main.folder.path(), number);
    if let Some(clients) = path.parent() {
        files::create_folder(clients).map_err(|error| unwritable(clients, &error))?;
    }
    let folder = open(&path, (is_restarted || main.folder.resumed()) && path.exists())?;
    let mut options = main.options.clone();
    options.output = Some(path);
    // different random numbers for each client, and the same ones each time
    options.search.seed = Some(main.options.search.seed() ^ (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    options.confirm.no_confirm = true;
    options.display.no_plotting = true;
    options.display.quiet = true;
    options.sync = None;
    let setup = Setup {
        options,
        target: main.target.clone(),
        seeds: main.seeds.clone(),
        rules: main.rules.clone(),
        libraries: main.libraries.clone(),
        grammar: main.grammar.clone(),
        folder,
        publisher: None,
        max_size: main.max_size,
        first_size: main.first_size,
        places: main.places.clone(),
        start_ns: main.start_ns,
        started: main.started,
        is_restarted,
        environment: main.environment.clone(),
        place: ClientPlace { number, ..main.place },
        listener: main.listener.clone(),
    };
    super::search(&setup, harness, &mut || Ok(()))
}

/// Opens a client's folder. Waits a moment if processes of a client that was killed still hold it.
fn open(path: &Path, resume: bool) -> Result<OutputFolder> {
    let until = timer::now_ns() + GONE.as_nanos() as u64;
    loop {
        match OutputFolder::open(path, resume, false) {
            Err(_) if resume && timer::now_ns() < until && !supervisor::stop_requested() => {
                std::thread::sleep(Duration::from_millis(20));
            }
            opened => return opened,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_finds_the_output_folder_and_all_others() {
        let statistics = SharedStatistics::new(3).unwrap();
        let output = Path::new("/out");
        for number in 0..3 {
            let place = ClientPlace { number, of: 3, statistics };
            assert_eq!(place.output(&ClientPlace::folder(output, number)), output);
            let others: Vec<PathBuf> = place.others(output).map(|(_, folder)| folder).collect();
            assert!(others.len() == 2 && !others.contains(&ClientPlace::folder(output, number)), "{others:?}");
        }
    }

    #[test]
    fn clients_that_run_no_more_are_known() {
        let output = tempfile::tempdir().unwrap();
        let place = ClientPlace { number: 0, of: 1, statistics: SharedStatistics::new(1).unwrap() };
        assert_eq!(place.earlier(output.path()).count(), 0);
        for client in 1..3 {
            std::fs::create_dir_all(ClientPlace::folder(output.path(), client)).unwrap();
        }
        let names: Vec<String> = place.earlier(output.path()).map(|(name, _)| name).collect();
        assert_eq!(names, ["client-1", "client-2"]);
    }
}
