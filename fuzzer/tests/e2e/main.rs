//! End-to-end tests: build programs with the wrapper, and run `quagmire` on them. They use the binaries that
//! `scripts/build` made; `cargo test -p quagmire --test e2e campaign::` runs those of one module.
//!
//! All tests are threads of one process: none changes its environment, working folder, umask or effects of signals.
//! Tests that need the machine's cores, or depend on the clock, hold `common::alone()`.

mod common;

mod afl;
mod afl_binaries;
mod afl_mutator;
mod bad_input;
mod campaign;
mod choices;
mod clients;
mod clusterfuzz;
mod code_tokens;
mod compare;
mod compares;
mod comparisons;
mod counts;
mod custom_mutator;
mod distill;
mod diversity;
mod draws;
mod early_ends;
mod engine_archive;
mod exactness;
mod files;
mod fork_server;
mod fuzzbench;
mod generator_object;
mod growth;
mod growth_search;
mod harnesses;
mod init;
mod input_files;
mod installed;
mod interruption;
mod left_behind;
mod libafl;
mod libfuzzer;
mod library_costs;
mod limits;
mod lines;
mod linking;
mod mask;
mod memory_search;
mod metrics;
mod minimize;
mod mutants;
mod mutants_bench;
mod mutants_performance;
mod mutants_run;
mod opened;
mod oss_fuzz;
mod reconciliation;
mod reopened;
mod replay;
mod report;
mod report_pages;
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
mod towards;
mod uninstrumented;
mod unseen;
