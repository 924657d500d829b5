//! Tests of mutation on the generators of the model.

mod model;

use std::collections::BTreeMap;

use libafl_bolts::rands::{Rand, StdRand};
use proptest::prelude::*;

use self::model::{GENERATORS, Generator, Provider, calls, expression, options, run};
use super::mutate::{Edit, Piece};
use super::*;
use crate::operator::Operator;

const LIMIT: usize = 4096;

/// Log of a run without an overlay.
fn log_of(generator: Generator, bytes: &[u8]) -> Log {
    let (draws, bytes) = run(generator, bytes, &mut Overlay::default());
    Log::new(&draws, &bytes, false)
}

/// Log of a random input that suffices for all its draws, at least these many, and has no unread bytes.
fn random_log(generator: Generator, least: usize, rand: &mut StdRand) -> Log {
    for _ in 0..10_000 {
        let bytes: Vec<u8> = (0..600).map(|_| if rand.coinflip(0.1) { b'\\' } else { rand.next() as u8 }).collect();
        let Some(trimmed) = log_of(generator, &bytes).trim_unread() else { continue };
        let log = log_of(generator, &trimmed);
        if log.draws.len() >= least && log.movable() == log.draws.len() {
            return log;
        }
    }
    panic!("no log of {least} draws");
}

/// Sites and values of draws.
fn made<'a>(draws: impl IntoIterator<Item = &'a Draw>) -> Vec<(u64, u64)> {
    draws.into_iter().map(|draw| (draw.site, draw.value)).collect()
}

fn change_text(text: &mut Vec<u8>, rand: &mut StdRand) {
    text.insert(rand.below_or_zero(text.len() + 1), if rand.coinflip(0.5) { b'\\' } else { rand.next() as u8 });
}

fn mutate(log: &Log, operator: Operator, (sites, bank): (&Sites, &Bank), rand: &mut StdRand) -> Option<Mutant> {
    Mutator { sites, bank, limit: LIMIT, has_overlay: true, text: &mut change_text }.mutate(log, operator, rand)
}

/// Sites and a bank that have seen some entries and some mutants.
fn learned(generator: Generator, rand: &mut StdRand) -> (Sites, Bank) {
    let (mut sites, mut bank) = (Sites::default(), Bank::default());
    for _ in 0..30 {
        let log = random_log(generator, 6, rand);
        sites.learn_counts(&log);
        bank.add(&log, rand);
        for _ in 0..20 {
            let operator = [Operator::ChangeValues, Operator::Regenerate][rand.below_or_zero(2)];
            if let Some(mut mutant) = mutate(&log, operator, (&sites, &bank), rand) {
                let (draws, _) = run(generator, &mutant.bytes, &mut mutant.overlay);
                sites.observe(&log, &draws, &mutant.changed);
            }
        }
    }
    (sites, bank)
}

/// Draws of the log that an edit means to be made, but for those that it changes.
fn meant(log: &Log, edit: &Edit) -> Vec<(u64, u64)> {
    let ranges =
        edit.pieces.iter().filter_map(|piece| if let Piece::Draws(draws) = piece { Some(draws.clone()) } else { None });
    made(ranges.flatten().filter(|at| !edit.changed.contains_key(at)).map(|at| &log.draws[at]))
}

/// Length of the longest common subsequence.
fn common(one: &[(u64, u64)], other: &[(u64, u64)]) -> usize {
    let mut row = vec![0; other.len() + 1];
    for a in one {
        let mut diagonal = 0;
        for (at, b) in other.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = if a == b { diagonal + 1 } else { above.max(row[at]) };
            diagonal = above;
        }
    }
    row[other.len()]
}

/// How well mutants of an operator keep what they do not mean to change.
#[derive(Debug, Default)]
struct Kept {
    mutants: u32,
    /// Mutants that draw the same.
    same: u32,
    /// Sums of the shares of draws that are made again, without and with the overlay.
    shares: [f64; 2],
    /// Mutants that make all of them again, without and with the overlay.
    whole: [u32; 2],
}

impl Kept {
    fn share(&self, has_overlay: bool) -> f64 {
        self.shares[usize::from(has_overlay)] / f64::from(self.mutants.max(1))
    }
}

/// Measures mutants of an operator, of `most` draws at most if it changes draws.
fn measure(generator: Generator, operator: Operator, most: usize, rand: &mut StdRand) -> Kept {
    let (sites, bank) = learned(generator, rand);
    let mut kept = Kept::default();
    for _ in 0..60 {
        let log = random_log(generator, 8, rand);
        let text = &mut change_text;
        let mut mutator = Mutator { sites: &sites, bank: &bank, limit: LIMIT, has_overlay: true, text };
        let Some(edit) = mutator.edit(&log, operator, rand).filter(|edit| edit.changed.len() <= most) else { continue };
        let Some(bytes) = edit.render(&log, LIMIT, rand) else { continue };
        let meant = meant(&log, &edit);
        kept.mutants += 1;
        for (at, mut overlay) in [Overlay::default(), edit.overlay(&log)].into_iter().enumerate() {
            let made_now = made(&run(generator, &bytes, &mut overlay).0);
            kept.same += u32::from(at == 1 && made_now == made(&log.draws));
            let number = common(&meant, &made_now);
            kept.shares[at] += number as f64 / meant.len().max(1) as f64;
            kept.whole[at] += u32::from(number == meant.len());
        }
    }
    kept
}

#[test]
fn operators_keep_what_they_do_not_mean_to_change() {
    let rand = &mut StdRand::with_seed(1);
    for (name, generator) in GENERATORS {
        for (operator, most) in
            Operator::ALL.map(|operator| (operator, 100)).into_iter().chain([(Operator::Regenerate, 1)])
        {
            let kept = measure(generator, operator, most, rand);
            println!(
                "{name} {} {most}: {} mutants, {} same, kept {:.3} without overlay, {:.3} with it, whole {:?}",
                operator.name(),
                kept.mutants,
                kept.same,
                kept.share(false),
                kept.share(true),
                kept.whole
            );
            if kept.mutants < 10 {
                continue;
            }
            let least = match (operator, name) {
                (Operator::Regenerate, _) => 0.5,
                // the generator ends terms that are deep, whatever it reads
                (Operator::NestPart | Operator::RepeatPart, "expression") => 0.7,
                _ => 0.97,
            };
            assert!(kept.share(true) >= least, "{name} {operator:?} {kept:?}");
            assert!(kept.same * 3 <= kept.mutants, "{name} {operator:?} {kept:?}");
            if operator == Operator::Regenerate {
                assert!(kept.share(true) > kept.share(false), "{name} {kept:?}");
            }
        }
    }
}

#[test]
fn kinds_of_sites_are_learned() {
    let rand = &mut StdRand::with_seed(2);
    let expected: [(Generator, &[u64], &[u64]); 3] =
        [(expression, &[10, 15], &[]), (calls, &[22, 30, 31], &[36]), (options, &[47], &[49])];
    for (generator, structural, layout) in expected {
        let (sites, _) = learned(generator, rand);
        let mut kinds = BTreeMap::new();
        for _ in 0..20 {
            kinds.extend(random_log(generator, 6, rand).draws.iter().map(|draw| (draw.site, sites.kind(draw))));
        }
        assert!(kinds.len() >= 6);
        for (site, kind) in kinds {
            let expected = match () {
                () if structural.contains(&site) => SiteKind::Structural,
                () if layout.contains(&site) => SiteKind::Layout,
                () => SiteKind::Value,
            };
            assert_eq!(kind, expected, "site {site}");
        }
    }
}

#[test]
fn a_list_that_is_counted_gets_another_number() {
    let rand = &mut StdRand::with_seed(3);
    let (sites, bank) = learned(calls, rand);
    let items = |draws: &[Draw]| draws.iter().filter(|draw| draw.site == 23).count() as u64;
    let mut changed = 0;
    for _ in 0..200 {
        let log = random_log(calls, 20, rand);
        let operator = [Operator::DeletePart, Operator::RepeatPart][rand.below_or_zero(2)];
        let Some(mut mutant) = mutate(&log, operator, (&sites, &bank), rand) else { continue };
        let (draws, _) = run(calls, &mutant.bytes, &mut mutant.overlay);
        let number = draws.iter().find(|draw| draw.site == 22).unwrap().value;
        assert_eq!(items(&draws), number);
        changed += u32::from(number != items(&log.draws));
        // what comes last is as before
        assert_eq!(made(draws.last()), made(log.draws.last()));
    }
    assert!(changed >= 40, "{changed}");
}

#[test]
fn trimming_changes_no_draw() {
    let rand = &mut StdRand::with_seed(4);
    for (_, generator) in GENERATORS {
        let bytes: Vec<u8> = (0..5000).map(|_| rand.next() as u8).collect();
        let log = log_of(generator, &bytes);
        let trimmed = log.trim_unread().unwrap();
        assert_eq!(trimmed.len() + log.unread().len(), bytes.len());
        let again = log_of(generator, &trimmed);
        assert_eq!(made(&again.draws), made(&log.draws));
        assert_eq!(again.trim_unread(), None);
        let owned: usize = again.draw_ranges().map(|(_, range)| range.len()).sum();
        assert_eq!(owned, trimmed.len());
    }
}

#[test]
fn draws_that_got_no_bytes_keep_their_values_when_later_ones_get_some() {
    fn numbers(provider: &mut Provider) {
        for site in 1..=8 {
            provider.int(site, 100_000);
        }
    }
    // suffices for two and a half
    let log = log_of(numbers, &[9, 1, 2, 1, 7, 3, 1]);
    assert_eq!((log.fed, log.draws[2].length), (2, 1));
    let mut edit = Edit::new(&log);
    edit.changed.insert(6, vec![5, 0, 0]);
    let bytes = edit.render(&log, LIMIT, &mut StdRand::with_seed(1)).unwrap();
    let mut expected = made(&log.draws);
    expected[6].1 = 5;
    assert_eq!(made(&log_of(numbers, &bytes).draws), expected);
    assert!(bytes.len() == 3 * 7, "those at the end need none: {bytes:?}");
}

#[test]
fn the_size_stays_if_the_harness_looks_at_it_and_unread_bytes_allow() {
    fn sized(provider: &mut Provider) {
        provider.size(1);
        provider.text(2, 50);
        provider.text(2, 50);
        provider.int(3, 9);
    }
    let log = log_of(sized, b"abc\\ d\\ .................\x01");
    assert!(log.observes_size && log.unread().len() == 17 && log.trim_unread().is_none());
    let rand = &mut StdRand::with_seed(5);
    let own = (&Sites::default(), &Bank::default());
    for _ in 0..100 {
        let mutant = mutate(&log, Operator::ChangeValues, own, rand).unwrap();
        assert_eq!(mutant.bytes.len(), log.bytes.len());
    }
}

#[test]
fn what_is_left_at_the_end_is_a_text_that_may_grow() {
    fn rest(provider: &mut Provider) {
        provider.int(1, u64::MAX);
        provider.text(2, 50);
        provider.rest(3);
    }
    let log = log_of(rest, b"abc\\ remains\x01\x02\x03\x04\x05\x06\x07\x08");
    assert!(log.unread().is_empty() && log.is_movable());
    let rand = &mut StdRand::with_seed(6);
    let own = (&Sites::default(), &Bank::default());
    let grown = (0..100).filter(|_| {
        let mutant = mutate(&log, Operator::ChangeValues, own, rand).unwrap();
        let draws = log_of(rest, &mutant.bytes);
        draws.draws[2].length > log.draws[2].length
    });
    assert!(grown.count() > 20);
}

#[test]
fn what_draws_that_are_not_recorded_may_read_stays() {
    let rand = &mut StdRand::with_seed(8);
    let whole = random_log(calls, 30, rand);
    let log = Log::new(&whole.draws[..20], &whole.bytes, true);
    assert!(log.unread().is_empty() && log.trim_unread().is_none() && log.middle().len() > 10);
    let middle = &log.bytes[log.middle()];
    let own = (&Sites::default(), &Bank::default());
    for operator in Operator::ALL {
        for mutant in (0..50).filter_map(|_| mutate(&log, operator, own, rand)) {
            assert!(mutant.bytes.windows(middle.len()).any(|bytes| bytes == middle), "{operator:?}");
        }
    }
}

#[test]
fn draws_of_several_providers_are_changed_in_their_places() {
    // the second provider reads the same bytes again
    let (mut draws, bytes) = run(calls, &[0x41; 300], &mut Overlay::default());
    draws.extend(run(calls, &[0x41; 300], &mut Overlay::default()).0);
    let log = Log::new(&draws, &bytes, false);
    assert!(!log.is_movable() && log.unread().is_empty());
    let (rand, own) = (&mut StdRand::with_seed(7), (&Sites::default(), &Bank::default()));
    for operator in Operator::ALL {
        for mutant in (0..50).filter_map(|_| mutate(&log, operator, own, rand)) {
            assert_eq!(mutant.bytes.len(), bytes.len());
            assert!(!mutant.changed.is_empty());
        }
    }
    assert!(mutate(&log, Operator::ChangeValues, own, rand).is_some());
    assert!(mutate(&log, Operator::RepeatPart, own, rand).is_none());
}

fn any_draw() -> impl Strategy<Value = Draw> {
    let number = prop_oneof![0u64..40, Just(u64::MAX), any::<u64>()];
    let place = prop_oneof![0u32..64, Just(u32::MAX), any::<u32>()];
    ((0u64..6, number.clone(), number, 0u8..12), (place, 0u32..9, 0u32..40, 0u16..5)).prop_map(
        |((site, range, value, kind), (offset, length, part, depth))| Draw {
            site,
            key: value ^ site,
            range,
            value,
            offset,
            length,
            part,
            depth,
            kind,
            is_overlaid: 0,
        },
    )
}

proptest! {
    #[test]
    fn nonsense_is_harmless(
        mut draws in prop::collection::vec(any_draw(), 0..40),
        bytes in prop::collection::vec(any::<u8>(), 0..80),
        follows in any::<bool>(),
        is_cut in any::<bool>(),
        seed in any::<u64>(),
    ) {
        if follows {
            // what looks like one provider
            let (mut front, mut back) = (0, bytes.len() as u32);
            for draw in &mut draws {
                draw.length = draw.length.min(back - front);
                draw.offset = if draw.side() == Some(Side::Back) { back - draw.length } else { front };
                match draw.side() {
                    Some(Side::Back) => back -= draw.length,
                    Some(Side::Front) => front += draw.length,
                    None => {}
                }
            }
        }
        let log = Log::new(&draws, &bytes, is_cut);
        prop_assert!(log.unread().end <= bytes.len());
        let rand = &mut StdRand::with_seed(seed);
        let (mut sites, mut bank) = (Sites::default(), Bank::default());
        for _ in 0..2 {
            sites.learn_counts(&log);
            bank.add(&log, rand);
            for operator in Operator::ALL {
                if let Some(mutant) = mutate(&log, operator, (&sites, &bank), rand) {
                    prop_assert!(mutant.bytes.len() <= LIMIT && mutant.bytes != bytes);
                    sites.observe(&log, &draws, &mutant.changed);
                }
            }
            sites.observe(&log, &draws[..draws.len() / 2], &[0, 3]);
        }
    }
}
