//! Grammars in ANTLR's `.g4`: rules of the parser and of the lexer; actions, predicates and labels are dropped. Tokens that
//! the lexer skips may stand between all others.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};
use regex_syntax::utf8::Utf8Sequences;

use super::source::{ByteSet, Expression, Flavor, Line, Mistake, Rule, Source};

/// Most groups in each other.
const DEEPEST: usize = 100;

/// Name of what may stand between tokens.
const BLANKS: &str = "(blanks)";

/// Name of the rule of whole inputs, if blanks may begin them.
const INPUT: &str = "(input)";

/// Reads a grammar.
pub(super) fn read(text: &str) -> Result<Source, Mistake> {
    let mut parser = Parser {
        tokens: tokens(text)?,
        at: 0,
        depth: 0,
        in_lexer: false,
        ignores_case: false,
        is_skipped: false,
        is_short: false,
        skipped: Vec::new(),
    };
    let mut rules = Vec::new();
    while parser.at < parser.tokens.len() {
        rules.extend(parser.statement()?);
    }
    let mut names = std::collections::HashSet::new();
    if let Some(twice) = rules.iter().find(|rule: &&Rule| !names.insert(rule.name.clone())) {
        return Err(Mistake::new(twice.line, format!("{} is there twice: rename or remove one", twice.name)));
    }
    let Some(start) = rules.iter().find(|rule| !is_token_name(&rule.name)) else {
        let what = "it has no rule of a parser: write one, whose name begins with a small letter";
        return Err(Mistake::new(0, what));
    };
    let (mut start, line) = (start.name.clone(), start.line);
    if !parser.skipped.is_empty() {
        for rule in rules.iter_mut().filter(|rule| !is_token_name(&rule.name)) {
            add_blanks(&mut rule.body);
        }
        let blank = Expression::Choice(parser.skipped);
        let some = Expression::Repeat { of: Box::new(blank), least: 1, is_once: false };
        let body = Expression::Choice(vec![Expression::Sequence(Vec::new()), some]);
        rules.push(Rule { name: BLANKS.to_owned(), line, body, flavor: Flavor::Blanks });
        let name = |name: &str| Expression::Name(name.to_owned(), Line(line));
        let body = Expression::Sequence(vec![name(BLANKS), name(&start)]);
        rules.push(Rule { name: INPUT.to_owned(), line, body, flavor: Flavor::Plain });
        start = INPUT.to_owned();
    }
    Ok(Source { rules, start })
}

fn is_token_name(name: &str) -> bool {
    name.starts_with(char::is_uppercase)
}

/// Puts blanks behind each token of a parser's rule.
fn add_blanks(expression: &mut Expression) {
    match expression {
        Expression::Sequence(parts) | Expression::Choice(parts) => parts.iter_mut().for_each(add_blanks),
        Expression::Repeat { of, .. } => add_blanks(of),
        Expression::Name(name, _) if !is_token_name(name) => {}
        token => {
            let blanks = Expression::Name(BLANKS.to_owned(), Line(0));
            *token = Expression::Sequence(vec![token.clone(), blanks]);
        }
    }
}

struct Parser {
    tokens: Vec<(Token, usize)>,
    at: usize,
    depth: usize,
    /// Whether the rule is one of the lexer.
    in_lexer: bool,
    ignores_case: bool,
    /// Whether the lexer skips the token.
    is_skipped: bool,
    /// Whether the rule has a loop that ends as early as it can.
    is_short: bool,
    /// Tokens that the lexer skips.
    skipped: Vec<Expression>,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    fn line(&self) -> usize {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(0, |&(_, line)| line)
    }

    fn takes(&mut self, sign: &'static str) -> bool {
        let found = self.peek() == Some(&Token::Sign(sign));
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &'static str) -> Result<(), Mistake> {
        if self.takes(sign) { Ok(()) } else { Err(self.unexpected(&format!("`{sign}`"))) }
    }

    fn unexpected(&self, wanted: &str) -> Mistake {
        let found = match self.peek() {
            None => "the end of the file".to_owned(),
            Some(Token::Name(name)) => name.clone(),
            Some(Token::Literal(text)) => format!("'{text}'"),
            Some(Token::Brackets(text)) => format!("[{text}]"),
            Some(Token::Action(_)) => "an action".to_owned(),
            Some(Token::Sign(sign)) => format!("`{sign}`"),
        };
        Mistake::new(
            self.line(),
            format!("{found} stands where {wanted} belongs: correct it, ANTLR would not read it either"),
        )
    }

    fn name(&mut self) -> Result<String, Mistake> {
        let Some(Token::Name(name)) = self.peek() else { return Err(self.unexpected("a name")) };
        let name = name.clone();
        self.at += 1;
        Ok(name)
    }

    /// Reads a rule, or skips what is none.
    fn statement(&mut self) -> Result<Option<Rule>, Mistake> {
        if self.takes("@") {
            while self.peek().is_some_and(|token| matches!(token, Token::Name(_) | Token::Sign("::"))) {
                self.at += 1;
            }
            return self.action().map(|_| None);
        }
        let line = self.line();
        let mut name = self.name()?;
        let next = self.peek();
        match (&name[..], next) {
            ("options" | "tokens" | "channels", Some(Token::Action(_))) => {
                let text = self.action()?;
                self.ignores_case |= text.replace(' ', "").contains("caseInsensitive=true");
                return Ok(None);
            }
            ("grammar" | "lexer" | "parser", Some(Token::Name(_))) => {
                while !self.takes(";") {
                    self.name()?;
                }
                return Ok(None);
            }
            ("import", _) => {
                return Err(Mistake::new(line, "import is not read: put the rules of all files into one"));
            }
            ("mode", _) => {
                return Err(Mistake::new(line, "modes of the lexer are not read: write the grammar without them"));
            }
            _ => {}
        }
        let is_fragment = name == "fragment";
        if is_fragment {
            name = self.name()?;
        }
        self.rule(name, line, is_fragment).map(Some)
    }

    fn rule(&mut self, name: String, line: usize, is_fragment: bool) -> Result<Rule, Mistake> {
        (self.in_lexer, self.is_skipped, self.is_short) = (is_token_name(&name), false, false);
        // arguments, results, variables, options, and what is done at the beginning
        while self.peek() != Some(&Token::Sign(":")) {
            match self.peek() {
                Some(Token::Name(_) | Token::Brackets(_) | Token::Action(_) | Token::Sign("@" | "," | "::")) => {
                    self.at += 1
                }
                _ => return Err(self.unexpected("`:`")),
            }
        }
        self.expect(":")?;
        let body = self.alternatives()?;
        self.expect(";")?;
        while let Some(Token::Name(word)) = self.peek()
            && (word == "catch" || word == "finally")
        {
            self.at += 1;
            while matches!(self.peek(), Some(Token::Brackets(_))) {
                self.at += 1;
            }
            self.action()?;
        }
        if self.is_skipped {
            self.skipped.push(Expression::Name(name.clone(), Line(line)));
        }
        let flavor = match (self.in_lexer, self.is_short, is_fragment) {
            (true, true, _) => Flavor::ShortToken,
            (true, false, false) => Flavor::Token,
            _ => Flavor::Plain,
        };
        Ok(Rule { name, line, body, flavor })
    }

    fn action(&mut self) -> Result<String, Mistake> {
        let Some(Token::Action(text)) = self.peek() else { return Err(self.unexpected("an action in braces")) };
        let text = text.clone();
        self.at += 1;
        Ok(text)
    }

    fn alternatives(&mut self) -> Result<Expression, Mistake> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Mistake::new(
                self.line(),
                format!("more than {DEEPEST} groups are in each other: make rules of some"),
            ));
        }
        let mut all = vec![self.alternative()?];
        while self.takes("|") {
            all.push(self.alternative()?);
        }
        self.depth -= 1;
        Ok(if all.len() == 1 { all.remove(0) } else { Expression::Choice(all) })
    }

    fn alternative(&mut self) -> Result<Expression, Mistake> {
        let mut parts = Vec::new();
        loop {
            match self.peek() {
                None | Some(Token::Sign("|" | ";" | ")")) => return Ok(Expression::Sequence(parts)),
                Some(Token::Action(_)) => {
                    self.at += 1;
                    self.takes("?");
                }
                Some(Token::Sign("<")) => {
                    while !self.takes(">") && self.at < self.tokens.len() {
                        self.at += 1;
                    }
                }
                Some(Token::Sign("#")) => {
                    self.at += 1;
                    self.name()?;
                }
                Some(Token::Sign("->")) => self.commands()?,
                _ => parts.push(self.element()?),
            }
        }
    }

    fn commands(&mut self) -> Result<(), Mistake> {
        self.expect("->")?;
        loop {
            let line = self.line();
            let name = self.name()?;
            if self.takes("(") {
                self.name()?;
                self.expect(")")?;
            }
            match &name[..] {
                "skip" | "channel" => self.is_skipped = true,
                "type" => {}
                other => {
                    let what = format!(
                        "-> {other} needs modes of the lexer, which are not read: write the grammar without them"
                    );
                    return Err(Mistake::new(line, what));
                }
            }
            if !self.takes(",") {
                return Ok(());
            }
        }
    }

    fn element(&mut self) -> Result<Expression, Mistake> {
        if let (Some(Token::Name(_)), Some((Token::Sign("=" | "+="), _))) = (self.peek(), self.tokens.get(self.at + 1))
        {
            self.at += 2;
        }
        let mut element = self.atom()?;
        for (sign, least, is_once) in [("?", 0, true), ("*", 0, false), ("+", 1, false)] {
            if self.takes(sign) {
                self.is_short |= self.takes("?") && !is_once;
                element = Expression::Repeat { of: Box::new(element), least, is_once };
                break;
            }
        }
        Ok(element)
    }

    fn atom(&mut self) -> Result<Expression, Mistake> {
        let line = self.line();
        match self.peek().cloned() {
            Some(Token::Name(name)) => {
                self.at += 1;
                if !self.in_lexer && matches!(self.peek(), Some(Token::Brackets(_))) {
                    self.at += 1;
                }
                Ok(if name == "EOF" { Expression::Sequence(Vec::new()) } else { Expression::Name(name, Line(line)) })
            }
            Some(Token::Literal(text)) if !self.is_range() => {
                self.at += 1;
                let all = literal(&text, line)?;
                if self.ignores_case {
                    let either = |&c: &char| expression(&self.folded(between(c, c)));
                    return Ok(Expression::Sequence(all.iter().map(either).collect()));
                }
                Ok(Expression::Bytes(all.into_iter().collect::<String>().into_bytes()))
            }
            Some(Token::Sign("(")) => {
                self.at += 1;
                if self.peek() == Some(&Token::Name("options".into())) {
                    self.at += 2;
                    self.takes(":");
                }
                let inner = self.alternatives()?;
                self.expect(")")?;
                Ok(inner)
            }
            _ => Ok(expression(&self.class()?)),
        }
    }

    fn is_range(&self) -> bool {
        self.tokens.get(self.at + 1).is_some_and(|(token, _)| *token == Token::Sign(".."))
    }

    fn folded(&self, mut class: ClassUnicode) -> ClassUnicode {
        if self.ignores_case {
            class.case_fold_simple();
        }
        class
    }

    /// Reads what stands for one character: a range, brackets, a dot, a literal of one, or what is none of these.
    fn class(&mut self) -> Result<ClassUnicode, Mistake> {
        let line = self.line();
        let is_range = self.is_range();
        let token = self.peek().cloned();
        self.at += 1;
        match token {
            Some(Token::Sign(".")) => Ok(any()),
            Some(Token::Sign("~")) => {
                let mut all = ClassUnicode::empty();
                if self.takes("(") {
                    while {
                        all.union(&self.class()?);
                        self.takes("|")
                    } {}
                    self.expect(")")?;
                } else {
                    all = self.class()?;
                }
                all.negate();
                Ok(all)
            }
            Some(Token::Brackets(text)) if self.in_lexer => Ok(self.folded(class(&text, line)?)),
            Some(Token::Literal(text)) => {
                let one = |text: &str| match literal(text, line)?[..] {
                    [c] => Ok(c),
                    _ => Err(Mistake::new(line, format!("'{text}' is not one character, which ranges and ~ need"))),
                };
                let first = one(&text)?;
                let mut last = first;
                if is_range {
                    self.at += 1;
                    let Some(Token::Literal(text)) = self.peek().cloned() else {
                        return Err(self.unexpected("a character"));
                    };
                    self.at += 1;
                    last = one(&text)?;
                }
                if last < first {
                    return Err(Mistake::new(line, format!("'{first}'..'{last}' has no characters: exchange the two")));
                }
                Ok(self.folded(between(first, last)))
            }
            Some(Token::Name(name)) => {
                Err(Mistake::new(line, format!("~{name} is not read: write the characters of {name} in brackets")))
            }
            _ => {
                self.at -= 1;
                Err(self.unexpected("a name, a literal or a group"))
            }
        }
    }
}

// Tokens.

#[derive(Clone, Debug, PartialEq)]
enum Token {
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
fn tokens(text: &str) -> Result<Vec<(Token, usize)>, Mistake> {
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

// Sets of characters, as bytes of UTF-8.

/// A character or a class of them, as it is written in brackets and literals.
enum Written {
    One(char),
    Class(ClassUnicode),
}

/// All characters.
fn any() -> ClassUnicode {
    let mut all = ClassUnicode::empty();
    all.negate();
    all
}

/// The characters from one to another.
fn between(first: char, last: char) -> ClassUnicode {
    ClassUnicode::new([ClassUnicodeRange::new(first, last)])
}

/// An expression for one character of a class.
fn expression(class: &ClassUnicode) -> Expression {
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
fn literal(text: &str, line: usize) -> Result<Vec<char>, Mistake> {
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
fn class(text: &str, line: usize) -> Result<ClassUnicode, Mistake> {
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
