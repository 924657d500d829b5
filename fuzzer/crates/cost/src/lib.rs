//! Resources and costs, the baseline, and the statistics that decide whether one input costs more than another.

pub mod baseline;
pub mod decision;
pub mod degradation;
pub mod distribution;
pub mod judgement;
pub mod law;
pub mod noise;
pub mod resource;
pub mod sizes;
pub mod statistics;
