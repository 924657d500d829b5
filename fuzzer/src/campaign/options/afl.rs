//! What is different for programs that AFL++ built: there are edges and times, and nothing else.

use super::Options;
use crate::{
    cost::resource::Resource,
    error::{Error, Result},
    output::Instrumentation,
};

impl Options {
    /// Takes the costs that there are: edges and time instead of instructions.
    ///
    /// # Errors
    /// If what was asked for is not measured.
    pub fn for_afl(mut self, program: &str) -> Result<Self> {
        let mut costs = Vec::new();
        for cost in std::mem::take(&mut self.cost) {
            // what is meant if nothing is said
            let meant = if cost == Resource::Instructions { vec![Resource::Edges, Resource::Time] } else { vec![cost] };
            costs.extend(meant.into_iter().filter(|cost| !costs.contains(cost)).collect::<Vec<_>>());
        }
        if let Some(cost) = costs.iter().find(|cost| !Instrumentation::Afl.measures(**cost)) {
            return Err(Error::usage(format!(
                "--cost {cost}: {program} was built by AFL++, which does not measure it: build it with quagmire-cc, or write \
                 edges, hottest-edge, cycles or time"
            )));
        }
        self.cost = costs;
        Ok(self)
    }
}
