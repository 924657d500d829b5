//! Tests that a summary survives writing and reading.

use super::*;
use crate::testing::{EXAMPLE, example};

#[test]
fn the_keys_are_those_that_are_promised() {
    assert_eq!(example().to_json(), EXAMPLE);
}

#[test]
fn a_summary_is_read_back_as_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("summary.json");
    example().write(&path).unwrap();
    assert_eq!(Summary::read(&path).unwrap(), example());
}

#[test]
fn ratios_that_are_not_finite_become_null() {
    let mut summary = example();
    summary.findings[0].time_ratio = Some(f64::INFINITY);
    let read: Summary = serde_json::from_str(&summary.to_json()).unwrap();
    assert_eq!(read.findings[0].time_ratio, None);
}

#[test]
fn what_is_not_a_summary_is_an_error_with_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("summary.json");
    assert!(Summary::read(&path).unwrap_err().message.contains("summary.json"));
    std::fs::write(&path, "{}").unwrap();
    assert!(Summary::read(&path).unwrap_err().message.contains("is not a summary"));
}

#[test]
fn findings_survive_a_checkpoint() {
    let before = example().findings;
    let after: Vec<Finding> = postcard::from_bytes(&postcard::to_stdvec(&before).unwrap()).unwrap();
    assert_eq!(after, before);
}

#[test]
fn rows_of_clients_are_added_by_target_and_stage() {
    let row = |target, stage, mutants| Shadow {
        goal: target,
        target,
        stage,
        masked_mutants: mutants,
        masked_hits: mutants / 2,
        plain_mutants: mutants + 1,
        plain_hits: 1,
    };
    let mut rows = vec![row(GoalKind::Branch, Source::Rules, 10)];
    let others = [row(GoalKind::Branch, Source::Rules, 4), row(GoalKind::Branch, Source::Havoc, 6)];
    Shadow::add_all(&mut rows, &others);
    let both = Shadow { plain_mutants: 16, plain_hits: 2, ..row(GoalKind::Branch, Source::Rules, 14) };
    assert_eq!(rows, [others[1], both]);
}

#[test]
fn hits_of_clients_are_added_and_the_first_hit_is_the_earliest() {
    let place = |place: &str, hits, first_hit| TowardsPlace {
        place: place.into(),
        edges: 3,
        hits,
        first_hit,
        ..TowardsPlace::default()
    };
    let mut places = [place("f", 5, Some(90)), place("a.c:7", 0, None), place("g", 0, None)];
    TowardsPlace::add_all(&mut places, &[place("a.c:7", 2, Some(11)), place("f", 1, Some(70)), place("g", 0, None)]);
    assert_eq!(places, [place("f", 6, Some(70)), place("a.c:7", 2, Some(11)), place("g", 0, None)]);
}

#[test]
fn costs_are_those_of_the_client_with_the_most_expensive_entry() {
    let place = |first, most, doubled| TowardsPlace {
        place: "f".into(),
        first_instructions: Some(first),
        most_instructions: Some(most),
        doubled,
        ..TowardsPlace::default()
    };
    for clients in [[place(40, 60, None), place(400, 900, Some(7))], [place(400, 900, Some(7)), place(40, 60, None)]] {
        let mut all = [TowardsPlace { place: "f".into(), ..TowardsPlace::default() }];
        clients.iter().for_each(|client| TowardsPlace::add_all(&mut all, std::slice::from_ref(client)));
        assert_eq!(all, [place(400, 900, Some(7))]);
    }
}
