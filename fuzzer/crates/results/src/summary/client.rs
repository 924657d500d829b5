//! Clients of a campaign on several cores.

use serde::{Deserialize, Serialize};

/// Figures of one client of a campaign.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Client {
    /// Name: `client-0` is the campaign itself; the others have folders in `clients/`.
    pub name: String,
    /// Runs of the target.
    pub executions: u64,
    /// Runs of the target per second, on average.
    pub executions_per_second: f64,
    /// Edges executed by any of its entries.
    pub edges_found: u64,
    /// Entries of its queue.
    pub entries: u64,
}
