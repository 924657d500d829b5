//! Sets of bytes.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ByteSet([u64; 4]);

impl ByteSet {
    pub(super) fn of(bytes: impl IntoIterator<Item = u8>) -> Self {
        let mut set = Self::default();
        bytes.into_iter().for_each(|byte| set.insert(byte));
        set
    }

    pub(super) fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    pub(super) fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 != 0
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    pub(super) fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub(super) fn bytes(&self) -> impl Iterator<Item = u8> + '_ {
        (0..=255).filter(|&byte| self.contains(byte))
    }

    /// Adds all bytes of another set. Returns whether there was a new one.
    pub(super) fn merge(&mut self, other: &Self) -> bool {
        let before = self.0;
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word |= other);
        self.0 != before
    }
}

/// Continuation of an input: bytes that may come next, or its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Next {
    pub(super) bytes: ByteSet,
    pub(super) end: bool,
}

impl Next {
    /// Whether the input may go on as it does at this place.
    pub(super) fn fits(&self, input: &[u8], at: usize) -> bool {
        input.get(at).map_or(self.end, |&byte| self.bytes.contains(byte))
    }

    /// Adds all of another. Returns whether there was anything new.
    pub(super) fn merge(&mut self, other: &Self) -> bool {
        let is_end_new = other.end && !self.end;
        self.end |= other.end;
        self.bytes.merge(&other.bytes) || is_end_new
    }
}
