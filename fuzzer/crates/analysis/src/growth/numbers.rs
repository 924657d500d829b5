//! Numbers in an input that its cost depends on: dimensions, lengths, counts of repetitions. An input whose cost is in one
//! of them need not have anything that repeats.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
    time::{Duration, Instant},
};

use super::{
    GrowthOptions,
    kept::{Chosen, Hot},
};
use crate::{
    interruption,
    runner::{Detail, Run, Runner},
};
use quagmire_base::error::Result;
use quagmire_choices::template::{Digits, Field, Part, Template};

/// Smallest number that is tried: smaller ones have too few sizes below them.
const LEAST: u64 = 16;
/// Bytes from the start of an input in which numbers are looked for.
const LOOKED_AT: usize = 1 << 16;
/// Longest decimal number.
const LONGEST: usize = 9;
/// Fields that are tried.
const MOST: usize = 1_000;
/// Fields that hold which are enough. Bytes of a field and of its neighbour may hold as well: the one that holds best is kept.
const ENOUGH: usize = 8;
/// Share of the hot cost that is left at half of the number: less is an input that has become another one, more does not
/// depend on the number.
const AT_HALF: Range<f64> = 0.1..0.8;
/// Highest order of growth in a number: higher ones are inputs that have become others.
pub(super) const HIGHEST: f64 = 4.0;
/// Longest run with another number: as many times that of the input, and this.
const MOST_TIMES: u32 = 10;
const SLACK: Duration = Duration::from_millis(50);
/// Part of the time until which fields are tried.
const BUDGET_SHARE: f64 = 0.5;
/// Shares of the number at which the cost is predicted from that at the whole, a half and a quarter.
const PREDICTED_AT: [f64; 4] = [0.9, 0.75, 0.6, 0.35];
/// Largest error of a prediction as a share of the whole cost: pictures are handled in blocks of 8 or 16 columns.
const LARGEST_ERROR: f64 = 0.05;
/// Errors that are closer are equal.
const SAME_ERROR: f64 = 0.005;

/// A number in an input.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    range: Range<usize>,
    field: Field,
    value: u64,
}

/// Template of an input in which one number is `N`, such that its cost follows that number best. `seed` is what the input comes
/// from: numbers that differ from it come first.
pub(super) fn choose(
    runner: &mut Runner,
    options: &GrowthOptions,
    hot: &Hot,
    (finding, run): (&[u8], &Run),
    seed: Option<&[u8]>,
    started: Instant,
) -> Result<Option<Chosen>> {
    // the bytes of two numbers that lie beside each other may be one large number
    let usual = runner.hang_timeout();
    runner.set_hang_timeout(usual.min(SLACK + Duration::from_secs_f64(run.seconds) * MOST_TIMES))?;
    let mut found: Vec<(Chosen, f64)> = Vec::new();
    for place in places(finding, seed) {
        let is_over = interruption::has_come() || started.elapsed() > options.budget.mul_f64(BUDGET_SHARE);
        if is_over || found.len() >= ENOUGH {
            break;
        }
        found.extend(evaluate(runner, options, hot, (finding, run), &place)?);
    }
    runner.set_hang_timeout(usual)?;
    let best = found.into_iter().reduce(|best, one| if one.1 < best.1 - SAME_ERROR { one } else { best });
    Ok(best.map(|(chosen, _)| chosen))
}

/// Numbers in an input, the likely ones first.
fn places(input: &[u8], seed: Option<&[u8]>) -> Vec<Place> {
    let looked_at = &input[..input.len().min(LOOKED_AT)];
    let mut all = decimals(looked_at);
    if !is_text(looked_at) {
        all.extend(bytes(looked_at));
    }
    // with a byte on each side, somewhere in the seed: what was inserted before it has moved it
    let seed = seed.map(|seed| &seed[..seed.len().min(LOOKED_AT)]);
    let mut of_length: HashMap<usize, HashSet<&[u8]>> = HashMap::new();
    let mut differs = |place: &Place| {
        let around = &input[place.range.start.saturating_sub(1)..(place.range.end + 1).min(input.len())];
        let length = around.len();
        seed.is_some_and(|seed| {
            !of_length.entry(length).or_insert_with(|| seed.windows(length).collect()).contains(around)
        })
    };
    all.sort_by_cached_key(|place| (!differs(place), place.value < 256, place.range.start));
    all.truncate(MOST);
    all
}

/// Whether there are no other control characters than blanks.
fn is_text(input: &[u8]) -> bool {
    std::str::from_utf8(input).is_ok_and(|text| text.chars().all(|one| !one.is_control() || one.is_whitespace()))
}

/// Decimal numbers, with as many digits as they need, or as many as they have if they begin with a zero.
fn decimals(input: &[u8]) -> Vec<Place> {
    let mut all = Vec::new();
    let mut at = 0;
    while at < input.len() {
        let length = input[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let digits = &input[at..at + length];
        if (1..=LONGEST).contains(&length) {
            let value = digits.iter().fold(0, |value, digit| value * 10 + u64::from(digit - b'0'));
            let width = if digits[0] == b'0' { length as u8 } else { 0 };
            let field = Field { width, digits: Digits::Decimal };
            all.push(Place { range: at..at + length, field, value });
        }
        at += length.max(1);
    }
    all.retain(|place| place.value >= LEAST);
    all
}

/// Numbers of two bytes, or of four if the two high ones are zero, in both byte orders.
fn bytes(input: &[u8]) -> Vec<Place> {
    let mut all = Vec::new();
    for at in 0..input.len().saturating_sub(1) {
        let pair = [input[at], input[at + 1]];
        let is_zero = |range: Range<usize>| input.get(range) == Some(&[0, 0]);
        let wide = at.checked_sub(2).filter(|&before| is_zero(before..at));
        let start = wide.unwrap_or(at);
        let field = |range: &Range<usize>, digits| Field { width: range.len() as u8, digits };
        let range = start..at + 2;
        all.push(Place { field: field(&range, Digits::BigEndian), range, value: u16::from_be_bytes(pair).into() });
        let range = at..if is_zero(at + 2..at + 4) { at + 4 } else { at + 2 };
        all.push(Place { field: field(&range, Digits::LittleEndian), range, value: u16::from_le_bytes(pair).into() });
    }
    all.retain(|place| place.value >= LEAST);
    all
}

/// Runs an input with smaller numbers. Returns the largest error of a prediction with it; `None` if its hot cost does not follow
/// the number.
fn evaluate(
    runner: &mut Runner,
    options: &GrowthOptions,
    hot: &Hot,
    (finding, run): (&[u8], &Run),
    Place { range, field, value }: &Place,
) -> Result<Option<(Chosen, f64)>> {
    let rest = |range: Range<usize>| Part::Literal(finding[range].to_vec());
    let parts = vec![rest(0..range.start), Part::Number(*field), rest(range.end..finding.len())];
    let Ok(template) = Template::new(parts) else { return Ok(None) };
    let mut amount = |n: u64| -> Result<Option<f64>> {
        let Ok(input) = template.render(n, options.max_bytes) else { return Ok(None) };
        let made = runner.run(&input, Detail::Edges)?;
        Ok((made.came_back() && made.status == run.status).then(|| hot.amount(&made) as f64))
    };
    let n = *value;
    let whole = hot.amount(run) as f64;
    let Some(half) = amount(n / 2)?.filter(|half| AT_HALF.contains(&(half / whole.max(1.0)))) else { return Ok(None) };
    let Some(quarter) = amount(n / 4)?.filter(|quarter| *quarter < half) else { return Ok(None) };
    let order = ((whole - half) / (half - quarter)).log2().max(0.0);
    if order > HIGHEST {
        return Ok(None);
    }
    // the power law through the three: whole - factor * (1 - share^order)
    let factor = (whole - half) / (1.0 - 0.5_f64.powf(order.max(0.01)));
    let mut error = 0.0_f64;
    for share in PREDICTED_AT {
        let at = (n as f64 * share) as u64;
        let Some(amount) = amount(at)? else { return Ok(None) };
        let predicted = whole - factor * (1.0 - (at as f64 / n as f64).powf(order.max(0.01)));
        error = error.max((amount - predicted).abs() / whole);
    }
    if error > LARGEST_ERROR {
        return Ok(None);
    }
    let per_byte = whole / finding.len().max(1) as f64;
    let growth = whole / quarter.max(1.0);
    Ok(Some((Chosen { template, n, kept: 1.0, order, growth, per_byte }, error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(input: &[u8], seed: Option<&[u8]>) -> Vec<(Range<usize>, u8, u64)> {
        places(input, seed).into_iter().map(|place| (place.range, place.field.width, place.value)).collect()
    }

    #[test]
    fn numbers_of_a_text_are_its_decimals() {
        let input = b"a{1000} 007 0020 5 1234567890";
        assert_eq!(found(input, None), [(2..6, 0, 1000), (12..16, 4, 20)]);
    }

    #[test]
    fn numbers_that_differ_from_the_seed_come_first() {
        assert_eq!(found(b"300 400 500", Some(b"300 100 500"))[0], (4..7, 0, 400));
    }

    #[test]
    fn what_was_moved_does_not_differ() {
        assert_eq!(found(b"x 300 400 500", Some(b" 300 100 500"))[0], (6..9, 0, 400));
    }

    #[test]
    fn numbers_of_bytes_have_both_orders_and_zeros_make_them_wider() {
        let all = found(b"\xff\x00\x00\x01\x10\xff", None);
        // 0x0110 behind two zeros, highest byte first
        assert!(all.contains(&(1..5, 4, 0x0110)), "{all:?}");
        // 0x00ff before two zeros would begin outside: two bytes
        assert!(all.contains(&(0..2, 2, 0x00ff)), "{all:?}");
        assert!(all.contains(&(4..6, 2, 0x10ff)) && all.contains(&(4..6, 2, 0xff10)), "{all:?}");
    }
}
