//! Who is to be credited with an entry: the operators that made it, and the tokens of the dictionary that are new in it.

use std::collections::BTreeSet;

use memchr::memmem;
use quagmire_base::{atomic::write_whole, error::Result, files};
use quagmire_results::summary::{Dictionary, Token};
use quagmire_search::{EntryId, corpus::search_state::SearchState, stages::operators::TOKENS_NAME};

use super::Recorder;

impl Recorder<'_> {
    /// Adds a find to each of the rules that made an entry, once for each rule.
    pub(super) fn credit(&mut self, rules: &[u16]) {
        for &rule in rules.iter().collect::<BTreeSet<_>>() {
            self.record.rules[usize::from(rule)].coverage_increases += 1;
            self.record.yields.credit(rule.into());
        }
    }

    /// Adds an entry to each token that is oftener in it than in its parent, if tokens were among the operators between
    /// them. Of tokens in each other, the longest.
    pub(super) fn credit_tokens(&mut self, parent: EntryId, rules: &[u16], bytes: &[u8], search: &SearchState) {
        let is_tokens =
            |&rule: &u16| self.record.rules.get(usize::from(rule)).is_some_and(|rule| rule.label == TOKENS_NAME);
        if !rules.iter().any(is_tokens) {
            return;
        }
        // a parent that somebody has deleted tells nothing
        let Ok(before) = files::read(&self.path_of(parent), u64::MAX) else { return };
        for token in new_tokens(self.tokens.iter().chain(&search.words), &before, bytes) {
            *self.record.tokens.entry(token.to_vec()).or_default() += 1;
        }
    }

    /// Tokens that are in entries, those in most of them first; `None` without a dictionary.
    pub(super) fn dictionary(&self, search: &SearchState) -> Option<Dictionary> {
        let mut useful: Vec<Token> =
            self.record.tokens.iter().map(|(token, &entries)| Token { token: quoted(token), entries }).collect();
        useful.sort_by_key(|token| std::cmp::Reverse(token.entries));
        let tokens = (self.tokens.len() + search.words.len()) as u64;
        (tokens > 0).then_some(Dictionary { tokens, useful })
    }

    /// Writes these tokens as a dictionary for `--dict`; nothing if there are none.
    pub(super) fn write_dictionary(&self, search: &SearchState) -> Result<()> {
        let Some(dictionary) = self.dictionary(search).filter(|dictionary| !dictionary.useful.is_empty()) else {
            return Ok(());
        };
        let lines: String = dictionary
            .useful
            .iter()
            .map(|token| format!("# {} entries\n\"{}\"\n", token.entries, token.token))
            .collect();
        write_whole(&self.folder().dictionary(), lines.as_bytes())
    }
}

/// Tokens that `after` has oftener than `before`, without those that are part of another one of them.
fn new_tokens<'w>(tokens: impl Iterator<Item = &'w Vec<u8>>, before: &[u8], after: &[u8]) -> Vec<&'w [u8]> {
    let number = |token: &[u8], bytes: &[u8]| memmem::find_iter(bytes, token).count();
    let is_new = |token: &&[u8]| {
        let now = number(token, after);
        now > 0 && now > number(token, before)
    };
    let new: Vec<&[u8]> = tokens.map(Vec::as_slice).filter(is_new).collect();
    let is_part =
        |token: &&[u8]| new.iter().any(|other| other.len() > token.len() && memmem::find(other, token).is_some());
    new.iter().copied().filter(|token| !is_part(token)).collect()
}

/// A token as dictionaries of AFL and libFuzzer have it between quotation marks.
fn quoted(token: &[u8]) -> String {
    let one = |&byte: &u8| match byte {
        b'"' | b'\\' => format!("\\{}", char::from(byte)),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    };
    token.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_a_mutant_has_oftener_than_its_parent_are_new_the_longest_of_each() {
        let tokens = ["<!", "<!DOC", "x", "end"].map(|token| token.as_bytes().to_vec());
        assert_eq!(new_tokens(tokens.iter(), b"<!DOC end", b"<!DOC end <!DOC x"), [&b"<!DOC"[..], b"x"]);
        assert!(new_tokens(tokens.iter(), b"x", b"x").is_empty());
    }

    #[test]
    fn words_are_quoted_as_dictionaries_have_them() {
        assert_eq!(quoted(b"a\"b\\\x00\xff~"), "a\\\"b\\\\\\x00\\xff~");
    }
}
