//! Formatting of amounts, verdicts and names for people.

use std::time::Duration;

use quagmire_base::{
    format::{clock, grouped},
    visible::shown,
};
use quagmire_cost::judgement::{Severity, Verdict};
use quagmire_results::summary::{Finding, FindingKind, StoppedBy, Summary};

/// Decimal units of sizes, each 1000 times the one before.
const BYTES: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];

/// Formats an amount in its unit (`ns`, `bytes`, or none): `1.09 s`, `12.4 MB`, `5,992,144,854`.
pub(crate) fn amount(amount: u64, unit: &str) -> String {
    match unit {
        "ns" => duration(amount as f64 / 1e9),
        "bytes" => bytes(amount),
        _ => grouped(amount),
    }
}

/// Formats a duration in a suitable unit: `30.6 us`, `1.09 s`, `00:02:05`.
pub(crate) fn duration(seconds: f64) -> String {
    match seconds {
        s if !s.is_finite() => "-".into(),
        s if s <= 0.0 => "0 ns".into(),
        s if s < 0.999_5e-6 => format!("{} ns", digits(s * 1e9)),
        s if s < 0.999_5e-3 => format!("{} us", digits(s * 1e6)),
        s if s < 0.999_5 => format!("{} ms", digits(s * 1e3)),
        s if s < 99.95 => format!("{} s", digits(s)),
        s => clock(Duration::try_from_secs_f64(s).unwrap_or(Duration::MAX)),
    }
}

/// Formats a size: up to `9,999 B`, then as `12.4 MB`.
pub(crate) fn bytes(amount: u64) -> String {
    if amount < 10_000 {
        return format!("{} B", grouped(amount));
    }
    let mut value = amount as f64;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < BYTES.len() {
        value /= 1e3;
        unit += 1;
    }
    format!("{} {}", digits(value), BYTES[unit])
}

/// Formats a number with three significant digits, or whole if larger.
fn digits(value: f64) -> String {
    match value {
        v if v < 9.995 => format!("{v:.2}"),
        v if v < 99.95 => format!("{v:.1}"),
        v => grouped(v.round().max(0.0) as u64),
    }
}

/// Formats a share as a percentage: `3.2 %`.
pub(crate) fn percent(share: f64) -> String {
    let percent = if share.is_finite() { share * 100.0 } else { 0.0 };
    if percent >= 9.95 { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
}

/// Formats a ratio for sentences: `19,276`, `4.2`; `None` if it is not finite.
pub(crate) fn times(ratio: f64) -> Option<String> {
    ratio.is_finite().then(|| digits(ratio))
}

/// A class of laws, briefly: `n²`.
pub(crate) fn law(class: &str) -> &str {
    match class {
        "constant" => "1",
        "logarithmic" => "log n",
        "linear" => "n",
        "quadratic" => "n²",
        "cubic" => "n³",
        other => other,
    }
}

/// Severity of a finding: as judged, or else by its largest ratio; `None` for faults and hangs.
pub(crate) fn severity_of(finding: &Finding) -> Option<Severity> {
    let by_ratio = || finding.badness().map(Severity::of);
    finding.severity.or_else(|| (finding.kind == FindingKind::Degradation).then(by_ratio).flatten())
}

/// Formats the verdict of a finding's measurements.
pub(crate) fn verdict(finding: &Finding) -> String {
    let said = match (finding.kind, finding.verdict) {
        (FindingKind::Fault, _) => {
            let how = finding.detail.as_ref().map(|detail| format!(": {}", shown(detail)));
            return format!("ends the program early{}", how.unwrap_or_default());
        }
        (FindingKind::Hang, _) => return "does not end within the hang timeout".into(),
        (_, None) => return "confirmed by repeated runs; the times were not judged further".into(),
        (_, Some(Verdict::Degradation)) => "degradation: slower beyond the noise",
        (_, Some(Verdict::Maybe)) => "maybe: the times do not settle it",
        (_, Some(Verdict::NoChange)) => "no change in time beyond the noise",
        (_, Some(Verdict::Optimisation)) => "faster in time",
    };
    match finding.p_value.filter(|p| p.is_finite()) {
        Some(p) if p < 0.000_1 => format!("{said} (p < 0.0001)"),
        Some(p) => format!("{said} (p = {p:.4})"),
        None => said.into(),
    }
}

/// Formats the reason why a campaign stopped.
pub(crate) fn stopped_by(summary: &Summary) -> &'static str {
    match summary.stopped_by {
        Some(StoppedBy::Time) => "time was up",
        Some(StoppedBy::Execs) => "all executions were done",
        Some(StoppedBy::Signal) => "stopped on request",
        Some(StoppedBy::Error) => "stopped by an error",
        Some(StoppedBy::Finding) => "stopped by a finding",
        None => "not over when this was written: still running, or killed",
    }
}

/// Drops the arguments of a C++ name: `std::vector<...>::at(...)`.
pub(crate) fn brief(name: &str) -> String {
    let mut brief = String::new();
    let mut closing = Vec::new();
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        // brackets that are part of a name
        let whole = [
            "(anonymous namespace)",
            "operator()",
            "operator<=>",
            "operator<<",
            "operator<",
            "operator->",
            "operator>>",
            "operator>",
        ]
        .into_iter()
        .find(|whole| rest.starts_with(whole));
        if let Some(whole) = whole {
            rest = &rest[whole.len()..];
            if closing.is_empty() {
                brief += whole;
            }
            continue;
        }
        rest = &rest[c.len_utf8()..];
        let opens = match c {
            '<' => Some('>'),
            '(' => Some(')'),
            _ => None,
        };
        match opens {
            Some(close) => {
                if closing.is_empty() && !rest.starts_with(close) {
                    brief.push(c);
                    brief += "...";
                } else if closing.is_empty() {
                    brief.push(c);
                }
                closing.push(close);
            }
            None if closing.last() == Some(&c) => {
                closing.pop();
                if closing.is_empty() {
                    brief.push(c);
                }
            }
            None if closing.is_empty() => brief.push(c),
            None => {}
        }
    }
    // unbalanced brackets: not a C++ name
    if closing.is_empty() { brief } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_three_digits_and_a_unit() {
        let times = [0, 999, 30_560, 1_090_000_000, 99_960_000_000, 7_325_000_000_000];
        assert_eq!(
            times.map(|time| amount(time, "ns")),
            ["0 ns", "999 ns", "30.6 us", "1.09 s", "00:01:39", "02:02:05"]
        );
        let sizes = [0, 3_604, 9_999, 10_000, 999_600, 12_400_000, u64::MAX];
        assert_eq!(
            sizes.map(|size| amount(size, "bytes")),
            ["0 B", "3,604 B", "9,999 B", "10.0 kB", "1.00 MB", "12.4 MB", "18,446,744 TB"]
        );
        assert_eq!(amount(5_992_144_854, ""), "5,992,144,854");
        assert_eq!(duration(f64::NAN), "-");
    }

    #[test]
    fn shares_and_ratios_are_never_not_a_number() {
        assert_eq!([0.0, 0.021, 0.968, f64::NAN].map(percent), ["0.0 %", "2.1 %", "97 %", "0.0 %"]);
        assert_eq!(times(f64::INFINITY), None);
        assert_eq!(times(19_276.4).as_deref(), Some("19,276"));
    }

    #[test]
    fn brief_names_have_no_arguments() {
        let names = [
            ("main", "main"),
            ("f()", "f()"),
            (
                "std::__detail::_Executor<char const*, std::allocator<int> >::_M_dfs(long)",
                "std::__detail::_Executor<...>::_M_dfs(...)",
            ),
            (
                "bool ns::(anonymous namespace)::operator< <int>(A const&, B<C>)",
                "bool ns::(anonymous namespace)::operator< <...>(...)",
            ),
            ("std::function<bool (char)>::operator()(char) const", "std::function<...>::operator()(...) const"),
            ("a < b", "a < b"),
            ("S::operator->() const", "S::operator->() const"),
        ];
        for (name, expected) in names {
            assert_eq!(brief(name), expected);
        }
    }
}
