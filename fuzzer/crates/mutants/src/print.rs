//! Result of `mutants score` for people and for programs.

use std::{cmp::Reverse, collections::BTreeMap, fmt::Write as _};

use super::ScoreOptions;
use quagmire_base::{
    error::Result,
    format::{counted, grouped, shortened, shortened_path},
    plain::{self, Form, shown},
};
use quagmire_results::score_file::{KilledBy, Mutant, MutantCounts, MutantState, Rung, SCORE, ScoreFile, ScoredMutant};

/// Most lines of one kind.
const LINES: usize = 20;
/// Text of a loop in the table of mutants.
const LOOP: &str = "loop";

pub(super) fn print(score: &ScoreFile, options: &ScoreOptions) -> Result<()> {
    if options.json {
        return plain::print_json(score);
    }
    let mut text = if score.cost_factor.is_some() { of_performance(score) } else { of_faults(score) };
    if let Some(folder) = &options.output {
        let _ = writeln!(text, "\nAll mutants are in {}", shown(&folder.join(SCORE).display().to_string()));
    }
    plain::print(&text, Form::Lines)
}

fn of_faults(score: &ScoreFile) -> String {
    let all = score.all;
    let (killed, mutants) = (grouped(all.killed), counted(all.mutants, "mutant"));
    let mut text = format!(
        "{killed} of {mutants} killed: {} of all, {} of the {} reached, {} of the {} infected\n{}, {} of mutants\n",
        share(all.killed, all.mutants),
        share(all.killed, all.reached),
        grouped(all.reached),
        share(all.killed, all.infected),
        grouped(all.infected),
        counted(score.inputs, "input"),
        counted(score.runs, "run"),
    );
    if all.equivalent > 0 {
        let _ =
            writeln!(text, "{} more are equivalent: the compiler makes the same code of them", grouped(all.equivalent));
    }
    let ways = KilledBy::ALL.iter().filter_map(|by| Some((by.name(), score.killed_by.get(by.name())?)));
    let ways: Vec<String> = ways.map(|(name, number)| format!("{name} {}", grouped(*number))).collect();
    if !ways.is_empty() {
        let _ = writeln!(text, "killed by {}", ways.join(", "));
    }
    text += &left_out(score);
    text += &format!("\n{:<20} {:>8} {:>8} {:>9} {:>8}\n", "operator", "mutants", "reached", "infected", "killed");
    for (operator, MutantCounts { mutants, reached, infected, killed, .. }) in &score.operators {
        let [mutants, reached, infected, killed] = [mutants, reached, infected, killed].map(|number| grouped(*number));
        let _ = writeln!(text, "{:<20} {mutants:>8} {reached:>8} {infected:>9} {killed:>8}", shown(operator));
    }
    // those that most inputs infect first: the corpus runs them, and does not see them
    let mut survivors: Vec<&ScoredMutant> = survivors(score).collect();
    survivors.sort_by_key(|one| (Reverse(one.infected_by), &one.mutant.file, one.mutant.line, one.mutant.column));
    if !survivors.is_empty() {
        text += "\nsurvivors, by the number of inputs that infect them\n";
    }
    for one in survivors.iter().take(LINES) {
        let (was, became) = (shown(&one.mutant.was), shown(&one.mutant.became));
        let (place, function, inputs) = (place(&one.mutant), function(&one.mutant), counted(one.infected_by, "input"));
        let _ = writeln!(text, "{place}  `{was}` became `{became}`  in {function}, {inputs}");
    }
    text + &more(survivors.len(), "survivor")
}

fn of_performance(score: &ScoreFile) -> String {
    let all = score.all;
    let sum = |of: fn(&Rung) -> u64| grouped(score.ladder.iter().map(of).sum());
    let mut text = format!(
        "{} of {} killed by cost, {} times that of the input: {} of all, {} of the {} reached\n{}\n\
         some input costs at least 2 times with {}, 10 times with {}, 100 times with {}\n",
        grouped(all.killed),
        counted(all.mutants, "performance mutant"),
        score.cost_factor.unwrap_or_default(),
        share(all.killed, all.mutants),
        share(all.killed, all.reached),
        grouped(all.reached),
        counted(score.inputs, "input"),
        sum(|rung| rung.at_2),
        sum(|rung| rung.at_10),
        sum(|rung| rung.at_100)
    );
    text += &left_out(score);
    text += &format!(
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
    text + &nearest_survivors(score)
}

/// Survivors among performance mutants, the one that is nearest to being killed first. Of those that differ by their gate
/// only, the one with the lowest.
fn nearest_survivors(score: &ScoreFile) -> String {
    let mut nearest: BTreeMap<_, &ScoredMutant> = BTreeMap::new();
    for one in survivors(score) {
        let Mutant { file, line, column, operator, became, function, gate, .. } = &one.mutant;
        let known = nearest.entry((file, line, column, operator, became, function)).or_insert(one);
        if *gate < known.mutant.gate {
            *known = one;
        }
    }
    let mut survivors: Vec<&ScoredMutant> = nearest.into_values().collect();
    survivors.sort_by(|a, b| b.worst_factor.unwrap_or(0.0).total_cmp(&a.worst_factor.unwrap_or(0.0)));
    let mut text = String::new();
    if !survivors.is_empty() {
        text += "\nsurvivors, by the largest cost of an input as a multiple of that without the mutant\n";
    }
    for one in survivors.iter().take(LINES) {
        let (place, function) = (place(&one.mutant), function(&one.mutant));
        let (what, past) = (shown(&one.mutant.operator), shown(&one.mutant.past()));
        let factor = one.worst_factor.unwrap_or(1.0);
        let of = if one.mutant.was == LOOP { String::new() } else { format!(" of {}", shown(&one.mutant.was)) };
        let _ = writeln!(text, "{place}  {factor:.2} times  {what}{of}{past}  in {function}");
    }
    text + &more(survivors.len(), "survivor")
}

fn survivors(score: &ScoreFile) -> impl Iterator<Item = &ScoredMutant> {
    score.mutants.iter().filter(|one| one.state == MutantState::Survived)
}

fn place(one: &Mutant) -> String {
    shown(&format!("{}:{}:{}", shortened_path(&one.file, 50), one.line, one.column))
}

fn function(one: &Mutant) -> String {
    shown(&shortened(&one.function, 60))
}

fn left_out(score: &ScoreFile) -> String {
    let mut text = String::new();
    for one in score.left_out.iter().take(LINES) {
        let _ = writeln!(text, "left out: {} ({})", shown(&one.path), one.reason.words());
    }
    text + &more(score.left_out.len(), "input")
}

/// A line that says how many are not shown.
fn more(number: usize, what: &str) -> String {
    match number.saturating_sub(LINES) {
        0 => String::new(),
        more => format!("{} more: see --json\n", counted(more as u64, what)),
    }
}

/// A share in percent; `-` of nothing.
fn share(part: u64, whole: u64) -> String {
    if whole == 0 { "-".to_owned() } else { format!("{:.1} %", 100.0 * part as f64 / whole as f64) }
}
