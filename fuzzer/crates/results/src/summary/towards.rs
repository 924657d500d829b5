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
    /// Instructions there of the most expensive seed, or of the first entry that hits it if no seed does. `null` before. This
    /// and the next two are of the client with the most expensive entry.
    pub first_instructions: Option<u64>,
    /// Instructions there of the most expensive entry.
    pub most_instructions: Option<u64>,
    /// Executions until an entry took at least twice `first_instructions` there. `null` if none did.
    pub doubled: Option<u64>,
}

impl TowardsPlace {
    /// Adds the figures of another client to those of the same places.
    pub fn add_all(places: &mut [Self], others: &[Self]) {
        for other in others {
            let Some(place) = places.iter_mut().find(|place| place.place == other.place) else { continue };
            place.hits += other.hits;
            place.first_hit = place.first_hit.into_iter().chain(other.first_hit).min();
            if other.most_instructions > place.most_instructions {
                place.first_instructions = other.first_instructions;
                place.most_instructions = other.most_instructions;
                place.doubled = other.doubled;
            }
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
            ..TowardsPlace::default()
        };
        let mut places = [place("f", 5, Some(90)), place("a.c:7", 0, None), place("g", 0, None)];
        TowardsPlace::add_all(
            &mut places,
            &[place("a.c:7", 2, Some(11)), place("f", 1, Some(70)), place("g", 0, None)],
        );
        assert_eq!(places, [place("f", 6, Some(70)), place("a.c:7", 2, Some(11)), place("g", 0, None)]);
    }

    #[test]
    fn costs_are_those_of_the_client_with_the_most_expensive_entry() {
        let place = |first, most, doubled| TowardsPlace {
            place: "f".into(),
            first_instructions: Some(first),
            most_instructions: Some(most),
            doubled,
            ..TowardsPlace::default()
        };
        for clients in
            [[place(40, 60, None), place(400, 900, Some(7))], [place(400, 900, Some(7)), place(40, 60, None)]]
        {
            let mut all = [TowardsPlace { place: "f".into(), ..TowardsPlace::default() }];
            clients.iter().for_each(|client| TowardsPlace::add_all(&mut all, std::slice::from_ref(client)));
            assert_eq!(all, [place(400, 900, Some(7))]);
        }
    }
}
