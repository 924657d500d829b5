//! CSV (RFC 4180): a line of names, then one finding a line.

use csv::{Terminator, WriterBuilder};
use quagmire_cost::resource::Resource;
use serde_json::Value;

use super::Exporter;
use crate::summary::{Finding, Summary};

/// Keys of a finding in `summary.json` that are a single value, or a list of labels. The amounts of all resources follow
/// them.
const KEYS: [&str; 24] = [
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
];

/// Exports CSV. What is not known is an empty field.
pub struct Csv;

impl Exporter for Csv {
    fn export(&self, summary: &Summary) -> String {
        let mut writer = WriterBuilder::new().terminator(Terminator::Any(b'\n')).from_writer(Vec::new());
        let names = KEYS.into_iter().chain(Resource::ALL.map(Resource::name));
        // a vector takes whatever is written, lines of one length are no error, and what consists of texts is text
        writer.write_record(names).expect("a line of names");
        for finding in &summary.findings {
            writer.write_record(fields(finding)).expect("a line of as many fields");
        }
        String::from_utf8(writer.into_inner().expect("a vector")).expect("texts")
    }
}

fn fields(finding: &Finding) -> Vec<String> {
    let values = serde_json::to_value(finding).expect("a finding is plain data");
    let amount = |resource: Resource| {
        let cost = finding.costs.iter().find(|cost| cost.resource == resource);
        cost.map_or_else(String::new, |cost| cost.amount.to_string())
    };
    KEYS.iter().map(|key| field(&values[key])).chain(Resource::ALL.map(amount)).collect()
}

/// A value as text; labels of rules as in names of files, with `+` between them.
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
    use super::*;
    use crate::testing::example;

    #[test]
    fn the_findings_of_a_campaign_as_csv() {
        insta::assert_snapshot!("csv", Csv.export(&example()));
    }

    #[test]
    fn all_keys_are_those_of_findings() {
        let values = serde_json::to_value(&example().findings[0]).unwrap();
        let missing: Vec<_> = KEYS.iter().filter(|key| values.get(key).is_none()).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn what_readers_would_take_for_the_end_of_a_field_is_quoted() {
        let hostile = "f(int, \"x\")\r\n=1+1, ü;\t\0";
        let mut summary = example();
        summary.findings[0].hot_function = Some(hostile.into());
        let text = Csv.export(&summary);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let place = reader.headers().unwrap().iter().position(|name| name == "hot_function").unwrap();
        let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        assert_eq!(records.len(), summary.findings.len());
        assert_eq!((&records[0][place], &records[1][place]), (hostile, ""));
    }
}
