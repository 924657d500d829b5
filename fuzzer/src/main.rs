//! The `quagmire` binary: parse, call, map the result to an exit code.

use quagmire::cli;
use quagmire::output::plain::warn;
use std::process::ExitCode;

fn main() -> ExitCode {
    let code = match cli::parse_for_quagmire(std::env::args_os()) {
        Err(stop) => stop.print(),
        Ok(command) => cli::run(command).unwrap_or_else(|error| {
            warn(&error.message);
            error.code
        }),
    };
    ExitCode::from(code as u8)
}
