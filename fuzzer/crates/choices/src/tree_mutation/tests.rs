//! Tests of the operators.

use super::*;
use crate::grammar::{Grammar, Limits};
use crate::operator::Arm;

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
        let parsed = grammar.parse(&new.bytes);
        assert!(parsed.is_some(), "{operator:?}: {}", String::from_utf8_lossy(&new.bytes));
        assert_eq!(
            parsed.map(|tree| tree.nodes.len()),
            Some(new.nodes.len()),
            "{}",
            String::from_utf8_lossy(&new.bytes)
        );
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
