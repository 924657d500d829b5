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

    /// Seconds of a run of the faster build; 0 unless both returned.
    pub(super) fn usual_seconds(&self) -> f64 {
        self.both().map_or(0.0, |(old, new)| old.seconds.min(new.seconds))
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
mod tests {
    use super::*;
    use crate::compare::times::tests::times;
    use quagmire_cost::resource::Cost;

    fn run(status: &str, instructions: u64) -> Option<Run> {
        Some(Run {
            status: status.into(),
            cost: Cost::from([(Resource::Instructions, instructions)]),
            ..Run::default()
        })
    }

    fn returned(old: u64, new: u64) -> Evidence {
        Evidence { old: run("returned", old), new: run("returned", new), ..Evidence::default() }
    }

    fn verdict(evidence: &Evidence) -> Verdict {
        evidence.decide(1.05).0
    }

    #[test]
    fn more_instructions_are_red_only_if_time_confirms_them_twice_and_more_time_alone_is_a_note() {
        let (longer, no_discovery) = (Some((1.2, true)), Some((1.2, false)));
        for (new, first, second, expected) in [
            (1_200, None, None, Verdict::Unfinished),
            (1_200, no_discovery, None, Verdict::Same),
            (1_200, longer, None, Verdict::Unfinished),
            (1_200, longer, Some(1.0), Verdict::Same),
            (1_200, longer, Some(1.2), Verdict::Slower),
            (1_000, longer, Some(1.2), Verdict::TimeOnly),
            (1_000, longer, Some(1.03), Verdict::Same),
            (500, None, None, Verdict::Faster),
            (500, longer, Some(1.2), Verdict::TimeOnly),
        ] {
            let first = first.map(|(ratio, is_discovery)| (times(1.0, ratio), is_discovery));
            let second = second.map(|ratio| times(1.0, ratio));
            assert_eq!(verdict(&Evidence { first, second, ..returned(1_000, new) }), expected, "{new}");
        }
        assert!(!Verdict::TimeOnly.is_regression());
    }

    #[test]
    fn a_new_end_is_red_once_a_new_process_ends_so_too_and_one_that_is_gone_is_fixed() {
        for (old, new, is_reproduced, expected) in [
            ("returned", "crashed", None, Verdict::Unfinished),
            ("returned", "crashed", Some(false), Verdict::Unstable),
            ("returned", "crashed", Some(true), Verdict::NewCrash),
            ("returned", "exited", Some(true), Verdict::NewCrash),
            ("returned", "hung", Some(true), Verdict::NewHang),
            ("crashed", "returned", None, Verdict::Fixed),
            ("hung", "rejected", None, Verdict::Fixed),
            ("hung", "hung", None, Verdict::Same),
        ] {
            let ended = Evidence { old: run(old, 10), new: run(new, 5), is_reproduced, ..Evidence::default() };
            assert_eq!(verdict(&ended), expected, "{old} {new}");
        }
    }

    #[test]
    fn what_is_unstable_or_was_not_run_has_no_verdict_on_its_cost() {
        let unstable = Evidence { unstable: Some("it differs".into()), ..returned(10, 1_000) };
        assert_eq!([verdict(&unstable), verdict(&Evidence::default())], [Verdict::Unstable, Verdict::Unfinished]);
    }

    #[test]
    fn a_law_that_is_worse_is_the_gravest_verdict_on_cost() {
        let worse = LawChange {
            pump: "\"[\"".into(),
            function: Some("parse".into()),
            old_exponent: 1.0,
            new_exponent: 2.04,
            ..LawChange::default()
        };
        let law = Evidence { law: Some(worse), ..returned(1_000, 1_010) };
        let (verdict, why) = law.decide(1.05);
        assert_eq!(verdict, Verdict::LawWorse);
        assert_eq!(why, "instructions of parse grow as n^2.0 in the repetitions of \"[\", and as n^1.0 before");
        assert!(Verdict::ALL.into_iter().all(|other| other >= verdict));
    }

    #[test]
    fn a_baseline_has_counts_only_and_counts_that_are_not_exact_say_nothing() {
        let known = |old, new| verdict(&Evidence { source: Source::Baseline, ..returned(old, new) });
        assert_eq!(known(1_000, 1_200), Verdict::Slower);
        assert_eq!([known(10, 100), known(1_000, 1_049)], [Verdict::Same; 2], "few in all, and few in relation");
        let inexact = Evidence { is_inexact: true, ..returned(1_000, 2_000) };
        assert_eq!(verdict(&inexact), Verdict::Same);
    }

    #[test]
    fn a_finding_is_fixed_when_it_costs_hardly_more_than_an_ordinary_input() {
        let finding = |new| {
            let known = Evidence { source: Source::Campaign, ordinary: Some(100), ..returned(10_000, new) };
            verdict(&known)
        };
        assert_eq!(
            [150, 5_000, 10_000, 20_000].map(finding),
            [Verdict::Fixed, Verdict::Faster, Verdict::Same, Verdict::Slower]
        );
    }
}
