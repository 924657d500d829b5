//! Data of a growth plot: the measured points, the law through them, and where it is believed without a measurement.

use quagmire_base::format::grouped;

use crate::{
    comparison::{ComparedInput, LawPoint},
    growth_file::GrowthFile,
    summary::{self, FindingLaw},
};

/// Growth of an amount with a size, for a plot with logarithmic axes. Points are (size, amount); those that are not
/// positive are left out of the plot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GrowthPlot {
    /// Title: the law in words.
    pub title: String,
    /// Words for the size: `repetitions`.
    pub sizes: String,
    /// Words for the amount, with its unit: `instructions`.
    pub amounts: String,
    /// Points that were measured.
    pub measured: Vec<(f64, f64)>,
    /// Name of the curve through the points: `the law`.
    pub name: String,
    /// Curve through the points, over the sizes that were measured.
    pub law: Vec<(f64, f64)>,
    /// Name and curve of what it is compared with: another law that does as well, or the old build.
    pub rival: Option<(String, Vec<(f64, f64)>)>,
    /// Curve of the law beyond the sizes that were measured.
    pub beyond: Vec<(f64, f64)>,
    /// Sizes at which something changes, with words: `from 40 on`.
    pub marks: Vec<(f64, String)>,
}

/// Extrapolation of a plot, as a multiple of the largest measured size.
const BEYOND: f64 = 10.0;

impl GrowthPlot {
    /// Plot of the law of a finding. The curve beyond the measured sizes continues the law's slope at their end; there is
    /// none for exponential laws, whose slope does not last, and for costs that are capped.
    pub fn of_finding(law: &FindingLaw) -> Self {
        let describe = law.resource.describe();
        let curve: Vec<(f64, f64)> = law.points.iter().map(|point| (point.n as f64, point.expected)).collect();
        let from = law.onset.map(|n| (n as f64, format!("from {} on", grouped(n))));
        let cap = law.cap.map(|n| (n as f64, format!("capped at {}", grouped(n))));
        let lasts = law.cap.is_none() && !law.class.starts_with("exponential");
        let unit = match law.resource.unit().name() {
            "" => String::new(),
            unit => format!(", {unit}"),
        };
        Self {
            title: law.words.clone(),
            sizes: "repetitions".into(),
            amounts: format!("{}{unit}", describe.title),
            measured: law.points.iter().map(|point| (point.n as f64, point.amount as f64)).collect(),
            beyond: if lasts { continued(&curve) } else { Vec::new() },
            name: "the law".into(),
            law: curve,
            rival: None,
            marks: from.into_iter().chain(cap).collect(),
        }
    }

    /// Plot of a growth, with the size from which on its highest term is more than the others together.
    pub fn of_growth(growth: &GrowthFile) -> Self {
        let curve: Vec<(f64, f64)> = growth.points.iter().map(|point| (point.n as f64, point.expected)).collect();
        let crossover = growth.crossover.map(|size| {
            let n = if growth.axis == "bytes" {
                summary::LawPoint::repetitions_of(&growth.points, size as u64) as f64
            } else {
                size
            };
            (n, format!("highest term above the others from {} on", grouped(n as u64)))
        });
        let is_capped = growth.words.contains("capped");
        Self {
            title: growth.words.clone(),
            sizes: "repetitions".into(),
            amounts: growth.resource.describe().title.into(),
            measured: growth.points.iter().map(|point| (point.n as f64, point.amount as f64)).collect(),
            name: "the law".into(),
            beyond: if is_capped || growth.class.starts_with("exponential") { Vec::new() } else { continued(&curve) },
            law: curve,
            rival: None,
            marks: crossover.into_iter().collect(),
        }
    }

    /// Plot of both builds of a comparison over the repetitions of a part of the input; `None` if its law is not worse.
    pub fn of_compared(input: &ComparedInput) -> Option<Self> {
        let law = input.law.as_ref()?;
        let points = |amount: fn(&LawPoint) -> u64| -> Vec<(f64, f64)> {
            law.sizes.iter().map(|point| (point.repetitions as f64, amount(point) as f64)).collect()
        };
        let place = law.function.as_ref().map(|function| format!(" in {function}")).unwrap_or_default();
        Some(Self {
            title: format!("n^{:.1} instead of n^{:.1}{place}", law.new_exponent, law.old_exponent),
            sizes: law.along(),
            amounts: format!("instructions{place}"),
            measured: points(|point| point.new),
            name: "the new build".into(),
            law: points(|point| point.new),
            rival: Some(("the old build".into(), points(|point| point.old))),
            ..Self::default()
        })
    }
}

/// Straight line behind the end of a curve, on logarithmic axes.
fn continued(curve: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let [.., before, last] = curve else { return Vec::new() };
    let slope = (last.1 / before.1).ln() / (last.0 / before.0).ln();
    let end = (last.0 * BEYOND, last.1 * BEYOND.powf(slope));
    let is_drawn = before.0 > 0.0 && before.0 < last.0 && slope.is_finite() && end.1.is_finite();
    if is_drawn { vec![*last, end] } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::example;

    #[test]
    fn a_law_is_continued_by_its_slope_and_a_cap_is_not() {
        let law = example().findings[0].law.clone().unwrap();
        let plot = GrowthPlot::of_finding(&law);
        assert_eq!(plot.marks, [(40.0, "from 40 on".to_owned())]);
        let [last, end] = plot.beyond.as_slice() else { panic!("{plot:?}") };
        assert_eq!(last, plot.law.last().unwrap());
        let growth = end.1 / last.1;
        assert!((99.0..100.1).contains(&growth), "ten times the size is a hundred times the amount: {growth}");
        for other in [
            FindingLaw { cap: Some(900), ..law.clone() },
            FindingLaw { class: "exponential (1.5^n)".into(), ..law.clone() },
            FindingLaw { points: Vec::new(), ..law },
        ] {
            assert_eq!(GrowthPlot::of_finding(&other).beyond, []);
        }
    }

    #[test]
    fn curves_that_do_not_grow_or_are_not_curves_make_no_nonsense() {
        assert_eq!(continued(&[(1.0, 0.0), (2.0, 0.0)]), []);
        assert_eq!(continued(&[(2.0, 5.0), (2.0, 7.0)]), []);
        assert_eq!(continued(&[(1.0, 5.0), (2.0, 5.0)]), [(2.0, 5.0), (20.0, 5.0)]);
    }
}
