//! Lexer of the inside of tags: attributes, and the end of the tag.
//!
//! Values are enclosed in quotes of either kind, or extend to the next blank. A quote that is not closed belongs to
//! an unquoted value. So does a quote whose partner follows a `<` and does not look like the end of a value, so that
//! a lost quote does not invert the rest of the document.

use std::ops::Range;

use memchr::memchr;

use crate::edit::is_blank;

/// Effect of a tag on the nesting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TagKind {
    /// `<a>`
    Opening,
    /// `</a>`
    Closing,
    /// `<a/>`
    Empty,
}

/// An attribute or a fragment of one: `id="1"`, `id = 1`, `id`, `"1"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Attribute {
    /// Position of the name; empty if it is missing.
    pub name: Range<usize>,
    /// Position of the value with its quotes; `None` without `=`.
    pub value: Option<Range<usize>>,
}

impl Attribute {
    /// Position of the whole attribute, without blanks around it.
    pub(crate) fn range(&self) -> Range<usize> {
        self.name.start..self.value.as_ref().map_or(self.name.end, |value| value.end)
    }

    /// Position of the value without its quotes.
    pub(crate) fn content(&self, bytes: &[u8]) -> Option<Range<usize>> {
        let value = self.value.clone()?;
        let is_quoted = value.len() > 1 && is_quote(bytes[value.start]) && bytes[value.end - 1] == bytes[value.start];
        Some(if is_quoted { value.start + 1..value.end - 1 } else { value })
    }
}

pub(super) fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'')
}

/// Whether a byte separates attributes: blanks of all kinds and newlines.
pub(super) fn separates(byte: u8) -> bool {
    byte == b'\n' || is_blank(byte)
}

/// A token inside a tag.
pub(super) enum Piece {
    Attribute(Attribute),
    /// `>` or `/>`; the lexer is after it.
    End(TagKind),
    /// A `<`, at which the lexer stays, or the end of the bytes.
    Broken,
}

/// Lexer that reads a tag from the end of its name on.
pub(super) struct Lexer<'a> {
    pub bytes: &'a [u8],
    /// Current position.
    pub at: usize,
    /// Whether no further `"`, or `'`, follows: searched for once only.
    unpaired: [bool; 2],
}

impl<'a> Lexer<'a> {
    /// Creates a lexer at position `at`.
    pub(crate) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at, unpaired: [false; 2] }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Advances over all bytes for which `skipped` holds.
    pub(crate) fn skip(&mut self, skipped: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&skipped) {
            self.at += 1;
        }
    }

    fn ends_empty_tag(&self) -> bool {
        self.bytes[self.at..].starts_with(b"/>")
    }

    /// Skips blanks and reads the next token.
    pub(crate) fn next_piece(&mut self) -> Piece {
        self.skip(separates);
        match self.peek() {
            None | Some(b'<') => Piece::Broken,
            Some(b'>') => {
                self.at += 1;
                Piece::End(TagKind::Opening)
            }
            Some(b'/') if self.ends_empty_tag() => {
                self.at += 2;
                Piece::End(TagKind::Empty)
            }
            Some(byte) => Piece::Attribute(self.attribute(byte)),
        }
    }

    /// Reads the attribute here, which starts with `first`; advances by at least one byte.
    fn attribute(&mut self, first: u8) -> Attribute {
        let start = self.at;
        if is_quote(first) {
            if let Some(end) = self.end_of_quoted() {
                self.at = end;
                return Attribute { name: start..start, value: Some(start..end) };
            }
            self.at += 1;
        }
        while let Some(byte) = self.peek() {
            let stops = separates(byte) || is_quote(byte) || matches!(byte, b'=' | b'>' | b'<');
            if stops || (byte == b'/' && self.ends_empty_tag()) {
                break;
            }
            self.at += 1;
        }
        let name = start..self.at;
        self.skip(separates);
        if self.peek() != Some(b'=') {
            self.at = name.end;
            return Attribute { name, value: None };
        }
        self.at += 1;
        self.skip(separates);
        let start = self.at;
        match self.peek().filter(|&byte| is_quote(byte)).and_then(|_| self.end_of_quoted()) {
            Some(end) => self.at = end,
            None => {
                while let Some(byte) = self.peek() {
                    if separates(byte) || matches!(byte, b'>' | b'<') || (byte == b'/' && self.ends_empty_tag()) {
                        break;
                    }
                    self.at += 1;
                }
            }
        }
        // `a= >` has an empty value, which is before the blank
        let value = if self.at == start { self.after_equals(start) } else { start..self.at };
        self.at = value.end;
        Attribute { name, value: Some(value) }
    }

    /// The empty range directly after the `=` that precedes `at`.
    fn after_equals(&self, mut at: usize) -> Range<usize> {
        while separates(self.bytes[at - 1]) {
            at -= 1;
        }
        at..at
    }

    /// Position after the partner of the quote here, if that ends a value.
    fn end_of_quoted(&mut self) -> Option<usize> {
        let quote = self.bytes[self.at];
        let unpaired = &mut self.unpaired[usize::from(quote == b'\'')];
        if *unpaired {
            return None;
        }
        let rest = &self.bytes[self.at + 1..];
        let Some(length) = memchr(quote, rest) else {
            *unpaired = true;
            return None;
        };
        let looks_like_an_end = |byte: &u8| separates(*byte) || matches!(byte, b'>' | b'/');
        let ends = memchr(b'<', &rest[..length]).is_none() || rest.get(length + 1).is_none_or(looks_like_an_end);
        ends.then_some(self.at + 1 + length + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_taken_apart() {
        let document = b"<a b='1' c = \"\" d e=5 'x' f= \"g='2' =h>";
        let mut lexer = Lexer::new(document, 2);
        let mut found = Vec::new();
        while let Piece::Attribute(attribute) = lexer.next_piece() {
            found.push(attribute);
        }
        assert_eq!(lexer.at, document.len());
        let text = |range: Range<usize>| String::from_utf8(document[range].to_vec()).unwrap();
        let parts: Vec<(String, Option<String>)> =
            found.into_iter().map(|found| (text(found.name), found.value.map(text))).collect();
        let expected = [
            ("b", Some("'1'")),
            ("c", Some("\"\"")),
            ("d", None),
            ("e", Some("5")),
            ("", Some("'x'")),
            ("f", Some("\"g='2'")),
            ("", Some("h")),
        ];
        assert_eq!(parts, expected.map(|(name, value)| (name.to_owned(), value.map(str::to_owned))));
    }
}
