//! All that is known of an input in both builds, and the verdict that follows from it.

use super::times::Times;
use crate::runner::Run;
use quagmire_base::format::ratio;
use quagmire_cost::{judgement::GROSS, resource::Resource};
use quagmire_results::comparison::{ComparisonVerdict as Verdict, LawChange};

/// Least difference in instructions that matters: a few calls more are no regression of an input of five bytes.
const LEAST_INSTRUCTIONS: u64 = 100;

/// Where the figures of the old build are from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Source {
    /// It runs beside the new one.
    #[default]
    Build,
    /// A file of costs: times are of another hour or machine, and not compared.
    Baseline,
    /// The findings of a campaign.
    Campaign,
}

/// All that is known of an input in both builds.
#[derive(Clone, Debug, Default)]
pub(super) struct Evidence {
    pub source: Source,
    /// Run of the old build; `None` if it is not known.
    pub old: Option<Run>,
    pub new: Option<Run>,
    /// Whether counts are not exact, so that they say nothing.
    pub is_inexact: bool,
    /// Why nothing can be said.
    pub unstable: Option<String>,
    /// Whether a new process ended the run of the new build early as well, and that of the old one not.
    pub is_reproduced: Option<bool>,
    /// First series of times, and whether it is a discovery among all inputs.
    pub first: Option<(Times, bool)>,
    /// Second series of times, after counts were found to be the same in new processes.
    pub second: Option<Times>,
    /// Growth that is worse, confirmed.
    pub law: Option<LawChange>,
    /// Instructions of an ordinary input of its size, if a campaign knows them.
    pub ordinary: Option<u64>,
}

impl Evidence {
    /// Instructions of the new build as a multiple of the old one's; `None` unless both returned.
    pub(super) fn ratio(&self) -> Option<f64> {
        let (old, new) = self.both()?;
        let instructions = |run: &Run| run.cost[Resource::Instructions];
        Some(Resource::Instructions.ratio(instructions(new), instructions(old)))
    }

    /// Runs of both builds, if both returned.
    pub(super) fn both(&self) -> Option<(&Run, &Run)> {
        let (old, new) = (self.old.as_ref()?, self.new.as_ref()?);
        (old.came_back() && new.came_back()).then_some((old, new))
    }

    /// Whether the run of the new build ended early, and that of the old one did not end so.
    pub(super) fn has_new_end(&self) -> bool {
        let (Some(old), Some(new)) = (&self.old, &self.new) else { return false };
        // a campaign tells faults from hangs, and not one kind of faults from another
        let is_fault = |run: &Run| !run.came_back() && !run.hung();
        let is_known_fault = self.source == Source::Campaign && is_fault(old) && is_fault(new);
        !new.came_back() && old.status != new.status && !is_known_fault
    }

    /// Whether anything that the program executes moved.
    pub(super) fn has_moved(&self) -> bool {
        const COUNTED: [Resource; 3] = [Resource::Instructions, Resource::Edges, Resource::HottestEdge];
        // a baseline and a campaign know no hottest edge of all inputs
        let counted = if self.source == Source::Build { &COUNTED[..] } else { &COUNTED[..1] };
        self.both().is_some_and(|(old, new)| counted.iter().any(|&one| old.cost[one] != new.cost[one]))
    }

    /// Verdict, and why. `threshold` is the ratio of instructions from which on an input is slower.
    pub(super) fn decide(&self, threshold: f64) -> (Verdict, String) {
        let (Some(old), Some(new)) = (&self.old, &self.new) else {
            return (Verdict::Unfinished, "it was not run in both builds".to_owned());
        };
        if let Some(why) = &self.unstable {
            return (Verdict::Unstable, why.clone());
        }
        if self.both().is_some() {
            return self.decide_cost(threshold);
        }
        let (before, now) = (old.end_in_words(), new.end_in_words());
        match (self.has_new_end(), self.is_reproduced) {
            (true, Some(true)) if new.hung() => (Verdict::NewHang, format!("it {now}, and {before} before")),
            (true, Some(true)) => (Verdict::NewCrash, format!("it {now}, and {before} before")),
            (true, Some(false)) => (Verdict::Unstable, format!("it {now}, and did not in a new process")),
            (true, None) => (Verdict::Unfinished, format!("it {now}, which was not confirmed")),
            (false, _) if new.came_back() => (Verdict::Fixed, format!("it {now}, and {before} before")),
            (false, _) => (Verdict::Same, format!("it {now}, as before")),
        }
    }

    /// Verdict on an input that returns in both builds.
    fn decide_cost(&self, threshold: f64) -> (Verdict, String) {
        if let Some(law) = &self.law {
            let of = law.function.as_ref().map_or_else(String::new, |function| format!(" of {function}"));
            let why = format!(
                "instructions{of} grow as n^{:.1} in the {}, and as n^{:.1} before",
                law.new_exponent,
                law.along(),
                law.old_exponent
            );
            return (Verdict::LawWorse, why);
        }
        let grown = self.ratio().unwrap_or(1.0);
        let counts = format!("{} instructions", ratio(grown));
        if let Some(verdict) = self.decide_finding(grown, threshold) {
            return verdict;
        }
        let is_large = self.both().is_some_and(|(old, new)| {
            let instructions = |run: &Run| run.cost[Resource::Instructions];
            instructions(new).abs_diff(instructions(old)) >= LEAST_INSTRUCTIONS
        });
        let is_more = !self.is_inexact && is_large && grown >= threshold;
        if is_more && self.source != Source::Build {
            return (Verdict::Slower, format!("{counts}; no times to compare"));
        }
        let discovered = self.first.as_ref().map(|(_, is_discovery)| *is_discovery);
        let confirmed = self.second.as_ref().map(Times::confirms);
        let is_longer = self.second.as_ref().is_some_and(Times::is_degradation);
        match (is_more, discovered, confirmed) {
            (true, Some(true), Some(true)) => (Verdict::Slower, format!("{counts}, and CPU time confirms it twice")),
            (true, Some(true), Some(false)) => {
                (Verdict::Same, format!("{counts}, but CPU time is not longer the second time"))
            }
            (true, Some(false), _) => (Verdict::Same, format!("{counts}, but CPU time is not longer")),
            (true, ..) => (Verdict::Unfinished, format!("{counts}, which CPU time has not confirmed yet")),
            (false, Some(true), Some(true)) if is_longer => {
                (Verdict::TimeOnly, format!("{counts}, but CPU time is longer: layout, or code that is not counted"))
            }
            _ if !self.is_inexact && is_large && grown <= 1.0 / threshold => (Verdict::Faster, counts),
            _ if self.has_moved() && !self.is_inexact => (Verdict::Same, format!("{counts}, less than the threshold")),
            _ => (Verdict::Same, "no difference".to_owned()),
        }
    }

    /// Verdict on the finding of a campaign that is not slow any more.
    fn decide_finding(&self, grown: f64, threshold: f64) -> Option<(Verdict, String)> {
        let (ordinary, (_, new)) = (self.ordinary?, self.both()?);
        let to_ordinary = Resource::Instructions.ratio(new.cost[Resource::Instructions], ordinary);
        let is_fixed = grown <= 1.0 / threshold && to_ordinary < GROSS;
        let why = format!("{} the instructions of an ordinary input of its size", ratio(to_ordinary));
        is_fixed.then_some((Verdict::Fixed, why))
    }
}

#[cfg(test)]
mod tests;
