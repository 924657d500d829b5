//! End-to-end tests: programs that are built with the wrapper, and what `quagmire` makes of them. They use the binaries that
//! `scripts/build` made; `cargo test -p quagmire --test e2e campaign::` runs those of one module.
//!
//! All are threads of one process: no test changes its environment, working folder, umask or effects of signals. Those that
//! want the machine's cores, or go by its clock, hold `common::alone()`.

mod common;

mod afl;
mod afl_binaries;
mod bad_input;
mod campaign;
mod chatty;
mod clients;
mod compares;
mod counts;
mod early_ends;
mod exactness;
mod executed_lines;
mod files;
mod fork_server;
mod harnesses;
mod interruption;
mod left_behind;
mod limits;
mod lines;
mod linking;
mod mask;
mod masks;
mod memory;
mod metrics;
mod opened;
mod reopened;
mod replay;
mod report;
mod resources;
mod rude;
mod rules;
mod sanitizers;
mod screen;
mod scribbles;
mod search;
mod size;
mod skipping;
mod sync;
mod threads;
