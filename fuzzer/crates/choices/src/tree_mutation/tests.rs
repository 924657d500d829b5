//! Tests of the operators.

use super::*;
use crate::grammar::{Grammar, Limits};
use crate::operator::Arm;
use crate::tree::Role;

const SIZE: usize = 2000;

fn json() -> Grammar {
    Grammar::load(std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/json.json"))).expect("a grammar")
}

/// Applies an operator to many trees. Returns how many were changed.
fn apply(
    operator: Operator,
    grammar: &Grammar,
    knows_grammar: bool,
    text: &mut dyn FnMut(&mut Vec<u8>, &mut StdRand),
) -> usize {
    let mut rand = StdRand::with_seed(7);
    let mut bank = Bank::default();
    let mut changed = 0;
    for round in 0..400 {
        let tree = grammar.generate(&mut rand, &Limits { size: SIZE / 2, depth: 12 });
        bank.add(&tree, &mut rand);
        let context = Context { grammar: knows_grammar.then_some(grammar), bank: &bank };
        let Some(new) = mutate(&tree, operator, &context, SIZE, text, &mut rand) else { continue };
        changed += 1;
        assert!(new.is_sound(), "{operator:?} {round}: {tree:?} became {new:?}");
        assert!(new.bytes.len() <= SIZE && new.bytes != tree.bytes);
        if !knows_grammar && operator.arm() == Arm::Value {
            continue;
        }
        let nodes = grammar.parse(&new.bytes).map(|tree| tree.nodes.len());
        assert_eq!(nodes, Some(new.nodes.len()), "{operator:?}: {}", String::from_utf8_lossy(&new.bytes));
    }
    changed
}

#[test]
fn every_operator_makes_other_trees_of_the_language() {
    let json = json();
    for operator in Operator::ALL {
        for knows_grammar in [true, false] {
            let changed = apply(operator, &json, knows_grammar, &mut |_, _| {});
            let is_without_text = operator == Operator::ChangeValues && !knows_grammar;
            // values without a grammar are changed as texts only
            assert_eq!(changed == 0, is_without_text, "{operator:?} {knows_grammar}: {changed}");
        }
    }
}

#[test]
fn parts_nest_and_repeat_up_to_the_limit() {
    let json = json();
    let mut rand = StdRand::with_seed(2);
    let bank = Bank::default();
    let context = Context { grammar: Some(&json), bank: &bank };
    let tree = json.parse(b"{\"a\": [1, {\"b\": 2}], \"c\": 3}").expect("a tree");
    let depth = |tree: &Tree| {
        let parents = tree.parents();
        let deep = |node: usize| {
            let above = |&node: &u32| Some(parents[node as usize]).filter(|&parent| parent != NO_PARENT);
            std::iter::successors(Some(node as u32), above).count()
        };
        (0..tree.nodes.len()).map(deep).max()
    };
    let mut most = (0, 0);
    for _ in 0..300 {
        for operator in [Operator::NestPart, Operator::RepeatPart] {
            let Some(new) = mutate(&tree, operator, &context, 5000, &mut |_, _| {}, &mut rand) else { continue };
            assert!(json.parse(&new.bytes).as_ref() == Some(&new));
            match operator {
                Operator::NestPart => most.0 = most.0.max(depth(&new).unwrap_or(0)),
                _ => most.1 = most.1.max(new.nodes.len()),
            }
        }
    }
    assert!(most.0 > 150 && most.1 > 400, "{most:?}");
}

#[test]
fn values_change_as_texts_do_and_become_equal_or_different() {
    let json = json();
    let mut rand = StdRand::with_seed(4);
    let bank = Bank::default();
    let tree = json.parse(b"[\"a\",\"b\",\"b\",\"c\",\"c\"]").expect("a tree");
    let strings = |tree: &Tree| -> Vec<Vec<u8>> {
        let leaves = (0..tree.nodes.len()).filter(|&node| tree.nodes[node].role == Role::Leaf);
        leaves.map(|leaf| tree.bytes_of(leaf).to_vec()).filter(|bytes| bytes.starts_with(b"\"")).collect()
    };
    let distinct = |tree: &Tree| strings(tree).into_iter().collect::<std::collections::BTreeSet<_>>().len();
    let (mut least, mut most, mut was_broken) = (9, 0, 0);
    for _ in 0..500 {
        let context = Context { grammar: Some(&json), bank: &bank };
        let mut apply = |operator, text: &mut dyn FnMut(&mut Vec<u8>, &mut StdRand)| {
            mutate(&tree, operator, &context, 100, text, &mut rand)
        };
        if let Some(new) = apply(Operator::EqualValues, &mut |_, _| {}) {
            least = least.min(distinct(&new));
        }
        if let Some(new) = apply(Operator::DifferentValues, &mut |_, _| {}) {
            most = most.max(distinct(&new));
        }
        if let Some(new) = apply(Operator::ChangeValues, &mut |bytes, _| bytes.push(b'!')) {
            was_broken += u32::from(json.parse(&new.bytes).is_none());
        }
    }
    assert_eq!((least, most), (1, 5));
    assert!((20..250).contains(&was_broken), "{was_broken}");
}

#[test]
fn a_bank_keeps_its_memory_and_prefers_parts_with_the_right_parent() {
    let json = json();
    let mut rand = StdRand::with_seed(5);
    let mut bank = Bank::default();
    for number in 0..200 {
        let text = format!("[{}{{\"k\": {number}}}]", "1,".repeat(500));
        bank.add(&json.parse(text.as_bytes()).expect("a tree"), &mut rand);
    }
    assert!((2..200).contains(&bank.trees()), "{}", bank.trees());
    let mut bank = Bank::default();
    for text in ["[1,2]", "{\"a\": 3}", "{\"b\": 4}"] {
        bank.add(&json.parse(text.as_bytes()).expect("a tree"), &mut rand);
    }
    let tree = json.parse(b"[5]").expect("a tree");
    let parents = tree.parents();
    let node = (0..tree.nodes.len()).find(|&node| tree.bytes_of(node) == b"5" && tree.has_parts(node)).expect("a part");
    let (symbol, parent) = (tree.nodes[node].symbol, tree.nodes[parents[node] as usize].symbol);
    let drawn = (0..200).filter_map(|_| bank.part(symbol, Some(parent), &mut rand));
    let (right, all) = drawn.fold((0, 0), |(right, all), part| (right + usize::from(part.bytes != b"3"), all + 1));
    assert!(all == 200 && right > 150, "{right} of {all}");
}
