use super::*;
use crate::compare::times::tests::times;
use quagmire_cost::resource::Cost;

fn run(status: &str, instructions: u64) -> Option<Run> {
    Some(Run { status: status.into(), cost: Cost::from([(Resource::Instructions, instructions)]), ..Run::default() })
}

fn returned(old: u64, new: u64) -> Evidence {
    Evidence { old: run("returned", old), new: run("returned", new), ..Evidence::default() }
}

fn verdict(evidence: &Evidence) -> Verdict {
    evidence.decide(1.05).0
}

#[test]
fn more_instructions_are_red_only_if_time_confirms_them_twice() {
    let mut slower = returned(1_000, 1_200);
    assert_eq!(verdict(&slower), Verdict::Unfinished);
    slower.first = Some((times(1.0, 1.2), false));
    assert_eq!(verdict(&slower), Verdict::Same);
    slower.first = Some((times(1.0, 1.2), true));
    assert_eq!(verdict(&slower), Verdict::Unfinished);
    slower.second = Some(times(1.0, 1.0));
    assert_eq!(verdict(&slower), Verdict::Same);
    slower.second = Some(times(1.0, 1.2));
    assert_eq!(verdict(&slower), Verdict::Slower);
}

#[test]
fn more_time_with_the_same_instructions_is_a_note() {
    let mut longer = returned(1_000, 1_000);
    longer.first = Some((times(1.0, 1.2), true));
    longer.second = Some(times(1.0, 1.2));
    assert_eq!(verdict(&longer), Verdict::TimeOnly);
    assert!(!Verdict::TimeOnly.is_regression());
    longer.second = Some(times(1.0, 1.03));
    assert_eq!(verdict(&longer), Verdict::Same, "less than matters");
    let mut fewer = returned(1_000, 500);
    assert_eq!(verdict(&fewer), Verdict::Faster);
    (fewer.first, fewer.second) = (Some((times(1.0, 1.2), true)), Some(times(1.0, 1.2)));
    assert_eq!(verdict(&fewer), Verdict::TimeOnly);
}

#[test]
fn a_new_end_is_red_once_a_new_process_ends_so_too() {
    for (status, expected) in
        [("crashed", Verdict::NewCrash), ("exited", Verdict::NewCrash), ("hung", Verdict::NewHang)]
    {
        let mut ended = Evidence { old: run("returned", 10), new: run(status, 5), ..Evidence::default() };
        assert_eq!(verdict(&ended), Verdict::Unfinished);
        ended.is_reproduced = Some(false);
        assert_eq!(verdict(&ended), Verdict::Unstable);
        ended.is_reproduced = Some(true);
        assert_eq!(verdict(&ended), expected);
    }
}

#[test]
fn an_early_end_that_is_gone_is_fixed_and_one_that_stays_is_the_same() {
    let ends = |old, new| verdict(&Evidence { old: run(old, 5), new: run(new, 5), ..Evidence::default() });
    assert_eq!(ends("crashed", "returned"), Verdict::Fixed);
    assert_eq!(ends("hung", "rejected"), Verdict::Fixed);
    assert_eq!(ends("hung", "hung"), Verdict::Same);
}

#[test]
fn what_is_unstable_or_was_not_run_has_no_verdict_on_its_cost() {
    let mut unstable = returned(10, 1_000);
    unstable.unstable = Some("it differs".into());
    assert_eq!(verdict(&unstable), Verdict::Unstable);
    assert_eq!(verdict(&Evidence::default()), Verdict::Unfinished);
}

#[test]
fn a_law_that_is_worse_is_the_gravest_verdict_on_cost() {
    let mut law = returned(1_000, 1_010);
    law.law = Some(LawChange {
        pump: "\"[\"".into(),
        template: String::new(),
        function: Some("parse".into()),
        old_exponent: 1.0,
        new_exponent: 2.04,
        sizes: Vec::new(),
    });
    let (verdict, why) = law.decide(1.05);
    assert_eq!(verdict, Verdict::LawWorse);
    assert_eq!(why, "instructions of parse grow as n^2.0 in the repetitions of \"[\", and as n^1.0 before");
    assert!(Verdict::ALL.into_iter().all(|other| other >= verdict));
}

#[test]
fn a_baseline_has_counts_only_and_counts_that_are_not_exact_say_nothing() {
    let mut slower = returned(1_000, 1_200);
    slower.source = Source::Baseline;
    assert_eq!(verdict(&slower), Verdict::Slower);
    (slower.old, slower.new) = (run("returned", 10), run("returned", 100));
    assert_eq!(verdict(&slower), Verdict::Same, "few in all");
    slower.old = run("returned", 1_000);
    slower.new = run("returned", 1_049);
    assert_eq!(verdict(&slower), Verdict::Same);
    let inexact = Evidence { is_inexact: true, ..returned(1_000, 2_000) };
    assert_eq!(verdict(&inexact), Verdict::Same);
}

#[test]
fn a_finding_is_fixed_when_it_costs_hardly_more_than_an_ordinary_input() {
    let finding = |new| {
        let known = Evidence { source: Source::Campaign, ordinary: Some(100), ..returned(10_000, new) };
        verdict(&known)
    };
    assert_eq!(
        [150, 5_000, 10_000, 20_000].map(finding),
        [Verdict::Fixed, Verdict::Faster, Verdict::Same, Verdict::Slower]
    );
}
