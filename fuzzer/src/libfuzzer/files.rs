//! Files as arguments: each is run by itself, and whatever ends a run ends the process.

use std::time::Instant;

use quagmire_base::error::Result;
use quagmire_execution::{input_page::InputPage, prepare::prepare_uncounted};

use super::{Call, degradation::Check, ends, read};

/// Runs each file as often as `-runs` says, once without it.
///
/// # Errors
/// If a file cannot be read, or the target cannot be initialised.
pub(super) fn run(call: &Call) -> Result<i32> {
    let Call { program, harness, flags, paths, console } = call;
    let inputs = paths.iter().map(|path| read(path)).collect::<Result<Vec<Vec<u8>>>>()?;
    let largest = inputs.iter().map(Vec::len).max().unwrap_or(0);
    // before the target is initialised in this process: measurements start it afresh
    if let Some(check) = Check::new(call, largest)? {
        for (path, input) in paths.iter().zip(&inputs) {
            if let Some(found) = check.judge(input, flags.count("degradation_margin").unwrap_or(0))? {
                console.inform(&format!("Running: {path}"));
                found.report(console);
                return Ok(ends::timeout_code(flags));
            }
        }
    }
    let page = InputPage::new(largest.max(1))?;
    let times = flags.count("runs").unwrap_or(1);
    let mut executor = prepare_uncounted(harness, page.share())?;
    console.inform(&format!("{program}: Running {} inputs {times} time(s) each.", inputs.len()));
    ends::end_process(harness, flags, console);
    for (path, input) in paths.iter().zip(&inputs) {
        console.inform(&format!("Running: {path}"));
        let started = Instant::now();
        for _ in 0..times {
            executor.execute(input);
            if !page.holds(input) {
                ends::overwritten(flags, console);
            }
        }
        console.inform(&format!("Executed {path} in {} ms", started.elapsed().as_millis()));
    }
    console.inform(
        "***\n*** NOTE: fuzzing was not performed, you have only\n\
         ***       executed the target code on a fixed set of inputs.\n***",
    );
    Ok(0)
}
