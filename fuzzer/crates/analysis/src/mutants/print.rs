//! Result of `mutants score` for people and for programs.

use std::fmt::Write as _;

use super::{
    ScoreOptions,
    baseline::in_words,
    kill::KilledBy,
    ladder,
    log::RESULT,
    result::{Counts, Outcome, Score, State},
};
use crate::print::print_text;
use quagmire_base::{
    error::Result,
    format::{counted, grouped, shortened, shortened_path},
    plain::{Form, shown},
};

/// Most lines of one kind.
const LINES: usize = 20;

pub(super) fn print(score: &Score, options: &ScoreOptions) -> Result<()> {
    if options.json {
        return print_text(&(serde_json::to_string_pretty(score).unwrap_or_default() + "\n"), Form::Json);
    }
    let mut text = text(score);
    if let Some(folder) = &options.output {
        let _ = writeln!(text, "\nAll mutants are in {}", shown(&folder.join(RESULT).display().to_string()));
    }
    print_text(&text, Form::Lines)
}

/// The result as text.
fn text(score: &Score) -> String {
    if score.cost_factor.is_some() {
        return of_performance(score);
    }
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
    text += &operators(score);
    text += &survivors(score);
    text
}

/// The result for performance mutants.
fn of_performance(score: &Score) -> String {
    let (survivors, number) = ladder::survivors(score, LINES);
    let mut text = [ladder::head(score), left_out(score), ladder::table(score), survivors].concat();
    more(&mut text, number, "survivor");
    text
}

fn left_out(score: &Score) -> String {
    let mut text = String::new();
    for one in score.left_out.iter().take(LINES) {
        let _ = writeln!(text, "left out: {} ({})", shown(&one.path), in_words(&one.reason));
    }
    more(&mut text, score.left_out.len(), "input");
    text
}

/// A line that says how many are not shown.
fn more(text: &mut String, number: usize, what: &str) {
    if number > LINES {
        let _ = writeln!(text, "{} more: see --json", counted((number - LINES) as u64, what));
    }
}

fn operators(score: &Score) -> String {
    let mut text =
        format!("\n{:<20} {:>8} {:>8} {:>9} {:>8}\n", "operator", "mutants", "reached", "infected", "killed");
    for (operator, Counts { mutants, reached, infected, killed, .. }) in &score.operators {
        let [mutants, reached, infected, killed] = [mutants, reached, infected, killed].map(|number| grouped(*number));
        let _ = writeln!(text, "{:<20} {mutants:>8} {reached:>8} {infected:>9} {killed:>8}", shown(operator));
    }
    text
}

/// Survivors, those that most inputs infect first: the corpus runs them, and does not see them.
fn survivors(score: &Score) -> String {
    let mut survivors: Vec<&Outcome> = score.mutants.iter().filter(|one| one.state == State::Survived).collect();
    survivors.sort_by_key(|one| (std::cmp::Reverse(one.infected_by), &one.file, one.line, one.column));
    let mut text = String::new();
    if !survivors.is_empty() {
        text += "\nsurvivors, by the number of inputs that infect them\n";
    }
    for one in survivors.iter().take(LINES) {
        let place = format!("{}:{}:{}", shortened_path(&one.file, 50), one.line, one.column);
        let (was, became, function) = (shown(&one.was), shown(&one.became), shown(&shortened(&one.function, 60)));
        let inputs = counted(one.infected_by, "input");
        let _ = writeln!(text, "{}  `{was}` became `{became}`  in {function}, {inputs}", shown(&place));
    }
    more(&mut text, survivors.len(), "survivor");
    text
}

/// A share in percent; `-` of nothing.
fn share(part: u64, whole: u64) -> String {
    if whole == 0 { "-".to_owned() } else { format!("{:.1} %", 100.0 * part as f64 / whole as f64) }
}
