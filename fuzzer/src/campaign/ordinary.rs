//! Ordinary inputs of other sizes, made from seeds: beginnings of them, and several of them joined.

/// Number of beginnings of a seed that are run, the empty one included: the pieces between them are as small as a word
/// in a seed of a few hundred bytes.
const PARTS: usize = 64;

/// Largest number of seeds that are measured: their median needs no more.
const SEEDS: usize = 16;

/// Indices of at most [`SEEDS`] of `all` items, evenly spread, with `first` before the others.
pub(crate) fn spread_out(all: usize, first: usize) -> Vec<usize> {
    let count = all.min(SEEDS);
    let others = (0..count).map(|at| at * all / count).filter(|&one| one != first);
    std::iter::once(first).chain(others).filter(|&one| one < all).take(count).collect()
}

/// Sizes of the beginnings of a seed of `bytes`, ascending and distinct.
pub(crate) fn sizes_of_parts(bytes: usize) -> Vec<usize> {
    let mut sizes: Vec<usize> = (0..PARTS).map(|part| bytes * part / PARTS).filter(|&size| size < bytes).collect();
    sizes.dedup();
    sizes
}

/// Sizes of joined seeds, the first of which has `bytes`: its doublings below `largest`, and `largest` itself.
pub(crate) fn sizes_of_joined(bytes: usize, largest: usize) -> Vec<usize> {
    let doubled = std::iter::successors(bytes.checked_mul(2), |size| size.checked_mul(2));
    let mut sizes: Vec<usize> = doubled.take_while(|&size| bytes > 0 && size < largest).collect();
    if largest > bytes && bytes > 0 {
        sizes.push(largest);
    }
    sizes
}

/// Joins `seeds` from index `first` on, cyclically, and cuts the result to `bytes`. Empty if all seeds are.
pub(crate) fn joined(seeds: &[Vec<u8>], first: usize, bytes: usize) -> Vec<u8> {
    let mut joined = Vec::with_capacity(bytes);
    if seeds.iter().all(Vec::is_empty) {
        return joined;
    }
    for seed in seeds.iter().cycle().skip(first) {
        let room = bytes - joined.len();
        joined.extend_from_slice(&seed[..seed.len().min(room)]);
        if joined.len() == bytes {
            break;
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_evenly_spread_and_of_short_seeds_every_beginning() {
        assert_eq!(sizes_of_parts(640)[..4], [0, 10, 20, 30]);
        assert_eq!(sizes_of_parts(640).len(), 64);
        assert_eq!(sizes_of_parts(3), [0, 1, 2]);
        assert_eq!(sizes_of_parts(0), [0; 0]);
    }

    #[test]
    fn joined_sizes_are_doubled_up_to_the_largest() {
        assert_eq!(sizes_of_joined(100, 1_000), [200, 400, 800, 1_000]);
        assert_eq!(sizes_of_joined(100, 150), [150]);
        assert_eq!(sizes_of_joined(100, 100), [0; 0]);
        assert_eq!(sizes_of_joined(0, 100), [0; 0]);
        assert_eq!(sizes_of_joined(usize::MAX / 2 + 1, usize::MAX), [usize::MAX]);
    }

    #[test]
    fn seeds_are_joined_in_turn_and_cut_off() {
        let seeds = [b"ab".to_vec(), b"".to_vec(), b"123".to_vec()];
        assert_eq!(joined(&seeds, 0, 7), b"ab123ab");
        assert_eq!(joined(&seeds, 2, 4), b"123a");
        assert_eq!(joined(&seeds, 1, 1), b"1");
        assert_eq!(joined(&[vec![], vec![]], 0, 9), b"");
        assert_eq!(joined(&[], 0, 9), b"");
    }

    #[test]
    fn few_seeds_are_all_taken_and_of_many_some_from_everywhere() {
        assert_eq!(spread_out(3, 1), [1, 0, 2]);
        assert_eq!(spread_out(1, 0), [0]);
        let some = spread_out(1_000, 123);
        assert_eq!((some.len(), some[0], some[1]), (SEEDS, 123, 0));
        assert!(some.iter().any(|&seed| seed > 800));
    }
}
