//! Ways by which a run of a mutant tells it from the original.

use serde::{Deserialize, Serialize};

use quagmire_execution::{
    fork_server::mutants::{Observed, RunEnd},
    process::End,
};

/// Ways to notice a mutant, the first that applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum KilledBy {
    /// A signal: a crash, or a report of a sanitizer.
    Signal,
    /// It takes more than ten times the CPU time, or waits for too long, twice in a row.
    Hang,
    /// Another exit status, or another return value of the harness.
    Status,
    /// Another output, or something else that the harness has shown.
    Output,
    /// The cost, a multiple of that of the original: of a performance mutant, or CPU time if that is asked for.
    Cost,
}

impl KilledBy {
    /// All ways.
    pub(super) const ALL: [Self; 5] = [Self::Signal, Self::Hang, Self::Status, Self::Output, Self::Cost];

    /// Name in texts.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Signal => "signal",
            Self::Hang => "hang",
            Self::Status => "status",
            Self::Output => "output",
            Self::Cost => "cost",
        }
    }
}

/// Verdict on a mutant that some input infects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Verdict {
    /// Number of the mutant in the table.
    pub mutant: usize,
    /// Number of its runs.
    pub runs: u64,
    /// How it was noticed; `null` if it survived.
    pub killed: Option<Killed>,
}

/// How a mutant was noticed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Killed {
    pub by: KilledBy,
    /// Path of the input.
    pub input: String,
    /// Details, such as the signal; may be empty.
    #[serde(default)]
    pub detail: String,
}

/// How a run of a mutant differs from that of the original, and details; `None` if it does not.
pub(super) fn difference(original: &Observed, mutant: &Observed) -> Option<(KilledBy, String)> {
    if mutant.end != original.end {
        return Some(match mutant.end {
            RunEnd::Ended(end @ End::Signal(_)) => (KilledBy::Signal, end.to_string()),
            RunEnd::Lost => (KilledBy::Signal, "it ended its server".to_owned()),
            RunEnd::TimedOut => (KilledBy::Hang, String::new()),
            RunEnd::Ended(end @ End::Code(_)) => (KilledBy::Status, end.to_string()),
        });
    }
    if mutant.is_rejected != original.is_rejected {
        let returned = if mutant.is_rejected { "it rejects the input" } else { "it accepts the input" };
        return Some((KilledBy::Status, returned.to_owned()));
    }
    let is_same = mutant.output == original.output && mutant.shown == original.shown;
    (!is_same).then(|| (KilledBy::Output, String::new()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_comes_before_a_status_and_that_before_the_output() {
        let original = Observed { end: RunEnd::Ended(End::Code(0)), is_rejected: false, output: 1, shown: 2 };
        let by = |mutant: Observed| difference(&original, &mutant).map(|(by, _)| by);
        assert_eq!(by(original), None);
        assert_eq!(by(Observed { output: 3, ..original }), Some(KilledBy::Output));
        assert_eq!(by(Observed { shown: 3, ..original }), Some(KilledBy::Output));
        assert_eq!(by(Observed { is_rejected: true, output: 3, ..original }), Some(KilledBy::Status));
        assert_eq!(by(Observed { end: RunEnd::Ended(End::Code(1)), ..original }), Some(KilledBy::Status));
        assert_eq!(by(Observed { end: RunEnd::Ended(End::Signal(11)), ..original }), Some(KilledBy::Signal));
        assert_eq!(by(Observed { end: RunEnd::TimedOut, ..original }), Some(KilledBy::Hang));
        assert_eq!(by(Observed { end: RunEnd::Lost, ..original }), Some(KilledBy::Signal));
        // an original that crashes is no reason to call its mutants dead
        let crashing = Observed { end: RunEnd::Ended(End::Signal(6)), ..original };
        assert_eq!(difference(&crashing, &crashing), None);
    }
}
