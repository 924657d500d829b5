//! Rules of the user: R.1, R.2, ... replace what matches a regular expression.
//!
//! Expressions see bytes: `.` and `\w` are single ones, unless the expression uses what only Unicode has (`\p{..}`, classes
//! of letters beyond ASCII). `^` and `$` are the ends of lines.

mod file;
mod replacement;

use std::borrow::Cow;
use std::ops::Range;

use libafl_bolts::rands::{Rand, StdRand};
use memchr::{memchr, memrchr};
use regex::bytes::{Regex, RegexBuilder};

use self::replacement::Replacement;
use super::draw::{MOST_REPEATS, log_uniform};
use super::rule::{Rule, within};
use quagmire_base::error::regex_reason;

pub use file::load;

/// The family of custom rules: the labels are `R.1` and so on.
pub(crate) const FAMILY: &str = "R";

/// How far a search looks at first, in bytes.
///
/// An expression such as `a(.*b)?` reads all that follows before it knows that it matched one byte, for each match. Where
/// it matches within what it looks at, it goes no further: on a megabyte, hours become milliseconds.
const LOOKAHEAD: usize = 4096;

/// How many characters of a pattern and of a replacement its name shows.
const SHOWN: usize = 24;

/// A pattern and what its matches are replaced by.
///
/// One application replaces one match of a random line in half of the cases, otherwise one to all matches, drawn
/// log-uniformly and at random.
#[derive(Debug)]
pub struct CustomRule {
    label: String,
    name: String,
    pattern: Regex,
    replacement: Replacement,
}

impl CustomRule {
    /// The rule `R.number`. Backslashes may be doubled, as Perun's documentation has them: where all of them are, two count as one.
    ///
    /// # Errors
    /// What is wrong with the pattern or the replacement, and the remedy.
    pub fn new(number: usize, pattern: &str, replacement: &str) -> Result<Self, String> {
        let (pattern, replacement) = (undouble(pattern), undouble(replacement));
        let name = format!("{} -> {}", in_one_line(&pattern, SHOWN), in_one_line(&replacement, SHOWN));
        let pattern = compile(&pattern).map_err(|error| format!("{}: correct it", regex_reason(&error)))?;
        let replacement = Replacement::parse(&replacement, &pattern)?;
        Ok(Self { label: format!("{FAMILY}.{number}"), name, pattern, replacement })
    }

    /// The match at or after `at`, looked for no further than needed.
    fn match_at(&self, bytes: &[u8], at: usize) -> Option<Match> {
        let mut lookahead = LOOKAHEAD;
        loop {
            let seen = bytes.len().min(at.saturating_add(lookahead));
            let found = self.pattern.find_at(&bytes[..seen], at);
            if seen == bytes.len() {
                return found.map(|found| Match { range: found.range(), seen });
            }
            // one that ends where the bytes seem to end may go on there, or not be one
            if let Some(found) = found.filter(|found| found.end() < seen) {
                return Some(Match { range: found.range(), seen });
            }
            lookahead = lookahead.saturating_mul(4);
        }
    }

    /// All matches from `at` on. They do not overlap.
    fn matches<'a>(&'a self, bytes: &'a [u8], mut at: usize) -> impl Iterator<Item = Match> + use<'a> {
        let mut last_end = None;
        std::iter::from_fn(move || {
            while at <= bytes.len() {
                let found = self.match_at(bytes, at)?;
                at = found.range.end + usize::from(found.range.is_empty());
                // as everywhere, no empty match right behind another one
                if !found.range.is_empty() || last_end != Some(found.range.end) {
                    last_end = Some(found.range.end);
                    return Some(found);
                }
            }
            None
        })
    }

    /// The matches that begin in the line at `start`; if there are none, the next one, or the first of all.
    fn matches_in_line(&self, bytes: &[u8], start: usize) -> Vec<Match> {
        let end = memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |length| start + length);
        let mut found = Vec::new();
        for next in self.matches(bytes, start).take(MOST_REPEATS) {
            let is_in_line = next.range.start <= end;
            if is_in_line || found.is_empty() {
                found.push(next);
            }
            if !is_in_line {
                break;
            }
        }
        if found.is_empty() {
            found.extend(self.matches(bytes, 0).next());
        }
        found
    }

    /// All matches, those from `start` on first; no more than [`MOST_REPEATS`].
    fn all_matches(&self, bytes: &[u8], start: usize) -> Vec<Match> {
        let mut found: Vec<Match> = self.matches(bytes, start).take(MOST_REPEATS).collect();
        let before = self.matches(bytes, 0).take_while(|next| next.range.start < start && next.range.end <= start);
        found.extend(before.take(MOST_REPEATS - found.len()));
        found
    }

    fn replace(&self, bytes: &mut Vec<u8>, limit: usize, rand: &mut StdRand) -> bool {
        // matches are those that a search from the start of a line finds
        let at = rand.below_or_zero(bytes.len() + 1);
        let start = memrchr(b'\n', &bytes[..at]).map_or(0, |newline| newline + 1);
        if rand.coinflip(0.5) {
            let found = self.matches_in_line(bytes, start);
            return !found.is_empty()
                && (self.replace_some(found, 1, bytes, limit, rand) || {
                    let found = self.all_matches(bytes, start);
                    self.replace_some(found, 1, bytes, limit, rand)
                });
        }
        let found = self.all_matches(bytes, start);
        let k = log_uniform(rand, found.len());
        self.replace_some(found, k, bytes, limit, rand)
    }

    /// Replaces `k` random ones of `found`, fewer if the others do not change anything or would become too long.
    fn replace_some(
        &self,
        mut found: Vec<Match>,
        k: usize,
        bytes: &mut Vec<u8>,
        limit: usize,
        rand: &mut StdRand,
    ) -> bool {
        let mut groups = self.pattern.capture_locations();
        let mut written = Vec::new();
        let mut edits: Vec<(Range<usize>, Range<usize>)> = Vec::with_capacity(k);
        let mut size = bytes.len();
        for place in 0..found.len() {
            if edits.len() == k {
                break;
            }
            let other = place + rand.below_or_zero(found.len() - place);
            found.swap(place, other);
            let Match { range, seen } = found[place].clone();
            if self.replacement.needs_groups() {
                self.pattern.captures_read_at(&mut groups, &bytes[..seen], range.start);
            }
            let new_size = size - range.len() + self.replacement.len(&range, &groups);
            if new_size > limit {
                continue;
            }
            let from = written.len();
            self.replacement.expand(bytes, &range, &groups, &mut written);
            if written[from..] == bytes[range.clone()] {
                written.truncate(from);
                continue;
            }
            size = new_size;
            edits.push((range, from..written.len()));
        }
        // an input without a byte is a dead end, as for the rules that delete
        if edits.is_empty() || size == 0 {
            return false;
        }
        edits.sort_unstable_by_key(|(range, _)| (range.start, range.end));
        let mut changed = Vec::with_capacity(size);
        let mut kept = 0;
        for (range, new) in edits {
            changed.extend_from_slice(&bytes[kept..range.start]);
            changed.extend_from_slice(&written[new]);
            kept = range.end;
        }
        changed.extend_from_slice(&bytes[kept..]);
        // changes can undo each other
        let differs = changed != *bytes;
        *bytes = changed;
        differs
    }
}

impl Rule for CustomRule {
    fn label(&self) -> &str {
        &self.label
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn aim(&self) -> &str {
        "what its author has in mind"
    }

    fn apply(&self, bytes: &mut Vec<u8>, limit: usize, rand: &mut StdRand) -> bool {
        within(bytes, limit, |bytes| self.replace(bytes, limit, rand))
    }
}

/// Where a match is, and how many of the bytes were looked at to find it.
#[derive(Clone, Debug)]
struct Match {
    range: Range<usize>,
    seen: usize,
}

/// With Unicode only if it does not go without: bytes need not be text.
fn compile(pattern: &str) -> Result<Regex, regex::Error> {
    let build = |unicode| RegexBuilder::new(pattern).multi_line(true).unicode(unicode).build();
    build(false).or_else(|_| build(true))
}

/// A text in which all backslashes are doubled, with single ones.
fn undouble(text: &str) -> Cow<'_, str> {
    let is_doubled = text.split(|c| c != '\\').all(|backslashes| backslashes.len().is_multiple_of(2));
    if is_doubled { Cow::Owned(text.replace("\\\\", "\\")) } else { Cow::Borrowed(text) }
}

/// A text in one line of at most about `most` characters, without what a terminal takes for commands.
fn in_one_line(text: &str, most: usize) -> String {
    let dots = if text.chars().count() > most { "..." } else { "" };
    let shown = text.chars().take(most - dots.len());
    let shown: String =
        shown.flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect();
    shown + dots
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
