//! Places that a search works towards (`fuzz --towards`): from what the user names to edges of the program.

mod find;
pub mod patch;
pub mod place;

use std::path::PathBuf;

use quagmire_base::error::{Error, Result};
use quagmire_execution::{harness::Harness, input_page::InputPage, prepare::prepare_target, session::in_child};
use quagmire_search::corpus::towards::TargetPlace;

use self::{patch::ChangedLines, place::Place};

/// Places as named by the user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Places, each as typed and as understood.
    pub places: Vec<(String, Place)>,
    /// Patches: the file as typed, and the lines that it changes.
    pub patches: Vec<(PathBuf, Vec<ChangedLines>)>,
}

impl Wanted {
    /// Whether no place is named.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty() && self.patches.is_empty()
    }
}

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
    let found = in_child(&page, || {
        let executor = prepare_target(harness, page.share(), debug_target)?;
        find::find(executor.counts().program(), wanted)
    })?;
    found.map_err(|gone| {
        Error::target(format!(
            "the target ends its process before the first run ({}): look at LLVMFuzzerInitialize and the constructors, with \
             --debug-target",
            gone.end
        ))
    })
}
