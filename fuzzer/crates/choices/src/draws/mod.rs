//! Draws: what a harness takes from its input, call by call.

mod draw;
mod overlay;

pub use draw::{Draw, Kind, Side};
pub use overlay::{Item, Overlay};
