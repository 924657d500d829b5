//! Values in general: from the texts of one place to characters that may come first and characters that may follow.

use super::{
    Oracle,
    rules::{Item, Rules},
};
use libafl_bolts::rands::{Rand, StdRand};
use std::collections::BTreeMap;

/// Place of a value: the bytes before it, and those after it.
pub(crate) type Place = (Vec<u8>, Vec<u8>);

/// A character, or a backslash and a character.
type Unit = Vec<u8>;

/// Number of made-up values that have to be accepted.
const TRIALS: usize = 40;
/// Number of those that may be rejected: words with a meaning of their own.
const REJECTED: usize = 1;
/// Number of places in which each character is tried.
const PLACES: usize = 3;

/// Values by their characters: one of `alone`, or one of `first` and at least one of `rest`.
#[derive(Debug, Default)]
struct Characters {
    alone: Vec<Unit>,
    first: Vec<Unit>,
    rest: Vec<Unit>,
}

/// Set of characters from which those that are accepted are taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Universe {
    Printable,
    /// Printable characters that delimit nothing in the examples.
    Undelimited,
    Names,
    SameClass,
}

/// Least number of characters of a text in which nothing has a meaning of its own.
const FREE: usize = 85;
/// Most forms of values that are crossed.
const MOST_FORMS: usize = 12;

/// Surroundings of the values of a class.
pub(crate) struct Surroundings<'a> {
    /// Places of the values.
    pub places: &'a [Place],
    /// Whether they stand in quotes.
    pub is_quoted: bool,
    /// Characters that delimit parts anywhere in the examples.
    pub delimiters: &'a [u8],
}

/// Generalises the texts that stand in these places; texts in quotes to any characters, others to those that delimit
/// nothing. Returns the alternatives of a rule.
pub(crate) fn generalised(
    texts: &[Vec<u8>],
    around: &Surroundings,
    rules: &mut Rules,
    oracle: &mut Oracle,
    random: &mut StdRand,
) -> Vec<Vec<Item>> {
    let places = around.places;
    let mut order: Vec<Vec<u8>> = texts.iter().filter(|text| !text.is_empty()).cloned().collect();
    // longer ones say more
    order.sort_by_key(|text| (std::cmp::Reverse(text.len().min(4)), text.clone()));
    order.dedup();
    if !around.is_quoted {
        let crossed = crossed(&order, places, oracle);
        order.extend(crossed);
    }
    let (mut known, mut alternatives): (Vec<Characters>, Vec<Vec<Item>>) = (Vec::new(), Vec::new());
    for text in order {
        let units = units(&text);
        if known.iter().any(|known| known.has(&units)) {
            continue;
        }
        if let Some(found) = Characters::widest(&units, around, oracle, random) {
            alternatives.push(vec![Item::Rule(found.add(rules))]);
            known.push(found);
            continue;
        }
        let alternative = by_runs(&text, places, rules, oracle, random);
        if !alternatives.contains(&alternative) {
            alternatives.push(alternative);
        }
    }
    if texts.iter().any(Vec::is_empty) {
        alternatives.push(Vec::new());
    }
    alternatives
}

/// Values that begin like one of these and end like another, cut between runs of digits, of letters, and other bytes, if they
/// have a form that none of these has and are accepted: numbers without a sign or with one, with or without a fraction.
fn crossed(texts: &[Vec<u8>], places: &[Place], oracle: &mut Oracle) -> Vec<Vec<u8>> {
    let mut forms: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
    for text in texts {
        forms.entry(form(text)).or_insert_with(|| text.clone());
    }
    let originals: Vec<Vec<u8>> = forms.values().take(MOST_FORMS).cloned().collect();
    let mut crossed = Vec::new();
    for (one, other) in originals.iter().flat_map(|one| originals.iter().map(move |other| (one, other))) {
        for (end, start) in cuts(one).flat_map(|end| cuts(other).map(move |start| (end, start))) {
            let text = [&one[..end], &other[start..]].concat();
            let form = form(&text);
            let is_new = !text.is_empty() && form.len() <= one.len().max(other.len()) && !forms.contains_key(&form);
            let fits = |place: &Place| oracle.accepts(&[&place.0[..], &text, &place.1].concat());
            if is_new && places.iter().take(PLACES).all(fits) {
                forms.insert(form, text.clone());
                crossed.push(text);
            }
        }
    }
    crossed
}

/// Places between runs of a text, and its ends.
fn cuts(text: &[u8]) -> impl Iterator<Item = usize> + '_ {
    let is_between = |at: usize| class(text[at - 1]) == 1 || class(text[at - 1]) != class(text[at]);
    (0..=text.len()).filter(move |&at| at == 0 || at == text.len() || is_between(at))
}

/// Text with one digit or letter for each run of them.
fn form(text: &[u8]) -> Vec<u8> {
    let mut form: Vec<u8> = text
        .iter()
        .map(|&byte| match class(byte) {
            2 => b'0',
            3 => b'a',
            _ => byte,
        })
        .collect();
    form.dedup_by(|one, other| one == other && one.is_ascii_alphanumeric());
    form
}

/// Generalises runs of digits and letters one by one.
fn by_runs(text: &[u8], places: &[Place], rules: &mut Rules, oracle: &mut Oracle, random: &mut StdRand) -> Vec<Item> {
    let mut items = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let class = class(text[at]);
        let end = at + text[at..].iter().take_while(|&&byte| self::class(byte) == class).count();
        let run = &text[at..end];
        let (before, after) = (&text[..at], &text[end..]);
        let inner: Vec<Place> =
            places.iter().map(|(from, to)| ([from, before].concat(), [after, to].concat())).collect();
        let is_whole = run.len() == text.len();
        let found = match class {
            2 | 3 if !is_whole => {
                let units = units(run);
                Characters::of(&units, Universe::SameClass.units(&units, &[]), &inner, oracle, random)
            }
            _ => None,
        };
        items.push(match found {
            Some(found) => Item::Rule(found.add(rules)),
            None => Item::Text(run.to_vec()),
        });
        at = end;
    }
    items
}

fn class(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => 2,
        b'a'..=b'z' | b'A'..=b'Z' => 3,
        _ => 1,
    }
}

fn units(text: &[u8]) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let length = if text[at] == b'\\' && at + 1 < text.len() { 2 } else { 1 };
        units.push(text[at..at + length].to_vec());
        at += length;
    }
    units
}

impl Characters {
    /// The most general set of characters that makes only accepted values.
    fn widest(units: &[Unit], around: &Surroundings, oracle: &mut Oracle, random: &mut StdRand) -> Option<Self> {
        let universes = [Universe::Printable, Universe::Undelimited, Universe::Names, Universe::SameClass];
        universes.into_iter().find_map(|universe| {
            let all = universe.units(units, around.delimiters);
            let found = Self::of(units, all, around.places, oracle, random)?;
            let is_free = around.is_quoted || found.rest.len() >= FREE;
            (universe != Universe::Printable || is_free).then_some(found)
        })
    }

    fn of(units: &[Unit], all: Vec<Unit>, places: &[Place], oracle: &mut Oracle, random: &mut StdRand) -> Option<Self> {
        let few = &places[..places.len().min(PLACES)];
        let mut is_accepted = |parts: &[&Unit]| {
            let value = parts.iter().copied().flatten().copied().collect::<Vec<u8>>();
            few.iter().all(|(before, after)| oracle.accepts(&[before, &value[..], after].concat()))
        };
        let first = units.first()?;
        let last = units.last()?;
        // a character may follow if it may come last and in between
        let follows = |first: &Unit, unit: &Unit, is_accepted: &mut dyn FnMut(&[&Unit]) -> bool| {
            is_accepted(&[first, unit]) && is_accepted(&[first, unit, last])
        };
        let can_follow = units.iter().skip(1).all(|unit| all.contains(unit) && follows(first, unit, &mut is_accepted));
        if !all.contains(first) || !can_follow || (units.len() == 1 && !is_accepted(&[first])) {
            return None;
        }
        let mut found = Self::default();
        for unit in &all {
            // an escape is nothing of its own where a backslash is a character like others
            if unit.len() > 1 && found.rest.iter().any(|known| *known == [b'\\']) {
                continue;
            }
            if is_accepted(&[unit]) {
                found.alone.push(unit.clone());
            }
            if is_accepted(&[unit, last]) {
                found.first.push(unit.clone());
            }
            if follows(first, unit, &mut is_accepted) {
                found.rest.push(unit.clone());
            }
        }
        // nothing may follow a zero
        if let Some(other) = found.first.last().filter(|_| found.rest.is_empty()) {
            found.rest = all.into_iter().filter(|unit| follows(other, unit, &mut is_accepted)).collect();
        }
        if found.first.is_empty() || found.rest.is_empty() {
            found.first.clear();
            found.rest.clear();
        }
        let is_general = found.alone.len() + found.rest.len() > 1;
        (is_general && found.has(units) && found.is_confirmed(places, oracle, random)).then_some(found)
    }

    /// Whether made-up values are accepted in all places.
    fn is_confirmed(&self, places: &[Place], oracle: &mut Oracle, random: &mut StdRand) -> bool {
        let mut rejected = 0;
        for trial in 0..TRIALS {
            let value = self.made_up(random);
            let (before, after) = &places[trial % places.len()];
            rejected += usize::from(!oracle.accepts(&[before, &value[..], after].concat()));
        }
        rejected <= REJECTED
    }

    fn made_up(&self, random: &mut StdRand) -> Vec<u8> {
        let mut one = |units: &[Unit]| units[random.below_or_zero(units.len())].clone();
        if self.rest.is_empty() || (!self.alone.is_empty() && one(&[vec![0], vec![1], vec![1]]) == [0]) {
            return one(&self.alone);
        }
        let mut value = one(&self.first);
        let length = 1 + one(&[vec![0], vec![1], vec![2], vec![3], vec![5]])[0];
        for _ in 0..length {
            value.extend(one(&self.rest));
        }
        value
    }

    /// Whether a value is one of these.
    fn has(&self, units: &[Unit]) -> bool {
        match units {
            [] => false,
            [only] => self.alone.contains(only),
            [first, rest @ ..] => self.first.contains(first) && rest.iter().all(|unit| self.rest.contains(unit)),
        }
    }

    fn add(&self, rules: &mut Rules) -> usize {
        let set = |units: &[Unit], rules: &mut Rules| {
            let alternatives = units.iter().map(|unit| vec![Item::Text(unit.clone())]).collect();
            rules.add(name_of(units), alternatives)
        };
        let mut alternatives = Vec::new();
        if !self.alone.is_empty() {
            alternatives.push(vec![Item::Rule(set(&self.alone, rules))]);
        }
        if !self.rest.is_empty() && self.alone == self.first && self.first == self.rest {
            let value = rules.add("text", Vec::new());
            alternatives.push(vec![alternatives[0][0].clone(), Item::Rule(value)]);
            rules.rules[value].alternatives = alternatives;
            return value;
        }
        if !self.rest.is_empty() {
            let (first, rest) = (set(&self.first, rules), set(&self.rest, rules));
            let tail = rules.add("tail", Vec::new());
            rules.rules[tail].alternatives = vec![vec![Item::Rule(rest)], vec![Item::Rule(rest), Item::Rule(tail)]];
            alternatives.push(vec![Item::Rule(first), Item::Rule(tail)]);
        }
        rules.add("text", alternatives)
    }
}

/// Name of a set of characters.
fn name_of(units: &[Unit]) -> &'static str {
    let all = |is: fn(&u8) -> bool| units.iter().all(|unit| unit.len() == 1 && is(&unit[0]));
    if all(u8::is_ascii_digit) {
        "digit"
    } else if all(u8::is_ascii_alphabetic) {
        "letter"
    } else {
        "character"
    }
}

impl Universe {
    fn units(self, like: &[Unit], delimiters: &[u8]) -> Vec<Unit> {
        let classes: Vec<u8> = like.iter().map(|unit| class(unit[0])).collect();
        let is_in = |byte: u8| match self {
            Self::Printable => true,
            Self::Undelimited => !delimiters.contains(&byte) || like.contains(&vec![byte]),
            Self::Names => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            // others stay what they are
            Self::SameClass => class(byte) > 1 && classes.contains(&class(byte)) || like.contains(&vec![byte]),
        };
        let mut units: Vec<Unit> = (b' '..=b'~').filter(|&byte| is_in(byte)).map(|byte| vec![byte]).collect();
        if self == Self::Printable {
            units.extend((b'!'..=b'~').map(|byte| vec![b'\\', byte]));
            units.extend(like.iter().filter(|unit| !unit[0].is_ascii()).cloned());
        }
        units
    }
}
