//! Outcomes: the results of a campaign, a comparison, a measured growth or a score in one form, from which exporters make SARIF,
//! JUnit XML and other formats of tools that judge changes.

mod campaign;
mod comparison;
mod fingerprint;
pub(crate) mod growth;
pub mod kind;
pub mod place;
mod score;

pub use kind::{Kind, Level, Status};
pub use place::{Place, SourceRoot, Step};

use std::collections::HashMap;

use serde::Serialize;

use crate::explanation::Explained;

/// Results of one command.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcomes {
    /// Name of the command: `fuzz`, `compare`, `growth`, `mutants score`.
    pub command: String,
    /// Version of quagmire.
    pub version: String,
    /// The target, as typed.
    pub target: String,
    /// Result of the command in one sentence.
    pub headline: String,
    /// Start, in RFC 3339; `None` if it was not recorded.
    pub started: Option<String>,
    /// Duration in seconds.
    pub seconds: Option<f64>,
    /// Error that ended the command before it was done.
    pub error: Option<String>,
    /// Outcome of each input, the gravest first.
    pub all: Vec<Outcome>,
}

/// Outcome of one input.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Outcome {
    /// Kind, which says whether it is a failure.
    pub kind: Kind,
    /// Level of a failure.
    pub level: Level,
    /// Path of the input.
    pub input: String,
    /// Description in one sentence, with its figures and without a line break.
    pub message: String,
    /// Place in the source that is shown first: where the cost grew most.
    pub place: Option<Place>,
    /// Cause, by which outcomes are the same from job to job: usually a function. `None` for that of `place`.
    pub cause: Option<String>,
    /// How its cost grows with its size, in words: `quadratic in the number of "["`.
    pub law: Option<String>,
    /// Class of that law: `quadratic`. Outcomes with different classes are different alerts.
    pub law_class: Option<String>,
    /// Law, smallest input, or why they are not known; empty where nobody has looked for them, and beside campaigns.
    pub explained: Vec<Explained>,
    /// Places where the cost grew, the most first.
    pub steps: Vec<Step>,
    /// Figures by name, in the order in which they are shown: `instructions_ratio`.
    #[serde(serialize_with = "as_record")]
    pub figures: Vec<(String, f64)>,
    /// Importance among all outcomes, 0 to 100.
    pub rank: Option<f64>,
    /// CPU time of one run, in seconds.
    pub seconds: Option<f64>,
    /// Command that shows it again.
    pub reproduce: Option<String>,
    /// Reason why it is no failure though its kind is: somebody tolerates it.
    pub tolerated: Option<String>,
    /// State against an older build; `None` without one.
    pub since: Option<Since>,
}

/// State of an outcome against an older build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Since {
    /// The older build did not have it.
    New,
    /// The older build had it as well.
    Unchanged,
    /// The older build had it, with other figures.
    Updated,
    /// Only the older build had it.
    Absent,
}

impl Outcome {
    /// Status: that of its kind, unless somebody tolerates it.
    pub fn status(&self) -> Status {
        match self.kind.describe().status {
            Status::Failed if self.tolerated.is_some() => Status::Skipped,
            status => status,
        }
    }

    /// Its law and its smallest input, as far as they are known.
    pub fn explanation(&self) -> Vec<Explained> {
        let law = |text: &String| Explained { title: "Law", text: text.clone(), command: None };
        if self.explained.is_empty() { self.law.iter().map(law).collect() } else { self.explained.clone() }
    }

    /// Identity from job to job: made from kind, cause and class of the law, without any figure. 16 hexadecimal digits.
    pub fn fingerprint(&self) -> String {
        fingerprint::fingerprint(self)
    }

    /// Cause, for headings: a function or what else is known.
    pub fn cause(&self) -> &str {
        let function = self.place.as_ref().and_then(|place| place.function.as_deref());
        self.cause.as_deref().or(function).unwrap_or(&self.input)
    }
}

impl Outcomes {
    /// Outcomes with a status.
    pub fn with(&self, status: Status) -> impl Iterator<Item = &Outcome> {
        self.all.iter().filter(move |outcome| outcome.status() == status)
    }

    /// Failures and notes by fingerprint, each with its other inputs behind it; the order is that of `all`. Tolerated
    /// ones are among them.
    pub fn alerts(&self) -> Vec<Vec<&Outcome>> {
        let mut alerts: Vec<Vec<&Outcome>> = Vec::new();
        let mut known: HashMap<(String, bool), usize> = HashMap::new();
        let reported = |kind: Kind| matches!(kind.describe().status, Status::Failed | Status::Noted);
        for outcome in self.all.iter().filter(|outcome| reported(outcome.kind)) {
            let next = alerts.len();
            let at = *known.entry((outcome.fingerprint(), outcome.tolerated.is_some())).or_insert(next);
            if at == next {
                alerts.push(Vec::new());
            }
            alerts[at].push(outcome);
        }
        alerts
    }
}

/// Writes figures as a record instead of a list of pairs.
fn as_record<S: serde::Serializer>(figures: &[(String, f64)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(figures.iter().map(|(name, value)| (name, value)))
}

#[cfg(test)]
pub(crate) mod tests;
