//! Inputs of `relation_fields.c`: records behind fields that tell of them.

/// So many records of eight bytes that have nothing in common.
pub(crate) fn records(count: u32) -> Vec<u8> {
    let mut state = 7_u32;
    let mut byte = || {
        state = state.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        (state >> 16) as u8
    };
    (0..8 * count).map(|_| byte()).collect()
}

/// An input of each form, with a name.
pub(crate) fn relation_fields() -> Vec<(&'static str, Vec<u8>)> {
    let body = records(150);
    let length = body.len() as u32;
    let lines: Vec<u8> = (0..150_u32).flat_map(|line| format!("{:07}\n", line * line).into_bytes()).collect();
    let words = &(length / 4).to_be_bytes()[2..];
    let sum = body.iter().fold(0_u32, |sum, byte| sum + u32::from(*byte));
    vec![
        ("chunk", [format!("C{length:x}\r\n").as_bytes(), &lines, b"\r\n0\r\n\r\n"].concat()),
        ("words", [b"W\x02", words, &body].concat()),
        ("place", [b"O...", &(8 + length).to_be_bytes()[..], &body, b"table of 12."].concat()),
        ("sum", [b"S.", &length.to_be_bytes()[2..], &body, &sum.to_be_bytes()[2..]].concat()),
        ("address", [b"A...", &(0x40_1000 + 8 + length).to_be_bytes()[..], &body].concat()),
    ]
}
