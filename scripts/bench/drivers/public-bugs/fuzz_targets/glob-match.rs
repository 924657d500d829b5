//! Matches a path, all after the first line, against the pattern in that line.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Some((pattern, path)) = text.split_once('\n') {
        glob_match::glob_match(pattern, path);
    }
});
