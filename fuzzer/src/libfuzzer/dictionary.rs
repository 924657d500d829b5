//! Check of a dictionary, whose first wrong line libFuzzer names.

use std::path::Path;

use quagmire_base::{
    error::{Error, Result},
    files,
};

/// Number of entries of a dictionary, or the number of its first wrong line.
///
/// # Errors
/// If it cannot be read.
pub(super) fn count(path: &Path) -> Result<Result<usize, usize>> {
    let text = files::read_named(path, files::LARGEST_TEXT).map_err(|error| {
        let path = path.display();
        Error::other(format!("-dict={path}: {error}: name a file of lines such as name=\"value\""))
    })?;
    let lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let entries = lines.enumerate().filter(|(_, line)| !line.is_empty() && line[0] != b'#');
    let mut count = 0;
    for (number, line) in entries {
        if !is_entry(line) {
            return Ok(Err(number + 1));
        }
        count += 1;
    }
    Ok(Ok(count))
}

/// Whether a line ends with a value in quotes that is not empty, and whose escapes are `\\`, `\"` and `\xAB`.
fn is_entry(line: &[u8]) -> bool {
    let Some(begin) = line.iter().position(|&byte| byte == b'"') else { return false };
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
        let file = tempfile::NamedTempFile::new().unwrap();
        let counted = |text: &str| {
            std::fs::write(file.path(), text).unwrap();
            count(file.path()).unwrap()
        };
        assert_eq!(counted("# words\n\nkw=\"a\\x0A\\\\\\\"\"\n \"b\" \n"), Ok(2));
        for wrong in ["a", "a=b", "\"", "\"\"", "k=\"a\\x0\"", "k=\"a\"b\"", "\"\\n\""] {
            assert_eq!(counted(&format!("\"x\"\n{wrong}\n")), Err(2), "{wrong}");
        }
    }
}
