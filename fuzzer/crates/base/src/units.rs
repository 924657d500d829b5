//! Parsing of durations and sizes.
//!
//! Errors say what is wrong with the text and what to write instead; the caller adds the option's name.

use std::time::Duration;

/// Examples of durations, for error messages and help texts.
pub(crate) const DURATION_FORMS: &str = "90, 90s, 1.5m, 24h or 500ms";

/// Examples of sizes, for error messages and help texts.
pub(crate) const SIZE_FORMS: &str = "4096, 64KiB, 10k or 1MB";

/// Longest accepted duration: a hundred years, which can be added to any clock value without overflow.
pub const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// Parses a duration: a number and `ms`, `s`, `m`, `h` or `d`; seconds without a unit. The result is between zero and
/// [`LONGEST`].
pub fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split(text);
    let seconds_each = match unit.to_ascii_lowercase().as_str() {
        "ms" => 0.001,
        "" | "s" | "sec" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86400.0,
        _ => return Err(format!("`{text}` is not a duration: write {DURATION_FORMS}")),
    };
    let number = parse(number).ok_or_else(|| format!("`{text}` is not a duration: write {DURATION_FORMS}"))?;
    match Duration::try_from_secs_f64(number * seconds_each) {
        Ok(duration) if duration <= LONGEST => Ok(duration),
        _ => Err(format!("`{text}` is longer than a hundred years: write less")),
    }
}

/// Parses a size in bytes: a number and `k`, `kB`, `MB`, `GB` (powers of 1000), `KiB`, `MiB`, `GiB` (powers of 1024)
/// or nothing. Case is ignored. Fractions of a byte are dropped.
pub fn size(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is not a size: write {SIZE_FORMS}");
    let (number, unit) = split(text);
    let bytes_each: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1_000,
        "m" | "mb" => 1_000_000,
        "g" | "gb" => 1_000_000_000,
        "t" | "tb" => 1_000_000_000_000,
        "ki" | "kib" => 1 << 10,
        "mi" | "mib" => 1 << 20,
        "gi" | "gib" => 1 << 30,
        "ti" | "tib" => 1 << 40,
        _ => return Err(wrong()),
    };
    let too_big = || format!("`{text}` is more bytes than there are: write less");
    if let Ok(whole) = number.parse::<u64>() {
        // whole numbers stay exact beyond 2^53
        return whole.checked_mul(bytes_each).ok_or_else(too_big);
    }
    let bytes = parse(number).ok_or_else(wrong)? * bytes_each as f64;
    if bytes < u64::MAX as f64 { Ok(bytes as u64) } else { Err(too_big()) }
}

/// Splits `1.5m` into `1.5` and `m`; blanks around both are dropped.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

/// Parses a non-negative decimal number: digits with at most one point, none of the other forms of `f64` (`inf`,
/// `1e9`).
fn parse(number: &str) -> Option<f64> {
    number.starts_with(|c: char| c.is_ascii_digit()).then(|| number.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn durations_take_a_unit_or_mean_seconds() {
        for (text, milliseconds) in [
            ("90", 90_000),
            ("90s", 90_000),
            ("1.5m", 90_000),
            ("30m", 1_800_000),
            ("24h", 86_400_000),
            ("2d", 172_800_000),
            ("500ms", 500),
            ("0.5", 500),
            (" 10 s ", 10_000),
            ("10S", 10_000),
            ("0", 0),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
    }

    #[test]
    fn sizes_take_powers_of_1000_and_of_1024() {
        for (text, bytes) in [
            ("4096", 4096),
            ("64KiB", 65_536),
            ("1MB", 1_000_000),
            ("10k", 10_000),
            ("10K", 10_000),
            ("1.5k", 1500),
            ("2GiB", 2 << 30),
            ("2 gib", 2 << 30),
            ("7b", 7),
            ("0", 0),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn what_is_not_a_duration_is_refused_with_examples() {
        for text in ["", " ", "s", "-1", "1e9", "inf", "nan", ".", ".5", "1.2.3", "10 parsecs", "1h30m", "５s", "0x10"]
        {
            let error = duration(text).unwrap_err();
            assert!(error.contains("is not a duration: write 90, 90s"), "{text}: {error}");
        }
        for text in ["999999999999999999999999999d", "101000d"] {
            assert!(duration(text).unwrap_err().contains("longer than a hundred years"), "{text}");
        }
    }

    #[test]
    fn what_is_not_a_size_is_refused_with_examples() {
        for text in ["", "MB", "-1", "1e9", "inf", "1.2.3k", "10 apples", "4096s"] {
            assert!(size(text).unwrap_err().contains("is not a size: write 4096"), "{text}");
        }
        for text in ["18446744073709551616", "99999999999TiB", "20000000000.5GiB"] {
            assert!(size(text).unwrap_err().contains("more bytes than there are"), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parsers_panic(text in "\\PC{0,12}") {
            let _ = (duration(&text), size(&text));
        }

        #[test]
        fn whole_milliseconds_come_back(ms in 0u64..3_000_000_000) {
            let error = duration(&format!("{ms}ms")).unwrap().abs_diff(Duration::from_millis(ms));
            prop_assert!(error < Duration::from_micros(1));
        }

        #[test]
        fn whole_bytes_come_back(bytes: u64) {
            prop_assert_eq!(size(&bytes.to_string()), Ok(bytes));
        }
    }
}
