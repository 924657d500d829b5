//! Computation of a mask with far fewer probes than one for each byte and kind of edit: blocks are edited as a whole,
//! and only blocks that fail are looked into.
//!
//! Each kind of edit goes over the input once. A block that may be edited is followed by one twice as long; a block
//! that may not is tried again with a quarter of its length, down to single positions. Long stretches that do not
//! matter cost a few probes, and dense ones about one for each position, as in FairFuzz. A block that may be edited as
//! a whole marks all its positions. Where edits make up for each other that is wrong; the mask is an approximation.
//!
//! Where nearly every byte matters, as for the cost of a document, that would be several probes for each byte. So each
//! kind of edit has a schedule: while it is behind it, small blocks that may not be edited are not looked into.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::Probe;
use quagmire_mutators::mask::{Edit, Mask};

/// Progress of one kind of edit.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Lane {
    /// First position that is not known yet.
    at: usize,
    /// Length of the next block.
    block: usize,
    /// Number of probes so far.
    probes: usize,
}

impl Lane {
    fn new(at: usize, block: usize) -> Self {
        Self { at, block, probes: 0 }
    }

    /// Whether it has taken more probes than its schedule allows up to this position.
    fn is_behind(&self) -> bool {
        self.probes > START + self.at / PER_PROBE
    }
}

/// A mask and the progress of its computation. Edits that are not known yet are not allowed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Computation {
    mask: Mask,
    lanes: [Lane; 3],
    /// Number of probes so far, of all kinds of edits.
    probes: u64,
    /// End of the part that has to be probed; behind it, the mask of another input was taken over.
    end: usize,
    /// Largest length of a block.
    longest: usize,
    /// Draws of a generator, in order; then they are the blocks.
    draws: Option<Vec<Range<usize>>>,
}

/// Length of the first block, in positions.
const FIRST_BLOCK: usize = 16;

/// Schedule of one kind of edit: `START` probes, and one more for each `PER_PROBE` positions.
const START: usize = 256;
const PER_PROBE: usize = 16;

/// Length up to which blocks are not split while an edit is behind its schedule, in positions.
const COARSE_BLOCK: usize = 32;

/// Replacement of a byte in probes that overwrite.
fn flipped(byte: u8) -> u8 {
    byte ^ 0xff
}

impl Computation {
    /// Creates a computation for an input of `length` bytes, with nothing known.
    pub fn new(length: usize) -> Self {
        let lanes = [Lane::new(0, FIRST_BLOCK); 3];
        Self { mask: Mask::nothing(length), lanes, probes: 0, end: length + 1, longest: usize::MAX, draws: None }
    }

    /// Approximate maximum of the probes for a mask of an input of `length` bytes: FairFuzz's number, or three
    /// schedules if that is less.
    pub fn price(length: usize) -> usize {
        3 * (length + 1).min(START + length / PER_PROBE)
    }

    /// Creates a computation as FairFuzz does it: one probe for each position and kind of edit.
    pub fn exact(length: usize) -> Self {
        Self { lanes: [Lane::new(0, 1); 3], longest: 1, ..Self::new(length) }
    }

    /// Creates a computation for an input whose bytes are draws of a generator: each range is one draw, overwritten as a
    /// whole. Nothing else is allowed: what is inserted or deleted would move the draws behind it.
    pub fn of_draws(length: usize, mut draws: Vec<Range<usize>>) -> Self {
        draws.retain(|draw| !draw.is_empty() && draw.end <= length);
        draws.sort_unstable_by_key(|draw| draw.start);
        draws.dedup_by(|later, earlier| later.start < earlier.end);
        let none = Lane::new(length + 1, 1);
        let overwrite = Lane::new(draws.first().map_or(length, |draw| draw.start), 1);
        Self { lanes: [overwrite, none, none], draws: Some(draws), ..Self::new(length) }
    }

    /// Creates a complete mask that allows everything.
    pub fn everything(length: usize) -> Self {
        let lanes = [Lane::new(length + 1, 1); 3];
        Self { mask: Mask::everything(length), lanes, ..Self::new(length) }
    }

    /// Creates a computation for `input`, which was made from `parent` by changes in one place: takes over the mask
    /// before and after that place, and leaves only the place to be probed. `None` if the parent's mask is incomplete,
    /// or the place is more than a quarter of the input.
    pub fn inherit(input: &[u8], parent: &[u8], of_parent: &Self) -> Option<Self> {
        if !of_parent.is_complete() {
            return None;
        }
        let same_before = input.iter().zip(parent).take_while(|(a, b)| a == b).count();
        let after = |text: &[u8]| text.len() - same_before;
        let most = after(input).min(after(parent));
        let same_after = (0..most).take_while(|i| input[input.len() - 1 - i] == parent[parent.len() - 1 - i]).count();
        let place = input.len() - same_before - same_after;
        if place * 4 > input.len() {
            return None;
        }
        let mut mask = Mask::nothing(input.len());
        for edit in Edit::ALL {
            for at in 0..same_before {
                if of_parent.mask.allows(edit, at) {
                    mask.allow(edit, at..at + 1);
                }
            }
            for from_end in 0..=same_after {
                if of_parent.mask.allows(edit, parent.len() - from_end) {
                    let at = input.len() - from_end;
                    mask.allow(edit, at..at + 1);
                }
            }
        }
        let lanes = [Lane::new(same_before, FIRST_BLOCK); 3];
        Some(Self { mask, lanes, end: input.len() - same_after, ..Self::new(input.len()) })
    }

    /// Mask, as far as it is computed.
    pub fn mask(&self) -> &Mask {
        &self.mask
    }

    /// Number of probes so far.
    pub fn probes(&self) -> u64 {
        self.probes
    }

    /// Number of positions from the start at which every kind of edit is known; the end of the input counts as one.
    pub fn known(&self) -> usize {
        let all = self.mask.length() + 1;
        if self.is_complete() { all } else { self.lanes.iter().map(|lane| lane.at).min().unwrap_or(all) }
    }

    /// Whether nothing is left to probe.
    pub fn is_complete(&self) -> bool {
        Edit::ALL.into_iter().zip(&self.lanes).all(|(edit, lane)| lane.at >= self.end_of(edit))
    }

    /// Ends the computation: edits that are not known yet stay forbidden.
    pub fn give_up(&mut self) {
        for (lane, edit) in Edit::ALL.into_iter().enumerate() {
            self.lanes[lane].at = self.end_of(edit);
        }
    }

    /// End of the positions of a kind of edit: insertions have one position more.
    fn end_of(&self, edit: Edit) -> usize {
        if edit == Edit::Insert { self.end } else { self.end.min(self.mask.length()) }
    }

    /// Draw that begins at this position.
    fn draw_at(&self, at: usize) -> Option<&Range<usize>> {
        let draws = self.draws.as_ref()?;
        draws.binary_search_by_key(&at, |draw| draw.start).ok().map(|place| &draws[place])
    }

    /// Continues until the mask is complete or `probe` returns [`Probe::Stop`]. `probe` gets edited copies of `input`,
    /// made in `scratch`, and the kind of edit.
    pub fn go_on(&mut self, input: &[u8], scratch: &mut Vec<u8>, mut probe: impl FnMut(&mut Vec<u8>, Edit) -> Probe) {
        // the kind with the least progress first, so that the known part grows from the start
        while let Some(number) = (0..3)
            .filter(|&lane| self.lanes[lane].at < self.end_of(Edit::ALL[lane]))
            .min_by_key(|&lane| self.lanes[lane].at)
        {
            let edit = Edit::ALL[number];
            let Lane { at, block, .. } = self.lanes[number];
            let end = self.draw_at(at).map_or(at + block, |draw| draw.end);
            let positions = at..self.end_of(edit).min(end);
            edited(input, scratch, edit, positions.clone(), self.probes);
            let answer = probe(scratch, edit);
            if answer == Probe::Stop {
                return;
            }
            self.probes += 1;
            let lane = &mut self.lanes[number];
            lane.probes += 1;
            // positions that are not split again when they are missed, and the block behind them
            let unsplit = if lane.is_behind() { COARSE_BLOCK.min(self.longest) } else { 1 };
            if let Some(draws) = &self.draws {
                if answer.is_satisfied() {
                    self.mask.allow(edit, positions.clone());
                }
                let next = draws.partition_point(|draw| draw.start < positions.end);
                lane.at = draws.get(next).map_or(self.mask.length(), |draw| draw.start);
            } else if answer.is_satisfied() {
                self.mask.allow(edit, positions.clone());
                (lane.at, lane.block) = (positions.end, (positions.len() * 2).min(self.longest));
            } else if positions.len() <= unsplit {
                (lane.at, lane.block) = (positions.end, unsplit);
            } else {
                lane.block = positions.len().div_ceil(4);
            }
        }
    }
}

/// Writes `input` with all of `positions` edited into `result`. The inserted bytes differ from probe to probe.
fn edited(input: &[u8], result: &mut Vec<u8>, edit: Edit, positions: Range<usize>, probe: u64) {
    result.clear();
    match edit {
        Edit::Overwrite => {
            result.extend_from_slice(input);
            result[positions].iter_mut().for_each(|byte| *byte = flipped(*byte));
        }
        Edit::Delete => {
            result.extend_from_slice(&input[..positions.start]);
            result.extend_from_slice(&input[positions.end..]);
        }
        Edit::Insert => {
            result.extend_from_slice(&input[..positions.start]);
            let mut byte = probe.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()[0];
            for position in positions.clone() {
                // an equal byte beside it would make it an insertion elsewhere
                let neighbours = [position.checked_sub(1).and_then(|before| input.get(before)), input.get(position)];
                while neighbours.contains(&Some(&byte)) {
                    byte = byte.wrapping_add(1);
                }
                result.push(byte);
                result.extend(input.get(position));
                byte = byte.wrapping_mul(5).wrapping_add(113);
            }
            result.extend(input.get(positions.end..).unwrap_or_default());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Probe that succeeds if the input contains `needle`.
    fn contains(input: &[u8], needle: &[u8]) -> Probe {
        if input.windows(needle.len()).any(|window| window == needle) { Probe::Satisfied } else { Probe::Missed }
    }

    fn computed(input: &[u8], needle: &[u8]) -> Computation {
        completed(Computation::new(input.len()), input, needle)
    }

    fn completed(mut computation: Computation, input: &[u8], needle: &[u8]) -> Computation {
        computation.go_on(input, &mut Vec::new(), |text, _| contains(text, needle));
        assert!(computation.is_complete());
        computation
    }

    #[test]
    fn a_keyword_is_kept_and_the_rest_is_free() {
        let input = [&[b'.'; 300][..], b"keyword", &[b'.'; 400]].concat();
        let computation = computed(&input, b"keyword");
        for at in 0..input.len() {
            let free = !(300..307).contains(&at);
            assert_eq!(computation.mask().allows(Edit::Overwrite, at), free, "overwriting at {at}");
            assert_eq!(computation.mask().allows(Edit::Delete, at), free, "deleting at {at}");
            assert_eq!(computation.mask().allows(Edit::Insert, at), free || at == 300, "inserting at {at}");
        }
        assert!(computation.mask().allows(Edit::Insert, input.len()));
        assert!(computation.probes() < 150, "{} probes", computation.probes());
    }

    /// Upper limit of the probes for a mask: three schedules, and the probes until each is found to be behind.
    fn most_probes(length: usize) -> usize {
        3 * (START + length / PER_PROBE + 8)
    }

    #[test]
    fn where_every_byte_matters_there_are_no_more_probes_than_the_schedule_has() {
        for (length, per_byte) in [(100, 3.2), (1_000, 0.98), (10_000, 0.3), (100_000, 0.2)] {
            let input: Vec<u8> = (0..length).map(|at| at as u8).collect();
            let mut computation = Computation::new(length);
            computation.go_on(&input, &mut Vec::new(), |_, _| Probe::Missed);
            assert!(computation.is_complete() && computation.mask().is_closed());
            let probes = computation.probes() as usize;
            assert!(probes <= most_probes(length), "{probes} for {length} bytes");
            assert!(probes as f64 / length as f64 <= per_byte, "{probes} for {length} bytes");
            assert!(
                (0.9..1.1).contains(&(probes as f64 / Computation::price(length) as f64)),
                "{probes} for {length} bytes"
            );
        }
        let mut exact = Computation::exact(1_000);
        exact.go_on(&[0; 1_000], &mut Vec::new(), |_, _| Probe::Missed);
        assert_eq!(exact.probes(), 3_001);
    }

    #[test]
    fn what_is_given_up_is_complete_and_forbidden() {
        let input = [&[b'.'; 50][..], b"keyword", &[b'.'; 40]].concat();
        let mut computation = Computation::new(input.len());
        computation.go_on(&input, &mut Vec::new(), |text, _| {
            if text.starts_with(&[b'.'; 40]) { Probe::Stop } else { contains(text, b"keyword") }
        });
        let known = computation.known();
        assert!(known > 0 && !computation.is_complete());
        let before = computation.mask().clone();
        computation.give_up();
        assert!(computation.is_complete() && computation.known() == input.len() + 1);
        assert_eq!(computation.mask(), &before);
        computation.go_on(&input, &mut Vec::new(), |_, _| unreachable!());
    }

    #[test]
    fn draws_are_probed_as_a_whole_and_nothing_is_moved() {
        let input = b"aabbbbccdd";
        let mut computation = Computation::of_draws(10, vec![8..10, 0..2, 4..4, 2..6, 5..7, 12..14]);
        let mut probed = Vec::new();
        computation.go_on(input, &mut Vec::new(), |text, edit| {
            assert_eq!(edit, Edit::Overwrite);
            probed.push(input.iter().zip(&*text).map(|(a, b)| if a == b { '.' } else { 'x' }).collect::<String>());
            if text[2] == b'b' { Probe::Satisfied } else { Probe::Missed }
        });
        assert_eq!(probed, ["xx........", "..xxxx....", "........xx"]);
        assert!(computation.is_complete());
        let allowed: Vec<usize> = (0..10).filter(|&at| computation.mask().allows(Edit::Overwrite, at)).collect();
        assert_eq!(allowed, [0, 1, 8, 9]);
        assert_eq!(computation.mask().allowed(Edit::Insert) + computation.mask().allowed(Edit::Delete), 0);
    }

    #[test]
    fn stopping_loses_nothing() {
        let input = [&[b'.'; 50][..], b"keyword", &[b'.'; 40]].concat();
        let mut computation = Computation::new(input.len());
        let mut rounds = 0;
        while !computation.is_complete() {
            let mut left = 3;
            computation.go_on(&input, &mut Vec::new(), |text, _| {
                left -= 1;
                if left < 0 { Probe::Stop } else { contains(text, b"keyword") }
            });
            rounds += 1;
        }
        assert_eq!(computation.mask(), computed(&input, b"keyword").mask());
        assert_eq!(computation.probes().div_ceil(3), rounds);
    }

    proptest! {
        #[test]
        fn a_mask_keeps_its_schedule_and_allows_what_a_probe_satisfied(
            length in 0_usize..5_000,
            chance in 0_u64..=10,
            seed in any::<u64>(),
        ) {
            let mut random = seed | 1;
            let input = vec![b'.'; length];
            let mut computation = Computation::new(length);
            let mut satisfied = [0; 3];
            computation.go_on(&input, &mut Vec::new(), |text, edit| {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                if random % 10 >= chance {
                    return Probe::Missed;
                }
                satisfied[edit as usize / 2] += match edit {
                    Edit::Overwrite => input.iter().zip(&*text).filter(|(before, after)| before != after).count(),
                    Edit::Insert | Edit::Delete => text.len().abs_diff(length),
                };
                Probe::Satisfied
            });
            prop_assert!(computation.is_complete());
            prop_assert!(computation.probes() as usize <= most_probes(length), "{} probes", computation.probes());
            prop_assert_eq!(Edit::ALL.map(|edit| computation.mask().allowed(edit)), satisfied);
        }

        #[test]
        fn it_is_the_exact_mask_where_edits_do_not_interfere(before in 0_usize..200, key in 1_usize..12, after in 0_usize..200) {
            let needle: Vec<u8> = (b'a'..).take(key).collect();
            let input = [vec![b'.'; before], needle.clone(), vec![b'.'; after]].concat();
            let exact = completed(Computation::exact(input.len()), &input, &needle);
            prop_assert_eq!(exact.probes() as usize, 3 * input.len() + 1);
            let blockwise = computed(&input, &needle);
            prop_assert_eq!(blockwise.mask(), exact.mask());
        }

        #[test]
        fn what_is_the_same_is_inherited(before in 60_usize..200, change in 0_usize..10, after in 60_usize..200) {
            let parent = [vec![b'.'; before], b"key".to_vec(), vec![b'.'; after]].concat();
            let child = [vec![b'.'; before / 2], vec![b'-'; change], vec![b'.'; before - before / 2], b"key".to_vec(), vec![b'.'; after]].concat();
            let mut inherited = Computation::inherit(&child, &parent, &computed(&parent, b"key")).unwrap();
            inherited.go_on(&child, &mut Vec::new(), |text, _| contains(text, b"key"));
            prop_assert!(inherited.is_complete());
            let anew = computed(&child, b"key");
            prop_assert_eq!(inherited.mask(), anew.mask());
            prop_assert!(inherited.probes() < 20);
        }
    }
}
