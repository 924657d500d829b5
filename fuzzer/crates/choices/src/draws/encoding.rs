//! The encoding of values in the input: `FuzzedDataProvider`'s.

/// Number of bytes that a number takes whose largest value minus smallest is `range`.
pub(super) fn width(range: u64) -> usize {
    (64 - range.leading_zeros() as usize).div_ceil(8)
}

/// A number (minus the smallest) of a range as it lies in the input, the lowest byte first. Bytes are taken from the end,
/// so the most significant is taken first.
pub(super) fn number(value: u64, range: u64) -> Vec<u8> {
    value.to_le_bytes()[..width(range)].to_vec()
}

/// Text as a draw has read it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Text {
    /// Its characters: two backslashes in the input are one.
    pub(super) content: Vec<u8>,
    /// Whether it ended by itself, by its terminator or as long as it may be, and not because the input did.
    pub(super) is_ended: bool,
}

/// Reads text of at most `max` characters: it ends with a backslash and a byte other than a backslash.
pub(super) fn read_text(bytes: &[u8], max: usize) -> Text {
    let mut content = Vec::with_capacity(bytes.len());
    let mut rest = bytes.iter();
    while content.len() < max {
        match rest.next() {
            None => return Text { content, is_ended: false },
            Some(b'\\') => match rest.next() {
                None => return Text { content, is_ended: false },
                Some(b'\\') => content.push(b'\\'),
                Some(_) => return Text { content, is_ended: true },
            },
            Some(&byte) => content.push(byte),
        }
    }
    Text { content, is_ended: true }
}

/// Text so that a draw of at most `max` characters reads it, cut to that; with a terminator if it is shorter.
pub(super) fn write_text(content: &[u8], max: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for &byte in content.iter().take(max) {
        bytes.push(byte);
        if byte == b'\\' {
            bytes.push(byte);
        }
    }
    if content.len() < max {
        bytes.extend_from_slice(b"\\ ");
    }
    bytes
}

/// Text that a draw of at most `max` characters takes from exactly `room` bytes, cut or filled with blanks; `None` if that
/// cannot be.
pub(super) fn text_in(content: &[u8], max: usize, room: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(room);
    let (mut characters, end) = (0, room.saturating_sub(2));
    for &byte in content.iter().chain(std::iter::repeat_n(&b' ', room)) {
        let needs = if byte == b'\\' { 2 } else { 1 };
        if bytes.len() + needs <= end {
            bytes.extend(std::iter::repeat_n(byte, needs));
            characters += 1;
        }
    }
    if room >= 2 && characters < max {
        bytes.extend_from_slice(b"\\ ");
        return Some(bytes);
    }
    // as long as it may be, or as there are bytes
    let plain = content.iter().copied().filter(|&byte| byte != b'\\').chain(std::iter::repeat(b' '));
    (room <= max).then(|| plain.take(room).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_take_as_many_bytes_as_their_range_needs() {
        assert_eq!([0, 1, 255, 256, 65_535, 1 << 40, u64::MAX].map(width), [0, 1, 1, 2, 2, 6, 8]);
    }

    #[test]
    fn a_lone_backslash_ends_a_text_and_the_end_of_the_input_does_not() {
        assert_eq!(read_text(b"ab\\\\c\\x", 10), Text { content: b"ab\\c".to_vec(), is_ended: true });
        assert_eq!(read_text(b"ab", 10), Text { content: b"ab".to_vec(), is_ended: false });
        assert_eq!(read_text(b"ab", 2), Text { content: b"ab".to_vec(), is_ended: true });
    }

    proptest! {
        #[test]
        fn text_is_read_as_it_was_written(content in "[a\\\\]{0,12}", max in 0usize..12) {
            let mut bytes = write_text(content.as_bytes(), max);
            let length = bytes.len();
            bytes.extend_from_slice(b"more");
            let text = read_text(&bytes[..length], max);
            prop_assert!(text.is_ended);
            prop_assert_eq!(&text.content[..], &content.as_bytes()[..content.len().min(max)]);
        }

        #[test]
        fn text_written_into_a_room_fills_it(content in "[a\\\\]{0,12}", max in 0usize..12, room in 0usize..12) {
            let Some(bytes) = text_in(content.as_bytes(), max, room) else {
                prop_assert!(max < room);
                return Ok(());
            };
            prop_assert_eq!(bytes.len(), room);
            prop_assert_eq!(read_text(&bytes, max).is_ended, room >= 2 || room == max);
        }
    }
}
