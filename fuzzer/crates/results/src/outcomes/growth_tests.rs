//! Tests of the outcome of a growth.

use std::path::Path;

use quagmire_cost::resource::Resource;

use super::*;
use crate::{
    growth_file::{GrowthFile, GrowthTime, GrowthTimes, PlaceGrowth},
    summary::LawPoint,
};

/// A quadratic growth.
pub(crate) fn growth() -> GrowthFile {
    let place = |function: &str, location: &str, share| PlaceGrowth {
        function: function.into(),
        location: Some(location.into()),
        share,
        words: "quadratic".into(),
    };
    GrowthFile {
        input: Some("slow.txt".into()),
        template: "rep(N){x}".into(),
        resource: Resource::Instructions,
        words: "exactly quadratic in the number of x, from 40 on".into(),
        class: "quadratic".into(),
        axis: "repetitions".into(),
        crossover: Some(70.0),
        points: [10, 17, 29].map(|n| LawPoint { n, bytes: n, amount: n * n, expected: (n * n) as f64 }).to_vec(),
        functions: vec![place("f", "/src/a.c:9", 0.9)],
        lines: vec![place("std::find", "/usr/include/algo.h:5", 0.6), place("f", "/src/a.c:9", 0.3)],
        times: Some(GrowthTimes {
            sizes: vec![
                GrowthTime { seconds: 1.0, bytes: [14_200.0, 14_000.0, 15_000.0], is_safe: true },
                GrowthTime { seconds: 60.0, bytes: [1e9, 1e9, 1e9], is_safe: false },
            ],
        }),
        generator: "python3 -c 'print()'".into(),
    }
}

#[test]
fn a_superlinear_growth_is_a_failure_at_the_line_of_the_project() {
    let outcomes = Outcomes::of_growth(&growth(), &mut SourceRoot::new(Path::new("/src")));
    let one = &outcomes.all[0];
    assert_eq!((one.kind, one.status()), (Kind::Superlinear, Status::Failed));
    assert_eq!(one.place.as_ref().map(|place| place.file.as_str()), Some("a.c"));
    assert!(one.message.ends_with("up to 29 bytes. CPU time: 1 s at 14,200 bytes."), "{}", one.message);
    let linear = GrowthFile { class: "linear".into(), ..growth() };
    assert_eq!(Outcomes::of_growth(&linear, &mut SourceRoot::default()).all[0].status(), Status::Passed);
}
