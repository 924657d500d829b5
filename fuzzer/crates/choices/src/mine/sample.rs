//! Inputs made up from mined rules, and the alternatives that they were made by.

use super::{
    leaves::below,
    oracle::Oracle,
    rules::{Item, Rules},
    write,
};
use crate::grammar::Grammar;
use libafl_bolts::rands::StdRand;

/// Number of rules, one inside of the other, from which on the shortest way to an end is taken.
const DEEP: usize = 14;
/// Size from which on the shortest way to an end is taken, in bytes.
const LARGE: usize = 400;
/// Number of samples in a round of refusals.
const SAMPLES: usize = 200;
/// Rounds of refusals.
const ROUNDS: usize = 24;
/// Standard deviations by which an alternative has to be rejected more often than others.
const LEAST_EXCESS: f64 = 2.0;
/// Share of accepted samples from which on no alternative is refused.
const GOOD: f64 = 0.97;

/// Makes up one input. Adds the alternatives that it uses, as rule and number.
fn sample(
    rules: &Rules,
    depths: &[Vec<Option<usize>>],
    random: &mut StdRand,
    used: &mut Vec<(usize, usize)>,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    let start = Item::Rule(0);
    let mut waiting = vec![(&start, 0)];
    while let Some((item, depth)) = waiting.pop() {
        let rule = match item {
            Item::Text(text) => {
                bytes.extend(text);
                continue;
            }
            Item::Rule(rule) => *rule,
        };
        let ends = || (0..depths[rule].len()).filter(|&place| depths[rule][place].is_some());
        let least = ends().filter_map(|place| depths[rule][place]).min();
        let is_late = depth > DEEP || bytes.len() > LARGE;
        let choices: Vec<usize> = ends().filter(|&place| !is_late || depths[rule][place] == least).collect();
        let Some(&choice) = choices.get(below(random, choices.len())) else { continue };
        used.push((rule, choice));
        // characters do not make an input deep
        let is_tail = |inner: &Item| *inner == Item::Rule(rule);
        let alternative = &rules.rules[rule].alternatives[choice];
        waiting.extend(alternative.iter().rev().map(|inner| (inner, depth + usize::from(!is_tail(inner)))));
    }
    bytes
}

/// Refuses alternatives whose samples are rejected more often than others, until most samples are accepted.
/// An alternative that an example needs is not refused.
pub(crate) fn refuse_wrong(rules: &mut Rules, examples: &[Vec<u8>], oracle: &mut Oracle, random: &mut StdRand) {
    let described = |rules: &Rules| {
        let count = |grammar: Grammar| examples.iter().filter(|example| grammar.parse(example).is_some()).count();
        write::grammar(rules).map_or(0, count)
    };
    let mut known = described(rules);
    let mut needed: Vec<(usize, usize)> = Vec::new();
    for _ in 0..ROUNDS {
        if oracle.is_exhausted() {
            break;
        }
        let depths = rules.depths();
        // samples and rejected samples by rule and alternative
        let mut counts: Vec<Vec<[usize; 2]>> =
            rules.rules.iter().map(|rule| vec![[0; 2]; rule.alternatives.len()]).collect();
        let mut rejected = 0;
        for _ in 0..SAMPLES {
            let mut used = Vec::new();
            let input = sample(rules, &depths, random, &mut used);
            let is_rejected = usize::from(!oracle.accepts(&input));
            rejected += is_rejected;
            used.sort_unstable();
            used.dedup();
            for (rule, choice) in used {
                counts[rule][choice][0] += 1;
                counts[rule][choice][1] += is_rejected;
            }
        }
        if (rejected as f64) < (1.0 - GOOD) * SAMPLES as f64 {
            break;
        }
        needed.iter().for_each(|&(rule, choice)| counts[rule][choice] = [0; 2]);
        let Some((rule, choice)) = worst(&counts, rejected) else { break };
        let mut without = rules.clone();
        without.rules[rule].alternatives.remove(choice);
        without.simplify();
        let left = described(&without);
        if left < known {
            needed.push((rule, choice));
        } else {
            (*rules, known) = (without, left);
            needed.clear();
        }
    }
}

/// The alternative whose samples are rejected most often in comparison with those that do without it.
fn worst(counts: &[Vec<[usize; 2]>], rejected: usize) -> Option<(usize, usize)> {
    let mut worst = (LEAST_EXCESS, None);
    for (rule, counts) in counts.iter().enumerate().filter(|(_, counts)| counts.len() > 1) {
        for (choice, &[uses, failures]) in counts.iter().enumerate().filter(|(_, count)| count[0] >= 4) {
            let others = SAMPLES - uses;
            let with = failures as f64 / uses as f64;
            let without = (rejected - failures) as f64 / others.max(1) as f64;
            // test of two shares
            let all = rejected as f64 / SAMPLES as f64;
            let deviation = (all * (1.0 - all) * (1.0 / uses as f64 + 1.0 / others.max(1) as f64)).sqrt();
            let excess = (with - without) / deviation.max(1e-9);
            if with > 0.1 && excess > worst.0 {
                worst = (excess, Some((rule, choice)));
            }
        }
    }
    worst.1
}
