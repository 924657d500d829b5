//! Making room for insertions: an input of maximum size could otherwise only be overwritten or shortened.

use std::ops::Range;

use libafl_bolts::rands::{Rand, StdRand};

use super::draw::log_uniform;
use crate::mask::{Edit, Mask};

/// An input has little room if it can grow by no more than the maximum size divided by this.
const LITTLE: usize = 64;

/// Deletes bytes of a `part` of an input with little room, in half of the calls: up to half of it, at its end or anywhere in
/// it. With a mask, only bytes that may be deleted, and the mask is updated.
pub fn make_room(bytes: &mut Vec<u8>, part: Range<usize>, mask: Option<&mut Mask>, limit: usize, rand: &mut StdRand) {
    let most = part.len() / 2;
    if bytes.len() + limit / LITTLE < limit || most == 0 || rand.coinflip(0.5) {
        return;
    }
    let length = log_uniform(rand, most);
    let last = part.end - length;
    let start = if rand.coinflip(0.5) { last } else { part.start + rand.below_or_zero(part.len() - length + 1) };
    let Some(mask) = mask else {
        bytes.drain(start..start + length);
        return;
    };
    let start = if mask.allows(Edit::Delete, start) { Some(start) } else { mask.draw(Edit::Delete, rand) };
    let Some(start) = start else { return };
    let range = start..mask.run_around(Edit::Delete, start, length).end;
    bytes.drain(range.clone());
    mask.delete(range);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_room_stays_and_what_has_none_loses_half_at_most() {
        let mut rand = StdRand::with_seed(1);
        let mut lengths = std::collections::BTreeSet::new();
        for _ in 0..2000 {
            let (mut full, mut short, mut one) = (vec![7; 100], vec![7; 98], vec![7]);
            make_room(&mut full, 0..100, None, 100, &mut rand);
            make_room(&mut short, 0..98, None, 100, &mut rand);
            make_room(&mut one, 0..1, None, 1, &mut rand);
            assert_eq!((short.len(), one.len()), (98, 1));
            lengths.insert(full.len());
        }
        assert_eq!((lengths.first(), lengths.last()), (Some(&50), Some(&100)));
        assert!(lengths.len() > 40, "{lengths:?}");
    }

    #[test]
    fn what_is_before_and_behind_a_part_stays() {
        let mut rand = StdRand::with_seed(1);
        let text: Vec<u8> = (0..100).collect();
        let mut lengths = std::collections::BTreeSet::new();
        for _ in 0..500 {
            let mut bytes = text.clone();
            make_room(&mut bytes, 20..60, None, 100, &mut rand);
            assert!(bytes.starts_with(&text[..20]) && bytes.ends_with(&text[60..]));
            lengths.insert(bytes.len());
        }
        assert_eq!((lengths.first(), lengths.last()), (Some(&80), Some(&100)));
    }

    #[test]
    fn what_may_not_be_deleted_stays() {
        let mut rand = StdRand::with_seed(1);
        let text: Vec<u8> = (0..100).collect();
        let mut shorter = 0;
        for _ in 0..500 {
            let (mut bytes, mut mask) = (text.clone(), Mask::nothing(100));
            mask.allow(Edit::Delete, 20..30);
            make_room(&mut bytes, 0..100, Some(&mut mask), 100, &mut rand);
            assert!(bytes.starts_with(&text[..20]) && bytes.ends_with(&text[30..]));
            assert_eq!((mask.length(), mask.allowed(Edit::Delete)), (bytes.len(), bytes.len() - 90));
            shorter += usize::from(bytes.len() < 100);
        }
        assert!((200..300).contains(&shorter), "{shorter}");
    }
}
