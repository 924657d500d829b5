//! Input-to-state replacement, as in RedQueen: where the input holds one operand of a comparison, the other one takes its
//! place.

use std::ops::Range;

use libafl::observers::cmp::CmpValues;
use libafl_bolts::ToSlice;

/// Places of an operand in the input that are tried.
const MOST_PLACES: usize = 4;

/// Bytes of an operand that are recorded at most (`QGM_OPERAND_BYTES`).
const OPERAND_BYTES: usize = 32;

/// Lengths of words that are worth learning.
const LENGTHS: std::ops::RangeInclusive<usize> = 2..=OPERAND_BYTES;

/// Largest item of an allocation whose number of items is in the input, and bytes beside the items.
const LARGEST_ITEM: u64 = 64;
const BESIDE: [u64; 6] = [0, 1, 2, 4, 8, 16];

/// Powers of two by which such a number is multiplied, and bytes that are asked for at most.
const RAISED: [u32; 7] = [20, 16, 12, 8, 4, 2, 1];
const MOST_BYTES: u64 = 1 << 28;

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

/// Input in which operands are looked for.
pub struct Haystack<'a> {
    bytes: &'a [u8],
    /// A bit for each pair of bytes: whether they follow each other somewhere. Most operands are nowhere in the input.
    pairs: Vec<u64>,
}

impl<'a> Haystack<'a> {
    /// Prepares an input.
    pub fn new(bytes: &'a [u8]) -> Self {
        let mut pairs = vec![0; 1 << 10];
        for pair in bytes.windows(2) {
            let (word, bit) = place_of(pair);
            pairs[word] |= bit;
        }
        Self { bytes, pairs }
    }

    /// Replacements that make the operands of a comparison equal, if one of them is a copy of bytes of the input: numbers in
    /// either byte order, in fewer bytes than they were compared in, but for single ones, and as text of two digits or more.
    pub fn replacements(&self, values: &CmpValues) -> Vec<Replacement> {
        let mut found = Vec::new();
        let width = match values {
            CmpValues::Bytes((first, second)) => {
                let (first, second) = (first.to_slice(), second.to_slice());
                let mut pairs = vec![(first, second), (second, first)];
                // a compiler may compare C strings as memory: with the zero byte, and what lies behind it
                let (text, other) = (as_text(first), as_text(second));
                if text.len() < first.len() && other.len() < second.len() {
                    pairs.extend([(text, other), (other, text)]);
                }
                for (from, to) in pairs {
                    self.replace_bytes(from, to, &mut found);
                }
                return found;
            }
            CmpValues::U8(_) => return found,
            CmpValues::U16(_) => 2,
            CmpValues::U32(_) => 4,
            CmpValues::U64(_) => 8,
        };
        let Some((first, second, first_is_constant)) = values.to_u64_tuple() else { return found };
        let both = [(second, first), (first, second)];
        for (from, to) in both.into_iter().take(if first_is_constant { 1 } else { 2 }) {
            self.replace_number(from, to, width, &mut found);
            self.replace_digits(from, to, width, &mut found);
        }
        found
    }

    /// Replacements that raise the numbers which may have decided that so many bytes were allocated: those of two bytes and more, and
    /// of two digits and more, from which the size follows as that of items and a few bytes beside them. Large numbers come first,
    /// since they are seldom there by chance.
    pub fn enlarged(&self, size: u64) -> Vec<Replacement> {
        let of_items = |beside: u64| {
            let bytes = size.saturating_sub(beside);
            (1..=LARGEST_ITEM).filter(move |item| bytes.is_multiple_of(*item)).map(move |item| (bytes / item, item))
        };
        let mut numbers: Vec<(u64, u64)> =
            BESIDE.into_iter().flat_map(of_items).filter(|(number, _)| *number > 1).collect();
        numbers.sort_unstable_by_key(|&(number, item)| (std::cmp::Reverse(number), item));
        numbers.dedup_by_key(|(number, _)| *number);
        let mut found = Vec::new();
        for (number, item) in numbers {
            let raised = RAISED.into_iter().filter_map(|shift| number.checked_mul(1 << shift));
            for more in raised.filter(|more| more.saturating_mul(item) <= MOST_BYTES) {
                self.replace_number(number, more, 8, &mut found);
                self.replace_digits(number, more, 8, &mut found);
            }
        }
        found
    }

    /// Words that the program compares one of the input with: operands of which the input holds the other one. Of a word
    /// whose end is not known, as much as the one in the input is long.
    pub fn words(&self, values: &CmpValues) -> Vec<Vec<u8>> {
        let CmpValues::Bytes((first, second)) = values else { return Vec::new() };
        let (first, second) = (as_text(first.to_slice()), as_text(second.to_slice()));
        let is_word = |word: &[u8]| {
            LENGTHS.contains(&word.len()) && !word[0].is_ascii_digit() && word.iter().all(u8::is_ascii_graphic)
        };
        let pairs = [(first, second), (second, first)].into_iter();
        let other = pairs.filter(|(here, _)| is_word(here) && self.holds(here)).map(|(here, other)| cut(here, other));
        other.filter(|other| is_word(other) && !self.holds(other)).map(<[u8]>::to_vec).collect()
    }

    /// Whether the input has these bytes anywhere.
    fn holds(&self, part: &[u8]) -> bool {
        self.may_hold(part) && memchr::memmem::find(self.bytes, part).is_some()
    }

    /// Adds replacements of a number of `width` bytes.
    fn replace_number(&self, from: u64, to: u64, width: usize, found: &mut Vec<Replacement>) {
        for width in [8, 4, 2].into_iter().filter(|&narrow| narrow <= width) {
            let fits = |number: u64| width == 8 || number >> (8 * width) == 0;
            if !fits(from) || !fits(to) {
                break;
            }
            let (little, big) = (from.to_le_bytes(), from.to_be_bytes());
            let (new_little, new_big) = (to.to_le_bytes(), to.to_be_bytes());
            let (little, new_little) = (&little[..width], &new_little[..width]);
            let (big, new_big) = (&big[8 - width..], &new_big[8 - width..]);
            self.add(little, new_little, width, found);
            if (big, new_big) != (little, new_little) {
                self.add(big, new_big, width, found);
            }
        }
    }

    /// Adds replacements of a number of `width` bytes that the input has as text: decimal, with or without a sign, and
    /// hexadecimal in either case.
    fn replace_digits(&self, from: u64, to: u64, width: usize, found: &mut Vec<Replacement>) {
        // what fewer digits than two say is found in too many places
        if from < 10 {
            return;
        }
        let shift = 64 - 8 * width;
        let signed = |number: u64| (((number << shift) as i64) >> shift).to_string();
        let forms: [fn(u64) -> String; 3] = [|n| n.to_string(), |n| format!("{n:x}"), |n| format!("{n:X}")];
        let mut known: Vec<String> = Vec::new();
        let pairs = forms.map(|form| (form(from), form(to))).into_iter().chain([(signed(from), signed(to))]);
        for (text, new) in pairs {
            if text.len() < 2 || known.contains(&text) {
                continue;
            }
            let continues =
                |at: Option<usize>| at.and_then(|at| self.bytes.get(at)).is_some_and(u8::is_ascii_alphanumeric);
            let is_whole = |start: &usize| {
                let prefixed = self.bytes[..*start].ends_with(b"0x") || self.bytes[..*start].ends_with(b"0X");
                (prefixed || !continues(start.checked_sub(1))) && !continues(Some(start + text.len()))
            };
            if self.may_hold(text.as_bytes()) {
                let places = memchr::memmem::find_iter(self.bytes, &text).filter(is_whole).take(MOST_PLACES);
                found.extend(
                    places
                        .map(|start| Replacement { range: start..start + text.len(), bytes: new.clone().into_bytes() }),
                );
            }
            known.push(text);
        }
    }

    /// Adds replacements of bytes by others, which may be more or fewer: what follows moves, or is overwritten.
    fn replace_bytes(&self, from: &[u8], to: &[u8], found: &mut Vec<Replacement>) {
        if from.is_empty() {
            return;
        }
        let all_of_it = cut(from, to);
        self.add(from, all_of_it, from.len(), found);
        if all_of_it.len() < to.len() {
            self.add(from, to, from.len(), found);
        }
        if to.len() > from.len() {
            self.add(from, to, to.len(), found);
        }
    }

    /// Whether the first two bytes of `part` follow each other somewhere.
    fn may_hold(&self, part: &[u8]) -> bool {
        part.len() < 2 || {
            let (word, bit) = place_of(part);
            self.pairs[word] & bit != 0
        }
    }

    /// Adds replacements of `length` bytes where the input has `from`.
    fn add(&self, from: &[u8], to: &[u8], length: usize, found: &mut Vec<Replacement>) {
        if !self.may_hold(from) {
            return;
        }
        for start in memchr::memmem::find_iter(self.bytes, from).take(MOST_PLACES) {
            let range = start..(start + length).min(self.bytes.len());
            found.push(Replacement { range, bytes: to.to_vec() });
        }
    }
}

/// The bytes before the first zero byte.
fn as_text(bytes: &[u8]) -> &[u8] {
    &bytes[..memchr::memchr(0, bytes).unwrap_or(bytes.len())]
}

/// The part of an operand that stands for `from` in the input: all of it; if it is as long as a record can be, and may be a
/// part of more, as much as `from` is long.
fn cut<'o>(from: &[u8], other: &'o [u8]) -> &'o [u8] {
    if other.len() < OPERAND_BYTES { other } else { &other[..from.len().min(other.len())] }
}

/// Place of the first two bytes in the bits of a [`Haystack`].
fn place_of(bytes: &[u8]) -> (usize, u64) {
    let number = usize::from(bytes[0]) << 8 | usize::from(bytes[1]);
    (number / 64, 1 << (number % 64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use libafl::observers::cmp::CmplogBytes;

    fn results(input: &[u8], values: &CmpValues) -> Vec<Vec<u8>> {
        let made = Haystack::new(input).replacements(values);
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
    fn a_number_that_decides_an_allocation_is_raised_as_long_as_it_fits() {
        let made = |input: &[u8], size| {
            let apply = |one: &Replacement| {
                let mut result = Vec::new();
                one.apply(input, &mut result);
                result
            };
            Haystack::new(input).enlarged(size).iter().map(apply).collect::<Vec<_>>()
        };
        // 300 items of 12 bytes, and 8 bytes
        let size = 300 * 12 + 8;
        assert_eq!(made(b"[\x01\x2c]", size), [b"[\x12\xc0]", b"[\x04\xb0]", b"[\x02\x58]"]);
        assert_eq!(made(b"[\x2c\x01]", size).len(), 3);
        let text = made(b"rows=300;", size);
        assert!(text.contains(&b"rows=19660800;".to_vec()) && text.contains(&b"rows=600;".to_vec()), "{text:?}");
        assert_eq!(made(b"[\x01\x2d] 30 3000", size), Vec::<Vec<u8>>::new());
        // no more than a machine has
        let large = made(b"[\x00\x20\x00\x00]", 1 << 21);
        assert!(large.contains(&b"[\x02\x00\x00\x00]".to_vec()) && !large.contains(&b"[\x20\x00\x00\x00]".to_vec()));
    }

    #[test]
    fn a_number_that_was_widened_is_found_in_its_own_width() {
        let length = CmpValues::U64((0x0102, 0x0a0b, true));
        assert_eq!(results(b"\x0a\x0b!", &length), [b"\x01\x02!"]);
    }

    #[test]
    fn a_number_that_is_written_in_digits_is_replaced_by_digits() {
        let limit = CmpValues::U32((70_000, 171, true));
        assert_eq!(results(b"size=171;1711;a171", &limit), [b"size=70000;1711;a171"]);
        assert_eq!(results(b"0xab ab AB", &limit), [&b"0x11170 ab AB"[..], b"0xab 11170 AB", b"0xab ab 11170"]);
        let negative = CmpValues::U16((300, 12u16.wrapping_neg(), true));
        assert_eq!(results(b"[-12]", &negative), [b"[300]"]);
        assert_eq!(results(b"7", &CmpValues::U16((300, 7, true))), Vec::<Vec<u8>>::new());
    }

    #[test]
    fn a_keyword_takes_the_place_of_a_shorter_word_or_overwrites_what_follows() {
        assert_eq!(results(b"<ab>1234567", &bytes(b"ab", b"keyword")), [&b"<keyword>1234567"[..], b"<keyword567"]);
        assert_eq!(results(b"x", &bytes(b"", b"keyword")), Vec::<Vec<u8>>::new());
        assert_eq!(results(b"<ab>", &bytes(b"ab\0??", b"long\0")), [&b"<long>"[..], b"<long"]);
    }
}
