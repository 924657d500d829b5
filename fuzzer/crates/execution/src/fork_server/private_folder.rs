//! The private folder of a command: files that its runs see, in memory where there is room, removed when the command ends,
//! however it ends.

use std::{
    fs::{self, DirBuilder, File},
    hash::{BuildHasher, Hasher, RandomState},
    io::{self, PipeReader, PipeWriter, Read},
    os::{
        fd::{AsRawFd, RawFd},
        unix::fs::DirBuilderExt,
    },
    path::{Path, PathBuf},
    time::Duration,
};

use super::run_folder::{letters, remove_any};
use crate::process;
use quagmire_base::{
    error::{Error, Result},
    plain::warn,
};

/// Folder of files in memory.
const IN_MEMORY: &str = "/dev/shm";

/// Space that has to be free in memory, in bytes: more than most inputs take.
const ROOM: libc::off_t = 4 << 20;

/// Number of attempts to find a name that is free, and to remove a folder in which processes that end still write.
const ATTEMPTS: u32 = 50;

/// Descriptor of the pipe in the process that removes the folder.
const WATCHED: RawFd = 3;

/// A folder that nobody else can enter. It is removed when this value is dropped, or by a process of its own when the process
/// that made it, and all that were forked from that, have ended.
#[derive(Debug)]
pub struct PrivateFolder {
    path: PathBuf,
    owner: u32,
    /// Held open by this process and its forks.
    _alive: PipeWriter,
}

impl PrivateFolder {
    /// Creates a folder in `/dev/shm`, or in the temporary folder if that is missing, full, or cannot be written; says so in the
    /// latter cases.
    ///
    /// # Safety
    /// This process must have no other thread.
    ///
    /// # Errors
    /// If neither can be written, or no process can be started.
    pub unsafe fn create() -> Result<Self> {
        let memory = Path::new(IN_MEMORY);
        let path = match Self::below(memory) {
            Ok(path) => path,
            Err(error) => {
                let other = std::env::temp_dir();
                let shown = other.display();
                let path = Self::below(&other).map_err(|error| {
                    Error::other(format!(
                        "no folder for the files of runs in {IN_MEMORY} or {shown} ({error}): set TMPDIR to a folder with some room"
                    ))
                })?;
                if memory.is_dir() {
                    warn(&format!(
                        "{IN_MEMORY} cannot be used ({error}): the files of runs are in {shown}, which may be slower"
                    ));
                }
                path
            }
        };
        let cannot = |error: io::Error| Error::other(format!("cannot make a pipe: {error}"));
        let (watched, alive) = io::pipe().map_err(cannot)?;
        // SAFETY: the caller's promise.
        if unsafe { process::fork()? } == 0 {
            drop(alive);
            remove_at_end(watched, &path);
        }
        Ok(Self { path, owner: std::process::id(), _alive: alive })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates a folder below `parent`. Its name has the same length each time, and nothing but letters that vary: the path of the
    /// input is part of what a program works with.
    fn below(parent: &Path) -> io::Result<PathBuf> {
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        for _ in 0..ATTEMPTS {
            let number = RandomState::new().build_hasher().finish();
            let path = std::path::absolute(parent.join(format!("quagmire-{}", letters(number, 8))))?;
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return has_room(&path).map(|()| path.clone()).inspect_err(|_| drop(fs::remove_dir(&path))),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }
}

/// Whether a file of some size can be written in a folder.
fn has_room(folder: &Path) -> io::Result<()> {
    let path = folder.join("room");
    let file = File::create_new(&path)?;
    // SAFETY: an open file.
    let failed = unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, ROOM) };
    fs::remove_file(&path)?;
    if failed == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(failed)) }
}

/// Work of the process that removes the folder: waits until nobody holds the other end of the pipe.
fn remove_at_end(mut watched: PipeReader, path: &Path) -> ! {
    // SAFETY: plain system calls of a process with one thread. It outlives signals to the terminal and to process groups, and
    // keeps nobody waiting for the end of what it has inherited.
    unsafe {
        libc::setsid();
        for signal in process::ENDING {
            libc::signal(signal, libc::SIG_IGN);
        }
        if libc::dup2(watched.as_raw_fd(), WATCHED) == WATCHED
            && let Ok(null) = File::options().read(true).write(true).open("/dev/null")
        {
            for stream in 0..WATCHED {
                libc::dup2(null.as_raw_fd(), stream);
            }
            std::mem::forget(std::mem::replace(&mut watched, std::os::fd::FromRawFd::from_raw_fd(WATCHED)));
            std::mem::forget(null);
            libc::syscall(libc::SYS_close_range, WATCHED as u32 + 1, u32::MAX, 0);
        }
    }
    let _ = watched.read_to_end(&mut Vec::new());
    for _ in 0..ATTEMPTS {
        if remove_any(path).is_ok() {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    process::leave(0)
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        // forks have copies of this value
        if std::process::id() == self.owner {
            let _ = remove_any(&self.path);
        }
    }
}
