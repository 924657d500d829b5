//! Parser of custom rule files: YAML mappings from patterns to replacements, in file order.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use saphyr_parser::{Event, Parser, ScanError, Span, StrInput};

use super::{CustomRule, Rule, in_one_line};
use quagmire_base::error::{Error, Result};
use quagmire_base::files;

/// Maximum number of custom rules: more are a mistake.
const MOST_RULES: usize = 1000;

/// Maximum size of a rule file in bytes: a larger one holds something else.
const LARGEST_FILE: u64 = 16 << 20;

/// Maximum number of characters of a text in an error message.
const SHOWN: usize = 120;

const FORM: &str = "write one `pattern: replacement` a line, in single quotes where YAML reads it as something else";

/// Loads the rules of these files, numbered from `R.1` in the order given.
///
/// A pattern may occur more than once: each pair is a rule of its own.
///
/// # Errors
/// A usage error that names the file, the line and the pattern: an unreadable file, contents other than a mapping
/// from text to text, an invalid regular expression, or a replacement that refers to a missing group.
pub fn load(paths: &[PathBuf]) -> Result<Vec<Arc<dyn Rule>>> {
    let mut rules: Vec<Arc<dyn Rule>> = Vec::new();
    for path in paths {
        let refused = |line: Option<usize>, what: &str| {
            let line = line.map_or(String::new(), |line| format!(":{line}"));
            Error::usage(format!("--regex-rules {}{line}: {what}", path.display()))
        };
        let text = read(path).map_err(|what| refused(None, &what))?;
        let pairs = pairs(&text).map_err(|(line, what)| refused(Some(line), &what))?;
        for Pair { line, pattern, replacement } in pairs {
            let number = rules.len() + 1;
            if number > MOST_RULES {
                return Err(refused(Some(line), &format!("more than {MOST_RULES} rules: leave some out")));
            }
            let rule = CustomRule::new(number, &pattern, &replacement)
                .map_err(|what| refused(Some(line), &format!("`{}`: {what}", in_one_line(&pattern, SHOWN))))?;
            rules.push(Arc::new(rule));
        }
    }
    Ok(rules)
}

fn read(path: &Path) -> Result<String, String> {
    let bytes = files::read_named(path, LARGEST_FILE).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "it does not exist: name an existing file".to_owned(),
        _ => format!("it cannot be read ({error}): name a readable file"),
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let line =
            error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|&&byte| byte == b'\n').count() + 1;
        format!("line {line} is not UTF-8: write other bytes as \\xff, in the pattern and in the replacement")
    })
}

/// A rule as written in the file, and its line number from 1.
struct Pair {
    line: usize,
    pattern: String,
    replacement: String,
}

/// An error: a line number from 1, and a message.
type Refusal = (usize, String);

fn no_rules() -> Refusal {
    (1, format!("it holds no rules: {FORM}"))
}

/// Reader of the YAML events of a file, which end with an error or the end of the stream.
struct Events<'a> {
    text: &'a str,
    parser: Parser<'a, StrInput<'a>>,
}

impl<'a> Events<'a> {
    fn next(&mut self) -> Result<(Event<'a>, usize), Refusal> {
        match self.parser.next_event() {
            Some(Ok((event, Span { start, .. }))) => Ok((event, start.line())),
            Some(Err(error)) => Err(self.not_yaml(&error)),
            None => Ok((Event::StreamEnd, self.text.lines().count())),
        }
    }

    fn not_yaml(&self, error: &ScanError) -> Refusal {
        let line = error.marker().line();
        let near = self.text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
        (
            line,
            format!("`{}`: not YAML ({}): {FORM}", in_one_line(near.trim(), SHOWN), in_one_line(error.info(), SHOWN)),
        )
    }

    /// Reads a text; `None` at the end of the mapping. An error message for anything else begins with `what`.
    fn text(&mut self, what: &str) -> Result<Option<(String, usize)>, Refusal> {
        let kind = match self.next()? {
            (Event::Scalar(text, ..), line) => return Ok(Some((text.into_owned(), line))),
            (Event::MappingEnd, _) => return Ok(None),
            (Event::SequenceStart(..), line) => ("a list", line),
            (Event::MappingStart(..), line) => ("a mapping", line),
            (_, line) => ("an alias", line),
        };
        let near = self.text.lines().nth(kind.1.saturating_sub(1)).unwrap_or_default();
        Err((kind.1, format!("`{}`: {what} is {} for YAML: {FORM}", in_one_line(near.trim(), SHOWN), kind.0)))
    }
}

/// Reads the pairs of the mapping that makes up the file.
fn pairs(text: &str) -> Result<Vec<Pair>, Refusal> {
    let mut events = Events { text, parser: Parser::new_from_str(text) };
    let first = loop {
        match events.next()? {
            (Event::StreamStart | Event::DocumentStart(_), _) => {}
            first => break first,
        }
    };
    match first {
        (Event::MappingStart(..), _) => {}
        (Event::StreamEnd, _) => return Err(no_rules()),
        (_, line) => return Err((line, format!("it is not a mapping: {FORM}"))),
    }
    let mut pairs = Vec::new();
    while let Some((pattern, line)) = events.text("the pattern")? {
        let Some((replacement, _)) = events.text("the replacement")? else { break };
        pairs.push(Pair { line, pattern, replacement });
    }
    loop {
        match events.next()? {
            (Event::StreamEnd, _) if pairs.is_empty() => return Err(no_rules()),
            (Event::StreamEnd, _) => return Ok(pairs),
            (Event::DocumentStart(_), line) => {
                return Err((line, "a second document begins: leave out the line `---`".to_owned()));
            }
            _ => {}
        }
    }
}
