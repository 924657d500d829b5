//! Draws: what a harness takes from its input, call by call.

mod bank;
mod draw;
mod edit;
mod encoding;
mod log;
#[cfg(test)]
mod model;
mod moves;
mod mutate;
mod overlay;
mod parts;
mod sites;
#[cfg(test)]
mod tests;
mod values;

pub use bank::Bank;
pub use draw::{Draw, Kind, Side};
pub use log::Log;
pub use mutate::{Mutant, Mutator};
pub use overlay::{Item, Overlay};
pub use parts::Part;
pub use sites::{SiteKind, Sites};
