//! Shared memory as AFL uses it: a System V segment, identified by a number.

use std::{io, ptr::NonNull};

/// A System V segment attached by this process. It is marked for removal from the start: Linux lets others attach it
/// by number until the last process detaches it, so that nothing is left behind whatever dies when.
pub(crate) struct Segment {
    number: i32,
    place: NonNull<u8>,
    length: usize,
}

impl Segment {
    /// Creates and attaches a zeroed segment; pages take memory once they are used.
    ///
    /// # Errors
    /// If the system has no segment of this length.
    pub(crate) fn new(length: usize) -> io::Result<Self> {
        // SAFETY: a new segment, at an address that the system chooses.
        let (number, place) = unsafe {
            let number = libc::shmget(libc::IPC_PRIVATE, length, libc::IPC_CREAT | libc::SHM_NORESERVE | 0o600);
            if number < 0 {
                return Err(io::Error::last_os_error());
            }
            let place = libc::shmat(number, std::ptr::null(), 0);
            let error = io::Error::last_os_error();
            libc::shmctl(number, libc::IPC_RMID, std::ptr::null_mut());
            if place as isize == -1 {
                return Err(error);
            }
            (number, place)
        };
        let place = NonNull::new(place.cast()).ok_or_else(|| io::Error::other("no address"))?;
        Ok(Self { number, place, length })
    }

    /// Identifier by which other processes attach it.
    pub(crate) fn number(&self) -> i32 {
        self.number
    }

    /// Its bytes. Call it between runs only, when no other process uses them.
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: attached for as long as this value lives; what a stray process of the target writes are plain bytes.
        unsafe { std::slice::from_raw_parts_mut(self.place.as_ptr(), self.length) }
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        // SAFETY: attached by `new`, and not used any more.
        unsafe { libc::shmdt(self.place.as_ptr().cast()) };
    }
}
