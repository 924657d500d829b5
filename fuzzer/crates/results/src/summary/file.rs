//! Reading and writing of `summary.json`.

use std::path::Path;

use quagmire_base::{
    atomic::write_whole,
    error::{Error, Result},
    files,
};

use super::Summary;

impl Summary {
    /// Text of `summary.json`, with a line feed at its end.
    pub fn to_json(&self) -> String {
        // cannot fail: a summary consists of strings, numbers, and lists and records of them
        serde_json::to_string_pretty(self).expect("a summary is plain data") + "\n"
    }

    /// Writes `summary.json` atomically.
    pub fn write(&self, path: &Path) -> Result<()> {
        write_whole(path, self.to_json().as_bytes())
    }

    /// Reads `summary.json`.
    ///
    /// # Errors
    /// If it cannot be read or is not a summary.
    pub fn read(path: &Path) -> Result<Self> {
        let text = files::read_text(path, files::LARGEST_TEXT).map_err(|error| {
            Error::other(format!("cannot read {}: {error}; name the output folder of a campaign", path.display()))
        })?;
        serde_json::from_str(&text).map_err(|error| {
            Error::other(format!("{} is not a summary of a campaign ({error}): remove it", path.display()))
        })
    }

    /// Reads the summary in the output folder of a campaign, as a user names it.
    ///
    /// # Errors
    /// If it is not the output folder of a campaign, or has no summary yet.
    pub fn of_campaign(out: &Path) -> Result<Self> {
        let path = out.join("summary.json");
        if path.is_file() {
            return Self::read(&path);
        }
        let shown = out.display();
        Err(Error::other(if out.is_dir() {
            format!(
                "{shown} holds no summary.json: name the output folder of a campaign, or wait for its first seconds"
            )
        } else {
            format!("there is no folder {shown}: name the output folder of a campaign")
        }))
    }
}
