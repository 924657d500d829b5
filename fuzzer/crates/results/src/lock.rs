//! Locks on files that only this process holds. A process that the target forks inherits every descriptor and may
//! outlive the campaign; the descriptors of locks are closed in it.

use std::{
    fs::File,
    io,
    os::fd::AsRawFd,
    sync::{
        Once,
        atomic::{AtomicI32, Ordering::Relaxed},
    },
};

use quagmire_execution::process;

/// Marks a free place in [`HELD`].
const NONE: i32 = -1;

/// Descriptors of the locks of this process: the output folder, its place in a sync folder, and one to spare. Static,
/// since a handler of `pthread_atfork` closes them.
static HELD: [AtomicI32; 3] = [const { AtomicI32::new(NONE) }; 3];

/// A locked file. The system releases the lock however the process ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
    place: Option<usize>,
}

impl Lock {
    /// Wraps a file that was locked with [`try_lock`], and closes it in processes that the target forks.
    pub fn of(file: File) -> Self {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            // SAFETY: a handler that makes system calls only. If there is no memory for it, all is as without it.
            let _ = unsafe { libc::pthread_atfork(None, None, Some(let_go)) };
        });
        let is_taken = |place: &AtomicI32| place.compare_exchange(NONE, file.as_raw_fd(), Relaxed, Relaxed).is_ok();
        let place = HELD.iter().position(is_taken);
        Self { _file: file, place }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            HELD[place].store(NONE, Relaxed);
        }
    }
}

/// Locks a file; `Ok(false)` if another process holds the lock.
///
/// # Errors
/// If the file system has no locks.
pub fn try_lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(std::fs::TryLockError::WouldBlock) => Ok(false),
        Err(std::fs::TryLockError::Error(error)) => Err(error),
    }
}

/// Closes the locks in a process that was just forked, unless it is one of quagmire's own.
extern "C" fn let_go() {
    if process::is_forking() {
        return; // one of ours
    }
    for descriptor in HELD.iter().map(|held| held.load(Relaxed)).filter(|&descriptor| descriptor != NONE) {
        // SAFETY: a descriptor of this process, which has no other use for it.
        unsafe { libc::close(descriptor) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_was_forked_by_others_keeps_no_lock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let file = File::create(&path).unwrap();
        assert!(try_lock(&file).unwrap());
        let lock = Lock::of(file);
        // SAFETY: the child does nothing but wait for its end.
        let child = unsafe { libc::fork() };
        if child == 0 {
            loop {
                // SAFETY: a plain system call.
                unsafe { libc::pause() };
            }
        }
        let again = File::open(&path).unwrap();
        assert!(!try_lock(&again).unwrap(), "this process has it");
        drop(lock);
        let mut is_free = false;
        for _ in 0..500 {
            // the child may not have been there yet
            is_free = is_free || try_lock(&again).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(u64::from(!is_free) * 10));
        }
        // SAFETY: a child of this test.
        unsafe { libc::kill(child, libc::SIGKILL) };
        process::wait(child).unwrap();
        assert!(is_free);
    }
}
