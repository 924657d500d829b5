//! The target made ready in a process.

use std::{ffi::CString, os::raw::c_char};

use super::{
    abi::{ABI, Harness},
    counts::CountsObserver,
    executor::HarnessExecutor,
    fork_server,
    input_page::InputPage,
    process::silence,
    program::Program,
};
use quagmire_base::error::{Error, Result};

/// Prepares the target in this process: silenced unless `debug_target`, initialised, and observed.
///
/// # Errors
/// If the harness was built by another version, has no counts, or could not be initialised.
pub fn prepare_target(harness: &'static Harness, page: InputPage, debug_target: bool) -> Result<HarnessExecutor> {
    if harness.abi != ABI {
        return Err(Error::target("the harness was built by another version of quagmire-cc: build it again"));
    }
    if !debug_target {
        silence();
    }
    if let Some(initialize) = harness.initialize {
        let name = std::env::args().next().unwrap_or_default();
        let name = CString::new(name).unwrap_or_default().into_raw(); // the target may keep it
        let mut arguments: *mut *mut c_char = Box::leak(Box::new([name, std::ptr::null_mut()])).as_mut_ptr();
        let mut count = 1;
        // SAFETY: LLVMFuzzerInitialize's contract: an argument vector that it may change.
        unsafe { initialize(&raw mut count, &raw mut arguments) };
    }
    if let Some(failure) = fork_server::take_failure() {
        return Err(failure);
    }
    // SAFETY: a static of the runtime.
    let program = Program::new(unsafe { &*harness.modules });
    if program.edges() == 0 {
        return Err(Error::target(
            "the harness has the engine but not one edge count: compile its sources with quagmire-cc too",
        ));
    }
    Ok(HarnessExecutor::new(harness, page, CountsObserver::new(program)))
}
