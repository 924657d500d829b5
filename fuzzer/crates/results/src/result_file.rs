//! Files that hold the result of a command: of a comparison, a growth or a score.

use std::path::Path;

use quagmire_base::{
    error::{Error, Result},
    files::{self, LARGEST_TEXT},
};
use serde_json::Value;

use crate::{
    comparison::Comparison,
    growth_file::GrowthFile,
    outcomes::{Outcomes, SourceRoot},
    score_file::ScoreFile,
};

/// Result of a command.
#[derive(Clone, Debug, PartialEq)]
pub enum ResultFile {
    /// Result of `quagmire compare -o`.
    Comparison(Box<Comparison>),
    /// Result of `quagmire growth --json`.
    Growth(Box<GrowthFile>),
    /// Result of `quagmire mutants score`.
    Score(Box<ScoreFile>),
}

impl ResultFile {
    /// Reads a result.
    ///
    /// # Errors
    /// If the file cannot be read, or is neither.
    pub fn read(path: &Path) -> Result<Self> {
        let name = path.display();
        let bytes = files::read_named(path, LARGEST_TEXT)
            .map_err(|error| Error::other(format!("cannot read {name}: {error}")))?;
        let refused = |error: &dyn std::fmt::Display| {
            Error::other(format!(
                "{name} is no result ({error}): name what quagmire compare -o or quagmire mutants score -o wrote, or quagmire \
                 growth --json printed"
            ))
        };
        let value: Value = serde_json::from_slice(&bytes).map_err(|error| refused(&error))?;
        if value.get("mutants").is_some() {
            return serde_json::from_value(value).map(Self::Score).map_err(|error| refused(&error));
        }
        match value.get("verdicts") {
            Some(_) => serde_json::from_value(value).map(Self::Comparison).map_err(|error| refused(&error)),
            None => serde_json::from_value(value).map(Self::Growth).map_err(|error| refused(&error)),
        }
    }

    /// Its outcomes; `path` is that of the file. Paths of sources become relative to `root`.
    pub fn outcomes(&self, path: &Path, root: &mut SourceRoot) -> Outcomes {
        match self {
            Self::Comparison(comparison) => Outcomes::of_comparison(comparison, root),
            Self::Growth(growth) => Outcomes::of_growth(growth, root),
            Self::Score(score) => Outcomes::of_score(score, &path.display().to_string(), root),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_result_is_refused_with_the_commands_that_make_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        assert!(ResultFile::read(&path).unwrap_err().message.contains("cannot read"));
        for text in ["", "{}", "[1]", "{\"version\": \"0.1.0\"}", "{\"verdicts\": []}"] {
            std::fs::write(&path, text).unwrap();
            let error = ResultFile::read(&path).unwrap_err();
            assert!(error.message.contains("quagmire compare -o") && !error.message.contains('\n'), "{error}");
        }
    }

    #[test]
    fn a_growth_is_read_as_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        let growth = crate::outcomes::growth::tests::growth();
        std::fs::write(&path, serde_json::to_string(&growth).unwrap()).unwrap();
        assert_eq!(ResultFile::read(&path).unwrap(), ResultFile::Growth(growth.into()));
    }
}
