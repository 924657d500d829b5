//! Search by growth: patterns are run at small sizes, those under which counts grow faster than the input are kept for each
//! function and changed, and what they make at the size limit are mutants like others.

use libafl::{
    Error, HasMetadata,
    corpus::Corpus,
    executors::HasObservers,
    inputs::{BytesInput, HasMutatorBytes},
    mutators::Tokens,
    state::{HasCorpus, HasMaxSize, HasRand},
};
use libafl_bolts::rands::Rand;

use super::{Work, operators::Own};
use crate::{
    EntryId,
    corpus::{
        effort::work,
        growth::{Growth, Steepest},
    },
    evaluate::{Campaign, Parts, evaluate, run_unjudged},
    hooks::CampaignHooks,
    origin::Origin,
    state::CampaignState,
};
use quagmire_choices::{
    pattern::{Material, Pattern},
    template::Template,
};
use quagmire_cost::resource::Resource;
use quagmire_execution::{abi::Status, counts::CountsObserver};

/// Rounds of the small inputs. They are off powers of two, where buffers that double look as if they grew smoothly, and the
/// steps between them double.
const ROUNDS: [u64; 4] = [6, 13, 27, 55];

/// Local exponent from which growth is fast: n log n has less at these sizes.
const FAST: f64 = 1.3;

/// Local exponent beyond those of powers that larger sizes are not tried with, and factor between the work at the smallest
/// size and the third one: what begins at a size is as steep there.
const STEEPEST: f64 = 5.0;
const EXPLODES: f64 = 100.0;

/// Count at the largest small size from which growth is looked at.
const FEWEST: u32 = 100;

/// Most instructions that a run is expected to take.
const MOST_WORK: f64 = 3e8;

/// Part of the expected count that a large run has to reach to show that the growth goes on.
const HOLDS: f64 = 0.2;

/// Seeds that patterns are made of beside entries, the smallest ones: what is accepted, as people write it.
const MOST_SEEDS: usize = 64;

/// Patterns of a round.
const IN_ROUND: usize = 32;

/// LibAFL stage that searches by growth.
pub struct GrowthStage {
    operator: u16,
    is_used: bool,
    seeds: Vec<Vec<u8>>,
    input: BytesInput,
    runs: Runs,
}

/// Counts of the runs of a pattern.
#[derive(Default)]
struct Runs {
    /// Functions of each run, and where their counts begin.
    functions: Vec<Vec<(u32, usize)>>,
    counts: Vec<Vec<u32>>,
    /// Functions of the last run, in ascending order.
    ran: Vec<u32>,
    /// Sizes and instructions of the runs.
    bytes: Vec<f64>,
    instructions: Vec<f64>,
}

impl Runs {
    fn clear(&mut self) {
        self.bytes.clear();
        self.instructions.clear();
    }

    fn add(&mut self, counts: &CountsObserver, bytes: usize) {
        let run = self.bytes.len();
        if self.counts.len() == run {
            self.counts.push(Vec::new());
            self.functions.push(Vec::new());
        }
        self.counts[run].clear();
        self.functions[run].clear();
        self.ran.clear();
        self.ran.extend(counts.ran());
        self.ran.sort_unstable();
        for &function in &self.ran {
            self.functions[run].push((function, self.counts[run].len()));
            self.counts[run].extend(counts.counts(function).1);
            self.counts[run].extend(counts.charges(function).1);
        }
        self.bytes.push(bytes as f64);
        self.instructions.push(counts.cost()[Resource::Instructions] as f64);
    }

    /// Count of an edge of a function in a run.
    fn count(&self, run: usize, function: u32, edge: usize) -> f64 {
        let functions = &self.functions[run];
        match functions.binary_search_by_key(&function, |(one, _)| *one) {
            Ok(place) => f64::from(self.counts[run][functions[place].1 + edge]),
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

    /// Exponent of all instructions.
    fn total(&self) -> f64 {
        let last = self.bytes.len() - 1;
        self.exponent([self.instructions[last - 2], self.instructions[last - 1], self.instructions[last]])
    }

    /// Growth of all instructions.
    fn last(&self) -> Growth {
        let last = self.bytes.len() - 1;
        Growth { exponent: self.total(), count: self.instructions[last], bytes: self.bytes[last] }
    }

    /// Functions with an edge whose count is at least `fewest` in the last run and grows fast, with the fastest one of these.
    fn fast(&self, fewest: u32) -> Vec<(u32, Growth)> {
        let last = self.bytes.len() - 1;
        let functions = &self.functions[last];
        let end = |place: usize| functions.get(place + 1).map_or(self.counts[last].len(), |next| next.1);
        let of_function = |(place, &(function, start)): (usize, &(u32, usize))| {
            let edges = self.counts[last][start..end(place)].iter().enumerate();
            let hot = edges.filter(|(_, count)| **count >= fewest);
            let grown = hot.map(|(edge, &count)| {
                let count = f64::from(count);
                let before = [last - 2, last - 1].map(|run| self.count(run, function, edge));
                Growth { exponent: self.exponent([before[0], before[1], count]), count, bytes: self.bytes[last] }
            });
            let fast = grown.filter(|one| one.exponent >= FAST);
            let fastest = fast.max_by(|a, b| a.reach().total_cmp(&b.reach()))?;
            Some((function, fastest))
        };
        functions.iter().enumerate().filter_map(of_function).collect()
    }
}

/// End of the small runs of a pattern.
enum Grown {
    /// It does not repeat, was not run to the end, or grows in proportion.
    Dull,
    /// Functions in which it grows fast.
    Fast(Vec<(u32, Growth)>),
    /// It grows beyond all powers.
    Beyond,
}

impl GrowthStage {
    /// Creates a stage for a campaign with `rules` rules and these seeds, which does nothing unless it `is_used`.
    pub fn new<'a>(rules: usize, is_used: bool, seeds: impl Iterator<Item = &'a [u8]>) -> Self {
        let operator = Own::Growth.number(rules);
        let mut seeds: Vec<&[u8]> = seeds.filter(|seed| !seed.is_empty()).collect();
        seeds.sort_by_key(|seed| seed.len());
        seeds.truncate(MOST_SEEDS);
        let seeds = seeds.into_iter().map(<[u8]>::to_vec).collect();
        Self { operator, is_used, seeds, input: BytesInput::new(Vec::new()), runs: Runs::default() }
    }

    /// Puts the template into the input. Returns whether it may be run.
    fn render<C: Campaign>(&mut self, template: &Template, rounds: u64, parts: &Parts<'_, C>) -> bool {
        let Ok(bytes) = template.render(rounds, parts.state.libafl.max_size() as u64) else { return false };
        *self.input.as_mut() = bytes;
        !parts.state.is_interrupted() && !parts.state.hooks.is_left_out(self.input.mutator_bytes())
    }

    /// Runs a template at the small sizes.
    fn grow<C: Campaign>(
        &mut self,
        template: &Template,
        parent: EntryId,
        parts: &mut Parts<'_, C>,
    ) -> Result<Grown, Error> {
        self.runs.clear();
        for rounds in ROUNDS {
            if !self.render(template, rounds, parts) {
                return Ok(Grown::Dull);
            }
            run_unjudged(parts, &self.input)?;
            let counts = &parts.executor.observers().0;
            let bytes = self.input.mutator_bytes().len();
            let instructions = counts.cost()[Resource::Instructions];
            parts.state.search.growth.work += work(instructions, bytes) as f64;
            let status = counts.status();
            match status {
                Status::Returned => self.runs.add(counts, bytes),
                Status::Rejected => {}
                _ => {
                    let origin = Origin::Mutant { parent, operators: &[self.operator] };
                    let recorded = parts.state.hooks.ended_early(&origin, self.input.mutator_bytes(), counts);
                    parts.state.check(recorded)?;
                }
            }
            if parts.look()? || status != Status::Returned {
                return Ok(Grown::Dull);
            }
            if self.runs.bytes.len() == ROUNDS.len() - 1 {
                if self.runs.total() > STEEPEST && self.runs.last().count > EXPLODES * self.runs.instructions[0] {
                    return Ok(Grown::Beyond);
                }
                if self.runs.fast(FEWEST / 4).is_empty() {
                    return Ok(Grown::Dull);
                }
            }
        }
        let fast = self.runs.fast(FEWEST);
        Ok(if fast.is_empty() { Grown::Dull } else { Grown::Fast(fast) })
    }

    /// Makes a pattern or changes a known one, runs it small, and large if it is news.
    fn try_one<C: Campaign>(&mut self, parent: EntryId, parts: &mut Parts<'_, C>) -> Result<(), Error> {
        let pattern = draw(&self.seeds, parts.state)?;
        let Some(template) = pattern.template() else { return Ok(()) };
        let grown = self.grow(&template, parent, parts)?;
        let growth = &mut parts.state.search.growth;
        match grown {
            Grown::Dull => growth.add(&pattern, &[]),
            Grown::Beyond => {
                growth.add(&pattern, &[]);
                return self.climb(&template, parent, parts);
            }
            Grown::Fast(grown) if growth.is_news(&grown) => return self.news(pattern, grown, parent, parts),
            Grown::Fast(grown) => growth.add(&pattern, &grown),
        }
        Ok(())
    }

    /// Makes a pattern shorter while it grows as fast, and runs it large.
    fn news<C: Campaign>(
        &mut self,
        mut pattern: Pattern,
        mut grown: Vec<(u32, Growth)>,
        parent: EntryId,
        parts: &mut Parts<'_, C>,
    ) -> Result<(), Error> {
        let mut total = self.runs.last();
        for step in 0.. {
            let Some(shorter) = pattern.shorter(step) else { break };
            let Some(template) = shorter.template().filter(|_| shorter != pattern) else { continue };
            if let Grown::Fast(other) = self.grow(&template, parent, parts)?
                && parts.state.search.growth.keeps_news(&grown, &other)
            {
                (pattern, grown, total) = (shorter, other, self.runs.last());
            }
            if parts.state.is_interrupted() {
                return Ok(());
            }
        }
        parts.state.search.growth.add(&pattern, &grown);
        let Some(template) = pattern.template() else { return Ok(()) };
        self.enlarge(&template, total, &grown, parent, parts)
    }

    /// Evaluates a template at a size as a mutant. Returns the instructions; `None` if it was not run or did not return.
    fn evaluate<C: Campaign>(
        &mut self,
        template: &Template,
        rounds: u64,
        parent: EntryId,
        parts: &mut Parts<'_, C>,
    ) -> Result<Option<f64>, Error> {
        if !self.render(template, rounds, parts) {
            return Ok(None);
        }
        let origin = Origin::Mutant { parent, operators: &[self.operator] };
        let evaluation = evaluate(parts, &origin, &self.input)?;
        let instructions = evaluation.cost[Resource::Instructions];
        parts.state.search.growth.work += work(instructions, self.input.mutator_bytes().len()) as f64;
        if let Some(entry) = evaluation.entry {
            let noted = parts.state.hooks.note_template(entry, &template.to_string());
            parts.state.check(noted)?;
        }
        parts.look()?;
        Ok((evaluation.status == Status::Returned).then_some(instructions as f64))
    }

    /// Runs a template at the size limit, or at the largest size that is expected to end soon, and notes whether its growth
    /// goes on there.
    fn enlarge<C: Campaign>(
        &mut self,
        template: &Template,
        total: Growth,
        grown: &[(u32, Growth)],
        parent: EntryId,
        parts: &mut Parts<'_, C>,
    ) -> Result<(), Error> {
        let small = ROUNDS[ROUNDS.len() - 1];
        self.evaluate(template, small, parent, parts)?;
        let steepest = grown.iter().map(|(_, growth)| growth.exponent).fold(total.exponent, f64::max);
        let affordable = total.bytes * (MOST_WORK / total.count.max(1.0)).max(1.0).powf(1.0 / steepest.max(1.0));
        let most = (parts.state.libafl.max_size() as f64).min(affordable);
        let rounds = template.n_for_size(most as u64).min(template.largest_n().unwrap_or(u64::MAX));
        if rounds <= 2 * small {
            return Ok(());
        }
        let has_returned = self.evaluate(template, rounds, parent, parts)?.is_some();
        let size = self.input.mutator_bytes().len();
        let counts = &parts.executor.observers().0;
        let growth = &mut parts.state.search.growth;
        for (function, expected) in grown {
            let Some(known) = growth.steepest.get_mut(function) else { continue };
            let ran = has_returned && counts.ran().contains(function);
            let most = if ran { most_of(counts, *function) } else { 0.0 };
            known.reached = size;
            known.holds = most >= HOLDS * expected.at(size as f64);
        }
        Ok(())
    }

    /// Runs a template that grows beyond all powers at one round more and one round more.
    fn climb<C: Campaign>(
        &mut self,
        template: &Template,
        parent: EntryId,
        parts: &mut Parts<'_, C>,
    ) -> Result<(), Error> {
        for rounds in ROUNDS[1]..ROUNDS[ROUNDS.len() - 1] {
            match self.evaluate(template, rounds, parent, parts)? {
                Some(instructions) if instructions * 4.0 <= MOST_WORK => {}
                _ => break,
            }
        }
        Ok(())
    }

    /// Runs a known pattern again, whose growth holds, after the size limit was doubled.
    fn enlarge_known<C: Campaign>(&mut self, parent: EntryId, parts: &mut Parts<'_, C>) -> Result<(), Error> {
        let most = parts.state.libafl.max_size();
        // instructions for each count: a few
        let is_affordable = |growth: &Growth| 10.0 * growth.at(most as f64) <= MOST_WORK;
        let is_due =
            |one: &Steepest| one.holds && one.reached > 0 && one.reached <= most / 2 && is_affordable(&one.growth);
        let known = &mut parts.state.search.growth.steepest;
        let Some(due) = known.values_mut().find(|one| is_due(one)) else { return Ok(()) };
        due.reached = most;
        if let Some(template) = due.pattern.template() {
            self.evaluate(&template, template.n_for_size(most as u64), parent, parts)?;
        }
        Ok(())
    }
}

/// The largest count or charge of a function.
fn most_of(counts: &CountsObserver, function: u32) -> f64 {
    let all = counts.counts(function).1.iter().chain(counts.charges(function).1);
    f64::from(all.copied().max().unwrap_or(0))
}

/// Makes a pattern of a seed or an entry, or changes a known one.
fn draw<H: CampaignHooks>(seeds: &[Vec<u8>], state: &mut CampaignState<H>) -> Result<Pattern, Error> {
    let seed = state.libafl.rand_mut().below_or_zero(2 * seeds.len());
    let input = seeds.get(seed).cloned().map_or_else(|| entry(state), Ok)?;
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
    let material = Material { input: &input, other: &other, word: &word };
    let holding: Vec<&Pattern> =
        state.search.growth.steepest.values().filter(|one| one.holds).map(|one| &one.pattern).collect();
    let rand = state.libafl.rand_mut();
    if holding.is_empty() || rand.coinflip(0.5) {
        return Ok(Pattern::fresh(material, rand));
    }
    let mut pattern = holding[rand.below_or_zero(holding.len())].clone();
    let other = holding[rand.below_or_zero(holding.len())];
    for _ in 0..=rand.below_or_zero(3) {
        pattern.change(Some(other), material, rand);
    }
    Ok(pattern)
}

/// An entry of the corpus: the smallest of some, since large ones are mostly repetitions.
fn entry<H: CampaignHooks>(state: &mut CampaignState<H>) -> Result<Vec<u8>, Error> {
    let libafl = &mut state.libafl;
    let count = libafl.corpus().count();
    let mut best: Option<Vec<u8>> = None;
    for _ in 0..3.min(count) {
        let place = libafl.rand_mut().below_or_zero(count);
        let bytes = Vec::from(libafl.corpus().cloned_input_for_id(libafl.corpus().nth(place))?);
        if best.as_ref().is_none_or(|best| best.is_empty() || bytes.len() < best.len() && !bytes.is_empty()) {
            best = Some(bytes);
        }
    }
    Ok(best.unwrap_or_default())
}

impl Work for GrowthStage {
    fn perform<C: Campaign>(&mut self, parent: EntryId, parts: &mut Parts<'_, C>) -> Result<(), Error> {
        if !self.is_used || parts.executor.observers().0.program().functions().is_empty() {
            return Ok(());
        }
        for _ in 0..IN_ROUND {
            let search = &parts.state.search;
            if parts.state.is_interrupted() || search.growth.is_sated(search.effort.all()) {
                break;
            }
            self.try_one(parent, parts)?;
            self.enlarge_known(parent, parts)?;
        }
        Ok(())
    }
}
