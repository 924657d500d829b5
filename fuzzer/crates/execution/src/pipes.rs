//! Reading from pipes of processes that may write much or nothing, or leave their pipes to others.

use std::{
    io::{self, Read},
    os::fd::AsFd,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};

/// Waits up to `at_most` until at least one pipe is readable or closed. Returns which are.
pub fn readable<const N: usize>(pipes: [&dyn AsFd; N], at_most: Duration) -> [bool; N] {
    let mut polled = pipes.map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN));
    let began = Instant::now();
    loop {
        let left = at_most.saturating_sub(began.elapsed());
        let ready = poll(&mut polled, Timespec::try_from(left).ok().as_ref());
        if ready != Err(Errno::INTR) || left.is_zero() {
            return polled.map(|pipe| ready.is_ok() && !pipe.revents().is_empty());
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
pub fn read_rest(pipe: &mut (impl Read + AsFd), bytes: &mut Vec<u8>, most: usize) -> io::Result<()> {
    while readable([&*pipe], Duration::ZERO) == [true] && read_part(pipe, bytes, most)? {}
    Ok(())
}
