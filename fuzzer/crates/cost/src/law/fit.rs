//! Fits: which law a series follows, how sure that is, and where the law begins and ends.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    Class, EqualSteps, Law, Point,
    candidates::{self, error_at},
};

/// The largest error of a law that holds: 2 %.
pub const LARGEST_ERROR: f64 = 0.02;
/// The largest error of a law that holds on the whole, with amounts that swing around it; above are steps.
pub const LARGEST_SWING: f64 = 0.15;
/// Laws that predict as well as the best one, within this factor, are rivals, and the simplest of them is taken.
const AS_GOOD: f64 = 3.0;
/// As `AS_GOOD`, where no law holds: errors say less there.
const AS_GOOD_STEPS: f64 = 1.3;
/// As `AS_GOOD`, where noise lies on the amounts.
const AS_GOOD_NOISY: f64 = 1.5;
/// Factor that sizes span at least where noise lies on the amounts.
const LEAST_SPAN_NOISY: f64 = 4.0;
/// Mean error that is taken for noise, and the most that a linear law may have where a bent one has less.
const LARGEST_NOISE: f64 = 0.05;
const MOST_NOISE: f64 = 0.1;
/// Exponent below which a law hardly bends.
const LEAST_BENT: f64 = 1.6;
/// Local exponents of two laws that differ more are no "A or B": nothing is known.
const MOST_DIFFERENT: f64 = 0.75;
/// Factor between the highest term of a law, at the largest size, and what terms below zero take away there, at least.
const LEAST_LEFT: f64 = 2.0;
/// Powers that are this close to a whole one are not told from it by noisy amounts, and the largest whole one.
const NOISE_OF_EXPONENT: f64 = 0.35;
const LARGEST_WHOLE: f64 = 3.5;
/// The largest sizes, which are held out and predicted.
const HELD_OUT: usize = 3;
/// The fewest sizes past the onset.
const LEAST_SIZES: usize = 7;
/// The fewest sizes at which anything is said.
const LEAST_POINTS: usize = 4;
/// A term of the highest order carries this many times the error of its law, or the error could have made it.
const ABOVE_ERROR: f64 = 5.0;
/// A law ends where cost grows more slowly if the largest amount is at most this multiple of that at its end, and if it
/// has made the cost grow by a factor.
const MOST_BEHIND: f64 = 2.0;
const LEAST_GROWTH_IN_FRONT: f64 = 4.0;
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

/// The end of a law: a plateau, or a slower law of which it is most of the amount.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cap {
    /// The size at which the law ends, by the law itself.
    pub size: u64,
    /// The amount at the largest size.
    pub amount: u64,
    /// The law from there on: a constant for a plateau.
    pub after: Law,
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
    if let Some(count) = before_plateau(points) {
        let plateau = &points[count..];
        let after = Law::constant(plateau.iter().map(|point| point.amount).max().unwrap_or(0) as f64);
        return Some(from_onset(&points[..count]).map_or_else(
            // too few sizes in front of the plateau to have a law: what is known is the plateau
            || Fit {
                onset: Some(plateau[0].size),
                law: after.clone(),
                steps: false,
                error: 0.0,
                confidence: if plateau.len() >= LEAST_SIZES { Confidence::Medium } else { Confidence::Low },
                ..flat(plateau)
            },
            |fit| fit.capped(after.clone(), points, count),
        ));
    }
    let mut fit = from_onset(points)?;
    if let Some(law) = equal_steps.and_then(EqualSteps::polynomial) {
        fit.confirm(law, points);
    }
    Some(front_of(&fit, points).unwrap_or(fit))
}

/// The law of a series that noise lies on, as on times: the simplest one whose mean error over all sizes is about the least.
/// The confidence is medium at best.
///
/// `None` as for [`fit`], if no law is good, or if rivals differ too much.
pub fn fit_noisy(points: &[Point]) -> Option<Fit> {
    if points.len() < LEAST_POINTS || points.windows(2).any(|pair| pair[0].size >= pair[1].size) {
        return None;
    }
    let mean = |law: &Law| (points.iter().map(|p| error_at(law, p).powi(2)).sum::<f64>() / points.len() as f64).sqrt();
    let middle = points[points.len() / 2].size as f64;
    let largest = points.last()?.size as f64;
    // powers near a whole one follow noise, and steep terms follow what the last amounts have too much
    let is_its_own = |law: &Law| match law.class() {
        Class::Logarithmic => false,
        Class::Power(exponent) if exponent < LARGEST_WHOLE => (exponent - exponent.round()).abs() > NOISE_OF_EXPONENT,
        Class::Cubic | Class::Power(_) | Class::Exponential(_) => {
            law.highest().is_some_and(|term| 2.0 * term.amount_at(middle) > law.amount_at(middle))
        }
        _ => true,
    };
    // terms of which others take most away bend as any noise does
    let is_made_up = |law: &Law| {
        let taken_away: f64 = law.terms.iter().map(|term| term.amount_at(largest).min(0.0)).sum();
        law.highest().is_some_and(|term| term.amount_at(largest) < -LEAST_LEFT * taken_away)
    };
    let laws = candidates::all(points).into_iter().filter(|law| is_its_own(law) && !is_made_up(law));
    let tried: Vec<(Law, f64)> = laws.map(|law| (law.clone(), mean(&law))).collect();
    let best = tried.iter().map(|(_, error)| *error).fold(f64::INFINITY, f64::min);
    let good = |error: f64| error <= (AS_GOOD_NOISY * best).max(LARGEST_NOISE);
    let mut chosen = tried.iter().find(|(_, error)| good(*error))?;
    let others = tried.iter().filter(|(other, error)| good(*error) && !other.class().is_nested(&chosen.0.class()));
    let mut rival = others.min_by(|a, b| a.1.total_cmp(&b.1));
    // what bends so little may be linear with something at the start
    let bends = Class::Power(LEAST_BENT).is_worse_than(&chosen.0.class()) && chosen.0.class().is_superlinear();
    if let Some(linear) =
        tried.iter().find(|(law, error)| bends && law.class() == Class::Linear && *error <= MOST_NOISE)
    {
        (chosen, rival) = (linear, Some(chosen));
    }
    let (law, error) = chosen;
    let exponent = |law: &Law| slope(law, points);
    if rival.is_some_and(|(rival, _)| (exponent(rival) - exponent(law)).abs() > MOST_DIFFERENT) {
        return None;
    }
    let span = points.last()?.size as f64 / points[0].size.max(1) as f64;
    let is_clear =
        rival.is_none() && *error <= LARGEST_SWING && points.len() >= LEAST_SIZES && span >= LEAST_SPAN_NOISY;
    Some(Fit {
        law: law.clone(),
        steps: *error > LARGEST_SWING,
        error: *error,
        rival: rival.map(|(law, other)| Rival { law: law.clone(), factor: other.max(ROUNDING) / error.max(ROUNDING) }),
        confidence: if is_clear { Confidence::Medium } else { Confidence::Low },
        ..flat(points)
    })
}

/// The local exponent of a law at the largest of some sizes.
fn slope(law: &Law, points: &[Point]) -> f64 {
    let largest = points.last().map_or(2.0, |point| point.size as f64);
    (law.amount_at(largest).max(1.0) / law.amount_at(largest / 2.0).max(1.0)).log2()
}

/// The law in front of an onset behind which cost grows more slowly, if most of the largest amount was reached there.
fn front_of(fit: &Fit, points: &[Point]) -> Option<Fit> {
    let count = points.iter().position(|point| Some(point.size) == fit.onset)?;
    let (front, last) = (&points[..count], points.last()?);
    let grown = front.last()?.amount as f64 / front[0].amount.max(1) as f64;
    if points[count].amount as f64 * MOST_BEHIND < last.amount as f64 || grown < LEAST_GROWTH_IN_FRONT {
        return None;
    }
    let law = from_onset(front)
        .filter(|law| law.error <= LARGEST_ERROR && law.law.class().is_worse_than(&fit.law.class()))?;
    Some(law.capped(fit.law.clone(), points, count))
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
    /// This law, which ends in front of the point `count`, behind which another one holds.
    fn capped(mut self, after: Law, points: &[Point], count: usize) -> Self {
        let (last, behind) = (&points[count - 1], &points[count]);
        let reached = self.law.size_for(after.amount_at(behind.size as f64), last.size as f64);
        let size = reached.map_or(behind.size, |size| (size.round() as u64).min(behind.size));
        self.largest = points.last().map_or(self.largest, |point| point.size);
        self.cap = Some(Cap { size, amount: points.last().map_or(0, |point| point.amount), after });
        self.confidence = self.confidence.min(Confidence::Medium);
        self
    }

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

    /// The law in the end: that behind a cap.
    pub fn final_law(&self) -> &Law {
        self.cap.as_ref().map_or(&self.law, |cap| &cap.after)
    }

    /// The predicted amount at a size.
    pub fn amount_at(&self, size: u64) -> f64 {
        let law = self.cap.as_ref().filter(|cap| size >= cap.size).map_or(&self.law, |cap| &cap.after);
        law.amount_at(size as f64)
    }

    /// The part of the predicted amount at a size that grows with the size.
    pub fn growth_at(&self, size: u64) -> f64 {
        let size = self.cap.as_ref().map_or(size, |cap| size.min(cap.size)) as f64;
        (self.law.amount_at(size) - self.law.amount_at(0.0)).max(0.0)
    }

    /// The class of what grows up to a size: that of the highest term that, with those above it, carries a third of it, and so
    /// at least about half of it at twice the size. That of the law if nothing grows.
    pub fn class_at(&self, size: u64) -> Class {
        let size = self.cap.as_ref().map_or(size, |cap| size.min(cap.size)) as f64;
        let growing = || self.law.terms.iter().rev().filter(|term| term.class != Class::Constant);
        let all: f64 = growing().map(|term| term.amount_at(size)).sum();
        let mut carried = 0.0;
        let enough = growing().find(|term| {
            carried += term.amount_at(size);
            3.0 * carried >= all
        });
        enough.map_or(Class::Constant, |term| term.class)
    }

    /// The local exponent of what grows at a size: 2 for a quadratic law, whatever is there from the start.
    pub fn exponent_at(&self, size: u64) -> f64 {
        let (whole, half) = (self.growth_at(size), self.growth_at(size / 2));
        if half > 0.0 && whole > half {
            (whole / half).ln() / (size as f64 / (size / 2).max(1) as f64).ln()
        } else {
            0.0
        }
    }

    /// The law without onset and cap, by the class of its highest term: `exactly quadratic`, `n log n or n^1.1`,
    /// `linear in steps`.
    pub fn name(&self) -> String {
        self.name_of(self.law.class())
    }

    /// The law as [`Self::name`], with another class than that of its highest term.
    pub fn name_of(&self, class: Class) -> String {
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
        self.cap.as_ref().map_or(Ok(()), |cap| write!(f, ", {}", cap.in_words(&cap.size.to_string())))
    }
}

impl Cap {
    /// The end of the law in words, with its size as text: `capped at 512`, `linear from 512 on`.
    pub fn in_words(&self, size: &str) -> String {
        match self.after.class() {
            Class::Constant => format!("capped at {size}"),
            slower => format!("{slower} from {size} on"),
        }
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

/// Amounts of a plateau differ by less than this part.
const FLAT: f64 = 0.005;
/// A plateau has at least as many sizes, and spans at least this factor.
const LEAST_FLAT: usize = 3;
const LEAST_SPAN: f64 = 2.5;
/// The amounts below a plateau have grown by at least this factor: a logarithm of two neighbouring sizes has not.
const LEAST_GROWTH: f64 = 1.5;

/// The number of points in front of the plateau in which a series ends, if it ends in one that it has grown to.
pub fn before_plateau(points: &[Point]) -> Option<usize> {
    let last = points.last()?.amount as f64;
    let room = (last * FLAT).max(1.0);
    let flat = points.iter().rev().take_while(|point| (point.amount as f64 - last).abs() <= room).count();
    let before = points.len() - flat;
    let span = points.last()?.size as f64 / points[before].size.max(1) as f64;
    let grown = last / points.first()?.amount.max(1) as f64;
    (before > 0 && flat >= LEAST_FLAT && span >= LEAST_SPAN && grown >= LEAST_GROWTH).then_some(before)
}
