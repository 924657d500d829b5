//! Names that are most like another one, for errors.

use std::collections::BTreeSet;

/// Number of names in an error.
const LISTED: usize = 4;

/// The names that are most like `wanted`: those that contain it first, and then by the number of characters to insert, delete
/// or replace. Names of functions count without scopes and parameters.
pub(super) fn nearest(names: &BTreeSet<String>, wanted: &str) -> Vec<String> {
    let wanted = bare(wanted).to_lowercase();
    let mut ranked: Vec<_> = names
        .iter()
        .map(|name| {
            let short = bare(name).to_lowercase();
            let contains = !wanted.is_empty() && short.contains(&wanted);
            (!contains, distance(&short, &wanted), name)
        })
        .collect();
    ranked.sort();
    ranked.into_iter().take(LISTED).map(|(.., name)| name.clone()).collect()
}

/// Name of a function without scopes and parameters.
fn bare(name: &str) -> &str {
    let name = name.split(['(', '<']).next().unwrap_or(name);
    name.rsplit("::").next().unwrap_or(name)
}

/// Levenshtein's distance.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (above, left) in one.chars().zip(1..) {
        let mut diagonal = std::mem::replace(&mut row[0], left);
        for (at, &character) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(character != above);
            diagonal = row[at + 1];
            row[at + 1] = replaced.min(row[at] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_is_the_number_of_changed_characters() {
        assert_eq!(
            [("kitten", "sitting"), ("", "abc"), ("same", "same"), ("ab", "ba")].map(|(a, b)| distance(a, b)),
            [3, 3, 0, 2]
        );
    }

    #[test]
    fn names_that_contain_the_other_come_first_and_then_the_ones_with_few_changes() {
        let names = ["main", "text::parse(char const*)", "parse_all", "pause", "zzzzzzzzzz", "unrelated"];
        let names: BTreeSet<String> = names.map(str::to_owned).into();
        assert_eq!(nearest(&names, "Parse"), ["text::parse(char const*)", "parse_all", "pause", "main"]);
        assert_eq!(nearest(&names, "x::prase")[..2], ["pause", "text::parse(char const*)"]);
    }
}
