//! The text form of templates.

use std::fmt::Write;

use super::{
    Counter, Field, Order, Part, Pick, Times,
    number::{DIGITS, Digits},
};

/// Letters of the loops that counters count, the innermost one first.
const LETTERS: [char; super::MOST_LEVELS] = ['i', 'j', 'k', 'l', 'm'];

/// Letter of a loop.
pub(super) fn letter(level: u8) -> char {
    LETTERS.get(usize::from(level)).copied().unwrap_or('?')
}

/// The loop that a letter stands for.
pub(super) fn level(letter: char) -> Option<u8> {
    LETTERS.iter().position(|&one| one == letter).map(|place| place as u8)
}

/// Text form of parts.
pub(super) fn text(parts: &[Part]) -> String {
    let mut text = String::new();
    add(parts, &mut text);
    text
}

fn add(parts: &[Part], text: &mut String) {
    for (place, part) in parts.iter().enumerate() {
        if place > 0 {
            text.push(' ');
        }
        match part {
            Part::Literal(bytes) => add_bytes(bytes, text),
            Part::Repeat { times, body } => {
                let _ = write!(text, "rep({times}){{");
                add(body, text);
                text.push('}');
            }
            Part::Nest { times, open, middle, close } => {
                let _ = write!(text, "nest({times}){{");
                add(open, text);
                text.push_str(" | ");
                add(middle, text);
                text.push_str(if middle.is_empty() { "| " } else { " | " });
                add(close, text);
                text.push('}');
            }
            Part::Stair(body) => {
                text.push_str("stair{");
                add(body, text);
                text.push('}');
            }
            Part::Counter(counter) => add_counter(counter, text),
            Part::Number(field) => add_number(*field, text),
            Part::Pick(pick) => add_pick(pick, text),
        }
    }
}

fn add_counter(counter: &Counter, text: &mut String) {
    let _ = write!(text, "#{}:{}", letter(counter.level), counter.width);
    add_digits(counter.digits, text);
    match counter.order {
        Order::Up => {}
        Order::Down => text.push_str(":down"),
        Order::Shuffle(seed) => {
            let _ = write!(text, ":shuffle({seed})");
        }
    }
}

fn add_number(field: Field, text: &mut String) {
    text.push_str("#N");
    if field.width > 0 {
        let _ = write!(text, ":{}", field.width);
    }
    add_digits(field.digits, text);
}

/// Digits other than decimal ones.
fn add_digits(digits: Digits, text: &mut String) {
    let known = DIGITS.iter().find(|(one, _)| *one == digits && digits != Digits::Decimal);
    if let Some((_, name)) = known {
        let _ = write!(text, ":{name}");
    }
}

fn add_pick(pick: &Pick, text: &mut String) {
    text.push_str("pick");
    if let Some(file) = &pick.file {
        text.push_str(" file(");
        add_bytes(file.as_bytes(), text);
    } else {
        text.push('(');
        for (place, choice) in pick.choices.iter().enumerate() {
            if place > 0 {
                text.push(',');
            }
            add_bytes(choice, text);
        }
    }
    text.push(')');
}

fn add_bytes(bytes: &[u8], text: &mut String) {
    text.push('"');
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => text.extend(['\\', char::from(byte)]),
            b'\n' => text.push_str("\\n"),
            b'\r' => text.push_str("\\r"),
            b'\t' => text.push_str("\\t"),
            b' '..=b'~' => text.push(char::from(byte)),
            _ => {
                let _ = write!(text, "\\x{byte:02x}");
            }
        }
    }
    text.push('"');
}

impl std::fmt::Display for Times {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.factor, self.plus) {
            (0, plus) => write!(f, "{plus}"),
            (1, 0) => f.write_str("N"),
            (1, plus) => write!(f, "N+{plus}"),
            (factor, 0) => write!(f, "{factor}*N"),
            (factor, plus) => write!(f, "{factor}*N+{plus}"),
        }
    }
}
