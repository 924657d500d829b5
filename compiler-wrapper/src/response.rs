//! Expansion of response files (`@file`) as in clang on Unix: LLVM's `TokenizeGNUCommandLine`.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use rustix::fs::MemfdFlags;

/// Reads a file; `None` if it cannot be read.
pub type Read<'a> = &'a dyn Fn(&Path) -> Option<Vec<u8>>;

/// Maximum nesting of response files. Clang refuses endless nesting; here it only has to end.
const DEEPEST: usize = 20;

/// Maximum number of response files read for one command: files that name each other twice would be read 2^20 times.
const MOST_FILES: usize = 1000;

/// An argument after expansion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Expanded {
    /// The argument itself.
    pub argument: OsString,
    /// Index of the original argument that it comes from.
    pub origin: usize,
}

/// Expands the response files among the arguments. A file that cannot be read remains as it is, as in clang.
pub(crate) fn expand(arguments: &[OsString], read: Read) -> Vec<Expanded> {
    let mut expanded = Vec::with_capacity(arguments.len());
    let mut files = MOST_FILES;
    for (origin, argument) in arguments.iter().enumerate() {
        expand_one(argument.clone(), origin, read, (DEEPEST, &mut files), &mut expanded);
    }
    expanded
}

/// Expands one argument. `left`: remaining nesting, and remaining number of files.
fn expand_one(argument: OsString, origin: usize, read: Read, left: (usize, &mut usize), expanded: &mut Vec<Expanded>) {
    let (depth, files) = left;
    let content = match argument.as_bytes() {
        [b'@', path @ ..] if !path.is_empty() && depth > 0 && *files > 0 => read(Path::new(OsStr::from_bytes(path))),
        _ => None,
    };
    match content {
        Some(content) => {
            *files -= 1;
            for inner in tokenize(&content) {
                expand_one(inner, origin, read, (depth - 1, &mut *files), expanded);
            }
        }
        None => expanded.push(Expanded { argument, origin }),
    }
}

/// Splits the text of a response file at white space. Quotes of both kinds group; a backslash escapes the next byte,
/// inside quotes too.
pub(crate) fn tokenize(text: &[u8]) -> Vec<OsString> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut tokens = Vec::new();
    let mut token: Option<Vec<u8>> = None;
    let mut quote: Option<u8> = None;
    let mut bytes = text.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'\\', _) if bytes.peek().is_some() => token.get_or_insert_default().extend(bytes.next()),
            (_, Some(open)) if byte == open => quote = None,
            (_, Some(_)) => token.get_or_insert_default().push(byte),
            (b'"' | b'\'', None) => {
                quote = Some(byte);
                token.get_or_insert_default();
            }
            (b' ' | b'\t' | b'\r' | b'\n', None) => tokens.extend(token.take()),
            (_, None) => token.get_or_insert_default().push(byte),
        }
    }
    tokens.extend(token);
    tokens.into_iter().map(OsString::from_vec).collect()
}

/// A response file with these arguments, in memory, which the program that replaces this process inherits.
///
/// # Errors
/// If there is no memory or no descriptor left.
pub(crate) fn file(arguments: &[OsString]) -> io::Result<File> {
    let mut file = File::from(rustix::fs::memfd_create("arguments", MemfdFlags::empty())?);
    file.write_all(&quoted(arguments))?;
    Ok(file)
}

/// The text of a response file with these arguments.
fn quoted(arguments: &[OsString]) -> Vec<u8> {
    let mut text = Vec::new();
    for argument in arguments {
        text.push(b'"');
        for &byte in argument.as_bytes() {
            if matches!(byte, b'"' | b'\\') {
                text.push(b'\\');
            }
            text.push(byte);
        }
        text.extend(b"\"\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_join_and_backslashes_take_the_next_byte() {
        for (text, tokens) in [
            ("-c a.c\n-o\ta.o", vec!["-c", "a.c", "-o", "a.o"]),
            (r#"-DX="a b" '-DY=c d'"#, vec!["-DX=a b", "-DY=c d"]),
            (r#"-DX=\"a\ b\""#, vec![r#"-DX="a b""#]),
            (r#""-DX=\"q\"" """#, vec![r#"-DX="q""#, ""]),
            ("   ", vec![]),
        ] {
            assert_eq!(tokenize(text.as_bytes()), tokens, "{text}");
        }
    }

    #[test]
    fn response_files_nest_and_an_unreadable_one_stays() {
        let read = |path: &Path| match path.to_str()? {
            "outer" => Some(b"-a @inner -d".to_vec()),
            "inner" => Some(b"-b -c".to_vec()),
            "endless" => Some(b"@endless".to_vec()),
            _ => None,
        };
        let arguments = ["-0", "@outer", "@missing", "@endless"].map(OsString::from);
        let expanded = expand(&arguments, &read);
        let shown: Vec<_> = expanded.iter().map(|e| (e.argument.to_str().unwrap_or("?"), e.origin)).collect();
        assert_eq!(shown, [("-0", 0), ("-a", 1), ("-b", 1), ("-c", 1), ("-d", 1), ("@missing", 2), ("@endless", 3)]);
    }

    #[test]
    fn files_that_name_each_other_several_times_come_to_an_end() {
        let reads = std::cell::Cell::new(0);
        let read = |_: &Path| {
            reads.set(reads.get() + 1);
            Some(b"@one @two @three -O2".to_vec())
        };
        let expanded = expand(&["@one".into()], &read);
        assert!(reads.get() <= MOST_FILES && expanded.len() < 10 * MOST_FILES, "{} {}", reads.get(), expanded.len());
    }

    proptest::proptest! {
        #[test]
        fn tokens_of_any_bytes_are_no_longer_than_the_text(text: Vec<u8>) {
            let tokens = tokenize(&text);
            proptest::prop_assert!(tokens.iter().map(|token| token.len()).sum::<usize>() <= text.len());
            let _ = expand(&["@file".into(), "-c".into()], &|_| Some(text.clone()));
        }

        #[test]
        fn arguments_that_are_quoted_are_read_back(arguments: Vec<Vec<u8>>) {
            let arguments: Vec<OsString> = arguments.into_iter().map(OsString::from_vec).collect();
            proptest::prop_assert_eq!(tokenize(&quoted(&arguments)), arguments);
        }
    }
}
