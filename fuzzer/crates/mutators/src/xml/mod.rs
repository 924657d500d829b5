//! The rules D for XML and similar markup. They remove things, and ignore what holds no tags: comments,
//! CDATA sections, processing instructions and `<!DOCTYPE`. `scan.rs` and `lexer.rs` define what counts as a tag in
//! broken markup.

pub mod attributes;
mod lexer;
mod scan;
pub mod tags;

use libafl_bolts::rands::{Rand, StdRand};

use super::draw::log_uniform;

/// Keeps one to all of `candidates`, a log-uniform number: scattered in half of the calls, contiguous in the others.
///
/// Contiguous, because a parser mostly stops at the first error: it nests deeply only if all closing tags of a part
/// of the document are removed.
fn keep_some<T>(candidates: &mut Vec<T>, rand: &mut StdRand) {
    let all = candidates.len();
    let k = log_uniform(rand, all);
    if rand.coinflip(0.5) {
        let first = rand.below_or_zero(all - k + 1);
        candidates.truncate(first + k);
        candidates.drain(..first);
    } else {
        let (mut left, mut wanted) = (all, k);
        candidates.retain(|_| {
            let is_kept = rand.below_or_zero(left) < wanted;
            left -= 1;
            wanted -= usize::from(is_kept);
            is_kept
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_to_all_are_kept_in_order_sometimes_neighbours() {
        let mut rand = StdRand::with_seed(1);
        let (mut sizes, mut runs) = (std::collections::BTreeSet::new(), 0);
        for _ in 0..1000 {
            let mut kept: Vec<usize> = (0..20).collect();
            keep_some(&mut kept, &mut rand);
            assert!(kept.is_sorted());
            runs +=
                usize::from(kept.len() > 1 && kept.len() < 20 && kept.windows(2).all(|pair| pair[1] == pair[0] + 1));
            sizes.insert(kept.len());
        }
        assert_eq!(sizes, (1..=20).collect());
        assert!((200..500).contains(&runs), "{runs} of 1000");
        let mut none: Vec<u8> = Vec::new();
        keep_some(&mut none, &mut rand);
        assert!(none.is_empty());
    }
}
