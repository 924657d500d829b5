//! Input-to-state replacement, as in RedQueen: where the input holds one operand of a comparison, the other one takes its
//! place.

use std::ops::Range;

use libafl::observers::cmp::CmpValues;
use libafl_bolts::ToSlice;

/// Places of an operand in the input that are tried.
const MOST_PLACES: usize = 4;

/// Replacement of a part of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    range: Range<usize>,
    bytes: Vec<u8>,
}

impl Replacement {
    /// Writes `input` with the replacement into `result`.
    pub fn apply(&self, input: &[u8], result: &mut Vec<u8>) {
        result.clear();
        result.extend_from_slice(&input[..self.range.start]);
        result.extend_from_slice(&self.bytes);
        result.extend_from_slice(&input[self.range.end..]);
    }
}

/// Order in which comparisons are tried, smallest first: the fewer places of an input match by chance, the earlier.
pub fn rank(values: &CmpValues) -> u8 {
    match values {
        CmpValues::Bytes(_) => 0,
        CmpValues::U64(_) => 1,
        CmpValues::U32(_) => 2,
        CmpValues::U16(_) => 3,
        CmpValues::U8(_) => 4,
    }
}

/// Replacements that make the operands of a comparison equal, if one of them is a copy of bytes of the input: numbers in
/// either byte order, and in fewer bytes than they were compared in.
pub fn replacements(input: &[u8], values: &CmpValues) -> Vec<Replacement> {
    let mut found = Vec::new();
    match values {
        CmpValues::Bytes((first, second)) => {
            let (first, second) = (first.to_slice(), second.to_slice());
            for (from, to) in [(first, second), (second, first)] {
                replace_bytes(input, from, to, &mut found);
            }
        }
        numbers => {
            let Some((first, second, first_is_constant)) = numbers.to_u64_tuple() else { return found };
            let width = match numbers {
                CmpValues::U8(_) => 1,
                CmpValues::U16(_) => 2,
                CmpValues::U32(_) => 4,
                _ => 8,
            };
            replace_number(input, second, first, width, &mut found);
            if !first_is_constant {
                replace_number(input, first, second, width, &mut found);
            }
        }
    }
    found
}

/// Adds replacements of a number of `width` bytes.
fn replace_number(input: &[u8], from: u64, to: u64, width: usize, found: &mut Vec<Replacement>) {
    for width in [8, 4, 2, 1].into_iter().filter(|&narrow| narrow <= width) {
        let fits = |number: u64| width == 8 || number >> (8 * width) == 0;
        // a single byte of a wider number matches anywhere
        if !fits(from) || !fits(to) || (width == 1 && !found.is_empty()) {
            break;
        }
        let little = |number: u64| number.to_le_bytes()[..width].to_vec();
        let big = |number: u64| number.to_be_bytes()[8 - width..].to_vec();
        add(input, &little(from), &little(to), width, found);
        if big(from) != little(from) || big(to) != little(to) {
            add(input, &big(from), &big(to), width, found);
        }
    }
}

/// Adds replacements of bytes by others, which may be more or fewer: what follows moves, or is overwritten.
fn replace_bytes(input: &[u8], from: &[u8], to: &[u8], found: &mut Vec<Replacement>) {
    if from.is_empty() {
        return;
    }
    add(input, from, to, from.len(), found);
    if to.len() > from.len() {
        add(input, from, to, to.len(), found);
    }
}

/// Adds replacements of `length` bytes where the input has `from`.
fn add(input: &[u8], from: &[u8], to: &[u8], length: usize, found: &mut Vec<Replacement>) {
    for start in memchr::memmem::find_iter(input, from).take(MOST_PLACES) {
        let range = start..(start + length).min(input.len());
        found.push(Replacement { range, bytes: to.to_vec() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use libafl::observers::cmp::CmplogBytes;

    fn results(input: &[u8], values: &CmpValues) -> Vec<Vec<u8>> {
        let made = replacements(input, values);
        let one = |replacement: &Replacement| {
            let mut result = Vec::new();
            replacement.apply(input, &mut result);
            result
        };
        made.iter().map(one).collect()
    }

    fn bytes(first: &[u8], second: &[u8]) -> CmpValues {
        let one = |bytes: &[u8]| {
            let buffer = std::array::from_fn(|at| bytes.get(at).copied().unwrap_or(0));
            CmplogBytes::from_buf_and_len(buffer, bytes.len() as u8)
        };
        CmpValues::Bytes((one(first), one(second)))
    }

    #[test]
    fn a_number_is_replaced_in_either_byte_order_wherever_it_is() {
        let magic = CmpValues::U32((u32::from_le_bytes(*b"GOOD"), u32::from_le_bytes(*b"fail"), true));
        assert_eq!(results(b"..fail..", &magic), [b"..GOOD.."]);
        assert_eq!(results(b"..liaf..", &magic), [b"..DOOG.."]);
        assert_eq!(results(b"GOOD", &magic), Vec::<Vec<u8>>::new());
    }

    #[test]
    fn a_constant_of_the_program_stays_and_other_operands_are_replaced_by_each_other() {
        let pair = |is_constant| CmpValues::U16((u16::from_le_bytes(*b"ab"), u16::from_le_bytes(*b"cd"), is_constant));
        assert_eq!(results(b"ab", &pair(true)), Vec::<Vec<u8>>::new());
        assert_eq!(results(b"ab", &pair(false)), [b"cd"]);
    }

    #[test]
    fn a_number_that_was_widened_is_found_in_its_own_width() {
        let length = CmpValues::U64((0x0102, 0x0a0b, true));
        assert_eq!(results(b"\x0a\x0b!", &length), [b"\x01\x02!"]);
    }

    #[test]
    fn a_keyword_takes_the_place_of_a_shorter_word_or_overwrites_what_follows() {
        assert_eq!(results(b"<ab>1234567", &bytes(b"ab", b"keyword")), [&b"<keyword>1234567"[..], b"<keyword567"]);
        assert_eq!(results(b"x", &bytes(b"", b"keyword")), Vec::<Vec<u8>>::new());
    }
}
