//! Runs of all inputs in both builds: counts, early ends confirmed, times where counts moved, and growth.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use super::{
    builds::{Builds, Pair, Side},
    evidence::Evidence,
    law, moved,
    subject::Subject,
    times::{FALSE_DISCOVERIES, Limits, Times},
};
use crate::{
    interruption,
    runner::{Detail, Run},
};
use quagmire_base::{error::Result, plain::complain};
use quagmire_cost::{resource::Resource, statistics::discoveries};

/// Most runs of one input in each build until two in a row are the same: the first may fill what later ones find.
pub(super) const MOST_RUNS: usize = 4;
/// Inputs whose counts did not move, and that are timed nevertheless: those that take longest.
const TIMED_ANYWAY: usize = 20;
/// Share of the hang timeout from which on a run may be a hang by chance: times vary by as much on a busy machine.
const NEAR_HANG: f64 = 0.8;
/// Seconds of a run from which on such an input is timed.
const LONG: f64 = 1e-3;
/// Inputs that are repeated to find out how cost grows, for each function that grew most.
const GROWN_PER_FUNCTION: usize = 3;
/// Such inputs in all.
const GROWN: usize = 24;
/// Interval of lines about the progress.
const PROGRESS: Duration = Duration::from_secs(10);

/// Runs all inputs. Returns whether nothing was left out.
pub(super) fn all(builds: &mut Builds, subjects: &mut [Subject], limits: &Limits) -> Result<bool> {
    let is_inexact = !builds.are_exact();
    let number = subjects.len();
    let mut shown = Instant::now();
    for (done, subject) in subjects.iter_mut().enumerate() {
        if interruption::has_come() {
            return Ok(false);
        }
        if shown.elapsed() > PROGRESS {
            shown = Instant::now();
            complain(&format!("quagmire: comparing: {done} of {number} inputs\n"));
        }
        subject.evidence.is_inexact = is_inexact;
        run_both(builds, &subject.bytes, &mut subject.evidence)?;
    }
    for subject in subjects.iter_mut().filter(|subject| subject.evidence.has_new_end()) {
        if limits.are_over() {
            return Ok(false);
        }
        reproduce(builds, &subject.bytes, &mut subject.evidence, limits.hang_timeout)?;
    }
    let mut is_complete = true;
    if !is_inexact {
        locate(builds, subjects)?;
    }
    if builds.old.is_some() {
        is_complete &= time(builds, subjects, limits)?;
        is_complete &= is_inexact || grow(builds, subjects, limits)?;
    }
    Ok(is_complete && !interruption::has_come())
}

/// Runs an input in both builds in turn, until two runs in a row are the same in each.
fn run_both(builds: &mut Builds, input: &[u8], evidence: &mut Evidence) -> Result<()> {
    let mut last: [Option<Run>; 2] = [None, None];
    for _ in 0..MOST_RUNS {
        let mut unstable = None;
        let sides = [("old", builds.old.as_mut()), ("new", Some(&mut builds.new))];
        for ((build, side), last) in sides.into_iter().zip(&mut last) {
            let Some(side) = side else { continue };
            let run = side.run(input, Detail::Edges, 1)?;
            let is_same = |last: &Run| last.status == run.status && (evidence.is_inexact || last.edges == run.edges);
            if run.came_back() && !last.as_ref().is_some_and(is_same) {
                unstable.get_or_insert(build);
            }
            *last = Some(run);
        }
        let why =
            |build| format!("its runs differ in the {build} build: it depends on time, addresses or random numbers");
        evidence.unstable = unstable.map(why);
        if evidence.unstable.is_none() {
            break;
        }
        if interruption::has_come() {
            return Ok(());
        }
    }
    // edges have done their work: they are many
    let [old, new] = last.map(|run| run.map(|run| Run { edges: Vec::new(), ..run }));
    evidence.old = old.or(evidence.old.take());
    evidence.new = new;
    Ok(())
}

/// Runs an input in new processes, to confirm that the new build ends it early and the old one does not.
fn reproduce(builds: &mut Builds, input: &[u8], evidence: &mut Evidence, hang_timeout: Duration) -> Result<()> {
    let is_near = |old: &Run| old.came_back() && old.seconds >= NEAR_HANG * hang_timeout.as_secs_f64();
    if evidence.new.as_ref().is_some_and(Run::hung) && evidence.old.as_ref().is_some_and(is_near) {
        let why = "the old build takes nearly as long as the hang timeout: give more with --hang-timeout";
        evidence.unstable = Some(why.to_owned());
        return Ok(());
    }
    let again = builds.new.run_afresh(input, Detail::Cost)?;
    let is_as_new = evidence.new.as_ref().is_some_and(|new| new.status == again.status);
    let is_as_old = match &mut builds.old {
        Some(old) => {
            let again = old.run_afresh(input, Detail::Cost)?;
            evidence.old.as_ref().is_some_and(|old| old.status == again.status)
        }
        None => true,
    };
    evidence.is_reproduced = Some(is_as_new && is_as_old);
    Ok(())
}

/// Finds the functions of inputs whose counts moved.
fn locate(builds: &mut Builds, subjects: &mut [Subject]) -> Result<()> {
    for subject in subjects.iter_mut().filter(|one| one.evidence.has_moved() && one.evidence.unstable.is_none()) {
        if interruption::has_come() {
            break;
        }
        let source = |side: &mut Side| side.run(&subject.bytes, Detail::Source, 1).map(|run| run.source);
        if let (Some(side), Some(old)) = (&mut builds.old, &mut subject.evidence.old) {
            old.source = source(side)?;
        }
        if let Some(new) = &mut subject.evidence.new {
            new.source = source(&mut builds.new)?;
        }
    }
    Ok(())
}

/// Indices of the inputs whose times are measured: those whose instructions moved by as much as matters, by ratio, and
/// the slowest of the others.
fn to_be_timed(subjects: &[Subject], threshold: f64) -> Vec<usize> {
    let stable = |&index: &usize| {
        let evidence = &subjects[index].evidence;
        evidence.both().is_some() && evidence.unstable.is_none()
    };
    let ratio = |index: usize| subjects[index].evidence.ratio().unwrap_or(1.0);
    let seconds = |index: usize| subjects[index].evidence.new.as_ref().map_or(0.0, |run| run.seconds);
    let has_moved =
        |&index: &usize| ratio(index).max(1.0 / ratio(index)) >= threshold && !subjects[index].evidence.is_inexact;
    let (mut moved, mut others): (Vec<usize>, Vec<usize>) = (0..subjects.len()).filter(stable).partition(has_moved);
    moved.sort_by(|&a, &b| ratio(b).total_cmp(&ratio(a)));
    others.retain(|&index| seconds(index) >= LONG);
    others.sort_by(|&a, &b| seconds(b).total_cmp(&seconds(a)));
    moved.into_iter().chain(others.into_iter().take(TIMED_ANYWAY)).collect()
}

/// Measures times, and those that are longer once more in new processes. Returns whether there was time for all.
fn time(builds: &mut Builds, subjects: &mut [Subject], limits: &Limits) -> Result<bool> {
    let Some(mut pair) = builds.pair() else { return Ok(true) };
    let mut first = Vec::new();
    for index in to_be_timed(subjects, limits.threshold) {
        let Subject { bytes, evidence, .. } = &mut subjects[index];
        match Times::measure(&mut pair, bytes, evidence.usual_seconds(), limits)? {
            Some(times) => first.push((index, times)),
            None if limits.are_over() => break,
            None => evidence.unstable = Some("a run ended early while times were measured".to_owned()),
        }
    }
    let is_complete = !limits.are_over();
    let p_values: Vec<f64> = first.iter().map(|(_, times)| times.p_value()).collect();
    for ((index, times), is_discovery) in first.into_iter().zip(discoveries(&p_values, FALSE_DISCOVERIES)) {
        subjects[index].evidence.first = Some((times, is_discovery));
    }
    for subject in subjects.iter_mut().filter(|one| matches!(one.evidence.first, Some((_, true)))) {
        if limits.are_over() {
            return Ok(false);
        }
        confirm(&mut pair, subject, limits)?;
    }
    Ok(is_complete && !limits.are_over())
}

/// Measures the times of an input once more, in new processes, if its counts are the same there.
fn confirm(pair: &mut Pair, subject: &mut Subject, limits: &Limits) -> Result<()> {
    let Subject { bytes, evidence, .. } = subject;
    let is_same = match evidence.both() {
        Some(known) => pair.repeats(bytes, known, evidence.is_inexact)?,
        None => false,
    };
    if !is_same {
        evidence.unstable = Some("its counts are others in a new process".to_owned());
        return Ok(());
    }
    evidence.second = Times::measure(pair, bytes, evidence.usual_seconds(), limits)?;
    Ok(())
}

/// Finds out for the inputs that grew most whether cost grows faster with size. Returns whether there was time for all.
fn grow(builds: &mut Builds, subjects: &mut [Subject], limits: &Limits) -> Result<bool> {
    let capacity = builds.capacity;
    let Some(mut pair) = builds.pair() else { return Ok(true) };
    let mut grown: Vec<(usize, f64, String)> = Vec::new();
    for (index, subject) in subjects.iter().enumerate().filter(|(_, one)| one.evidence.unstable.is_none()) {
        let Some((old, new)) = subject.evidence.both() else { continue };
        if let Some(most) = moved::between(&old.source, &new.source).into_iter().next().filter(moved::has_grown) {
            let more = most.new_instructions - most.old_instructions;
            let share = more as f64 / old.cost[Resource::Instructions].max(1) as f64;
            grown.push((index, share, most.function));
        }
    }
    grown.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut functions: BTreeMap<String, usize> = BTreeMap::new();
    grown.retain(|(.., function)| {
        let number = functions.entry(function.clone()).or_default();
        *number += 1;
        *number <= GROWN_PER_FUNCTION
    });
    for (index, ..) in grown.into_iter().take(GROWN) {
        if limits.are_over() {
            return Ok(false);
        }
        let Subject { bytes, evidence, .. } = &mut subjects[index];
        evidence.law = law::worse(&mut pair, bytes, capacity, limits)?;
    }
    for function in functions.keys() {
        if limits.are_over() {
            return Ok(false);
        }
        let Some((largest, found)) = law::worse_over_corpus(subjects, function) else { continue };
        let Subject { bytes, evidence, .. } = &mut subjects[largest];
        let is_large = evidence.ratio().is_some_and(|grown| grown >= limits.threshold);
        if evidence.law.is_none() && is_large {
            let times = Times::measure(&mut pair, bytes, evidence.usual_seconds(), limits)?;
            if times.is_some_and(|times| times.p_value() <= law::CONFIRMED) {
                evidence.law = Some(found);
            }
        }
    }
    // a law that was found late may not have been confirmed
    Ok(!limits.are_over())
}
