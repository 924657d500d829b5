//! Places that the search worked towards, in `summary.json`.

use serde::{Deserialize, Serialize};

/// A place of `--towards` or `--towards-patch`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TowardsPlace {
    /// The place: as typed, or the file and the lines that a patch changes.
    pub place: String,
    /// Number of edges in its code.
    pub edges: u64,
    /// Number of executions that hit it, which is that of the edge that most of them hit.
    pub hits: u64,
    /// Executions until one hit it, that one included; on several cores, of the client that needed the fewest. `null` if it was
    /// never hit.
    pub first_hit: Option<u64>,
    /// Instructions there of the most expensive seed, or of the first entry that hits it if no seed does. `null` before.
    pub first_instructions: Option<u64>,
    /// Those of the most expensive entry.
    pub most_instructions: Option<u64>,
    /// Executions until an entry took at least twice as many there as the first; on several cores, of the client that needed the
    /// fewest. `null` if none did.
    pub doubled: Option<u64>,
}

impl TowardsPlace {
    /// Adds the figures of another client to those of the same places.
    pub fn add_all(places: &mut [Self], others: &[Self]) {
        for other in others {
            let Some(place) = places.iter_mut().find(|place| place.place == other.place) else { continue };
            place.hits += other.hits;
            let least = |one: Option<u64>, other: Option<u64>| one.into_iter().chain(other).min();
            place.first_hit = least(place.first_hit, other.first_hit);
            place.first_instructions = least(place.first_instructions, other.first_instructions);
            place.most_instructions = place.most_instructions.max(other.most_instructions);
            place.doubled = least(place.doubled, other.doubled);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_of_clients_are_added_and_the_first_hit_is_the_earliest() {
        let place = |place: &str, hits, first_hit| TowardsPlace {
            place: place.into(),
            edges: 3,
            hits,
            first_hit,
            first_instructions: first_hit.map(|first| first + 1),
            most_instructions: first_hit.map(|first| 300 - first),
            doubled: first_hit.map(|first| 2 * first),
        };
        let mut places = [place("f", 5, Some(90)), place("a.c:7", 0, None), place("g", 0, None)];
        TowardsPlace::add_all(
            &mut places,
            &[place("a.c:7", 2, Some(11)), place("f", 1, Some(70)), place("g", 0, None)],
        );
        assert_eq!(places, [place("f", 6, Some(70)), place("a.c:7", 2, Some(11)), place("g", 0, None)]);
    }
}
