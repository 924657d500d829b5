//! Grammars as they are mined: rules by number.

use std::collections::BTreeMap;

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
