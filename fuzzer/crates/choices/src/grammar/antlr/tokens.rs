//! Tokens of ANTLR's grammar files.

use super::super::source::Mistake;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Name(String),
    /// Text between two quotes.
    Literal(String),
    /// Text between brackets.
    Brackets(String),
    /// Text between braces.
    Action(String),
    /// Anything else: a character, or one of the signs of several.
    Sign(&'static str),
}

const SIGNS: [&str; 21] =
    ["..", "->", "+=", "::", ":", ";", "|", "(", ")", "?", "*", "+", "~", ".", "=", "#", ",", "<", ">", "@", "-"];

/// Divides a file into tokens, each with its line.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, usize)>, Mistake> {
    let mut reader = Reader { rest: text, line: 1 };
    let mut tokens = Vec::new();
    while let Some(c) = reader.rest.chars().next() {
        let line = reader.line;
        let token = match c {
            _ if c.is_whitespace() => {
                reader.take(c.len_utf8());
                continue;
            }
            _ if reader.rest.starts_with("//") => {
                reader.take(reader.rest.find('\n').unwrap_or(reader.rest.len()));
                continue;
            }
            _ if reader.rest.starts_with("/*") => {
                let end =
                    reader.rest.find("*/").ok_or_else(|| Mistake::new(line, "the comment has no end: write */"))?;
                reader.take(end + 2);
                continue;
            }
            '\'' => Token::Literal(reader.enclosed('\'')?),
            '[' => Token::Brackets(reader.enclosed(']')?),
            '{' => Token::Action(reader.action()?),
            _ if c.is_alphabetic() || c == '_' => {
                let is_in_name = |c: char| c.is_alphanumeric() || c == '_';
                let end = reader.rest.find(|c| !is_in_name(c)).unwrap_or(reader.rest.len());
                Token::Name(reader.take(end).to_owned())
            }
            _ => match SIGNS.into_iter().find(|sign| reader.rest.starts_with(sign)) {
                Some(sign) => {
                    reader.take(sign.len());
                    Token::Sign(sign)
                }
                None => return Err(Mistake::new(line, format!("`{c}` has no meaning here: quote it, or remove it"))),
            },
        };
        tokens.push((token, line));
    }
    Ok(tokens)
}

struct Reader<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.line += taken.bytes().filter(|&byte| byte == b'\n').count();
        self.rest = rest;
        taken
    }

    /// Text after the first character up to `end`, which a backslash hides.
    fn enclosed(&mut self, end: char) -> Result<String, Mistake> {
        let mut is_hidden = false;
        for (at, c) in self.rest.char_indices().skip(1) {
            if c == end && !is_hidden {
                let taken = self.take(at + c.len_utf8());
                return Ok(taken[1..at].to_owned());
            }
            if c == '\n' {
                break;
            }
            is_hidden = c == '\\' && !is_hidden;
        }
        Err(Mistake::new(self.line, format!("there is no {end} on this line: close what begins here")))
    }

    /// Text between braces, which may have braces, strings and comments in it.
    fn action(&mut self) -> Result<String, Mistake> {
        let (mut depth, mut at) = (0, 0);
        while let Some(c) = self.rest[at..].chars().next() {
            let rest = &self.rest[at..];
            let to_end_of = |end: &str| rest[1..].find(end).map_or(rest.len(), |found| 1 + found + end.len());
            at += match c {
                '/' if rest.starts_with("//") => to_end_of("\n"),
                '/' if rest.starts_with("/*") => to_end_of("*/"),
                '"' | '\'' => length_of_string(rest, c),
                _ => c.len_utf8(),
            };
            depth += i32::from(c == '{') - i32::from(c == '}');
            if depth == 0 {
                return Ok(self.take(at)[1..at - 1].to_owned());
            }
        }
        Err(Mistake::new(self.line, "the brace that opens here is not closed: write }"))
    }
}

/// Length of a string with its quotes, or of the first quote if the line has no other.
fn length_of_string(text: &str, quote: char) -> usize {
    let mut is_hidden = false;
    for (at, c) in text.char_indices().skip(1).take_while(|&(_, c)| c != '\n') {
        if c == quote && !is_hidden {
            return at + 1;
        }
        is_hidden = c == '\\' && !is_hidden;
    }
    1
}
