//! Campaigns that share what they find, over folders: those of the other cores, and those of other machines, afl-fuzz
//! among them. One way for both: what one campaign keeps is a file in its queue, which appears whole and never changes, and
//! the others look there for numbers that they have not seen.

mod hits;
mod index;
mod publish;
mod queue;
mod siblings;

pub use hits::Hits;
pub use index::Index;
pub use publish::{Published, Publisher};
pub use siblings::{Progress, Sibling, Siblings};
