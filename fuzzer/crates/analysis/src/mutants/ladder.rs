//! The ladder of performance mutants: how many of each operator are killed past each gate, and by how much.

use std::{collections::BTreeMap, fmt::Write as _};

use super::result::{Outcome, Rung, Score, State};
use quagmire_base::{
    format::{counted, grouped, shortened, shortened_path},
    plain::shown,
};

/// Text of a loop in the table.
const LOOP: &str = "loop";

/// Sums by operator and gate.
pub(super) fn ladder(mutants: &[Outcome]) -> Vec<Rung> {
    let mut rungs: BTreeMap<(&str, u64), Rung> = BTreeMap::new();
    for one in mutants {
        let gate = one.gate.unwrap_or(0);
        let new = || Rung { operator: one.operator.clone(), gate, ..Rung::default() };
        let rung = rungs.entry((&one.operator, gate)).or_insert_with(new);
        rung.counts.add(one);
        let is_at = |factor: f64| u64::from(one.worst_factor.is_some_and(|worst| worst >= factor));
        rung.at_2 += is_at(2.0);
        rung.at_10 += is_at(10.0);
        rung.at_100 += is_at(100.0);
    }
    rungs.into_values().collect()
}

/// Summary of a score: how many mutants make an input how much slower.
pub(super) fn summary(score: &Score) -> String {
    let sum = |of: fn(&Rung) -> u64| grouped(score.ladder.iter().map(of).sum());
    format!(
        "some input costs at least 2 times with {}, 10 times with {}, 100 times with {}\n",
        sum(|rung| rung.at_2),
        sum(|rung| rung.at_10),
        sum(|rung| rung.at_100)
    )
}

/// The ladder as a table.
pub(super) fn table(score: &Score) -> String {
    let mut text = format!(
        "\n{:<24} {:>6} {:>8} {:>8} {:>7} {:>7} {:>7} {:>7} {:>7}\n",
        "operator", "past", "mutants", "reached", "slower", "killed", "x2", "x10", "x100"
    );
    for rung in &score.ladder {
        let counts = rung.counts;
        let [past, mutants, reached, slower, killed] =
            [rung.gate, counts.mutants, counts.reached, counts.infected, counts.killed].map(grouped);
        let [two, ten, hundred] = [rung.at_2, rung.at_10, rung.at_100].map(grouped);
        let operator = shown(&rung.operator);
        let _ = writeln!(
            text,
            "{operator:<24} {past:>6} {mutants:>8} {reached:>8} {slower:>7} {killed:>7} {two:>7} {ten:>7} {hundred:>7}"
        );
    }
    text
}

/// Survivors, the one that is nearest to being killed first. Of those that differ by their gate only, the one with the lowest.
pub(super) fn survivors(score: &Score, lines: usize) -> (String, usize) {
    let mut nearest: BTreeMap<_, &Outcome> = BTreeMap::new();
    for one in score.mutants.iter().filter(|one| one.state == State::Survived) {
        let site = (&one.file, one.line, one.column, &one.operator, &one.became, &one.function);
        let known = nearest.entry(site).or_insert(one);
        if one.gate < known.gate {
            *known = one;
        }
    }
    let mut survivors: Vec<&Outcome> = nearest.into_values().collect();
    survivors.sort_by(|a, b| b.worst_factor.unwrap_or(0.0).total_cmp(&a.worst_factor.unwrap_or(0.0)));
    let mut text = String::new();
    if !survivors.is_empty() {
        text += "\nsurvivors, by the largest cost of an input as a multiple of that without the mutant\n";
    }
    for one in survivors.iter().take(lines) {
        let place = format!("{}:{}:{}", shortened_path(&one.file, 50), one.line, one.column);
        let (what, function) = (shown(&one.operator), shown(&shortened(&one.function, 60)));
        let (past, factor) = (past(one), one.worst_factor.unwrap_or(1.0));
        let of = if one.was == LOOP { String::new() } else { format!(" of {}", shown(&one.was)) };
        let _ = writeln!(text, "{}  {factor:.2} times  {what}{of}{past}  in {function}", shown(&place));
    }
    (text, survivors.len())
}

/// The gate of a mutant in words; empty without one.
pub(super) fn past(one: &Outcome) -> String {
    match (one.gate, &one.gate_unit) {
        (Some(gate @ 1..), Some(unit)) => format!(" past {} {}", grouped(gate), shown(unit)),
        _ => String::new(),
    }
}

/// The first lines of a score.
pub(super) fn head(score: &Score) -> String {
    let all = score.all;
    let share = |whole: u64| match whole {
        0 => "-".to_owned(),
        whole => format!("{:.1} %", 100.0 * all.killed as f64 / whole as f64),
    };
    let mut text = format!(
        "{} of {} killed by cost, {} times that of the input: {} of all, {} of the {} reached\n{}\n",
        grouped(all.killed),
        counted(all.mutants, "performance mutant"),
        score.cost_factor.unwrap_or_default(),
        share(all.mutants),
        share(all.reached),
        grouped(all.reached),
        counted(score.inputs, "input"),
    );
    text += &summary(score);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutants::table::Table;

    #[test]
    fn the_ladder_sums_up_by_operator_and_gate() {
        let site = |line: u32| {
            [0, 16, 256, 4096].map(|gate| format!("{line}\t1\tloop-squared\tloop\tsquared\t{gate}\trounds\n")).concat()
        };
        let table = Table::read(&format!("\u{c}f\tf\n=/a.c\n{}{}", site(1), site(2)));
        let mut mutants: Vec<Outcome> = table.mutants.into_iter().map(Outcome::new).collect();
        for (mutant, factor) in mutants.iter_mut().zip([150.0, 12.0, 2.0, 1.5]) {
            mutant.worst_factor = Some(factor);
            mutant.state = if factor >= 2.0 { State::Killed } else { State::Survived };
            mutant.infected_by = 1;
        }
        let rungs = ladder(&mutants);
        let found: Vec<_> = rungs
            .iter()
            .map(|one| (one.gate, one.counts.mutants, one.counts.killed, [one.at_2, one.at_10, one.at_100]))
            .collect();
        assert_eq!(
            found,
            [(0, 2, 1, [1, 1, 1]), (16, 2, 1, [1, 1, 0]), (256, 2, 1, [1, 0, 0]), (4096, 2, 0, [0, 0, 0])]
        );
        assert_eq!(past(&mutants[2]), " past 256 rounds");
        assert_eq!(past(&mutants[0]), "");
    }
}
