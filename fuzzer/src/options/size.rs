//! Options `--max-size`, `--max-size-increase` and `--max-size-ratio`.

use super::flag;
use quagmire_base::{
    error::{Error, Result},
    size_limit::SizeLimit,
    units,
};

/// Limit where none is asked for. At 1 kB what is exponential is found sooner than among larger inputs, and what is quadratic shows.
const BY_ITSELF: SizeLimit = SizeLimit::Growing { first: 1024, most: 1_000_000 };

/// Resolves the size limit from the three options, which exclude each other.
pub(super) fn size_limit(
    absolute: Option<String>,
    increase: Option<String>,
    ratio: Option<String>,
) -> Result<SizeLimit> {
    match (absolute, increase, ratio) {
        (None, None, None) => Ok(BY_ITSELF),
        (Some(text), None, None) => match flag("--max-size", units::size(&text))? {
            0 => Err(Error::usage("--max-size 0 leaves no input: give at least 1")),
            bytes => Ok(SizeLimit::Absolute(bytes)),
        },
        (None, Some(text), None) => Ok(SizeLimit::Increase(flag("--max-size-increase", units::size(&text))?)),
        (None, None, Some(text)) => match text.parse::<f64>() {
            Ok(ratio) if ratio.is_finite() && ratio >= 1.0 => Ok(SizeLimit::Ratio(ratio)),
            Ok(ratio) if ratio < 1.0 => Err(Error::usage(format!(
                "--max-size-ratio {text} is below the largest seed, which is never cut: give at least 1"
            ))),
            _ => Err(Error::usage(format!(
                "--max-size-ratio: `{text}` is not a ratio: write a number from 1 such as 2.5"
            ))),
        },
        _ => Err(Error::usage(
            "--max-size, --max-size-increase and --max-size-ratio exclude each other: give one of them",
        )),
    }
}
