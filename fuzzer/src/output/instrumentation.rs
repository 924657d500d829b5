//! By whom a target was built, and so what can be said of its runs.

use serde::{Deserialize, Serialize};

use crate::cost::resource::Resource;

/// What counts in the target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Instrumentation {
    /// Our pass: exact counts with weights.
    #[default]
    Counts,
    /// AFL++: eight bits for each edge, which wrap around. Instructions are edges then, and times are told by the clock on
    /// the wall where no CPU clock is at hand.
    Afl,
}

impl Instrumentation {
    /// Nothing to be said about.
    pub fn is_usual(&self) -> bool {
        *self == Self::Counts
    }

    /// What `instructions` are.
    pub fn work(self) -> &'static str {
        match self {
            Self::Counts => "instructions",
            Self::Afl => "edges",
        }
    }

    /// What `time` is.
    pub fn time(self) -> &'static str {
        match self {
            Self::Counts => "CPU time",
            Self::Afl => "time",
        }
    }

    /// Whether it tells what a run uses of a resource.
    pub fn measures(self, resource: Resource) -> bool {
        match self {
            Self::Counts => true,
            Self::Afl => {
                matches!(resource, Resource::Edges | Resource::HottestEdge | Resource::Cycles | Resource::Time)
            }
        }
    }
}
