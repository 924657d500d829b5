//! Reading from pipes of processes that may write much or nothing, or leave their pipes to others.

use std::{
    io::{self, Read},
    os::fd::AsRawFd,
    time::{Duration, Instant},
};

/// Waits up to `at_most` until at least one pipe is readable or closed. Returns which are.
pub fn readable<const N: usize>(pipes: [&dyn AsRawFd; N], at_most: Duration) -> [bool; N] {
    let mut polled = pipes.map(|pipe| libc::pollfd { fd: pipe.as_raw_fd(), events: libc::POLLIN, revents: 0 });
    let began = Instant::now();
    loop {
        let left = at_most.saturating_sub(began.elapsed());
        let milliseconds = left.as_millis().try_into().unwrap_or(i32::MAX);
        // SAFETY: as many descriptors as it is told.
        let ready = unsafe { libc::poll(polled.as_mut_ptr(), N as libc::nfds_t, milliseconds) };
        let is_interrupted = ready < 0 && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted;
        if !is_interrupted || left.is_zero() {
            return polled.map(|pipe| ready > 0 && pipe.revents != 0);
        }
    }
}

/// Reads once, keeping at most `most` bytes in total in `bytes` and discarding the rest. Returns false at the end.
pub fn read_part(pipe: &mut impl Read, bytes: &mut Vec<u8>, most: usize) -> io::Result<bool> {
    let mut part = [0; 1 << 16];
    loop {
        match pipe.read(&mut part) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            Ok(length) => {
                bytes.extend_from_slice(&part[..length.min(most.saturating_sub(bytes.len()))]);
                return Ok(length > 0);
            }
        }
    }
}

/// Reads what is available without blocking, keeping at most `most` bytes in total.
pub fn read_rest(pipe: &mut (impl Read + AsRawFd), bytes: &mut Vec<u8>, most: usize) -> io::Result<()> {
    while readable([&*pipe], Duration::ZERO) == [true] && read_part(pipe, bytes, most)? {}
    Ok(())
}
