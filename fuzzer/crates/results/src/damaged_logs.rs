//! Logs that were lost or damaged between two sessions.

use std::{
    io::{ErrorKind, Read as _},
    path::Path,
};

use quagmire_base::files;

use crate::{
    afl_stats::{PLOT_DATA, PLOT_HEADER},
    journal::{JOURNAL, Journal},
    logs::{COVERAGE, DEGRADATIONS, DIVERSITY, MESSAGES, PHASES, QUEUE, RESULTS, queue_header},
};

/// A log that begins anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedLog {
    /// Path in the output folder.
    pub path: String,
    /// Its damage in a few words, such as `is missing`.
    pub damage: &'static str,
}

impl DamagedLog {
    /// Whether this is the log of entries.
    pub fn is_of_entries(&self) -> bool {
        self.path == format!("logs/{QUEUE}")
    }

    /// Whether this is the table of findings.
    pub fn is_of_findings(&self) -> bool {
        self.path == format!("logs/{}", RESULTS.0)
    }

    /// Whether nothing else knows what it held.
    pub fn is_series(&self) -> bool {
        let series = [COVERAGE.0, DEGRADATIONS.0, DIVERSITY.0, PHASES.0, MESSAGES];
        self.path == PLOT_DATA || series.iter().any(|name| self.path == format!("logs/{name}"))
    }

    /// Whether this is the journal of findings.
    pub fn is_journal(&self) -> bool {
        self.path == JOURNAL
    }
}

/// Removes the logs of an output folder that do not begin as they should, so that they begin anew, and a journal of another
/// campaign than this one. Returns these and the missing ones. To be called before the logs are opened.
pub fn remove(output: &Path, campaign: &str) -> Vec<DamagedLog> {
    let queue = queue_header();
    let in_logs = [COVERAGE, DEGRADATIONS, DIVERSITY, RESULTS, (QUEUE, &queue), PHASES, (MESSAGES, "2")];
    let all = in_logs.into_iter().map(|(name, head)| (format!("logs/{name}"), head));
    let mut damaged: Vec<DamagedLog> = all
        .chain([(PLOT_DATA.to_owned(), PLOT_HEADER), (JOURNAL.to_owned(), "{\"campaign\":")])
        .filter_map(|(path, head)| Some(DamagedLog { damage: damage(&output.join(&path), head.as_bytes())?, path }))
        // a campaign need not have had anything to say
        .filter(|log| log.damage != EMPTY || log.path != format!("logs/{MESSAGES}"))
        .collect();
    if Journal::campaign(output).is_some_and(|of| of != campaign) {
        damaged.push(DamagedLog { path: JOURNAL.to_owned(), damage: "is of another campaign" });
    }
    for log in damaged.iter().filter(|log| log.damage != MISSING) {
        // what cannot be removed cannot be opened either, which says why
        let _ = std::fs::remove_file(output.join(&log.path));
    }
    damaged
}

const MISSING: &str = "is missing";
const EMPTY: &str = "is damaged (empty)";

fn damage(path: &Path, head: &[u8]) -> Option<&'static str> {
    // what is no file of a campaign is refused where it would be written to
    if path.symlink_metadata().is_ok_and(|file| !file.is_file()) {
        return None;
    }
    let mut read = vec![0; head.len()];
    match files::open(path).and_then(|mut file| file.read_exact(&mut read)) {
        Ok(()) if read == head => None,
        Err(error) if error.kind() == ErrorKind::NotFound => Some(MISSING),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof && path.metadata().is_ok_and(|file| file.len() == 0) => {
            Some(EMPTY)
        }
        _ => Some("is damaged"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Logs, Phases, PlotData};
    use std::{fs, time::Duration};

    #[test]
    fn damaged_logs_begin_anew_and_whole_ones_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (out, logs) = (folder.path(), folder.path().join("logs"));
        fs::create_dir(&logs).unwrap();
        let open = || {
            Logs::open(&logs).unwrap().message("begun").unwrap();
            drop(Phases::open(&logs, "seeds", Duration::ZERO).unwrap());
            drop(PlotData::open(out).unwrap());
            drop(Journal::open(out, "mine").unwrap());
        };
        assert_eq!(remove(out, "mine").len(), 9, "all are missing");
        open();
        assert_eq!(remove(out, "mine"), []);
        let paths: Vec<String> = ["plot_data".to_owned()]
            .into_iter()
            .chain(
                fs::read_dir(&logs)
                    .unwrap()
                    .map(|file| format!("logs/{}", file.unwrap().file_name().to_str().unwrap())),
            )
            .collect();
        assert_eq!(paths.len(), 9);
        for path in paths {
            for (contents, said) in [(&b""[..], "is damaged (empty)"), (&[0; 900], "is damaged"), (b"x", "is damaged")]
            {
                if contents.is_empty() && path.ends_with(MESSAGES) {
                    continue;
                }
                fs::write(out.join(&path), contents).unwrap();
                assert_eq!(remove(out, "mine"), [DamagedLog { path: path.clone(), damage: said }]);
                assert!(!out.join(&path).exists());
                open();
            }
        }
        assert_eq!(remove(out, "other"), [DamagedLog { path: JOURNAL.to_owned(), damage: "is of another campaign" }]);
    }
}
