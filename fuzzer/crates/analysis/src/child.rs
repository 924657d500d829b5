//! Child processes that run the target for another one, and answer through a socket.

use std::{
    io::{ErrorKind, Read},
    os::unix::net::UnixStream,
};

use quagmire_execution::{input_page::InputPage, watchdog::Watchdog};

/// Child process that runs the target.
pub(crate) struct Child {
    /// Its id.
    pub id: libc::pid_t,
    /// Socket to it; reading times out every second.
    pub stream: UnixStream,
    /// Whether it had to be killed.
    pub was_stuck: bool,
}

impl Child {
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
}
