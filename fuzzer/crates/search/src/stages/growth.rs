//! Search by growth: patterns are run at small sizes, those under which counts, or memory in a campaign that looks for it, grow
//! faster than the input are kept for each function and changed, and what they make at the size limit are mutants like others.

use std::{collections::HashMap, ops::Range};

use libafl::{
    Error, HasMetadata,
    corpus::Corpus,
    executors::HasObservers,
    inputs::{BytesInput, HasMutatorBytes},
    mutators::Tokens,
    state::{HasCorpus, HasExecutions, HasMaxSize, HasRand},
};
use libafl_bolts::rands::Rand;

use super::{Work, operators::Own, run_small};
use crate::{
    EntryId,
    corpus::{
        effort::work,
        growth::{Grown, Growth, Kind, Place, Source},
        objective::Objective,
    },
    evaluate::{Campaign, Parts, evaluate},
    hooks::CampaignHooks,
    origin::Origin,
    state::CampaignState,
};
use quagmire_choices::{
    pattern::{Material, Pattern, window},
    template::Template,
};
use quagmire_cost::resource::Capability;
use quagmire_execution::{abi::Status, counts::CountsObserver};

/// Rounds of the small inputs. They are off powers of two, where buffers that double look as if they grew smoothly, and the
/// steps between them double.
const ROUNDS: [u64; 4] = [6, 13, 27, 55];
const LARGEST: u64 = ROUNDS[ROUNDS.len() - 1];

/// Local exponent of work beyond which larger sizes are not tried, and factor between the work at the smallest size and the
/// third one, as what begins at a size is as steep there. What an edge begins with at a size is no growth.
const STEEPEST: f64 = 5.0;
const EXPLODES: f64 = 100.0;

/// Count at the largest small size from which growth is looked at.
const FEWEST: u32 = 100;

/// Most work that a run is expected to be, in instructions: at a small size, where three runs have to do without the fourth
/// one, and at a large one.
const MOST_SMALL_WORK: f64 = 3e6;
const MOST_WORK: f64 = 3e7;

/// Seeds that patterns are made of beside entries, the smallest ones, and their largest size: what is accepted, as people
/// write it.
const MOST_SEEDS: usize = 64;
const LARGEST_SEED: usize = 1 << 16;

/// Patterns of a round that are not run, since they do not repeat or are too large, after which it ends.
const MOST_IDLE: usize = 32;

/// LibAFL stage that searches by growth.
pub struct GrowthStage {
    operator: u16,
    is_used: bool,
    seeds: Vec<Vec<u8>>,
    input: BytesInput,
    runs: Runs,
}

/// Amounts of the runs of a pattern.
#[derive(Default)]
struct Runs {
    /// Places of each run in ascending order, and which amounts are theirs.
    places: Vec<Vec<(Place, Range<usize>)>>,
    amounts: Vec<Vec<u32>>,
    /// Sizes and work of the runs.
    bytes: Vec<f64>,
    work: Vec<f64>,
}

impl Runs {
    fn clear(&mut self) {
        self.bytes.clear();
        self.work.clear();
    }

    fn add(&mut self, counts: &CountsObserver, objective: &Objective, bytes: usize) {
        let run = self.bytes.len();
        if self.amounts.len() == run {
            self.amounts.push(Vec::new());
            self.places.push(Vec::new());
        }
        let (places, amounts) = (&mut self.places[run], &mut self.amounts[run]);
        places.clear();
        amounts.clear();
        for_all_places(counts, objective, |place, all| {
            let first = amounts.len();
            all.iter().for_each(|some| amounts.extend(*some));
            places.push((place, first..amounts.len()));
        });
        places.sort_unstable_by_key(|(place, _)| *place);
        self.bytes.push(bytes as f64);
        self.work.push(objective.work(&counts.cost()) as f64);
    }

    /// An amount of a place in a run.
    fn amount(&self, run: usize, place: Place, number: usize) -> f64 {
        let places = &self.places[run];
        match places.binary_search_by_key(&place, |(one, _)| *one) {
            Ok(at) => self.amounts[run][places[at].1.clone()].get(number).copied().map_or(0.0, f64::from),
            Err(_) => 0.0,
        }
    }

    /// Local exponent of amounts in the last three runs, by their differences.
    fn exponent(&self, amounts: [f64; 3]) -> f64 {
        let last = self.bytes.len() - 1;
        let (first, second) = (amounts[1] - amounts[0], amounts[2] - amounts[1]);
        let steps = (self.bytes[last] - self.bytes[last - 1]) / (self.bytes[last - 1] - self.bytes[last - 2]);
        if first <= 0.0 || second <= 0.0 { 0.0 } else { (second / first).ln() / steps.ln() }
    }

    /// Growth of the work.
    fn growth(&self) -> Growth {
        let last = self.bytes.len() - 1;
        let exponent = self.exponent([self.work[last - 2], self.work[last - 1], self.work[last]]);
        Growth { exponent, count: self.work[last], bytes: self.bytes[last] }
    }

    /// Places with an amount that is at least `fewest` in the last run and grows fast, with the fastest one of these.
    fn fast(&self, fewest: u32) -> Vec<(Place, Growth)> {
        let last = self.bytes.len() - 1;
        let of_place = |(place, range): &(Place, Range<usize>)| {
            let amounts = self.amounts[last][range.clone()].iter().enumerate();
            let large = amounts.filter(|(_, amount)| **amount >= fewest);
            let grown = large.map(|(number, &amount)| {
                let count = f64::from(amount);
                let before = [last - 2, last - 1].map(|run| self.amount(run, *place, number));
                Growth { exponent: self.exponent([before[0], before[1], count]), count, bytes: self.bytes[last] }
            });
            let fast = grown.filter(|one| (place.fast()..STEEPEST).contains(&one.exponent));
            let fastest = fast.max_by(|a, b| a.reach().total_cmp(&b.reach()))?;
            Some((*place, fastest))
        };
        self.places[last].iter().filter_map(of_place).collect()
    }
}

/// Calls `each` with every place that the last run has reached, and its amounts: those of memory if the campaign looks for it.
fn for_all_places(counts: &CountsObserver, objective: &Objective, mut each: impl FnMut(Place, [&[u32]; 2])) {
    for &function in counts.ran() {
        each(Place::Counts(function), [counts.counts(function).1, counts.charges(function).1]);
        each(Place::Stack(function), [counts.stack(function).1, &[]]);
        each(Place::Heap(function), [counts.heap(function).1, &[]]);
    }
    for &resource in objective.resources().iter().filter(|one| one.describe().needs == Capability::Memory) {
        let amount = u32::try_from(counts.cost()[resource]).unwrap_or(u32::MAX);
        each(Place::Whole(resource), [&[amount], &[]]);
    }
}

/// Outcome of the small runs of a pattern.
enum Outcome {
    /// It does not repeat, was not run to the end, or grows in proportion.
    Dull,
    /// Growth of the work, and the places at which something grows fast.
    Fast(Growth, Vec<(Place, Growth)>),
    /// It grows beyond all powers.
    Explodes,
}

impl Outcome {
    fn of(work: Growth, fast: Vec<(Place, Growth)>) -> Self {
        if fast.is_empty() { Self::Dull } else { Self::Fast(work, fast) }
    }
}

impl GrowthStage {
    /// Creates a stage for a campaign with `rules` rules and these seeds, which does nothing unless it `is_used`.
    pub fn new<'a>(rules: usize, is_used: bool, seeds: impl Iterator<Item = &'a [u8]>) -> Self {
        let operator = Own::Growth.number(rules);
        let mut seeds: Vec<&[u8]> = seeds.filter(|seed| (1..=LARGEST_SEED).contains(&seed.len())).collect();
        seeds.sort_by_key(|seed| seed.len());
        seeds.truncate(MOST_SEEDS);
        let seeds = seeds.into_iter().map(<[u8]>::to_vec).collect();
        Self { operator, is_used, seeds, input: BytesInput::new(Vec::new()), runs: Runs::default() }
    }

    /// Puts the template into the input. Returns whether it may be run.
    fn render<C: Campaign>(&mut self, template: &Template, rounds: u64, parts: &Parts<'_, C>) -> bool {
        let Ok(bytes) = template.render(rounds, parts.state.search.size_limit.most() as u64) else { return false };
        *self.input.as_mut() = bytes;
        !parts.state.is_interrupted() && !parts.state.hooks.is_left_out(self.input.mutator_bytes())
    }

    /// Runs a template at the small sizes.
    fn grow<C: Campaign>(
        &mut self,
        template: &Template,
        source: Source,
        parts: &mut Parts<'_, C>,
    ) -> Result<Outcome, Error> {
        self.runs.clear();
        let most = parts.state.search.size_limit.most() as u64;
        if template.largest_n().is_some_and(|most| most < LARGEST) || template.size(LARGEST) > most {
            return Ok(Outcome::Dull);
        }
        for rounds in ROUNDS {
            if !self.render(template, rounds, parts) {
                return Ok(Outcome::Dull);
            }
            let Some((status, of_target)) = run_small(parts, self.operator, source.parent, &self.input)? else {
                return Ok(Outcome::Dull);
            };
            let bytes = self.input.mutator_bytes().len();
            parts.state.search.growth.spend(source.kind, work(of_target, bytes) as f64);
            if status != Status::Returned {
                return Ok(Outcome::Dull);
            }
            self.runs.add(&parts.executor.observers().0, &parts.state.search.objective, bytes);
            if self.runs.bytes.len() == ROUNDS.len() - 1 {
                let growth = self.runs.growth();
                parts.state.search.growth.accept(source.kind);
                if growth.exponent > STEEPEST && growth.count > EXPLODES * self.runs.work[0] {
                    return Ok(Outcome::Explodes);
                }
                let fast = self.runs.fast(FEWEST / 4);
                if fast.is_empty() || growth.at(template.size(LARGEST) as f64) > MOST_SMALL_WORK {
                    return Ok(Outcome::of(growth, fast));
                }
            }
        }
        Ok(Outcome::of(self.runs.growth(), self.runs.fast(FEWEST)))
    }

    /// Makes a pattern or changes a known one, runs it small, and large if it is news.
    fn try_one<C: Campaign>(&mut self, current: EntryId, parts: &mut Parts<'_, C>) -> Result<(), Error> {
        let kind = parts.state.search.growth.next_kind();
        let (pattern, parent) = draw(kind, &self.seeds, current, parts.state)?;
        let source = Source { kind, parent };
        let Some(template) = pattern.template() else { return Ok(()) };
        match self.grow(&template, source, parts)? {
            Outcome::Dull => {}
            Outcome::Explodes => return self.climb(&template, source, parts),
            Outcome::Fast(work, places) => {
                let mut grown = Grown::new(pattern, source, work, places);
                let is_news = parts.state.search.growth.is_news(&grown.places);
                if is_news {
                    grown = self.shortened(grown, parts)?;
                }
                parts.state.search.growth.add(&mut grown, is_news);
                if is_news && let Some(template) = grown.pattern.template() {
                    self.evaluate(&template, LARGEST, source, parts)?;
                    let most = parts.state.libafl.max_size();
                    return self.enlarge(&grown, most, parts);
                }
            }
        }
        Ok(())
    }

    /// A pattern made shorter while it grows as fast at the places for which it is news.
    fn shortened<C: Campaign>(&mut self, mut grown: Grown, parts: &mut Parts<'_, C>) -> Result<Grown, Error> {
        let enough = parts.state.search.growth.work() + MOST_WORK;
        for step in 0.. {
            let Some(pattern) = grown.pattern.shorter(step) else { break };
            let Some(template) = pattern.template().filter(|_| pattern != grown.pattern) else { continue };
            if let Outcome::Fast(work, places) = self.grow(&template, grown.source, parts)?
                && parts.state.search.growth.keeps_news(&grown.places, &places)
            {
                grown = Grown::new(pattern, grown.source, work, places);
            }
            if parts.state.is_interrupted() || parts.state.search.growth.work() > enough {
                break;
            }
        }
        Ok(grown)
    }

    /// Evaluates a template at a size as a mutant. Returns its work; `None` if it was not run or did not return.
    fn evaluate<C: Campaign>(
        &mut self,
        template: &Template,
        rounds: u64,
        source: Source,
        parts: &mut Parts<'_, C>,
    ) -> Result<Option<f64>, Error> {
        if !self.render(template, rounds, parts) {
            return Ok(None);
        }
        let origin = Origin::Mutant { parent: source.parent, operators: &[self.operator] };
        let evaluation = evaluate(parts, &origin, &self.input)?;
        let of_target = parts.state.search.objective.work(&evaluation.cost);
        parts.state.search.growth.spend(source.kind, work(of_target, self.input.mutator_bytes().len()) as f64);
        if let Some(entry) = evaluation.entry {
            let noted = parts.state.hooks.note_template(entry, &template.to_string());
            parts.state.check(noted)?;
        }
        parts.look()?;
        Ok((evaluation.status == Status::Returned).then_some(of_target as f64))
    }

    /// Runs a pattern at a size, or at the largest one that is expected to end soon, and notes how far its growth goes on.
    fn enlarge<C: Campaign>(&mut self, grown: &Grown, most: usize, parts: &mut Parts<'_, C>) -> Result<(), Error> {
        let Some(template) = grown.pattern.template() else { return Ok(()) };
        let most = most.min(grown.affordable(MOST_WORK) as usize);
        parts.state.search.growth.tried(grown, most);
        let rounds = template.n_for_size(most as u64).min(template.largest_n().unwrap_or(u64::MAX));
        if rounds <= 2 * LARGEST || parts.state.is_interrupted() {
            return Ok(());
        }
        let Some(of_target) = self.evaluate(&template, rounds, grown.source, parts)? else { return Ok(()) };
        let counts = &parts.executor.observers().0;
        let mut most = HashMap::new();
        for_all_places(counts, &parts.state.search.objective, |place, amounts| {
            most.insert(place, f64::from(amounts.into_iter().flatten().copied().max().unwrap_or(0)));
        });
        let amount = |place| most.get(&place).copied().unwrap_or(0.0);
        parts.state.search.growth.reach(grown, self.input.mutator_bytes().len() as f64, of_target, amount);
        Ok(())
    }

    /// Runs a template that grows beyond all powers at one round more and one round more.
    fn climb<C: Campaign>(
        &mut self,
        template: &Template,
        source: Source,
        parts: &mut Parts<'_, C>,
    ) -> Result<(), Error> {
        for rounds in ROUNDS[1]..LARGEST {
            match self.evaluate(template, rounds, source, parts)? {
                Some(work) if work * 4.0 <= MOST_WORK => {}
                _ => break,
            }
        }
        Ok(())
    }
}

/// Makes a pattern of a kind of a seed or an entry, or changes a known one; with the entry that it is made of, which is the
/// `current` one if it is not known.
fn draw<H: CampaignHooks>(
    kind: Kind,
    seeds: &[Vec<u8>],
    current: EntryId,
    state: &mut CampaignState<H>,
) -> Result<(Pattern, EntryId), Error> {
    let input = match state.libafl.rand_mut().below_or_zero(4) {
        0 => entry(state)?,
        // what the search looks into, unless it was evicted
        1 => match state.libafl.corpus().cloned_input_for_id(current.into()) {
            Ok(input) => input.into(),
            Err(_) => entry(state)?,
        },
        _ => {
            let seed = state.libafl.rand_mut().below_or_zero(seeds.len());
            seeds.get(seed).cloned().map_or_else(|| entry(state), Ok)?
        }
    };
    let parent = state.search.holder(&input).unwrap_or(current);
    let other = entry(state)?;
    let words = state.search.words.len();
    let tokens = state.libafl.metadata_map().get::<Tokens>().map_or(0, |tokens| tokens.tokens().len());
    let at = state.libafl.rand_mut().below_or_zero(words + tokens);
    let word = match at.checked_sub(words) {
        None => state.search.words[at].clone(),
        Some(at) => {
            let tokens = state.libafl.metadata_map().get::<Tokens>();
            tokens.and_then(|tokens| tokens.tokens().get(at).cloned()).unwrap_or_default()
        }
    };
    let rand = state.libafl.rand_mut();
    let material = Material { input: window(&input, rand), other: window(&other, rand), word: &word };
    let holding = match kind {
        Kind::Within => return Ok((Pattern::within(material, rand), parent)),
        Kind::Alone => return Ok((Pattern::alone(material, rand), parent)),
        Kind::Changed => state.search.growth.holding(),
    };
    let known = holding[rand.below_or_zero(holding.len())];
    let mut pattern = known.pattern.clone();
    let other = &holding[rand.below_or_zero(holding.len())].pattern;
    for _ in 0..=rand.below_or_zero(3) {
        pattern.change(Some(other), material, rand);
    }
    Ok((pattern, known.source.parent))
}

/// An entry of the corpus: the smaller of two, since large ones are mostly repetitions.
fn entry<H: CampaignHooks>(state: &mut CampaignState<H>) -> Result<Vec<u8>, Error> {
    let libafl = &mut state.libafl;
    let count = libafl.corpus().count();
    let mut smallest: Option<Vec<u8>> = None;
    for _ in 0..2.min(count) {
        let place = libafl.rand_mut().below_or_zero(count);
        let bytes = Vec::from(libafl.corpus().cloned_input_for_id(libafl.corpus().nth(place))?);
        if smallest.as_ref().is_none_or(|one| one.is_empty() || bytes.len() < one.len() && !bytes.is_empty()) {
            smallest = Some(bytes);
        }
    }
    Ok(smallest.unwrap_or_default())
}

impl Work for GrowthStage {
    fn perform<C: Campaign>(&mut self, current: EntryId, parts: &mut Parts<'_, C>) -> Result<(), Error> {
        if !self.is_used || parts.executor.observers().0.program().functions().is_empty() {
            return Ok(());
        }
        let most = parts.state.search.size_limit.most();
        let mut idle = 0;
        while idle < MOST_IDLE {
            let search = &parts.state.search;
            let (executions, before) = (*parts.state.libafl.executions(), search.growth.work());
            if parts.state.is_interrupted() || search.growth.is_sated(search.effort.all(), executions) {
                break;
            }
            self.try_one(current, parts)?;
            if let Some((due, size)) = parts.state.search.growth.due(most, MOST_WORK) {
                self.enlarge(&due, size, parts)?;
            }
            idle += usize::from(parts.state.search.growth.work() == before);
        }
        Ok(())
    }
}
