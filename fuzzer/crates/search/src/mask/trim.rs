//! Trimming of an input to a goal: removes everything that the goal does not need (FairFuzz's relaxed trimming; AFL
//! keeps the whole coverage).

use super::Probe;

/// Lengths of the largest blocks (a sixteenth of the input) and the smallest ones (a 1024th).
const LARGEST_SHARE: usize = 16;
const SMALLEST_SHARE: usize = 1024;

/// Length of the smallest block that is removed, in bytes.
const SMALLEST_BLOCK: usize = 4;

/// Removes blocks from `input` as long as `probe` succeeds without them, until blocks are too small or it returns
/// [`Probe::Stop`]. Returns the number of probes.
pub fn trim(input: &mut Vec<u8>, scratch: &mut Vec<u8>, mut probe: impl FnMut(&mut Vec<u8>) -> Probe) -> u64 {
    let mut probes = 0;
    if input.len() <= SMALLEST_BLOCK {
        return probes;
    }
    let length = input.len().next_power_of_two();
    let smallest = (length / SMALLEST_SHARE).max(SMALLEST_BLOCK);
    let mut block = (length / LARGEST_SHARE).max(SMALLEST_BLOCK);
    while block >= smallest {
        let mut at = 0;
        while at < input.len() && input.len() > 1 {
            let end = input.len().min(at + block);
            scratch.clear();
            scratch.extend_from_slice(&input[..at]);
            scratch.extend_from_slice(&input[end..]);
            if scratch.is_empty() {
                break;
            }
            probes += 1;
            match probe(scratch) {
                Probe::Stop => return probes - 1,
                Probe::Satisfied => drop(input.drain(at..end)),
                Probe::Missed => at = end,
            }
        }
        block /= 2;
    }
    probes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trimmed(input: &[u8], needle: &[u8], mut budget: u64) -> (Vec<u8>, u64) {
        let mut input = input.to_vec();
        let probes = trim(&mut input, &mut Vec::new(), |text| {
            if budget == 0 {
                return Probe::Stop;
            }
            budget -= 1;
            if text.windows(needle.len()).any(|window| window == needle) { Probe::Satisfied } else { Probe::Missed }
        });
        (input, probes)
    }

    #[test]
    fn what_the_target_needs_stays_and_most_of_the_rest_goes() {
        let input = [&[b'.'; 700][..], b"keyword", &[b'.'; 300]].concat();
        let (result, probes) = trimmed(&input, b"keyword", u64::MAX);
        assert!(result.windows(7).any(|window| window == b"keyword"));
        assert!(result.len() < 7 + 2 * SMALLEST_BLOCK && probes < 60, "{} bytes after {probes}", result.len());
    }

    #[test]
    fn it_ends_with_its_budget() {
        let input = [&[b'.'; 700][..], b"keyword", &[b'.'; 300]].concat();
        let (result, probes) = trimmed(&input, b"keyword", 5);
        assert!(probes == 5 && result.len() < input.len() && result.windows(7).any(|window| window == b"keyword"));
        assert_eq!(trimmed(b"abc", b"b", 9), (b"abc".to_vec(), 0));
    }
}
