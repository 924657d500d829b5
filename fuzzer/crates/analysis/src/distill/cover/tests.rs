use super::*;
use proptest::prelude::*;

fn rows(sets: &[Vec<u32>]) -> Rows {
    let mut rows = Rows::default();
    for set in sets {
        rows.push(&mut set.clone());
    }
    rows.finish(&[true; 64]);
    rows
}

/// Features of rows, as bits.
fn bits(rows: &Rows, row: u32) -> u64 {
    let mut set = Vec::new();
    rows.read(row, &mut set);
    set.iter().fold(0, |bits, feature| bits | 1 << feature)
}

/// Weight of the lightest cover, by trying all choices.
fn lightest(rows: &Rows, weights: &[u64]) -> u64 {
    let sets: Vec<u64> = (0..rows.len() as u32).map(|row| bits(rows, row)).collect();
    let all = sets.iter().fold(0, |all, set| all | set);
    let is_cover = |choice: &u32| {
        let chosen = (0..sets.len()).filter(|row| choice >> row & 1 == 1);
        chosen.fold(0, |all, row| all | sets[row]) == all
    };
    let weight = |choice: u32| (0..sets.len()).filter(|row| choice >> row & 1 == 1).map(|row| weights[row]).sum();
    (0..1 << sets.len()).filter(is_cover).map(weight).min().unwrap_or(0)
}

fn keeps_all(rows: &Rows, chosen: &[u32]) -> bool {
    let all = |rows: &Rows, of: &mut dyn Iterator<Item = u32>| of.fold(0, |all, row| all | bits(rows, row));
    all(rows, &mut chosen.iter().copied()) == all(rows, &mut (0..rows.len() as u32))
}

#[test]
fn nothing_is_covered_by_nothing() {
    assert_eq!(solve(&rows(&[]), &[]), Solution::default());
    assert_eq!(solve(&rows(&[vec![]]), &[1]), Solution::default());
}

#[test]
fn a_lighter_cover_than_the_greedy_one_is_found_and_proved() {
    // greedy takes the four features of the first row, and needs both others then
    let sets = [vec![0, 1, 2, 3], vec![0, 1, 4], vec![2, 3, 5], vec![4, 5]];
    let solution = solve(&rows(&sets), &[10, 10, 10, 100]);
    assert_eq!((&*solution.rows, solution.weight, solution.bound), (&[1, 2][..], 20, 20));
    assert!(solution.essentials.is_empty());
}

#[test]
fn rows_with_a_feature_alone_are_the_essential_ones() {
    let solution = solve(&rows(&[vec![0, 1], vec![1, 2], vec![1]]), &[1, 1, 1]);
    assert_eq!((&*solution.rows, &*solution.essentials, solution.bound), (&[0, 1][..], &[0, 1][..], 2));
}

#[test]
fn a_gap_between_cover_and_bound_is_not_hidden() {
    // three rows, each pair of which covers all: fractions would need one and a half
    let solution = solve(&rows(&[vec![0, 1], vec![1, 2], vec![0, 2]]), &[10, 10, 10]);
    assert_eq!(solution.weight, 20);
    assert!((15..=20).contains(&solution.bound), "{solution:?}");
}

/// A small cover: sets of features below 12, and weights.
fn small() -> impl Strategy<Value = (Vec<Vec<u32>>, Vec<u64>)> {
    let set = proptest::collection::btree_set(0_u32..12, 0..6).prop_map(|set| set.into_iter().collect::<Vec<_>>());
    let sets = proptest::collection::btree_set(set, 0..10).prop_map(|sets| sets.into_iter().collect::<Vec<_>>());
    sets.prop_shuffle().prop_flat_map(|sets| {
        let weights = proptest::collection::vec(prop_oneof![Just(1_u64), 0_u64..20, 1_u64..1 << 40], sets.len());
        (Just(sets), weights)
    })
}

proptest! {
    #[test]
    fn a_cover_keeps_all_features_and_the_lightest_one_is_between_the_bound_and_it((sets, weights) in small()) {
        let rows = rows(&sets);
        let solution = solve(&rows, &weights);
        prop_assert!(keeps_all(&rows, &solution.rows));
        prop_assert!(solution.rows.is_sorted() && solution.essentials.iter().all(|row| solution.rows.contains(row)));
        prop_assert_eq!(solution.weight, solution.rows.iter().map(|&row| weights[row as usize]).sum::<u64>());
        let lightest = lightest(&rows, &weights);
        prop_assert!(solution.bound <= lightest && lightest <= solution.weight, "{solution:?}, {lightest}");
    }

    #[test]
    fn no_row_of_a_cover_is_superfluous((sets, weights) in small()) {
        let rows = rows(&sets);
        let chosen = solve(&rows, &weights).rows;
        for row in &chosen {
            let others: Vec<u32> = chosen.iter().copied().filter(|other| other != row).collect();
            prop_assert!(!keeps_all(&rows, &others));
        }
    }
}
