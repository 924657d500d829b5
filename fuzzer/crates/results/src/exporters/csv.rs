//! CSV (RFC 4180, with line feeds at the ends of rows): a line of column names, then each finding or outcome is a row.

use std::collections::BTreeSet;

use ::csv::{Terminator, WriterBuilder};
use quagmire_cost::resource::Resource;
use serde_json::{Value, json};

use crate::{
    outcomes::{Outcome, Outcomes},
    summary::{Finding, Summary},
};

/// Keys of a finding in `summary.json` that have a column: those with a single value, `rules`, and of `law` and
/// `minimized` their words and path, and why they are not known. The columns of all resources follow them.
const KEYS: [&str; 29] = [
    "kind",
    "detail",
    "path",
    "bytes",
    "parent",
    "root",
    "rules",
    "seconds",
    "executions",
    "verdict",
    "severity",
    "ratio",
    "p_value",
    "instructions_ratio",
    "instructions_ratio_by_size",
    "time_ratio",
    "time_ratio_low",
    "time_ratio_high",
    "time_ratio_by_size",
    "time_ratio_by_size_low",
    "time_ratio_by_size_high",
    "hot_function",
    "hot_location",
    "reproduce",
    "law",
    "template",
    "minimized",
    "no_law",
    "no_smallest",
];

/// Columns of an outcome, before those of its figures.
const COLUMNS: [&str; 15] = [
    "kind",
    "status",
    "level",
    "input",
    "message",
    "cause",
    "law",
    "file",
    "line",
    "rank",
    "seconds",
    "tolerated",
    "since",
    "reproduce",
    "fingerprint",
];

/// Exports findings as CSV: numbers as in JSON, an empty field where a value is not known or was not measured.
pub(super) fn findings(summary: &Summary) -> String {
    let names = KEYS.into_iter().chain(Resource::ALL.map(Resource::name)).map(str::to_owned).collect();
    table(names, summary.findings.iter().map(|finding| row(finding).collect()))
}

/// Exports outcomes as CSV. The figures that any of them has are columns at the end, in alphabetical order.
pub(super) fn outcomes(outcomes: &Outcomes) -> String {
    let named = outcomes.all.iter().flat_map(|outcome| outcome.figures.iter().map(|(name, _)| name.clone()));
    let figures: BTreeSet<String> = named.collect();
    let names = COLUMNS.into_iter().map(str::to_owned).chain(figures.iter().cloned()).collect();
    table(names, outcomes.all.iter().map(|outcome| row_of_outcome(outcome, &figures)))
}

/// Text of a table. All rows are as long as the row of names.
fn table(names: Vec<String>, rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut writer = WriterBuilder::new().terminator(Terminator::Any(b'\n')).from_writer(Vec::new());
    // cannot fail: all rows have one length, and writing to a vector has no errors
    for row in std::iter::once(names).chain(rows) {
        writer.write_record(row).expect("a row of the same length");
    }
    String::from_utf8(writer.into_inner().expect("a vector")).expect("rows of text")
}

fn row_of_outcome(outcome: &Outcome, figures: &BTreeSet<String>) -> Vec<String> {
    let values = json!(outcome);
    let place = outcome.place.as_ref();
    let column = |name| match name {
        "status" => field(&json!(outcome.status())),
        "cause" => outcome.cause().to_owned(),
        "file" => place.map(|place| place.file.clone()).unwrap_or_default(),
        "line" => place.and_then(|place| place.line).map(|line| line.to_string()).unwrap_or_default(),
        "fingerprint" => outcome.fingerprint(),
        name => field(&values[name]),
    };
    let figure = |name: &String| {
        let known = outcome.figures.iter().find(|(known, _)| known == name);
        known.map_or_else(String::new, |(_, value)| value.to_string())
    };
    COLUMNS.into_iter().map(column).chain(figures.iter().map(figure)).collect()
}

fn row(finding: &Finding) -> impl Iterator<Item = String> {
    let values = serde_json::to_value(finding).expect("a finding is plain data");
    let amount = |resource: Resource| {
        let cost = finding.costs.iter().find(|cost| cost.resource == resource);
        cost.map_or_else(String::new, |cost| cost.amount.to_string())
    };
    let value = move |key| match key {
        "law" => field(&values["law"]["words"]),
        "minimized" => field(&values["minimized"]["path"]),
        "no_law" | "no_smallest" => field(&values[key]["why"]),
        key => field(&values[key]),
    };
    KEYS.into_iter().map(value).chain(Resource::ALL.map(amount))
}

/// Text of a field. The labels of rules are joined with `+`, as in names of files.
fn field(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(field).collect::<Vec<_>>().join("+"),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use ::csv::{Reader, StringRecord};
    use proptest::prelude::*;
    use quagmire_base::plain::{Form, printed};

    use super::*;
    use crate::{outcomes::tests, testing::example};

    /// Column names and rows of a text, as a reader of CSV finds them.
    fn read(text: &str) -> (StringRecord, Vec<StringRecord>) {
        let mut reader = Reader::from_reader(text.as_bytes());
        let names = reader.headers().unwrap().clone();
        (names, reader.records().map(Result::unwrap).collect())
    }

    #[test]
    fn findings_as_csv() {
        insta::assert_snapshot!("csv", findings(&example()));
    }

    #[test]
    fn every_key_of_a_finding_has_a_column_unless_it_is_a_record() {
        let finding = serde_json::to_value(&example().findings[0]).unwrap();
        let keys: BTreeSet<&str> = finding.as_object().unwrap().keys().map(String::as_str).collect();
        let columns: BTreeSet<&str> = KEYS.into_iter().chain(["ordinary_input", "costs", "growth", "parts"]).collect();
        assert_eq!(keys, columns);
    }

    #[test]
    fn columns_have_names_of_their_own_and_every_resource_has_one() {
        let (names, rows) = read(&findings(&example()));
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), KEYS.len() + Resource::ALL.len());
        let amounts = |row: usize| Resource::ALL.map(|resource| rows[row][column(&names, resource.name())].to_owned());
        assert_eq!(amounts(0)[Resource::Instructions as usize], "413800");
        assert_eq!(amounts(0).iter().filter(|amount| amount.is_empty()).count(), Resource::ALL.len() - 1);
        assert_eq!(amounts(1).concat(), "", "a hang has no amounts");
    }

    #[test]
    fn outcomes_have_their_figures_behind_their_columns() {
        let (names, rows) = read(&outcomes(&tests::outcomes()));
        assert!(names.iter().skip(COLUMNS.len()).is_sorted());
        assert_eq!(rows.len(), 7);
        let value = |row: usize, name| &rows[row][column(&names, name)];
        assert_eq!([value(1, "kind"), value(1, "cause"), value(1, "line")], ["degradation", "trim", "12"]);
        assert_eq!([value(1, "ratio"), value(6, "ratio"), value(2, "status")], ["29.5", "", "skipped"]);
    }

    fn column(names: &StringRecord, wanted: &str) -> usize {
        names.iter().position(|name| name == wanted).unwrap()
    }

    proptest! {
        #[test]
        fn texts_of_targets_are_one_field_each(text: String) {
            let mut summary = example();
            for hostile in [text, "f(int, \"x\")\r\n=1+1, ü;\t\0".into(), "\"".into(), ",\n,\n".into()] {
                summary.findings[0].hot_function = Some(hostile.clone());
                let exported = findings(&summary);
                let (names, rows) = read(&exported);
                prop_assert_eq!(&rows[0][column(&names, "hot_function")], &hostile);
                prop_assert_eq!(&rows[1][column(&names, "hot_function")], "");
                // escaping control characters for printing leaves rows and columns as they are
                let (names_printed, rows_printed) = read(&printed(&exported, Form::Lines));
                prop_assert_eq!((names_printed, rows_printed.len()), (names, rows.len()));
            }
        }
    }
}
