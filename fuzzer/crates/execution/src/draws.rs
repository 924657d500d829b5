//! Observer of draws: what the target takes from its input, call by call, and bytes that it is to take instead.

use std::{
    borrow::Cow,
    cell::Cell,
    sync::atomic::Ordering::{Relaxed, SeqCst},
};

use libafl::{
    Error,
    executors::ExitKind,
    inputs::{BytesInput, HasMutatorBytes},
    observers::Observer,
};
use libafl_bolts::Named;
use quagmire_choices::draws::{Draw, Item, Overlay};
use serde::{Deserialize, Serialize};

use super::abi::{GENERATED_BYTES, MAX_DRAWS, MAX_OVERLAY_ITEMS, OVERLAY_BYTES, RawDraws};

/// LibAFL observer of the draws of a run by FuzzedDataProvider or `quagmire/draws.h`. Records nothing at first.
#[derive(Default, Serialize, Deserialize)]
pub struct DrawsObserver {
    /// `None` if nothing records draws.
    #[serde(skip)]
    raw: Option<&'static RawDraws>,
    #[serde(skip)]
    is_recording: bool,
    /// The overlay of the next or last run, as the runtime has it.
    #[serde(skip)]
    items: Vec<Item>,
    #[serde(skip)]
    bytes: Vec<u8>,
    #[serde(skip)]
    log: Vec<Draw>,
    #[serde(skip)]
    is_cut: bool,
    #[serde(skip)]
    patched: Option<Vec<u8>>,
}

/// Draws of a run, and its input with the bytes of the overlay.
#[derive(Debug)]
pub struct Drawn {
    log: Vec<Draw>,
    is_cut: bool,
    patched: Option<Vec<u8>>,
}

impl DrawsObserver {
    /// Makes an observer of the runtime's record.
    pub(crate) fn new(raw: Option<&'static RawDraws>) -> Self {
        if let Some(raw) = raw {
            // the process before this one may have recorded
            raw.is_recording.store(0, Relaxed);
            raw.items.store(0, Relaxed);
        }
        Self { raw, ..Self::default() }
    }

    /// Whether the target has drawn in any run of this process, or was compiled with a header that draws.
    pub fn are_used(&self) -> bool {
        self.raw.is_some_and(|raw| raw.are_used.load(Relaxed) != 0)
    }

    /// Records the following runs, or does not.
    pub fn record(&mut self, on: bool) {
        self.is_recording = on;
        if let Some(raw) = self.raw {
            raw.is_recording.store(on.into(), Relaxed);
        }
    }

    /// Sets the bytes that draws of the next run take instead of those in its input, and records that run. Items that
    /// find no room are left out.
    pub fn set_overlay(&mut self, overlay: &mut Overlay) {
        self.items.clear();
        self.bytes.clear();
        let Some(raw) = self.raw else { return };
        let fits = |item: &&Item| item.start as usize + item.length as usize <= OVERLAY_BYTES;
        self.items.extend(overlay.sorted().iter().filter(fits).take(MAX_OVERLAY_ITEMS));
        self.bytes.extend(overlay.bytes.iter().take(OVERLAY_BYTES));
        for (place, item) in raw.item.iter().zip(&self.items) {
            place.set(*item);
        }
        for (place, byte) in raw.overlay.iter().zip(&self.bytes) {
            place.set(*byte);
        }
        raw.items.store(self.items.len() as u64, SeqCst);
    }

    /// Draws of the last run in their order; empty if it was not recorded. Those whose bytes are not in the input have
    /// the offset [`Draw::ELSEWHERE`]; part numbers are those of draws at or before the draw.
    pub fn log(&self) -> &[Draw] {
        &self.log
    }

    /// Whether the last run has made more draws than there is room for.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Input of the last run with the bytes of the overlay, as the draws took them; `None` if none took any.
    pub fn patched(&self) -> Option<&[u8]> {
        self.patched.as_deref()
    }

    /// Takes what is known of the draws of the last run, to be put back after its input was run again.
    pub fn take_drawn(&mut self) -> Drawn {
        use std::mem::take;
        Drawn { log: take(&mut self.log), is_cut: self.is_cut, patched: take(&mut self.patched) }
    }

    /// Puts back what [`Self::take_drawn`] has taken.
    pub fn put_back(&mut self, drawn: Drawn) {
        (self.log, self.is_cut, self.patched) = (drawn.log, drawn.is_cut, drawn.patched);
    }

    /// Whether the last run has called `qgm_generated`: counts are those of what came after it.
    pub fn has_generated(&self) -> bool {
        self.raw.is_some_and(|raw| raw.generated.load(SeqCst) != 0)
    }

    /// Ticks of the time-stamp counter that the generator of the last run took in this process.
    #[inline]
    pub(crate) fn generator_cycles(&self) -> u64 {
        self.raw.map_or(0, |raw| raw.generator_cycles.load(Relaxed))
    }

    /// Bytes that the last run, which was recorded, has handed to `qgm_generated`, up to 1 MiB; `None` if it has not
    /// called it.
    pub fn generated(&self) -> Option<Vec<u8>> {
        let raw = self.raw?;
        let size = raw.generated.load(SeqCst).checked_sub(1)?;
        let size = usize::try_from(size).unwrap_or(usize::MAX).min(GENERATED_BYTES);
        Some(raw.made[..size].iter().map(Cell::get).collect())
    }

    /// Reads the draws of the run of `input` that has just ended. The overlay is not used again.
    pub(crate) fn digest(&mut self, input: &[u8]) {
        self.log.clear();
        self.patched = None;
        let Some(raw) = self.raw.filter(|_| self.is_recording || !self.items.is_empty()) else { return };
        let count = usize::try_from(raw.count.load(SeqCst)).unwrap_or(usize::MAX);
        self.is_cut = count > MAX_DRAWS;
        for place in &raw.draw[..count.min(MAX_DRAWS)] {
            let draw = checked(place.get(), &self.log, input.len());
            self.log.push(draw);
        }
        if !self.items.is_empty() {
            self.patched = patched(input, &self.log, &self.items, &self.bytes);
            self.items.clear();
            raw.items.store(0, SeqCst);
        }
    }
}

/// A draw with numbers that can be relied on, given those before it.
fn checked(mut draw: Draw, before: &[Draw], input: usize) -> Draw {
    let number = before.len() as u32;
    let is_inside = (draw.offset as usize).checked_add(draw.length as usize).is_some_and(|end| end <= input);
    if !is_inside {
        draw.offset = Draw::ELSEWHERE;
    }
    if before.get(draw.part as usize).is_none_or(|first| first.part != draw.part) {
        draw.part = number;
    }
    draw
}

/// The input with the bytes that draws have taken from the overlay, in the order in which they took them.
fn patched(input: &[u8], log: &[Draw], items: &[Item], bytes: &[u8]) -> Option<Vec<u8>> {
    let mut patched = None;
    for draw in log.iter().filter(|draw| draw.is_overlaid != 0 && draw.offset != Draw::ELSEWHERE) {
        let item = items.get(items.partition_point(|item| item.key < draw.key)).filter(|item| item.key == draw.key);
        let Some(item) = item else { continue };
        let Some(bytes) = bytes.get(item.start as usize..).and_then(|rest| rest.get(..item.length as usize)) else {
            continue;
        };
        // a text may have ended before
        let length = bytes.len().min(draw.length as usize);
        let offset = draw.offset as usize;
        patched.get_or_insert_with(|| input.to_vec())[offset..offset + length].copy_from_slice(&bytes[..length]);
    }
    patched
}

impl Named for DrawsObserver {
    fn name(&self) -> &Cow<'static, str> {
        const NAME: &Cow<'static, str> = &Cow::Borrowed("draws");
        NAME
    }
}

impl<S> Observer<BytesInput, S> for DrawsObserver {
    fn post_exec(&mut self, _state: &mut S, input: &BytesInput, _exit_kind: &ExitKind) -> Result<(), Error> {
        self.digest(input.mutator_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn draw(key: u64, offset: u32, length: u32) -> Draw {
        Draw { key, offset, length, is_overlaid: 1, ..Draw::default() }
    }

    #[test]
    fn bytes_of_the_overlay_are_put_where_the_draws_took_them_and_later_ones_win() {
        let mut overlay = Overlay::default();
        overlay.set(7, b"xyz");
        overlay.set(3, b"AB");
        overlay.set(9, b"never");
        let items = overlay.sorted().to_vec();
        let log = [draw(7, 1, 2), draw(3, 2, 2), Draw { is_overlaid: 0, ..draw(9, 0, 5) }];
        assert_eq!(patched(b"012345", &log, &items, &overlay.bytes).as_deref(), Some(&b"0xAB45"[..]));
        assert_eq!(patched(b"012345", &log[2..], &items, &overlay.bytes), None);
    }

    #[test]
    fn draws_outside_of_the_input_are_elsewhere_and_parts_are_those_of_earlier_draws() {
        let log = [Draw { part: 0, ..draw(1, 0, 4) }];
        assert_eq!(checked(draw(2, 3, 2), &log, 4), Draw { offset: Draw::ELSEWHERE, ..draw(2, 3, 2) });
        assert_eq!(checked(Draw { part: 9, ..draw(2, 3, 1) }, &log, 4).part, 1);
        assert_eq!(checked(Draw { part: 0, ..draw(2, 3, 1) }, &log, 4).part, 0);
    }

    proptest! {
        #[test]
        fn whatever_the_target_has_written_changes_bytes_of_the_input_only(
            raw in proptest::collection::vec((0..4u64, any::<u32>(), 0..9u32, any::<u32>(), any::<u8>()), 0..20),
            input in proptest::collection::vec(any::<u8>(), 0..16),
        ) {
            let mut log = Vec::new();
            for (key, offset, length, part, is_overlaid) in raw {
                let one = Draw { key, offset: offset % 20, length, part: part % 20, is_overlaid, ..Draw::default() };
                log.push(checked(one, &log, input.len()));
            }
            let items = [Item { key: 1, start: 0, length: 4 }, Item { key: 2, start: 2, length: u32::MAX }];
            let result = patched(&input, &log, &items, b"abcd");
            prop_assert!(result.is_none_or(|bytes| bytes.len() == input.len()));
        }
    }
}
