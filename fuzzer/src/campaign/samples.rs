//! Samples of what runs executed: how much of their time the counts do not explain, and where it is spent.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use quagmire_execution::sampled::{Code, SampledFunction};
use quagmire_results::summary::{Unseen, UnseenFunction};

/// Number of samples from which shares are told.
const ENOUGH: u64 = 20;

/// Number of functions that are remembered, and that are shown.
const MOST_FUNCTIONS: usize = 256;
const SHOWN: usize = 3;

/// Share of the time in code of the user's own from which there is a warning: what is slow there weighs.
const UNCOUNTED: f64 = 0.3;

/// The same of libraries of the system: nobody can build them otherwise, and every program spends some time there.
const SYSTEM: f64 = 0.6;

/// Numbers of samples by kind of code, and by function where there are no counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Samples {
    all: u64,
    uncounted: u64,
    system: u64,
    /// By name and object, whether it is the system's, and how many.
    functions: BTreeMap<(String, String), (bool, u64)>,
}

impl Samples {
    /// Takes in a sample.
    pub fn add(&mut self, function: SampledFunction) {
        let SampledFunction { code, name, object } = function;
        let is_of_system = match code {
            Code::Runtime => return,
            Code::Counted => {
                self.all += 1;
                return;
            }
            Code::Uncounted => false,
            Code::System => true,
        };
        self.all += 1;
        *(if is_of_system { &mut self.system } else { &mut self.uncounted }) += 1;
        let has_room = self.functions.len() < MOST_FUNCTIONS;
        let known = self.functions.entry((name, object));
        match known {
            std::collections::btree_map::Entry::Occupied(mut known) => known.get_mut().1 += 1,
            std::collections::btree_map::Entry::Vacant(new) if has_room => {
                new.insert((is_of_system, 1));
            }
            std::collections::btree_map::Entry::Vacant(_) => {}
        }
    }

    fn share(&self, samples: u64) -> f64 {
        samples as f64 / self.all.max(1) as f64
    }

    /// Functions in which most time without counts is spent.
    fn worst(&self, is_wanted: impl Fn(bool) -> bool) -> Vec<UnseenFunction> {
        let mut all: Vec<_> = self.functions.iter().filter(|(_, of)| is_wanted(of.0)).collect();
        all.sort_by_key(|(_, of)| std::cmp::Reverse(of.1));
        let one = |((function, object), of): &(&(String, String), &(bool, u64))| UnseenFunction {
            function: function.clone(),
            object: object.clone(),
            share: self.share(of.1),
        };
        all.iter().take(SHOWN).map(one).collect()
    }

    /// For the summary, without what only the first runs tell.
    pub fn summary(&self) -> Unseen {
        let is_enough = self.all >= ENOUGH;
        Unseen {
            samples: self.all,
            uncounted_share: is_enough.then(|| self.share(self.uncounted)),
            system_share: is_enough.then(|| self.share(self.system)),
            functions: if is_enough { self.worst(|_| true) } else { Vec::new() },
            ..Unseen::default()
        }
    }

    /// Warning, in words; `None` as long as nothing is. A search that follows a measured resource sees the system's part.
    pub fn warning(&self, is_measured: bool) -> Option<String> {
        if self.all < ENOUGH {
            return None;
        }
        let (uncounted, system) = (self.share(self.uncounted), self.share(self.system));
        let most = |is_of_system| {
            let worst = self.worst(|of_system| of_system == is_of_system).into_iter().next();
            worst.map_or_else(String::new, |most| format!(", most of it in {} ({})", most.function, most.object))
        };
        if uncounted >= UNCOUNTED {
            return Some(format!(
                "{:.0} % of the time is spent in code without counts{}: what is slow there is not found; build it with \
                 CC=quagmire-cc and CXX=quagmire-c++",
                uncounted * 100.0,
                most(false)
            ));
        }
        (system >= SYSTEM && !is_measured).then(|| {
            format!(
                "{:.0} % of the time is spent in libraries of the system, where nothing is counted{}: --steer time follows \
                 that, too",
                system * 100.0,
                most(true)
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(of: &[(Code, &str, u64)]) -> Samples {
        let mut samples = Samples::default();
        for &(code, name, number) in of {
            let function = SampledFunction { code, name: name.into(), object: "h".into() };
            (0..number).for_each(|_| samples.add(function.clone()));
        }
        samples
    }

    #[test]
    fn time_without_counts_is_told_with_the_function_that_takes_most_of_it() {
        let few = samples(&[(Code::Uncounted, "library", 19)]);
        assert!(few.warning(false).is_none() && few.summary().uncounted_share.is_none());
        let some = samples(&[
            (Code::Counted, "f", 60),
            (Code::Uncounted, "other", 10),
            (Code::Uncounted, "library", 30),
            (Code::Runtime, "malloc", 900),
        ]);
        let warning = some.warning(false).expect("a warning");
        assert!(warning.starts_with("40 % of the time") && warning.contains("most of it in library (h)"), "{warning}");
        let summary = some.summary();
        assert_eq!((summary.samples, summary.uncounted_share, summary.system_share), (100, Some(0.4), Some(0.0)));
        assert_eq!(summary.functions[0].function, "library");
        assert_eq!(samples(&[(Code::Counted, "f", 80), (Code::Uncounted, "library", 20)]).warning(false), None);
    }

    #[test]
    fn time_in_the_system_is_told_unless_it_is_followed() {
        let most = samples(&[(Code::Counted, "f", 30), (Code::System, "regexec", 70)]);
        let warning = most.warning(false).expect("a warning");
        assert!(warning.contains("regexec") && warning.contains("--steer time"), "{warning}");
        assert_eq!(most.warning(true), None);
        assert_eq!(samples(&[(Code::Counted, "f", 50), (Code::System, "regexec", 50)]).warning(false), None);
    }
}
