//! The greeting of AFL++'s fork server: one 32-bit word.

/// Flag of a greeting whose other bits are options; without it, they are not.
const ENABLED: u32 = 0x8000_0001;
const HAS_SIZE: u32 = 0x4000_0000;
const HAS_TOKENS: u32 = 0x1000_0000;
const TAKES_MEMORY: u32 = 0x0100_0000;
const SIZE: u32 = 0x00ff_fffe;
/// Mask of an error greeting, whose number is in [`ERROR_NUMBER`].
const ERROR: u32 = 0xf800_008f;
const ERROR_NUMBER: u32 = 0x00ff_ff00;
/// Error number: the map is too small.
const MAP_TOO_SMALL: u32 = 1;
/// Greeting of a newer protocol, which negotiates: "AFL" above a version number.
const VERSIONED: u32 = 0x4146_4c00;
/// Size of a map in bytes if the greeting does not say it.
const USUAL_SIZE: usize = 1 << 16;

/// Largest map whose size the greeting can express, in bytes.
pub(crate) const LARGEST_SIZE: usize = 1 << 23;

/// Answer to [`Hello::takes_memory`]: test cases come in shared memory.
pub(crate) const GIVES_MEMORY: u32 = ENABLED | TAKES_MEMORY;

/// Options of a server that is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hello {
    /// Size of its map in bytes.
    pub map_size: usize,
    /// It can take inputs from shared memory, if the answer says so.
    pub takes_memory: bool,
    /// It reads one more word, and takes it for the first request if it has no flags.
    pub asks_back: bool,
}

/// Why a server is not ready, or speaks another protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It needs a larger map than the protocol can express.
    MapTooSmall,
    /// It could not attach the shared memory; with AFL++'s error number.
    NotAttached(u32),
    /// It speaks this version of a newer protocol.
    Newer(u32),
}

/// Parses the greeting.
///
/// # Errors
/// If it is not the greeting of a server that is ready.
pub(crate) fn read(word: u32) -> Result<Hello, Refusal> {
    if word & 0xffff_ff00 == VERSIONED {
        return Err(Refusal::Newer(word & 0xff));
    }
    if word & ERROR == ERROR {
        return Err(match (word & ERROR_NUMBER) >> 8 {
            MAP_TOO_SMALL => Refusal::MapTooSmall,
            number => Refusal::NotAttached(number),
        });
    }
    let has = |option: u32| word & (ENABLED | option) == ENABLED | option;
    let map_size = if has(HAS_SIZE) { ((word & SIZE) >> 1) as usize + 1 } else { USUAL_SIZE };
    let takes_memory = has(TAKES_MEMORY);
    Ok(Hello { map_size, takes_memory, asks_back: takes_memory || has(HAS_TOKENS) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_and_sizes_are_read() {
        let plain = Hello { map_size: USUAL_SIZE, takes_memory: false, asks_back: false };
        assert_eq!(read(0), Ok(plain));
        let sized = |size: u32| ENABLED | HAS_SIZE | (size - 1) << 1;
        assert_eq!(read(sized(64)), Ok(Hello { map_size: 64, ..plain }));
        assert_eq!(read(sized(LARGEST_SIZE as u32)), Ok(Hello { map_size: LARGEST_SIZE, ..plain }));
        let all = Hello { map_size: 9, takes_memory: true, asks_back: true };
        assert_eq!(read(sized(9) | TAKES_MEMORY), Ok(all));
        assert_eq!(read(sized(9) | HAS_TOKENS), Ok(Hello { takes_memory: false, ..all }));
    }

    #[test]
    fn errors_and_later_protocols_are_told_apart() {
        assert_eq!(read(ERROR | 1 << 8), Err(Refusal::MapTooSmall));
        assert_eq!(read(ERROR | 8 << 8), Err(Refusal::NotAttached(8)));
        assert_eq!(read(0x4146_4c01), Err(Refusal::Newer(1)));
    }
}
