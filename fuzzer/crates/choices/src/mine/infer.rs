//! Rules from the table: each class of places is a nonterminal.

use super::{
    Oracle,
    blanks::Blanks,
    leaves::{self, Place, Surroundings},
    rules::{Item, Rules},
    spans::{Forest, Piece},
    table::{Table, includes},
};
use crate::{brackets, tree::Role};
use libafl_bolts::rands::StdRand;
use std::{collections::BTreeMap, ops::Range};

/// Most places in which a class of values is tried.
const MOST_PLACES: usize = 12;

/// Makes rules of what the table says. Wide rules take parts with structure from places that accept more as well.
pub(crate) fn infer(forest: &Forest, table: &Table, is_wide: bool, oracle: &mut Oracle, random: &mut StdRand) -> Rules {
    let mut inference = Inference {
        forest,
        table,
        is_wide,
        oracle,
        random,
        rules: Rules::default(),
        delimiters: forest.delimiters(),
        blanks: BTreeMap::new(),
        lists: BTreeMap::new(),
        padding: BTreeMap::new(),
    };
    // the rule of a class has the number of the class, after the start
    inference.rules.add("start", vec![vec![Item::Rule(1 + table.class_of[0])]]);
    for members in &table.members {
        let kind = members.iter().map(|&member| forest.spans[member].kind).min().unwrap_or(0);
        inference.rules.add(brackets::name(kind), Vec::new());
    }
    for class in 0..table.members.len() {
        inference.class(class);
    }
    inference.rules.simplify();
    inference.rules
}

struct Inference<'a, 'b> {
    forest: &'a Forest,
    table: &'a Table,
    is_wide: bool,
    oracle: &'a mut Oracle<'b>,
    random: &'a mut StdRand,
    rules: Rules,
    /// Characters that delimit parts.
    delimiters: Vec<u8>,
    blanks: BTreeMap<Blanks, usize>,
    /// Rules of lists, by class of their items, separator, and whether there are at least two.
    lists: BTreeMap<(usize, Option<Item>, bool), usize>,
    /// Blanks before and after classes that accept themselves with blanks around.
    padding: BTreeMap<usize, (Blanks, Blanks)>,
}

/// An alternative before its blanks are decided: items, and the blanks before each and after the last.
struct Shape {
    items: Vec<Item>,
    blanks: Vec<Blanks>,
}

impl Inference<'_, '_> {
    /// Makes the alternatives of a class.
    fn class(&mut self, class: usize) {
        let forest = self.forest;
        let narrower = self.narrower(class);
        let is_covered = |text: &[u8]| {
            let number = self.table.texts.iter().position(|other| other == text);
            number.is_some_and(|number| narrower.iter().any(|&inner| self.table.accepts(inner, number)))
        };
        let (mut leaves, mut structured) = (Vec::new(), Vec::new());
        let own = self.table.members[class].iter().copied();
        let foreign = (1..self.table.texts.len()).filter(|&text| self.table.accepts(class, text));
        let foreign: Vec<&Vec<u8>> = foreign.map(|text| &self.table.texts[text]).collect();
        // words that are no parts
        let words = foreign.iter().filter(|text| self.origin(text).is_none() && !is_covered(text));
        leaves.extend(words.map(|text| text.to_vec()));
        let foreign = foreign.iter().filter_map(|text| self.origin(text));
        for span in own.chain(foreign) {
            let text = self.forest.text(span);
            if is_covered(text) {
                continue;
            }
            if matches!(self.forest.spans[span].role, Role::Leaf | Role::Separator) {
                leaves.push(text.to_vec());
            } else if self.table.class_of[span] == class || self.is_wide {
                // wide: the parts of others may accept more in their places than they would here
                structured.push(span);
            }
        }
        if self.table.accepts(class, 0) && !is_covered(b"") {
            leaves.push(Vec::new());
        }
        leaves.sort();
        leaves.dedup();
        let places: Vec<Place> = self.table.members[class].iter().map(|&span| self.place(span)).collect();
        let stride = places.len().div_ceil(MOST_PLACES).max(1);
        let places: Vec<Place> = places.into_iter().step_by(stride).collect();
        let is_separator = |&span: &usize| self.forest.spans[span].role == Role::Separator;
        let mut alternatives: Vec<Vec<Item>> = narrower.iter().map(|&inner| vec![Item::Rule(1 + inner)]).collect();
        let is_quoted = self.table.members[class].iter().any(|&span| brackets::is_quoted_text(forest.spans[span].kind));
        if self.table.members[class].iter().all(is_separator) {
            alternatives.extend(self.separators(class, &leaves));
        } else {
            let around = Surroundings { places: &places, is_quoted, delimiters: &self.delimiters };
            alternatives.extend(leaves::generalised(&leaves, &around, &mut self.rules, self.oracle, self.random));
        }
        structured.sort_by_key(|&span| (self.forest.spans[span].range.len(), span));
        structured.dedup_by_key(|span| self.forest.text(*span));
        alternatives.extend(self.shapes(class, &structured));
        self.rules.rules[1 + class].alternatives = alternatives;
        self.atoms(class);
    }

    fn place(&self, span: usize) -> Place {
        let span = &self.forest.spans[span];
        let example = &self.forest.examples[span.example];
        (example[..span.range.start].to_vec(), example[span.range.end..].to_vec())
    }

    /// First span with this text.
    fn origin(&self, text: &[u8]) -> Option<usize> {
        (0..self.forest.spans.len()).find(|&span| self.forest.text(span) == text && !text.is_empty())
    }

    /// Classes whose texts are all accepted by `class`, without those that others of them include.
    fn narrower(&self, class: usize) -> Vec<usize> {
        let all = &self.table.accepted;
        let inner: Vec<usize> = (0..all.len())
            .filter(|&other| other != class && includes(&all[class], &all[other]))
            .filter(|&other| all[other].iter().any(|bits| *bits != 0))
            .filter(|&other| self.forest.spans[self.table.members[other][0]].role != Role::Separator)
            .collect();
        let is_outermost = |one: &usize| !inner.iter().any(|other| other != one && includes(&all[*other], &all[*one]));
        inner.iter().copied().filter(is_outermost).collect()
    }

    /// Alternatives of separators: what is there without blanks, and blanks where they are accepted.
    fn separators(&mut self, class: usize, texts: &[Vec<u8>]) -> Vec<Vec<Item>> {
        let mut alternatives: Vec<Vec<Item>> = Vec::new();
        let members = &self.table.members[class];
        let some = members.iter().copied().step_by(members.len().div_ceil(MOST_PLACES).max(1));
        let some: Vec<usize> = some.collect();
        let mut cores: Vec<Vec<u8>> = texts.iter().map(|text| text.trim_ascii().to_vec()).collect();
        cores.sort();
        cores.dedup();
        let is_operator = cores.iter().all(|core| matches!(core[..], [byte] if byte.is_ascii_punctuation()));
        if is_operator {
            // others of the same kind: they have to be accepted everywhere
            let places: Vec<Place> = self.table.members[class].iter().map(|&span| self.place(span)).collect();
            for byte in (b'!'..=b'~').filter(u8::is_ascii_punctuation) {
                let fits = |place: &Place| self.oracle.accepts(&[&place.0[..], &[byte], &place.1].concat());
                if !cores.contains(&vec![byte]) && places.iter().take(MOST_PLACES).all(fits) {
                    cores.push(vec![byte]);
                }
            }
        }
        for core in cores {
            let mut around = |from: &[u8], to: &[u8]| {
                let mut common: Option<Blanks> = None;
                for &span in &some {
                    let (before, after) = self.place(span);
                    let at = before.len() + from.len();
                    let blanks = if core.is_empty() { self.forest.text(span) } else { b"" };
                    let text = [&before, from, blanks, to, &after[..]].concat();
                    let forest = Forest { examples: vec![text], spans: Vec::new() };
                    let range = at..at + blanks.len();
                    let found = match core.is_empty() && brackets::is_line_end(self.forest.spans[span].kind) {
                        true => Blanks::between_lines(&forest, 0, &range, self.oracle),
                        false => Blanks::at(&forest, 0, &range, self.oracle),
                    };
                    common = Some(common.and_then(|common| common.common(found)).unwrap_or(found));
                }
                common.unwrap_or(Blanks::NONE).item(&mut self.rules, &mut self.blanks)
            };
            if core.is_empty() {
                alternatives.push(around(b"", b"").into_iter().collect());
                continue;
            }
            let left = around(b"", &core);
            let right = around(&core, b"");
            alternatives.push(left.into_iter().chain([Item::Text(core.clone())]).chain(right).collect());
        }
        alternatives
    }

    /// Alternatives of spans with structure: those that differ only in blanks are one.
    fn shapes(&mut self, class: usize, spans: &[usize]) -> Vec<Vec<Item>> {
        let mut shapes: Vec<Shape> = Vec::new();
        for &span in spans {
            let found = match self.forest.spans[span].role {
                Role::List => self.list(class, span),
                _ => self.part(span),
            };
            if found.items == [Item::Rule(1 + class)] {
                let [before, after] = [found.blanks[0], found.blanks[1]];
                let known = self.padding.entry(class).or_insert((before, after));
                *known = (known.0.common(before).unwrap_or(before), known.1.common(after).unwrap_or(after));
                continue;
            }
            let same = shapes.iter_mut().find(|shape| shape.items == found.items);
            let joined = same.and_then(|shape| {
                let both = shape.blanks.iter().zip(&found.blanks).map(|(one, other)| one.common(*other));
                shape.blanks = both.collect::<Option<_>>()?;
                Some(())
            });
            if joined.is_none() {
                shapes.push(found);
            }
        }
        let mut alternatives = Vec::new();
        for shape in shapes {
            let mut items = Vec::new();
            for (place, blanks) in shape.blanks.iter().enumerate() {
                items.extend(blanks.item(&mut self.rules, &mut self.blanks));
                items.extend(shape.items.get(place).cloned());
            }
            alternatives.push(items);
        }
        alternatives
    }

    /// Shape of a part: bytes and classes, with blanks where they are accepted.
    fn part(&mut self, span: usize) -> Shape {
        let forest = self.forest;
        let whole = &forest.spans[span];
        let example = &forest.examples[whole.example];
        let is_blank = |range: &Range<usize>| example[range.clone()].iter().all(u8::is_ascii_whitespace);
        let (mut items, mut blanks) = (Vec::new(), Vec::new());
        let mut end = whole.range.start;
        for piece in &whole.pieces {
            let (range, item) = match piece {
                Piece::Bytes(range) if is_blank(range) => continue,
                Piece::Bytes(range) => (range.clone(), Item::Text(example[range.clone()].to_vec())),
                Piece::Span(inner) => (forest.spans[*inner].range.clone(), Item::Rule(1 + self.table.class_of[*inner])),
            };
            blanks.push(self.blanks_at(whole.example, end..range.start, &whole.range));
            end = range.end;
            items.push(item);
        }
        blanks.push(self.blanks_at(whole.example, end..whole.range.end, &whole.range));
        Shape { items, blanks }
    }

    /// Blanks of a place in a part. Those at its ends belong to what is around it, unless that is nothing.
    fn blanks_at(&mut self, example: usize, range: Range<usize>, whole: &Range<usize>) -> Blanks {
        let is_end = range.end == whole.start || range.start == whole.end;
        let is_root = *whole == (0..self.forest.examples[example].len());
        if is_end && !is_root && range.is_empty() {
            return Blanks::NONE;
        }
        Blanks::at(self.forest, example, &range, self.oracle)
    }

    /// Shape of a list: items of the same class that follow each other are one list, if it can be longer.
    fn list(&mut self, class: usize, span: usize) -> Shape {
        let forest = self.forest;
        let spans: Vec<usize> = forest.spans[span]
            .pieces
            .iter()
            .filter_map(|piece| match piece {
                Piece::Span(inner) => Some(*inner),
                Piece::Bytes(_) => None,
            })
            .collect();
        let is_separator = |&span: &usize| forest.spans[span].role == Role::Separator;
        let separators: Vec<usize> = spans.iter().copied().filter(is_separator).collect();
        let items: Vec<usize> = spans.iter().copied().filter(|span| !is_separator(span)).collect();
        let class_of = |item: usize| self.table.class_of[item];
        let mut sequence = Vec::new();
        let mut at = 0;
        while at < items.len() {
            let inner = class_of(items[at]);
            let same = items[at..].iter().take_while(|&&item| class_of(item) == inner).count();
            let between = separators.get(at..at + same - 1).unwrap_or_default();
            // the separator of one item is that after or before it
            let separator =
                between.iter().chain(separators.get(at)).chain(at.checked_sub(1).and_then(|at| separators.get(at)));
            let separator = separator.copied().max_by_key(|&one| {
                let accepted = &self.table.accepted[class_of(one)];
                // two words need a blank
                (!self.table.accepts(class_of(one), 0), accepted.iter().map(|bits| bits.count_ones()).sum::<u32>())
            });
            if self.is_repeatable(items[at], separator) {
                let is_only = same == items.len();
                let needs_two = is_only && !self.oracle.accepts(&forest.with(span, forest.text(items[at])));
                let item = separator.map(|one| Item::Rule(1 + class_of(one)));
                // a single item of a class that includes this one would lead back here
                let is_own = includes(&self.table.accepted[inner], &self.table.accepted[class]);
                let list = self.repetition(inner, item, needs_two || (is_only && is_own));
                sequence.push(Item::Rule(list));
            } else {
                for (place, &item) in items[at..at + same].iter().enumerate() {
                    sequence.push(Item::Rule(1 + class_of(item)));
                    if let Some(&separator) = between.get(place) {
                        sequence.push(Item::Rule(1 + class_of(separator)));
                    }
                }
            }
            at += same;
            if let Some(&separator) = separators.get(at - 1).filter(|_| at < items.len()) {
                sequence.push(Item::Rule(1 + class_of(separator)));
            }
        }
        let blanks = vec![Blanks::NONE; sequence.len() + 1];
        Shape { items: sequence, blanks }
    }

    /// Whether an item can stand there twice and five times.
    fn is_repeatable(&mut self, item: usize, separator: Option<usize>) -> bool {
        let forest = self.forest;
        let text = forest.text(item);
        let separator = separator.map_or(&b""[..], |separator| forest.text(separator));
        let times = |times: usize| vec![text; times].join(separator);
        [2, 5].into_iter().all(|number| self.oracle.accepts(&forest.with(item, &times(number))))
    }

    fn repetition(&mut self, inner: usize, separator: Option<Item>, needs_two: bool) -> usize {
        let key = (inner, separator.clone(), needs_two);
        if let Some(&rule) = self.lists.get(&key) {
            return rule;
        }
        let item = Item::Rule(1 + inner);
        let rest = match needs_two {
            true => self.repetition(inner, separator.clone(), false),
            false => self.rules.add("list", Vec::new()),
        };
        let longer: Vec<Item> = [item.clone()].into_iter().chain(separator).chain([Item::Rule(rest)]).collect();
        let rule = match needs_two {
            true => self.rules.add("list", vec![longer]),
            false => {
                self.rules.rules[rest].alternatives = vec![vec![item], longer];
                rest
            }
        };
        self.lists.insert(key, rule);
        rule
    }

    /// Rewrites a class that is a list of itself (`E: E + E | 1`) as a list of its other alternatives, which has one
    /// derivation for each input.
    fn atoms(&mut self, class: usize) {
        let lists: Vec<(usize, Option<Item>)> = self
            .lists
            .iter()
            .filter(|(key, _)| key.0 == class && key.2)
            .map(|(key, rule)| (*rule, key.1.clone()))
            .collect();
        let alternatives = std::mem::take(&mut self.rules.rules[1 + class].alternatives);
        let list_of = |alternative: &Vec<Item>| match alternative[..] {
            [Item::Rule(rule)] => lists.iter().find(|list| list.0 == rule),
            _ => None,
        };
        let separators: Vec<Option<Item>> =
            alternatives.iter().filter_map(|one| Some(list_of(one)?.1.clone())).collect();
        let others: Vec<Vec<Item>> = alternatives.iter().filter(|one| list_of(one).is_none()).cloned().collect();
        let padding = self.padding.get(&class).copied();
        if others.is_empty() || (separators.is_empty() && padding.is_none()) {
            self.rules.rules[1 + class].alternatives = alternatives;
            return;
        }
        let name = self.rules.rules[1 + class].name.clone();
        let atom = Item::Rule(self.rules.add(&name, others));
        let (before, after) = padding.unwrap_or((Blanks::NONE, Blanks::NONE));
        let before = before.item(&mut self.rules, &mut self.blanks);
        let after = after.item(&mut self.rules, &mut self.blanks);
        let atom: Vec<Item> = before.into_iter().chain([atom]).chain(after).collect();
        let own = Item::Rule(1 + class);
        let mut alternatives = vec![atom.clone()];
        for separator in separators {
            alternatives.push(atom.iter().cloned().chain(separator).chain([own.clone()]).collect());
        }
        self.rules.rules[1 + class].alternatives = alternatives;
    }
}
