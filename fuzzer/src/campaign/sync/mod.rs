//! Exchange of finds between campaigns over folders: between clients on several cores, and between machines, with
//! afl-fuzz among them. Both work in the same way: an entry of one campaign is a file in its queue, which appears
//! whole and never changes, and the others look there for numbers that they have not seen.

mod hits;
mod index;
mod publish;
mod queue;
mod siblings;

pub use hits::Hits;
pub use index::Index;
pub use publish::{Published, Publisher};
pub use siblings::{Progress, Sibling, Siblings};
