//! Values of options: parsers for clap, whose errors say what to write instead. The command line puts the option's name before them.

use std::{str::FromStr, time::Duration};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use quagmire_base::units;

/// Minimum of `--hang-timeout`: below it, ordinary scheduling delays look like hangs.
const SHORTEST_HANG_TIMEOUT: Duration = Duration::from_millis(10);

/// Minimum of `--memory-limit` other than 0, in bytes: less does not even load a program.
const SMALLEST_MEMORY_LIMIT: u64 = 16 << 20;

/// Parser of one of these values by its name.
pub fn named<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    // clap has checked the name
    PossibleValuesParser::new(all.iter().map(move |&one| name(one)))
        .map(move |typed| all.iter().copied().find(|&one| name(one) == typed).unwrap_or(all[0]))
}

/// Parser of one of these values, each with its name.
pub fn choice<T: Copy + Send + Sync + 'static>(all: &'static [(&'static str, T)]) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(|(name, _)| *name))
        .map(move |typed| all.iter().find(|(name, _)| *name == typed).unwrap_or(&all[0]).1)
}

/// A time that is not 0.
pub fn some_time(text: &str) -> Result<Duration, String> {
    let time = units::duration(text)?;
    if time.is_zero() { Err(format!("{text} leaves no time: give more, or leave it out")) } else { Ok(time) }
}

pub fn hang_timeout(text: &str) -> Result<Duration, String> {
    let timeout = units::duration(text)?;
    if timeout < SHORTEST_HANG_TIMEOUT {
        return Err(format!("{text} is too short to tell a hang from an ordinary delay: give at least 10ms"));
    }
    Ok(timeout)
}

/// A size that is not 0.
pub fn some_size(text: &str) -> Result<u64, String> {
    let size = units::size(text)?;
    if size == 0 { Err(format!("{text} leaves no input: give at least 1")) } else { Ok(size) }
}

/// A number of bytes, or 0 for no limit.
pub fn memory_limit(text: &str) -> Result<u64, String> {
    let limit = units::size(text)?;
    if limit != 0 && limit < SMALLEST_MEMORY_LIMIT {
        return Err(format!(
            "{text} ({limit} bytes) leaves no room for a program: give at least 16MiB, or 0 for no limit"
        ));
    }
    Ok(limit)
}

/// A whole number that is at least 1.
pub fn count<T: FromStr + PartialOrd + From<u8>>(text: &str) -> Result<T, String> {
    let number = text.parse().ok().filter(|number| *number >= T::from(1));
    number.ok_or_else(|| format!("`{text}` is not a count: write a whole number such as 100, at least 1"))
}

/// A whole number.
pub fn whole(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number: write a whole number such as 3"))
}

/// A finite number above 1.
pub fn above_one(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 1.0);
    number.ok_or_else(|| format!("`{text}` is not a ratio: write a number above 1 such as 2.0"))
}

/// A finite number that is at least 1.
pub fn from_one(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 1.0);
    number.ok_or_else(|| format!("`{text}` is not a ratio: write a number from 1 such as 1.5"))
}

/// Seed of random choices.
pub fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("`{text}` is not a seed number: write a whole number from 0 to {}", u64::MAX))
}
