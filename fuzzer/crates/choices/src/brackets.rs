//! Trees of texts without a grammar: by brackets, tags, quotes, separators and classes of characters.
//!
//! The kinds of parts are those that most text formats share: lists of lines, statements, items and words, pairs of a key
//! and a value, expressions with operators, elements of XML, texts in quotes, numbers and words.

pub(crate) mod scan;

use self::scan::{Pair, Token, TokenKind, scan};
use crate::tree::{Node, Role, Tree};
use quagmire_base::visible;

/// Largest text that is parsed, in bytes.
const LARGEST: usize = 1 << 24;

/// A kind of list: its symbols, and which tokens separate its items.
#[derive(Clone, Copy)]
struct ListKind {
    list: Symbol,
    item: Symbol,
    separator: Symbol,
    /// Token that a separator needs. Blanks may be around it.
    needs: TokenKind,
}

const LINES: ListKind =
    ListKind { list: Symbol::Lines, item: Symbol::Line, separator: Symbol::LineEnd, needs: TokenKind::Newline };
const STATEMENTS: ListKind = ListKind {
    list: Symbol::Statements,
    item: Symbol::Statement,
    separator: Symbol::StatementEnd,
    needs: TokenKind::Semicolon,
};
const ITEMS: ListKind =
    ListKind { list: Symbol::Items, item: Symbol::Item, separator: Symbol::Comma, needs: TokenKind::Comma };
const TERMS: ListKind =
    ListKind { list: Symbol::Terms, item: Symbol::Term, separator: Symbol::Operator, needs: TokenKind::Operator };
const WORDS: ListKind =
    ListKind { list: Symbol::Words, item: Symbol::Atom, separator: Symbol::Blank, needs: TokenKind::Blank };

/// How far the tokens of a range have been divided already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Lines,
    Statements,
    Items,
    Attributes,
    Pair,
    Terms,
    Words,
    Tokens,
}

impl Level {
    fn next(self) -> Self {
        match self {
            Self::Lines => Self::Statements,
            Self::Statements => Self::Items,
            Self::Items | Self::Attributes => Self::Pair,
            Self::Pair => Self::Terms,
            Self::Terms => Self::Words,
            Self::Words | Self::Tokens => Self::Tokens,
        }
    }
}

/// Step that is still to be done.
#[derive(Clone, Copy)]
enum Step {
    /// Divide the tokens `from..to`, which are inside of brackets or not.
    Divide { from: u32, to: u32, level: Level, is_inside: bool },
    /// Begin a part around the tokens `from..to`.
    Begin { symbol: Symbol, role: Role, from: u32, to: u32 },
    /// Add a leaf or separator, which is the bytes `start..end`.
    Leaf { symbol: Symbol, role: Role, start: u32, end: u32 },
    /// End the part that was begun last.
    End,
}

/// Parses a text by its brackets, tags, quotes, separators and words, in linear time. `None` if it is no text, has no
/// such structure, or is larger than 16 MiB. Brackets without a partner are ordinary bytes.
pub fn parse(bytes: &[u8]) -> Option<Tree> {
    if bytes.is_empty() || bytes.len() > LARGEST || !visible::reads_as_text(bytes) {
        return None;
    }
    let tokens = scan(bytes);
    let mut builder = Builder { text: bytes, tokens: &tokens, nodes: Vec::new(), begun: Vec::new(), steps: Vec::new() };
    builder.build();
    let nodes = builder.nodes;
    let has_structure = nodes.iter().skip(1).any(|node| matches!(node.role, Role::Part | Role::List));
    has_structure.then(|| Tree { bytes: bytes.to_vec(), nodes })
}

struct Builder<'a> {
    text: &'a [u8],
    tokens: &'a [Token],
    nodes: Vec<Node>,
    /// Places of the nodes whose parts are being added.
    begun: Vec<usize>,
    /// Steps in reverse order.
    steps: Vec<Step>,
}

impl Builder<'_> {
    fn build(&mut self) {
        let to = self.tokens.len() as u32;
        self.push_part(Symbol::Text, Role::Part, 0, to, Level::Lines, false);
        while let Some(step) = self.steps.pop() {
            match step {
                Step::Begin { symbol, role, from, to } => {
                    self.begun.push(self.nodes.len());
                    self.add(symbol, role, self.tokens[from as usize].start, self.tokens[to as usize - 1].end);
                }
                Step::Leaf { symbol, role, start, end } => self.add(symbol, role, start, end),
                Step::End => {
                    if let Some(place) = self.begun.pop() {
                        self.nodes[place].nodes = (self.nodes.len() - place) as u32;
                    }
                }
                Step::Divide { from, to, level, is_inside } => self.divide(from, to, level, is_inside),
            }
        }
    }

    fn add(&mut self, symbol: Symbol, role: Role, start: u32, end: u32) {
        self.nodes.push(Node { symbol: symbol as u32, choice: 0, role, start, length: end - start, nodes: 1 });
    }

    /// Plans a part around `from..to`, whose tokens are divided from `level` on.
    fn push_part(&mut self, symbol: Symbol, role: Role, from: u32, to: u32, level: Level, is_inside: bool) {
        self.steps.push(Step::End);
        self.steps.push(Step::Divide { from, to, level, is_inside });
        self.steps.push(Step::Begin { symbol, role, from, to });
    }

    /// Number of the token after the one at `at`, or after the group that it opens.
    fn after(&self, at: u32) -> u32 {
        let token = self.tokens[at as usize];
        match token.kind {
            TokenKind::Open(_) if token.element_end > 0 => token.element_end + 1,
            TokenKind::Open(_) => token.partner + 1,
            _ => at + 1,
        }
    }

    fn is_blank(&self, at: u32) -> bool {
        matches!(self.tokens[at as usize].kind, TokenKind::Blank | TokenKind::Newline)
    }

    fn has(&self, kind: TokenKind, from: u32, to: u32) -> bool {
        let mut at = from;
        while at < to {
            if self.tokens[at as usize].kind == kind {
                return true;
            }
            at = self.after(at);
        }
        false
    }

    fn divide(&mut self, mut from: u32, mut to: u32, level: Level, is_inside: bool) {
        while from < to && self.is_blank(from) {
            from += 1;
        }
        while from < to && self.is_blank(to - 1) {
            to -= 1;
        }
        if from == to {
            return;
        }
        let list = match level {
            // lines inside of brackets are mostly there for people
            Level::Lines => {
                let is_for_people =
                    is_inside && self.has(TokenKind::Comma, from, to) && !self.has(TokenKind::Semicolon, from, to);
                if is_for_people { None } else { self.list(LINES, from, to) }
            }
            Level::Statements => self.list(STATEMENTS, from, to),
            Level::Items => self.list(ITEMS, from, to),
            Level::Pair => return self.pair(from, to, is_inside),
            Level::Terms => self.list(TERMS, from, to),
            Level::Attributes | Level::Words => self.list(WORDS, from, to),
            Level::Tokens => return self.tokens(from, to),
        };
        let next = level.next();
        match list {
            Some((kind, parts)) => self.push_list(kind, &parts, next, is_inside),
            None => self.steps.push(Step::Divide { from, to, level: next, is_inside }),
        }
    }

    /// Items and separators of a list of this kind, if `from..to` is one of at least two items.
    fn list(&self, kind: ListKind, from: u32, to: u32) -> Option<(ListKind, Vec<(u32, u32)>)> {
        let kind_at = |at: u32| self.tokens[at as usize].kind;
        // as in Swift: an operator after a blank and before none belongs to what follows
        let is_sign = |at: u32| at > from && self.is_blank(at - 1) && at + 1 < to && !self.is_blank(at + 1);
        let separates = |at: u32| match kind.needs {
            TokenKind::Blank => self.is_blank(at),
            TokenKind::Operator => kind_at(at) == kind.needs && !is_sign(at),
            needs => kind_at(at) == needs,
        };
        let mut parts = Vec::new();
        let (mut at, mut item) = (from, from);
        while at < to {
            let start = at;
            let mut is_separator = false;
            while at < to && (self.is_blank(at) || separates(at)) {
                is_separator |= separates(at);
                at += 1;
            }
            if at > start {
                if is_separator && at < to {
                    if start > item {
                        parts.push((item, start));
                        parts.push((start, at));
                    }
                    item = at;
                } else if is_separator {
                    // after the last item
                    if start > item {
                        parts.push((item, start));
                    }
                    item = to;
                }
            } else {
                at = self.after(at);
            }
        }
        if item < to {
            parts.push((item, to));
        }
        (parts.len() > 1).then_some((kind, parts))
    }

    fn push_list(&mut self, kind: ListKind, parts: &[(u32, u32)], level: Level, is_inside: bool) {
        self.steps.push(Step::End);
        for (place, &(from, to)) in parts.iter().enumerate().rev() {
            if place % 2 == 0 {
                self.push_part(kind.item, Role::Part, from, to, level, is_inside);
            } else {
                let (start, end) = (self.tokens[from as usize].start, self.tokens[to as usize - 1].end);
                self.steps.push(Step::Leaf { symbol: kind.separator, role: Role::Separator, start, end });
            }
        }
        let (from, to) = (parts[0].0, parts[parts.len() - 1].1);
        self.steps.push(Step::Begin { symbol: kind.list, role: Role::List, from, to });
    }

    /// Divides into a key and a value; into a value alone inside of brackets.
    fn pair(&mut self, from: u32, to: u32, is_inside: bool) {
        let mut at = from;
        while at < to && self.tokens[at as usize].kind != TokenKind::Assignment {
            at = self.after(at);
        }
        let (mut key, mut value) = (at, at + 1);
        while key > from && self.is_blank(key - 1) {
            key -= 1;
        }
        while value < to && self.is_blank(value) {
            value += 1;
        }
        if key > from && value < to {
            self.push_part(Symbol::Value, Role::Part, value, to, Level::Terms, is_inside);
            self.push_part(Symbol::Key, Role::Part, from, key, Level::Terms, is_inside);
        } else if is_inside {
            self.push_part(Symbol::Value, Role::Part, from, to, Level::Terms, is_inside);
        } else {
            self.steps.push(Step::Divide { from, to, level: Level::Terms, is_inside });
        }
    }

    /// Adds the tokens as they are; groups that follow each other are a list.
    fn tokens(&mut self, from: u32, to: u32) {
        let mut parts = Vec::new();
        let mut at = from;
        while at < to {
            let next = self.after(at);
            parts.push((at, next));
            at = next;
        }
        let is_group = |part: &(u32, u32)| matches!(self.tokens[part.0 as usize].kind, TokenKind::Open(_));
        // texts between elements are items of their own
        let is_mixed = parts.iter().any(|part| self.tokens[part.0 as usize].element_end > 0);
        if parts.len() > 1 && (is_mixed || parts.iter().all(is_group)) {
            self.steps.push(Step::End);
            for &(from, to) in parts.iter().rev() {
                self.steps.push(Step::End);
                self.push_token(from, to);
                self.steps.push(Step::Begin { symbol: Symbol::Group, role: Role::Part, from, to });
            }
            self.steps.push(Step::Begin { symbol: Symbol::Groups, role: Role::List, from, to });
        } else {
            for &(from, to) in parts.iter().rev() {
                self.push_token(from, to);
            }
        }
    }

    /// Adds one token, or the group that it opens.
    fn push_token(&mut self, from: u32, to: u32) {
        let token = self.tokens[from as usize];
        let symbol = match token.kind {
            TokenKind::Word => Symbol::Word,
            TokenKind::Number => Symbol::Number,
            TokenKind::Quoted => return self.push_quoted(from),
            TokenKind::Open(_) if token.element_end > 0 => return self.push_element(from),
            TokenKind::Open(pair) => {
                let symbol = match pair {
                    Pair::Round => Symbol::Round,
                    Pair::Square => Symbol::Square,
                    Pair::Curly => Symbol::Curly,
                    Pair::Angle => Symbol::Angle,
                };
                self.steps.push(Step::End);
                let is_inside = pair != Pair::Angle;
                let level = if is_inside { Level::Lines } else { Level::Attributes };
                // the slash of `<a b="c"/>` is no part of the last attribute
                let slash = self.tokens[to as usize - 2].start as usize;
                let is_closed = !is_inside && self.text[slash] == b'/';
                self.steps.push(Step::Divide { from: from + 1, to: to - 1 - u32::from(is_closed), level, is_inside });
                self.steps.push(Step::Begin { symbol, role: Role::Part, from, to });
                return;
            }
            _ => return,
        };
        self.steps.push(Step::Leaf { symbol, role: Role::Leaf, start: token.start, end: token.end });
    }

    /// Adds an element: start tag with attributes, and content. Names of tags are no leaves: both have to agree.
    fn push_element(&mut self, from: u32) {
        let start = self.tokens[from as usize];
        let end_tag = self.tokens[start.element_end as usize].partner;
        self.steps.push(Step::End);
        let content = (start.partner + 1, end_tag);
        if content.0 < content.1 {
            self.push_part(Symbol::Content, Role::Part, content.0, content.1, Level::Lines, false);
        }
        // attributes are behind the first blank
        let mut attributes = from + 1;
        while attributes < start.partner && !self.is_blank(attributes) {
            attributes += 1;
        }
        if attributes < start.partner {
            self.steps.push(Step::End);
            self.steps.push(Step::Divide {
                from: attributes,
                to: start.partner,
                level: Level::Attributes,
                is_inside: false,
            });
            self.steps.push(Step::Begin { symbol: Symbol::StartTag, role: Role::Part, from, to: start.partner + 1 });
        }
        self.steps.push(Step::Begin { symbol: Symbol::Element, role: Role::Part, from, to: start.element_end + 1 });
    }

    /// Adds a text in quotes.
    fn push_quoted(&mut self, at: u32) {
        let token = self.tokens[at as usize];
        let symbol = match self.text[token.start as usize] {
            b'"' => Symbol::DoubleQuoted,
            b'\'' => Symbol::SingleQuoted,
            _ => Symbol::BackQuoted,
        };
        let (start, end) = (token.start + 1, token.end - 1);
        self.steps.push(Step::End);
        if start < end {
            self.steps.push(Step::Leaf { symbol: Symbol::QuotedText, role: Role::Leaf, start, end });
        }
        self.steps.push(Step::Begin { symbol, role: Role::Part, from: at, to: at + 1 });
    }
}

/// Kind of a part: the symbol of its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
enum Symbol {
    Text,
    Round,
    Square,
    Curly,
    Angle,
    Element,
    StartTag,
    Content,
    DoubleQuoted,
    SingleQuoted,
    BackQuoted,
    QuotedText,
    Word,
    Number,
    Key,
    Value,
    Lines,
    Line,
    LineEnd,
    Statements,
    Statement,
    StatementEnd,
    Items,
    Item,
    Comma,
    Terms,
    Term,
    Operator,
    Words,
    Atom,
    Blank,
    Groups,
    Group,
}

/// Names of the kinds, by number.
const NAMES: [&str; 33] = [
    "text",
    "parentheses",
    "brackets",
    "braces",
    "angle-brackets",
    "element",
    "start-tag",
    "content",
    "double-quoted",
    "single-quoted",
    "back-quoted",
    "quoted-text",
    "word",
    "number",
    "key",
    "value",
    "lines",
    "line",
    "line-end",
    "statements",
    "statement",
    "statement-end",
    "items",
    "item",
    "comma",
    "terms",
    "term",
    "operator",
    "words",
    "atom",
    "blank",
    "groups",
    "group",
];

/// Name of a kind of part.
pub(crate) fn name(symbol: u32) -> &'static str {
    NAMES.get(symbol as usize).copied().unwrap_or("part")
}

/// Whether a kind of part is the text between two quotes.
pub(crate) fn is_quoted_text(symbol: u32) -> bool {
    symbol == Symbol::QuotedText as u32
}

/// Whether a kind of part separates lines.
pub(crate) fn is_line_end(symbol: u32) -> bool {
    symbol == Symbol::LineEnd as u32
}

#[cfg(test)]
mod tests;
