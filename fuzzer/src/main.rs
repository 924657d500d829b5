//! The `quagmire` binary: parses the command line, executes the command, and returns its exit code.

mod dispatch;

/// Commit that this is built from: scripts/install knows it.
const COMMIT: Option<&str> = option_env!("QUAGMIRE_COMMIT");

use quagmire::commands;
use quagmire_base::plain::warn;
use quagmire_execution::{fork_server::uninstrumented::launcher, orphans::Orphans};
use std::process::ExitCode;

fn main() -> ExitCode {
    // before anything takes memory, which would count as that of the programs that it starts
    if launcher::is_meant() {
        return ExitCode::from(launcher::run());
    }
    let _orphans = Orphans::adopt();
    let code = match commands::parse_for_quagmire(std::env::args_os(), COMMIT) {
        Err(stop) => stop.print(),
        Ok(parsed) => dispatch::run(parsed).unwrap_or_else(|error| {
            warn(&error.message);
            error.code
        }),
    };
    ExitCode::from(code as u8)
}
