//! Formatting of numbers, durations and function names for people.

use std::time::Duration;

/// Formats a number with thousands separators: `812,331`.
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

/// Formats a count with its noun in singular or plural: `1 hang`, `2 hangs`.
pub fn counted(count: u64, what: &str) -> String {
    format!("{} {what}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// Formats a rate per second as `9,021`, or as `0.4` below 10.
pub fn rate(per_second: f64) -> String {
    if per_second < 9.95 { format!("{:.1}", per_second.max(0.0)) } else { grouped(per_second.round() as u64) }
}

/// Formats a ratio with three significant digits or whole: `1.25x`, `41.4x`, `4,471x`; `-` if it is not finite.
pub fn ratio(ratio: f64) -> String {
    match ratio {
        r if !r.is_finite() => "-".into(),
        r if r < 9.995 => format!("{r:.2}x"),
        r if r < 999.95 => format!("{r:.1}x"),
        r => format!("{}x", grouped(r.round() as u64)),
    }
}

/// Formats a duration as `HH:MM:SS`; hours may exceed 99.
pub fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Shortens a function's name to 100 characters, as [`shortened`] does: C++ names can fill a screen.
pub fn short(name: &str) -> String {
    shortened(name, 100)
}

/// Shortens a function's name to at most `longest` characters (at least 8). Drops the contents of brackets first,
/// then the namespaces, then the arguments, then the middle of the name.
pub fn shortened(name: &str, longest: usize) -> String {
    let longest = longest.max(8);
    let fits = |text: &str| text.chars().count() <= longest;
    if fits(name) {
        return name.to_owned();
    }
    let name = without_arguments(name);
    if fits(&name) {
        return name;
    }
    let ends = name.match_indices("::").map(|(at, _)| format!("...{}", &name[at..]));
    if let Some(end) = ends.into_iter().find(|end| fits(end)) {
        return end;
    }
    let last = name.rsplit("::").next().unwrap_or_default();
    let last = last.split_once("(...)").map_or(last, |(last, _)| last);
    if fits(last) {
        return last.to_owned();
    }
    let length = last.chars().count();
    let half = (longest - 3) / 2;
    let head: String = last.chars().take(half).collect();
    let tail: String = last.chars().skip(length - half).collect();
    format!("{head}...{tail}")
}

/// Empties the outermost brackets of a name: `f<A, B>(C)` becomes `f<...>(...)`.
fn without_arguments(name: &str) -> String {
    // brackets that are part of a name
    const NAMES: [&str; 8] = [
        "operator<<",
        "operator<=>",
        "operator<",
        "operator>>",
        "operator>",
        "operator->",
        "operator()",
        "(anonymous namespace)",
    ];
    let mut text = String::new();
    let mut closing: Vec<char> = Vec::new();
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        let whole = NAMES.iter().find(|whole| rest.starts_with(**whole));
        let (piece, behind) = rest.split_at(whole.map_or(c.len_utf8(), |whole| whole.len()));
        rest = behind;
        if whole.is_none() && closing.last() == Some(&c) {
            closing.pop();
        }
        if closing.is_empty() {
            text.push_str(piece);
        }
        if whole.is_none() && matches!(c, '<' | '(') {
            let end = if c == '<' { '>' } else { ')' };
            if closing.is_empty() && !rest.starts_with(end) {
                text.push_str("...");
            }
            closing.push(end);
        }
    }
    text
}

/// Shortens a text to at most `longest` characters (at least 8): leaves out its middle.
pub fn shortened_text(text: &str, longest: usize) -> String {
    const GAP: &str = " ... ";
    let length = text.chars().count();
    if length <= longest {
        return text.to_owned();
    }
    let left = longest.saturating_sub(GAP.len());
    let head: String = text.chars().take(left - left / 3).collect();
    let tail: String = text.chars().skip(length - left / 3).collect();
    format!("{head}{GAP}{tail}")
}

/// A text in full, or, if it is longer than `longest` characters (at least 8), without its middle and with its length.
pub fn cut(text: &str, longest: usize) -> String {
    let length = text.chars().count();
    if length <= longest {
        return text.to_owned();
    }
    format!("{} ({} characters)", shortened_text(text, longest), grouped(length as u64))
}

/// Shortens a path to at most `longest` characters, unless its last component alone is longer: drops leading
/// components, then the beginning of the last one.
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
        assert_eq!(shortened("void space::Class<A>::method<B>(int)", 28), "...::method<...>(...)");
        assert_eq!(shortened("Class::a_long_method_name(int) const", 20), "a_long_method_name");
        let name = "std::__detail::_Executor<char const*, std::allocator<char> >::_M_dfs(std::Mode<(a)0>, long) const";
        assert_eq!(shortened(name, 60), "std::__detail::_Executor<...>::_M_dfs(...) const");
        assert_eq!(shortened("std::operator<< <char>(std::ostream&, int)", 30), "std::operator<< <...>(...)");
        let name = "(anonymous namespace)::Less::operator()(int const&, int const&)";
        assert_eq!(shortened(name, 50), "(anonymous namespace)::Less::operator()(...)");
        assert_eq!(shortened("abcdefghijklm<char>::n()", 23), "abcdefghijklm<...>::n()");
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
    fn a_long_text_keeps_its_beginning_and_its_end() {
        assert_eq!(shortened_text("0123456789", 10), "0123456789");
        assert_eq!(shortened_text("0123456789abcdef", 11), "0123 ... ef");
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
