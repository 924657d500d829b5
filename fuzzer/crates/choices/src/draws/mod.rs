//! Draws: what a harness takes from its input, call by call.
//!
//! `FuzzedDataProvider` takes numbers from the back of the input and text from its front. So draws side by side own one slice
//! of each of these two streams, and a part of the input (what a call of the generator has drawn, or a round of a loop) is
//! deleted, repeated, nested, reordered or replaced in both at once: the generator reads exactly the parts that were moved,
//! and a count before them is changed with them. Values are replaced in their places. An [`Overlay`] is needed only where it
//! is not known what the generator will draw, after a structural draw has got another value.
//!
//! [`Log`] says which draws own which bytes and form which parts, [`Sites`] which draws are structural, [`Bank`] holds parts
//! of other entries, and [`Mutator`] applies operators.

mod bank;
mod draw;
mod encoding;
mod log;
mod mutate;
mod parts;
mod sites;
#[cfg(test)]
mod tests;

pub use bank::Bank;
pub use draw::{Draw, Item, Kind, Overlay, Side};
pub use log::Log;
pub use mutate::{Mutant, Mutator};
pub use parts::Part;
pub use sites::{SiteKind, Sites};
