//! The target made ready in a process.

use super::{
    counts::CountsObserver, executor::HarnessExecutor, harness::Harness, input_page::InputPage, process::silence,
    program::Program,
};
use quagmire_base::error::{Error, Result};

/// Prepares the target in this process: silenced unless `debug_target`, initialised, and observed.
///
/// # Errors
/// If the harness was built by another version, has no counts, or could not be initialised.
pub fn prepare_target(harness: &'static Harness, page: InputPage, debug_target: bool) -> Result<HarnessExecutor> {
    if !debug_target {
        silence();
    }
    let executor = prepare_uncounted(harness, page)?;
    if executor.counts().program().edges() == 0 && !harness.is_uncounted() {
        return Err(Error::target(
            "the target has not one edge count: compile its sources with quagmire-cc, too, and again if they were compiled \
             before (make clean), or those of a harness with clang -fsanitize=fuzzer-no-link",
        ));
    }
    Ok(executor)
}

/// Prepares the target in this process, not silenced, even if nothing of it is counted.
///
/// # Errors
/// If the harness was built by another version, or could not be initialised.
pub fn prepare_uncounted(harness: &'static Harness, page: InputPage) -> Result<HarnessExecutor> {
    harness.initialize()?;
    // SAFETY: of an initialised harness, whose objects are the runtime's or copies that are never freed.
    let program = unsafe { Program::new(harness.modules()) };
    Ok(HarnessExecutor::new(harness, page, CountsObserver::new(program)))
}
