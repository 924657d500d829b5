//! Smaller inputs by a template: the smallest size is looked for, literals are shortened at it and at twice of it, then
//! the smallest size is looked for again.

use super::{delta, search::Search};
use crate::runner::Run;
use quagmire_base::error::Result;
use quagmire_choices::template::{Candidate, Evidence, Template, Times, candidates};

/// Part of the hot cost that is kept at the fixed sizes.
const LEAST_HOT: f64 = 0.5;

/// Orders of growth that are closer are equal.
const SAME_ORDER: f64 = 0.25;

/// Templates that are tried for early ends.
const MOST: usize = 12;

/// Largest input that a template makes, as a multiple of the one that it stands for.
const ROOM: u64 = 8;

/// `N` below which a template has too few sizes between 1 and `N`.
const FEW: u64 = 8;

/// How often the largest `N` is doubled if it does not keep the goal: with half of the hot cost, twice the size does.
const DOUBLED: u32 = 2;

/// A template, and what was learned of it.
#[derive(Clone, Debug)]
pub(super) struct Pumped {
    /// The template with short literals.
    pub template: Template,
    /// The smallest `N` that keeps the goal.
    pub n: u64,
    /// Local exponent of the hot cost; `None` for early ends.
    pub order: Option<f64>,
}

/// A template at its two fixed sizes.
#[derive(Clone, Copy, Debug)]
struct Growth {
    /// Hot cost at the larger size.
    hot: f64,
    /// Local exponent between both.
    order: f64,
}

/// Reference of templates with shorter literals.
struct Fixed {
    sizes: [u64; 2],
    /// Largest input in bytes.
    most: u64,
    base: Growth,
}

impl Fixed {
    /// Whether a template grows as the first one does, and keeps half of its hot cost.
    fn is_kept_by(&self, search: &mut Search<'_>, template: &Template) -> Result<bool> {
        if !template.scales() {
            return Ok(false);
        }
        let Some(growth) = growth(search, template, self.sizes, self.most)? else { return Ok(false) };
        let is_as_hot = growth.hot >= LEAST_HOT * self.base.hot;
        let is_end = search.goal.wanted_ratio().is_none();
        Ok(is_end || is_as_hot && growth.order >= self.base.order - SAME_ORDER)
    }
}

/// The first template that keeps the early end of an input, and the `N` of the input.
pub(super) fn choose_for_end(search: &mut Search<'_>, input: &[u8]) -> Result<Option<(Template, u64)>> {
    for Candidate { template, n, is_exact, .. } in candidates(&Evidence { input, ..Evidence::default() }, MOST) {
        let Ok(bytes) = template.render(n, input.len() as u64 * ROOM) else { continue };
        if is_exact || search.holds(&bytes)? == Some(true) {
            return Ok(Some((template, n)));
        }
    }
    Ok(None)
}

/// Shortens the literals of a template at fixed sizes, and looks for the smallest `N` that keeps the goal. `None` if
/// the template does not keep it.
pub(super) fn shrink(search: &mut Search<'_>, template: Template, n: u64) -> Result<Option<Pumped>> {
    let is_end = search.goal.wanted_ratio().is_none();
    let (template, n) = finer(&template, n).unwrap_or((template, n));
    let most = template.size(n).saturating_mul(ROOM);
    // where the goal is just kept, runs take the least time
    let Some(n) = smallest(search, &template, n, most)? else { return Ok(None) };
    let sizes = if is_end { [n, n] } else { [n, 2 * n] };
    let Some(base) = growth(search, &template, sizes, most)? else { return Ok(None) };
    let fixed = Fixed { sizes, most, base };
    let short = shorten_literals(search, template.clone(), &fixed)?;
    let order = (!is_end).then_some(base.order);
    for template in [short, template] {
        if let Some(n) = smallest(search, &template, n, most)? {
            return Ok(Some(Pumped { template, n, order }));
        }
    }
    Ok(None)
}

/// A template of which only the fastest loop grows, and the `N` at which its bytes are those of the other one at a small
/// `n`: it has more sizes below them. `None` if `n` is not small, or there is no such template.
fn finer(template: &Template, n: u64) -> Option<(Template, u64)> {
    let all = template.times();
    let factor = all.iter().map(|times| times.factor).max()?;
    if n >= FEW || factor < 2 {
        return None;
    }
    let first = all.iter().position(|times| times.factor == factor)?;
    let scaled = |(at, times): (usize, &Times)| match at == first {
        true => Times { factor: 1, ..*times },
        false => Times { factor: 0, plus: times.at(n) },
    };
    let scaled: Vec<Times> = all.iter().enumerate().map(scaled).collect();
    let (finer, larger) = (template.with_times(&scaled), n.checked_mul(factor)?);
    (finer.size(larger) == template.size(n)).then_some((finer, larger))
}

/// Runs a template at two sizes; `None` if it does not end in the same way for the same reason at the larger one.
fn growth(search: &mut Search<'_>, template: &Template, [low, high]: [u64; 2], most: u64) -> Result<Option<Growth>> {
    let Some(large) = at(search, template, high, most)?.filter(|run| search.goal.keeps_way(run)) else {
        return Ok(None);
    };
    let hot = search.goal.hot_amount(&large);
    if search.goal.wanted_ratio().is_none() {
        return Ok(Some(Growth { hot, order: 0.0 }));
    }
    let Some(small) = at(search, template, low, most)? else { return Ok(None) };
    let order = (hot.max(1.0) / search.goal.hot_amount(&small).max(1.0)).log2();
    Ok(Some(Growth { hot, order }))
}

fn at(search: &mut Search<'_>, template: &Template, n: u64, most: u64) -> Result<Option<Run>> {
    match template.render(n, most) {
        Ok(input) => search.run(&input),
        Err(_) => Ok(None),
    }
}

/// Removes from literals what is not needed, the whole of them first, the longest one first.
fn shorten_literals(search: &mut Search<'_>, mut template: Template, fixed: &Fixed) -> Result<Template> {
    let mut number = 0;
    while number < template.literals().len() {
        let without = template.with_literal(number, b"");
        if fixed.is_kept_by(search, &without)? {
            template = without;
            // literals beside it may have been joined
            number = 0;
        } else {
            number += 1;
        }
    }
    let mut longest: Vec<usize> = (0..template.literals().len()).collect();
    longest.sort_by_key(|&number| std::cmp::Reverse(template.literals()[number].len()));
    for number in longest {
        let literal = template.literals()[number].to_vec();
        let short = delta::shorten(&literal, &mut |bytes| {
            if search.is_over() {
                return Ok(None);
            }
            // an empty one was tried
            let is_kept = !bytes.is_empty() && fixed.is_kept_by(search, &template.with_literal(number, bytes))?;
            Ok(Some(is_kept))
        })?;
        template = template.with_literal(number, &short);
    }
    Ok(template)
}

/// The smallest `N` that keeps the goal: doubled from 1, then by bisection, since costs grow with `N`. `None` if none up
/// to a few times `n` keeps it.
fn smallest(search: &mut Search<'_>, template: &Template, n: u64, most: u64) -> Result<Option<u64>> {
    let mut holds = |n: u64| match template.render(n, most) {
        Ok(input) => Ok(search.holds(&input)? == Some(true)),
        Err(_) => Ok(false),
    };
    let last = n.saturating_mul(1 << DOUBLED);
    let (mut low, mut high) = (0, 1);
    while !holds(high)? {
        if high >= last {
            return Ok(None);
        }
        low = high;
        // the input's own size is one of those that are tried
        high = if low < n { (2 * low).min(n) } else { 2 * low };
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle)? { high = middle } else { low = middle }
    }
    Ok(Some(high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_loop_grows_where_several_would_make_large_steps() {
        let template = Template::parse(r#""a" rep(N){"b"} rep(500*N+3){"c"}"#).expect("a template");
        let (finer, n) = finer(&template, 1).expect("a finer one");
        assert_eq!(finer.to_string(), r#""a" rep(1){"b"} rep(N+3){"c"}"#);
        assert_eq!((n, finer.render(n, 1_000)), (500, template.render(1, 1_000)));
        assert!(super::finer(&template, 100).is_none());
    }
}
