//! SARIF 2.1.0 (OASIS standard), within the limits of GitHub's code scanning.
//!
//! Each cause is one result, at the place where its cost grew most: a service keeps its state from job to job by a
//! fingerprint that holds no figure. What could not be judged or measured is a notification. Formats of records are in
//! [`records`].

mod records;

use serde_json::{Map, Value, json};

use self::records::{
    ArtifactLocation, CodeFlow, Invocation, Location, LogicalLocation, Message, Notification, PhysicalLocation, Region,
    Relationship, ReportingDescriptor, Result, Run, Sarif, Suppression, TaxonReference, Taxonomy, ThreadFlow,
    ThreadFlowLocation, Tool,
};
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

/// Address of the schema.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// Exports outcomes as SARIF.
pub(super) fn export(outcomes: &Outcomes) -> String {
    let results = outcomes.alerts().iter().take(RESULTS).map(|alert| result(alert)).collect();
    let run = Run {
        tool: Tool::new(&outcomes.version, rules()),
        automation_details: json!({ "id": format!("quagmire/{}/", outcomes.command) }),
        invocations: vec![invocation(outcomes)],
        taxonomies: vec![taxonomy()],
        results,
        column_kind: "unicodeCodePoints",
        properties: json!({ "target": outcomes.target, "headline": outcomes.headline, "seconds": outcomes.seconds }),
    };
    let log = Sarif { schema: SCHEMA, version: "2.1.0", runs: vec![run] };
    // cannot fail: records consist of strings, numbers, and lists and records of them
    serde_json::to_string_pretty(&log).expect("plain data") + "\n"
}

/// Kinds that have results.
fn reported() -> impl Iterator<Item = &'static KindRow> {
    KINDS.iter().filter(|row| matches!(row.status, Status::Failed | Status::Noted))
}

fn rules() -> Vec<ReportingDescriptor> {
    let rule = |row: &KindRow| {
        let tag = row.weakness.map(|number| format!("external/cwe/cwe-{number:03}"));
        let tags: Vec<String> = std::iter::once("performance".to_owned()).chain(tag).collect();
        ReportingDescriptor {
            id: row.name,
            name: row.title,
            short_description: Message::of(row.title),
            full_description: Message::of(row.meaning),
            help: json!({ "text": row.advice.replace('`', ""), "markdown": row.advice }),
            default_configuration: json!({ "level": row.level.name() }),
            relationships: row
                .weakness
                .map(|number| Relationship::to_weakness(&number.to_string()))
                .into_iter()
                .collect(),
            properties: json!({ "tags": tags, "precision": "very-high", "problem.severity": severity(row) }),
        }
    };
    reported().map(rule).collect()
}

/// Severity in the words of GitHub.
fn severity(row: &KindRow) -> &'static str {
    match row.level.name() {
        "note" => "recommendation",
        level => level,
    }
}

fn taxonomy() -> Taxonomy {
    let taxon = |weakness: &Weakness| {
        json!({
            "id": weakness.number.to_string(),
            "name": weakness.name,
            "shortDescription": { "text": weakness.short },
            "helpUri": format!("https://cwe.mitre.org/data/definitions/{}.html", weakness.number),
        })
    };
    Taxonomy::new(WEAKNESSES.iter().map(taxon).collect())
}

/// Success of the command, and what could not be judged or measured.
fn invocation(outcomes: &Outcomes) -> Invocation {
    let notification = |level: &'static str, outcome: &Outcome| Notification {
        level,
        message: Message::of(&format!("{}: {}", outcome.input, outcome.message)),
        descriptor: json!({ "id": outcome.kind.name() }),
    };
    let error = outcomes.error.iter().map(|error| Notification {
        level: "error",
        message: Message::of(error),
        descriptor: json!({ "id": "error" }),
    });
    let unjudged = outcomes.with(Status::Skipped).filter(|outcome| outcome.tolerated.is_none());
    let unjudged = unjudged.map(|outcome| notification("warning", outcome));
    let unmeasured = outcomes.with(Status::Error).map(|outcome| notification("error", outcome));
    Invocation {
        execution_successful: outcomes.error.is_none(),
        start_time_utc: outcomes.started.clone(),
        tool_execution_notifications: error.chain(unmeasured).chain(unjudged).take(RESULTS).collect(),
    }
}

/// Result of one cause: of its worst input, with the number of all.
fn result(alert: &[&Outcome]) -> Result {
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
    let flow: Vec<ThreadFlowLocation> = worst.steps.iter().map(flow_location).collect();
    Result {
        rule_id: row.name,
        rule_index: reported().position(|other| other.kind == worst.kind),
        kind: "fail",
        level: worst.level.name(),
        message: Message::of(&text),
        locations: vec![location(worst.place.as_ref(), &worst.input, None)],
        // GitHub compares primaryLocationLineHash and nothing else
        partial_fingerprints: json!({ "primaryLocationLineHash": format!("{fingerprint}:1"), "quagmire/v1": fingerprint }),
        code_flows: if flow.is_empty() { Vec::new() } else { vec![CodeFlow::of(ThreadFlow { locations: flow })] },
        taxa: row.weakness.map(|number| TaxonReference::to_weakness(&number.to_string())).into_iter().collect(),
        suppressions: worst.tolerated.as_ref().map(|reason| vec![Suppression::accepted(reason)]),
        baseline_state: worst.since,
        rank: worst.rank.filter(|rank| rank.is_finite()).map(|rank| rank.clamp(0.0, 100.0)),
        occurrence_count: alert.len() as u64,
        properties: properties(alert),
    }
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

fn flow_location(step: &Step) -> ThreadFlowLocation {
    ThreadFlowLocation {
        location: location(Some(&step.place), "", Some(&step.message)),
        importance: if step.share >= 0.1 { "essential" } else { "important" },
    }
}

/// Location of a place. Services want one of each result: without a known place it is the input.
fn location(place: Option<&Place>, input: &str, message: Option<&str>) -> Location {
    let physical = match place {
        Some(place) => PhysicalLocation {
            artifact_location: artifact(&place.file),
            region: Some(Region::of_line(place.line.unwrap_or(1), place.columns)),
        },
        None => PhysicalLocation { artifact_location: artifact(input), region: Some(Region::of_line(1, None)) },
    };
    let function = place.and_then(|place| place.function.clone());
    let logical = function.map(|function| LogicalLocation { fully_qualified_name: function, kind: "function" });
    Location {
        physical_location: physical,
        logical_locations: logical.into_iter().collect(),
        message: message.map(Message::of),
    }
}

/// Location of a file: relative to the root of the sources, or an address of a file that lies elsewhere.
fn artifact(path: &str) -> ArtifactLocation {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-~/".contains(&byte);
    let encoded: String = path
        .bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect();
    match encoded.starts_with('/') {
        true => ArtifactLocation { uri: format!("file://{encoded}"), uri_base_id: None },
        false => ArtifactLocation { uri: encoded, uri_base_id: Some(ROOT) },
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
        assert_eq!(artifact("src/a b#.c").uri, "src/a%20b%23.c");
        assert_eq!(artifact("/usr/include/c++/12/regex").uri, "file:///usr/include/c%2B%2B/12/regex");
        assert!(artifact("/x").uri_base_id.is_none() && artifact("x").uri_base_id.is_some());
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
