//! Kinds of parts of texts, and their names.

/// Kind of a part: the symbol of its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Symbol {
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
