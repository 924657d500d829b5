//! Grammars in JSON: those of the fuzzing book and of AFL++'s Grammar-Mutator, which have the same shape, and Nautilus'.

use std::collections::HashMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use super::source::{Expression, Flavor, Line, Mistake, Rule, Source};

/// An object with its members in order.
struct Members(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Members;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of rules")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

/// Reads a grammar in JSON.
pub(super) fn read(text: &str) -> Result<Source, Mistake> {
    if text.trim_start().starts_with('[') { nautilus(text) } else { fuzzing_book(text) }
}

fn not_json(error: &serde_json::Error) -> Mistake {
    let reason = error.to_string();
    let reason = reason.split(" at line ").next().unwrap_or_default();
    Mistake::new(error.line(), format!("this is no grammar in JSON ({reason}): see \"Bring a grammar\" in the book"))
}

/// First lines of strings, and of those that are keys.
struct Lines {
    strings: HashMap<String, usize>,
    keys: HashMap<String, usize>,
}

impl Lines {
    fn of(text: &str) -> Self {
        let mut lines = Self { strings: HashMap::new(), keys: HashMap::new() };
        for (number, line) in text.lines().enumerate() {
            let mut rest = line;
            while let Some(start) = rest.find('"') {
                let mut strings = serde_json::Deserializer::from_str(&rest[start..]).into_iter::<String>();
                let found = strings.next();
                let end = strings.byte_offset().max(1);
                rest = rest.get(start + end..).unwrap_or_default();
                if let Some(Ok(string)) = found {
                    let is_key = rest.trim_start().starts_with(':');
                    let kind = if is_key { &mut lines.keys } else { &mut lines.strings };
                    kind.entry(string).or_insert(number + 1);
                }
            }
        }
        lines
    }

    fn key(&self, key: &str) -> usize {
        self.keys.get(key).copied().unwrap_or(0)
    }

    fn string(&self, string: &str) -> usize {
        self.strings.get(string).copied().unwrap_or(0)
    }
}

/// Bytes of a text: characters up to U+00FF stand for the byte of that number, others for their UTF-8.
fn bytes(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        match u8::try_from(u32::from(c)) {
            Ok(byte) => bytes.push(byte),
            Err(_) => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes
}

fn fuzzing_book(text: &str) -> Result<Source, Mistake> {
    let Members(members) = serde_json::from_str(text).map_err(|error| not_json(&error))?;
    let lines = Lines::of(text);
    let mut rules: Vec<Rule> = Vec::with_capacity(members.len());
    let mut known = HashMap::new();
    for (name, value) in members {
        let line = lines.key(&name);
        if known.insert(name.clone(), ()).is_some() {
            return Err(Mistake::new(line, format!("{name} is there twice: put its alternatives into one list")));
        }
        let Value::Array(alternatives) = value else {
            return Err(Mistake::new(line, format!("{name} is no list of alternatives: write [...]")));
        };
        let read = |alternative: &Value| alternative_of(alternative, &name, line, &lines);
        let body = Expression::Choice(alternatives.iter().map(read).collect::<Result<_, _>>()?);
        rules.push(Rule { name, line, body, flavor: Flavor::Plain });
    }
    let start = if known.contains_key("<start>") { "<start>" } else { rules.first().map_or("", |rule| &rule.name) };
    Ok(Source { start: start.to_owned(), rules })
}

/// An alternative: a text with names in it, or a list of texts and names.
fn alternative_of(value: &Value, rule: &str, line: usize, lines: &Lines) -> Result<Expression, Mistake> {
    match value {
        Value::String(text) => Ok(with_names(text, Line(lines.string(text).max(line)))),
        Value::Array(parts) => {
            let part = |part: &Value| match part {
                Value::String(text) if is_name(text) => {
                    Ok(Expression::Name(text.clone(), Line(lines.string(text).max(line))))
                }
                Value::String(text) => Ok(Expression::Bytes(bytes(text))),
                other => Err(Mistake::new(line, format!("{rule} has {other} where a string belongs"))),
            };
            Ok(Expression::Sequence(parts.iter().map(part).collect::<Result<_, _>>()?))
        }
        other => {
            Err(Mistake::new(line, format!("{rule} has {other} where an alternative belongs: a string or a list")))
        }
    }
}

/// Whether a text is `<name>`.
fn is_name(text: &str) -> bool {
    let name = text.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    name.is_some_and(|name| !name.is_empty() && !name.contains(['<', '>', ' ']))
}

/// Splits a text at the `<names>` in it.
fn with_names(text: &str, line: Line) -> Expression {
    let (mut parts, mut plain, mut at) = (Vec::new(), 0, 0);
    while let Some(start) = text[at..].find('<').map(|found| at + found) {
        let end = text[start..].find('>').map_or(start, |found| start + found + 1);
        if is_name(&text[start..end]) {
            parts.push(Expression::Bytes(bytes(&text[plain..start])));
            parts.push(Expression::Name(text[start..end].to_owned(), line));
            (plain, at) = (end, end);
        } else {
            at = start + 1;
        }
    }
    parts.push(Expression::Bytes(bytes(&text[plain..])));
    Expression::Sequence(parts)
}

fn nautilus(text: &str) -> Result<Source, Mistake> {
    let pairs: Vec<Value> = serde_json::from_str(text).map_err(|error| not_json(&error))?;
    let lines = Lines::of(text);
    let mut rules: Vec<Rule> = Vec::new();
    let mut numbers: HashMap<String, usize> = HashMap::new();
    for pair in &pairs {
        let Some([Value::String(name), Value::String(format)]) = pair.as_array().map(Vec::as_slice) else {
            let name = pair.get(0).and_then(Value::as_str).unwrap_or_default();
            return Err(Mistake::new(
                lines.string(name),
                format!("{pair} is no pair of a name and a text: scripts and expressions of Nautilus are not read"),
            ));
        };
        let line = lines.string(format).max(lines.string(name));
        let number = *numbers.entry(name.clone()).or_insert_with(|| {
            let body = Expression::Choice(Vec::new());
            rules.push(Rule { name: name.clone(), line, body, flavor: Flavor::Plain });
            rules.len() - 1
        });
        if let Expression::Choice(alternatives) = &mut rules[number].body {
            alternatives.push(nautilus_alternative(format, line)?);
        }
    }
    let start = if numbers.contains_key("START") { "START" } else { rules.first().map_or("", |rule| &rule.name) };
    Ok(Source { start: start.to_owned(), rules })
}

/// A text of Nautilus: `{Name}` and `{Name:label}` are names, `\{` and `\}` are braces.
fn nautilus_alternative(format: &str, line: usize) -> Result<Expression, Mistake> {
    let (mut parts, mut plain, mut rest) = (Vec::new(), String::new(), format);
    while let Some(c) = rest.chars().next() {
        if let Some(brace) =
            ["{", "}"].into_iter().find(|brace| rest.strip_prefix('\\').is_some_and(|r| r.starts_with(brace)))
        {
            plain.push_str(brace);
            rest = &rest[2..];
        } else if c == '{' {
            let Some(end) = rest.find('}') else {
                return Err(Mistake::new(
                    line,
                    format!("`{rest}` has no closing brace: write \\\\{{ for a brace in the text"),
                ));
            };
            let name = rest[1..end].split(':').next().unwrap_or_default();
            if !name.starts_with(|c: char| c.is_ascii_uppercase()) {
                return Err(Mistake::new(
                    line,
                    format!(
                        "{{{name}}} is no name, which begins with a capital letter: write \\\\{{ for a brace in the text"
                    ),
                ));
            }
            parts.push(Expression::Bytes(bytes(&std::mem::take(&mut plain))));
            parts.push(Expression::Name(name.to_owned(), Line(line)));
            rest = &rest[end + 1..];
        } else {
            plain.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    parts.push(Expression::Bytes(bytes(&plain)));
    Ok(Expression::Sequence(parts))
}
