//! AFL's hit-count buckets.

/// AFL's hit-count bucket of a count, as a bit: 1, 2, 3, 4-7, 8-15, 16-31, 32-127, 128 and more. 0 for a count of 0.
#[inline]
pub fn bucket(count: u32) -> u8 {
    const BUCKETS: [u8; 129] = {
        let mut table = [0u8; 129];
        let mut count = 0;
        while count < 129 {
            table[count] = match count {
                0 => 0,
                1 => 1,
                2 => 2,
                3 => 4,
                4..=7 => 8,
                8..=15 => 16,
                16..=31 => 32,
                32..=127 => 64,
                _ => 128,
            };
            count += 1;
        }
        table
    };
    BUCKETS[count.min(128) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_those_of_afl() {
        let borders = [(0, 0), (1, 1), (2, 2), (3, 4), (4, 8), (7, 8), (8, 16), (15, 16), (16, 32), (31, 32), (32, 64)];
        for (count, bit) in borders.into_iter().chain([(127, 64), (128, 128), (u32::MAX, 128)]) {
            assert_eq!(bucket(count), bit, "count {count}");
        }
    }
}
