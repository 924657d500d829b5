//! Custom rules R.1, R.2, ... of the user, which replace matches of a regular expression.
//!
//! Expressions match bytes: `.` and `\w` are single bytes, unless the expression needs Unicode (`\p{..}`, classes of
//! letters beyond ASCII). `^` and `$` match at the ends of lines.

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

/// Family of custom rules: their labels are `R.1` and so on.
pub(crate) const FAMILY: &str = "R";

/// Number of bytes that a search looks at first.
///
/// An expression such as `a(.*b)?` reads everything that follows before it matches one byte, at each match. If it
/// matches within the bytes looked at, the search stops there, which reduces hours to milliseconds on a megabyte.
const LOOKAHEAD: usize = 4096;

/// Maximum number of characters of a pattern or replacement in the rule's name.
const SHOWN: usize = 24;

/// A rule that replaces matches of a pattern.
///
/// One application replaces one match in a random line in half of the cases, and otherwise one to all matches, a
/// log-uniformly drawn number of them at random.
#[derive(Debug)]
pub struct CustomRule {
    label: String,
    name: String,
    pattern: Regex,
    replacement: Replacement,
}

impl CustomRule {
    /// Creates the rule `R.number`. Backslashes may be doubled, as in Perun's documentation: if all of them are, each
    /// pair counts as one.
    ///
    /// # Errors
    /// If the pattern or the replacement is invalid: a message with the remedy.
    pub fn new(number: usize, pattern: &str, replacement: &str) -> Result<Self, String> {
        let (pattern, replacement) = (undouble(pattern), undouble(replacement));
        let name = format!("{} -> {}", in_one_line(&pattern, SHOWN), in_one_line(&replacement, SHOWN));
        let pattern = compile(&pattern).map_err(|error| format!("{}: correct it", regex_reason(&error)))?;
        let replacement = Replacement::parse(&replacement, &pattern)?;
        Ok(Self { label: format!("{FAMILY}.{number}"), name, pattern, replacement })
    }

    /// The first match at or after `at`, looking at no more bytes than needed.
    fn match_at(&self, bytes: &[u8], at: usize) -> Option<Match> {
        let mut lookahead = LOOKAHEAD;
        loop {
            let seen = bytes.len().min(at.saturating_add(lookahead));
            let found = self.pattern.find_at(&bytes[..seen], at);
            if seen == bytes.len() {
                return found.map(|found| Match { range: found.range(), seen });
            }
            // a match that ends where the bytes are cut off may continue there, or not be one
            if let Some(found) = found.filter(|found| found.end() < seen) {
                return Some(Match { range: found.range(), seen });
            }
            lookahead = lookahead.saturating_mul(4);
        }
    }

    /// All matches from `at` on, without overlaps.
    fn matches<'a>(&'a self, bytes: &'a [u8], mut at: usize) -> impl Iterator<Item = Match> + use<'a> {
        let mut last_end = None;
        std::iter::from_fn(move || {
            while at <= bytes.len() {
                let found = self.match_at(bytes, at)?;
                at = found.range.end + usize::from(found.range.is_empty());
                // no empty match directly after another match, as in other regex engines
                if !found.range.is_empty() || last_end != Some(found.range.end) {
                    last_end = Some(found.range.end);
                    return Some(found);
                }
            }
            None
        })
    }

    /// The matches that begin in the line at `start`; if there are none, the next match, or else the first one of the
    /// input.
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

    /// All matches, those from `start` on first; at most [`MOST_REPEATS`].
    fn all_matches(&self, bytes: &[u8], start: usize) -> Vec<Match> {
        let mut found: Vec<Match> = self.matches(bytes, start).take(MOST_REPEATS).collect();
        let before = self.matches(bytes, 0).take_while(|next| next.range.start < start && next.range.end <= start);
        found.extend(before.take(MOST_REPEATS - found.len()));
        found
    }

    fn replace(&self, bytes: &mut Vec<u8>, limit: usize, rand: &mut StdRand) -> bool {
        // matches are searched from the start of a line
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

    /// Replaces `k` random matches of `found`; fewer if the others change nothing or exceed the limit.
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
        // an empty input is a dead end, as for the deleting rules
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
        // replacements can cancel out
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

/// A match, and the number of bytes that the search looked at to find it.
#[derive(Clone, Debug)]
struct Match {
    range: Range<usize>,
    seen: usize,
}

/// Compiles a pattern for bytes; with Unicode only if it is invalid without.
fn compile(pattern: &str) -> Result<Regex, regex::Error> {
    let build = |unicode| RegexBuilder::new(pattern).multi_line(true).unicode(unicode).build();
    build(false).or_else(|_| build(true))
}

/// Halves the backslashes of a text in which all are doubled.
fn undouble(text: &str) -> Cow<'_, str> {
    let is_doubled = text.split(|c| c != '\\').all(|backslashes| backslashes.len().is_multiple_of(2));
    if is_doubled { Cow::Owned(text.replace("\\\\", "\\")) } else { Cow::Borrowed(text) }
}

/// Shows a text in one line of at most about `most` characters, with control characters escaped.
fn in_one_line(text: &str, most: usize) -> String {
    let dots = if text.chars().count() > most { "..." } else { "" };
    let shown = text.chars().take(most - dots.len());
    let shown: String =
        shown.flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect();
    shown + dots
}

#[cfg(test)]
mod tests;
