//! The greeting of AFL++'s fork server: one 32-bit word up to 4.10, and from 4.20 on a version, which the fuzzer confirms, with
//! options and their values behind it.

use std::io::{self, Read, Write};

/// Flag of a greeting whose other bits are options; without it, they are not.
const ENABLED: u32 = 0x8000_0001;
const HAS_SIZE: u32 = 0x4000_0000;
const HAS_TOKENS: u32 = 0x1000_0000;
const TAKES_MEMORY: u32 = 0x0100_0000;
const SIZE: u32 = 0x00ff_fffe;
/// Mask of an error greeting, whose number is in [`ERROR_NUMBER`].
const ERROR: u32 = 0xf800_008f;
const ERROR_NUMBER: u32 = 0x00ff_ff00;
/// Size of a map in bytes if the greeting does not say it.
const USUAL_SIZE: usize = 1 << 16;

/// Greeting with a version: "AFL" above its number.
const VERSIONED: u32 = 0x4146_4c00;
/// The version that is spoken here.
const VERSION: u32 = 1;
/// Error greeting of servers with a version; the number is in the lower half.
const VERSIONED_ERROR: u32 = 0xeffe_0000;
/// Options of version 1, in the order of their values: a word, none, a length with as many bytes, none.
const SIZE_FOLLOWS: u32 = 0x1;
const WANTS_MEMORY: u32 = 0x2;
const TOKENS_FOLLOW: u32 = 0x800;
const HAS_IJON: u32 = 0x0400_0000;
/// Most bytes of tokens that AFL++ sends.
const MOST_TOKENS: u32 = 0xff_ffff;

/// Error number: the map is too small.
const MAP_TOO_SMALL: u32 = 1;

/// Size of the map that programs are given, in bytes: the largest that a greeting without a version can express.
pub(crate) const LARGEST_SIZE: usize = 1 << 23;

/// Answer to [`Hello::asks_back`]: test cases come in shared memory.
pub(crate) const GIVES_MEMORY: u32 = ENABLED | TAKES_MEMORY;

/// Options of a server that is ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hello {
    /// Size of its map in bytes.
    pub map_size: usize,
    /// It takes inputs from shared memory; if it asks back, once the answer says so.
    pub takes_memory: bool,
    /// It reads one more word, and takes it for the first request if it has no flags.
    pub asks_back: bool,
    /// Its dictionary, which the compiler has made.
    pub tokens: Vec<Vec<u8>>,
}

/// Why a server is not ready, or speaks another protocol.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// It needs a larger map than it was given.
    MapTooSmall,
    /// It could not attach the shared memory; with AFL++'s error number.
    NotAttached(u32),
    /// It speaks another version of the protocol.
    Unknown(u32),
    /// It has options whose values cannot be read.
    UnknownOptions(u32),
    /// It does not end its options as it has begun.
    Garbled,
    /// It has ended.
    Gone(io::Error),
}

/// Greets a server.
///
/// # Errors
/// If it is not ready, or nothing can be read of it.
pub(crate) fn greet(answers: &mut impl Read, requests: &mut impl Write) -> Result<Hello, Refusal> {
    let word = word(answers)?;
    if word & 0xffff_ff00 == VERSIONED {
        return negotiate(word, answers, requests);
    }
    if word & ERROR == ERROR {
        return Err(refusal((word & ERROR_NUMBER) >> 8));
    }
    if word & VERSIONED_ERROR == VERSIONED_ERROR {
        return Err(refusal(word & 0xffff));
    }
    let has = |option: u32| word & (ENABLED | option) == ENABLED | option;
    let map_size = if has(HAS_SIZE) { ((word & SIZE) >> 1) as usize + 1 } else { USUAL_SIZE };
    let takes_memory = has(TAKES_MEMORY);
    // the tokens of a greeting without a version come if they are asked for, which is not done
    Ok(Hello { map_size, takes_memory, asks_back: takes_memory || has(HAS_TOKENS), tokens: Vec::new() })
}

/// Confirms the version of a greeting, and reads the options behind it.
fn negotiate(greeting: u32, answers: &mut impl Read, requests: &mut impl Write) -> Result<Hello, Refusal> {
    if greeting & 0xff != VERSION {
        return Err(Refusal::Unknown(greeting & 0xff));
    }
    requests.write_all(&(!greeting).to_ne_bytes()).map_err(Refusal::Gone)?;
    let options = word(answers)?;
    if options & VERSIONED_ERROR == VERSIONED_ERROR {
        return Err(refusal(options & 0xffff));
    }
    let unknown = options & !(SIZE_FOLLOWS | WANTS_MEMORY | TOKENS_FOLLOW | HAS_IJON);
    if unknown != 0 {
        return Err(Refusal::UnknownOptions(unknown));
    }
    let map_size = if options & SIZE_FOLLOWS != 0 { word(answers)? as usize } else { USUAL_SIZE };
    if map_size > LARGEST_SIZE {
        return Err(Refusal::MapTooSmall);
    }
    let tokens = if options & TOKENS_FOLLOW != 0 { tokens(answers)? } else { Vec::new() };
    if word(answers)? != greeting {
        return Err(Refusal::Garbled);
    }
    Ok(Hello { map_size, takes_memory: options & WANTS_MEMORY != 0, asks_back: false, tokens })
}

/// Reads a dictionary: the number of its bytes, and each token behind a byte with its length.
fn tokens(answers: &mut impl Read) -> Result<Vec<Vec<u8>>, Refusal> {
    let length = word(answers)?;
    if length > MOST_TOKENS {
        return Err(Refusal::Garbled);
    }
    let mut bytes = vec![0; length as usize];
    answers.read_exact(&mut bytes).map_err(Refusal::Gone)?;
    let (mut rest, mut tokens) = (&bytes[..], Vec::new());
    while let Some((&length, behind)) = rest.split_first() {
        let Some((token, others)) = behind.split_at_checked(length.into()) else { return Err(Refusal::Garbled) };
        if !token.is_empty() {
            tokens.push(token.to_vec());
        }
        rest = others;
    }
    Ok(tokens)
}

fn refusal(number: u32) -> Refusal {
    if number == MAP_TOO_SMALL { Refusal::MapTooSmall } else { Refusal::NotAttached(number) }
}

fn word(answers: &mut impl Read) -> Result<u32, Refusal> {
    let mut word = [0; 4];
    answers.read_exact(&mut word).map_err(Refusal::Gone)?;
    Ok(u32::from_ne_bytes(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Greets a server that says these words and bytes. Returns what it is taken for, and what it was told.
    fn greeted(words: &[u32], bytes: &[u8], end: &[u32]) -> (Result<Hello, Refusal>, Vec<u8>) {
        let of = |words: &[u32]| words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>();
        let (said, mut told) = ([of(words), bytes.to_vec(), of(end)].concat(), Vec::new());
        (greet(&mut said.as_slice(), &mut told), told)
    }

    fn ready(word: u32) -> Hello {
        let (hello, told) = greeted(&[word], &[], &[]);
        assert!(told.is_empty());
        hello.expect("it is ready")
    }

    #[test]
    fn options_and_sizes_of_a_word_are_read() {
        let plain = Hello { map_size: USUAL_SIZE, takes_memory: false, asks_back: false, tokens: Vec::new() };
        assert_eq!(ready(0), plain);
        let sized = |size: u32| ENABLED | HAS_SIZE | (size - 1) << 1;
        assert_eq!(ready(sized(64)), Hello { map_size: 64, ..plain.clone() });
        assert_eq!(ready(sized(LARGEST_SIZE as u32)), Hello { map_size: LARGEST_SIZE, ..plain.clone() });
        let all = Hello { map_size: 9, takes_memory: true, asks_back: true, ..plain };
        assert_eq!(ready(sized(9) | TAKES_MEMORY), all);
        assert_eq!(ready(sized(9) | HAS_TOKENS), Hello { takes_memory: false, ..all });
    }

    #[test]
    fn a_version_is_confirmed_and_its_options_are_read_in_their_order() {
        let first = VERSIONED | VERSION;
        let (hello, told) = greeted(&[first, SIZE_FOLLOWS, 70], &[], &[first]);
        let small = Hello { map_size: 70, takes_memory: false, asks_back: false, tokens: Vec::new() };
        assert_eq!((hello.expect("it is ready"), told), (small.clone(), (!first).to_ne_bytes().to_vec()));
        let all = SIZE_FOLLOWS | WANTS_MEMORY | TOKENS_FOLLOW | HAS_IJON;
        let (hello, _) = greeted(&[first, all, 70, 8], b"\x03abc\x00\x02de", &[first]);
        let tokens = vec![b"abc".to_vec(), b"de".to_vec()];
        assert_eq!(hello.expect("it is ready"), Hello { takes_memory: true, tokens, ..small });
        let (hello, _) = greeted(&[first, 0], &[], &[first]);
        assert_eq!(hello.expect("it is ready").map_size, USUAL_SIZE);
    }

    #[test]
    fn errors_later_protocols_and_servers_that_end_are_told_apart() {
        let first = VERSIONED | VERSION;
        let refused = |words: &[u32], bytes: &[u8]| greeted(words, bytes, &[]).0.expect_err("it is not ready");
        assert!(matches!(refused(&[ERROR | 1 << 8], &[]), Refusal::MapTooSmall));
        assert!(matches!(refused(&[ERROR | 8 << 8], &[]), Refusal::NotAttached(8)));
        assert!(matches!(refused(&[VERSIONED_ERROR | 4], &[]), Refusal::NotAttached(4)));
        assert!(matches!(refused(&[first, VERSIONED_ERROR | 1], &[]), Refusal::MapTooSmall));
        assert!(matches!(refused(&[VERSIONED | 2], &[]), Refusal::Unknown(2)));
        assert!(matches!(refused(&[VERSIONED], &[]), Refusal::Unknown(0)));
        assert!(matches!(refused(&[first, SIZE_FOLLOWS | 0x10], &[]), Refusal::UnknownOptions(0x10)));
        assert!(matches!(refused(&[first, SIZE_FOLLOWS, u32::MAX], &[]), Refusal::MapTooSmall));
        assert!(matches!(refused(&[first, 0, 7], &[]), Refusal::Garbled));
        assert!(matches!(refused(&[first, TOKENS_FOLLOW, u32::MAX], &[]), Refusal::Garbled));
        assert!(matches!(refused(&[first, TOKENS_FOLLOW, 4], b"\x09abc"), Refusal::Garbled));
        for cut in [&[][..], &[first], &[first, SIZE_FOLLOWS], &[first, TOKENS_FOLLOW, 9]] {
            assert!(matches!(refused(cut, &[]), Refusal::Gone(_)), "{cut:?}");
        }
    }
}
