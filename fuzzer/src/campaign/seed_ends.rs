//! Seeds that cannot be used, by the way in which they end.

use serde::{Deserialize, Serialize};

/// Number of ways that a message names.
const SHOWN: usize = 3;

/// Ways in which seeds end that cannot be used, in the order in which they were met.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SeedEnds(Vec<SeedEnd>);

/// One way in which seeds end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct SeedEnd {
    /// Words after "it", such as `crashes the target: SIGSEGV in f, a.c:3`.
    how: String,
    /// Number of seeds.
    seeds: u64,
    /// Path of the first one, as given.
    first: String,
    /// Command that shows it.
    replay: String,
}

impl SeedEnds {
    /// Adds a seed, which ends as `how` says; `replay` makes the command that shows it.
    pub fn add(&mut self, how: String, first: String, replay: impl FnOnce() -> String) {
        match self.0.iter_mut().find(|known| known.how == how) {
            Some(known) => known.seeds += 1,
            None => self.0.push(SeedEnd { how, seeds: 1, first, replay: replay() }),
        }
    }

    /// One line that says of how many seeds which end is, and how to see it; `None` if all could be used.
    pub fn in_words(&self) -> Option<String> {
        let mut all: Vec<&SeedEnd> = self.0.iter().collect();
        all.sort_by_key(|end| std::cmp::Reverse(end.seeds));
        let one = |end: &&SeedEnd| match end.seeds {
            1 => format!("the seed {} {}", end.first, end.how),
            seeds => format!("{seeds} seeds, {} the first, each {}", end.first, end.how),
        };
        let shown: Vec<String> = all.iter().take(SHOWN).map(one).collect();
        let more = match all.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!("; and {more} more ways to end"),
        };
        all.first().map(|first| format!("{}{more}; see it with: {}", shown.join("; "), first.replay))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_that_end_alike_are_one_clause() {
        let mut ends = SeedEnds::default();
        assert_eq!(ends.in_words(), None);
        for (how, seed) in [("hangs", "seeds/h"), ("crashes in f", "seeds/a"), ("crashes in f", "seeds/b")] {
            ends.add(how.into(), seed.into(), || format!("./h replay {seed}"));
        }
        assert_eq!(
            ends.in_words().as_deref(),
            Some(
                "2 seeds, seeds/a the first, each crashes in f; the seed seeds/h hangs; see it with: ./h replay seeds/a"
            )
        );
        for way in ["one", "two", "three"] {
            ends.add(way.into(), "s".into(), String::new);
        }
        assert!(ends.in_words().is_some_and(|words| words.contains("; and 2 more ways to end; see it with")));
    }
}
