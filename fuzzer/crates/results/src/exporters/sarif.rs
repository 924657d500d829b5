//! SARIF 2.1.0 (OASIS standard), within the limits of GitHub's code scanning.
//!
//! Each cause is one result, at the place where its cost grew most: a service keeps its state from job to job by a
//! fingerprint that holds no figure. What could not be judged or measured is a notification.

use serde_json::{Map, Value, json};

use crate::outcomes::{
    Outcome, Outcomes, Place, Status, Step,
    kind::{KINDS, KindRow, WEAKNESSES, Weakness},
};

/// Largest number of results that GitHub keeps, of 25,000 that it reads.
const RESULTS: usize = 5_000;

/// Number of inputs that are named beside the worst one of a cause.
const OTHERS: usize = 10;

/// Name of the folder that relative paths start from.
const ROOT: &str = "%SRCROOT%";

/// Name of the taxonomy.
const CWE: &str = "CWE";

/// Exports outcomes as SARIF.
pub(super) fn export(outcomes: &Outcomes) -> String {
    let rules: Vec<Value> = reported().map(rule).collect();
    let results: Vec<Value> = outcomes.alerts().iter().take(RESULTS).map(|alert| result(alert)).collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "quagmire",
                "semanticVersion": outcomes.version,
                "rules": rules,
                "supportedTaxonomies": [{ "name": CWE, "index": 0 }],
            } },
            "automationDetails": { "id": format!("quagmire/{}/", outcomes.command) },
            "invocations": [invocation(outcomes)],
            "taxonomies": [taxonomy()],
            "results": results,
            "columnKind": "unicodeCodePoints",
            "properties": { "target": outcomes.target, "headline": outcomes.headline, "seconds": outcomes.seconds },
        }],
    });
    format!("{log:#}\n")
}

/// A record with those of these keys that are known: neither null nor empty.
fn with(mut record: Value, keys: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    for (key, value) in keys {
        if !value.is_null() && value.as_array().is_none_or(|values| !values.is_empty()) {
            record[key] = value;
        }
    }
    record
}

/// Text for people, in which nothing is a link: `[words](address)` is written with backslashes.
fn message(text: &str) -> Value {
    let text = if text.contains("](") { text.replace('[', "\\[").replace(']', "\\]") } else { text.to_owned() };
    json!({ "text": text })
}

/// Reference to a weakness by its number.
fn weakness(number: u32) -> Value {
    json!({ "id": number.to_string(), "toolComponent": { "name": CWE, "index": 0 } })
}

/// Kinds that have results.
fn reported() -> impl Iterator<Item = &'static KindRow> {
    KINDS.iter().filter(|row| matches!(row.status, Status::Failed | Status::Noted))
}

fn rule(row: &KindRow) -> Value {
    let tag = row.weakness.map(|number| format!("external/cwe/cwe-{number:03}"));
    let tags: Vec<String> = std::iter::once("performance".to_owned()).chain(tag).collect();
    // in the words of GitHub
    let severity = if row.level.name() == "note" { "recommendation" } else { row.level.name() };
    let rule = json!({
        "id": row.name,
        "name": row.title,
        "shortDescription": message(row.title),
        "fullDescription": message(row.meaning),
        "help": { "text": row.advice.replace('`', ""), "markdown": row.advice },
        "defaultConfiguration": { "level": row.level.name() },
        "properties": { "tags": tags, "precision": "very-high", "problem.severity": severity },
    });
    let relationship = |number| json!([{ "target": weakness(number), "kinds": ["superset"] }]);
    with(rule, row.weakness.map(|number| ("relationships", relationship(number))))
}

fn taxonomy() -> Value {
    let taxon = |weakness: &Weakness| {
        json!({
            "id": weakness.number.to_string(),
            "name": weakness.name,
            "shortDescription": { "text": weakness.short },
            "helpUri": format!("https://cwe.mitre.org/data/definitions/{}.html", weakness.number),
        })
    };
    json!({
        "name": CWE,
        "organization": "MITRE",
        "shortDescription": message("The MITRE Common Weakness Enumeration"),
        "informationUri": "https://cwe.mitre.org/",
        "isComprehensive": false,
        "taxa": WEAKNESSES.iter().map(taxon).collect::<Vec<_>>(),
    })
}

/// Success of the command, and what could not be judged or measured.
fn invocation(outcomes: &Outcomes) -> Value {
    let notification = |level: &str, text: &str, id: &str| json!({ "level": level, "message": message(text), "descriptor": { "id": id } });
    let of = |level, one: &Outcome| notification(level, &format!("{}: {}", one.input, one.message), one.kind.name());
    let error = outcomes.error.iter().map(|error| notification("error", error, "error"));
    let unmeasured = outcomes.with(Status::Error).map(|outcome| of("error", outcome));
    let unjudged = outcomes.with(Status::Skipped).filter(|outcome| outcome.tolerated.is_none());
    let unjudged = unjudged.map(|outcome| of("warning", outcome));
    let notifications: Vec<Value> = error.chain(unmeasured).chain(unjudged).take(RESULTS).collect();
    with(
        json!({ "executionSuccessful": outcomes.error.is_none() }),
        [("startTimeUtc", json!(outcomes.started)), ("toolExecutionNotifications", json!(notifications))],
    )
}

/// Result of one cause: of its worst input, with the number of all.
fn result(alert: &[&Outcome]) -> Value {
    let worst = alert[0];
    let row = worst.kind.describe();
    let mut text = worst.message.clone();
    for line in worst.explanation() {
        text += &format!(" {}: {}.", line.title, line.in_words());
    }
    if let Some(command) = &worst.reproduce {
        text += &format!("\n\n    {command}");
    }
    let fingerprint = worst.fingerprint();
    let flow: Vec<Value> = worst.steps.iter().map(flow_location).collect();
    let flows = if flow.is_empty() { Value::Null } else { json!([{ "threadFlows": [{ "locations": flow }] }]) };
    let suppression = |reason: &String| json!([{ "kind": "external", "status": "accepted", "justification": reason }]);
    let result = json!({
        "ruleId": row.name,
        "ruleIndex": reported().position(|other| other.kind == worst.kind),
        "kind": "fail",
        "level": worst.level.name(),
        "message": message(&text),
        "locations": [location(worst.place.as_ref(), &worst.input)],
        // GitHub compares primaryLocationLineHash and nothing else
        "partialFingerprints": { "primaryLocationLineHash": format!("{fingerprint}:1"), "quagmire/v1": fingerprint },
        "occurrenceCount": alert.len(),
        "properties": properties(alert),
    });
    let rank = worst.rank.filter(|rank| rank.is_finite()).map(|rank| rank.clamp(0.0, 100.0));
    let known = [
        ("codeFlows", flows),
        ("taxa", json!(row.weakness.map(|number| [weakness(number)]))),
        ("suppressions", json!(worst.tolerated.as_ref().map(suppression))),
        ("baselineState", json!(worst.since)),
        ("rank", json!(rank)),
    ];
    with(result, known)
}

/// Figures of the worst input, and the first of the others.
fn properties(alert: &[&Outcome]) -> Value {
    let worst = alert[0];
    let mut properties: Map<String, Value> =
        worst.figures.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    properties.insert("input".into(), json!(worst.input));
    let known = [("law", &worst.law), ("reproduce", &worst.reproduce)];
    properties.extend(known.iter().filter_map(|(name, value)| Some(((*name).to_owned(), json!(value.as_ref()?)))));
    let known = worst.explained.iter().filter(|line| line.title != "Law");
    properties.extend(known.map(|line| (line.key(), json!(line.in_words()))));
    let others: Vec<&str> = alert[1..].iter().take(OTHERS).map(|outcome| outcome.input.as_str()).collect();
    if !others.is_empty() {
        properties.insert("otherInputs".into(), json!(others));
    }
    Value::Object(properties)
}

fn flow_location(step: &Step) -> Value {
    let mut place = location(Some(&step.place), "");
    place["message"] = message(&step.message);
    json!({ "location": place, "importance": if step.share >= 0.1 { "essential" } else { "important" } })
}

/// Location of a place. Services want one of each result: without a known place it is the input.
fn location(place: Option<&Place>, input: &str) -> Value {
    let line = place.and_then(|place| place.line).unwrap_or(1).max(1);
    // a whole line, or its first character if its length is not known; the end is exclusive
    let end = place.and_then(|place| place.columns).unwrap_or(1).max(1).saturating_add(1);
    let location = json!({ "physicalLocation": {
        "artifactLocation": artifact(place.map_or(input, |place| &place.file)),
        "region": { "startLine": line, "startColumn": 1, "endLine": line, "endColumn": end },
    } });
    let function = place.and_then(|place| place.function.as_ref());
    let logical = |function| json!([{ "fullyQualifiedName": function, "kind": "function" }]);
    with(location, function.map(|function| ("logicalLocations", logical(function))))
}

/// Location of a file: relative to the root of the sources, or an address of a file that lies elsewhere.
fn artifact(path: &str) -> Value {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-~/".contains(&byte);
    let encoded: String = path
        .bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect();
    match encoded.starts_with('/') {
        true => json!({ "uri": format!("file://{encoded}") }),
        false => json!({ "uri": encoded, "uriBaseId": ROOT }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::outcomes::tests::outcomes;

    fn read(outcomes: &Outcomes) -> Value {
        serde_json::from_str(&export(outcomes)).unwrap()
    }

    #[test]
    fn outcomes_as_sarif() {
        let mut log = read(&outcomes());
        log["runs"][0]["tool"]["driver"]["rules"].as_array_mut().unwrap().truncate(1);
        insta::assert_snapshot!("sarif", serde_json::to_string_pretty(&log).unwrap());
    }

    #[test]
    fn every_result_names_its_rule_by_its_index() {
        let log = read(&outcomes());
        let run = &log["runs"][0];
        let results = run["results"].as_array().unwrap();
        assert_eq!(results.len(), 4);
        for result in results {
            let rule = &run["tool"]["driver"]["rules"][result["ruleIndex"].as_u64().unwrap() as usize];
            assert_eq!(rule["id"], result["ruleId"]);
            assert_eq!(result["locations"].as_array().unwrap().len(), 1);
        }
    }

    #[test]
    fn only_what_is_tolerated_is_suppressed() {
        let log = read(&outcomes());
        let suppressed = |result: &&Value| result.get("suppressions").is_some();
        let results = log["runs"][0]["results"].as_array().unwrap();
        let names: Vec<&str> = results.iter().filter(suppressed).map(|one| one["ruleId"].as_str().unwrap()).collect();
        assert_eq!(names, ["law-worse"]);
    }

    #[test]
    fn findings_of_one_cause_are_one_result_with_their_number() {
        let mut outcomes = outcomes();
        let one = outcomes.all[1].clone();
        outcomes.all = (0..6_000).map(|at| Outcome { input: format!("queue/{at}"), ..one.clone() }).collect();
        let log = read(&outcomes);
        assert_eq!(log["runs"][0]["results"].as_array().unwrap().len(), 1);
        assert_eq!(log["runs"][0]["results"][0]["occurrenceCount"], 6_000);
        outcomes.all.iter_mut().enumerate().for_each(|(at, one)| one.cause = Some(format!("f{at}")));
        assert_eq!(read(&outcomes)["runs"][0]["results"].as_array().unwrap().len(), RESULTS);
    }

    #[test]
    fn paths_are_addresses() {
        assert_eq!(artifact("src/a b#.c")["uri"], "src/a%20b%23.c");
        assert_eq!(artifact("/usr/include/c++/12/regex")["uri"], "file:///usr/include/c%2B%2B/12/regex");
        assert!(artifact("/x").get("uriBaseId").is_none() && artifact("x").get("uriBaseId").is_some());
    }

    proptest! {
        #[test]
        fn any_figures_and_texts_make_json(text: String, value: f64) {
            let mut outcomes = outcomes();
            let outcome = &mut outcomes.all[1];
            (outcome.message, outcome.rank) = (text.clone(), Some(value));
            outcome.figures = vec![(text.clone(), value)];
            outcome.place.as_mut().unwrap().file = text.clone();
            let log = read(&outcomes);
            let result = &log["runs"][0]["results"][1];
            let message = result["message"]["text"].as_str().unwrap();
            prop_assert!(message.replace('\\', "").starts_with(&text.replace('\\', "")));
            prop_assert!(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap().is_ascii());
        }
    }
}
