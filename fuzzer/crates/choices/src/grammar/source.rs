//! Grammars as their files have them, whatever the format.

/// Largest grammar file, in bytes.
pub(super) const LARGEST_FILE: u64 = 4 << 20;

/// Largest number of rules and of symbols that are made of them.
pub(super) const MOST_SYMBOLS: usize = 50_000;

/// Line of a file, counted from 1. All lines are equal, so that expressions of different places can be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line(pub(super) usize);

impl PartialEq for Line {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// An error in a grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mistake {
    /// Its line; 0 if it has none.
    pub(super) line: usize,
    /// The mistake and its remedy.
    pub(super) what: String,
}

impl Mistake {
    pub(super) fn new(line: usize, what: impl Into<String>) -> Self {
        Self { line, what: what.into() }
    }
}

/// The right side of a rule, or a part of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    Bytes(Vec<u8>),
    /// One byte of these.
    Set(ByteSet),
    /// One character: encodings in UTF-8 of different lengths, the shortest first.
    Characters(Vec<Expression>),
    Name(String, Line),
    Sequence(Vec<Expression>),
    Choice(Vec<Expression>),
    /// `?`, `*` or `+`.
    Repeat {
        of: Box<Expression>,
        least: u32,
        is_once: bool,
    },
}

impl Expression {
    /// The parts of a sequence, or the expression itself.
    pub(super) fn parts(&self) -> &[Self] {
        match self {
            Self::Sequence(parts) => parts,
            other => std::slice::from_ref(other),
        }
    }
}

/// How the text of a rule is made up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Flavor {
    #[default]
    Plain,
    /// A token: one leaf, whatever is in it.
    Token,
    /// A token that ends where it can end first.
    ShortToken,
    /// Blank that may stand between tokens, if there is one.
    Blanks,
    /// One character, most likely a short one.
    Character,
}

#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) body: Expression,
    pub(super) flavor: Flavor,
}

/// A grammar.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// Its rules, each name once.
    pub(super) rules: Vec<Rule>,
    /// Name of the rule that describes whole inputs.
    pub(super) start: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ByteSet([u64; 4]);

impl ByteSet {
    pub(super) fn of(bytes: impl IntoIterator<Item = u8>) -> Self {
        let mut set = Self::default();
        bytes.into_iter().for_each(|byte| set.insert(byte));
        set
    }

    pub(super) fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    pub(super) fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 != 0
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    pub(super) fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub(super) fn bytes(&self) -> impl Iterator<Item = u8> + '_ {
        (0..=255).filter(|&byte| self.contains(byte))
    }

    /// Adds all bytes of another set. Returns whether there was a new one.
    pub(super) fn merge(&mut self, other: &Self) -> bool {
        let before = self.0;
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word |= other);
        self.0 != before
    }
}

/// Continuation of an input: bytes that may come next, or its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Next {
    pub(super) bytes: ByteSet,
    pub(super) end: bool,
}

impl Next {
    /// Whether the input may go on as it does at this place.
    pub(super) fn fits(&self, input: &[u8], at: usize) -> bool {
        input.get(at).map_or(self.end, |&byte| self.bytes.contains(byte))
    }

    /// Adds all of another. Returns whether there was anything new.
    pub(super) fn merge(&mut self, other: &Self) -> bool {
        let is_end_new = other.end && !self.end;
        self.end |= other.end;
        self.bytes.merge(&other.bytes) || is_end_new
    }
}
