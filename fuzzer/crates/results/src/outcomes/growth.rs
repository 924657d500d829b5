//! Outcome of a measured growth: superlinear, or harmless.

use quagmire_base::format::{counted, grouped};

use super::{Kind, Outcome, Outcomes, SourceRoot, Step};
use crate::growth_file::{GrowthFile, PlaceGrowth};

impl Outcomes {
    /// The outcome of a growth. Paths of sources become relative to `root`.
    pub fn of_growth(growth: &GrowthFile, root: &mut SourceRoot) -> Self {
        let input = growth.input.clone().unwrap_or_else(|| growth.template.clone());
        let kind = if growth.is_superlinear() { Kind::Superlinear } else { Kind::Harmless };
        let steps = steps(growth, root);
        let place = steps.iter().map(|step| &step.place).find(|place| place.is_inside());
        let outcome = Outcome {
            kind,
            level: kind.describe().level,
            message: message(growth),
            place: place.or(steps.first().map(|step| &step.place)).cloned(),
            cause: growth.functions.first().map(|function| function.function.clone()),
            law: Some(growth.words.clone()),
            law_class: Some(growth.class.clone()),
            steps,
            figures: figures(growth),
            reproduce: Some(growth.generator.clone()).filter(|generator| !generator.is_empty()),
            input: input.clone(),
            ..Outcome::default()
        };
        Self {
            command: "growth".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            target: input,
            headline: growth.words.clone(),
            all: vec![outcome],
            ..Self::default()
        }
    }
}

fn message(growth: &GrowthFile) -> String {
    let times = growth.times.iter().flat_map(|times| &times.sizes).filter(|size| size.is_safe);
    let sizes: Vec<String> =
        times.map(|one| format!("{} s at {} bytes", one.seconds, grouped(one.bytes[0] as u64))).collect();
    let sizes = if sizes.is_empty() { String::new() } else { format!(" CPU time: {}.", sizes.join(", ")) };
    let measured = growth.points.last().map(|point| format!(", as measured up to {}", counted(point.bytes, "byte")));
    format!("How the {} grow{}.{sizes}", growth.resource.describe().title, measured.unwrap_or_default())
}

/// Lines by their laws, or functions without debug information.
fn steps(growth: &GrowthFile, root: &mut SourceRoot) -> Vec<Step> {
    let step = |one: &PlaceGrowth| {
        let (file, line) = one.location.as_deref()?.rsplit_once(':')?;
        let place = root.place(file, line.parse().ok(), Some(&one.function));
        let message = format!("{:.1} % of the instructions: {}", one.share * 100.0, one.words);
        Some(Step { place, message, share: one.share })
    };
    let places = if growth.lines.is_empty() { &growth.functions } else { &growth.lines };
    places.iter().filter_map(step).collect()
}

fn figures(growth: &GrowthFile) -> Vec<(String, f64)> {
    let largest = growth.points.last();
    let points = largest
        .iter()
        .flat_map(|point| [("n", point.n), ("bytes", point.bytes), (growth.resource.name(), point.amount)]);
    let times = growth.times.iter().flat_map(|times| &times.sizes);
    let times = times.map(|one| (format!("bytes_of_{}_seconds", one.seconds), one.bytes[0]));
    let points = points.map(|(name, value)| (name.to_owned(), value as f64));
    points.chain(times).filter(|(_, value)| value.is_finite()).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use std::path::Path;

    use quagmire_cost::resource::Resource;

    use super::*;
    use crate::{
        growth_file::{GrowthTime, GrowthTimes},
        outcomes::Status,
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
}
