//! Tokens of a text, and which of them belong together: brackets, tags of XML, quotes.

use std::collections::HashMap;

/// Kind of a pair of brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Pair {
    /// `(` and `)`.
    Round,
    /// `[` and `]`.
    Square,
    /// `{` and `}`.
    Curly,
    /// `<` and `>`: a tag, or anything else in angle brackets.
    Angle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A letter, `_` or byte beyond ASCII, and the letters and digits after it.
    Word,
    /// A digit, and the letters, digits and points after it.
    Number,
    /// Blanks and tabs.
    Blank,
    /// Blanks with at least one end of a line.
    Newline,
    /// `,`
    Comma,
    /// `;`
    Semicolon,
    /// A single `:` or `=`.
    Assignment,
    /// One or more of `+-*/%&|^.!?:=<>~`.
    Operator,
    /// A text in quotes, quotes included.
    Quoted,
    /// An opening bracket that has a closing one: the token at [`Token::partner`].
    Open(Pair),
    /// A closing bracket that has an opening one.
    Close(Pair),
    /// Any other byte, and brackets without a partner.
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub kind: TokenKind,
    /// Place of its first byte.
    pub start: u32,
    /// Place after its last byte.
    pub end: u32,
    /// Number of the other bracket of its pair; its own number if it is none.
    pub partner: u32,
    /// Number of the closing bracket of its end tag, if it opens a start tag that has one; 0 otherwise.
    pub element_end: u32,
}

/// Bytes by which names of tags are told apart.
const LONGEST_NAME: usize = 64;

const OPERATORS: &[u8] = b"+-*/%&|^.!?:=<>~";

/// Whether a byte may belong to a word.
pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// Splits a text into tokens, and finds the partners of brackets and tags, in linear time. Brackets without a partner
/// become [`TokenKind::Other`].
pub(crate) fn scan(text: &[u8]) -> Vec<Token> {
    let mut scanner = Scanner { text, quote_free: [0; 3] };
    let mut matcher = Matcher::default();
    let mut at = 0;
    while at < text.len() {
        let (kind, end) = scanner.token(at);
        matcher.push(text, kind, at, end);
        at = end;
    }
    matcher.finish()
}

struct Scanner<'a> {
    text: &'a [u8],
    /// For each kind of quote: no text in quotes begins before this place.
    quote_free: [usize; 3],
}

impl Scanner<'_> {
    fn run(&self, from: usize, belongs: impl Fn(u8) -> bool) -> usize {
        self.text[from..].iter().position(|&byte| !belongs(byte)).map_or(self.text.len(), |length| from + length)
    }

    /// Kind and end of the token that begins at `at`.
    fn token(&mut self, at: usize) -> (TokenKind, usize) {
        let byte = self.text[at];
        let next = self.text.get(at + 1).copied().unwrap_or(b' ');
        let before = if at == 0 { b' ' } else { self.text[at - 1] };
        let kind = match byte {
            b'(' => TokenKind::Open(Pair::Round),
            b')' => TokenKind::Close(Pair::Round),
            b'[' => TokenKind::Open(Pair::Square),
            b']' => TokenKind::Close(Pair::Square),
            b'{' => TokenKind::Open(Pair::Curly),
            b'}' => TokenKind::Close(Pair::Curly),
            b'<' if is_word(next) || matches!(next, b'/' | b'!' | b'?') => TokenKind::Open(Pair::Angle),
            b'>' if !matches!(before, b'=' | b'-' | b'>' | b' ') => TokenKind::Close(Pair::Angle),
            b',' => TokenKind::Comma,
            b';' => TokenKind::Semicolon,
            b'"' | b'\'' | b'`' => match self.quoted(at) {
                Some(end) => return (TokenKind::Quoted, end),
                None => TokenKind::Other,
            },
            b'0'..=b'9' => return (TokenKind::Number, self.number(at)),
            _ if is_word(byte) => return (TokenKind::Word, self.run(at, is_word)),
            _ if is_blank(byte) => {
                let end = self.run(at, is_blank);
                let has_newline = self.text[at..end].contains(&b'\n');
                return (if has_newline { TokenKind::Newline } else { TokenKind::Blank }, end);
            }
            _ if OPERATORS.contains(&byte) => {
                // brackets end a run of operators
                let end = self.run(at + 1, |byte| OPERATORS.contains(&byte) && !matches!(byte, b'<' | b'>'));
                // a sign after it belongs to the value
                if matches!(byte, b':' | b'=') && (end == at + 1 || matches!(next, b'+' | b'-' | b'.' | b'&' | b'*')) {
                    return (TokenKind::Assignment, at + 1);
                }
                return (TokenKind::Operator, end);
            }
            _ => TokenKind::Other,
        };
        (kind, at + 1)
    }

    /// End of a number: a point belongs to it if a digit follows, and so does the sign of an exponent.
    fn number(&self, at: usize) -> usize {
        let mut end = self.run(at, is_word);
        while self.text.get(end + 1).is_some_and(u8::is_ascii_digit) && self.continues(at, end) {
            end = self.run(end + 1, is_word);
        }
        end
    }

    /// Whether the byte at `end` is a point, or the sign of the exponent of the number that begins at `at`.
    fn continues(&self, at: usize, end: usize) -> bool {
        let is_decimal = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
        match self.text[end] {
            b'.' => true,
            b'+' | b'-' => matches!(&self.text[at..end], [number @ .., b'e' | b'E'] if number.iter().all(is_decimal)),
            _ => false,
        }
    }

    /// End of the text in quotes that begins at `at`. Those in `'` and `"` end on their line.
    fn quoted(&mut self, at: usize) -> Option<usize> {
        let quote = self.text[at];
        let kind = match quote {
            b'"' => 0,
            b'\'' => 1,
            _ => 2,
        };
        // an apostrophe, or Lisp's quote
        let is_apostrophe = quote == b'\'' && at > 0 && is_word(self.text[at - 1]);
        let is_lisp = quote == b'\'' && self.text.get(at + 1) == Some(&b'(') && self.text.get(at + 2) != Some(&b'\'');
        if at < self.quote_free[kind] || is_apostrophe || is_lisp {
            return None;
        }
        let mut end = at + 1;
        loop {
            match self.text.get(end) {
                Some(&byte) if byte == quote => return Some(end + 1),
                Some(b'\\') => end += 2,
                Some(b'\n') if quote != b'`' => break,
                Some(_) => end += 1,
                None => break,
            }
        }
        self.quote_free[kind] = end;
        None
    }
}

/// Closing text that an open bracket or start tag waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Awaited<'a> {
    Bracket(Pair),
    EndTag(&'a [u8]),
}

/// Tokens so far, and what is open.
#[derive(Default)]
struct Matcher<'a> {
    tokens: Vec<Token>,
    /// Open bracket or tag, and the number of the token that has opened it.
    open: Vec<(Awaited<'a>, u32)>,
    /// How often each is open.
    awaited: HashMap<Awaited<'a>, u32>,
}

impl<'a> Matcher<'a> {
    fn open(&mut self, awaited: Awaited<'a>, token: u32) {
        self.open.push((awaited, token));
        *self.awaited.entry(awaited).or_default() += 1;
    }

    /// Closes what was opened last among those that wait for this, and what was opened after it and will never be closed.
    fn close(&mut self, awaited: Awaited<'a>) -> Option<u32> {
        if self.awaited.get(&awaited).is_none_or(|&open| open == 0) {
            return None;
        }
        while let Some((other, token)) = self.open.pop() {
            if let Some(open) = self.awaited.get_mut(&other) {
                *open -= 1;
            }
            if other == awaited {
                return Some(token);
            }
        }
        None
    }

    fn push(&mut self, text: &'a [u8], kind: TokenKind, start: usize, end: usize) {
        let number = self.tokens.len() as u32;
        let mut token = Token { kind, start: start as u32, end: end as u32, partner: number, element_end: 0 };
        match kind {
            TokenKind::Open(pair) => self.open(Awaited::Bracket(pair), number),
            TokenKind::Close(pair) => {
                // angle brackets are comparisons as well: they close no other bracket
                let is_inner = self.open.last().is_some_and(|open| open.0 == Awaited::Bracket(Pair::Angle));
                let partner = if pair == Pair::Angle && !is_inner { None } else { self.close(Awaited::Bracket(pair)) };
                match partner {
                    Some(partner) => {
                        token.partner = partner;
                        self.tokens[partner as usize].partner = number;
                        self.tokens.push(token);
                        if pair == Pair::Angle {
                            self.tag(text, partner, number);
                        }
                        return;
                    }
                    None => token.kind = TokenKind::Other,
                }
            }
            _ => {}
        }
        self.tokens.push(token);
    }

    /// Opens or closes an element at a tag between two brackets.
    fn tag(&mut self, text: &'a [u8], open: u32, close: u32) {
        let inside = &text[self.tokens[open as usize].end as usize..self.tokens[close as usize].start as usize];
        let name = |text: &'a [u8]| {
            let ends = |byte: &u8| is_blank(*byte) || *byte == b'/';
            let longest = &text[..text.len().min(LONGEST_NAME)];
            &longest[..longest.iter().position(ends).unwrap_or(longest.len())]
        };
        match inside {
            [b'/', rest @ ..] => {
                if let Some(start) = self.close(Awaited::EndTag(name(rest))) {
                    self.tokens[start as usize].element_end = close;
                }
            }
            [b'!' | b'?', ..] | [.., b'/'] => {}
            _ => self.open(Awaited::EndTag(name(inside)), open),
        }
    }

    fn finish(mut self) -> Vec<Token> {
        for (number, token) in self.tokens.iter_mut().enumerate() {
            if matches!(token.kind, TokenKind::Open(_)) && token.partner == number as u32 {
                token.kind = TokenKind::Other;
            }
        }
        self.tokens
    }
}
