//! The `quagmire` binary: parses the command line, executes the command, and returns its exit code.

mod dispatch;

use quagmire::cli;
use quagmire_base::plain::warn;
use std::process::ExitCode;

fn main() -> ExitCode {
    let code = match cli::parse_for_quagmire(std::env::args_os()) {
        Err(stop) => stop.print(),
        Ok(command) => dispatch::run(command).unwrap_or_else(|error| {
            warn(&error.message);
            error.code
        }),
    };
    ExitCode::from(code as u8)
}
