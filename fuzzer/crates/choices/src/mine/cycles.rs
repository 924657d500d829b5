//! Ways from a rule to itself without any bytes, which leave derivations without end: no grammar may have them. They are
//! removed: of an alternative that leads back if all beside one rule is empty, what has bytes beside it is kept.

use super::rules::{Item, Rules};
use std::collections::BTreeMap;

/// Most alternatives that are split.
const MOST_SPLITS: usize = 1_000;

/// The rules without such ways. `is_joined`: an alternative that leads back if all beside one rule is empty stands for that
/// rule, too, and rules that lead to each other are one. That describes the same as before, but what was mined is rarely
/// exact, and too much may lead to each other.
pub(super) fn removed(rules: &Rules, is_joined: bool) -> Rules {
    let mut rules = rules.clone();
    let mut filled = BTreeMap::new();
    for _ in 0..MOST_SPLITS {
        let graph = Graph::of(&rules);
        let Some((rule, choice, at)) = graph.hidden(&rules) else { break };
        let items = rules.rules[rule].alternatives.remove(choice);
        let mut split: Vec<Vec<Item>> = Vec::new();
        for place in (0..items.len()).filter(|&place| place != at) {
            // this one is the first that is not empty, beside the one that leads back
            let mut kept: Vec<Item> = if at < place { vec![items[at].clone()] } else { Vec::new() };
            let Item::Rule(inner) = items[place] else { continue };
            kept.push(Item::Rule(filled_rule(&mut rules, inner, &graph.empty, &mut filled)));
            kept.extend(items[place + 1..].iter().cloned());
            split.push(kept);
        }
        rules.rules[rule].alternatives.splice(choice..choice, split);
        if is_joined || rules.depths()[rule].iter().all(Option::is_none) {
            // it was the only one that ends
            rules.rules[rule].alternatives.push(vec![items[at].clone()]);
        }
    }
    join(&mut rules);
    rules.tidy();
    rules.drop_unreachable();
    rules
}

/// The rule of what another one describes, without nothing.
fn filled_rule(rules: &mut Rules, of: usize, empty: &[bool], filled: &mut BTreeMap<usize, usize>) -> usize {
    if !empty.get(of).copied().unwrap_or(false) {
        return of;
    }
    if let Some(&known) = filled.get(&of) {
        return known;
    }
    let name = rules.rules[of].name.clone();
    let number = rules.add(&name, Vec::new());
    filled.insert(of, number);
    let mut alternatives = Vec::new();
    for items in rules.rules[of].alternatives.clone() {
        if !items.iter().all(|item| matches!(item, Item::Rule(rule) if empty.get(*rule) == Some(&true))) {
            alternatives.push(items);
            continue;
        }
        for (place, item) in items.iter().enumerate() {
            let Item::Rule(inner) = *item else { continue };
            let first = Item::Rule(filled_rule(rules, inner, empty, filled));
            alternatives.push([&[first], &items[place + 1..]].concat());
        }
    }
    rules.rules[number].alternatives = alternatives;
    number
}

/// Makes one rule of those that lead to each other by alternatives that are one rule each: they describe the same.
fn join(rules: &mut Rules) {
    let single = |rule: usize| -> Vec<usize> {
        let alternatives = rules.rules[rule].alternatives.iter();
        let single = alternatives.filter_map(|items| match items[..] {
            [Item::Rule(inner)] => Some(inner),
            _ => None,
        });
        single.collect()
    };
    let number = rules.rules.len();
    let after: Vec<Vec<bool>> = (0..number).map(|rule| reached(number, single(rule), single)).collect();
    let is_same = |one: usize, other: usize| one == other || (after[one][other] && after[other][one]);
    let first: Vec<usize> =
        (0..number).map(|rule| (0..rule).find(|&other| is_same(rule, other)).unwrap_or(rule)).collect();
    for rule in 0..number {
        let alternatives = std::mem::take(&mut rules.rules[rule].alternatives);
        let is_within = |items: &Vec<Item>| matches!(items[..], [Item::Rule(inner)] if first[inner] == first[rule]);
        rules.rules[first[rule]].alternatives.extend(alternatives.into_iter().filter(|items| !is_within(items)));
    }
    rules.rename(|rule| first[rule]);
}

/// Rules that are reached from some.
fn reached(rules: usize, mut waiting: Vec<usize>, next: impl Fn(usize) -> Vec<usize>) -> Vec<bool> {
    let mut seen = vec![false; rules];
    while let Some(rule) = waiting.pop() {
        if !std::mem::replace(&mut seen[rule], true) {
            waiting.extend(next(rule));
        }
    }
    seen
}

/// Which rules can be empty, and which become each other if all beside them is.
struct Graph {
    empty: Vec<bool>,
    /// Rules that each rule can become.
    after: Vec<Vec<bool>>,
}

impl Graph {
    fn of(rules: &Rules) -> Self {
        let mut empty = vec![false; rules.rules.len()];
        loop {
            let is_empty = |item: &Item| matches!(item, Item::Rule(rule) if empty[*rule]);
            let now: Vec<bool> =
                rules.rules.iter().map(|rule| rule.alternatives.iter().any(|one| one.iter().all(is_empty))).collect();
            if now == empty {
                break;
            }
            empty = now;
        }
        let mut graph = Self { empty, after: Vec::new() };
        let becomes: Vec<Vec<usize>> = (0..rules.rules.len())
            .map(|rule| {
                let all = rules.rules[rule].alternatives.iter();
                all.flat_map(|items| graph.becomes(rule, items)).map(|(_, inner)| inner).collect()
            })
            .collect();
        graph.after =
            becomes.iter().map(|from| reached(becomes.len(), from.clone(), |rule| becomes[rule].clone())).collect();
        graph
    }

    /// Places and rules of an alternative which it is if all else in it is empty. Recursion at an end is a list, and no way
    /// to itself.
    fn becomes(&self, rule: usize, items: &[Item]) -> Vec<(usize, usize)> {
        let is_empty = |item: &Item| matches!(item, Item::Rule(rule) if self.empty[*rule]);
        let with_bytes = items.iter().filter(|item| !is_empty(item)).count();
        let found = items.iter().enumerate().filter_map(|(at, item)| match item {
            Item::Rule(next) if with_bytes == usize::from(!self.empty[*next]) => {
                let is_list = *next == rule && items.len() > 1 && (at == 0 || at + 1 == items.len());
                (!is_list).then_some((at, *next))
            }
            _ => None,
        });
        found.collect()
    }

    /// Rule, alternative and place of an item that leads back if all beside it is empty.
    fn hidden(&self, rules: &Rules) -> Option<(usize, usize, usize)> {
        rules.rules.iter().enumerate().find_map(|(number, rule)| {
            rule.alternatives.iter().enumerate().filter(|(_, items)| items.len() > 1).find_map(|(choice, items)| {
                let leads_back = |next: usize| next == number || self.after[next][number];
                let found = self.becomes(number, items).into_iter().find(|&(_, next)| leads_back(next));
                found.map(|(at, _)| (number, choice, at))
            })
        })
    }
}
