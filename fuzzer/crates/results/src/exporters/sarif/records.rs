//! Records of SARIF 2.1.0, as far as they are written. Names and meanings are those of the standard.

use serde::Serialize;
use serde_json::{Value, json};

use crate::outcomes::Since;

/// Name of the taxonomy.
const CWE: &str = "CWE";

/// The whole log.
#[derive(Debug, Serialize)]
pub(super) struct Sarif {
    #[serde(rename = "$schema")]
    pub schema: &'static str,
    pub version: &'static str,
    pub runs: Vec<Run>,
}

/// One run of the tool.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Run {
    pub tool: Tool,
    pub automation_details: Value,
    pub invocations: Vec<Invocation>,
    pub taxonomies: Vec<Taxonomy>,
    pub results: Vec<Result>,
    pub column_kind: &'static str,
    pub properties: Value,
}

/// The tool, and its rules.
#[derive(Debug, Serialize)]
pub(super) struct Tool {
    driver: Driver,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    semantic_version: String,
    rules: Vec<ReportingDescriptor>,
    supported_taxonomies: Vec<Value>,
}

impl Tool {
    /// quagmire in a version, with rules.
    pub(super) fn new(version: &str, rules: Vec<ReportingDescriptor>) -> Self {
        let semantic_version = version.to_owned();
        Self {
            driver: Driver {
                name: "quagmire",
                semantic_version,
                rules,
                supported_taxonomies: vec![json!({ "name": CWE, "index": 0 })],
            },
        }
    }
}

/// A rule.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReportingDescriptor {
    pub id: &'static str,
    pub name: &'static str,
    pub short_description: Message,
    pub full_description: Message,
    pub help: Value,
    pub default_configuration: Value,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub relationships: Vec<Relationship>,
    pub properties: Value,
}

/// Relation of a rule to a weakness, of which it is a special case.
#[derive(Debug, Serialize)]
pub(super) struct Relationship {
    target: TaxonReference,
    kinds: [&'static str; 1],
}

impl Relationship {
    /// Relation to a weakness by its number.
    pub(super) fn to_weakness(number: &str) -> Self {
        Self { target: TaxonReference::to_weakness(number), kinds: ["superset"] }
    }
}

/// Reference to a weakness.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TaxonReference {
    id: String,
    tool_component: Value,
}

impl TaxonReference {
    /// Reference to a weakness by its number.
    pub(super) fn to_weakness(number: &str) -> Self {
        Self { id: number.to_owned(), tool_component: json!({ "name": CWE, "index": 0 }) }
    }
}

/// The weaknesses that rules refer to.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Taxonomy {
    name: &'static str,
    organization: &'static str,
    short_description: Message,
    information_uri: &'static str,
    is_comprehensive: bool,
    taxa: Vec<Value>,
}

impl Taxonomy {
    /// The Common Weakness Enumeration, with some of its entries.
    pub(super) fn new(taxa: Vec<Value>) -> Self {
        Self {
            name: CWE,
            organization: "MITRE",
            short_description: Message::of("The MITRE Common Weakness Enumeration"),
            information_uri: "https://cwe.mitre.org/",
            is_comprehensive: false,
            taxa,
        }
    }
}

/// Text for people.
#[derive(Debug, Serialize)]
pub(super) struct Message {
    text: String,
}

impl Message {
    /// Message with this text, in which nothing is a link: `[words](address)` is written with backslashes.
    pub(super) fn of(text: &str) -> Self {
        let text = if text.contains("](") { text.replace('[', "\\[").replace(']', "\\]") } else { text.to_owned() };
        Self { text }
    }
}

/// Success of the tool.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Invocation {
    pub execution_successful: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_time_utc: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_execution_notifications: Vec<Notification>,
}

/// Condition that the tool met, which is no result.
#[derive(Debug, Serialize)]
pub(super) struct Notification {
    pub level: &'static str,
    pub message: Message,
    pub descriptor: Value,
}

/// An alert.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Result {
    pub rule_id: &'static str,
    pub rule_index: Option<usize>,
    pub kind: &'static str,
    pub level: &'static str,
    pub message: Message,
    pub locations: Vec<Location>,
    pub partial_fingerprints: Value,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub code_flows: Vec<CodeFlow>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub taxa: Vec<TaxonReference>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppressions: Option<Vec<Suppression>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline_state: Option<Since>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<f64>,
    pub occurrence_count: u64,
    pub properties: Value,
}

/// Reason why an alert is dismissed.
#[derive(Debug, Serialize)]
pub(super) struct Suppression {
    kind: &'static str,
    status: &'static str,
    justification: String,
}

impl Suppression {
    /// Suppression by somebody's decision, with the reason.
    pub(super) fn accepted(reason: &str) -> Self {
        Self { kind: "external", status: "accepted", justification: reason.to_owned() }
    }
}

/// Place of a result.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Location {
    pub physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub logical_locations: Vec<LogicalLocation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Message>,
}

/// Place in a file.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PhysicalLocation {
    pub artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<Region>,
}

/// A file.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ArtifactLocation {
    pub uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri_base_id: Option<&'static str>,
}

/// Part of a file; its end is exclusive.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Region {
    start_line: u32,
    start_column: u32,
    end_line: u32,
    end_column: u32,
}

impl Region {
    /// A whole line, or its first character if its length is not known.
    pub(super) fn of_line(line: u32, columns: Option<u32>) -> Self {
        let end_column = columns.unwrap_or(1).max(1).saturating_add(1);
        Self { start_line: line.max(1), start_column: 1, end_line: line.max(1), end_column }
    }
}

/// A function.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LogicalLocation {
    pub fully_qualified_name: String,
    pub kind: &'static str,
}

/// Places that explain a result.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CodeFlow {
    thread_flows: Vec<ThreadFlow>,
}

impl CodeFlow {
    /// Code flow of a program with one thread.
    pub(super) fn of(flow: ThreadFlow) -> Self {
        Self { thread_flows: vec![flow] }
    }
}

/// Places in one thread.
#[derive(Debug, Serialize)]
pub(super) struct ThreadFlow {
    pub locations: Vec<ThreadFlowLocation>,
}

/// One of these places.
#[derive(Debug, Serialize)]
pub(super) struct ThreadFlowLocation {
    pub location: Location,
    pub importance: &'static str,
}
