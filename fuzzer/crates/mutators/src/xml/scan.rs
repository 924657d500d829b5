//! Scanner for the tags of an input. Accepts XML, HTML, and their mutants.
//!
//! - Comments, CDATA sections, processing instructions, the XML declaration and declarations (`<!DOCTYPE` with its
//!   internal subset) hold no tags. One that is not closed counts as text, and its contents are scanned.
//! - A tag extends from `<` to the next `>` outside of quotes (see `lexer.rs`). A `<` that is followed by another
//!   one, or the end, before that is text.
//!
//! Every search that finds nothing is made once only, so that the time is linear in the size of any input.

use std::ops::Range;

use memchr::{memchr, memchr2};

use super::lexer::{Attribute, Lexer, Piece, TagKind, is_quote, separates};

/// A tag of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tag {
    /// Position from its `<` to after its `>`.
    pub range: Range<usize>,
    pub name: Range<usize>,
    pub kind: TagKind,
    pub has_attributes: bool,
}

impl Tag {
    /// Its attributes, in order.
    pub(crate) fn attributes<'a>(&self, bytes: &'a [u8]) -> impl Iterator<Item = Attribute> + use<'a> {
        let mut lexer = Lexer::new(&bytes[..self.range.end], self.name.end);
        let has_attributes = self.has_attributes;
        std::iter::from_fn(move || match lexer.next_piece() {
            Piece::Attribute(attribute) if has_attributes => Some(attribute),
            _ => None,
        })
    }
}

/// All tags of an input, in order and without overlaps.
pub(super) fn tags(bytes: &[u8]) -> Vec<Tag> {
    let mut scanner = Scanner { lexer: Lexer::new(bytes, 0), unclosed: [false; 3], broken_declaration: false };
    let mut tags = Vec::new();
    while let Some(tag) = scanner.next_tag() {
        tags.push(tag);
    }
    tags
}

fn starts_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b':') || byte >= 0x80
}

/// Constructs that hide tags: index of their flag in [`Scanner::unclosed`], and how they end before the `>`.
const COMMENT: (usize, &[u8]) = (0, b"--");
const CDATA: (usize, &[u8]) = (1, b"]]");
const INSTRUCTION: (usize, &[u8]) = (2, b"?");

/// Scanner from tag to tag.
struct Scanner<'a> {
    lexer: Lexer<'a>,
    /// Whether no further end of a comment, CDATA section or processing instruction follows: searched for once only.
    unclosed: [bool; 3],
    /// Whether a declaration without an end was found. Further ones are not scanned, since each could extend to the
    /// end.
    broken_declaration: bool,
}

impl Scanner<'_> {
    fn next_tag(&mut self) -> Option<Tag> {
        let bytes = self.lexer.bytes;
        loop {
            let start = self.lexer.at + memchr(b'<', &bytes[self.lexer.at..])?;
            self.lexer.at = start + 1;
            let found = match bytes.get(start + 1) {
                Some(b'/') => self.closing_tag(start),
                Some(&byte) if starts_name(byte) => self.opening_tag(start),
                Some(b'!' | b'?') => {
                    self.lexer.at = self.behind_hidden(start).unwrap_or(start + 2);
                    None
                }
                _ => None,
            };
            if found.is_some() {
                return found;
            }
        }
    }

    fn opening_tag(&mut self, start: usize) -> Option<Tag> {
        let ends_name = |byte: u8| separates(byte) || is_quote(byte) || matches!(byte, b'>' | b'<' | b'/' | b'=');
        self.lexer.skip(|byte| !ends_name(byte));
        let name = start + 1..self.lexer.at;
        let mut has_attributes = false;
        loop {
            match self.lexer.next_piece() {
                Piece::Attribute(_) => has_attributes = true,
                Piece::End(kind) => return Some(Tag { range: start..self.lexer.at, name, kind, has_attributes }),
                Piece::Broken => return None,
            }
        }
    }

    fn closing_tag(&mut self, start: usize) -> Option<Tag> {
        let bytes = self.lexer.bytes;
        let length = memchr2(b'>', b'<', &bytes[start + 2..]);
        let stop = length.map_or(bytes.len(), |length| start + 2 + length);
        self.lexer.at = stop;
        if bytes.get(stop) != Some(&b'>') {
            return None;
        }
        self.lexer.at = stop + 1;
        let name = &bytes[start + 2..stop];
        let name = start + 2..start + 2 + name.iter().position(|&byte| separates(byte)).unwrap_or(name.len());
        Some(Tag { range: start..stop + 1, name, kind: TagKind::Closing, has_attributes: false })
    }

    /// Position after the construct without tags that begins at `start` with `<!` or `<?`.
    fn behind_hidden(&mut self, start: usize) -> Option<usize> {
        let rest = &self.lexer.bytes[start..];
        if rest.starts_with(b"<?") {
            self.behind(start + 2, INSTRUCTION)
        } else if rest.starts_with(b"<!--") {
            self.behind(start + 4, COMMENT)
        } else if rest.starts_with(b"<![CDATA[") {
            self.behind(start + 9, CDATA)
        } else if self.broken_declaration {
            None
        } else {
            let end = self.behind_declaration(start + 2);
            self.broken_declaration = end.is_none();
            end
        }
    }

    /// Position after the first `>` that is preceded by `before`, both from `from` on.
    fn behind(&mut self, from: usize, (flag, before): (usize, &[u8])) -> Option<usize> {
        let rest = self.lexer.bytes.get(from..).filter(|_| !self.unclosed[flag])?;
        let mut at = 0;
        while let Some(length) = memchr(b'>', &rest[at..]) {
            at += length + 1;
            if rest[..at - 1].ends_with(before) {
                return Some(from + at);
            }
        }
        self.unclosed[flag] = true;
        None
    }

    /// Position after a `<!DOCTYPE`, whose internal subset in brackets may hold quotes, comments and instructions.
    fn behind_declaration(&mut self, mut at: usize) -> Option<usize> {
        let bytes = self.lexer.bytes;
        let mut depth = 0_usize;
        loop {
            match *bytes.get(at)? {
                b'>' if depth == 0 => return Some(at + 1),
                b'[' => depth += 1,
                b']' => depth = depth.saturating_sub(1),
                quote @ (b'"' | b'\'') => at += 1 + memchr(quote, &bytes[at + 1..])?,
                b'<' if bytes[at..].starts_with(b"<!--") => at = self.behind(at + 4, COMMENT)? - 1,
                b'<' if bytes[at..].starts_with(b"<?") => at = self.behind(at + 2, INSTRUCTION)? - 1,
                _ => {}
            }
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn finds(document: &str, expected: &[&str]) {
        let found: Vec<&str> = tags(document.as_bytes()).into_iter().map(|tag| &document[tag.range]).collect();
        assert_eq!(found, expected, "{document}");
    }

    #[test]
    fn tags_of_all_kinds_are_found() {
        finds("<a>text<b-c.d:e\n x='1'\n/></a >", &["<a>", "<b-c.d:e\n x='1'\n/>", "</a >"]);
        finds("<a x='>' y=\"/>\" z=a>b></>", &["<a x='>' y=\"/>\" z=a>", "</>"]);
        finds("<\u{17e}lu\u{165}>", &["<\u{17e}lu\u{165}>"]);
        let kinds: Vec<TagKind> = tags(b"<a></a><a/><a / ><a b=/>").into_iter().map(|tag| tag.kind).collect();
        assert_eq!(kinds, [TagKind::Opening, TagKind::Closing, TagKind::Empty, TagKind::Opening, TagKind::Empty]);
    }

    #[test]
    fn what_holds_no_tags_is_passed_over() {
        finds("<?xml version='1.0'?><!-- > <a> --><b><![CDATA[ <c> ]>]]></b>", &["<b>", "</b>"]);
        finds("<!DOCTYPE a SYSTEM \"x>y\"><a/>", &["<a/>"]);
        finds("<!DOCTYPE a [ <!ENTITY e '<b>]>'> <!-- don't ]> --> <?p ' ?> <!ELEMENT a (b)> ] ><a/>", &["<a/>"]);
    }

    #[test]
    fn what_is_not_closed_is_text() {
        finds("<!-- <a> <?b <c> <![CDATA[ <d> <!DOCTYPE [ <e>", &["<a>", "<c>", "<d>", "<e>"]);
        finds("a < b <a <b> <c", &["<b>"]);
        finds("<", &[]);
        finds("</", &[]);
        finds("<a b='", &[]);
        finds("<a b='1' </a>", &["</a>"]);
    }

    #[test]
    fn a_lost_quote_is_lost_in_its_tag_only() {
        finds("<a b=\"1><c d=\"2\"/></a>", &["<a b=\"1>", "<c d=\"2\"/>", "</a>"]);
        finds("<a b=1\"><c d=\"2\"/></a>", &["<a b=1\">", "<c d=\"2\"/>", "</a>"]);
        finds("<p>it's</p><a b='x < y'>", &["<p>", "</p>", "<a b='x < y'>"]);
    }

    proptest! {
        #[test]
        fn tags_and_attributes_follow_each_other_in_their_places(document in "([<>/='\" ab!?-]|<a|<!--|-->|]]>|<!\\[CDATA\\[|<!D){0,60}") {
            let bytes = document.as_bytes();
            let mut end = 0;
            for tag in tags(bytes) {
                prop_assert!(tag.range.start >= end);
                end = tag.range.end;
                prop_assert!(bytes[tag.range.start] == b'<' && bytes[end - 1] == b'>');
                prop_assert_eq!(tag.attributes(bytes).next().is_some(), tag.has_attributes);
                let mut last = tag.name.end;
                for attribute in tag.attributes(bytes) {
                    prop_assert!(attribute.range().start >= last && !attribute.range().is_empty());
                    last = attribute.range().end;
                    prop_assert!(attribute.content(bytes).is_none_or(|content| content.end <= last));
                }
                prop_assert!(last < end);
            }
        }
    }
}
