//! The part of an input that does not repeat: it may be a factor that a law in the number of repetitions hides.

use super::alike::Finding;
use crate::runner::{Detail, Runner};
use quagmire_base::error::Result;
use quagmire_choices::template::{Part, Template};

/// Shortest text that is halved.
const LEAST_TEXT: usize = 32;
/// Largest part of the input that is left out, as a divisor: what is a large part of it makes it cheaper by its size.
const LARGEST_PART: usize = 8;
/// Share of the cost below which an input is clearly cheaper.
const CHEAPER: f64 = 0.75;

/// Share of its cost that a finding has, as an instance of a template, when half of a text is left out that does not repeat; if
/// that makes it clearly cheaper, and for no other reason.
pub(super) fn without_half(
    runner: &mut Runner,
    finding: &Finding<'_>,
    template: &Template,
    n: u64,
) -> Result<Option<f64>> {
    let most = finding.bytes.len() / LARGEST_PART;
    for (place, part) in template.parts.iter().enumerate() {
        let Part::Literal(text) = part else { continue };
        let (front, back) = text.split_at(text.len() / 2);
        if text.len() < LEAST_TEXT || back.len() > most {
            continue;
        }
        for half in [front, back] {
            let mut parts = template.parts.clone();
            parts[place] = Part::Literal(half.to_vec());
            let halved = Template::new(parts).ok().and_then(|one| one.render(n, runner.capacity() as u64).ok());
            let Some(bytes) = halved else { continue };
            let run = runner.run(&bytes, Detail::Edges)?;
            let share = run.amount(finding.resource) as f64 / finding.amount().max(1) as f64;
            if finding.is_like(&run) && share < CHEAPER {
                return Ok(Some(share));
            }
        }
    }
    Ok(None)
}
