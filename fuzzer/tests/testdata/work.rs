//! A harness in Rust without cargo-fuzz: executes a line for each byte, and another for each of those that are a `q`.
#![crate_type = "staticlib"]

#[inline(never)]
fn work(rounds: u32) -> u32 {
    let mut sum = 0u32;
    for round in 0..rounds {
        sum = std::hint::black_box(sum + round);
    }
    sum
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn LLVMFuzzerTestOneInput(data: *const u8, size: usize) -> i32 {
    // SAFETY: the engine's input.
    let data = unsafe { std::slice::from_raw_parts(data, size) };
    let rounds = data.iter().filter(|byte| **byte == b'q').count() * 300;
    std::hint::black_box(work(rounds as u32));
    0
}
