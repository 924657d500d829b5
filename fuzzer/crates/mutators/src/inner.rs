//! Havoc for mutators of the harness: what `LLVMFuzzerMutate` does for a part of an input, such as a text field.

use std::sync::{Mutex, PoisonError};

use libafl::{
    inputs::BytesInput,
    mutators::{
        MutationResult, Mutator,
        havoc_mutations::{HavocMutationsNoCrossoverType, havoc_mutations_no_crossover},
    },
    state::{HasMaxSize, HasRand},
};
use libafl_bolts::rands::{Rand, StdRand};

use crate::havoc::Stacked;

/// Number of mutations that are tried if one changes nothing.
const TRIES: usize = 8;

/// State of LibAFL's mutations.
struct InnerState {
    rand: StdRand,
    max_size: usize,
}

impl HasRand for InnerState {
    type Rand = StdRand;

    fn rand(&self) -> &StdRand {
        &self.rand
    }

    fn rand_mut(&mut self) -> &mut StdRand {
        &mut self.rand
    }
}

impl HasMaxSize for InnerState {
    fn max_size(&self) -> usize {
        self.max_size
    }

    fn set_max_size(&mut self, max_size: usize) {
        self.max_size = max_size;
    }
}

struct Inner {
    state: InnerState,
    havoc: Stacked<HavocMutationsNoCrossoverType>,
    input: BytesInput,
}

/// State of the mutations. Static, since `LLVMFuzzerMutate` gets no value from the engine; locked, since threads of the
/// harness may call it.
static INNER: Mutex<Option<Inner>> = Mutex::new(None);

fn with<T>(work: impl FnOnce(&mut Inner) -> T) -> T {
    let mut inner = INNER.lock().unwrap_or_else(PoisonError::into_inner);
    work(inner.get_or_insert_with(|| Inner {
        state: InnerState { rand: StdRand::with_seed(0), max_size: 0 },
        havoc: Stacked::new("havoc", havoc_mutations_no_crossover(), 0),
        input: BytesInput::new(Vec::new()),
    }))
}

/// Sets the seed that the following calls of [`mutate`] depend on.
pub fn seed(seed: u64) {
    with(|inner| inner.state.rand = StdRand::with_seed(seed));
}

/// Applies one of havoc's mutations to `part`, cut to `room` bytes, which limit the result too. Returns the result, which is
/// empty only if there is no room.
pub fn mutate(part: &[u8], room: usize) -> Vec<u8> {
    let part = &part[..part.len().min(room)];
    if room == 0 {
        return Vec::new();
    }
    with(|Inner { state, havoc, input }| {
        state.set_max_size(room);
        if part.is_empty() {
            return vec![state.rand.below_or_zero(256) as u8];
        }
        for _ in 0..TRIES {
            let bytes: &mut Vec<u8> = input.as_mut();
            bytes.clear();
            bytes.extend_from_slice(part);
            let result = havoc.mutate(state, input);
            let bytes: &Vec<u8> = input.as_ref();
            if matches!(result, Ok(MutationResult::Mutated)) && !bytes.is_empty() && bytes != part {
                return bytes.clone();
            }
        }
        part.to_vec()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mutants of `text` in a room of this size.
    fn mutants(text: &[u8], room: usize) -> Vec<Vec<u8>> {
        seed(7);
        (0..500).map(|_| mutate(text, room)).collect()
    }

    // one test, since the state is that of the process
    #[test]
    fn parts_of_inputs_change_within_their_room_by_the_seed_and_never_vanish() {
        let text = b"some text";
        let found = mutants(text, 12);
        assert!(found.iter().all(|bytes| (1..=12).contains(&bytes.len())));
        assert!(found.iter().filter(|bytes| *bytes != text).count() > 490);
        assert!(found.iter().any(|bytes| bytes.len() < 9) && found.iter().any(|bytes| bytes.len() > 9));
        assert_eq!(found, mutants(text, 12));
        assert!(mutants(b"", 4).iter().all(|bytes| !bytes.is_empty()));
        assert!(mutants(b"x", 1).iter().all(|bytes| bytes.len() == 1));
        assert!(mutants(b"too long", 3).iter().all(|bytes| bytes.len() <= 3));
        assert_eq!(mutate(b"x", 0), b"");
    }
}
