//! The text form of templates.

use std::fmt::Write;

use super::{
    Counter, DEEPEST, Field, Length, LengthForm, Order, Part, Pick, Template, Times,
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
            Part::Length(length, body) => {
                add_length(*length, text);
                text.push('{');
                add(body, text);
                text.push('}');
            }
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

fn add_length(Length { form, plus }: Length, text: &mut String) {
    text.push_str("len");
    if plus != 0 {
        let _ = write!(text, "{plus:+}");
    }
    match form {
        LengthForm::Field(field) => add_field(field, text),
        LengthForm::Der => text.push_str(":der"),
        LengthForm::Groups => text.push_str(":leb"),
    }
}

fn add_number(field: Field, text: &mut String) {
    text.push_str("#N");
    add_field(field, text);
}

fn add_field(field: Field, text: &mut String) {
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
    let escapes = [(b'"', "\\\""), (b'\\', "\\\\"), (b'\n', "\\n"), (b'\r', "\\r"), (b'\t', "\\t")];
    let _ = write!(text, "\"{}\"", escaped(bytes, &escapes, |byte| format!("\\x{byte:02x}")));
}

/// Bytes as printable ASCII: these by their escapes, and others that are not printable as `other` says.
pub(super) fn escaped(bytes: &[u8], escapes: &[(u8, &str)], other: impl Fn(u8) -> String) -> String {
    let mut text = String::new();
    for &byte in bytes {
        match escapes.iter().find(|(known, _)| *known == byte) {
            Some((_, escape)) => text.push_str(escape),
            None if (b' '..=b'~').contains(&byte) => text.push(char::from(byte)),
            None => text.push_str(&other(byte)),
        }
    }
    text
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

// Reading.

/// Reason why a text is no template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Place in the text, in bytes.
    pub at: usize,
    /// Description of what is wrong there.
    pub message: String,
}

impl std::fmt::Display for ParseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "at byte {} of the template: {}", self.at, self.message)
    }
}

impl std::error::Error for ParseError {}

impl Template {
    /// Reads a template that names no file.
    ///
    /// # Errors
    /// If the text is no template, or names a file: says where.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        Self::parse_with(text, |_| Err("a template that names a file cannot be used here".to_owned()))
    }

    /// Reads a template. `load` returns the contents of the files that it names, or why there are none.
    ///
    /// # Errors
    /// If the text is no template, or a file cannot be read: says where.
    pub fn parse_with(text: &str, load: impl Fn(&str) -> Result<Vec<u8>, String>) -> Result<Self, ParseError> {
        let mut parser = Parser { text: text.as_bytes(), at: 0, load: &load };
        let parts = parser.parts(0)?;
        if parser.at < text.len() {
            return Err(parser.error("a part is expected: \"...\", rep, nest, len, stair, pick or #"));
        }
        Self::new(parts).map_err(|message| ParseError { at: 0, message })
    }
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    load: &'a dyn Fn(&str) -> Result<Vec<u8>, String>,
}

impl Parser<'_> {
    fn error(&self, message: impl Into<String>) -> ParseError {
        ParseError { at: self.at, message: message.into() }
    }

    fn skip_blanks(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    /// Goes past `word` and the blanks before it, if it is next.
    fn takes(&mut self, word: &str) -> bool {
        self.skip_blanks();
        let is_next = self.text[self.at..].starts_with(word.as_bytes());
        if is_next {
            self.at += word.len();
        }
        is_next
    }

    fn expect(&mut self, word: &str) -> Result<(), ParseError> {
        if self.takes(word) { Ok(()) } else { Err(self.error(format!("`{word}` is expected"))) }
    }

    fn parts(&mut self, depth: usize) -> Result<Vec<Part>, ParseError> {
        if depth > DEEPEST {
            return Err(self.error(format!("more than {DEEPEST} parts are in each other")));
        }
        let mut parts = Vec::new();
        loop {
            self.skip_blanks();
            let part = match self.text.get(self.at) {
                Some(b'"') => Part::Literal(self.bytes()?),
                _ if self.takes("#N") => Part::Number(self.field()?),
                Some(b'#') => Part::Counter(self.counter()?),
                _ if self.takes("rep") => {
                    let times = self.times()?;
                    Part::Repeat { times, body: self.body(depth)? }
                }
                _ if self.takes("nest") => {
                    let times = self.times()?;
                    self.expect("{")?;
                    let open = self.parts(depth + 1)?;
                    self.expect("|")?;
                    let middle = self.parts(depth + 1)?;
                    self.expect("|")?;
                    let close = self.parts(depth + 1)?;
                    self.expect("}")?;
                    Part::Nest { times, open, middle, close }
                }
                _ if self.takes("len") => Part::Length(self.length()?, self.body(depth)?),
                _ if self.takes("stair") => Part::Stair(self.body(depth)?),
                _ if self.takes("pick") => Part::Pick(self.pick()?),
                _ => return Ok(parts),
            };
            parts.push(part);
        }
    }

    fn body(&mut self, depth: usize) -> Result<Vec<Part>, ParseError> {
        self.expect("{")?;
        let body = self.parts(depth + 1)?;
        self.expect("}")?;
        Ok(body)
    }

    fn number(&mut self) -> Result<u64, ParseError> {
        self.skip_blanks();
        let digits = self.text[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let text = String::from_utf8_lossy(&self.text[self.at..self.at + digits]);
        let number = text.parse().map_err(|_| self.error("a whole number of at most 64 bits is expected"))?;
        self.at += digits;
        Ok(number)
    }

    /// `(a*N+b)`, or the parts of it that are not 1 and 0.
    fn times(&mut self) -> Result<Times, ParseError> {
        self.expect("(")?;
        let times = if self.takes("N") {
            Times { factor: 1, plus: if self.takes("+") { self.number()? } else { 0 } }
        } else {
            let number = self.number()?;
            if self.takes("*") {
                self.expect("N")?;
                Times { factor: number, plus: if self.takes("+") { self.number()? } else { 0 } }
            } else {
                Times { factor: 0, plus: number }
            }
        };
        self.expect(")")?;
        Ok(times)
    }

    fn counter(&mut self) -> Result<Counter, ParseError> {
        self.expect("#")?;
        let letter = self.text.get(self.at).copied().map(char::from);
        let Some(level) = letter.and_then(level) else {
            return Err(self.error("N is expected, or the letter of a loop: i for the innermost one, then j, k, l, m"));
        };
        self.at += 1;
        self.expect(":")?;
        let width = self.number()?;
        let Ok(width) = u8::try_from(width) else {
            return Err(self.error(format!("a counter has {width} digits: give it 1 to {}", super::WIDEST)));
        };
        let mut counter = Counter { level, width, digits: Digits::Decimal, order: Order::Up };
        while self.takes(":") {
            if self.takes("up") {
                counter.order = Order::Up;
            } else if self.takes("down") {
                counter.order = Order::Down;
            } else if self.takes("shuffle") {
                self.expect("(")?;
                counter.order = Order::Shuffle(self.number()?);
                self.expect(")")?;
            } else if let Some((digits, _)) = DIGITS.iter().find(|(_, name)| self.takes(name)) {
                counter.digits = *digits;
            } else {
                return Err(self.error("up, down, shuffle(SEED), dec, hex, letters, be or le is expected"));
            }
        }
        Ok(counter)
    }

    /// Bytes in addition, and the form, behind `len`.
    fn length(&mut self) -> Result<Length, ParseError> {
        let is_less = self.takes("-");
        let plus = if is_less || self.takes("+") { self.number()? } else { 0 };
        let Ok(plus) = i64::try_from(plus) else { return Err(self.error("a smaller number is expected")) };
        let plus = if is_less { -plus } else { plus };
        let form = if self.takes(":der") {
            LengthForm::Der
        } else if self.takes(":leb") {
            LengthForm::Groups
        } else {
            LengthForm::Field(self.field()?)
        };
        Ok(Length { form, plus })
    }

    /// Width and digits behind `#N`.
    fn field(&mut self) -> Result<Field, ParseError> {
        let mut field = Field { width: 0, digits: Digits::Decimal };
        while self.takes(":") {
            if let Some((digits, _)) = DIGITS.iter().find(|(_, name)| self.takes(name)) {
                field.digits = *digits;
            } else {
                field.width = u8::try_from(self.number()?).unwrap_or(u8::MAX);
            }
        }
        Ok(field)
    }

    fn pick(&mut self) -> Result<Pick, ParseError> {
        if self.takes("file") {
            self.expect("(")?;
            self.skip_blanks();
            let at = self.at;
            let name = String::from_utf8(self.bytes()?)
                .map_err(|_| ParseError { at, message: "the name of a file has to be UTF-8".to_owned() })?;
            self.expect(")")?;
            let contents = (self.load)(&name).map_err(|message| ParseError { at, message })?;
            return Ok(Pick { choices: lines(&contents), file: Some(name) });
        }
        self.expect("(")?;
        let mut choices = Vec::new();
        loop {
            self.skip_blanks();
            choices.push(self.bytes()?);
            if !self.takes(",") {
                break;
            }
        }
        self.expect(")")?;
        Ok(Pick { file: None, choices })
    }

    /// Bytes in quotes.
    fn bytes(&mut self) -> Result<Vec<u8>, ParseError> {
        if self.text.get(self.at) != Some(&b'"') {
            return Err(self.error("bytes in double quotes are expected"));
        }
        self.at += 1;
        let mut bytes = Vec::new();
        loop {
            let Some(&byte) = self.text.get(self.at) else {
                return Err(self.error("the closing quote is missing"));
            };
            self.at += 1;
            match byte {
                b'"' => return Ok(bytes),
                b'\\' => bytes.push(self.escaped()?),
                byte => bytes.push(byte),
            }
        }
    }

    fn escaped(&mut self) -> Result<u8, ParseError> {
        let byte = self.text.get(self.at).copied();
        self.at += 1;
        match byte {
            Some(b'n') => Ok(b'\n'),
            Some(b'r') => Ok(b'\r'),
            Some(b't') => Ok(b'\t'),
            Some(byte @ (b'"' | b'\\')) => Ok(byte),
            Some(b'x') => {
                let digits = self.text.get(self.at..self.at + 2).and_then(|digits| std::str::from_utf8(digits).ok());
                let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
                let value = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
                self.at += 2;
                value.ok_or_else(|| self.error("two hexadecimal digits are expected after \\x"))
            }
            _ => Err(self.error("an escape is one of \\n \\r \\t \\\" \\\\ and \\xNN")),
        }
    }
}

/// Lines of a file without their newlines.
fn lines(contents: &[u8]) -> Vec<Vec<u8>> {
    let mut lines: Vec<Vec<u8>> = contents.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    lines.pop_if(|last| last.is_empty());
    lines
}
