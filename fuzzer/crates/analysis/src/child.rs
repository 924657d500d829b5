//! Child processes that run the target for another one, and answer through a socket.

use std::{
    io::{ErrorKind, Read, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    time::Duration,
};

use quagmire_base::error::{Error, Result};
use quagmire_execution::{
    input_page::InputPage,
    process::{self, End},
    watchdog::Watchdog,
};

/// Child process that runs the target.
#[derive(Debug)]
pub(crate) struct Child {
    pub id: libc::pid_t,
    /// Socket to it; reading times out every second.
    pub stream: UnixStream,
    /// Whether it had to be killed.
    pub was_stuck: bool,
}

impl Child {
    /// Forks a process that calls `serve` with its end of a socket, and exits with 1 if that returns `None`: its
    /// socket has failed, so that the parent is gone. Call it only while this process has no other thread.
    ///
    /// # Errors
    /// If there is no memory or no descriptor for it.
    pub(crate) fn start(serve: impl FnOnce(UnixStream) -> Option<()>) -> Result<Self> {
        let socket = |error| Error::other(format!("cannot make a socket: {error}"));
        let (ours, theirs) = UnixStream::pair().map_err(socket)?;
        ours.set_read_timeout(Some(Duration::from_secs(1))).map_err(socket)?;
        let parent = std::process::id();
        // SAFETY: the commands that start children have no other thread.
        let id = unsafe { process::fork()? };
        if id == 0 {
            drop(ours);
            process::die_with_parent(parent);
            process::usual_signals();
            let is_done = serve(theirs).is_some();
            process::leave(if is_done { 0 } else { 1 });
        }
        Ok(Self { id, stream: ours, was_stuck: false })
    }

    /// Sends bytes after their number. Returns false if the child has ended.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> bool {
        write_block(&mut self.stream, bytes).is_some()
    }

    /// Fills `bytes` from the socket. Returns false if the child has ended. Kills a child whose run does not end in
    /// spite of the timer.
    pub(crate) fn receive(&mut self, bytes: &mut [u8], page: &InputPage) -> bool {
        let mut watchdog = Watchdog::new(page);
        let mut filled = 0;
        while filled < bytes.len() {
            match self.stream.read(&mut bytes[filled..]) {
                Ok(0) => return false,
                Ok(more) => filled += more,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    if watchdog.is_stuck(page) {
                        // SAFETY: a child of ours that was not waited for.
                        unsafe { libc::kill(self.id, libc::SIGKILL) };
                        self.was_stuck = true;
                        return false;
                    }
                }
                Err(_) => return false,
            }
        }
        true
    }

    /// Receives bytes after their number; `None` if the child has ended, or the number is more than 4 GiB.
    pub(crate) fn receive_block(&mut self, page: &InputPage) -> Option<Vec<u8>> {
        let mut length = [0; 8];
        if !self.receive(&mut length, page) {
            return None;
        }
        let mut bytes = Vec::new();
        make_room(&mut bytes, u64::from_le_bytes(length))?;
        self.receive(&mut bytes, page).then_some(bytes)
    }

    /// Closes the socket, upon which the child exits, and waits for that.
    pub(crate) fn end(self) -> Result<End> {
        // processes that the target has left may have a copy of it
        let _ = self.stream.shutdown(Shutdown::Both);
        process::wait(self.id)
    }
}

/// Writes bytes after their number, 64 bits in little endian. `None` if the other end is gone.
pub(crate) fn write_block(stream: &mut impl Write, bytes: &[u8]) -> Option<()> {
    stream.write_all(&(bytes.len() as u64).to_le_bytes()).ok()?;
    stream.write_all(bytes).ok()
}

/// Largest block, in bytes: a target may have written the number.
const LARGEST_BLOCK: u64 = 1 << 32;

/// Reads bytes after their number into `bytes`. `None` if the other end is gone, or the number is more than 4 GiB.
pub(crate) fn read_block(stream: &mut impl Read, bytes: &mut Vec<u8>) -> Option<()> {
    let mut length = [0; 8];
    stream.read_exact(&mut length).ok()?;
    make_room(bytes, u64::from_le_bytes(length))?;
    stream.read_exact(bytes).ok()
}

/// Makes `bytes` so many zeros. `None` if they are more than a block has, or there is no memory for them.
fn make_room(bytes: &mut Vec<u8>, length: u64) -> Option<()> {
    if length > LARGEST_BLOCK {
        return None;
    }
    bytes.clear();
    bytes.try_reserve_exact(length as usize).ok()?;
    bytes.resize(length as usize, 0);
    Some(())
}
