//! Ends as its first byte says, for tests: panics, overflows its stack, aborts or exits.
#![no_main]

use std::hint::black_box;

libfuzzer_sys::fuzz_target!(|data: &[u8]| match data {
    [b'p', ..] => panic!("of {} bytes", data.len()),
    [b'i', ..] => drop(black_box(data[black_box(data.len())])),
    [b'o', ..] => drop(black_box(deeper(0))),
    [b'a', ..] => std::process::abort(),
    [b'e', ..] => std::process::exit(3),
    _ => {}
});

fn deeper(level: u64) -> u64 {
    let room = black_box([level; 64]);
    if level == u64::MAX { 0 } else { deeper(level + 1) + room[level as usize % 64] }
}
