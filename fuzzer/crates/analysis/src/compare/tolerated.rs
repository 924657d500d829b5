//! Regressions that are known: a list with a reason and a date, after which each is red again.

use std::path::Path;

use jiff::civil::Date;
use serde::Deserialize;

use quagmire_base::{
    error::{Error, Result},
    files,
};
use quagmire_results::comparison::{ComparedInput, Comparison, ComparisonVerdict, Tolerance};

/// Shortest beginning of a hash that names an input, in digits.
const LEAST_DIGITS: usize = 8;

/// A record of the list, as written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    #[serde(default)]
    input: Option<String>,
    #[serde(default)]
    function: Option<String>,
    reason: String,
    expires: String,
}

/// Regressions that are tolerated.
#[derive(Clone, Debug, Default)]
pub(super) struct Tolerated {
    records: Vec<(Record, Date)>,
    today: Date,
}

/// Reads a list.
///
/// # Errors
/// If it cannot be read, or a record is incomplete.
pub(super) fn read(path: &Path) -> Result<Tolerated> {
    let shown = path.display();
    let text = files::read_named(path, files::LARGEST_TEXT)
        .map_err(|error| Error::usage(format!("cannot read {shown} (--tolerated): {error}")))?;
    let today = jiff::Zoned::now().date();
    parse(&text, today).map_err(|problem| {
        Error::usage(format!(
            "{shown} (--tolerated): {problem}: write [{{\"function\": \"NAME\", \"reason\": \"WHY\", \"expires\": \"2027-01-31\"}}], \
             with input (the beginning of its hash) or function"
        ))
    })
}

fn parse(text: &[u8], today: Date) -> Result<Tolerated, String> {
    let records: Vec<Record> = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let checked = |(index, record): (usize, Record)| {
        let number = index + 1;
        let is_hash = |hash: &String| hash.len() >= LEAST_DIGITS && hash.bytes().all(|digit| digit.is_ascii_hexdigit());
        let date = record.expires.parse::<Date>();
        match (&record.input, &record.function, date) {
            (Some(_), Some(_), _) | (None, None, _) => {
                Err(format!("record {number} needs an input or a function, not both"))
            }
            (Some(hash), ..) if !is_hash(hash) => Err(format!("record {number}: {hash} is no beginning of a hash")),
            _ if record.reason.trim().is_empty() => Err(format!("record {number} has no reason")),
            (.., Err(_)) => Err(format!("record {number}: {} is no date", record.expires)),
            (.., Ok(date)) => Ok((record, date)),
        }
    };
    let records = records.into_iter().enumerate().map(checked).collect::<Result<_, _>>()?;
    Ok(Tolerated { records, today })
}

impl Record {
    /// Whether it is about an input: by its hash, or by the function that grew most.
    fn is_about(&self, input: &ComparedInput) -> bool {
        let of_law = input.law.as_ref().and_then(|law| law.function.as_ref());
        let grown = of_law.or(input.moved.first().map(|moved| &moved.function));
        let is_hash = self.input.as_ref().is_some_and(|hash| input.hash.starts_with(&hash.to_ascii_lowercase()));
        is_hash || (self.function.is_some() && self.function.as_ref() == grown)
    }
}

impl Tolerated {
    /// Tolerates a regression that the list names, unless its date has passed.
    pub(super) fn apply(&self, input: &mut ComparedInput) {
        if !input.verdict.is_regression() {
            return;
        }
        // the record that holds longest
        let about = self.records.iter().filter(|(record, _)| record.is_about(input));
        let Some((record, date)) = about.max_by_key(|(_, date)| *date) else { return };
        let has_expired = *date < self.today;
        input.tolerance = Some(Tolerance {
            verdict: input.verdict,
            reason: record.reason.clone(),
            expires: record.expires.clone(),
            has_expired,
        });
        if !has_expired {
            input.verdict = ComparisonVerdict::Tolerated;
        }
    }

    /// A line for each record that is about no input that is a regression, so that it can go. None as long as some input has no
    /// verdict, and none about inputs that were not compared.
    pub(super) fn unused(&self, comparison: &Comparison) -> Vec<String> {
        let is_open = |verdict| matches!(verdict, ComparisonVerdict::Unstable | ComparisonVerdict::Unfinished);
        if comparison.is_incomplete || comparison.inputs.iter().any(|input| is_open(input.verdict)) {
            return Vec::new();
        }
        let is_compared =
            |record: &Record| record.function.is_some() || comparison.inputs.iter().any(|input| record.is_about(input));
        let regressions: Vec<&ComparedInput> = comparison.inputs.iter().filter(|one| one.tolerance.is_some()).collect();
        let is_unused = |record: &Record| !regressions.iter().any(|input| record.is_about(input));
        self.records
            .iter()
            .filter(|(record, _)| is_unused(record) && is_compared(record))
            .map(|(record, _)| {
                let what = record.function.as_ref().or(record.input.as_ref()).map_or("", String::as_str);
                format!(
                    "nothing of {what} is a regression among these inputs: its record in the list of --tolerated can be removed, \
                     if no other comparison needs it"
                )
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quagmire_results::comparison::MovedFunction;

    fn slower(function: &str) -> ComparedInput {
        ComparedInput {
            hash: "0123456789abcdef".into(),
            verdict: ComparisonVerdict::Slower,
            moved: vec![MovedFunction { function: function.into(), ..MovedFunction::default() }],
            ..ComparedInput::default()
        }
    }

    fn day(text: &str) -> Date {
        text.parse().unwrap()
    }

    const LIST: &str = r#"[
        {"function": "parse", "reason": "issue 12", "expires": "2027-01-31"},
        {"input": "01234567", "reason": "a rewrite is under way", "expires": "2026-06-30"}
    ]"#;

    #[test]
    fn what_is_named_is_tolerated_until_its_date_and_red_again_after_it() {
        for (function, today, verdict) in [
            ("parse", "2027-01-31", ComparisonVerdict::Tolerated),
            ("parse", "2027-02-01", ComparisonVerdict::Slower),
            ("other", "2026-06-30", ComparisonVerdict::Tolerated),
            ("other", "2026-07-01", ComparisonVerdict::Slower),
        ] {
            let list = parse(LIST.as_bytes(), day(today)).unwrap();
            let mut input = slower(function);
            list.apply(&mut input);
            assert_eq!(input.verdict, verdict, "{function} on {today}");
            let tolerance = input.tolerance.unwrap();
            assert_eq!(tolerance.has_expired, verdict == ComparisonVerdict::Slower);
            assert_eq!(tolerance.verdict, ComparisonVerdict::Slower);
        }
    }

    #[test]
    fn others_are_not_tolerated() {
        let list = parse(LIST.as_bytes(), day("2026-01-01")).unwrap();
        let other = ComparedInput { hash: "99".into(), ..slower("other") };
        let faster = ComparedInput { verdict: ComparisonVerdict::Faster, ..slower("parse") };
        for input in [other, faster] {
            let mut judged = input.clone();
            list.apply(&mut judged);
            assert_eq!(judged, input);
        }
    }

    #[test]
    fn records_without_a_reason_a_date_or_a_name_are_refused_by_their_number() {
        for (record, word) in [
            (r#"{"function": "f", "reason": " ", "expires": "2027-01-31"}"#, "record 1 has no reason"),
            (r#"{"function": "f", "reason": "r", "expires": "soon"}"#, "soon is no date"),
            (r#"{"reason": "r", "expires": "2027-01-31"}"#, "an input or a function"),
            (r#"{"input": "12", "reason": "r", "expires": "2027-01-31"}"#, "no beginning of a hash"),
            (r#"{"function": "f", "reason": "r"}"#, "expires"),
        ] {
            let error = parse(format!("[{record}]").as_bytes(), day("2026-01-01")).unwrap_err();
            assert!(error.contains(word), "{error}");
        }
    }
}
