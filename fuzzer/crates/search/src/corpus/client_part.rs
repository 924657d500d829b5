//! Division of the branches between the clients of a campaign.

/// Number of consecutive branches that belong to the same client.
const NEIGHBOURS: usize = 4;

/// Share of the branches that a client works on first, where several clients share the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientPart {
    /// Number of the client, from 0.
    pub number: u32,
    /// Number of clients, at least 1.
    pub of: u32,
}

impl Default for ClientPart {
    fn default() -> Self {
        Self { number: 0, of: 1 }
    }
}

impl ClientPart {
    /// Whether a branch belongs to this client.
    pub(super) fn has(self, branch: usize) -> bool {
        // neighbours go to the same client: their masks are alike
        (branch / NEIGHBOURS) as u32 % self.of == self.number
    }
}
