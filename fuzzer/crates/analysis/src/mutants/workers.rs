//! Threads that share work.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
};

use super::ScoreOptions;
use crate::interruption;
use quagmire_base::error::Result;
use quagmire_execution::fork_server::mutants::MutantServer;

/// Calls `work` with a server of the thread for each number below `count`, on the threads that the options ask for, until a signal comes or an error
/// does. `take` gets each result, with its number, one at a time.
///
/// # Errors
/// The first of `work` and of starting servers.
pub(super) fn share<T: Send>(
    options: &ScoreOptions,
    count: usize,
    work: impl Fn(&mut MutantServer, usize) -> Result<Option<T>> + Sync,
    take: impl FnMut(usize, T) -> Result<()> + Send,
) -> Result<()> {
    let (next, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let taker = Mutex::new(take);
    let one = || -> Result<()> {
        let mut server = None;
        while !is_over.load(Relaxed) && !interruption::has_come() {
            let number = next.fetch_add(1, Relaxed);
            if number >= count {
                break;
            }
            let server = match &mut server {
                Some(server) => server,
                none => none.insert(MutantServer::start(&options.program, &options.files)?),
            };
            if let Some(done) = work(server, number)? {
                let mut take = taker.lock().unwrap_or_else(PoisonError::into_inner);
                take(number, done)?;
            }
        }
        Ok(())
    };
    on_threads(options.jobs.min(count), || one().inspect_err(|_| is_over.store(true, Relaxed)))
}

/// Calls `work` on so many threads at a time, and waits for all of them.
///
/// # Errors
/// That of the first thread that has one.
pub(super) fn on_threads(number: usize, work: impl Fn() -> Result<()> + Sync) -> Result<()> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..number).map(|_| scope.spawn(&work)).collect();
        let mut first = Ok(());
        for thread in threads {
            match thread.join() {
                Ok(ended) => first = first.and(ended),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        first
    })
}
