//! The language between `compare` and the programs that it compares: blocks of bytes after their number, over a socket.

use serde::{Deserialize, Serialize};

use super::{Detail, Run};
use quagmire_cost::resource::Resource;
use quagmire_execution::info::Instrumentation;

/// Name of the hidden command that answers.
pub(super) const COMMAND: &str = "serve-runs";

/// Version of this language. It rises with every change of [`Request`], [`Answer`] or what is in them.
const VERSION: u32 = 2;

/// First message of the answering side. JSON, so that programs of other versions of quagmire can be told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Hello {
    /// Version of the language.
    pub protocol: u32,
    /// Table of resources ([`Resource::LAYOUT`]).
    pub resources: u32,
    /// Version of quagmire.
    pub version: String,
    /// Source of the counts; `None` if this version does not know it.
    #[serde(default)]
    pub instrumentation: Option<Instrumentation>,
}

impl Hello {
    /// Greeting of this version.
    pub(super) fn of(instrumentation: Instrumentation) -> Self {
        Self {
            protocol: VERSION,
            resources: Resource::LAYOUT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            instrumentation: Some(instrumentation),
        }
    }

    /// Whether the other side speaks this version of the language.
    pub(super) fn is_understood(&self) -> bool {
        self.protocol == VERSION && self.resources == Resource::LAYOUT
    }
}

/// A request; the input follows in a block of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Request {
    /// How much of the last run is wanted.
    pub detail: Detail,
    /// Number of runs in a row.
    pub repeats: u32,
    /// Whether the runs are in a new process.
    pub is_fresh: bool,
}

/// Answer to a request.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    /// The last run.
    Run(Box<Run>),
    /// The target cannot be run: the message of the error, and its exit code.
    Error(String, u8),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greeting_of_this_version_is_understood_and_others_are_not() {
        let json = serde_json::to_string(&Hello::of(Instrumentation::Counts)).unwrap();
        let understood = |json: &str| serde_json::from_str::<Hello>(json).is_ok_and(|hello| hello.is_understood());
        assert!(understood(&json));
        assert!(!understood(&json.replace(&format!("\"protocol\":{VERSION}"), "\"protocol\":1")));
        assert!(!understood(&json.replace("\"resources\":", "\"resources\":1")));
        assert!(!understood("quagmire: input serve-runs does not exist"));
    }
}
