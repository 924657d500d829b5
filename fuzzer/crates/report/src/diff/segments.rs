//! Splitting of inputs into segments for comparison: after newlines, and within long lines (or binary files) at
//! content-defined positions, so that an insertion does not change the segments after it.

/// Minimum length in bytes of a part of a longer line.
const LEAST: usize = 16;

/// Maximum length in bytes of a segment.
const MOST: usize = 256;

/// Pseudorandom number for each byte value, for the gear hash.
static GEAR: [u64; 256] = gear();

const fn gear() -> [u64; 256] {
    let mut table = [0; 256];
    let mut at = 0;
    while at < 256 {
        // SplitMix64
        let mut z = (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        table[at] = z ^ (z >> 31);
        at += 1;
    }
    table
}

/// Splits an input into lines, and long lines into parts of about 80 bytes.
pub fn segments(bytes: &[u8]) -> Vec<&[u8]> {
    let mut segments = Vec::new();
    for mut line in bytes.split_inclusive(|&byte| byte == b'\n') {
        while line.len() > MOST {
            let (piece, rest) = line.split_at(cut(line));
            segments.push(piece);
            line = rest;
        }
        if !line.is_empty() {
            segments.push(line);
        }
    }
    segments
}

/// Length of the first part of a long line: it ends where the hash of the last bytes has six zero bits.
fn cut(line: &[u8]) -> usize {
    let mut hash: u64 = 0;
    for (at, &byte) in line.iter().enumerate().take(MOST) {
        hash = (hash << 1).wrapping_add(GEAR[byte as usize]);
        // the upper bits depend on up to 64 bytes
        if at + 1 >= LEAST && hash >> 58 == 0 {
            return at + 1;
        }
    }
    MOST.min(line.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_insertion_moves_the_cuts_behind_it_along() {
        let old: Vec<u8> = (0..20_000_u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect();
        let mut new = old.clone();
        new.splice(7_000..7_000, *b"inserted");
        let (old, new) = (segments(&old), segments(&new));
        let same = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
        let before = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
        assert!(same + before + 6 >= old.len(), "{before} and {same} of {}", old.len());
    }

    proptest! {
        #[test]
        fn segments_are_short_and_together_the_input(bytes in proptest::collection::vec(0_u8..16, 0..3_000)) {
            let segments = segments(&bytes);
            prop_assert!(segments.iter().all(|segment| (1..=MOST).contains(&segment.len())));
            prop_assert_eq!(segments.concat(), bytes);
        }
    }
}
