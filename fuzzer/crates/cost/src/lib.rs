//! Costs compared: the baseline, and what makes a difference between two inputs a fact.

pub mod baseline;
pub mod decision;
pub mod degradation;
pub mod distribution;
pub mod judgement;
pub mod rank_test;
pub mod resource;
pub mod sizes;
pub mod statistics;
