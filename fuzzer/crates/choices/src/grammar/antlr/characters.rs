//! Sets of characters, as bytes of UTF-8.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};
use regex_syntax::utf8::Utf8Sequences;

use super::super::bytes::ByteSet;
use super::super::source::{Expression, Mistake};

/// A character or a class of them, as it is written in brackets and literals.
enum Written {
    One(char),
    Class(ClassUnicode),
}

/// All characters.
pub(super) fn any() -> ClassUnicode {
    let mut all = ClassUnicode::empty();
    all.negate();
    all
}

/// The characters from one to another.
pub(super) fn between(first: char, last: char) -> ClassUnicode {
    ClassUnicode::new([ClassUnicodeRange::new(first, last)])
}

/// An expression for one character of a class.
pub(super) fn expression(class: &ClassUnicode) -> Expression {
    let mut short = ByteSet::default();
    let mut longer = Vec::new();
    for range in class.iter() {
        for sequence in Utf8Sequences::new(range.start(), range.end()) {
            let sets = sequence.as_slice().iter().map(|range| ByteSet::of(range.start..=range.end));
            match sequence.len() {
                1 => drop(short.merge(&sets.fold(ByteSet::default(), |_, set| set))),
                _ => longer.push(Expression::Sequence(sets.map(Expression::Set).collect())),
            }
        }
    }
    if longer.is_empty() {
        return Expression::Set(short);
    }
    let short = (!short.is_empty()).then_some(Expression::Set(short));
    Expression::Characters(short.into_iter().chain(longer).collect())
}

/// Characters of a literal.
pub(super) fn literal(text: &str, line: usize) -> Result<Vec<char>, Mistake> {
    let mut rest = text;
    let mut all = Vec::new();
    while !rest.is_empty() {
        match next(&mut rest, line)? {
            Written::One(c) => all.push(c),
            Written::Class(_) => return Err(Mistake::new(line, format!("'{text}' has a class: write it in brackets"))),
        }
    }
    Ok(all)
}

/// The class that is written between brackets.
pub(super) fn class(text: &str, line: usize) -> Result<ClassUnicode, Mistake> {
    let mut rest = text;
    let mut all = ClassUnicode::empty();
    while !rest.is_empty() {
        let first = match next(&mut rest, line)? {
            Written::One(c) => c,
            Written::Class(class) => {
                all.union(&class);
                continue;
            }
        };
        let mut last = first;
        if rest.len() > 1 && rest.starts_with('-') {
            rest = &rest[1..];
            match next(&mut rest, line)? {
                Written::One(c) if c >= first => last = c,
                _ => {
                    return Err(Mistake::new(
                        line,
                        format!("[{text}] has a range without an end: write \\- for a dash"),
                    ));
                }
            }
        }
        all.union(&between(first, last));
    }
    match all.ranges() {
        [] => Err(Mistake::new(line, "[] is no character: write some, or remove it")),
        _ => Ok(all),
    }
}

/// Takes one character or class, which may be written with a backslash.
fn next(rest: &mut &str, line: usize) -> Result<Written, Mistake> {
    let mut chars = rest.chars();
    let first = chars.next();
    *rest = chars.as_str();
    let (Some('\\'), Some(c)) = (first, chars.next()) else { return Ok(Written::One(first.unwrap_or_default())) };
    *rest = chars.as_str();
    let braced = |rest: &mut &str| -> Option<String> {
        let (inside, after) = rest.strip_prefix('{')?.split_once('}')?;
        *rest = after;
        Some(inside.to_owned())
    };
    let wrong = || Mistake::new(line, format!("`\\{c}` is not read: write the characters, or \\u and their numbers"));
    Ok(Written::One(match c {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'u' => {
            let digits = match braced(rest) {
                Some(digits) => digits,
                None => {
                    let digits = rest.get(..4).ok_or_else(wrong)?.to_owned();
                    *rest = &rest[4..];
                    digits
                }
            };
            u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32).ok_or_else(wrong)?
        }
        'p' | 'P' => {
            let name = braced(rest).ok_or_else(wrong)?;
            let parsed = regex_syntax::parse(&format!("\\{c}{{{name}}}")).map_err(|_| wrong())?;
            match parsed.into_kind() {
                HirKind::Class(Class::Unicode(class)) => return Ok(Written::Class(class)),
                _ => return Err(wrong()),
            }
        }
        c if c.is_alphanumeric() => return Err(wrong()),
        c => c,
    }))
}
