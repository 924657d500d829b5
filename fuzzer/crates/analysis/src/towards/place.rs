//! Places in the source as typed: FUNCTION, FILE:LINE or FILE:LINE-LINE.

use std::path::{Path, PathBuf};

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A function: its name, with or without scopes and parameters.
    Function(String),
    /// Lines of a file, both ends inclusive, from 1.
    Lines {
        /// Path of the file, or the end of it.
        file: PathBuf,
        /// The first line.
        from: u32,
        /// The last line, not before the first one.
        to: u32,
    },
}

impl Place {
    /// Parses a place. What does not end in a colon and line numbers is a function: names of functions have colons, too.
    ///
    /// # Errors
    /// In a few words with the remedy, if it is empty, or if there are no such lines in any file.
    pub fn parse(text: &str) -> Result<Self, String> {
        let lines = text.rsplit_once(':').filter(|(_, lines)| lines.starts_with(|c: char| c.is_ascii_digit()));
        let Some((file, lines)) = lines else {
            let name = text.trim();
            return match name {
                "" => Err("it is empty: write FUNCTION, FILE:LINE or FILE:LINE-LINE".to_owned()),
                name => Ok(Self::Function(name.to_owned())),
            };
        };
        let number = |text: &str| text.parse::<u32>().ok().filter(|&line| line > 0);
        let (from, to) = lines.split_once('-').map_or((lines, lines), |(from, to)| (from, to));
        let (Some(from), Some(to)) = (number(from), number(to)) else {
            return Err(format!("`{lines}` is neither a line nor LINE-LINE: lines are numbered from 1"));
        };
        if file.is_empty() {
            return Err("no file before the line: write FILE:LINE".to_owned());
        }
        if from > to {
            return Err(format!("lines {from}-{to} end before they begin: write {to}-{from}"));
        }
        Ok(Self::Lines { file: Path::new(file).to_owned(), from, to })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_function_or_lines_of_a_file() {
        let function = |name: &str| Place::Function(name.into());
        let lines = |file: &str, from, to| Place::Lines { file: file.into(), from, to };
        for (text, place) in [
            ("parse", function("parse")),
            ("text::Set<long>::add(long)", function("text::Set<long>::add(long)")),
            ("operator()", function("operator()")),
            (" main ", function("main")),
            ("parse.c", function("parse.c")),
            ("parse.c:12", lines("parse.c", 12, 12)),
            ("src/my parse.c:12-40", lines("src/my parse.c", 12, 40)),
            ("c:\\parse.c:7", lines("c:\\parse.c", 7, 7)),
        ] {
            assert_eq!(Place::parse(text), Ok(place), "{text}");
        }
    }

    #[test]
    fn lines_that_no_file_has_are_refused() {
        for (text, why) in [
            ("", "empty"),
            ("  ", "empty"),
            ("a.c:0", "numbered from 1"),
            ("a.c:1x", "neither a line"),
            ("a.c:3-", "neither a line"),
            ("a.c:1-2-3", "neither a line"),
            ("a.c:99999999999", "neither a line"),
            ("a.c:9-3", "write 3-9"),
            (":3", "no file"),
        ] {
            let error = Place::parse(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
