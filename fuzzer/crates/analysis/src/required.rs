//! Functions that valid runs enter, as named by users (`--valid-if-reached`).

use std::collections::BTreeSet;

use regex::Regex;

use quagmire_base::{
    error::{Error, Result, regex_reason},
    format::short,
};
use quagmire_execution::{counts::CountsObserver, lines, symbols::Symbols};

/// Number of functions that an error lists.
const LISTED: usize = 4;

/// Makes only those runs valid that enter a function whose demangled name is `wanted`, with or without its parameters,
/// or else matches it as a regular expression. Inlined copies count if the target has debug information.
///
/// # Errors
/// A usage error if no function has such a name.
pub fn require(counts: &mut CountsObserver, wanted: &str) -> Result<()> {
    let functions = lines::source_functions(counts.program(), &mut Symbols::new());
    let named = |fits: &dyn Fn(&str) -> bool| -> BTreeSet<u32> {
        functions.iter().filter(|((name, _), _)| fits(name)).flat_map(|(_, edges)| edges.iter().copied()).collect()
    };
    let is_name = |name: &str| name.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('('));
    let mut edges = named(&is_name);
    if edges.is_empty() {
        let pattern = Regex::new(wanted).map_err(|error| {
            let reason = regex_reason(&error);
            Error::usage(format!(
                "--valid-if-reached: `{wanted}` is neither a function nor a regular expression ({reason}): correct it"
            ))
        })?;
        edges = named(&|name| pattern.is_match(name));
    }
    if edges.is_empty() {
        let known: BTreeSet<String> = functions.keys().map(|(name, _)| short(name)).collect();
        let listed: Vec<&str> = known.iter().take(LISTED).map(String::as_str).collect();
        let more = if known.len() > LISTED { ", ..." } else { "" };
        return Err(Error::usage(format!(
            "--valid-if-reached: no counted function is named, or matches, `{wanted}`; there are {}{more}",
            listed.join(", ")
        )));
    }
    counts.require(&edges.into_iter().collect::<Vec<_>>());
    Ok(())
}
