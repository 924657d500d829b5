//! Numbers of rounds: the orders in which they come, and the digits that they are written with.

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

    /// The digit of this value.
    fn digit(self, value: u8) -> u8 {
        match self {
            Self::Decimal => b'0' + value,
            Self::Hexadecimal => b"0123456789abcdef"[usize::from(value & 15)],
            Self::Letters => b'a' + value,
            Self::BigEndian | Self::LittleEndian => value,
        }
    }

    /// Appends a number in `width` digits.
    pub(super) fn write(self, mut number: u64, width: u8, to: &mut Vec<u8>) {
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
