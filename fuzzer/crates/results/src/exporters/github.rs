//! Annotations of GitHub Actions: lines that a step prints, and that GitHub shows beside the changed lines.
//!
//! GitHub takes ten annotations of each level from a step, and fifty from a job; further ones are dropped silently. They
//! appear for any line of a change, also where code scanning shows only alerts that lie in the change as a whole.

use std::fmt::Write as _;

use quagmire_base::format::counted;

use crate::outcomes::{Level, Outcome, Outcomes, Status};

/// Number of annotations of each level that GitHub takes from a step.
const MOST: usize = 10;

/// Exports outcomes as annotations: an alert for each cause, the gravest first. Lines behind them tell how many there
/// was no room for.
pub(super) fn export(outcomes: &Outcomes) -> String {
    let mut text = String::new();
    let alerts: Vec<Vec<&Outcome>> = outcomes.alerts();
    let shown: Vec<&Vec<&Outcome>> = alerts.iter().filter(|alert| alert[0].status() != Status::Skipped).collect();
    for (level, command) in [(Level::Error, "error"), (Level::Warning, "warning"), (Level::Note, "notice")] {
        let of_level: Vec<_> = shown.iter().filter(|alert| alert[0].level == level).collect();
        of_level.iter().take(MOST).for_each(|alert| text += &annotation(command, alert));
        if of_level.len() > MOST {
            let _ = writeln!(text, "and {}", counted((of_level.len() - MOST) as u64, &format!("further {command}")));
        }
    }
    let not_judged = outcomes.with(Status::Error).count();
    if not_judged > 0 {
        let _ =
            writeln!(text, "::notice title=quagmire::{} could not be measured", counted(not_judged as u64, "input"));
    }
    if let Some(error) = &outcomes.error {
        let _ = writeln!(text, "::error title=quagmire::{}", escaped(error, false));
    }
    let _ = writeln!(text, "{}", escaped(&outcomes.headline, false));
    text
}

fn annotation(command: &str, alert: &[&Outcome]) -> String {
    let worst = alert[0];
    let mut properties = Vec::new();
    if let Some(place) = worst.place.as_ref().filter(|place| place.is_inside()) {
        properties.push(format!("file={}", escaped(&place.file, true)));
        properties.extend(place.line.map(|line| format!("line={line}")));
    }
    let title = format!("quagmire: {}", worst.kind.describe().title);
    properties.push(format!("title={}", escaped(&title, true)));
    let mut message = worst.message.clone();
    for line in worst.explanation() {
        let _ = write!(message, " {}: {}.", line.title, line.in_words());
    }
    if alert.len() > 1 {
        let _ = write!(message, " {} with the same cause.", counted(alert.len() as u64 - 1, "other input"));
    }
    if let Some(command) = &worst.reproduce {
        let _ = write!(message, "\n{command}");
    }
    format!("::{command} {}::{}\n", properties.join(","), escaped(&message, false))
}

/// Escapes what ends a line of the protocol, and in properties what ends a property.
fn escaped(text: &str, in_property: bool) -> String {
    let text = text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    if in_property { text.replace(':', "%3A").replace(',', "%2C") } else { text }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::outcomes::tests::outcomes;

    #[test]
    fn outcomes_as_annotations() {
        insta::assert_snapshot!("github", export(&outcomes()));
    }

    #[test]
    fn of_each_level_there_are_at_most_ten_and_the_rest_is_counted() {
        let mut outcomes = outcomes();
        let one = outcomes.all[1].clone();
        outcomes.all =
            (0..14).map(|at| Outcome { cause: Some(format!("f{at}")), level: Level::Warning, ..one.clone() }).collect();
        let text = export(&outcomes);
        assert_eq!(text.lines().filter(|line| line.starts_with("::warning ")).count(), 10);
        assert!(text.contains("\nand 4 further warnings\n"), "{text}");
    }

    #[test]
    fn files_outside_of_the_project_are_not_named_to_github() {
        let mut outcomes = outcomes();
        outcomes.all[1].place.as_mut().unwrap().file = "/usr/include/regex".into();
        assert!(!export(&outcomes).contains("file="));
    }

    proptest! {
        #[test]
        fn a_text_of_a_target_starts_no_line(text: String) {
            for hostile in [text, "a\n::error::x\r\n::add-mask::y%0A".into()] {
                let mut outcomes = outcomes();
                let before = export(&outcomes).lines().count();
                let outcome = &mut outcomes.all[1];
                outcome.message = hostile.clone();
                outcome.law = Some(hostile.clone());
                outcome.place.as_mut().unwrap().file = hostile.clone();
                outcomes.headline = hostile.clone();
                let text = export(&outcomes);
                prop_assert_eq!(text.split(['\n', '\r']).count(), before + 1);
            }
        }
    }
}
