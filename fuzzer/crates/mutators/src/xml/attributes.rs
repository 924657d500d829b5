//! Rules for attributes.
//!
//! Half of the calls change one attribute, the others several: of any name, or in half of these of one name.

use std::ops::Range;

use libafl_bolts::rands::{Rand, StdRand};

use super::keep_some;
use super::lexer::{Attribute, separates};
use super::scan::{Tag, tags};
use crate::edit::delete_all;
use crate::rule::rule;

rule! {
    /// Removes attributes, with the blanks before them if their neighbours stay separated.
    REMOVE_ATTRIBUTE: "D.1" remove_attribute, aims at "defaults, searches for what is not there", br#"<book id="bk106" pages="457">"# => br#"<book id="bk106">"#
}

fn remove_attribute(bytes: &mut Vec<u8>, _limit: usize, rand: &mut StdRand) -> bool {
    remove(bytes, rand, |bytes, attribute| {
        let Range { start, end } = attribute.range();
        let is_apart = bytes.get(end).is_none_or(|&byte| separates(byte) || matches!(byte, b'>' | b'/'));
        let blanks = bytes[..start].iter().rev().take_while(|&&byte| is_apart && separates(byte)).count();
        Some(start - blanks..end)
    })
}

rule! {
    /// Removes the names of attributes and the `=`; the values stay as they are.
    REMOVE_ATTRIBUTE_NAME: "D.2" remove_attribute_name, aims at "recovery from errors", br#"<book id="bk106" pages="457">"# => br#"<book id="bk106" "457">"#
}

fn remove_attribute_name(bytes: &mut Vec<u8>, _limit: usize, rand: &mut StdRand) -> bool {
    remove(bytes, rand, |_, attribute| {
        let value = attribute.value.as_ref().filter(|value| !value.is_empty())?;
        Some(attribute.name.start..value.start)
    })
}

rule! {
    /// Removes the values of attributes; their quotes stay.
    REMOVE_ATTRIBUTE_VALUE: "D.3" remove_attribute_value, aims at "equal keys, empty strings", br#"<book id="bk106" pages="457">"# => br#"<book id="bk106" pages="">"#
}

fn remove_attribute_value(bytes: &mut Vec<u8>, _limit: usize, rand: &mut StdRand) -> bool {
    remove(bytes, rand, |bytes, attribute| attribute.content(bytes))
}

/// Number of random tags tried before scanning for the next one that fits.
const DRAWS: usize = 8;

/// Deletes the part of random attributes that `part` returns.
fn remove(bytes: &mut Vec<u8>, rand: &mut StdRand, part: impl Fn(&[u8], &Attribute) -> Option<Range<usize>>) -> bool {
    let tags = tags(bytes);
    let parts_in = |tag: &Tag| {
        let attributes = tag.attributes(bytes);
        attributes
            .filter_map(|attribute| {
                let part = part(bytes, &attribute).filter(|part| !part.is_empty())?;
                Some((part, attribute.name))
            })
            .collect::<Vec<_>>()
    };
    let Some(mut parts) = random_tag(&tags, rand, |tag| Some(parts_in(tag)).filter(|parts| !parts.is_empty())) else {
        return false;
    };
    let one = parts.swap_remove(rand.below_or_zero(parts.len()));
    if rand.coinflip(0.5) {
        return delete_all(bytes, &[one.0]);
    }
    let of_one_name = rand.coinflip(0.5);
    let all = tags.iter().filter(|tag| tag.has_attributes).flat_map(parts_in);
    let mut parts: Vec<Range<usize>> = all
        .filter(|(_, name)| !of_one_name || bytes[name.clone()] == bytes[one.1.clone()])
        .map(|(part, _)| part)
        .collect();
    keep_some(&mut parts, rand);
    delete_all(bytes, &parts)
}

/// Result of `fits` for a random tag with attributes, or else for the first one after it that fits.
fn random_tag<T>(tags: &[Tag], rand: &mut StdRand, fits: impl Fn(&Tag) -> Option<T>) -> Option<T> {
    let fits = |tag: &Tag| if tag.has_attributes { fits(tag) } else { None };
    let drawn = (0..DRAWS).find_map(|_| fits(tags.get(rand.below_or_zero(tags.len()))?));
    drawn.or_else(|| {
        let (before, after) = tags.split_at(rand.below_or_zero(tags.len()));
        after.iter().chain(before).find_map(fits)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::rule::BuiltIn;

    /// All results that the rule produces from a document.
    fn made(rule: &BuiltIn, document: &str) -> BTreeSet<String> {
        let made = crate::tests::made(rule, document.as_bytes(), 10_000);
        made.into_iter().map(|bytes| String::from_utf8(bytes).unwrap()).collect()
    }

    #[track_caller]
    fn makes(rule: &BuiltIn, document: &str, expected: &[&str]) {
        assert_eq!(made(rule, document), expected.iter().map(|text| (*text).to_owned()).collect());
    }

    #[test]
    fn each_way_to_write_an_attribute_is_known() {
        let tag = "<a:b-c.d x = '1'\n\ty:z=2 checked -k.l=\">\"/>";
        let one = made(&REMOVE_ATTRIBUTE, tag);
        for expected in [
            "<a:b-c.d\n\ty:z=2 checked -k.l=\">\"/>",
            "<a:b-c.d x = '1' checked -k.l=\">\"/>",
            "<a:b-c.d x = '1'\n\ty:z=2 -k.l=\">\"/>",
            "<a:b-c.d x = '1'\n\ty:z=2 checked/>",
            "<a:b-c.d/>",
        ] {
            assert!(one.contains(expected), "{expected}");
        }
        let names = made(&REMOVE_ATTRIBUTE_NAME, tag);
        assert!(names.contains("<a:b-c.d '1'\n\t2 checked \">\"/>"));
        assert!(names.contains("<a:b-c.d x = '1'\n\t2 checked -k.l=\">\"/>"));
        assert!(names.iter().all(|made| made.contains("checked")));
        let values = made(&REMOVE_ATTRIBUTE_VALUE, tag);
        assert!(values.contains("<a:b-c.d x = ''\n\ty:z= checked -k.l=\"\"/>"));
        assert!(values.contains("<a:b-c.d x = ''\n\ty:z=2 checked -k.l=\">\"/>"));
    }

    #[test]
    fn what_is_left_stays_apart() {
        makes(
            &REMOVE_ATTRIBUTE,
            "<a b='1'c='2' d>",
            &["<a c='2' d>", "<a b='1' d>", "<a b='1'c='2'>", "<a  d>", "<a c='2'>", "<a b='1'>", "<a >"],
        );
        makes(&REMOVE_ATTRIBUTE, "<a b=1 />", &["<a />"]);
        makes(&REMOVE_ATTRIBUTE, "<a\n b=1\n>", &["<a\n>"]);
    }

    #[test]
    fn what_has_no_part_to_remove_is_left_alone() {
        for document in ["<a>", "</a b='1'>", "text", "", "<a checked>", "<a b=>", "<a '1'>"] {
            makes(&REMOVE_ATTRIBUTE_NAME, document, &[]);
        }
        for document in ["<a>", "</a b='1'>", "a='1'", "<a checked>", "<a b='' c=\"\">", "<a b= >"] {
            makes(&REMOVE_ATTRIBUTE_VALUE, document, &[]);
        }
        for document in ["<a>", "</a b='1'>", "a='1'", "<!-- <a b='1'> --><?a b='1'?><![CDATA[<a b='1'>]]>"] {
            makes(&REMOVE_ATTRIBUTE, document, &[]);
        }
    }

    #[test]
    fn a_name_or_a_value_is_removed_once() {
        makes(&REMOVE_ATTRIBUTE_NAME, "<a b='1'>", &["<a '1'>"]);
        makes(&REMOVE_ATTRIBUTE_NAME, "<a '1'>", &[]);
        makes(&REMOVE_ATTRIBUTE_VALUE, "<a '1'>", &["<a ''>"]);
        makes(&REMOVE_ATTRIBUTE, "<a '1'>", &["<a>"]);
    }

    #[test]
    fn all_attributes_of_a_name_can_go_at_once() {
        let document = "<a><b id='1' x='1'/><b id='2' x='1'/><b id='3' x='1'/><b id='4' x='1'/></a>";
        let one = made(&REMOVE_ATTRIBUTE, document);
        assert!(one.contains("<a><b x='1'/><b x='1'/><b x='1'/><b x='1'/></a>"));
        assert!(one.contains("<a><b id='1'/><b id='2'/><b id='3'/><b id='4'/></a>"));
    }
}
