//! Grammars as they are mined: rules by number.

use std::collections::BTreeMap;

use crate::grammar::Grammar;
use quagmire_base::error::Result;

/// Part of an alternative.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Item {
    /// Bytes as they are.
    Text(Vec<u8>),
    /// Rule with this number.
    Rule(usize),
}

/// A nonterminal with its alternatives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rule {
    /// Name without angle brackets; several rules may have the same.
    pub name: String,
    /// Sequences that it stands for.
    pub alternatives: Vec<Vec<Item>>,
}

/// Rules, of which the first is where a derivation begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rules {
    pub rules: Vec<Rule>,
}

impl Rules {
    /// Adds a rule and returns its number.
    pub(crate) fn add(&mut self, name: &str, alternatives: Vec<Vec<Item>>) -> usize {
        self.rules.push(Rule { name: name.to_owned(), alternatives });
        self.rules.len() - 1
    }

    /// Least number of rules, one inside of the other, that an alternative needs until only bytes are left; `None` if that
    /// never happens. By rule and alternative.
    pub(crate) fn depths(&self) -> Vec<Vec<Option<usize>>> {
        let mut least: Vec<Option<usize>> = vec![None; self.rules.len()];
        let depth = |alternative: &[Item], least: &[Option<usize>]| {
            alternative.iter().try_fold(0, |deepest: usize, item| match item {
                Item::Text(_) => Some(deepest),
                Item::Rule(rule) => least[*rule].map(|depth| deepest.max(depth)),
            })
        };
        loop {
            let mut has_changed = false;
            for (number, rule) in self.rules.iter().enumerate() {
                let best = rule.alternatives.iter().filter_map(|one| depth(one, &least)).min().map(|depth| depth + 1);
                if best.is_some() && least[number].is_none_or(|before| best < Some(before)) {
                    least[number] = best;
                    has_changed = true;
                }
            }
            if !has_changed {
                break;
            }
        }
        let of_rule = |rule: &Rule| rule.alternatives.iter().map(|one| depth(one, &least)).collect();
        self.rules.iter().map(of_rule).collect()
    }

    /// Simplifies: drops rules that cannot be reached or never end, replaces rules that have one alternative and are short
    /// or used once, joins rules with the same alternatives, and drops alternatives that lead to their own rule only.
    pub(crate) fn simplify(&mut self) {
        loop {
            let before = self.clone();
            self.drop_endless();
            self.tidy();
            self.join_equal();
            self.inline();
            self.drop_cycles();
            self.drop_unreachable();
            if *self == before {
                return;
            }
        }
    }

    fn drop_endless(&mut self) {
        let depths = self.depths();
        for (rule, depths) in self.rules.iter_mut().zip(depths) {
            let mut depths = depths.into_iter();
            rule.alternatives.retain(|_| depths.next().flatten().is_some());
        }
    }

    /// Joins texts that follow each other, and drops alternatives that are there twice.
    pub(super) fn tidy(&mut self) {
        for rule in &mut self.rules {
            let mut alternatives: Vec<Vec<Item>> = Vec::with_capacity(rule.alternatives.len());
            for alternative in std::mem::take(&mut rule.alternatives) {
                let mut tidied: Vec<Item> = Vec::with_capacity(alternative.len());
                for item in alternative {
                    match (tidied.last_mut(), item) {
                        (_, Item::Text(text)) if text.is_empty() => {}
                        (Some(Item::Text(before)), Item::Text(text)) => before.extend(text),
                        (_, item) => tidied.push(item),
                    }
                }
                if !alternatives.contains(&tidied) {
                    alternatives.push(tidied);
                }
            }
            rule.alternatives = alternatives;
        }
    }

    fn join_equal(&mut self) {
        let mut first: BTreeMap<Vec<Vec<Item>>, usize> = BTreeMap::new();
        let to: Vec<usize> = (0..self.rules.len())
            .map(|number| {
                let mut key = self.rules[number].alternatives.clone();
                for item in key.iter_mut().flatten().filter(|item| **item == Item::Rule(number)) {
                    // two that lead to themselves in the same way are equal
                    *item = Item::Rule(usize::MAX);
                }
                key.sort();
                *first.entry(key).or_insert(number)
            })
            .collect();
        self.rename(|rule| to[rule]);
    }

    pub(super) fn rename(&mut self, to: impl Fn(usize) -> usize) {
        for item in self.rules.iter_mut().flat_map(|rule| rule.alternatives.iter_mut().flatten()) {
            if let Item::Rule(rule) = item {
                *rule = to(*rule);
            }
        }
    }

    fn inline(&mut self) {
        let mut uses = vec![0; self.rules.len()];
        for item in self.rules.iter().flat_map(|rule| rule.alternatives.iter().flatten()) {
            if let Item::Rule(rule) = item {
                uses[*rule] += 1;
            }
        }
        let bodies: Vec<Option<Vec<Item>>> = (0..self.rules.len())
            .map(|number| match &self.rules[number].alternatives[..] {
                [only] if !only.contains(&Item::Rule(number)) && (only.len() < 2 || uses[number] == 1) => {
                    Some(only.clone())
                }
                _ => None,
            })
            .collect();
        for rule in 0..self.rules.len() {
            for alternative in &mut self.rules[rule].alternatives {
                *alternative = std::mem::take(alternative)
                    .into_iter()
                    .flat_map(|item| match item {
                        Item::Rule(inner) if inner != rule => bodies[inner].clone().unwrap_or_else(|| vec![item]),
                        _ => vec![item],
                    })
                    .collect();
            }
        }
    }

    /// Drops alternatives that are one rule which leads back to this one by such alternatives.
    fn drop_cycles(&mut self) {
        for start in 0..self.rules.len() {
            let mut place = 0;
            while place < self.rules[start].alternatives.len() {
                let leads_back = match self.rules[start].alternatives[place][..] {
                    [Item::Rule(next)] => self.leads_to(next, start),
                    _ => false,
                };
                if !leads_back {
                    place += 1;
                    continue;
                }
                let alternative = self.rules[start].alternatives.remove(place);
                // it may be the only one that ends
                if self.depths()[start].iter().all(Option::is_none) {
                    self.rules[start].alternatives.insert(place, alternative);
                    place += 1;
                }
            }
        }
    }

    fn leads_to(&self, from: usize, to: usize) -> bool {
        let (mut waiting, mut seen) = (vec![from], vec![false; self.rules.len()]);
        while let Some(rule) = waiting.pop() {
            if rule == to {
                return true;
            }
            if !std::mem::replace(&mut seen[rule], true) {
                let alternatives = self.rules[rule].alternatives.iter();
                waiting.extend(alternatives.filter_map(|alternative| match alternative[..] {
                    [Item::Rule(next)] => Some(next),
                    _ => None,
                }));
            }
        }
        false
    }

    pub(super) fn drop_unreachable(&mut self) {
        let (mut order, mut number) = (Vec::new(), vec![usize::MAX; self.rules.len()]);
        let mut waiting = vec![0];
        while let Some(rule) = waiting.pop() {
            if number[rule] == usize::MAX {
                number[rule] = order.len();
                order.push(rule);
                let items = self.rules[rule].alternatives.iter().flatten().rev();
                waiting.extend(items.filter_map(|item| if let Item::Rule(rule) = item { Some(*rule) } else { None }));
            }
        }
        self.rename(|rule| number[rule]);
        let rules = order.into_iter().map(|rule| std::mem::take(&mut self.rules[rule])).collect();
        self.rules = rules;
    }
}

// Ways from a rule to itself without any bytes, which leave derivations without end: no grammar may have them. They are
// removed: of an alternative that leads back if all beside one rule is empty, what has bytes beside it is kept.

/// Most alternatives that are split.
const MOST_SPLITS: usize = 1_000;

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

// The JSON of the fuzzing book, in which each nonterminal has a list of alternatives.

impl Rules {
    /// The rules without such ways. `is_joined`: an alternative that leads back if all beside one rule is empty stands for that
    /// rule, too, and rules that lead to each other are one. That describes the same as before, but what was mined is rarely
    /// exact, and too much may lead to each other.
    pub(super) fn without_cycles(&self, is_joined: bool) -> Self {
        let mut rules = self.clone();
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

    /// Reads rules as they are written.
    ///
    /// # Errors
    /// The mistake in them.
    pub(super) fn grammar(&self) -> Result<Grammar> {
        Grammar::read(&self.json(), "the mined grammar")
    }

    /// Writes rules as JSON, one nonterminal a line, the start first. Bytes beyond ASCII are the characters of these numbers.
    pub(super) fn json(&self) -> String {
        let rules = &self.without_cycles(false);
        let names = names(rules);
        let string = |text: &str| serde_json::Value::from(text).to_string();
        let characters = |bytes: &[u8]| string(&bytes.iter().map(|&byte| char::from(byte)).collect::<String>());
        let item = |item: &Item| match item {
            // it would be read as a name
            Item::Text(text) if text.len() > 1 && text.starts_with(b"<") => {
                format!("{}, {}", characters(b"<"), characters(&text[1..]))
            }
            Item::Text(text) => characters(text),
            Item::Rule(rule) => string(&names[*rule]),
        };
        let alternative = |items: &Vec<Item>| format!("[{}]", items.iter().map(item).collect::<Vec<_>>().join(", "));
        let line = |(rule, name): (&Rule, &String)| {
            let alternatives = rule.alternatives.iter().map(alternative).collect::<Vec<_>>().join(", ");
            format!("  {}: [{alternatives}]", string(name))
        };
        let lines: Vec<String> = rules.rules.iter().zip(&names).map(line).collect();
        format!("{{\n{}\n}}\n", lines.join(",\n"))
    }
}

/// Names in angle brackets: those that several rules have get numbers.
fn names(rules: &Rules) -> Vec<String> {
    let mut total: BTreeMap<&str, usize> = BTreeMap::new();
    rules.rules.iter().for_each(|rule| *total.entry(&rule.name).or_default() += 1);
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let named = rules.rules.iter().map(|Rule { name, .. }| {
        let number = seen.entry(name).or_default();
        *number += 1;
        if total[&name[..]] > 1 { format!("<{name}-{number}>") } else { format!("<{name}>") }
    });
    named.collect()
}
