//! Templates of an input whose growth is compared: what repeats, nests or counts up in it, and parts of it that are repeated
//! although they repeat nothing.

use super::side::Side;
use crate::runner::Detail;
use quagmire_base::error::Result;
use quagmire_choices::template::{Evidence, Part, Template, Times, candidates};
use quagmire_cost::resource::Resource;

/// Candidates that are run once in each build.
const CANDIDATES: usize = 24;
/// Templates that are run at many sizes.
const MOST: usize = 4;
/// Longest part that is repeated although it repeats nothing, in bytes.
const LONGEST: usize = 128;

/// Templates of an input, at most four: those on which the new build is worst beside the old one at the size
/// of the input.
pub(super) fn templates(old: &mut Side, new: &mut Side, input: &[u8], capacity: usize) -> Result<Vec<Template>> {
    let inferred = candidates(&Evidence { input, ..Evidence::default() }, CANDIDATES);
    let inferred = inferred.into_iter().map(|one| (one.template, one.n));
    let mut tried: Vec<(Template, f64)> = Vec::new();
    for (template, n) in inferred.chain(excerpts(input)) {
        let Ok(made) = template.render(n, capacity as u64) else { continue };
        let (before, now) = (old.run(&made, Detail::Cost, 1)?, new.run(&made, Detail::Cost, 1)?);
        if before.came_back() && now.came_back() && tried.iter().all(|(known, _)| *known != template) {
            let [before, now] = [before, now].map(|run| run.cost[Resource::Instructions].max(1) as f64);
            tried.push((template, now / before));
        }
    }
    tried.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    tried.truncate(MOST);
    Ok(tried.into_iter().map(|(template, _)| template).collect())
}

/// A part of the middle of an input between a short beginning and end, and its beginning: both repeated up to the size of the
/// input. They are short, whatever the input is, since sizes have to rise a hundredfold.
fn excerpts(input: &[u8]) -> Vec<(Template, u64)> {
    let length = input.len();
    let edge = (length / 4).min(LONGEST / 2);
    let start = edge.max(length / 2 - (length / 4).min(LONGEST / 2));
    let middle = &input[start..(start + LONGEST).min(length - edge)];
    let parts = [(&input[..edge], middle, &input[length - edge..]), (&[], &input[..length.min(LONGEST)], &[])];
    let template = |(first, unit, last): (&[u8], &[u8], &[u8])| {
        let body = vec![Part::Literal(unit.to_vec())];
        let parts =
            [Part::Literal(first.to_vec()), Part::Repeat { times: Times::N, body }, Part::Literal(last.to_vec())];
        let template = Template::new(parts.to_vec()).ok().filter(Template::scales)?;
        let n = template.n_for_size(length as u64);
        Some((template, n))
    };
    parts.into_iter().filter_map(template).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(input: &[u8], n: u64) -> Vec<Vec<u8>> {
        excerpts(input).iter().map(|(template, _)| template.render(n, 1_000).unwrap()).collect()
    }

    #[test]
    fn what_repeats_nothing_is_repeated_in_its_middle_and_from_its_beginning() {
        assert_eq!(made(b"abcdefgh", 2), [b"abcdefcdefgh".to_vec(), b"abcdefghabcdefgh".to_vec()]);
        assert_eq!(made(b"", 2), Vec::<Vec<u8>>::new());
        assert_eq!(made(b"a", 3), [b"aaa", b"aaa"]);
    }

    #[test]
    fn excerpts_of_large_inputs_are_short_and_repeated_up_to_their_size() {
        let long: Vec<u8> = (0..20_000u32).map(|i| (i * i % 251 + i / 251) as u8).collect();
        for (template, n) in excerpts(&long) {
            assert!(
                template.size(1) <= 256 && template.size(n) <= 20_000 && template.size(n + 1) > 20_000,
                "{template}"
            );
        }
    }
}
