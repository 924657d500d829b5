//! Finds of runs of one kind.

use serde::{Deserialize, Serialize};

/// Runs, and what came of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finds {
    /// Number of runs.
    pub runs: u64,
    /// Number of finds: inputs that were kept, or words.
    pub kept: u64,
}

impl Finds {
    /// Counts a run.
    pub fn count(&mut self, is_kept: bool) {
        self.runs += 1;
        self.kept += u64::from(is_kept);
    }

    /// Whether something was found, and no less than by as many runs of the other kind.
    pub fn is_as_good_as(&self, other: &Self) -> bool {
        let [one, two] = [(self, other), (other, self)].map(|(a, b)| u128::from(a.kept) * u128::from(b.runs));
        self.kept > 0 && one >= two
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_compared_by_their_rates() {
        let finds = |runs, kept| Finds { runs, kept };
        assert!(finds(100, 2).is_as_good_as(&finds(1000, 20)) && finds(10, 1).is_as_good_as(&finds(0, 0)));
        assert!(!finds(100, 2).is_as_good_as(&finds(1000, 21)) && !finds(100, 0).is_as_good_as(&finds(1000, 0)));
    }
}
