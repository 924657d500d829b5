//! Numbers and times as people read them.

use std::time::Duration;

/// `812,331`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 hang`, `2 hangs`.
pub fn counted(count: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// `9,021`, or `0.4` where whole numbers say little.
pub fn rate(per_second: f64) -> String {
    if per_second < 9.95 { format!("{:.1}", per_second.max(0.0)) } else { grouped(per_second.round() as u64) }
}

/// `1.25x`, `41.4x`, `4,471x`.
pub fn ratio(ratio: f64) -> String {
    match ratio {
        r if !r.is_finite() => "-".into(),
        r if r < 9.995 => format!("{r:.2}x"),
        r if r < 999.95 => format!("{r:.1}x"),
        r => format!("{}x", grouped(r.round() as u64)),
    }
}

/// `00:01:30`; hours go on beyond 99.
pub fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Template names can fill a screen: the middle goes.
pub fn short(name: &str) -> String {
    shortened(name, 100)
}

/// At most `longest` characters (and at least 8): the middle goes.
pub fn shortened(name: &str, longest: usize) -> String {
    let length = name.chars().count();
    let longest = longest.max(8);
    if length <= longest {
        return name.to_owned();
    }
    let half = (longest - 3) / 2;
    let head: String = name.chars().take(half).collect();
    let tail: String = name.chars().skip(length - half).collect();
    format!("{head}...{tail}")
}

/// A path in at most `longest` characters if its last part leaves room for that: the first parts go, and if need be the
/// beginning of the last one.
pub fn shortened_path(path: &str, longest: usize) -> String {
    if path.chars().count() <= longest {
        return path.to_owned();
    }
    let whole_parts = path.match_indices('/').map(|(at, _)| &path[at..]);
    let fits = |rest: &&str| rest.chars().count() + 3 <= longest;
    let beginning = path.chars().count() + 3 - longest.max(4);
    whole_parts
        .into_iter()
        .find(fits)
        .map_or_else(|| format!("...{}", path.chars().skip(beginning).collect::<String>()), |rest| format!("...{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_lose_their_middle() {
        assert_eq!(short("main"), "main");
        assert_eq!(short(&"x".repeat(300)).len(), 99);
        assert_eq!(shortened("abcdefghijklmnop", 9), "abc...nop");
    }

    #[test]
    fn long_paths_lose_their_beginning() {
        let path = "/usr/include/c++/12/bits/regex.tcc:508";
        assert_eq!(shortened_path(path, 100), path);
        assert_eq!(shortened_path(path, 24), ".../bits/regex.tcc:508");
        assert_eq!(shortened_path(path, 20), ".../regex.tcc:508");
        assert_eq!(shortened_path(path, 12), "...x.tcc:508");
    }

    #[test]
    fn numbers_are_short_and_readable() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0, 1, 2_000].map(|count| counted(count, "hang")), ["0 hangs", "1 hang", "2,000 hangs"]);
        let ratios = [1.0, 9.99, 9.996, 41.38, 999.9, 4_470.72, f64::NAN].map(ratio);
        assert_eq!(ratios, ["1.00x", "9.99x", "10.0x", "41.4x", "999.9x", "4,471x", "-"]);
        assert_eq!([0.0, 0.42, 9.97, 9_021.3, -1.0].map(rate), ["0.0", "0.4", "10", "9,021", "0.0"]);
        assert_eq!(clock(Duration::from_secs(360_000)), "100:00:00");
    }
}
