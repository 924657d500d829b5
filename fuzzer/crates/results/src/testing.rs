//! A made-up summary, for tests of this crate and of others.

use schemars::generate::SchemaSettings;

use crate::Summary;

/// Text of [`example`].
pub(crate) const EXAMPLE: &str = include_str!("testing/summary.json");

/// Summary of a campaign with a finding of each kind but a fault.
pub fn example() -> Summary {
    serde_json::from_str(EXAMPLE).expect("a summary")
}

/// JSON Schema of `summary.json`, as it is in the book: made from the types, and described by their comments.
pub fn schema() -> String {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<Summary>();
    schema.insert("title".into(), "summary.json of quagmire".into());
    format!("{:#}\n", schema.to_value())
}
