//! The builds that are compared: started, and checked to differ in nothing but the program.

use std::ffi::OsString;

use std::collections::BTreeSet;

use super::{CompareOptions, Old, side::Side, subject::Subject};
use quagmire_base::{
    error::{Error, Result},
    plain::warn,
};
use quagmire_results::comparison::Build;

/// Largest input that a part is repeated to, in bytes, unless an input is larger.
const ROOM: usize = 1 << 20;

/// The builds that are compared.
#[derive(Debug)]
pub(super) struct Builds {
    /// The old build, unless something else tells what it cost.
    pub old: Option<Side>,
    pub new: Side,
    /// Largest input that can be run, in bytes.
    pub capacity: usize,
}

impl Builds {
    /// Starts the builds.
    ///
    /// # Errors
    /// If one cannot be started, or they differ in compilers, flags or instrumentation and that is not allowed.
    pub(super) fn open(options: &CompareOptions, old: &Old, new: &[OsString], subjects: &[Subject]) -> Result<Self> {
        let largest = subjects.iter().map(|subject| subject.bytes.len()).max().unwrap_or(0);
        let capacity = largest.max(ROOM);
        let old = match old {
            Old::Build(program) => Some(Side::open(program, options, capacity)?),
            _ => None,
        };
        let new = Side::open(new, options, capacity)?;
        if let Some(old) = &old {
            check(&old.about, &new.about, options.force)?;
        }
        let instrumentation = new.about.instrumentation;
        if !instrumentation.is_exact() {
            let (origin, remark) = (instrumentation.origin(), instrumentation.remark());
            warn(&format!("the builds were {origin}: {remark}; differences in time are shown, and are no regressions"));
        }
        Ok(Self { old, new, capacity })
    }

    /// Whether counts of both builds are exact, so that they can be compared.
    pub(super) fn are_exact(&self) -> bool {
        let old = self.old.as_ref().map_or(&self.new, |old| old);
        old.about.instrumentation.is_exact() && self.new.about.instrumentation.is_exact()
    }
}

/// Refuses builds that differ in more than the program.
///
/// # Errors
/// If they do, and `is_forced` is not set.
pub(super) fn check(old: &Build, new: &Build, is_forced: bool) -> Result<()> {
    let remedy = "build both in the same way, or compare them as they are with --force";
    let mut differences = Vec::new();
    if old.instrumentation != new.instrumentation {
        differences.push("what they count is not the same".to_owned());
    }
    let of = |build: &Build| build.settings.iter().cloned().collect::<BTreeSet<String>>();
    if of(old) != of(new) {
        let shown = |build: &Build| match build.settings.as_slice() {
            [] => "nobody knows how".to_owned(),
            settings => settings.join("; "),
        };
        differences.push(format!("the old one with {}, the new one with {}", shown(old), shown(new)));
    }
    match differences.as_slice() {
        [] => Ok(()),
        all if is_forced => {
            warn(&format!("the builds were not made in the same way ({})", all.join("; ")));
            Ok(())
        }
        all => Err(Error::usage(format!("the builds were not made in the same way ({}): {remedy}", all.join("; ")))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quagmire_execution::info::Instrumentation;

    fn build(settings: &[&str], instrumentation: Instrumentation) -> Build {
        let settings = settings.iter().map(|text| (*text).to_owned()).collect();
        Build { command: vec!["./program".into()], settings, instrumentation }
    }

    #[test]
    fn builds_that_differ_in_flags_or_counts_are_refused_unless_forced() {
        let old = build(&["clang 14 -O2"], Instrumentation::Counts);
        assert_eq!(check(&old, &old.clone(), false), Ok(()));
        for (other, word) in [
            (build(&["clang 14 -O1"], Instrumentation::Counts), "-O1"),
            (build(&["clang 14 -O2", "clang 14 -O2 -fsanitize=address"], Instrumentation::Counts), "address"),
            (build(&["clang 14 -O2"], Instrumentation::SancovGuards), "count"),
            (build(&[], Instrumentation::Counts), "nobody"),
        ] {
            let error = check(&old, &other, false).unwrap_err();
            assert!(error.message.contains(word) && error.message.contains("--force"), "{error}");
            assert_eq!(check(&old, &other, true), Ok(()));
        }
    }
}
