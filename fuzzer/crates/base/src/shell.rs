//! Quoting for shells: printed and stored commands can be pasted, whatever the names in them.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};

use crate::plain::is_plain;

/// Quotes a word for a shell. Names that are not UTF-8 or have unprintable characters are written as `$'...\377'`,
/// which bash, zsh, ksh and POSIX 2024 shells accept.
pub fn word(word: &OsStr) -> String {
    match word.to_str() {
        Some(text) if !text.is_empty() && text.chars().all(needs_no_quotes) => text.to_owned(),
        Some(text) if text.chars().all(is_plain) => format!("'{}'", text.replace('\'', r"'\''")),
        _ => escaped(word.as_bytes()),
    }
}

/// Quotes the words of a command and joins them with blanks.
pub fn command(words: impl IntoIterator<Item = impl AsRef<OsStr>>) -> String {
    words.into_iter().map(|one| word(one.as_ref())).collect::<Vec<_>>().join(" ")
}

fn needs_no_quotes(c: char) -> bool {
    c.is_ascii_alphanumeric() || "/._-+,=:@%".contains(c)
}

fn escaped(bytes: &[u8]) -> String {
    let mut text = String::from("$'");
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\'' | '\\' => text.extend(['\\', c]),
                c if is_plain(c) => text.push(c),
                // octal: a hexadecimal escape would absorb digits that follow it
                c => c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| text += &format!("\\{byte:03o}")),
            }
        }
        chunk.invalid().iter().for_each(|byte| text += &format!("\\{byte:03o}"));
    }
    text.push('\'');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::process::Command;

    #[test]
    fn command_lines_can_be_pasted() {
        assert_eq!(command(["./trim", "a b", "", "it's"]), r"./trim 'a b' '' 'it'\''s'");
        assert_eq!(command(["ab\n", "\u{202e}", "\\'\n"]), r"$'ab\012' $'\342\200\256' $'\\\'\012'");
        assert_eq!(word(OsStr::from_bytes(b"out\xff1/a b")), r"$'out\3771/a b'");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(30))]
        #[test]
        fn a_shell_reads_the_same_words(words in proptest::collection::vec(proptest::collection::vec(1u8.., 0..12), 1..20)) {
            let words: Vec<&OsStr> = words.iter().map(|word| OsStr::from_bytes(word)).collect();
            let script = format!("printf '%s\\0' {}", command(&words));
            let output = Command::new("bash").env("LC_ALL", "C").arg("-c").arg(script).output().unwrap();
            let expected: Vec<u8> = words.iter().flat_map(|word| [word.as_bytes(), &[0]].concat()).collect();
            prop_assert_eq!(output.stdout, expected);
        }
    }
}
