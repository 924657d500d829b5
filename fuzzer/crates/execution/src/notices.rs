//! Conditions that the user is warned of once in each process, such as those that make counts wrong or incomplete.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A condition that the user should know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The tables of a library were refused because the list is full.
    TooManyLibraries = 1,
    /// Threads outlive the run that started them.
    Threads = 2,
    /// The harness's own mutator has returned more bytes than it was allowed to.
    MutantsTooLong = 4,
    /// The generator in front of the program has ended a run, or returned more than its room.
    GeneratorFails = 8,
}

const ALL: [Notice; 4] = [Notice::TooManyLibraries, Notice::Threads, Notice::MutantsTooLong, Notice::GeneratorFails];

/// Notices recorded so far. Static, since a process counts rightly or not as a whole.
static NOTICED: AtomicU32 = AtomicU32::new(0);

impl Notice {
    /// Records the notice.
    pub fn raise(self) {
        NOTICED.fetch_or(self as u32, Relaxed);
    }

    /// One line for the user, with the remedy.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::TooManyLibraries => {
                "the program has opened more than 255 different libraries with counts: the others are not counted; compile \
                 those that do not matter without quagmire-cc"
            }
            Self::Threads => {
                "threads of the program go on after their run: what they do later may count for other inputs; join them before \
                 the run ends, or build the harness with QUAGMIRE_DRIVER=1, which makes their runs in processes of their own"
            }
            Self::MutantsTooLong => {
                "the harness's own mutator returns more bytes than its max_size: they are cut off; it must not write or return \
                 more than that"
            }
            Self::GeneratorFails => {
                "the generator crashes, hangs, exits, or returns more than its room for some inputs: these are rejected, and are no \
                 findings of the program"
            }
        }
    }
}

/// All recorded notices, as bits.
pub fn noticed() -> u32 {
    NOTICED.load(Relaxed)
}

/// The notices among these bits.
pub fn among(bits: u32) -> impl Iterator<Item = Notice> {
    ALL.into_iter().filter(move |&notice| bits & notice as u32 != 0)
}
