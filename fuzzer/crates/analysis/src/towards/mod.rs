//! Places that a search works towards (`fuzz --towards`): from what the user names to edges of the program.

mod find;
mod nearest;
pub mod patch;
pub mod place;
mod wanted;

use quagmire_base::error::{Error, ExitCode, Result};
use quagmire_execution::{harness::Harness, input_page::InputPage, prepare};
use quagmire_search::corpus::towards::TargetPlace;

pub use self::wanted::Wanted;
use crate::child::{Child, write_block};

/// Places that were found, or the message of an error and whether it is a usage error.
type Answer = Result<Vec<TargetPlace>, (String, bool)>;

/// Finds the edges of all places in the program, in a child process: this one never runs the target.
///
/// # Errors
/// A usage error if the program has no such place, with what is most like it, or if no line of a patch is code of the program.
/// A target error if nothing says where the code is, or the target cannot be loaded.
pub fn find(harness: &'static Harness, wanted: &Wanted, debug_target: bool) -> Result<Vec<TargetPlace>> {
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let page = InputPage::new(1)?;
    let mut child = Child::start(|mut stream| {
        let executor = prepare::prepare_target(harness, page.share(), debug_target);
        let found = executor.and_then(|executor| find::find(executor.counts().program(), wanted));
        let answer: Answer = found.map_err(|error| (error.message, error.code == ExitCode::Usage));
        write_block(&mut stream, &postcard::to_stdvec(&answer).ok()?)
    })?;
    let answer = child.receive_block(&page);
    let end = child.end()?;
    match answer.and_then(|bytes| postcard::from_bytes::<Answer>(&bytes).ok()) {
        Some(Ok(places)) => Ok(places),
        Some(Err((message, true))) => Err(Error::usage(message)),
        Some(Err((message, false))) => Err(Error::target(message)),
        None => Err(Error::target(format!(
            "the target ends its process before the first run ({end}): look at LLVMFuzzerInitialize and the constructors, with \
             --debug-target"
        ))),
    }
}
