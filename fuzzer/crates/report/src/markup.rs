//! Shared parts of the pages: frame, links, tables and displayed bytes. maud escapes all inserted text.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{graph, rules::Step, words};
use quagmire_base::format::{counted, grouped, ratio, short};
use quagmire_base::visible::{Piece, shown};
use quagmire_results::summary::Finding;

/// Style sheet of all pages.
pub(crate) const STYLE: &str = include_str!("style.css");

/// Script that makes tables sortable. Pages are complete without it.
const SCRIPT: &str = include_str!("sort.js");

/// SHA-256 of [`SCRIPT`] in Base64: browsers run no other script on these pages.
const SCRIPT_HASH: &str = "kD+0P6ucOn/2Rtm7E3S9Z1pQtSsu62QZCOyatluMIFc=";

/// Maximum number of steps of a history that are shown: the last ones, which say most about the input.
const STEPS: usize = 20;

/// Renders a complete, self-contained page.
pub(crate) fn page(title: &str, with_script: bool, content: &Markup) -> String {
    let script = if with_script { format!("script-src 'sha256-{SCRIPT_HASH}'; ") } else { String::new() };
    let policy = format!("default-src 'none'; {script}style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'");
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (shown(title)) }
                style { (PreEscaped(STYLE)) (PreEscaped(graph::STYLE)) }
            }
            body {
                (content)
                @if with_script {
                    script { (PreEscaped(SCRIPT)) }
                }
            }
        }
    };
    page.into_string() + "\n"
}

/// Relative address of a file in the output folder. Everything but letters, digits and `._-/` is percent-encoded, so
/// that no name can act as a scheme, a query or an absolute path.
pub(crate) fn address(up: &str, relative: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte);
    let encoded = relative.bytes().fold(String::new(), |address, byte| {
        if plain(byte) {
            address + char::from(byte).encode_utf8(&mut [0; 4])
        } else {
            address + &format!("%{byte:02X}")
        }
    });
    format!("{up}./{encoded}")
}

/// Link that downloads an input instead of opening it: inputs may be pages with scripts.
pub(crate) fn input_link(up: &str, relative: &str) -> Markup {
    html! { a class="code" href=(address(up, relative)) download { (shown(relative)) } }
}

/// A name in code, shortened; the full name is its tooltip.
pub(crate) fn name(full: &str) -> Markup {
    let full = shown(full);
    let shortened = short(&full);
    html! {
        @if shortened == full { span class="code" { (full) } }
        @else { span class="code" title=(full) { (shortened) } }
    }
}

/// A function's name without its arguments; the full name is its tooltip.
pub(crate) fn brief(full: &str) -> Markup {
    let full = shown(full);
    let brief = short(&words::brief(&full));
    html! {
        span class="code" title=(full) {
            @for (at, part) in brief.split("::").enumerate() { @if at > 0 { "::" wbr; } (part) }
        }
    }
}

/// A source location as `file.cc:508`; the full path is its tooltip.
pub(crate) fn location(full: &str) -> Markup {
    let full = shown(full);
    let file = full.rsplit('/').next().unwrap_or(&full);
    html! { span class="code" title=(full) { (file) } }
}

/// A command to copy; one click selects it.
pub(crate) fn command(command: &str) -> Markup {
    html! { pre class="command" { (shown(command)) } }
}

/// Table cell of a ratio, with its sort key.
pub(crate) fn ratio_cell(value: Option<f64>, interval: Option<(f64, f64)>) -> Markup {
    let sorted_by = value.filter(|value| value.is_finite()).unwrap_or(-1.0);
    html! {
        td class="number" data-v=(sorted_by) {
            @match value {
                Some(value) => (ratio(value)),
                None => span class="dim" { "-" },
            }
            @if let Some((low, high)) = interval { " " span class="interval" { (ratio(low)) " to " (ratio(high)) } }
        }
    }
}

/// Table of a finding's costs, next to those of the seed and of an ordinary input of its size.
pub(crate) fn costs(finding: &Finding) -> Markup {
    let has_sizes = finding.costs.iter().any(|cost| cost.ordinary.is_some());
    html! {
        @if finding.costs.is_empty() {
            p class="dim" { "What it costs was not recorded for each resource." }
        } @else {
            div class="scroll" {
                table {
                    thead { tr { th { "resource" } th class="number" { "this input" } th class="number" { "median seed" } th class="number" { "ratio" }
                        @if has_sizes { th class="number" { "ordinary for its size" } th class="number" { "ratio" } }
                    } }
                    tbody {
                        @for cost in &finding.costs {
                            tr {
                                td { (cost.resource.describe().title) }
                                td class="number" { (words::amount(cost.amount, cost.resource.unit().name())) }
                                td class="number" { (words::amount(cost.baseline, cost.resource.unit().name())) }
                                (ratio_cell(Some(cost.ratio), None))
                                @if has_sizes {
                                    td class="number" { (cost.ordinary.map_or("-".into(), |amount| words::amount(amount, cost.resource.unit().name()))) }
                                    (ratio_cell(cost.ratio_by_size, None))
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// List of the steps from the seed to an input.
pub(crate) fn history(steps: &[Step]) -> Markup {
    html! {
        @if steps.is_empty() {
            p class="dim" { "No rule: it is a seed, or where it came from was not recorded." }
        } @else {
            @if steps.len() > STEPS { p class="dim" { (steps.len() - STEPS) " steps before" } }
            ol class="history" start=(steps.len().saturating_sub(STEPS) + 1) {
                @for step in &steps[steps.len().saturating_sub(STEPS)..] {
                    li {
                        span class="code" { (shown(&step.label)) }
                        @if step.name != step.label { " " (shown(&step.name)) }
                        @if step.times > 1 { " × " (step.times) }
                        @if let Some(aim) = &step.aim { span class="dim" { ": " (shown(aim)) } }
                    }
                }
            }
        }
    }
}

/// Renders displayed bytes.
pub(crate) fn pieces(pieces: &[Piece]) -> Markup {
    html! {
        @for piece in pieces {
            @match piece {
                Piece::Text(text) => (text),
                Piece::Symbol(symbols) => i { (symbols) },
                Piece::Escape(escapes) => b { (escapes) },
                Piece::Break => br;,
                Piece::Repeated { unit, times } => span class="fold" { (self::pieces(unit)) u { " × " (grouped(*times as u64)) } },
                Piece::Gap { bytes, .. } => span class="gap" { "… " (counted(*bytes as u64, "byte")) " …" },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use quagmire_base::visible::folded;
    use sha2::{Digest, Sha256};

    fn base64(bytes: &[u8]) -> String {
        const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let digit = |number: u32, at: u32| char::from(DIGITS[(number >> (18 - 6 * at)) as usize & 63]);
        let group = |group: &[u8]| {
            let number =
                [16, 8, 0].iter().zip(group).fold(0, |number, (shift, byte)| number | u32::from(*byte) << shift);
            (0..4).map(|at| if at as usize <= group.len() { digit(number, at) } else { '=' }).collect::<String>()
        };
        bytes.chunks(3).map(group).collect()
    }

    #[test]
    fn the_policy_allows_the_script_and_no_other() {
        assert_eq!(base64(b"any carnal pleas"), "YW55IGNhcm5hbCBwbGVhcw==");
        assert_eq!(SCRIPT_HASH, base64(&Sha256::digest(SCRIPT)));
        assert!(!SCRIPT.contains("</") && !STYLE.contains("</") && !STYLE.contains("url("));
    }

    #[test]
    fn addresses_stay_in_the_folder() {
        assert_eq!(address("", "queue/id_000001,src_000000"), "./queue/id_000001%2Csrc_000000");
        assert_eq!(address("../", "javascript:alert(1)"), ".././javascript%3Aalert%281%29");
        assert_eq!(address("", "//evil.example/?x#y"), ".///evil.example/%3Fx%23y");
        assert_eq!(address("", "é\n\"'"), "./%C3%A9%0A%22%27");
    }

    #[test]
    fn shown_bytes_are_elements_without_attributes_of_theirs() {
        let html = pieces(&folded(b"<script>alert('x')</script>\0  \n", 100)).into_string();
        insta::assert_snapshot!(html);
    }

    proptest! {
        #[test]
        fn no_input_writes_markup(bytes: Vec<u8>, markup in "[<>&\"'/a-z=-]{0,40}") {
            let all = [bytes, markup.into_bytes()].concat();
            let html = pieces(&folded(&all, 10_000)).into_string();
            let mut rest = html.clone();
            for own in ["<i>", "</i>", "<b>", "</b>", "<br>", "<u>", "</u>", "<span class=\"fold\">", "</span>", "<span class=\"gap\">"] {
                rest = rest.replace(own, "");
            }
            prop_assert!(!rest.contains('<') && !rest.contains('>'), "{html}");
        }
    }
}
