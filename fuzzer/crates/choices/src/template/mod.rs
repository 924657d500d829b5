//! Templates: inputs of any size as literal parts and parts that repeat, and candidates for them from a finding.
//!
//! One number `N` scales a template. Its text form is one line of printable ASCII:
//!
//! | text | meaning |
//! |---|---|
//! | `"ab\n\x00"` | bytes as they are |
//! | `rep(2*N+1){...}` | its body so many times |
//! | `nest(N){"(" \| "x" \| ")"}` | so many times what opens, once the middle, so many times what closes |
//! | `#i:6` | number of the round of the innermost loop from 0, in six digits; `#j` is the loop around it, then `#k` |
//! | `#i:6:hex:down` | digits `hex`, `letters`, `be` or `le` (bytes); order `down` or `shuffle(SEED)` |
//! | `#N`, `#N:2:be` | `N` itself, in as many digits as it needs, or in so many digits |
//! | `len:4:le{...}` | number of bytes of its body, in so many digits, and then the body; outside of loops |
//! | `len-2:der{...}` | so many bytes more or fewer; digits also `der`, or `leb` (groups of seven bits, the lowest first) |
//! | `stair{...}` | its body once in the first round of the loop, twice in the second, and so on |
//! | `pick("a","b")` | one of these in each round of the loop, in turn |
//! | `pick file("keys.txt")` | one line of a file in each round of the loop, in turn, without its newline |
//!
//! Numbers of rounds have a fixed width, since growing ones would bend the law; numbers that are too large for it lose
//! their first digits.

mod generator;
mod infer;
mod number;
mod text;

use quagmire_base::format::cut;

pub(crate) use self::infer::{between, chains};
use self::number::shuffled;
pub use self::{
    infer::{Candidate, Evidence, Origin, candidates},
    number::{Digits, Field, Length, LengthForm, Order},
    text::ParseError,
};

/// An input of any size. It is valid: counters and picks are in loops, and nothing in it is empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Template {
    pub parts: Vec<Part>,
}

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// Bytes as they are.
    Literal(Vec<u8>),
    /// A body that is repeated.
    Repeat {
        /// Number of rounds.
        times: Times,
        /// Content of each round.
        body: Vec<Part>,
    },
    /// A middle between what opens and what closes.
    Nest {
        /// Number of rounds.
        times: Times,
        /// Parts in front of the middle, once in each round.
        open: Vec<Part>,
        /// Parts in the middle, outside of the rounds.
        middle: Vec<Part>,
        /// Parts behind the middle, once in each round, the last round first.
        close: Vec<Part>,
    },
    /// A body that stands once in the first round of the innermost loop, twice in the second, and so on.
    Stair(Vec<Part>),
    /// The number of a round.
    Counter(Counter),
    /// `N` itself.
    Number(Field),
    /// One of several texts in each round of the innermost loop, in turn.
    Pick(Pick),
    /// The number of bytes of a body, and then the body.
    Length(Length, Vec<Part>),
}

impl Part {
    /// The parts in it.
    fn inside(&self) -> [&[Self]; 3] {
        match self {
            Self::Repeat { body, .. } | Self::Stair(body) | Self::Length(_, body) => [body, &[], &[]],
            Self::Nest { open, middle, close, .. } => [open, middle, close],
            Self::Literal(_) | Self::Counter(_) | Self::Number(_) | Self::Pick(_) => [&[], &[], &[]],
        }
    }
}

/// Number of rounds: `factor * N + plus`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Times {
    /// Rounds for each `N`.
    pub factor: u64,
    /// Rounds in addition.
    pub plus: u64,
}

impl Times {
    /// `N` rounds.
    pub const N: Self = Self { factor: 1, plus: 0 };

    /// Number of rounds at `n`.
    pub fn at(self, n: u64) -> u64 {
        self.factor.saturating_mul(n).saturating_add(self.plus)
    }
}

/// Number of a round, written with a fixed width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Counter {
    /// Loop that counts: 0 for the innermost one, 1 for the one around it, up to 4.
    pub level: u8,
    /// Number of digits, 1 to 20.
    pub width: u8,
    pub digits: Digits,
    /// Order in which the numbers come.
    pub order: Order,
}

/// Texts that are picked in turn.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pick {
    /// File that they are the lines of; `None` if they stand in the template.
    pub file: Option<String>,
    /// The texts: at least one, not all of them empty.
    pub choices: Vec<Vec<u8>>,
}

/// Number of loops in each other that counters have a letter for.
const MOST_LEVELS: usize = 5;

/// Number of parts in each other.
const DEEPEST: usize = 32;

/// Largest width of a number: that of the largest one of 64 bits.
const WIDEST: u8 = 20;

impl Template {
    /// Makes a template of parts. Literals beside each other are joined, and what is empty is left out.
    ///
    /// # Errors
    /// If a counter, pick or stair is in no loop, a stair is in another one of the same loop, a width is not 1 to 20,
    /// there is nothing to pick, or more than 32 parts are in each other: says which.
    pub fn new(parts: Vec<Part>) -> Result<Self, String> {
        check(&parts, &mut Around::default())?;
        Ok(Self { parts: normal(parts) })
    }

    /// Whether the bytes depend on `N`.
    pub fn scales(&self) -> bool {
        self.size(1) != self.size(2) || has_number(&self.parts)
    }

    /// The literals, in the order in which they are written.
    pub fn literals(&self) -> Vec<&[u8]> {
        fn add<'a>(parts: &'a [Part], all: &mut Vec<&'a [u8]>) {
            for part in parts {
                match part {
                    Part::Literal(bytes) => all.push(bytes),
                    part => part.inside().into_iter().for_each(|inner| add(inner, all)),
                }
            }
        }
        let mut all = Vec::new();
        add(&self.parts, &mut all);
        all
    }

    /// The template with another literal in the place of the one with this number, as [`Template::literals`] counts
    /// them. An empty one removes it, and the loops that become empty by it.
    #[must_use]
    pub fn with_literal(&self, number: usize, bytes: &[u8]) -> Self {
        fn replace(parts: &mut [Part], left: &mut usize, bytes: &[u8]) {
            for part in parts {
                match part {
                    Part::Literal(old) => {
                        if *left == 0 {
                            *old = bytes.to_vec();
                        }
                        *left = left.wrapping_sub(1);
                    }
                    Part::Repeat { body, .. } | Part::Stair(body) | Part::Length(_, body) => replace(body, left, bytes),
                    Part::Nest { open, middle, close, .. } => {
                        [open, middle, close].into_iter().for_each(|parts| replace(parts, left, bytes));
                    }
                    Part::Counter(_) | Part::Number(_) | Part::Pick(_) => {}
                }
            }
        }
        let mut parts = self.parts.clone();
        let mut left = number;
        replace(&mut parts, &mut left, bytes);
        Self { parts: normal(parts) }
    }

    /// Rounds of the loops that are in no other loop, in their order.
    pub fn times(&self) -> Vec<Times> {
        fn add(parts: &[Part], all: &mut Vec<Times>) {
            for part in parts {
                match part {
                    Part::Repeat { times, .. } | Part::Nest { times, .. } => all.push(*times),
                    Part::Length(_, body) => add(body, all),
                    _ => {}
                }
            }
        }
        let mut all = Vec::new();
        add(&self.parts, &mut all);
        all
    }

    /// The template with other rounds of the loops that are in no other loop.
    #[must_use]
    pub fn with_times(&self, new: &[Times]) -> Self {
        fn replace(parts: &mut [Part], new: &mut std::slice::Iter<'_, Times>) {
            for part in parts {
                match part {
                    Part::Repeat { times, .. } | Part::Nest { times, .. } => {
                        *times = new.next().copied().unwrap_or(*times);
                    }
                    Part::Length(_, body) => replace(body, new),
                    _ => {}
                }
            }
        }
        let mut parts = self.parts.clone();
        replace(&mut parts, &mut new.iter());
        Self { parts: normal(parts) }
    }

    /// The largest loop whose rounds depend on `N`, as text: the body of a repetition, or what opens and closes.
    /// Empty if there is none.
    pub fn pump(&self) -> String {
        fn largest<'a>(parts: &'a [Part], best: &mut Option<(u64, &'a Part)>) {
            for part in parts {
                match part {
                    Part::Repeat { times, .. } | Part::Nest { times, .. } if times.factor > 0 => {
                        let size = size(std::slice::from_ref(part), 1000);
                        if best.is_none_or(|(most, _)| size > most) {
                            *best = Some((size, part));
                        }
                    }
                    part => part.inside().into_iter().for_each(|inner| largest(inner, best)),
                }
            }
        }
        let mut best = None;
        largest(&self.parts, &mut best);
        match best {
            Some((_, Part::Repeat { body, .. })) => in_words(body),
            Some((_, Part::Nest { open, close, .. })) if close.is_empty() => in_words(open),
            Some((_, Part::Nest { open, close, .. })) => format!("{} ... {}", in_words(open), in_words(close)),
            _ => String::new(),
        }
    }

    /// Description of the number that the bytes depend on, if that is no loop: `the number at byte 163 (2 bytes, the highest first)`.
    pub fn number_in_words(&self) -> Option<String> {
        let mut at = 0;
        for part in &self.parts {
            if let Part::Number(field) = part {
                return Some(format!("the number at byte {at} ({field})"));
            }
            at += size(std::slice::from_ref(part), 1);
        }
        None
    }
}

/// Loops and stairs around a part.
#[derive(Clone, Copy, Default)]
struct Around {
    depth: usize,
    loops: usize,
    is_in_stair: bool,
}

impl Around {
    fn deeper(self, loops: usize, is_in_stair: bool) -> Self {
        Self { depth: self.depth + 1, loops: self.loops + loops, is_in_stair }
    }
}

fn check(parts: &[Part], around: &mut Around) -> Result<(), String> {
    if around.depth > DEEPEST {
        return Err(format!("more than {DEEPEST} parts are in each other"));
    }
    for part in parts {
        match part {
            Part::Literal(_) => {}
            Part::Repeat { body, .. } => check(body, &mut around.deeper(1, false))?,
            Part::Nest { open, middle, close, .. } => {
                check(open, &mut around.deeper(1, false))?;
                check(middle, &mut around.deeper(0, around.is_in_stair))?;
                check(close, &mut around.deeper(1, false))?;
            }
            Part::Stair(_) if around.loops == 0 => return Err("a stair is in no loop: put it into a rep".to_owned()),
            Part::Stair(_) if around.is_in_stair => {
                return Err("a stair is in another one of the same loop: put a rep between them".to_owned());
            }
            Part::Stair(body) => check(body, &mut around.deeper(0, true))?,
            Part::Counter(counter) => {
                if usize::from(counter.level) >= around.loops.min(MOST_LEVELS) {
                    return Err(format!("#{} counts no loop around it", text::letter(counter.level)));
                }
                if !(1..=WIDEST).contains(&counter.width) {
                    return Err(format!("a counter has {} digits: give it 1 to {WIDEST}", counter.width));
                }
            }
            Part::Number(field) => field.check()?,
            Part::Length(..) if around.loops > 0 => return Err("a len is in a loop: put it around the loop".to_owned()),
            Part::Length(length, body) => {
                length.check()?;
                check(body, &mut around.deeper(0, false))?;
            }
            Part::Pick(_) if around.loops == 0 => return Err("a pick is in no loop: put it into a rep".to_owned()),
            Part::Pick(pick) if pick.choices.iter().all(Vec::is_empty) => {
                return Err("a pick has nothing to pick from".to_owned());
            }
            Part::Pick(_) => {}
        }
    }
    Ok(())
}

/// The same parts with literals joined and without what is empty.
fn normal(parts: Vec<Part>) -> Vec<Part> {
    let mut all: Vec<Part> = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            Part::Literal(bytes) if bytes.is_empty() => {}
            Part::Literal(_) => push(&mut all, part),
            Part::Repeat { times, body } => {
                let body = normal(body);
                if !body.is_empty() && times != (Times { factor: 0, plus: 0 }) {
                    all.push(Part::Repeat { times, body });
                }
            }
            Part::Nest { times, open, middle, close } => {
                let (open, close) = (normal(open), normal(close));
                let middle = normal(middle);
                if open.is_empty() && close.is_empty() || times == (Times { factor: 0, plus: 0 }) {
                    middle.into_iter().for_each(|part| push(&mut all, part));
                } else {
                    all.push(Part::Nest { times, open, middle, close });
                }
            }
            Part::Stair(body) => {
                let body = normal(body);
                if !body.is_empty() {
                    all.push(Part::Stair(body));
                }
            }
            Part::Length(length, body) => all.push(Part::Length(length, normal(body))),
            Part::Counter(_) | Part::Number(_) | Part::Pick(_) => all.push(part),
        }
    }
    all
}

/// Appends a part; a literal behind another one is joined to it.
fn push(all: &mut Vec<Part>, part: Part) {
    match (all.last_mut(), part) {
        (Some(Part::Literal(before)), Part::Literal(bytes)) => before.extend(bytes),
        (_, part) => all.push(part),
    }
}

impl std::fmt::Display for Template {
    /// Writes the text form, which [`Template::parse`] reads.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&text::text(&self.parts))
    }
}

/// Longest text in words, in characters.
const LONGEST_IN_WORDS: usize = 40;

/// Parts for people: what changes from round to round is described, and long texts are cut: `"name" and six letters that count
/// up`.
fn in_words(parts: &[Part]) -> String {
    let words: Vec<String> = parts.iter().map(part_in_words).collect();
    match words.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        words => words.concat(),
    }
}

fn part_in_words(part: &Part) -> String {
    match part {
        Part::Counter(counter) => counter.to_string(),
        Part::Pick(Pick { choices, .. }) => {
            let text = |choice: &[u8]| cut(&text::text(&[Part::Literal(choice.to_vec())]), LONGEST_IN_WORDS);
            match choices.as_slice() {
                [only] => text(only),
                [first, second] => format!("{} or {}", text(first), text(second)),
                [first, ..] => format!("{} and the like ({} texts in turn)", text(first), choices.len()),
                [] => String::new(),
            }
        }
        part => cut(&text::text(std::slice::from_ref(part)), LONGEST_IN_WORDS),
    }
}

// Sizes, without making bytes.

impl Template {
    /// Number of bytes at `n`; `u64::MAX` if there are more.
    pub fn size(&self, n: u64) -> u64 {
        size(&self.parts, n)
    }

    /// The largest `N` of at most `bytes` whose size is at most `bytes`, but at least 1. 1 for a template that does not
    /// scale.
    pub fn n_for_size(&self, bytes: u64) -> u64 {
        if !self.scales() {
            return 1;
        }
        let (mut low, mut high) = (1, bytes.max(2));
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            if self.size(middle) <= bytes { low = middle } else { high = middle - 1 }
        }
        low
    }

    /// The largest `N` at which no number loses its first digit; `None` if that is any of 64 bits.
    pub fn largest_n(&self) -> Option<u64> {
        least(&self.parts, Times::N, &|part, _| match part {
            Part::Counter(counter) => u64::from(counter.digits.base()).checked_pow(counter.width.into()),
            Part::Number(field) => field.largest(),
            Part::Length(length, body) => {
                let most = length.largest()?;
                let fits = |n: u64| length.value(size(body, n)) <= most;
                let (mut low, mut high) = (0, most.saturating_add(1).saturating_add(length.plus.unsigned_abs()));
                if fits(high) {
                    // its body does not grow
                    return None;
                }
                while low < high {
                    let middle = low + (high - low).div_ceil(2);
                    if fits(middle) { low = middle } else { high = middle - 1 }
                }
                Some(low)
            }
            _ => None,
        })
    }

    /// The largest `N` up to which every long list gives each of its texts once at most; `None` if there is no such list.
    /// A few texts in turn are a pattern, which goes on.
    pub fn list_end(&self) -> Option<u64> {
        least(&self.parts, Times::N, &|part, rounds| match part {
            Part::Pick(pick) if pick.choices.len() > MOST_IN_TURN => {
                let last = (pick.choices.len() as u64).saturating_sub(rounds.plus);
                last.checked_div(rounds.factor)
            }
            _ => None,
        })
    }
}

/// Texts of a list that are taken in turn without end.
const MOST_IN_TURN: usize = 15;

/// The least of what parts say, with the rounds of the loop around them.
fn least(parts: &[Part], rounds: Times, of: &dyn Fn(&Part, Times) -> Option<u64>) -> Option<u64> {
    let inner = |part: &Part| match part {
        Part::Repeat { times, body } => least(body, *times, of),
        Part::Stair(body) => least(body, rounds, of),
        Part::Nest { times, open, middle, close } => {
            let all = [least(open, *times, of), least(middle, rounds, of), least(close, *times, of)];
            all.into_iter().flatten().min()
        }
        Part::Length(_, body) => [of(part, rounds), least(body, rounds, of)].into_iter().flatten().min(),
        part => of(part, rounds),
    };
    parts.iter().filter_map(inner).min()
}

/// Whether `N` itself stands in parts.
fn has_number(parts: &[Part]) -> bool {
    let is_number = |part: &Part| matches!(part, Part::Number(_));
    parts.iter().any(|part| is_number(part) || part.inside().into_iter().any(has_number))
}

/// Number of bytes of parts outside of loops, at `n`.
fn size(parts: &[Part], n: u64) -> u64 {
    let round = Round::of(parts, n);
    u64::try_from(round.fixed).unwrap_or(u64::MAX)
}

/// Sizes in one round of a loop: what is there in each round, and what depends on its number.
#[derive(Default)]
struct Round<'a> {
    /// Bytes in each round.
    fixed: u128,
    /// Bytes times the number of the round, which is 1 in the first one.
    growing: u128,
    /// Texts that are picked once in each round.
    picks: Vec<&'a Pick>,
    /// Texts that are picked as often as the number of the round says.
    growing_picks: Vec<&'a Pick>,
}

impl<'a> Round<'a> {
    fn of(parts: &'a [Part], n: u64) -> Self {
        let mut round = Self::default();
        round.add(parts, n);
        round
    }

    fn add(&mut self, parts: &'a [Part], n: u64) {
        for part in parts {
            let more = match part {
                Part::Literal(bytes) => bytes.len() as u128,
                Part::Counter(counter) => counter.width.into(),
                Part::Number(field) => field.digits_of(n).into(),
                Part::Length(length, body) => {
                    let inner = size(body, n);
                    u128::from(inner) + u128::from(length.digits_of(inner))
                }
                Part::Repeat { times, body } => Self::of(body, n).over(times.at(n)),
                Part::Nest { times, open, middle, close } => {
                    self.add(middle, n);
                    let times = times.at(n);
                    Self::of(open, n).over(times).saturating_add(Self::of(close, n).over(times))
                }
                Part::Stair(body) => {
                    let inner = Self::of(body, n);
                    self.growing = self.growing.saturating_add(inner.fixed);
                    self.growing_picks.extend(inner.picks);
                    0
                }
                Part::Pick(pick) => {
                    self.picks.push(pick);
                    0
                }
            };
            self.fixed = self.fixed.saturating_add(more);
        }
    }

    /// Bytes of all of `times` rounds.
    fn over(&self, times: u64) -> u128 {
        let times = u128::from(times);
        let mut sum = self.fixed.saturating_mul(times);
        let rounds = times * (times + 1) / 2;
        sum = sum.saturating_add(self.growing.saturating_mul(rounds));
        for (picks, is_growing) in [(&self.picks, false), (&self.growing_picks, true)] {
            for pick in picks {
                let cycle = pick.choices.len() as u128;
                for (place, choice) in pick.choices.iter().enumerate() {
                    let place = place as u128;
                    // rounds that pick it: place + 1, place + 1 + cycle, ...
                    let often = if times > place { (times - place - 1) / cycle + 1 } else { 0 };
                    let weight = if is_growing {
                        (place + 1)
                            .saturating_mul(often)
                            .saturating_add(cycle.saturating_mul(often.saturating_mul(often.saturating_sub(1)) / 2))
                    } else {
                        often
                    };
                    sum = sum.saturating_add((choice.len() as u128).saturating_mul(weight));
                }
            }
        }
        sum
    }
}

// Bytes at `N`.

impl Template {
    /// The bytes at `n`.
    ///
    /// # Errors
    /// The size if it is more than `most` bytes.
    pub fn render(&self, n: u64, most: u64) -> Result<Vec<u8>, u64> {
        let bytes = self.size(n);
        if bytes > most {
            return Err(bytes);
        }
        let mut writer = Writer { n, rounds: Vec::new(), bytes: Vec::with_capacity(bytes as usize) };
        writer.write(&self.parts);
        Ok(writer.bytes)
    }
}

/// A loop that is being written.
struct Loop {
    /// Number of rounds.
    times: u64,
    /// Number of the round, from 0.
    round: u64,
    /// Orders of shuffles by seed, those that were needed.
    shuffles: Vec<(u64, Vec<u64>)>,
}

struct Writer {
    n: u64,
    rounds: Vec<Loop>,
    bytes: Vec<u8>,
}

impl Writer {
    fn write(&mut self, parts: &[Part]) {
        for part in parts {
            match part {
                Part::Literal(bytes) => self.bytes.extend(bytes),
                Part::Repeat { times, body } => self.repeat(body, times.at(self.n), false),
                Part::Nest { times, open, middle, close } => {
                    self.repeat(open, times.at(self.n), false);
                    self.write(middle);
                    self.repeat(close, times.at(self.n), true);
                }
                Part::Stair(body) => {
                    let copies = self.rounds.last().map_or(0, |last| last.round + 1);
                    let start = self.bytes.len();
                    self.write(body);
                    self.copy_from(start, copies);
                }
                Part::Counter(counter) => self.count(counter),
                Part::Number(field) => field.write(self.n, &mut self.bytes),
                Part::Length(length, body) => {
                    length.write(size(body, self.n), &mut self.bytes);
                    self.write(body);
                }
                Part::Pick(pick) => {
                    let round = self.rounds.last().map_or(0, |last| last.round);
                    self.bytes.extend(&pick.choices[(round % pick.choices.len() as u64) as usize]);
                }
            }
        }
    }

    fn repeat(&mut self, body: &[Part], times: u64, is_backwards: bool) {
        // rounds without bytes may be very many
        if times == 0 || Round::of(body, self.n).over(times) == 0 {
            return;
        }
        let start = self.bytes.len();
        // rounds that are alike are written once; what is around them has to keep its level
        let differs = depends_on_round(body, 0);
        let written = if differs { times } else { 1 };
        self.rounds.push(Loop { times, round: 0, shuffles: Vec::new() });
        for round in 0..written {
            if let Some(last) = self.rounds.last_mut() {
                last.round = if is_backwards { times - 1 - round } else { round };
            }
            self.write(body);
        }
        self.rounds.pop();
        if !differs {
            self.copy_from(start, times);
        }
    }

    /// Makes the bytes from `start` on stand `copies` times.
    fn copy_from(&mut self, start: usize, copies: u64) {
        let end = self.bytes.len();
        for _ in 1..copies {
            self.bytes.extend_from_within(start..end);
        }
    }

    fn count(&mut self, counter: &Counter) {
        let Some(place) = self.rounds.len().checked_sub(1 + usize::from(counter.level)) else { return };
        let one = &mut self.rounds[place];
        let number = match counter.order {
            Order::Up => one.round,
            Order::Down => one.times - 1 - one.round,
            Order::Shuffle(seed) => {
                let known = one.shuffles.iter().position(|(of, _)| *of == seed).unwrap_or_else(|| {
                    one.shuffles.push((seed, shuffled(one.times, seed)));
                    one.shuffles.len() - 1
                });
                one.shuffles[known].1[one.round as usize]
            }
        };
        counter.digits.write(number, counter.width, &mut self.bytes);
    }
}

/// Whether parts differ between the rounds of the loop that is `level` loops around them.
pub(super) fn depends_on_round(parts: &[Part], level: u8) -> bool {
    parts.iter().any(|part| match part {
        Part::Literal(_) | Part::Number(_) => false,
        Part::Counter(counter) => counter.level == level,
        Part::Pick(_) | Part::Stair(_) if level == 0 => true,
        Part::Pick(_) => false,
        Part::Stair(body) | Part::Length(_, body) => depends_on_round(body, level),
        Part::Repeat { body, .. } => depends_on_round(body, level + 1),
        Part::Nest { open, middle, close, .. } => {
            depends_on_round(middle, level) || depends_on_round(open, level + 1) || depends_on_round(close, level + 1)
        }
    })
}

#[cfg(test)]
mod tests;
