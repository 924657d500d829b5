//! Replacement texts of custom rules.

use std::ops::Range;

use regex::bytes::{CaptureLocations, Regex};

/// A parsed replacement: texts and groups, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Replacement {
    parts: Vec<ReplacementPart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum ReplacementPart {
    Text(Vec<u8>),
    /// Number of a capture group; 0 is the whole match.
    Group(usize),
}

impl Replacement {
    /// Parses a replacement for matches of `pattern`.
    ///
    /// Groups are `\1`, `\g<1>`, `\g<name>`, `$1`, `${1}`, `${name}` and `$name`; `\0` and `$0` are the whole match.
    /// `\n`, `\r`, `\t`, `\f`, `\v` and `\x41` are bytes. A backslash before any other character except letters and
    /// digits stands for that character, and `$$` for a dollar sign.
    ///
    /// # Errors
    /// For a group that the pattern does not have, and for `\` before any other letter: a message with the remedy.
    pub(crate) fn parse(text: &str, pattern: &Regex) -> Result<Self, String> {
        let mut replacement = Self { parts: Vec::new() };
        let mut rest = text;
        while let Some(at) = rest.find(['\\', '$']) {
            let (before, special) = rest.split_at(at);
            replacement.push(before.as_bytes());
            let (sign, after) = special.split_at(1);
            rest =
                if sign == "\\" { replacement.escape(after, pattern)? } else { replacement.dollar(after, pattern)? };
        }
        replacement.push(rest.as_bytes());
        Ok(replacement)
    }

    /// Whether it refers to capture groups, so that they have to be computed.
    pub(crate) fn needs_groups(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, ReplacementPart::Group(1..)))
    }

    /// Number of bytes that [`Replacement::expand`] appends.
    pub(crate) fn len(&self, found: &Range<usize>, groups: &CaptureLocations) -> usize {
        let group = |group| place(group, found, groups).len();
        let lengths = self.parts.iter().map(|part| match part {
            ReplacementPart::Text(text) => text.len(),
            ReplacementPart::Group(number) => group(*number),
        });
        lengths.fold(0, usize::saturating_add)
    }

    /// Appends the replacement of the match at `found`. `groups` are its capture groups, if they are needed.
    pub(crate) fn expand(&self, bytes: &[u8], found: &Range<usize>, groups: &CaptureLocations, to: &mut Vec<u8>) {
        for part in &self.parts {
            to.extend_from_slice(match part {
                ReplacementPart::Text(text) => text,
                ReplacementPart::Group(number) => &bytes[place(*number, found, groups)],
            });
        }
    }

    fn push(&mut self, text: &[u8]) {
        match self.parts.last_mut() {
            Some(ReplacementPart::Text(last)) => last.extend_from_slice(text),
            _ if text.is_empty() => {}
            _ => self.parts.push(ReplacementPart::Text(text.to_owned())),
        }
    }

    /// Parses what follows a backslash; returns the rest.
    fn escape<'a>(&mut self, after: &'a str, pattern: &Regex) -> Result<&'a str, String> {
        let Some(first) = after.chars().next() else {
            self.push(b"\\");
            return Ok(after);
        };
        let rest = &after[first.len_utf8()..];
        if first.is_ascii_digit() {
            let (number, rest) = split_while(after, |c| c.is_ascii_digit());
            self.group(number, pattern)?;
            return Ok(rest);
        }
        let byte = match first {
            'g' => {
                let (name, rest) = rest
                    .strip_prefix('<')
                    .and_then(|rest| rest.split_once('>'))
                    .ok_or("`\\g` in the replacement is not followed by a group: write \\g<1> or \\g<name>")?;
                self.group(name, pattern)?;
                return Ok(rest);
            }
            'x' => {
                let digits = rest.get(..2).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
                let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
                let byte = byte.ok_or("`\\x` in the replacement is not followed by two digits: write \\x41")?;
                self.push(&[byte]);
                return Ok(&rest[2..]);
            }
            'n' => b'\n',
            'r' => b'\r',
            't' => b'\t',
            'f' => 0x0c,
            'v' => 0x0b,
            _ if first.is_alphanumeric() => {
                return Err(format!(
                    "`\\{first}` in the replacement means nothing: write \\1 for a group, \\\\ for a backslash before it"
                ));
            }
            _ => {
                self.push(&after.as_bytes()[..first.len_utf8()]);
                return Ok(rest);
            }
        };
        self.push(&[byte]);
        Ok(rest)
    }

    /// Parses what follows a dollar sign; returns the rest.
    fn dollar<'a>(&mut self, after: &'a str, pattern: &Regex) -> Result<&'a str, String> {
        if let Some(rest) = after.strip_prefix('$') {
            self.push(b"$");
            return Ok(rest);
        }
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let braced = after.strip_prefix('{').and_then(|rest| rest.split_once('}'));
        if let Some((name, rest)) = braced.filter(|(name, _)| !name.is_empty() && name.chars().all(is_word)) {
            self.group(name, pattern)?;
            return Ok(rest);
        }
        let digits = split_while(after, |c| c.is_ascii_digit());
        let word = split_while(after, is_word);
        let (name, rest) = if digits.0.is_empty() { word } else { digits };
        if name.is_empty() {
            self.push(b"$");
        } else {
            self.group(name, pattern)?;
        }
        Ok(rest)
    }

    fn group(&mut self, name: &str, pattern: &Regex) -> Result<(), String> {
        let groups = pattern.captures_len() - 1;
        let number = if name.bytes().all(|byte| byte.is_ascii_digit()) {
            name.parse().ok().filter(|&number| number <= groups)
        } else {
            pattern.capture_names().position(|known| known == Some(name))
        };
        let number = number.ok_or_else(|| {
            let has = match groups {
                0 => "no groups".to_owned(),
                1 => "one group".to_owned(),
                _ => format!("{groups} groups"),
            };
            format!(
                "the replacement asks for group {name}, but the pattern has {has}: add it, or write $$ for a dollar"
            )
        })?;
        self.parts.push(ReplacementPart::Group(number));
        Ok(())
    }
}

/// Position of a group; empty if it did not participate in the match.
fn place(number: usize, found: &Range<usize>, groups: &CaptureLocations) -> Range<usize> {
    if number == 0 { found.clone() } else { groups.get(number).map_or(0..0, |(start, end)| start..end) }
}

fn split_while(text: &str, inside: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !inside(c)).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(pattern: &str, replacement: &str, text: &str) -> Result<String, String> {
        let pattern = Regex::new(pattern).unwrap();
        let replacement = Replacement::parse(replacement, &pattern)?;
        let mut groups = pattern.capture_locations();
        let found = pattern.captures_read(&mut groups, text.as_bytes()).expect("a match").range();
        let mut to = Vec::new();
        replacement.expand(text.as_bytes(), &found, &groups, &mut to);
        assert_eq!(to.len(), replacement.len(&found, &groups));
        Ok(String::from_utf8(to).unwrap())
    }

    #[test]
    fn groups_are_named_in_any_of_the_usual_ways() {
        let pattern = "([a-z]+)=(?P<value>[0-9]+)";
        for replacement in
            ["\\2=\\1", "$2=$1", "${2}=${1}", "\\g<2>=\\g<1>", "$value=$1", "${value}=\\1", "\\g<value>=$1"]
        {
            assert_eq!(replaced(pattern, replacement, "ab=12").as_deref(), Ok("12=ab"), "{replacement}");
        }
        assert_eq!(replaced(pattern, "\\0$0$1x", "ab=12").as_deref(), Ok("ab=12ab=12abx"));
        assert_eq!(replaced("(a)|(b)", "<\\1\\2>", "b").as_deref(), Ok("<b>"));
    }

    #[test]
    fn characters_are_written_as_they_are_or_escaped() {
        assert_eq!(replaced("a", "", "a").as_deref(), Ok(""));
        assert_eq!(replaced("a", "x\\n\\t\\x41\\r\\f\\v", "a").as_deref(), Ok("x\n\tA\r\x0c\x0b"));
        assert_eq!(
            replaced("a", "\\\\ \\. \\\u{2264} $$1 $ $. ${ {}", "a").as_deref(),
            Ok("\\ . \u{2264} $1 $ $. ${ {}")
        );
        assert_eq!(replaced("a", "end\\", "a").as_deref(), Ok("end\\"));
    }

    #[test]
    fn groups_that_are_not_there_and_unknown_escapes_are_refused() {
        for (replacement, part) in [
            ("\\1", "asks for group 1, but the pattern has no groups"),
            ("$1", "asks for group 1"),
            ("${name}", "asks for group name"),
            ("$price", "write $$ for a dollar"),
            ("\\99999999999999999999999", "asks for group 9999"),
            ("\\q", "`\\q` in the replacement means nothing"),
            ("\\\u{17e}", "means nothing"),
            ("\\x4", "write \\x41"),
            ("\\x+1", "write \\x41"),
            ("\\x\u{17e}", "write \\x41"),
            ("\\g1", "write \\g<1>"),
        ] {
            let error = replaced("a", replacement, "a").unwrap_err();
            assert!(error.contains(part), "{replacement}: {error}");
        }
        assert!(replaced("(a)", "\\2", "a").unwrap_err().contains("has one group"));
    }
}
