//! Search for keys that collide in the hash function of a program, which is only asked for hashes.
//!
//! Most hash functions make one state of the bytes, one after the other, and what follows does the same to equal states. So
//! texts of a few letters that lead to the same state can be exchanged for each other in any key: two such texts at each of ten
//! places make 1,024 keys of one hash (Joux, Multicollisions in iterated hash functions, 2004). Of a state of 32 bits, two are
//! found among some hundred thousand. For other functions keys are collected by the bits that a table looks at.

use std::collections::HashMap;

/// Letters of keys: names in most formats consist of these, in lower case where case is folded.
const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";

/// Those that names may begin with.
const FIRST: u64 = 26;

/// Lengths of texts that are exchanged. Most begin where words of a hash do; short texts of FNV hardly collide.
const LENGTHS: [usize; 5] = [1, 2, 4, 5, 8];

/// Lengths of keys: multiples of what hash functions read at once, or loops do in one iteration.
const STEP: usize = 8;
const LONGEST: usize = 96;
const AT_FIRST: usize = 32;

/// Texts of one place that are tried: two of them have the same 32 bits with a probability of 98 %.
const MOST_TEXTS: u64 = 1 << 18;

/// Texts of equal hashes that cannot be exchanged, after which no others are looked for.
const MOST_FAILED: u32 = 2;

/// Different keys around texts for which their hashes have to agree.
const TRIALS: usize = 6;

/// Length of keys up to which others need not be looked for: short ones make up for agreeing in fewer bits by their number.
const SHORT: usize = 24;

/// Keys from which on colliding ones are of use.
const FEWEST: usize = 48;

/// Keys that are collected, and that are tried for that, at most.
const MOST_COLLECTED: usize = 2000;
const MOST_KEYS: u64 = 1 << 23;

/// Keys that are asked for at once.
const BATCH: usize = 1 << 10;

/// Keys of the first test: whether collisions matter at all is known after some 20,000 keys, and most hashes are of no table.
const FIRST_COLLECTED: usize = 96;

/// A program that hashes keys.
pub trait Program {
    /// Hashes of keys of equal length, `None` for those that it does not hash. `None` to end the search.
    fn hashes(&mut self, keys: &[Vec<u8>]) -> Option<Vec<Option<u64>>>;

    /// Work that was spent on the search so far.
    fn work(&self) -> f64;

    /// Work that may still be spent.
    fn left(&self) -> f64;

    /// Length of the shortest keys that it hashes.
    fn shortest(&self) -> usize;

    /// Keys of a length that an input has room for.
    fn room(&self, length: usize) -> usize;

    /// Largest number up to a limit by which hashes are divided if there are so many keys.
    fn divisor(&mut self, keys: usize, most: u64) -> Option<u64>;

    /// Work for as many of these keys as there is room for, if they collide where it matters: if the program takes longer for
    /// them than for others.
    fn suffers(&mut self, keys: &Colliding) -> Option<f64>;
}

/// Keys that collide.
#[derive(Debug)]
pub enum Colliding {
    /// Any text of each place, one after the other.
    Product(Vec<Vec<Vec<u8>>>),
    List(Vec<Vec<u8>>),
}

impl Colliding {
    pub fn len(&self) -> usize {
        match self {
            Self::Product(places) => places.iter().fold(1, |all: usize, texts| all.saturating_mul(texts.len())),
            Self::List(keys) => keys.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The key with a number below their number.
    pub fn key(&self, mut number: usize) -> Vec<u8> {
        match self {
            Self::Product(places) => places.iter().fold(Vec::new(), |mut key, texts| {
                key.extend_from_slice(&texts[number % texts.len()]);
                number /= texts.len();
                key
            }),
            Self::List(keys) => keys[number].clone(),
        }
    }
}

/// The text with a number: different ones for numbers below that of all texts.
fn text(mut number: u64, length: usize, is_first: bool) -> Vec<u8> {
    let letter = |at: usize| {
        let of = if is_first && at == 0 { FIRST } else { LETTERS.len() as u64 };
        let letter = LETTERS[(number % of) as usize];
        number /= of;
        letter
    };
    (0..length).map(letter).collect()
}

/// Number of different texts; the largest number where there are more.
fn texts(length: usize, is_first: bool) -> u64 {
    let of = |at| if is_first && at == 0 { FIRST } else { LETTERS.len() as u64 };
    (0..length).fold(1, |all: u64, at| all.saturating_mul(of(at)))
}

/// A number that looks like a random one.
fn mixed(number: u64) -> u64 {
    let mixed = (number ^ number >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ mixed >> 32
}

/// Keys that are different and look random: the same ones each time.
pub fn plain(from: u64, number: usize, length: usize) -> Vec<Vec<u8>> {
    let spread = |number: u64| mixed(number) % texts(length, true);
    (from..).take(number).map(|number| text(spread(number), length, true)).collect()
}

/// Search for keys that are products of texts.
struct Places<'a, P> {
    program: &'a mut P,
    /// Length of the keys.
    length: usize,
    places: Vec<Vec<Vec<u8>>>,
    /// Keys that were made for tests.
    tests: u64,
    /// Work that ends the search for places.
    enough: f64,
}

/// The part of a hash that is looked at: tables look at less than 64 bits of it, and its lower bits often depend on nothing but
/// the lower bits of the state.
fn low(hash: u64) -> u64 {
    hash & u64::from(u32::MAX)
}

impl<'a, P: Program> Places<'a, P> {
    fn new(program: &'a mut P, length: usize, enough: f64) -> Self {
        Self { program, length, places: Vec::new(), tests: 0, enough }
    }

    fn hashes(&mut self, keys: &[Vec<u8>]) -> Option<Vec<Option<u64>>> {
        if self.program.work() < self.enough { self.program.hashes(keys) } else { None }
    }

    fn used(&self) -> usize {
        self.places.iter().map(|texts| texts[0].len()).sum()
    }

    /// A key with a text at the next place; the rest is as `rest` says.
    fn key(&self, text: &[u8], choice: u64, rest: &[u8]) -> Vec<u8> {
        let mut key = Vec::with_capacity(self.length);
        for (place, texts) in self.places.iter().enumerate() {
            key.extend_from_slice(&texts[(mixed(choice + place as u64) as usize) % texts.len()]);
        }
        key.extend_from_slice(text);
        let rest_from = key.len();
        key.extend_from_slice(&rest[rest_from..self.length]);
        key
    }

    /// Those of `texts` that can be exchanged for the first one, whatever stands around them.
    fn exchangeable(&mut self, mut texts: Vec<Vec<u8>>) -> Option<Vec<Vec<u8>>> {
        for _ in 0..TRIALS {
            self.tests += 1;
            let rest = text(mixed(self.tests), self.length, false);
            let keys: Vec<_> = texts.iter().map(|text| self.key(text, self.tests << 8, &rest)).collect();
            let hashes = self.hashes(&keys)?;
            let Some(&Some(wanted)) = hashes.first() else { return Some(Vec::new()) };
            let mut hashes = hashes.into_iter();
            texts.retain(|_| hashes.next().flatten().map(low) == Some(low(wanted)));
        }
        Some(texts)
    }

    /// The most texts of a length at the next place that can be exchanged for each other; none if there are no two.
    fn at_length(&mut self, length: usize) -> Option<Vec<Vec<u8>>> {
        let is_first = self.places.is_empty();
        let all = texts(length, is_first);
        let rest = vec![LETTERS[0]; self.length];
        let mut by_hash: HashMap<u64, Vec<Vec<u8>>> = HashMap::new();
        let (mut tried, mut failed) = (0, 0);
        while tried < all.min(MOST_TEXTS) {
            let most = (all.min(MOST_TEXTS) - tried).min(BATCH as u64);
            // all of them where they are few
            let spread = |number: u64| if all <= MOST_TEXTS { number } else { mixed(number) % all };
            let texts: Vec<_> = (tried..tried + most).map(|number| text(spread(number), length, is_first)).collect();
            tried += most;
            let keys: Vec<_> = texts.iter().map(|text| self.key(text, 0, &rest)).collect();
            let mut same = Vec::new();
            for (text, hash) in texts.into_iter().zip(self.hashes(&keys)?) {
                let Some(hash) = hash.map(low) else { continue };
                let known = by_hash.entry(hash).or_default();
                if !known.contains(&text) {
                    known.push(text);
                }
                if known.len() > 1 {
                    same.push(hash);
                }
            }
            if all <= MOST_TEXTS && tried < all {
                continue;
            }
            let most = if all <= MOST_TEXTS {
                by_hash.values().max_by_key(|texts| (texts.len(), texts[0].clone()))
            } else {
                same.first().map(|hash| &by_hash[hash])
            };
            let Some(texts) = most.filter(|texts| texts.len() > 1) else { continue };
            let kept = self.exchangeable(texts.clone())?;
            failed += 1;
            if kept.len() > 1 || all <= MOST_TEXTS || failed == MOST_FAILED {
                return Some(kept);
            }
            by_hash.clear();
        }
        Some(Vec::new())
    }

    /// Adds a place, with the texts of the one before if they can be exchanged there too. Returns whether there is one.
    fn add(&mut self) -> Option<bool> {
        if let Some(texts) = self.places.last().cloned() {
            let kept = self.exchangeable(texts)?;
            if kept.len() > 1 {
                self.places.push(kept);
                return Some(true);
            }
        }
        let before = self.places.last().map(|texts| texts[0].len());
        for length in LENGTHS.into_iter().filter(|&length| before.is_none_or(|before| before == length)) {
            if self.used() + length > self.length {
                break;
            }
            let texts = self.at_length(length)?;
            if texts.len() > 1 {
                self.places.push(texts);
                return Some(true);
            }
        }
        Some(false)
    }

    /// Keys of as many places as there is room for, or as are found; `None` if these are few.
    fn all(mut self) -> Option<Colliding> {
        let number = loop {
            let number = self.places.iter().map(Vec::len).fold(1, usize::saturating_mul);
            let is_full = self.places.last().is_some_and(|texts| self.used() + texts[0].len() > self.length);
            if number >= self.program.room(self.length) || is_full || !self.add().unwrap_or(false) {
                break number;
            }
        };
        let rest = vec![LETTERS[0]; self.length - self.used()];
        self.places.extend((!rest.is_empty()).then(|| vec![rest]));
        (number >= FEWEST).then_some(Colliding::Product(self.places))
    }
}

/// Keys that are products of texts, found with half of the work that is left; `None` if there are none.
fn products<P: Program>(program: &mut P) -> Option<Colliding> {
    let enough = program.work() + program.left() / 2.0;
    let mut first = Places::new(program, AT_FIRST, enough);
    if !first.add()? {
        return None;
    }
    let texts = &first.places[0];
    let (bits, size) = ((texts.len() as f64).log2(), texts[0].len());
    // longer keys leave room for fewer
    let has_room = |&length: &usize| {
        let keys = first.program.room(length).max(FEWEST) as f64;
        (keys.log2() / bits).ceil() as usize * size <= length
    };
    let length = (first.program.shortest()..LONGEST).step_by(STEP).find(has_room).unwrap_or(LONGEST);
    if length == first.length {
        return first.all();
    }
    Places::new(program, length, enough).all()
}

/// Keys that have the same lower bits, or the same remainder if the program divides: as many as there is room for, or as are
/// found.
fn collected<P: Program>(program: &mut P, most: usize) -> Option<Colliding> {
    let length = program.shortest();
    let before = program.work();
    let mut hashes = program.hashes(&plain(0, BATCH, length));
    // one of twice as many buckets gets the wanted keys
    let affordable = program.left() / (program.work() - before) * BATCH as f64 / 2.0;
    let wanted = program.room(length).min(most).min(affordable.sqrt() as usize);
    // in more buckets, too few keys would share one
    let divisor = program.divisor(wanted, MOST_KEYS / FEWEST as u64).filter(|&divisor| divisor > 1);
    let buckets = divisor.unwrap_or((2 * wanted.max(2) as u64).next_power_of_two());
    let mut numbers: Vec<Vec<u32>> = vec![Vec::new(); buckets as usize];
    let mut fullest = 0;
    let mut tried = 0;
    while let Some(of_batch) = hashes {
        for (number, hash) in (tried..).zip(of_batch) {
            let Some(hash) = hash else { continue };
            let bucket = (hash % buckets) as usize;
            numbers[bucket].push(number as u32);
            if numbers[bucket].len() > numbers[fullest].len() {
                fullest = bucket;
            }
        }
        tried += BATCH as u64;
        let goes_on = tried < MOST_KEYS && numbers[fullest].len() < wanted;
        hashes = if goes_on { program.hashes(&plain(tried, BATCH, length)) } else { None };
    }
    let keys: Vec<_> = numbers[fullest].iter().flat_map(|&number| plain(number.into(), 1, length)).collect();
    (keys.len() >= FEWEST).then_some(Colliding::List(keys))
}

/// Searches for keys that collide, and for which the program takes longer.
pub fn search<P: Program>(program: &mut P) -> Option<Colliding> {
    let few = collected(program, FIRST_COLLECTED)?;
    program.suffers(&few)?;
    let suffered = |program: &mut P, keys: Colliding| program.suffers(&keys).map(|work| (work, keys));
    let product = products(program).and_then(|keys| suffered(program, keys));
    if product.as_ref().is_some_and(|(_, keys)| keys.key(0).len() <= SHORT) {
        return product.map(|(_, keys)| keys);
    }
    let collected = collected(program, MOST_COLLECTED).and_then(|keys| suffered(program, keys));
    let all = product.into_iter().chain(collected);
    all.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, keys)| keys)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    type HashOf = fn(&[u8]) -> u64;

    /// A table whose chains the program walks.
    struct Table {
        hash: HashOf,
        divisor: Option<u64>,
        hashed: u64,
        affordable: u64,
        room: usize,
    }

    impl Table {
        fn new(hash: HashOf, divisor: Option<u64>) -> Self {
            Self { hash, divisor, hashed: 0, affordable: u64::MAX, room: 12_000 }
        }

        fn longest_chain(&self, keys: &Colliding) -> usize {
            let size = self.divisor.unwrap_or(2 * keys.len().next_power_of_two() as u64);
            let mut chains: HashMap<u64, usize> = HashMap::new();
            for number in 0..keys.len().min(self.room(keys.key(0).len())) {
                *chains.entry((self.hash)(&keys.key(number)) % size).or_default() += 1;
            }
            chains.into_values().max().unwrap_or(0)
        }
    }

    impl Program for Table {
        fn hashes(&mut self, keys: &[Vec<u8>]) -> Option<Vec<Option<u64>>> {
            self.hashed += keys.len() as u64;
            (self.hashed <= self.affordable).then_some(())?;
            Some(keys.iter().map(|key| Some((self.hash)(key))).collect())
        }

        fn work(&self) -> f64 {
            self.hashed as f64
        }

        fn left(&self) -> f64 {
            self.affordable.saturating_sub(self.hashed) as f64
        }

        fn shortest(&self) -> usize {
            STEP
        }

        fn room(&self, length: usize) -> usize {
            self.room / (length + 3)
        }

        fn divisor(&mut self, _: usize, most: u64) -> Option<u64> {
            self.divisor.filter(|&divisor| divisor <= most)
        }

        fn suffers(&mut self, keys: &Colliding) -> Option<f64> {
            Some(self.longest_chain(keys) as f64).filter(|&chain| chain >= FEWEST as f64)
        }
    }

    fn times_33(key: &[u8]) -> u64 {
        key.iter().fold(5381_u32, |hash, &byte| hash.wrapping_mul(33).wrapping_add(byte.into())).into()
    }

    fn fnv(key: &[u8]) -> u64 {
        key.iter().fold(0x811c_9dc5_u32, |hash, &byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)).into()
    }

    /// MurmurHash3 of keys whose length is a multiple of four.
    fn murmur(key: &[u8]) -> u64 {
        let mut hash = key.as_chunks::<4>().0.iter().fold(0x432a_9843_u32, |hash, &word| {
            let word = u32::from_le_bytes(word).wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
            (hash ^ word).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64)
        });
        hash ^= key.len() as u32;
        hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
        hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
        (hash ^ hash >> 16).into()
    }

    /// A hash whose state is larger than what comes out.
    fn large_state(key: &[u8]) -> u64 {
        let mixed = |state: u128, &byte: &u8| {
            let mixed = (state ^ u128::from(byte)).wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645);
            mixed ^ mixed >> 71
        };
        (key.iter().fold(7, mixed) >> 80) as u64 & 0xffff_ffff
    }

    #[test]
    fn keys_of_functions_with_a_state_of_32_bits_have_one_hash() {
        let functions: [(&str, HashOf, usize); 3] =
            [("times 33", times_33, 24), ("fnv", fnv, 48), ("murmur", murmur, 64)];
        for (name, hash, longest) in functions {
            let mut table = Table::new(hash, Some(u64::from(u32::MAX)));
            let keys = products(&mut table).expect(name);
            let number = keys.len().min(table.room(keys.key(0).len()));
            assert_eq!(table.longest_chain(&keys), number, "{name}");
            assert!(keys.key(0).len() <= longest, "{name}: {}", keys.key(0).len());
            let different: HashSet<_> = (0..number).map(|number| keys.key(number)).collect();
            assert_eq!(different.len(), number, "{name}");
        }
    }

    #[test]
    fn what_was_found_is_not_lost_when_the_work_ends() {
        let mut table = Table { affordable: 3_000_000, room: 120_000, ..Table::new(murmur, Some(u64::from(u32::MAX))) };
        let keys = products(&mut table).unwrap();
        assert!(table.hashed <= 1_500_000 + BATCH as u64, "{}", table.hashed);
        assert!(keys.len() >= FEWEST && keys.len() < table.room(keys.key(0).len()), "{}", keys.len());
        assert_eq!(table.longest_chain(&keys), keys.len());
    }

    #[test]
    fn keys_of_other_functions_share_what_a_table_looks_at() {
        for divisor in [None, Some(2357)] {
            let mut table = Table::new(large_state, divisor);
            let keys = search(&mut table).unwrap();
            assert!(matches!(keys, Colliding::List(_)));
            assert_eq!(table.longest_chain(&keys), keys.len().min(table.room(STEP)));
            assert!(keys.len() >= 1000, "{}", keys.len());
        }
    }

    #[test]
    fn a_part_that_a_hash_does_not_look_at_is_found_with_few_keys() {
        let every_second = |key: &[u8]| times_33(&key.iter().copied().step_by(2).collect::<Vec<u8>>());
        let mut table = Table::new(every_second, None);
        let keys = search(&mut table).unwrap();
        assert!(table.hashed < 40_000, "{}", table.hashed);
        assert_eq!(keys.key(0).len(), 8);
    }
}
