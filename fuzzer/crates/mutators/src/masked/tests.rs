//! Tests of mutations under masks.

use std::sync::Arc;

use libafl::state::HasMaxSize;

use super::*;
use crate::{
    RuleMutator,
    havoc::tests::state_with,
    text::{
        lines::{DELETE_LINE, DOUBLE_LINE},
        whitespace::APPEND_WHITESPACE,
    },
};

/// A mask that protects `key` only.
fn guarded(text: &[u8], key: &[u8]) -> Mask {
    let at = text.windows(key.len()).position(|window| window == key).expect("it contains the key");
    let mut mask = Mask::nothing(text.len());
    for edit in Edit::ALL {
        mask.allow(edit, 0..at);
        mask.allow(edit, at + key.len()..text.len());
    }
    mask.allow(Edit::Insert, at..at + 1);
    mask.allow(Edit::Insert, text.len()..text.len() + 1);
    mask
}

fn holds(bytes: &[u8], key: &[u8]) -> bool {
    bytes.windows(key.len()).any(|window| window == key)
}

#[test]
fn nothing_that_is_masked_is_touched_however_much_is_stacked() {
    let text = b"some text before <!ATTLIST and some after";
    let mut state = state_with(&[&b"another input"[..], &b"and one more"[..]], 90);
    state.add_metadata(Tokens::from([b"CDATA".to_vec()]));
    let mut masked = MaskedMutations::default();
    let (mut changed, mut lengths) = (0, std::collections::BTreeSet::new());
    for round in 0..3000 {
        let mut input = BytesInput::new(text.to_vec());
        let mut mask = guarded(text, b"<!ATTLIST");
        for step in 0..4 {
            match (round + step) % 3 {
                0 => masked.havoc(&mut state, &mut input, &mut mask).unwrap(),
                1 => masked.splice(&mut state, &mut input, &mut mask).unwrap(),
                _ => masked.tokens(&mut state, &mut input, &mut mask),
            };
        }
        let bytes: &Vec<u8> = input.as_ref();
        assert!(holds(bytes, b"<!ATTLIST"), "{}", bytes.escape_ascii());
        assert_eq!(mask.length(), bytes.len());
        assert!(bytes.len() <= 90);
        changed += usize::from(bytes != text);
        lengths.insert(bytes.len());
    }
    assert!(changed > 2900 && lengths.len() > 20, "{changed} changed, {} lengths", lengths.len());
}

#[test]
fn where_nothing_is_allowed_nothing_happens() {
    let mut state = state_with(&[], 90);
    let (mut input, mut mask) = (BytesInput::new(b"fixed".to_vec()), Mask::nothing(5));
    let result = MaskedMutations::default().havoc(&mut state, &mut input, &mut mask).unwrap();
    assert_eq!((result, input.as_ref().as_slice()), (MutationResult::Skipped, &b"fixed"[..]));
}

#[test]
fn rules_are_held_to_the_mask() {
    let text = b"one\nkey\ntwo\nthree\n";
    let mut state = state_with(&[], 90);
    let mut masked = MaskedMutations::default();
    let (mut deleted, mut doubled) = (0, 0);
    for _ in 0..500 {
        for (rule, number) in [(DELETE_LINE, &mut deleted), (DOUBLE_LINE, &mut doubled)] {
            let mut input = BytesInput::new(text.to_vec());
            let mut mask = guarded(text, b"key\n");
            let mut mutator = RuleMutator::new(Arc::new(rule));
            if masked.held(&mut mutator, &mut state, &mut input, &mut mask).unwrap() == MutationResult::Mutated {
                *number += 1;
                let bytes: &Vec<u8> = input.as_ref();
                assert!(holds(bytes, b"key\n"), "{}", bytes.escape_ascii());
                assert_eq!(mask.length(), bytes.len());
            }
        }
    }
    assert!(deleted > 300 && doubled > 300, "{deleted} deleted, {doubled} doubled");
}

#[test]
fn rules_find_the_one_line_that_may_be_changed() {
    let locked = b"locked\n".repeat(50);
    let text = [&locked[..], b"free\n", &locked[..]].concat();
    let mut state = state_with(&[], 720);
    let mut masked = MaskedMutations::default();
    let mut mutator = RuleMutator::new(Arc::new(DOUBLE_LINE));
    for _ in 0..100 {
        let mut input = BytesInput::new(text.clone());
        let mut mask = Mask::nothing(text.len());
        for edit in Edit::ALL {
            mask.allow(edit, locked.len()..locked.len() + 5);
        }
        assert_eq!(masked.held(&mut mutator, &mut state, &mut input, &mut mask).unwrap(), MutationResult::Mutated);
        let bytes: &Vec<u8> = input.as_ref();
        let between = bytes.strip_prefix(&locked[..]).and_then(|rest| rest.strip_suffix(&locked[..]));
        let between = between.expect("nothing else was changed");
        assert!(between.len() > 5 && between.starts_with(b"free"), "{}", between.escape_ascii());
        assert_eq!((mask.length(), mask.allowed(Edit::Delete)), (bytes.len(), between.len()));
        assert_eq!(state.max_size(), 720);
    }
}

#[test]
fn rules_insert_nothing_behind_a_free_part_where_nothing_may_come_in() {
    let mut state = state_with(&[], 90);
    let mut mutator = RuleMutator::new(Arc::new(APPEND_WHITESPACE));
    for _ in 0..50 {
        let mut input = BytesInput::new(b"freekey".to_vec());
        let mut mask = Mask::nothing(7);
        for edit in Edit::ALL {
            mask.allow(edit, 0..4);
        }
        let result = MaskedMutations::default().held(&mut mutator, &mut state, &mut input, &mut mask).unwrap();
        assert_eq!((result, input.as_ref().as_slice()), (MutationResult::Skipped, &b"freekey"[..]));
    }
}

#[test]
fn what_was_inserted_among_equal_bytes_may_have_come_in_at_any_of_them() {
    let mut mask = Mask::nothing(4);
    mask.allow(Edit::Insert, 1..2);
    assert!(follow(b"aaab", b"aaaaab", &mut mask));
    assert!(!follow(b"aaaaab", b"aaaaabb", &mut mask));
}
