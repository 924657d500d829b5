//! Fingerprints of outcomes, by which a service recognises an alert in the next job. They hold no figure and no line
//! number: an alert stays the same while code above it moves, and while ratios vary from search to search.

use sha1::{Digest as _, Sha1};

use super::Outcome;

/// Marks of copies that compilers make of functions, each with a number behind it or nothing.
const COPIES: [&str; 6] = [".part", ".cold", ".constprop", ".isra", ".llvm", ".clone"];

/// Fingerprint from kind, cause and class of the law.
pub(super) fn fingerprint(outcome: &Outcome) -> String {
    let law = outcome.law_class.as_deref().map(steady).unwrap_or_default();
    let text = [outcome.kind.name(), &original(outcome.cause()), &law].join("\n");
    Sha1::digest(text).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Name of a function without the marks of copies: `parse.part.0` is `parse`.
fn original(function: &str) -> String {
    let mut name = function;
    loop {
        let digits = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let base = digits.strip_suffix('.').filter(|_| digits.len() < name.len()).unwrap_or(name);
        match COPIES.iter().find_map(|mark| base.strip_suffix(mark)).filter(|rest| !rest.is_empty()) {
            Some(rest) => name = rest,
            None => return name.to_owned(),
        }
    }
}

/// Class of a law without what varies from measurement to measurement: exponents to the next half, no bases.
fn steady(class: &str) -> String {
    match class.strip_prefix("n^").and_then(|exponent| exponent.parse::<f64>().ok()) {
        Some(exponent) => format!("n^{:.1}", (exponent * 2.0).round() / 2.0),
        None => class.split(" (").next().unwrap_or(class).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcomes::{Kind, Place};

    fn outcome(function: &str, law: &str) -> Outcome {
        let place = Place { file: "a.c".into(), line: Some(7), function: Some(function.into()), ..Place::default() };
        Outcome { place: Some(place), law_class: Some(law.into()), input: "in".into(), ..Outcome::default() }
    }

    #[test]
    fn fingerprints_differ_by_kind_function_and_law_only() {
        let one = outcome("trim", "quadratic");
        let mut other = outcome("trim.part.0", "quadratic");
        other.input = "elsewhere".into();
        other.message = "7x".into();
        other.law = Some("quadratic, from 40 on".into());
        other.figures = vec![("ratio".into(), 7.0)];
        other.place.as_mut().unwrap().line = Some(900);
        assert_eq!(one.fingerprint(), other.fingerprint());
        assert_eq!(one.fingerprint().len(), 16);
        let hang = Outcome { kind: Kind::Hang, ..one.clone() };
        for different in [outcome("trim2", "quadratic"), outcome("trim", "cubic"), hang] {
            assert_ne!(one.fingerprint(), different.fingerprint());
        }
    }

    #[test]
    fn copies_of_a_function_are_the_function() {
        for (copy, function) in [
            ("f.part.0", "f"),
            ("f.isra.0.cold", "f"),
            ("f.constprop.1.part.12", "f"),
            ("f.llvm.1234567", "f"),
            ("v.2", "v.2"),
            (".cold", ".cold"),
            ("operator.", "operator."),
            ("f2", "f2"),
        ] {
            assert_eq!(original(copy), function);
        }
    }

    #[test]
    fn measured_exponents_and_bases_do_not_change_a_class() {
        let classes = ["n^1.46", "n^1.53", "exponential (1.4^n)", "n log n"].map(steady);
        assert_eq!(classes, ["n^1.5", "n^1.5", "exponential", "n log n"]);
    }
}
