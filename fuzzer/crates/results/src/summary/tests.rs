//! Tests that a summary survives writing and reading.

use super::*;
use crate::testing::example;

#[test]
fn the_keys_are_those_that_are_promised() {
    insta::assert_snapshot!("summary", example().to_json());
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
