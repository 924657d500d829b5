//! Kinds of outcomes, in one table: what each means, whether it is a failure, and what helps.

use serde::Serialize;

/// Status of an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// As expected.
    Passed,
    /// Worth a look, but no failure.
    Noted,
    /// A failure.
    Failed,
    /// Not judged: unstable, or tolerated.
    Skipped,
    /// Could not be measured.
    Error,
}

/// Severity of a failure. The levels are those of SARIF and of GitHub's annotations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    Note,
    #[default]
    Warning,
    Error,
}

/// Weakness of the Common Weakness Enumeration, <https://cwe.mitre.org>.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weakness {
    /// Number: 407.
    pub number: u32,
    /// Name.
    pub name: &'static str,
    /// Description in one sentence, in quagmire's words.
    pub short: &'static str,
}

/// Weaknesses that kinds refer to.
pub static WEAKNESSES: [Weakness; 2] = [
    Weakness {
        number: 407,
        name: "Inefficient Algorithmic Complexity",
        short: "Some inputs make an algorithm take far more work than most inputs of their size.",
    },
    Weakness {
        number: 400,
        name: "Uncontrolled Resource Consumption",
        short: "An input decides how much of a limited resource is used up.",
    },
];

/// Row of the table of kinds.
#[derive(Clone, Copy, Debug)]
pub struct KindRow {
    /// The kind.
    pub kind: Kind,
    /// Name in all formats.
    pub name: &'static str,
    /// Status.
    pub status: Status,
    /// Level, unless the outcome has another one.
    pub level: Level,
    /// Number of the weakness, if it is one.
    pub weakness: Option<u32>,
    /// Heading of a rule, in a few words.
    pub title: &'static str,
    /// Meaning, in one sentence.
    pub meaning: &'static str,
    /// Advice, in Markdown.
    pub advice: &'static str,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $name:literal $status:ident $level:ident $weakness:expr, $title:literal, $meaning:literal, $advice:literal;)*) => {
        /// Kind of an outcome.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Kind {
            $($(#[$doc])* $kind,)*
        }

        /// All kinds, in the order of the enumeration.
        pub static KINDS: &[KindRow] = &[$(KindRow {
            kind: Kind::$kind, name: $name, status: Status::$status, level: Level::$level, weakness: $weakness,
            title: $title, meaning: $meaning, advice: $advice,
        }),*];
    };
}

kinds! {
    /// Input that costs far more than an ordinary one, found by a campaign.
    #[default]
    Degradation "degradation" Failed Warning Some(407),
        "Input that makes the program slow",
        "The input costs far more than an ordinary input of its size, confirmed by repeated measurements.",
        "Run the command of the alert: it shows what the input costs and which lines its cost is in. Repair what is superlinear \
         there, or limit what the program accepts.";
    /// Input that crashes the program or ends it, found by a campaign.
    Fault "fault" Failed Error None,
        "Input that ends the program",
        "The input crashes the program, makes it exit, or makes it exceed its memory limit.",
        "Run the command of the alert under a debugger, or with a build that has AddressSanitizer.";
    /// Input that runs into the hang timeout, found by a campaign.
    Hang "hang" Failed Error Some(400),
        "Input that runs into the hang timeout",
        "A run of the input does not end within the hang timeout.",
        "Run the command of the alert with a longer `--hang-timeout` to see whether it ends at all, and where its time is spent.";
    /// Input whose cost follows a worse law than with the old build.
    LawWorse "law-worse" Failed Error Some(407),
        "Cost that grows faster than before",
        "The cost of the input grows faster with its size than with the old build: its law is worse.",
        "The functions and lines of the alert grew faster than before. A larger input costs many times more than what was measured.";
    /// Input that the new build hangs with.
    NewHang "new-hang" Failed Error Some(400),
        "New hang",
        "The new build runs into the hang timeout with this input; the old one does not.",
        "Run the command of the alert with both builds.";
    /// Input that ends the new build early.
    NewFault "new-fault" Failed Error None,
        "New crash",
        "The new build crashes or exits with this input; the old one does not.",
        "Run the command of the alert with both builds.";
    /// Input that costs more than with the old build.
    Slower "slower" Failed Warning Some(407),
        "Slower than before",
        "The input costs more than with the old build, by counts and beyond the tolerance.",
        "The functions and lines of the alert execute more than before. If that is meant, list the input as tolerated, with a \
         reason.";
    /// Input whose cost grows faster than its size, as measured by `growth`.
    Superlinear "superlinear" Failed Warning Some(407),
        "Cost that grows faster than the size",
        "The cost grows faster than the size of the input: from some size on, any limit of time is exceeded.",
        "The message names the law and the size that takes a second. Repair the functions of the alert, or limit that size.";
    /// Input that takes more time than before without more work.
    TimeOnly "time-only" Noted Note None,
        "Slower by time only",
        "The input takes more time than with the old build, but the counts are the same: layout, caches or the machine.",
        "Counts did not change, so the source is not the likely reason. Measure again on a quiet machine.";
    /// Input whose counts differ between runs of one build.
    Unstable "unstable" Skipped Note None,
        "Unstable",
        "Two runs of one build have different counts: the input cannot be compared.",
        "Look for random numbers, addresses, threads and clocks in the program.";
    /// Input that there was no time for.
    Unfinished "unfinished" Skipped Note None,
        "Not finished",
        "The comparison was interrupted, or its time was used up, before it was done with the input.",
        "Give the comparison more time.";
    /// Input that could not be measured.
    NotRun "not-run" Error Error None,
        "Not measured",
        "The input could not be run.",
        "The message says why.";
    /// Mutant that inputs compute another value with, and that none of them notices.
    MutantSurvived "mutant-survived" Failed Note None,
        "Mutant that no input notices",
        "With this small fault in the program, some inputs compute another value or cost more, and none of them tells it from the \
         original.",
        "Add an input whose outcome depends on that value, let the harness show more by `qgm_observe`, or find that no input can tell \
         it from the original.";
    /// Mutant that no input runs, or that computes the same value with each.
    MutantNotRun "mutant-not-run" Skipped Note None,
        "Mutant that no input could notice",
        "No input runs the place of this small fault, or it computes the same value with each of them.",
        "Add inputs that reach the place.";
    /// Mutant that some input notices.
    MutantKilled "mutant-killed" Passed Note None, "Mutant that an input notices", "Some input tells the program with this small fault from the original.", "";
    /// Degradation of an earlier campaign that is none any more.
    Fixed "fixed" Passed Note None, "Fixed", "The input was slow with the old build and is not any more.", "";
    /// Input that costs less than with the old build.
    Faster "faster" Passed Note None, "Faster than before", "The input costs less than with the old build.", "";
    /// Input that costs the same as with the old build.
    Same "same" Passed Note None, "Same as before", "The input costs the same as with the old build.", "";
    /// Input whose cost grows no faster than its size.
    Harmless "harmless" Passed Note None, "Cost that grows no faster than the size", "The cost grows no faster than the size of the input.", "";
}

impl Kind {
    /// Its row of the table.
    pub fn describe(self) -> &'static KindRow {
        &KINDS[self as usize]
    }

    /// Name in all formats.
    pub fn name(self) -> &'static str {
        self.describe().name
    }
}

impl Level {
    /// Name in SARIF.
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_kind_has_its_row_a_name_of_its_own_and_a_known_weakness() {
        let names: BTreeSet<&str> = KINDS.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), KINDS.len());
        for row in KINDS {
            assert_eq!(row.kind.describe().name, row.name);
            assert_eq!(serde_json::to_value(row.kind).unwrap(), row.name);
            assert!(row.weakness.is_none_or(|number| WEAKNESSES.iter().any(|one| one.number == number)));
            assert!(row.meaning.ends_with('.') && !row.title.ends_with('.'), "{}", row.name);
            assert_eq!(row.advice.is_empty(), row.status == Status::Passed, "{}", row.name);
        }
    }
}
