//! End-to-end tests: build programs with the wrapper, and run `quagmire` on them. They use the binaries that
//! `scripts/build` made; `cargo test -p quagmire --test e2e campaign::` runs those of one module.
//!
//! All tests are threads of one process: none changes its environment, working folder, umask or effects of signals.
//! Tests that need the machine's cores, or depend on the clock, hold `common::alone()`.

mod common;

mod afl;
mod afl_binaries;
mod bad_input;
mod campaign;
mod chatty;
mod choices;
mod clients;
mod clusterfuzz;
mod compare;
mod compares;
mod comparisons;
mod counts;
mod custom_mutator;
mod degradations;
mod distill;
mod diversity;
mod draws;
mod early_ends;
mod engine_archive;
mod exactness;
mod executed_lines;
mod files;
mod foreign;
mod fork_server;
mod formats;
mod fuzzbench;
mod generator_object;
mod growth;
mod harnesses;
mod interruption;
mod lcov;
mod left_behind;
mod libafl;
mod libfuzzer;
mod libfuzzer_merge;
mod libfuzzer_refusals;
mod library_costs;
mod limits;
mod lines;
mod linking;
mod mask;
mod masks;
mod memory;
mod metrics;
mod mine;
mod minimize;
mod mutants;
mod mutants_bench;
mod mutants_performance;
mod mutants_run;
mod opened;
mod oss_fuzz;
mod reopened;
mod replay;
mod report;
mod resources;
mod rude;
mod rules;
mod rust;
mod sancov;
mod sanitizers;
mod screen;
mod scribbles;
mod search;
mod size;
mod skipping;
mod steering;
mod sync;
mod threads;
mod uninstrumented;
