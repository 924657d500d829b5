//! Choice of files by a regular expression.

use std::path::Path;

use fancy_regex::{Regex, RegexBuilder};

use crate::error::regex_reason;

/// Largest size of a compiled expression in bytes: that of the crate regex.
const LARGEST: usize = 10 << 20;

/// Regular expression for paths, with look-around and backreferences as in Python.
#[derive(Clone, Debug)]
pub struct PathFilter {
    pattern: Regex,
}

impl PathFilter {
    /// Compiles an expression.
    ///
    /// # Errors
    /// In one line, why it is not a regular expression.
    pub fn new(pattern: &str) -> Result<Self, String> {
        let compiled = RegexBuilder::new(pattern).delegate_size_limit(LARGEST).build();
        compiled.map(|pattern| Self { pattern }).map_err(|error| regex_reason(&error))
    }

    /// Whether the expression matches a part of the path as it was found, or of the file's name alone. Bytes that are no
    /// UTF-8 are replaced before.
    ///
    /// # Errors
    /// In one line, why it cannot be told: the expression backtracks too much.
    pub fn takes(&self, path: &Path) -> Result<bool, String> {
        let matches = |text: &str| self.pattern.is_match(text).map_err(|error| regex_reason(&error));
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Ok(matches(&path.to_string_lossy())? || matches(&name)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn takes(pattern: &str, path: &str) -> bool {
        PathFilter::new(pattern).unwrap().takes(Path::new(path)).unwrap()
    }

    #[test]
    fn the_example_of_peruns_documentation_leaves_out_names_with_a_word() {
        let without_errors = "^((?!error).)*$";
        assert!(takes(without_errors, "seeds/ok.xml"));
        assert!(!takes(without_errors, "seeds/an-error-7.xml"));
    }

    #[test]
    fn an_expression_is_for_the_path_or_for_the_name() {
        assert!(takes("^a.*xml$", "seeds/abc.xml"), "the name");
        assert!(takes("^seeds/.*xml$", "seeds/abc.xml"), "the path");
        assert!(takes("eds/a", "seeds/abc.xml"), "a part of the path");
        assert!(!takes("^abc$", "seeds/abc.xml"));
        // with a slash it is for the path only
        assert!(!takes("^(?!.*/errors/).*/", "seeds/errors/a.xml") && takes("^(?!.*/errors/).*/", "seeds/a.xml"));
    }

    #[test]
    fn what_is_no_expression_and_what_takes_too_long_are_errors_of_one_line() {
        for pattern in ["(a", "[b-a]", "(?<!a"] {
            let problem = PathFilter::new(pattern).unwrap_err();
            assert!(!problem.is_empty() && problem.lines().count() == 1, "{problem}");
        }
        let slow = PathFilter::new(r"^(a|aa|aaa)*\1\1\1(?=b)$").unwrap();
        let problem = slow.takes(Path::new(&"a".repeat(5000))).unwrap_err();
        assert!(problem.contains("backtrack") && problem.lines().count() == 1, "{problem}");
    }
}
