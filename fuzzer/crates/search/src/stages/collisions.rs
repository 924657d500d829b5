//! Keys that collide: finds out where the program hashes parts of an input, searches for texts of equal hash, and makes inputs
//! of many of them.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use libafl::{
    Error,
    corpus::Corpus,
    inputs::{BytesInput, HasMutatorBytes},
    state::{HasCorpus, HasExecutions, HasMaxSize},
};

use super::{Work, operators::Own, run_small};
use crate::{
    EntryId,
    corpus::{
        collisions::{MOST_WORK, Slots, WORK_OF_PROVEN},
        effort::work,
    },
    evaluate::{Campaign, Parts, evaluate},
    hooks::CampaignHooks,
    origin::Origin,
};
use quagmire_execution::{
    abi::Status,
    comparisons::{Comparisons, Hash},
};
use quagmire_mutators::collisions::{Colliding, Program, plain, search};

/// Size of entries that are handled.
const LONGEST: usize = 64 << 10;

/// Lengths of keys that show how a program treats keys: the first one that it hashes.
const LENGTHS: [usize; 2] = [8, 16];

/// Keys of an input at most while the search goes on, and at first.
const MOST_KEYS: usize = 512;
const FIRST_KEYS: usize = 64;

/// Size of the inputs of a search, if the size limit is smaller now, and of those that are made of what it finds: a few keys
/// that collide cost little.
const AT_SIZE: usize = 16 << 10;
const FOR_SIZE: usize = 64 << 10;

/// Records of a run that are used, of those that there is room for.
const MOST_RECORDS: usize = 4000;

/// Keys that are looked at in an input, pairs of neighbours that are tried, and bytes between them.
const MOST_SPOTS: usize = 64;
const MOST_PAIRS: usize = 4;
const MOST_BETWEEN: usize = 256;

/// Bytes around a single key that may belong to it, and what may stand between two.
const BEHIND: usize = 16;
const IN_FRONT: usize = 4;
const SEPARATORS: [&[u8]; 7] = [b"", b",", b" ", b"\n", b";", b"&", b"\r\n"];

/// Factor between the work for keys that collide and for others from which they do collide, however the difference grows; and one
/// from which they do if it grows by more than the other factor from half of the keys on: walks of chains grow by 4, and what
/// else differs by 2. Parsers spend a hundred times as much on a key as on a step in a chain.
const SUFFERS: f64 = 1.2;
const SUFFERS_LITTLE: f64 = 1.02;
const GROWS: f64 = 3.0;

/// Most work that a run is expected to be, in instructions.
const DEAREST: f64 = 3e8;

/// LibAFL stage that does so, once for each hash function.
pub struct CollisionsStage {
    /// `None` if it is not used.
    comparisons: Option<Comparisons>,
    operator: u16,
    input: BytesInput,
}

impl CollisionsStage {
    /// Creates a stage for a campaign with `rules` rules. Without `comparisons` it does nothing.
    pub fn new(rules: usize, comparisons: Option<Comparisons>) -> Self {
        Self { comparisons, operator: Own::Collisions.number(rules), input: BytesInput::new(Vec::new()) }
    }
}

/// Parts of an input that are hashed at a place of the program.
struct Hashed {
    place: u32,
    spots: Vec<Range<usize>>,
}

/// Whether a byte stands in names.
fn is_of_name(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_'
}

/// The input with longer names: a loop that hashes words of several bytes does nothing for short ones.
fn stretched(input: &[u8]) -> Vec<u8> {
    let runs = input.chunk_by(|a, b| is_of_name(a) == is_of_name(b));
    let mut longer = Vec::with_capacity(2 * input.len());
    for (number, run) in runs.enumerate() {
        longer.extend_from_slice(run);
        if run[0].is_ascii_alphabetic() && run.len() < LENGTHS[1] {
            longer.extend(plain(number as u64, 1, LENGTHS[1]).concat().drain(run.len()..));
        }
    }
    longer
}

/// Names in `input` that are hashed, by place: what is used before states of loops, which may be mixed further.
fn hashed_in(input: &[u8], hashes: impl Iterator<Item = Hash>) -> Vec<Hashed> {
    let mut places: Vec<(bool, Hashed)> = Vec::new();
    for hash in hashes {
        let Some(place) = hash.place() else { continue };
        let name: Vec<u8> = hash.bytes().iter().copied().take_while(is_of_name).collect();
        if name.is_empty() {
            continue;
        }
        let known = places.iter().position(|(_, one)| one.place == place).unwrap_or_else(|| {
            places.push((!hash.is_final(), Hashed { place, spots: Vec::new() }));
            places.len() - 1
        });
        let spots = &mut places[known].1.spots;
        let from = spots.last().map_or(0, |spot| spot.end);
        if let Some(at) = memchr::memmem::find(&input[from..], &name).filter(|_| spots.len() < MOST_SPOTS) {
            spots.push(from + at..from + at + name.len());
        }
    }
    // by their order in the run: hashes of places differ where programs are mapped elsewhere
    places.sort_by_key(|(is_state, _)| *is_state);
    places.into_iter().map(|(_, one)| one).filter(|one| !one.spots.is_empty()).collect()
}

/// Slots for keys in an input in which there are some.
fn slots_of(input: &[u8], spots: &[Range<usize>]) -> Vec<Slots> {
    let cut = |before: usize, between: Vec<u8>, after: usize| Slots {
        before: input[..before].to_vec(),
        between,
        after: input[after..].to_vec(),
    };
    let near = |pair: &&[Range<usize>]| (1..=MOST_BETWEEN).contains(&(pair[1].start - pair[0].end));
    let pairs = spots.windows(2).filter(near).take(MOST_PAIRS);
    let mut all: Vec<Slots> =
        pairs.map(|pair| cut(pair[0].start, input[pair[0].end..pair[1].start].to_vec(), pair[1].end)).collect();
    let [spot] = spots else { return all };
    for end in spot.end..=input.len().min(spot.end + BEHIND) {
        for start in (spot.start.saturating_sub(IN_FRONT)..=spot.start).rev() {
            for separator in SEPARATORS {
                let between = [&input[spot.end..end], separator, &input[start..spot.start]].concat();
                if !between.is_empty() {
                    all.push(cut(spot.start, between, spot.end));
                }
            }
        }
    }
    all
}

/// A place of the program that hashes keys in slots of an input.
struct Asked<'a, 'p, C: Campaign> {
    stage: &'a mut CollisionsStage,
    comparisons: Comparisons,
    parts: &'a mut Parts<'p, C>,
    parent: EntryId,
    place: u32,
    slots: Slots,
    /// Length of the shortest keys.
    length: usize,
    /// Keys of an input.
    batch: usize,
    /// Work after which the search ends.
    enough: f64,
    /// Whether keys that collide were seen to cost more.
    is_proven: bool,
    failure: Option<Error>,
}

impl<C: Campaign> Asked<'_, '_, C> {
    /// Runs keys, with their hashes recorded. `None` to end the search.
    fn run(&mut self, keys: &[Vec<u8>]) -> Option<()> {
        self.slots.fill(keys.iter().cloned(), self.stage.input.as_mut());
        if self.stage.input.mutator_bytes().len() > self.parts.state.search.size_limit.most() {
            return None;
        }
        self.comparisons.begin_with_hashes_of(self.place);
        let run = run_small(self.parts, self.stage.operator, self.parent, &self.stage.input);
        self.comparisons.end();
        match run {
            Ok(Some((status, of_target))) => {
                let state = &mut self.parts.state.search.collisions;
                state.work += work(of_target, self.stage.input.mutator_bytes().len()) as f64;
                if matches!(status, Status::Crashed | Status::Hung | Status::Memory) {
                    self.enough = 0.0;
                }
                (status == Status::Returned && state.work <= self.enough).then_some(())
            }
            Ok(None) => None,
            Err(error) => {
                self.failure = Some(error);
                None
            }
        }
    }

    /// Whether the search may make another run.
    fn may_go_on(&self) -> bool {
        let state = &self.parts.state;
        self.failure.is_none() && !state.is_interrupted() && state.search.collisions.work <= self.enough
    }

    /// Hashes of keys of the last run.
    fn recorded(&self, keys: &[Vec<u8>]) -> Vec<Option<u64>> {
        let numbers: HashMap<&[u8], usize> = keys.iter().enumerate().map(|(number, key)| (&key[..], number)).collect();
        let mut hashes = vec![None; keys.len()];
        let length = keys.first().map_or(0, Vec::len);
        for hash in self.comparisons.hashes().filter(|hash| hash.place() == Some(self.place)) {
            let key = hash.bytes().get(..length);
            if let Some(&number) = key.and_then(|key| numbers.get(key)) {
                hashes[number] = Some(hash.value());
            }
        }
        hashes
    }

    fn hashes_of(&mut self, keys: &[Vec<u8>]) -> Option<Vec<Option<u64>>> {
        self.run(keys)?;
        Some(self.recorded(keys))
    }

    /// Whether each of a few keys is hashed.
    fn fits(&mut self) -> bool {
        let keys = plain(0, 3, self.length);
        self.may_go_on() && self.hashes_of(&keys).is_some_and(|hashes| hashes.iter().all(Option::is_some))
    }

    /// Takes out of what stands between keys what is not needed there: each of millions of keys is read with it.
    fn shorten(&mut self) {
        let mut size = self.slots.between.len() / 2;
        while size > 0 {
            let mut at = 0;
            while at + size <= self.slots.between.len() && self.slots.between.len() > size {
                let removed: Vec<u8> = self.slots.between.splice(at..at + size, []).collect();
                if !self.fits() {
                    self.slots.between.splice(at..at, removed);
                    at += size;
                }
            }
            size /= 2;
        }
    }

    /// Searches for keys that collide, with less between them first: what is left may put them into tables of their own.
    fn find(&mut self) -> Option<Colliding> {
        let whole = self.slots.between.clone();
        self.shorten();
        let found = self.search();
        if found.is_some() || self.slots.between == whole || !self.may_go_on() {
            return found;
        }
        self.slots.between = whole;
        self.search()
    }

    fn search(&mut self) -> Option<Colliding> {
        if self.is_hash() { search(self) } else { None }
    }

    /// Whether keys have hashes of their own that are always the same. Finds out how many keys an input may have.
    fn is_hash(&mut self) -> bool {
        let keys = plain(0, FIRST_KEYS.min(self.in_search(self.length)), self.length);
        let Some(hashes) = self.hashes_of(&keys) else { return false };
        let records = self.comparisons.hashes().count().max(1);
        let is_again = self.hashes_of(&keys).is_some_and(|again| again == hashes);
        let different: HashSet<u64> = hashes.iter().flatten().copied().collect();
        let hashed = hashes.iter().flatten().count();
        self.batch = if hashed < keys.len() { hashed } else { MOST_KEYS.min(MOST_RECORDS * hashed / records) };
        is_again && hashed > 3 && 2 * different.len() > hashed
    }

    /// Keys that an input of the search has room for.
    fn in_search(&self, length: usize) -> usize {
        let now = self.parts.state.libafl.max_size();
        self.slots.room(length, now.max(AT_SIZE.min(self.parts.state.search.size_limit.most())))
    }

    /// Keys that an input may have while hashes are recorded.
    fn most(&self, length: usize) -> usize {
        self.batch.min(self.in_search(length)).max(1)
    }
}

impl<C: Campaign> Program for Asked<'_, '_, C> {
    fn hashes(&mut self, keys: &[Vec<u8>]) -> Option<Vec<Option<u64>>> {
        let batch = self.most(keys.first().map_or(0, Vec::len));
        let mut hashes = Vec::with_capacity(keys.len());
        for keys in keys.chunks(batch) {
            hashes.extend(self.hashes_of(keys)?);
        }
        Some(hashes)
    }

    fn work(&self) -> f64 {
        self.parts.state.search.collisions.work
    }

    fn left(&self) -> f64 {
        (self.enough - self.work()).max(0.0)
    }

    fn shortest(&self) -> usize {
        self.length
    }

    fn room(&self, length: usize) -> usize {
        self.slots.room(length, FOR_SIZE.min(self.parts.state.search.size_limit.most()))
    }

    fn divisor(&mut self, number: usize, most: u64) -> Option<u64> {
        let keys = plain(0, number.min(self.most(self.length)), self.length);
        let hashes: HashSet<u64> = self.hashes_of(&keys)?.into_iter().flatten().collect();
        let divided = self.comparisons.hashes().filter(|hash| hashes.contains(&hash.value()));
        divided.filter_map(|hash| hash.divisor()).filter(|&divisor| divisor <= most).max()
    }

    /// In a process of its own: keys that only collide in this one are of no use.
    fn suffers(&mut self, keys: &Colliding) -> Option<f64> {
        let length = keys.key(0).len();
        let number = keys.len().min(self.in_search(length));
        let others = plain(0, number, length);
        let colliding: Vec<_> = (0..number).map(|number| keys.key(number)).collect();
        let half = number / 2;
        let inputs = [&others[..1], &others[..half], &colliding[..half], &others, &colliding].map(|keys| {
            let mut input = Vec::new();
            self.slots.fill(keys.iter().cloned(), &mut input);
            input
        });
        let of_target = self.parts.state.hooks.instructions_apart(&inputs.each_ref().map(Vec::as_slice))?;
        self.parts.state.search.collisions.work += of_target.iter().sum::<u64>() as f64;
        let of_target = <[u64; 5]>::try_from(of_target).ok()?.map(|of| of as f64);
        let [one, without_half, with_half, without, with] = of_target;
        let (without, with, of_half) = (without - one, with - one, with_half - without_half);
        let grows = with > SUFFERS_LITTLE * without && with - without > GROWS * of_half;
        let suffers = grows || with > SUFFERS * without;
        if suffers && !self.is_proven {
            self.is_proven = true;
            self.enough += WORK_OF_PROVEN;
        }
        suffers.then_some(with)
    }
}

impl CollisionsStage {
    /// Searches for keys that collide in what the program hashes of an input.
    fn look_into<C: Campaign>(
        &mut self,
        comparisons: Comparisons,
        entry: EntryId,
        bytes: &[u8],
        parts: &mut Parts<'_, C>,
    ) -> Result<(), Error> {
        if bytes.len() > LONGEST.min(parts.state.libafl.max_size()) {
            return Ok(());
        }
        let input = BytesInput::new(bytes.to_vec());
        if parts.state.is_interrupted() || parts.state.hooks.is_left_out(bytes) {
            return Ok(());
        }
        comparisons.begin();
        let run = evaluate(parts, &Origin::Mutant { parent: entry, operators: &[self.operator] }, &input);
        comparisons.end();
        run?;
        parts.look()?;
        let all = hashed_in(bytes, comparisons.hashes());
        for hashed in &all {
            let is_interrupted = parts.state.is_interrupted();
            let search = &mut parts.state.search;
            if is_interrupted || !search.collisions.begins(hashed.place, search.effort.all()) {
                continue;
            }
            if self.attempt(comparisons, entry, bytes, hashed, parts)? {
                // other forms of the same hash
                let same = all.iter().filter(|other| other.spots == hashed.spots);
                same.for_each(|other| parts.state.search.collisions.settle(other.place));
            }
        }
        Ok(())
    }

    /// Searches for keys that collide at a place of the program. Returns whether there are some.
    fn attempt<C: Campaign>(
        &mut self,
        comparisons: Comparisons,
        parent: EntryId,
        input: &[u8],
        hashed: &Hashed,
        parts: &mut Parts<'_, C>,
    ) -> Result<bool, Error> {
        let enough = parts.state.search.collisions.work + MOST_WORK;
        let place = hashed.place;
        let (slots, length, batch) = (Slots::default(), LENGTHS[0], FIRST_KEYS);
        let (is_proven, failure) = (false, None);
        let mut asked =
            Asked { stage: self, comparisons, parts, parent, place, slots, length, batch, enough, is_proven, failure };
        // one that is hashed as it stands is no shorter than it has to be
        let longest = hashed.spots.iter().map(Range::len).min().unwrap_or(0).max(LENGTHS[0]);
        let fits = LENGTHS.into_iter().filter(|&length| length <= longest).any(|length| {
            asked.length = length;
            slots_of(input, &hashed.spots).into_iter().any(|slots| {
                asked.slots = slots;
                asked.fits()
            })
        });
        let found = if fits { asked.find() } else { None };
        let (slots, failure) = (asked.slots, asked.failure);
        if let Some(failure) = failure {
            return Err(failure);
        }
        if fits {
            parts.state.search.collisions.settle(place);
        }
        if let Some(keys) = &found {
            self.make(keys, &slots, parent, parts)?;
        }
        Ok(found.is_some())
    }

    /// Makes inputs of more and more keys that collide: larger ones than others may be now, as what they cost is known.
    fn make<C: Campaign>(
        &mut self,
        keys: &Colliding,
        slots: &Slots,
        parent: EntryId,
        parts: &mut Parts<'_, C>,
    ) -> Result<(), Error> {
        let most = keys.len().min(slots.room(keys.key(0).len(), parts.state.search.size_limit.most()));
        let mut number = most.min(FIRST_KEYS);
        loop {
            slots.fill((0..number).map(|number| keys.key(number)), self.input.as_mut());
            if parts.state.is_interrupted() || parts.state.hooks.is_left_out(self.input.mutator_bytes()) {
                return Ok(());
            }
            let origin = Origin::Mutant { parent, operators: &[self.operator] };
            let evaluation = evaluate(parts, &origin, &self.input)?;
            let of_target = parts.state.search.objective.work(&evaluation.cost);
            parts.state.search.collisions.work += work(of_target, self.input.mutator_bytes().len()) as f64;
            parts.look()?;
            if number == most || evaluation.status != Status::Returned || 4.0 * of_target as f64 > DEAREST {
                return Ok(());
            }
            number = most.min(2 * number);
        }
    }
}

impl Work for CollisionsStage {
    fn perform<C: Campaign>(&mut self, entry: EntryId, parts: &mut Parts<'_, C>) -> Result<(), Error> {
        let Some(comparisons) = self.comparisons else { return Ok(()) };
        let executions = *parts.state.executions();
        let search = &mut parts.state.search;
        if search.objective.noisy().is_some() || !search.collisions.traces(entry, executions, comparisons.are_hashed())
        {
            return Ok(());
        }
        // an entry may have been evicted while it was prepared
        let Ok(input) = parts.state.corpus().cloned_input_for_id(entry.into()) else { return Ok(()) };
        let bytes = input.mutator_bytes();
        // loops that take several bytes at once do nothing for short names, or leave a rest to others
        self.look_into(comparisons, entry, &stretched(bytes), parts)?;
        self.look_into(comparisons, entry, bytes, parts)
    }
}
