//! Memory as AFL shares it: a System V segment, which is named by a number.

use std::{io, ptr::NonNull};

/// A segment that this process has attached. It is marked for removal from the start: Linux lets others attach it by its
/// number until the last one has let go of it. So nothing is left behind, whatever dies when.
pub(crate) struct Segment {
    number: i32,
    place: NonNull<u8>,
    length: usize,
}

impl Segment {
    /// Zeroed; pages take memory once they are used.
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

    /// What others attach it by.
    pub(crate) fn number(&self) -> i32 {
        self.number
    }

    /// Its bytes. Between runs only: then nobody else has business with them.
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
