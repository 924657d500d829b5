//! Hints behind the linker's own messages, where the wrapper knows what they come from.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;

/// Function that harnesses define.
const HARNESS: &[u8] = b"LLVMFuzzerTestOneInput";

/// Bytes of a file in which it is looked for: sources and objects of harnesses are small.
const LOOKED_THROUGH: u64 = 1 << 24;

/// Options without which a program has the C library.
const WITHOUT_LIBRARY: [&str; 4] = ["-nostdlib", "-nodefaultlibs", "-nolibc", "-nostartfiles"];

/// One line for a link that failed: the remedy, if its arguments show one. `is_harness`: whether it had `-fsanitize=fuzzer`.
pub(crate) fn after_failure(arguments: &[OsString], is_harness: bool) -> Option<String> {
    let without = arguments.iter().find(|argument| WITHOUT_LIBRARY.iter().any(|option| argument == option));
    if let Some(option) = without.and_then(|option| option.to_str()) {
        return Some(format!(
            "quagmire-cc: with {option} the program lacks what counts and runs need: link it with -lc and the startup files, or \
             build it with QUAGMIRE_NOOPT=1, which counts nothing"
        ));
    }
    let defines =
        !is_harness && arguments.iter().any(|argument| !argument.as_bytes().starts_with(b"-") && is_in(argument));
    defines.then(|| {
        "quagmire-cc: LLVMFuzzerTestOneInput without -fsanitize=fuzzer: if that is the harness, add -fsanitize=fuzzer to this \
         command, which links main and the fuzzer"
            .to_owned()
    })
}

/// Whether a file names the function of harnesses.
fn is_in(path: &OsString) -> bool {
    let mut contents = Vec::new();
    let read = File::open(path).and_then(|file| file.take(LOOKED_THROUGH).read_to_end(&mut contents));
    read.is_ok() && contents.windows(HARNESS.len()).any(|bytes| bytes == HARNESS)
}
