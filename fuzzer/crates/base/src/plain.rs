//! Neutralizing text for terminals. File names, function names, sources and messages of targets may contain control
//! sequences: all output goes through [`printed`], whether to a terminal or not.

use std::{
    borrow::Cow,
    io::{self, Write as _},
};

use serde::Serialize;

use crate::error::{Error, Result};

/// Whether a character is visible by itself and does not affect its neighbours.
pub fn is_plain(c: char) -> bool {
    // `escape_debug` escapes control and format characters (directional ones too), unusual blanks, combining marks
    // and unassigned code points; also quotes and backslashes, which hide nothing
    matches!(c, '"' | '\'' | '\\') || c.escape_debug().len() == 1
}

/// Escapes all characters of a name, path or command that are not plain (see [`is_plain`]).
pub fn shown(text: &str) -> String {
    text.chars().fold(String::new(), |mut shown, c| {
        if is_plain(c) {
            shown.push(c)
        } else {
            shown.extend(c.escape_unicode())
        }
        shown
    })
}

/// Whether a terminal interprets a character instead of displaying it: controls, and characters that change the text
/// direction or have no glyph. Combining marks, which many languages need, are not included.
pub fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Output formats, which differ in what may pass unescaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Plain lines of text.
    Lines,
    /// Lines with quagmire's colour codes; foreign text in them has been through [`shown`] or [`printed`] before.
    Painted,
    /// JSON, where characters are escaped as `\u` and four digits.
    Json,
}

/// Escapes everything that a terminal interprets except newlines and tabs, and colour codes in [`Form::Painted`]:
/// `\x1b` becomes `\u{1b}`.
pub fn printed(text: &str, form: Form) -> Cow<'_, str> {
    let passes = |c: char| !is_obeyed(c) || matches!(c, '\n' | '\t');
    if text.chars().all(passes) {
        return Cow::Borrowed(text);
    }
    let mut printed = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let color = if form == Form::Painted { color(rest) } else { 0 };
        let length = color.max(c.len_utf8());
        match form {
            _ if passes(c) || color > 0 => printed.push_str(&rest[..length]),
            Form::Json => {
                c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| printed += &format!("\\u{unit:04x}"));
            }
            _ => printed.extend(c.escape_unicode()),
        }
        rest = &rest[length..];
    }
    Cow::Owned(printed)
}

/// Length of the colour code that a text begins with, such as `\x1b[31m`; 0 if it begins with something else.
fn color(text: &str) -> usize {
    let Some(code) = text.strip_prefix("\x1b[") else { return 0 };
    let digits = code.bytes().take_while(u8::is_ascii_digit).count();
    if (1..=2).contains(&digits) && code[digits..].starts_with('m') { digits + 3 } else { 0 }
}

/// Prints neutralized text to standard output.
///
/// # Errors
/// If it cannot be written; a closed pipe is no error.
pub fn print(text: &str, form: Form) -> Result<()> {
    match io::stdout().write_all(printed(text, form).as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Error::other(format!("cannot print: {error}"))),
        _ => Ok(()),
    }
}

/// Prints a value to standard output as JSON.
pub fn print_json(value: &impl Serialize) -> Result<()> {
    print(&json(value)?, Form::Json)
}

/// JSON of a value, indented, with a newline at the end.
pub fn json(value: &impl Serialize) -> Result<String> {
    let text = serde_json::to_string_pretty(value);
    Ok(text.map_err(|error| Error::other(format!("cannot write JSON: {error}")))? + "\n")
}

/// Prints neutralized text to standard error and ignores failures.
pub fn complain(text: &str) {
    let _ = io::stderr().write_all(printed(text, Form::Lines).as_bytes());
}

/// Prints one line to standard error, prefixed with the program's name.
pub fn warn(message: &str) {
    complain(&format!("quagmire: {}\n", message.trim_end().replace('\n', " ")));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HOSTILE: &str = "a\x1b]0;title\x07\x1b[2J\u{9b}31m\r\u{202e}b\x7f";

    #[test]
    fn names_cannot_turn_their_direction_or_end_a_line() {
        assert_eq!(shown("std::vector<int>'\"\\"), "std::vector<int>'\"\\");
        assert_eq!(shown("a\u{202e}b\nc\0\u{2066}"), "a\\u{202e}b\\u{a}c\\u{0}\\u{2066}");
    }

    #[test]
    fn what_a_terminal_obeys_is_spelled_out_and_languages_stay_readable() {
        let spelled = "a\\u{1b}]0;title\\u{7}\\u{1b}[2J\\u{9b}31m\\u{d}\\u{202e}b\\u{7f}";
        assert_eq!(printed(HOSTILE, Form::Lines), spelled);
        assert_eq!(printed(HOSTILE, Form::Painted), spelled);
        let text = "žluťoučký\tकिताब e\u{301}\n";
        assert_eq!(printed(text, Form::Lines), text);
    }

    #[test]
    fn colours_pass_where_they_are_ours() {
        let painted = "\x1b[31mhot\x1b[0m \x1b[2J\x1b[1;31m\x1b[m\x1b[";
        let kept = "\x1b[31mhot\x1b[0m \\u{1b}[2J\\u{1b}[1;31m\\u{1b}[m\\u{1b}[";
        assert_eq!(printed(painted, Form::Painted), kept);
        assert!(!printed(painted, Form::Lines).contains('\x1b'));
    }

    proptest! {
        #[test]
        fn nothing_that_is_printed_is_obeyed(text: String) {
            let all = HOSTILE.to_owned() + &text;
            prop_assert!(printed(&all, Form::Lines).chars().all(|c| !is_obeyed(c) || matches!(c, '\n' | '\t')));
            prop_assert!(shown(&all).chars().all(is_plain));
        }

        #[test]
        fn json_stays_the_same_value(text: String) {
            let all = HOSTILE.to_owned() + &text + "\u{e0041}";
            let json = serde_json::to_string(&all).unwrap();
            let shown = printed(&json, Form::Json);
            prop_assert!(shown.chars().all(|c| !is_obeyed(c)));
            prop_assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), all);
        }
    }
}
