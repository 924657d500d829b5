//! The rule for tags.

use std::ops::Range;

use libafl_bolts::rands::{Rand, StdRand};

use super::keep_some;
use super::lexer::TagKind;
use super::scan::{Tag, tags};
use crate::edit::delete_all;
use crate::rule::rule;

rule! {
    /// Removes tags and keeps the contents of elements. A third of the calls remove one tag, the others several, up
    /// to all of them: closing tags only, often all from one on, which makes the nesting deep; opening ones only; or
    /// any; sometimes only those of one name.
    REMOVE_TAG: "D.4" remove_tag, aims at "deep recursion, elements that are never closed", b"<a><b>text</b></a>" => b"<a><b>text</a>"
}

fn remove_tag(bytes: &mut Vec<u8>, _limit: usize, rand: &mut StdRand) -> bool {
    let mut tags = tags(bytes);
    if tags.is_empty() {
        return false;
    }
    if rand.coinflip(1.0 / 3.0) {
        let one = tags[rand.below_or_zero(tags.len())].range.clone();
        return delete_all(bytes, &[one]);
    }
    let kind = match rand.below_or_zero(8) {
        0..=3 => Some(TagKind::Closing),
        4..=5 => Some(TagKind::Opening),
        _ => None,
    };
    let is_wanted = |tag: &Tag| kind.is_none_or(|kind| tag.kind == kind);
    if tags.iter().any(is_wanted) {
        tags.retain(is_wanted);
    }
    if rand.coinflip(0.25) {
        let name = bytes[tags[rand.below_or_zero(tags.len())].name.clone()].to_vec();
        tags.retain(|tag| bytes[tag.name.clone()] == name);
    }
    let mut ranges: Vec<Range<usize>> = tags.into_iter().map(|tag| tag.range).collect();
    if kind == Some(TagKind::Closing) && rand.coinflip(0.5) {
        // all from here on: elements opened before are never closed, and a parser recurses as deeply as there are
        // tags
        ranges.drain(..rand.below_or_zero(ranges.len()));
    } else {
        keep_some(&mut ranges, rand);
    }
    delete_all(bytes, &ranges)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::tests::{SEEDS, always_made};

    fn made(document: &str) -> BTreeSet<String> {
        let made = crate::tests::made(&REMOVE_TAG, document.as_bytes(), 10_000);
        made.into_iter().map(|bytes| String::from_utf8(bytes).unwrap()).collect()
    }

    #[test]
    fn one_tag_goes_or_all_of_a_kind_or_of_a_name() {
        let made = made("<a>1<b>2</b>3<b>4</b>5<c/></a>");
        for expected in [
            "<a>12</b>3<b>4</b>5<c/></a>",
            "<a>1<b>2</b>3<b>4</b>5</a>",
            "<a>1<b>23<b>45<c/>",
            "12</b>34</b>5<c/></a>",
            "<a>1<b>23<b>45<c/></a>",
            "<a>12345<c/></a>",
            "12345",
        ] {
            assert!(made.contains(expected), "{expected} in {made:?}");
        }
    }

    #[test]
    fn only_tags_go() {
        for made in made("<!-- <a> --><a x='<b>'>1 < 2<b y=\">\">3</b><![CDATA[<a>]]><?a <a> ?></a>") {
            for kept in ["<!-- <a> -->", "1 < 2", "3", "<![CDATA[<a>]]>", "<?a <a> ?>"] {
                assert!(made.contains(kept), "{kept} in {made}");
            }
        }
        for nothing in ["", "no tag", "a < b && c > d", "<a", "<!-- <a> -->", "<!DOCTYPE a>", "<a>"] {
            assert_eq!(made(nothing), BTreeSet::new());
        }
    }

    #[test]
    fn a_long_part_of_a_document_often_loses_all_of_its_closing_tags() {
        let deepest = |bytes: &[u8]| {
            let mut depths = tags(bytes).into_iter().scan(0_i32, |depth, tag| {
                *depth += if tag.kind == TagKind::Closing { -1 } else { 1 };
                Some(*depth)
            });
            depths.by_ref().max().unwrap_or(0)
        };
        let all = always_made(&REMOVE_TAG, &b"<i>x</i>".repeat(1000), 10_000);
        let deep = all.iter().filter(|bytes| deepest(bytes) >= 100).count();
        assert!((SEEDS * 6 / 100..SEEDS / 4).contains(&deep), "{deep} are a hundred deep");
    }
}
