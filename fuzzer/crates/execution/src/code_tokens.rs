//! Tokens of the target's code: constants that it compares with something, as the pass has left them in its files
//! (`compiler-wrapper/passes/tokens.h`).

use std::{collections::BTreeSet, fs::File, path::Path};

use object::{Object, ObjectSection, ReadCache};

use crate::{build_settings::SETTINGS_SECTION, symbols::Symbols};

/// Beginning of the texts of the pass, before the bytes of a token in hexadecimal digits.
const MARK: &[u8] = b"quagmire-token: ";

/// Tokens of the program and the libraries that are loaded, each once, in order. Empty where nothing was built with the
/// pass.
pub(crate) fn tokens_of_code() -> Vec<Vec<u8>> {
    let symbols = Symbols::new();
    let tokens: BTreeSet<Vec<u8>> = symbols.files().flat_map(tokens_in).collect();
    tokens.into_iter().collect()
}

/// Tokens in a file; none if it cannot be read.
fn tokens_in(path: &Path) -> Vec<Vec<u8>> {
    let Ok(file) = File::open(path) else { return Vec::new() };
    let cache = ReadCache::new(file);
    let Ok(object) = object::File::parse(&cache) else { return Vec::new() };
    let section = object.section_by_name(SETTINGS_SECTION);
    section.and_then(|section| section.data().ok()).map(tokens_among).unwrap_or_default()
}

fn tokens_among(texts: &[u8]) -> Vec<Vec<u8>> {
    texts.split(|byte| *byte == 0).filter_map(|text| bytes_of(text.strip_prefix(MARK)?)).collect()
}

/// Bytes of hexadecimal digits; `None` if there are others, or none.
fn bytes_of(digits: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let (pairs, rest) = digits.as_chunks::<2>();
    let bytes: Option<Vec<u8>> = pairs.iter().map(|&[high, low]| Some(digit(high)? << 4 | digit(low)?)).collect();
    bytes.filter(|bytes| !bytes.is_empty() && rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_that_the_pass_has_left() {
        let texts = b"\0quagmire-token: 3c21\0quagmire-settings: clang\0\0quagmire-token: 00ff\0quagmire-token: 3\0quagmire-token: \0quagmire-token: xy\0";
        assert_eq!(tokens_among(texts), [b"<!".to_vec(), b"\0\xff".to_vec()]);
    }

    #[test]
    fn files_that_are_no_programs_have_no_words() {
        assert!(tokens_in(Path::new("/nowhere")).is_empty());
        assert!(tokens_in(Path::new(file!())).is_empty());
    }
}
