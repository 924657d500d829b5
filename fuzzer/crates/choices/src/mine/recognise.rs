//! Recognition of inputs by mined rules (Earley's algorithm over bytes), to count those of held-back examples that a
//! grammar describes.

use super::rules::{Item, Rules};
use std::collections::{BTreeMap, HashSet};

/// Most items of a recognition: larger or more ambiguous inputs count as not recognised.
const MOST_ITEMS: usize = 3_000_000;

/// Rule, alternative, item of it, byte of it if it is a text, and where it began.
type State = (u32, u32, u32, u32, u32);

/// Whether the rules derive exactly these bytes.
pub(crate) fn recognises(rules: &Rules, bytes: &[u8]) -> bool {
    let nullable: Vec<bool> = nullable(rules);
    let mut waiting: Vec<BTreeMap<usize, Vec<State>>> = Vec::new();
    let mut current: Vec<State> = Vec::new();
    let mut items = 0;
    for (alternative, _) in rules.rules[0].alternatives.iter().enumerate() {
        current.push((0, alternative as u32, 0, 0, 0));
    }
    for at in 0..=bytes.len() {
        let mut set: HashSet<State> = current.iter().copied().collect();
        let mut next: Vec<State> = Vec::new();
        let mut by_rule: BTreeMap<usize, Vec<State>> = BTreeMap::new();
        let mut is_complete = false;
        waiting.push(BTreeMap::new());
        let mut place = 0;
        while place < current.len() {
            let state = current[place];
            place += 1;
            items += 1;
            let (rule, alternative, item, byte, origin) = state;
            let mut push = |state: State, current: &mut Vec<State>| {
                if set.insert(state) {
                    current.push(state);
                }
            };
            match rules.rules[rule as usize].alternatives[alternative as usize].get(item as usize) {
                None => {
                    is_complete |= rule == 0 && origin == 0;
                    let before = if origin as usize == at { &by_rule } else { &waiting[origin as usize] };
                    for outer in before.get(&(rule as usize)).cloned().unwrap_or_default() {
                        push((outer.0, outer.1, outer.2 + 1, 0, outer.4), &mut current);
                    }
                }
                Some(Item::Text(text)) => match text.get(byte as usize) {
                    Some(wanted) if bytes.get(at) == Some(wanted) => {
                        let is_last = byte as usize + 1 == text.len();
                        next.push(if is_last {
                            (rule, alternative, item + 1, 0, origin)
                        } else {
                            (rule, alternative, item, byte + 1, origin)
                        });
                    }
                    Some(_) => {}
                    None => push((rule, alternative, item + 1, 0, origin), &mut current),
                },
                Some(Item::Rule(inner)) => {
                    let is_first = !by_rule.contains_key(inner);
                    by_rule.entry(*inner).or_default().push(state);
                    if is_first {
                        for choice in 0..rules.rules[*inner].alternatives.len() {
                            push((*inner as u32, choice as u32, 0, 0, at as u32), &mut current);
                        }
                    }
                    if nullable[*inner] {
                        push((rule, alternative, item + 1, 0, origin), &mut current);
                    }
                }
            }
        }
        if at == bytes.len() {
            return is_complete;
        }
        if next.is_empty() || items > MOST_ITEMS {
            return false;
        }
        waiting[at] = by_rule;
        next.sort_unstable();
        next.dedup();
        current = next;
    }
    false
}

/// Whether each rule derives nothing at all.
fn nullable(rules: &Rules) -> Vec<bool> {
    let mut nullable = vec![false; rules.rules.len()];
    loop {
        let before = nullable.clone();
        for (number, rule) in rules.rules.iter().enumerate() {
            nullable[number] |= rule.alternatives.iter().any(|alternative| {
                alternative.iter().all(|item| match item {
                    Item::Text(text) => text.is_empty(),
                    Item::Rule(rule) => before[*rule],
                })
            });
        }
        if nullable == before {
            return nullable;
        }
    }
}
