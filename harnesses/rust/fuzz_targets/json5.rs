//! Reads a JSON5 document with the crate json5.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    let _ = json5::from_str::<serde_json::Value>(text);
});
