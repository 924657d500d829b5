//! Choices of generators and grammars in a campaign: how they are mutated, and those of the inputs that were used lately.

pub mod mode;
pub mod model;
