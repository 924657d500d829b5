//! Markdown: the summary of a job (`$GITHUB_STEP_SUMMARY`), or a comment on a change.

use std::fmt::Write as _;

use quagmire_base::format::{counted, short};

use crate::{
    explanation::Explained,
    outcomes::{Outcome, Outcomes, Status},
};

/// Largest number of causes in the table.
const CAUSES: usize = 30;

/// Length of the text from which on no further row is added: comments are limited to 65,536 characters.
const ENOUGH: usize = 40_000;

/// Largest number of inputs in each list.
const INPUTS: usize = 10;

/// Longest text in a cell, in characters.
const LONGEST: usize = 200;

/// Longest command, in characters: one that is cut is of no use.
const LONGEST_COMMAND: usize = 800;

/// Length of the text from which on no further command is added.
const FULL: usize = 56_000;

/// Exports outcomes as Markdown: a heading, a table of causes, and lists of what was not judged.
pub(super) fn export(outcomes: &Outcomes) -> String {
    let target = if outcomes.target.is_empty() { "quagmire" } else { &outcomes.target };
    let mut text = format!("### {}: {}\n", code(target), plain(&outcomes.headline));
    if let Some(error) = &outcomes.error {
        let _ = write!(text, "\n**Error**: {}\n", plain(error));
    }
    let alerts = outcomes.alerts();
    let (tolerated, shown): (Vec<_>, Vec<_>) = alerts.into_iter().partition(|alert| alert[0].tolerated.is_some());
    if !shown.is_empty() {
        text += "\n| | what | where | inputs |\n|---|---|---|---|\n";
        let mut rows = 0;
        while rows < shown.len().min(CAUSES) && text.len() < ENOUGH {
            text += &row(&shown[rows]);
            rows += 1;
        }
        if rows < shown.len() {
            let _ = write!(text, "\nand {} more\n", shown.len() - rows);
        }
        text += &commands(&shown, FULL.saturating_sub(text.len()));
    }
    let tolerated: Vec<String> = tolerated
        .iter()
        .map(|alert| format!("{}: {}", code(&alert[0].input), plain(alert[0].tolerated.as_deref().unwrap_or_default())))
        .collect();
    text += &list("Tolerated", &tolerated);
    let said = |outcome: &Outcome| format!("{}: {}", code(&outcome.input), plain(&outcome.message));
    let unstable: Vec<String> =
        outcomes.with(Status::Skipped).filter(|outcome| outcome.tolerated.is_none()).map(said).collect();
    text += &list("Not judged", &unstable);
    text += &list("Not measured", &outcomes.with(Status::Error).map(said).collect::<Vec<_>>());
    let passed = outcomes.with(Status::Passed).count();
    if passed > 0 {
        let _ = write!(text, "\n{} passed.\n", counted(passed as u64, "input"));
    }
    text
}

fn row(alert: &[&Outcome]) -> String {
    let worst = alert[0];
    let known: String = worst.explanation().iter().map(explained).collect();
    let place = worst.place.as_ref().map(|place| {
        let line = place.line.map(|line| format!(":{line}")).unwrap_or_default();
        format!("{}<br>", code(&format!("{}{line}", place.file)))
    });
    format!(
        "| {} | {}{known} | {}{} | {} |\n",
        plain(worst.kind.name()),
        plain(&worst.message),
        place.unwrap_or_default(),
        code(&short(worst.cause())),
        alert.len()
    )
}

/// One line of what is known of the law and the smallest input.
fn explained(line: &Explained) -> String {
    let text = match line.title {
        "Law" => format!("**{}**", plain(&line.text)),
        _ => plain(&line.text),
    };
    let command = line.command.as_ref().map(|command| format!(" ({})", whole(command))).unwrap_or_default();
    format!(" {}: {text}{command}.", line.title)
}

/// Commands that show the first alerts again, folded, in at most `room` bytes.
fn commands(alerts: &[Vec<&Outcome>], room: usize) -> String {
    let commands = alerts.iter().filter_map(|alert| alert[0].reproduce.as_deref()).take(INPUTS);
    let mut items = String::new();
    for command in commands {
        let item = format!("<li>{}</li>", whole(command));
        if items.len() + item.len() <= room {
            items += &item;
        }
    }
    if items.is_empty() {
        return String::new();
    }
    format!("\n<details><summary>Commands that show them again</summary><ul>{items}</ul></details>\n")
}

fn list(title: &str, items: &[String]) -> String {
    if items.is_empty() {
        return String::new();
    }
    let shown: String = items.iter().take(INPUTS).map(|item| format!("- {item}\n")).collect();
    let more = items.len().saturating_sub(INPUTS);
    let more = if more > 0 { format!("- and {more} more\n") } else { String::new() };
    format!("\n{title}:\n\n{shown}{more}")
}

/// Text in code.
fn code(text: &str) -> String {
    format!("<code>{}</code>", plain(text))
}

/// A command in code.
fn whole(command: &str) -> String {
    format!("<code>{}</code>", plain_up_to(command, LONGEST_COMMAND))
}

/// Text without any markup: what Markdown or HTML could interpret is written as a character reference, which neither
/// does. Line breaks and controls become blanks.
fn plain(text: &str) -> String {
    plain_up_to(text, LONGEST)
}

fn plain_up_to(text: &str, longest: usize) -> String {
    let cut: String = text.chars().take(longest).collect();
    let mut plain = String::new();
    for c in cut.chars() {
        match c {
            c if c.is_control() => plain.push(' '),
            c if c.is_ascii_punctuation() && !matches!(c, '.' | ',' | ';' | '/' | '-' | '%' | '(' | ')' | '=') => {
                let _ = write!(plain, "&#{};", u32::from(c));
            }
            c => plain.push(c),
        }
    }
    if text.chars().nth(longest).is_some() {
        plain.push_str(" ...");
    }
    plain
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::outcomes::tests::outcomes;

    #[test]
    fn outcomes_as_markdown() {
        insta::assert_snapshot!("markdown", export(&outcomes()));
    }

    #[test]
    fn a_comment_stays_within_githubs_limit() {
        let mut outcomes = outcomes();
        let one =
            Outcome { message: "__".repeat(5_000), reproduce: Some("_".repeat(5_000)), ..outcomes.all[1].clone() };
        outcomes.all = (0..500).map(|at| Outcome { cause: Some(format!("f{at}")), ..one.clone() }).collect();
        let text = export(&outcomes);
        assert!(text.len() < 65_536, "{}", text.len());
        assert!(text.contains("and 470 more") || text.len() > ENOUGH, "{text}");
    }

    proptest! {
        #[test]
        fn texts_of_targets_are_no_markup(text: String) {
            for hostile in [text, "|\n# <script>[x](http://y)`*_~@you #1 \\&amp; :smile:".into()] {
                let plain = plain(&hostile);
                let references = plain.replace("&#", "").replace(';', "");
                prop_assert!(!references.contains(['|', '<', '>', '[', ']', '`', '*', '_', '~', '@', '#', '\\', '&', ':', '\n']));
            }
        }
    }
}
