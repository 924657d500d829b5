//! Numbers: the digits that they are written with, and the orders in which those of rounds come.

use serde::{Deserialize, Serialize};

use super::{Counter, WIDEST};

/// Order of numbers in a loop of `times` rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// 0, 1, 2, ...
    Up,
    /// `times - 1` down to 0.
    Down,
    /// A permutation that depends on a number.
    Shuffle(u64),
}

/// Digits of a number of fixed width. Numbers that are too large lose their first digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Digits {
    /// `0` to `9`.
    Decimal,
    /// `0` to `f`.
    Hexadecimal,
    /// `a` to `z`.
    Letters,
    /// Bytes, the highest first.
    BigEndian,
    /// Bytes, the lowest first.
    LittleEndian,
}

/// Field of an input with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Field {
    /// Number of digits, 1 to 20; 0 for as many as a decimal or hexadecimal number needs.
    pub width: u8,
    pub digits: Digits,
}

impl Field {
    /// Whether it can hold a number.
    ///
    /// # Errors
    /// The reason why it cannot, and what to do.
    pub(super) fn check(self) -> Result<(), String> {
        match (self.width, self.digits) {
            (0, Digits::BigEndian | Digits::LittleEndian | Digits::Letters) => {
                Err("a number has no width: as in #N:2:be".to_owned())
            }
            (0..=WIDEST, _) => Ok(()),
            (width, _) => Err(format!("a number has {width} digits: give it at most {WIDEST}")),
        }
    }

    /// Number of digits of `number`.
    pub(super) fn digits_of(self, number: u64) -> u8 {
        if self.width > 0 { self.width } else { number.checked_ilog(self.digits.base().into()).unwrap_or(0) as u8 + 1 }
    }

    /// Appends `number`.
    pub(super) fn write(self, number: u64, to: &mut Vec<u8>) {
        self.digits.write(number, self.digits_of(number), to);
    }

    /// Largest number that it can hold; `None` if that is any of 64 bits.
    pub fn largest(self) -> Option<u64> {
        if self.width == 0 {
            return None;
        }
        u64::from(self.digits.base()).checked_pow(self.width.into()).map(|over| over - 1)
    }
}

/// Way in which a length is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LengthForm {
    Field(Field),
    /// As in DER: one byte below 128, otherwise the number of bytes with the highest bit set, and the bytes.
    Der,
    /// Groups of seven bits, the lowest first, each but the last with its highest bit set.
    Groups,
}

impl LengthForm {
    /// The number at the beginning of some bytes, which are no text, and how many of them it takes.
    pub(crate) fn read(self, bytes: &[u8]) -> Option<(u64, usize)> {
        match self {
            Self::Field(Field { width, digits }) => {
                let width = usize::from(width);
                Some((digits.read(bytes.get(..width)?), width))
            }
            Self::Der => match *bytes.first()? {
                short @ 0..=0x7f => Some((short.into(), 1)),
                long @ 0x81..=0x84 => {
                    let width = usize::from(long & 0x7f);
                    Some((Digits::BigEndian.read(bytes.get(1..=width)?), 1 + width))
                }
                _ => None,
            },
            Self::Groups => {
                let more = bytes.iter().take(4).take_while(|byte| **byte >= 0x80).count();
                let groups = bytes.get(..=more)?;
                let value = groups.iter().rev().fold(0, |value, group| value << 7 | u64::from(group & 0x7f));
                Some((value, more + 1))
            }
        }
    }
}

/// Length of what is behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Length {
    pub form: LengthForm,
    /// Bytes in addition to those behind it.
    pub plus: i64,
}

impl Length {
    /// Whether it can hold a number.
    ///
    /// # Errors
    /// The reason why it cannot, and what to do.
    pub(super) fn check(self) -> Result<(), String> {
        match self.form {
            LengthForm::Field(field) => field.check(),
            LengthForm::Der | LengthForm::Groups => Ok(()),
        }
    }

    /// Number that is written in front of so many bytes.
    pub fn value(self, bytes: u64) -> u64 {
        bytes.saturating_add_signed(self.plus)
    }

    /// Largest number that it can hold; `None` if that is any of 64 bits.
    pub(super) fn largest(self) -> Option<u64> {
        match self.form {
            LengthForm::Field(field) => field.largest(),
            LengthForm::Der | LengthForm::Groups => None,
        }
    }

    /// Number of its digits in front of so many bytes.
    pub(super) fn digits_of(self, bytes: u64) -> u8 {
        let value = self.value(bytes);
        let bits = 64 - value.leading_zeros();
        match self.form {
            LengthForm::Field(field) => field.digits_of(value),
            LengthForm::Der if value < 128 => 1,
            LengthForm::Der => 1 + bits.div_ceil(8) as u8,
            LengthForm::Groups => bits.div_ceil(7).max(1) as u8,
        }
    }

    /// Appends the length of so many bytes.
    pub fn write(self, bytes: u64, to: &mut Vec<u8>) {
        let value = self.value(bytes);
        match self.form {
            LengthForm::Field(field) => field.write(value, to),
            LengthForm::Der => {
                let width = self.digits_of(bytes) - 1;
                if width > 0 {
                    to.push(0x80 | width);
                }
                Digits::BigEndian.write(value, width.max(1), to);
            }
            LengthForm::Groups => {
                let last = self.digits_of(bytes) - 1;
                to.extend((0..=last).map(|at| (value >> (7 * at)) as u8 & 0x7f | if at < last { 0x80 } else { 0 }));
            }
        }
    }
}

impl std::fmt::Display for Field {
    /// Writes what a reader of a hex dump looks for: `2 bytes, the highest first`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.digits {
            Digits::BigEndian | Digits::LittleEndian if self.width == 1 => f.write_str("1 byte"),
            Digits::BigEndian => write!(f, "{} bytes, the highest first", self.width),
            Digits::LittleEndian => write!(f, "{} bytes, the lowest first", self.width),
            Digits::Decimal => f.write_str("decimal"),
            Digits::Hexadecimal => f.write_str("hexadecimal"),
            Digits::Letters => f.write_str("letters"),
        }
    }
}

impl std::fmt::Display for Counter {
    /// Writes what a reader of the input sees: `six letters that count up`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        /// Numbers that are written as words.
        const WORDS: [&str; 13] =
            ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
        let width =
            WORDS.get(usize::from(self.width)).map_or_else(|| self.width.to_string(), |word| (*word).to_owned());
        let (digit, remark) = match self.digits {
            Digits::Decimal => ("digit", ""),
            Digits::Hexadecimal => ("hexadecimal digit", ""),
            Digits::Letters => ("letter", ""),
            Digits::BigEndian => ("byte", if self.width > 1 { ", the highest first," } else { "" }),
            Digits::LittleEndian => ("byte", if self.width > 1 { ", the lowest first," } else { "" }),
        };
        let (plural, third) = if self.width == 1 { ("", "s") } else { ("s", "") };
        let order = match self.order {
            Order::Up => format!("count{third} up"),
            Order::Down => format!("count{third} down"),
            Order::Shuffle(_) => format!("come{third} in a random order"),
        };
        write!(f, "{width} {digit}{plural}{remark} that {order}")
    }
}

/// All kinds of digits with their names in the text form.
pub(super) const DIGITS: [(Digits, &str); 5] = [
    (Digits::Decimal, "dec"),
    (Digits::Hexadecimal, "hex"),
    (Digits::Letters, "letters"),
    (Digits::BigEndian, "be"),
    (Digits::LittleEndian, "le"),
];

impl Digits {
    /// How many different digits there are.
    pub(super) fn base(self) -> u32 {
        match self {
            Self::Decimal => 10,
            Self::Hexadecimal => 16,
            Self::Letters => 26,
            Self::BigEndian | Self::LittleEndian => 256,
        }
    }

    fn digit(self, value: u8) -> u8 {
        match self {
            Self::Decimal => b'0' + value,
            Self::Hexadecimal => b"0123456789abcdef"[usize::from(value & 15)],
            Self::Letters => b'a' + value,
            Self::BigEndian | Self::LittleEndian => value,
        }
    }

    /// The number that bytes are, the highest first unless they are [`Self::LittleEndian`].
    pub(crate) fn read(self, bytes: &[u8]) -> u64 {
        let add = |number: u64, &byte: &u8| number << 8 | u64::from(byte);
        if self == Self::LittleEndian { bytes.iter().rev().fold(0, add) } else { bytes.iter().fold(0, add) }
    }

    /// Appends a number in `width` digits.
    pub(crate) fn write(self, mut number: u64, width: u8, to: &mut Vec<u8>) {
        let start = to.len();
        let base = u64::from(self.base());
        for _ in 0..width {
            to.push(self.digit((number % base) as u8));
            number /= base;
        }
        if self != Self::LittleEndian {
            to[start..].reverse();
        }
    }
}

/// Modulus of the keys of shuffles, a prime: 2^61 - 1.
const PRIME: u128 = (1 << 61) - 1;

/// Exponent of the keys of shuffles: squared this often, and multiplied once.
const SQUARES: u32 = 16;

/// Factor of seeds of shuffles, a prime: numbers of different seeds do not follow each other.
pub(super) const SEED_FACTOR: u64 = 1_000_003;

/// Key by which the number of a round is sorted in a shuffle: `(round + 1 + seed * 1000003) ^ 65537` modulo 2^61 - 1,
/// which one line of Python computes as well.
fn key(round: u64, seed: u64) -> u64 {
    let base = (u128::from(round) + 1 + u128::from(seed) * u128::from(SEED_FACTOR)) % PRIME;
    let mut power = base;
    for _ in 0..SQUARES {
        power = power * power % PRIME;
    }
    (power * base % PRIME) as u64
}

/// The numbers of `times` rounds in the order of a shuffle.
pub(super) fn shuffled(times: u64, seed: u64) -> Vec<u64> {
    let mut all: Vec<u64> = (0..times).collect();
    all.sort_by_cached_key(|&round| key(round, seed));
    all
}
