//! Dictionaries of tokens, as AFL and libFuzzer have them: lines `name="value"`, in AFL also `name@LEVEL="value"`.

/// Number of entries of a dictionary.
///
/// # Errors
/// The number of its first wrong line.
pub fn count(text: &[u8]) -> Result<usize, usize> {
    let lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let entries = lines.enumerate().filter(|(_, line)| !line.is_empty() && line[0] != b'#');
    let mut count = 0;
    for (number, line) in entries {
        if !is_entry(line) {
            return Err(number + 1);
        }
        count += 1;
    }
    Ok(count)
}

/// Whether a line ends with a value in quotes that is not empty, and whose escapes are `\\`, `\"` and `\xAB`. A level in front of
/// it has to be a number.
fn is_entry(line: &[u8]) -> bool {
    let Some(begin) = line.iter().position(|&byte| byte == b'"') else { return false };
    if let Some(at) = line[..begin].iter().position(|&byte| byte == b'@') {
        let level = line[at + 1..begin].trim_ascii().strip_suffix(b"=").map(<[u8]>::trim_ascii);
        let level = level.and_then(|level| str::from_utf8(level).ok());
        if level.is_none_or(|level| level.parse::<u32>().is_err()) {
            return false;
        }
    }
    let Some((b'"', mut value)) = line[begin + 1..].split_last() else { return false };
    if value.is_empty() {
        return false;
    }
    loop {
        value = match value {
            [] => return true,
            [b'\\', b'\\' | b'"', rest @ ..] => rest,
            [b'\\', b'x', high, low, rest @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => rest,
            [b'\\' | b'"', ..] => return false,
            [byte, rest @ ..] if (b' '..=b'~').contains(byte) || *byte == b'\t' => rest,
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_wrong_line_is_named() {
        assert_eq!(count(b"# words\n\nkw=\"a\\x0A\\\\\\\"\"\n \"b\" \nlevel@12 = \"c\"\n\"@\"\n"), Ok(4));
        for wrong in [
            "a",
            "a=b",
            "\"",
            "\"\"",
            "k=\"a\\x0\"",
            "k=\"\\x4\"",
            "k=\"a\"b\"",
            "\"\\n\"",
            "k@99999999999=\"a\"",
            "k@x=\"a\"",
        ] {
            assert_eq!(count(format!("\"x\"\n{wrong}\n").as_bytes()), Err(2), "{wrong}");
        }
    }
}
