//! A campaign, from options to findings.

pub mod options;
pub mod seeds;
