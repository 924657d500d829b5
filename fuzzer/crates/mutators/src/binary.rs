//! The binary rules B. Positions are drawn from the whole input; newlines have no meaning.

use libafl_bolts::rands::{Rand, StdRand};

use super::draw::{positions, repeats};
use super::edit::{Insert, What, delete_bytes, insert_all};
use super::rule::rule;

rule! {
    REMOVE_ZERO_BYTE: "B.1" remove_zero_byte, aims at "C strings that run on", b"a\0b\0" => b"ab\0"
}

fn remove_zero_byte(bytes: &mut Vec<u8>, _limit: usize, rand: &mut StdRand) -> bool {
    let zeros = memchr::memchr_iter(0, bytes).collect::<Vec<_>>();
    let k = repeats(rand, || zeros.len());
    let mut drawn: Vec<usize> = (0..k).filter_map(|_| zeros.get(rand.below_or_zero(zeros.len())).copied()).collect();
    drawn.sort_unstable();
    drawn.dedup();
    delete_bytes(bytes, &drawn)
}

rule! {
    INSERT_ZERO_BYTE: "B.2" insert_zero_byte, aims at "C strings that end early", b"ab" => b"a\0b"
}

fn insert_zero_byte(bytes: &mut Vec<u8>, limit: usize, rand: &mut StdRand) -> bool {
    insert_bytes(bytes, limit, rand, |_| 0)
}

rule! {
    INSERT_BYTE: "B.3" insert_byte, aims at "fields that move, lengths that are wrong", b"ab" => b"axb"
}

fn insert_byte(bytes: &mut Vec<u8>, limit: usize, rand: &mut StdRand) -> bool {
    insert_bytes(bytes, limit, rand, |rand| rand.below_or_zero(256) as u8)
}

fn insert_bytes(bytes: &mut Vec<u8>, limit: usize, rand: &mut StdRand, byte: impl Fn(&mut StdRand) -> u8) -> bool {
    let room = limit - bytes.len();
    if room == 0 {
        return false;
    }
    let k = repeats(rand, || room.min(bytes.len() + 1));
    let mut inserts: Vec<Insert> = (0..k)
        .map(|_| Insert { at: rand.below_or_zero(bytes.len() + 1), what: What::Fill { byte: byte(rand), count: 1 } })
        .collect();
    insert_all(bytes, &mut inserts)
}

rule! {
    REMOVE_BYTE: "B.4" remove_byte, aims at "fields that move, lengths that are wrong", b"abc" => b"ac"
}

fn remove_byte(bytes: &mut Vec<u8>, _limit: usize, rand: &mut StdRand) -> bool {
    let k = repeats(rand, || bytes.len());
    let drawn = positions(bytes, k, rand, |_| true);
    delete_bytes(bytes, &drawn)
}

rule! {
    /// Swaps bytes at two positions of the whole input, which are mostly in different lines.
    SWAP_BYTE: "B.5" swap_byte, aims at "orders that are expected", b"a-b" => b"b-a"
}

fn swap_byte(bytes: &mut [u8], _limit: usize, rand: &mut StdRand) -> bool {
    if bytes.len() < 2 {
        return false;
    }
    let k = repeats(rand, || bytes.len() / 2);
    let mut touched = Vec::with_capacity(2 * k);
    for _ in 0..k {
        let a = rand.below_or_zero(bytes.len());
        // equal bytes can be swapped, but nothing would change
        let mut b = rand.below_or_zero(bytes.len());
        for _ in 0..4 {
            if bytes[b] != bytes[a] {
                break;
            }
            b = rand.below_or_zero(bytes.len());
        }
        touched.extend([(a, bytes[a]), (b, bytes[b])]);
        bytes.swap(a, b);
    }
    // swaps can cancel out: compare each position with its first content (the sort is stable)
    touched.sort_by_key(|&(at, _)| at);
    touched.dedup_by_key(|&mut (at, _)| at);
    if touched.iter().any(|&(at, old)| bytes[at] != old) {
        return true;
    }
    swap_any_two(bytes, rand)
}

/// Swaps a random byte with the next byte that differs; fallback for inputs with hardly any different bytes.
fn swap_any_two(bytes: &mut [u8], rand: &mut StdRand) -> bool {
    let a = rand.below_or_zero(bytes.len());
    let next = (a..bytes.len()).chain(0..a).find(|&b| bytes[b] != bytes[a]);
    if let Some(b) = next {
        bytes.swap(a, b);
    }
    next.is_some()
}

rule! {
    FLIP_BIT: "B.6" flip_bit, aims at "flags, sizes and types read from the input", b"ab" => b"aj"
}

fn flip_bit(bytes: &mut [u8], _limit: usize, rand: &mut StdRand) -> bool {
    if bytes.is_empty() {
        return false;
    }
    let k = repeats(rand, || bytes.len());
    let mut bits: Vec<usize> = (0..k).map(|_| rand.below_or_zero(bytes.len() * 8)).collect();
    // a bit flipped twice would be unchanged
    bits.sort_unstable();
    bits.dedup();
    for bit in bits {
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        rule::Rule,
        tests::{SEEDS, always_made, made},
    };

    fn each_seed(rule: &dyn Rule, before: &[u8], check: impl Fn(&[u8])) {
        always_made(rule, before, 64).iter().for_each(|after| check(after));
    }

    #[test]
    fn removing_zeros_removes_nothing_else() {
        each_seed(&REMOVE_ZERO_BYTE, b"\0a\0\0b", |after| {
            assert!(after.len() < 5);
            assert_eq!(after.iter().filter(|&&byte| byte != 0).collect::<Vec<_>>(), [&b'a', &b'b']);
        });
        assert!(made(&REMOVE_ZERO_BYTE, b"no zero", 64).is_empty());
    }

    #[test]
    fn inserting_zeros_keeps_all_other_bytes() {
        each_seed(&INSERT_ZERO_BYTE, b"abc", |after| {
            assert!((4..=7).contains(&after.len()));
            assert_eq!(after.iter().filter(|&&byte| byte != 0).collect::<Vec<_>>(), [&b'a', &b'b', &b'c']);
        });
    }

    #[test]
    fn inserting_and_removing_bytes_keep_the_others_in_order() {
        let is_part = |part: &[u8], whole: &[u8]| {
            let mut rest = whole.iter();
            part.iter().all(|byte| rest.any(|other| other == byte))
        };
        each_seed(&INSERT_BYTE, b"abc", |after| assert!(after.len() > 3 && is_part(b"abc", after)));
        assert!(made(&REMOVE_BYTE, b"abcdef", 64).iter().all(|after| after.len() < 6 && is_part(after, b"abcdef")));
    }

    #[test]
    fn swapping_keeps_the_bytes_and_changes_their_order() {
        each_seed(&SWAP_BYTE, b"aaaaaaaaaaaaaaaaaaab", |after| {
            assert_ne!(after, b"aaaaaaaaaaaaaaaaaaab");
            assert_eq!(after.iter().filter(|&&byte| byte == b'b').count(), 1);
        });
        assert!(made(&SWAP_BYTE, b"aaaa", 64).is_empty());
    }

    #[test]
    fn half_of_the_flips_are_of_a_single_bit() {
        let flips = |bytes: &Vec<u8>| bytes.iter().map(|byte| byte.count_ones()).sum::<u32>();
        let single = always_made(&FLIP_BIT, &[0; 1000], 1000).iter().filter(|bytes| flips(bytes) == 1).count();
        assert!((SEEDS / 2..SEEDS * 2 / 3).contains(&single), "{single}");
    }
}
