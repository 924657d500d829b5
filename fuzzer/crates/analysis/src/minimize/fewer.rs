//! Smaller inputs by fewer units: lines, words, levels, records. Unlike removing bytes, it keeps lengths and counts in front of
//! them right.

use std::time::Instant;

use super::search::Search;
use quagmire_base::error::Result;
use quagmire_choices::units::{Taken, units};

/// Part of the time that is left in which half of the units have to be enough: removing bytes takes the rest.
const PARTS_OF_TIME: u32 = 4;

/// The input with the fewest of its units, of the first kind of which half are enough, that keeps the goal; the input itself if
/// half are enough of no kind.
pub(super) fn shorten(search: &mut Search<'_>, input: &[u8]) -> Result<Vec<u8>> {
    let until = Instant::now() + search.time_left() / PARTS_OF_TIME;
    for units in units(input) {
        for taken in [Taken::Spread, Taken::First, Taken::Last] {
            if Instant::now() >= until {
                return Ok(input.to_vec());
            }
            let mut holds = |count: usize| Ok(search.holds(&units.take(count, taken))? == Some(true));
            let (mut low, mut high) = (0, units.count() / 2);
            if !holds(high)? {
                continue;
            }
            while high - low > 1 {
                let middle = low.midpoint(high);
                if holds(middle)? { high = middle } else { low = middle }
            }
            return Ok(units.take(high, taken));
        }
    }
    Ok(input.to_vec())
}
