//! Response files (`@file`), read as clang reads them on Unix: LLVM's `TokenizeGNUCommandLine`.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// Reads a file, or says that it cannot be read.
pub type Read<'a> = &'a dyn Fn(&Path) -> Option<Vec<u8>>;

/// How deep response files may name response files: clang refuses endless nesting, here it only has to end.
const DEEPEST: usize = 20;

/// One argument after expansion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expanded {
    /// The argument itself.
    pub argument: OsString,
    /// The index of the argument as typed that it comes from.
    pub origin: usize,
}

/// Expands the response files among the arguments. One that cannot be read stays as it is, as with clang.
pub fn expand(arguments: &[OsString], read: Read) -> Vec<Expanded> {
    let mut expanded = Vec::with_capacity(arguments.len());
    for (origin, argument) in arguments.iter().enumerate() {
        expand_one(argument.clone(), origin, read, DEEPEST, &mut expanded);
    }
    expanded
}

fn expand_one(argument: OsString, origin: usize, read: Read, depth: usize, expanded: &mut Vec<Expanded>) {
    let content = match argument.as_bytes() {
        [b'@', path @ ..] if !path.is_empty() && depth > 0 => read(Path::new(OsStr::from_bytes(path))),
        _ => None,
    };
    match content {
        Some(content) => {
            for inner in tokenize(&content) {
                expand_one(inner, origin, read, depth - 1, expanded);
            }
        }
        None => expanded.push(Expanded { argument, origin }),
    }
}

/// Splits a response file's text at white space; quotes of both kinds join, and a backslash takes the next byte as it
/// is, inside quotes too.
pub fn tokenize(text: &[u8]) -> Vec<OsString> {
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
}
