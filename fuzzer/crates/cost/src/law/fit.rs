//! Fits: which law a series follows, how sure that is, and where the law begins and ends.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    Class, EqualSteps, Law, Point,
    candidates::{self, error_at},
    cap,
};

/// The largest error of a law that holds: 2 %.
pub const LARGEST_ERROR: f64 = 0.02;
/// The largest error of a law that holds on the whole, with amounts that swing around it; above are steps.
const LARGEST_SWING: f64 = 0.15;
/// Laws that predict as well as the best one, within this factor, are rivals, and the simplest of them is taken.
const AS_GOOD: f64 = 3.0;
/// The same where no law holds: errors say less there.
const AS_GOOD_STEPS: f64 = 1.3;
/// The largest sizes, which are held out and predicted.
const HELD_OUT: usize = 3;
/// The fewest sizes past the onset.
const LEAST_SIZES: usize = 7;
/// The fewest sizes at which anything is said.
const LEAST_POINTS: usize = 4;
/// A term of the highest order carries this many times the error of its law, or the error could have made it.
const ABOVE_ERROR: f64 = 5.0;
/// Errors of rounding are not compared.
const ROUNDING: f64 = 1e-9;
/// For high confidence: the largest error, the number of sizes, the factor that they span, and the rival's factor.
const HIGH: (f64, usize, f64, f64) = (0.01, 8, 20.0, 5.0);
/// Exponential amounts leave room for few sizes: what they span.
const HIGH_SPAN_EXPONENTIAL: f64 = 2.5;

/// The law of a series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// The formula from the onset to the cap.
    pub law: Law,
    /// The differences of amounts at equal steps vanish, and a far size is predicted exactly.
    pub exact: bool,
    /// The amounts jump around the law, by more than 15 %: memory that doubles now and then, for instance.
    pub steps: bool,
    /// The error of the prediction at the sizes that were held out, or the usual error at the others if that is larger;
    /// 0.01 is 1 %.
    pub error: f64,
    /// A law of another kind that predicts as well, or nearly so.
    pub rival: Option<Rival>,
    /// The size from which on the law holds, if it does not at the smallest one.
    pub onset: Option<u64>,
    /// Where the amount stops growing.
    pub cap: Option<Cap>,
    /// The number of sizes that the law was fitted to.
    pub sizes: usize,
    /// The smallest of them.
    pub smallest: u64,
    /// The largest size of the series.
    pub largest: u64,
    /// The least and the largest local exponent among the four largest sizes that the law was fitted to.
    pub slopes: (f64, f64),
    /// How sure the class is.
    pub confidence: Confidence,
}

/// A law of another kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rival {
    /// The formula.
    pub law: Law,
    /// Its error over that of the law.
    pub factor: f64,
}

/// A plateau.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cap {
    /// The size at which it begins, by the law in front of it.
    pub size: u64,
    /// The amount from there on.
    pub amount: u64,
}

/// How sure the class of a law is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// There is a rival, the amounts jump, or the sizes are few.
    Low,
    /// Neither low nor high.
    Medium,
    /// Exact, or predicted within 1 % over a wide range of sizes with no other law near.
    High,
}

/// The law of a series with sizes in increasing order. `equal_steps` can show that the law is an exact polynomial.
///
/// None: fewer than four sizes, or sizes that do not increase.
pub fn fit(points: &[Point], equal_steps: Option<&EqualSteps>) -> Option<Fit> {
    if points.len() < LEAST_POINTS || points.windows(2).any(|pair| pair[0].size >= pair[1].size) {
        return None;
    }
    if points.iter().all(|point| point.amount == points[0].amount) {
        // most edges: no law to look for
        let law = Law::constant(points[0].amount as f64);
        return Some(Fit { law, exact: false, steps: false, error: 0.0, confidence: Confidence::High, ..flat(points) });
    }
    let before = cap::before_plateau(points);
    let growing = before.map_or(points, |count| &points[..count]);
    let Some(mut fit) = from_onset(growing) else {
        // too few sizes in front of the plateau to have a law: what is known is the plateau
        let plateau = &points[before.unwrap_or(0)..];
        let fit = fit(plateau, None).unwrap_or_else(|| flat(plateau));
        return Some(Fit { onset: Some(plateau[0].size), ..fit });
    };
    fit.largest = points.last()?.size;
    if let Some(count) = before {
        let plateau = points[count..].iter().map(|point| point.amount).max().unwrap_or(0);
        let reached = fit.law.size_for(plateau as f64, points[count - 1].size as f64);
        let size = reached.map_or(points[count].size, |size| (size.round() as u64).min(points[count].size));
        fit.cap = Some(Cap { size, amount: plateau });
        fit.confidence = fit.confidence.min(Confidence::Medium);
    } else if let Some(law) = equal_steps.and_then(EqualSteps::polynomial) {
        fit.confirm(law, points);
    }
    Some(fit)
}

/// The law past the smallest number of small sizes past which there is one.
fn from_onset(points: &[Point]) -> Option<Fit> {
    let most = points.len().saturating_sub(LEAST_SIZES);
    for dropped in 0..=most {
        let rest = &points[dropped..];
        if let Some(fit) = choose(rest, AS_GOOD).filter(|fit| fit.error <= LARGEST_ERROR) {
            return Some(Fit { onset: (dropped > 0).then_some(rest[0].size), ..fit });
        }
    }
    let mut fit = choose(points, AS_GOOD)?;
    if fit.error > LARGEST_SWING {
        fit = Fit { steps: true, ..choose(points, AS_GOOD_STEPS)? };
    }
    fit.confidence = Confidence::Low;
    Some(fit)
}

/// The simplest law that predicts the largest sizes as well as any other within `as_good`, and its rival.
fn choose(points: &[Point], as_good: f64) -> Option<Fit> {
    if points.len() < LEAST_POINTS {
        return None;
    }
    let held_out = HELD_OUT.min(points.len() - LEAST_POINTS + 1).min(points.len() / 2);
    let (known, hidden) = points.split_at(points.len() - held_out);
    let largest = points.last()?.size as f64;
    let mut tried: Vec<(Law, f64)> = Vec::new();
    for law in candidates::all(known) {
        let error = error_of(&law, known, hidden);
        let highest = law.highest().map_or(0.0, |term| term.amount_at(largest));
        let needed = (ABOVE_ERROR * error).clamp(ROUNDING, 0.5) * law.amount_at(largest);
        if law.class() == Class::Constant || highest >= needed {
            tried.push((law, error));
        }
    }
    let best = tried.iter().map(|(_, error)| *error).fold(f64::INFINITY, f64::min);
    let good = |error: f64| error <= (as_good * best).max(ROUNDING);
    let (law, error) = tried.iter().find(|(_, error)| good(*error))?;
    let factor = |other: f64| other.max(ROUNDING) / error.max(ROUNDING);
    let rivals = tried.iter().filter(|(other, _)| !other.class().is_nested(&law.class()));
    let (rival, nearest) = rivals.min_by(|a, b| a.1.total_cmp(&b.1)).map_or((None, f64::INFINITY), |(other, e)| {
        let factor = factor(*e);
        let near = factor <= AS_GOOD && error.max(*e) > ROUNDING && law.class() != Class::Constant;
        (near.then(|| Rival { law: refit(other, points), factor }), factor)
    });
    let mut fit = Fit {
        law: refit(law, points),
        exact: false,
        steps: false,
        error: *error,
        rival,
        onset: None,
        cap: None,
        sizes: points.len(),
        smallest: points[0].size,
        largest: points[points.len() - 1].size,
        slopes: slopes(points),
        confidence: Confidence::Medium,
    };
    fit.confidence = fit.sureness(nearest);
    Some(fit)
}

/// The usual error where the law was fitted, or the worst one where it predicts, whichever is larger: a law that is lucky
/// at three sizes is not better than the noise at the others.
fn error_of(law: &Law, known: &[Point], hidden: &[Point]) -> f64 {
    let mut usual: Vec<f64> = known.iter().map(|point| error_at(law, point)).collect();
    usual.sort_by(f64::total_cmp);
    hidden.iter().map(|point| error_at(law, point)).fold(usual[usual.len() / 2], f64::max)
}

/// The same class fitted to all points.
fn refit(law: &Law, points: &[Point]) -> Law {
    candidates::of(law.class(), points).map_or_else(|| law.clone(), |(law, _)| law)
}

/// The local exponents between the last four sizes.
fn slopes(points: &[Point]) -> (f64, f64) {
    let tail = &points[points.len().saturating_sub(4)..];
    let exponents = tail.windows(2).map(|pair| {
        let amounts = pair[1].amount.max(1) as f64 / pair[0].amount.max(1) as f64;
        amounts.ln() / (pair[1].size as f64 / pair[0].size.max(1) as f64).ln()
    });
    exponents.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
}

/// Fit of a series that no law describes.
fn flat(points: &[Point]) -> Fit {
    let amount = points.last().map_or(0, |point| point.amount) as f64;
    Fit {
        law: Law::constant(amount),
        exact: false,
        steps: true,
        error: 1.0,
        rival: None,
        onset: None,
        cap: None,
        sizes: points.len(),
        smallest: points[0].size,
        largest: points[points.len() - 1].size,
        slopes: slopes(points),
        confidence: Confidence::Low,
    }
}

impl Fit {
    /// Takes over an exact polynomial if it predicts the three largest sizes of the series too.
    fn confirm(&mut self, law: Law, points: &[Point]) {
        let tail = &points[points.len().saturating_sub(HELD_OUT)..];
        let error = tail.iter().map(|point| error_at(&law, point)).fold(0.0, f64::max);
        if error > LARGEST_ERROR.min(self.error.max(0.001)) {
            return;
        }
        let misses = |point: &&Point| error_at(&law, point) > LARGEST_ERROR;
        self.onset =
            points.iter().rposition(|point| misses(&point)).and_then(|last| points.get(last + 1)).map(|p| p.size);
        *self =
            Self { law, exact: true, steps: false, error, rival: None, confidence: Confidence::High, ..self.clone() };
    }

    /// The confidence by the error, the sizes, and how much worse the nearest law of another kind is.
    fn sureness(&self, nearest: f64) -> Confidence {
        let span = self.largest as f64 / self.smallest.max(1) as f64;
        let enough = match self.law.class() {
            Class::Exponential(_) => HIGH_SPAN_EXPONENTIAL,
            _ => HIGH.2,
        };
        if self.rival.is_some() || self.sizes < LEAST_SIZES || self.error > LARGEST_ERROR {
            Confidence::Low
        } else if self.error <= HIGH.0 && self.sizes >= HIGH.1 && span >= enough && nearest >= HIGH.3 {
            Confidence::High
        } else {
            Confidence::Medium
        }
    }

    /// Whether the law is not of low confidence.
    pub fn is_sure(&self) -> bool {
        self.confidence > Confidence::Low
    }

    /// The class in the end: constant behind a cap.
    pub fn class(&self) -> Class {
        if self.cap.is_some() { Class::Constant } else { self.law.class() }
    }

    /// The law in the end: the plateau behind a cap.
    pub fn final_law(&self) -> Law {
        self.cap.map_or_else(|| self.law.clone(), |cap| Law::constant(cap.amount as f64))
    }

    /// The predicted amount at a size.
    pub fn amount_at(&self, size: u64) -> f64 {
        match self.cap {
            Some(cap) if size >= cap.size => cap.amount as f64,
            Some(cap) => self.law.amount_at(size as f64).min(cap.amount as f64),
            None => self.law.amount_at(size as f64),
        }
    }

    /// The law without onset and cap: `exactly quadratic`, `n log n or n^1.1`, `linear in steps`.
    pub fn name(&self) -> String {
        let class = self.law.class();
        let mut name = if self.exact { format!("exactly {class}") } else { class.to_string() };
        if let Some(rival) = &self.rival {
            name += &format!(" or {}", rival.law.class());
        }
        if self.steps {
            name += " in steps";
        }
        name
    }
}

/// `exactly quadratic, from 40 on, up to 512`
impl fmt::Display for Fit {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.name())?;
        if let Some(onset) = self.onset {
            write!(f, ", from {onset} on")?;
        }
        if let Some(cap) = self.cap {
            write!(f, ", capped at {}", cap.size)?;
        }
        Ok(())
    }
}

impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        })
    }
}
