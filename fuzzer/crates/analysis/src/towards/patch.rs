//! Patches: which lines of which files a unified diff changes, as they are after it.

use std::ops::RangeInclusive;

/// Lines that a patch changes in one place of a file: those that it adds or replaces, or the neighbours of what it deletes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedLines {
    /// Path of the file after the patch, without `a/`, `b/` and the like.
    pub file: String,
    /// Numbers of the lines after the patch, from 1.
    pub lines: RangeInclusive<u32>,
}

/// Prefixes that git writes before paths: `a/` and `b/`, or with `diff.mnemonicPrefix` the initials of what is compared.
const PREFIXES: [&str; 6] = ["a/", "b/", "c/", "i/", "o/", "w/"];

/// Reads the changed lines of a unified diff, in its order. Files that it deletes have none.
///
/// # Errors
/// In a few words with the remedy, if it is no unified diff, or is damaged.
pub fn changed_lines(patch: &str) -> Result<Vec<ChangedLines>, String> {
    let mut found = Vec::new();
    let mut lines = patch.split('\n').enumerate().peekable();
    let mut file: Option<String> = None;
    let mut hunks = 0;
    while let Some((at, line)) = lines.next() {
        let line = line.trim_end_matches('\r');
        if line.starts_with("@@@") {
            return Err(format!(
                "line {}: this is the combined diff of a merge: make one against a single commit, such as `git diff HEAD^`",
                at + 1
            ));
        }
        if let Some(path) = line.strip_prefix("+++ ") {
            file = path_of(path);
        } else if line.starts_with("diff ") {
            file = None;
        } else if line.starts_with("@@ ") {
            hunks += 1;
            let damaged =
                |what: &str| format!("line {}: {what}: make the patch anew with `git diff` or `diff -u`", at + 1);
            let hunk = Hunk::parse(line).ok_or_else(|| damaged("no header of a hunk"))?;
            let body = std::iter::from_fn(|| lines.next().map(|(_, line)| line));
            let changed = hunk.changed(body).ok_or_else(|| damaged("the hunk ends too early"))?;
            let of_file = |lines| file.clone().map(|file| ChangedLines { file, lines });
            found.extend(changed.into_iter().filter_map(of_file));
        }
    }
    if hunks == 0 {
        return Err("no unified diff: make one with `git diff` or `diff -u`".to_owned());
    }
    Ok(found)
}

/// Path behind `+++ `, without its prefix; `None` for a file that is deleted.
fn path_of(text: &str) -> Option<String> {
    // diff -u writes the time behind a tab
    let path = if text.starts_with('"') { unquoted(text) } else { text.split('\t').next().unwrap_or(text).to_owned() };
    let without = PREFIXES.iter().find_map(|prefix| path.strip_prefix(prefix)).map(str::to_owned);
    Some(without.unwrap_or(path)).filter(|path| path != "/dev/null" && !path.is_empty())
}

/// A path that git has put in quotes, with escapes for what is no printable ASCII.
fn unquoted(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes().skip(1).peekable();
    while let Some(byte) = rest.next().filter(|&byte| byte != b'"') {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    let Some(digit) = rest.next_if(|next| (b'0'..=b'7').contains(next)) else { break };
                    value = value * 8 + u32::from(digit - b'0');
                }
                bytes.push(value as u8);
            }
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            other => bytes.extend(other),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Header of a hunk.
struct Hunk {
    /// Number of lines before and after the patch.
    before: u32,
    after: u32,
    /// Number of its first line after the patch; of the line in front of it if there are none.
    first: u32,
}

impl Hunk {
    /// Parses `@@ -10,4 +12,5 @@ function`.
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix("@@ ")?.split(' ');
        let range = |word: &str| {
            let (first, length) = word.split_once(',').unwrap_or((word, "1"));
            Some((first.parse::<u32>().ok()?, length.parse::<u32>().ok()?))
        };
        let (_, before) = range(words.next()?.strip_prefix('-')?)?;
        let (first, after) = range(words.next()?.strip_prefix('+')?)?;
        // what has more lines than can be numbered is no file
        (words.next()? == "@@" && first.checked_add(after).is_some()).then_some(Self { before, after, first })
    }

    /// Lines that the hunk with this body changes; `None` if the body ends too early.
    fn changed<'a>(&self, body: impl Iterator<Item = &'a str>) -> Option<Vec<RangeInclusive<u32>>> {
        let (mut before, mut after) = (self.before, self.after);
        let mut next = if self.after == 0 { self.first + 1 } else { self.first };
        let mut found = Vec::new();
        let (mut added, mut has_deleted): (Option<u32>, bool) = (None, false);
        let mut end_change = |added: &mut Option<u32>, has_deleted: &mut bool, next: u32| match (
            added.take(),
            std::mem::take(has_deleted),
        ) {
            (Some(from), _) => found.push(from..=next - 1),
            (None, true) => found.push((next - 1).max(1)..=next),
            (None, false) => {}
        };
        let mut body = body;
        while before > 0 || after > 0 {
            let line = body.next()?;
            match line.as_bytes().first() {
                Some(b'+') => {
                    after = after.checked_sub(1)?;
                    added.get_or_insert(next);
                    next += 1;
                }
                Some(b'-') => {
                    before = before.checked_sub(1)?;
                    has_deleted = true;
                }
                Some(b'\\') => {}
                // editors take the blank from empty lines
                Some(b' ' | b'\r') | None => {
                    end_change(&mut added, &mut has_deleted, next);
                    (before, after) = (before.checked_sub(1)?, after.checked_sub(1)?);
                    next += 1;
                }
                Some(_) => return None,
            }
        }
        end_change(&mut added, &mut has_deleted, next);
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(patch: &str) -> Vec<(String, u32, u32)> {
        let all = changed_lines(patch).unwrap_or_else(|error| panic!("{error}"));
        all.into_iter().map(|place| (place.file, *place.lines.start(), *place.lines.end())).collect()
    }

    fn lines(file: &str, from: u32, to: u32) -> (String, u32, u32) {
        (file.to_owned(), from, to)
    }

    #[test]
    fn added_and_replaced_lines_are_those_of_the_new_side_and_deleted_ones_their_neighbours() {
        let patch = "diff --git a/lib/parse.c b/lib/parse.c\nindex 1..2 100644\n--- a/lib/parse.c\n+++ b/lib/parse.c\n\
                     @@ -10,7 +10,8 @@ static int parse(void)\n one\n-two\n+2\n+2.5\n three\n four\n-five\n six\n+seven\n seven and a half\n\
                     @@ -40,2 +41 @@\n-forty\n last\n";
        let expected = [(11, 12), (14, 15), (16, 16), (40, 41)].map(|(from, to)| lines("lib/parse.c", from, to));
        assert_eq!(changed(patch), expected);
    }

    #[test]
    fn files_may_be_new_deleted_quoted_or_without_prefix() {
        let patch = "From: somebody\n\n--- /dev/null\n+++ b/new.c\n@@ -0,0 +1,2 @@\n+a\n+b\n\
                     --- a/old.c\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n\
                     --- \"a/\\303\\244 b.c\"\n+++ \"b/\\303\\244 \\\"b\\\".c\"\n@@ -1 +1 @@\n-a\n+b\n\
                     --- src/x.c\t2026-01-01 10:00:00\n+++ src/x.c\t2026-01-02 10:00:00\n@@ -3 +3,0 @@\n-gone\n";
        let expected = [lines("new.c", 1, 2), lines("ä \"b\".c", 1, 1), lines("src/x.c", 3, 4)];
        assert_eq!(changed(patch), expected);
    }

    #[test]
    fn what_looks_like_a_header_inside_of_a_hunk_is_none() {
        let patch = "--- a/a.c\n+++ b/a.c\n@@ -5,2 +5,2 @@\n--- x;\n+++ y;\n\n@@ -9 +9 @@\n-a\n+b\n\\ No newline at end of file\n";
        assert_eq!(changed(patch), [lines("a.c", 5, 5), lines("a.c", 9, 9)]);
        assert_eq!(changed(&patch.replace('\n', "\r\n")), [lines("a.c", 5, 5), lines("a.c", 9, 9)]);
    }

    #[test]
    fn nothing_is_left_before_the_first_line() {
        assert_eq!(changed("--- a/a.c\n+++ b/a.c\n@@ -1,2 +1 @@\n-first\n second\n"), [lines("a.c", 1, 1)]);
    }

    #[test]
    fn what_is_no_patch_is_refused() {
        for (patch, why) in [
            ("", "no unified diff"),
            ("int main(void) { return 0; }\n", "no unified diff"),
            ("3c3\n< a\n---\n> b\n", "no unified diff"),
            ("--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n-a\n", "line 3: the hunk ends too early"),
            ("--- a/a.c\n+++ b/a.c\n@@ -1,2 +1,2 @@\n-a\n*b\n", "ends too early"),
            ("--- a/a.c\n+++ b/a.c\n@@ -x +1 @@\n-a\n", "no header of a hunk"),
            ("--- a/a.c\n+++ b/a.c\n@@ -1 +4294967295,2 @@\n-a\n", "no header of a hunk"),
            ("@@@ -1,2 -1,2 +1,3 @@@\n", "combined diff of a merge"),
        ] {
            let error = changed_lines(patch).unwrap_err();
            assert!(error.contains(why) && error.contains("make"), "{patch}: {error}");
        }
    }
}
