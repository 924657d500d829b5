//! Checksums in an input over many of its bytes.

use std::ops::Range;

use crate::template::Digits;

/// Largest input in which checksums are looked for: each beginning is a pass over it.
const LARGEST: usize = 1 << 15;
/// Beginnings of what is summed up.
const MOST_BEFORE: usize = 64;
/// Bytes behind what is summed up, the checksum among them.
const BEHIND: [usize; 4] = [0, 2, 4, 8];
/// Bytes between a checksum and what is behind it and summed up.
const MOST_BETWEEN: usize = 16;
/// Modulus of both sums of Adler-32.
const ADLER: u32 = 65_521;

/// Kind of checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Crc32,
    Adler32,
    /// The bytes as numbers, added.
    Sum,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Crc32, Self::Adler32, Self::Sum];

    /// Widths of a field that it is kept in: in two bytes, only a sum is usual.
    fn widths(self) -> &'static [usize] {
        if self == Self::Sum { &[4, 2] } else { &[4] }
    }

    fn of(self, bytes: &[u8]) -> u32 {
        match self {
            Self::Crc32 => !bytes.iter().fold(!0, |crc, byte| crc >> 8 ^ TABLE[usize::from(crc as u8 ^ byte)]),
            Self::Adler32 => {
                let (mut low, mut high) = (1, 0);
                for byte in bytes {
                    low = (low + u32::from(*byte)) % ADLER;
                    high = (high + low) % ADLER;
                }
                high << 16 | low
            }
            Self::Sum => bytes.iter().fold(0, |sum, byte| sum.wrapping_add(u32::from(*byte))),
        }
    }
}

#[cfg(test)]
pub(super) fn of_crc32(bytes: &[u8]) -> u32 {
    Kind::Crc32.of(bytes)
}

/// Remainders of single bytes by the polynomial of CRC-32, the lowest bit first.
const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut crc, mut bit) = (byte as u32, 0);
        while bit < 8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

/// A checksum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Check {
    /// Its bytes.
    pub field: Range<usize>,
    kind: Kind,
    digits: Digits,
    /// Bytes that are summed up.
    of: Range<usize>,
}

impl Check {
    /// Makes it right in an input in which the bytes have moved.
    pub(super) fn renew(&self, bytes: &mut [u8], moved: &dyn Fn(usize) -> usize) {
        let Some(summed) = bytes.get(moved(self.of.start)..moved(self.of.end)) else { return };
        let mut field = Vec::new();
        self.digits.write(self.kind.of(summed).into(), self.field.len() as u8, &mut field);
        let at = moved(self.field.start);
        if let Some(old) = bytes.get_mut(at..at + field.len()) {
            old.copy_from_slice(&field);
        }
    }
}

/// Checksums of an input, over nearly all of it.
pub(super) fn checks(input: &[u8]) -> Vec<Check> {
    let mut all: Vec<Check> = Vec::new();
    if input.len() > LARGEST {
        return all;
    }
    for end in BEHIND.into_iter().filter_map(|behind| input.len().checked_sub(behind)) {
        for start in 0..MOST_BEFORE.min(end / 2) {
            for kind in Kind::ALL {
                let value = kind.of(&input[start..end]);
                for &width in kind.widths() {
                    // in front of it, or behind it
                    let least =
                        if width == 2 { start.saturating_sub(width) } else { start.saturating_sub(MOST_BETWEEN) };
                    let fields = (least..start).map(|at| at..at + width).filter(|field| field.end <= start);
                    let of = start..end;
                    let with = |field: Range<usize>| holding(input, field, kind, value, of.clone());
                    let found = if end == input.len() { fields.rev().find_map(with) } else { with(end..end + width) };
                    let overlaps = |field: &Range<usize>| {
                        all.iter().any(|one| one.field.start < field.end && field.start < one.field.end)
                    };
                    all.extend(found.filter(|one| !overlaps(&one.field)));
                }
            }
        }
    }
    all
}

/// The checksum in a field, if it has this value.
fn holding(input: &[u8], field: Range<usize>, kind: Kind, value: u32, of: Range<usize>) -> Option<Check> {
    let bytes = input.get(field.clone())?;
    let value = u64::from(value) & (u64::MAX >> (64 - 8 * field.len()));
    let mut orders = [Digits::BigEndian, Digits::LittleEndian].into_iter();
    let digits = orders.find(|digits| value != 0 && digits.read(bytes) == value)?;
    Some(Check { field, kind, digits, of })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_sums() {
        let of = |kind: Kind| kind.of(b"123456789");
        assert_eq!(Kind::ALL.map(of), [0xcbf4_3926, 0x091e_01de, 477]);
    }

    #[test]
    fn checksums_are_found_in_front_and_behind_and_renewed() {
        let body: Vec<u8> = (0..400_u32).map(|at| ((at * at) >> 3) as u8).collect();
        let behind = [b"head", &*body, &Kind::Sum.of(&body).to_be_bytes()[2..]].concat();
        let in_front = [b"head", &Kind::Adler32.of(&body).to_be_bytes()[..], &*body].concat();
        let one = |input: &[u8]| checks(input).into_iter().map(|check| (check.field, check.kind)).collect::<Vec<_>>();
        assert_eq!(one(&behind), [(404..406, Kind::Sum)]);
        assert_eq!(one(&in_front), [(4..8, Kind::Adler32)]);
        let mut changed = in_front.clone();
        changed[100] ^= 8;
        assert_eq!(one(&changed), []);
        checks(&in_front)[0].renew(&mut changed, &|place| place);
        assert_eq!(one(&changed), [(4..8, Kind::Adler32)]);
    }
}
