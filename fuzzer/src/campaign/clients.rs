//! Many cores: a client on each, which is a campaign of its own in a folder of its own. They share what they find as
//! campaigns on different machines do (see [`super::sync`]). The first client is the campaign that the user sees: its folder
//! is the output folder, it takes in what the others find, confirms, and reports.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use libafl_bolts::core_affinity::CoreId;

use super::{Setup, board::Board, supervisor};
use crate::options::Options;
use quagmire_base::{
    atomic::unwritable,
    error::{ExitCode, Result},
    files,
    plain::warn,
};
use quagmire_execution::{
    abi::Harness,
    process::{self, End},
    timer,
};
use quagmire_results::OutputFolder;

/// Where the other clients' folders are, in the output folder.
const FOLDER: &str = "clients";

/// A client that ends by itself so often is given up.
const ATTEMPTS: u32 = 3;

/// What a killed client leaves behind is gone after this.
const GONE: Duration = Duration::from_secs(2);

/// Which client a process is.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// From 0, the one that the user sees.
    pub number: usize,
    /// How many clients there are, at least 1.
    pub of: usize,
    /// What they tell each other.
    pub board: Board,
}

impl Place {
    /// The name of a client for the others.
    pub fn name(client: usize) -> String {
        format!("client-{client}")
    }

    /// The folder of a client of the campaign in `output`.
    pub fn folder(output: &Path, client: usize) -> PathBuf {
        if client == 0 { output.to_owned() } else { Self::listed(output, client) }
    }

    /// The folder of a client beside those of the others, which the first one has too: for tools that add them up.
    pub fn listed(output: &Path, client: usize) -> PathBuf {
        output.join(FOLDER).join(Self::name(client))
    }

    /// The output folder of the campaign, of which `folder` is this client's: see [`Self::folder`].
    pub fn output(self, folder: &Path) -> &Path {
        let above = if self.number == 0 { 0 } else { 2 };
        folder.ancestors().nth(above).unwrap_or(folder)
    }

    /// Whether the first client has asked this one to end.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.number > 0 && self.board.is_stopped()
    }

    /// The other clients of the campaign in `output`: names and folders.
    pub fn others(self, output: &Path) -> impl Iterator<Item = (String, PathBuf)> {
        let others = (0..self.of).filter(move |&other| other != self.number);
        others.map(move |other| (Self::name(other), Self::folder(output, other)))
    }

    /// Those that ran when the campaign was stopped, and do not run any more: what they found last is still to be taken in.
    pub fn earlier(self, output: &Path) -> impl Iterator<Item = (String, PathBuf)> {
        let clients = (self.of..).map(move |client| (Self::name(client), Self::folder(output, client)));
        clients.take_while(|(_, folder)| files::is_folder(folder))
    }
}

/// Pins this process to the core of a client.
pub fn pin(options: &Options, client: usize) {
    if let Some(&core) = options.cores.get(client) {
        // a core that was taken away meanwhile: the system chooses another one
        let _ = CoreId(core).set_affinity();
    }
}

struct Client {
    process: libc::pid_t,
    failures: u32,
}

/// The other clients, as the process above the first one sees them.
pub struct Clients<'a> {
    setup: &'a Setup,
    harness: &'static Harness,
    /// From number 1 on; nothing for one that has ended.
    running: Vec<Option<Client>>,
}

impl<'a> Clients<'a> {
    /// Starts them.
    ///
    /// # Errors
    /// If a process cannot be started.
    pub fn start(setup: &'a Setup, harness: &'static Harness) -> Result<Self> {
        let mut clients = Self { setup, harness, running: Vec::new() };
        for number in 1..setup.place.of {
            let process = clients.fork(number, setup.folder.resumed())?;
            clients.running.push(Some(Client { process, failures: 0 }));
        }
        Ok(clients)
    }

    /// Starts those again that somebody has killed.
    ///
    /// # Errors
    /// If a process cannot be started.
    pub fn look_after(&mut self) -> Result<()> {
        for number in 1..self.setup.place.of {
            let Some(client) = &mut self.running[number - 1] else { continue };
            let Some(end) = process::poll(client.process)? else { continue };
            let failures = client.failures + u32::from(matches!(end, End::Code(_)));
            let is_over = end == End::Code(ExitCode::Ended as i32) || failures >= ATTEMPTS;
            if is_over || self.setup.place.board.is_stopped() {
                self.running[number - 1] = None;
                self.setup.place.board.ended(number);
            } else {
                let process = self.fork(number, true)?;
                self.running[number - 1] = Some(Client { process, failures });
            }
        }
        Ok(())
    }

    fn fork(&self, number: usize, resume: bool) -> Result<libc::pid_t> {
        let parent = std::process::id();
        let child = process::fork()?;
        if child != 0 {
            return Ok(child);
        }
        // without the process above there is nobody to take in what is found: an orderly end, even if whoever started
        // quagmire wanted that signal to be ignored
        // SAFETY: flags of this process.
        unsafe {
            libc::signal(libc::SIGTERM, libc::SIG_DFL);
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM)
        };
        if std::os::unix::process::parent_id() != parent {
            process::leave(ExitCode::Error as i32);
        }
        process::silence_output();
        pin(&self.setup.options, number);
        process::leave(match client(self.setup, self.harness, number, resume) {
            Ok(code) => code as i32,
            Err(error) => {
                warn(&format!("{}: {error}", Place::name(number)));
                error.code as i32
            }
        })
    }
}

/// Runs a client to its end.
fn client(main: &Setup, harness: &'static Harness, number: usize, resume: bool) -> Result<ExitCode> {
    let path = Place::folder(main.folder.path(), number);
    if let Some(clients) = path.parent() {
        files::create_folder(clients).map_err(|error| unwritable(clients, &error))?;
    }
    let folder = open(&path, resume && path.exists())?;
    let options = Options {
        output: path,
        // different numbers for each client, and the same ones each time
        seed: main.options.seed ^ (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15),
        confirm: false,
        plotting: false,
        quiet: true,
        sync: None,
        ..main.options.clone()
    };
    let setup = Setup {
        options,
        target: main.target.clone(),
        seeds: main.seeds.clone(),
        rules: main.rules.clone(),
        folder,
        publisher: None,
        max_size: main.max_size,
        start_ns: main.start_ns,
        started: main.started,
        environment: main.environment.clone(),
        place: Place { number, ..main.place },
    };
    super::search(&setup, harness, &mut || Ok(()))
}

/// Opens a client's folder. Processes of a client that was killed may still hold it for a moment.
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
        let board = Board::new(3).unwrap();
        let output = Path::new("/out");
        for number in 0..3 {
            let place = Place { number, of: 3, board };
            assert_eq!(place.output(&Place::folder(output, number)), output);
            let others: Vec<PathBuf> = place.others(output).map(|(_, folder)| folder).collect();
            assert!(others.len() == 2 && !others.contains(&Place::folder(output, number)), "{others:?}");
        }
    }

    #[test]
    fn clients_that_run_no_more_are_known() {
        let output = tempfile::tempdir().unwrap();
        let place = Place { number: 0, of: 1, board: Board::new(1).unwrap() };
        assert_eq!(place.earlier(output.path()).count(), 0);
        for client in 1..3 {
            std::fs::create_dir_all(Place::folder(output.path(), client)).unwrap();
        }
        let names: Vec<String> = place.earlier(output.path()).map(|(name, _)| name).collect();
        assert_eq!(names, ["client-1", "client-2"]);
    }
}
