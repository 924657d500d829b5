//! Options of places that a campaign works towards.

use quagmire_analysis::towards::{
    Wanted,
    patch::{ChangedLines, changed_lines},
    place::Place,
};
use quagmire_base::{
    error::{Error, Result},
    files,
};
use std::path::Path;

use super::args::TowardsArgs;

/// Places of a campaign, and what they are for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Towards {
    /// The places, as named.
    pub wanted: Wanted,
    /// Whether they have no influence on the search.
    pub is_watched_only: bool,
}

/// Resolves the places, and reads the patches.
///
/// # Errors
/// A usage error if one makes no sense, or there is nothing to watch.
pub(super) fn towards(args: TowardsArgs, is_watched_only: bool) -> Result<Towards> {
    let place = |typed: String| match Place::parse(&typed) {
        Ok(place) => Ok((typed, place)),
        Err(why) => Err(Error::usage(format!("--towards {typed}: {why}"))),
    };
    let patch = |file| patch(file).map(|changes| (file.to_owned(), changes));
    let wanted = Wanted {
        places: args.towards.into_iter().map(place).collect::<Result<_>>()?,
        patches: args.towards_patch.iter().map(|file| patch(file)).collect::<Result<_>>()?,
    };
    if is_watched_only && wanted.is_empty() {
        return Err(Error::usage("--experiment towards-watch has nothing to watch: name a place with --towards"));
    }
    Ok(Towards { wanted, is_watched_only })
}

fn patch(file: &Path) -> Result<Vec<ChangedLines>> {
    let refused = |why: &dyn std::fmt::Display| Error::usage(format!("--towards-patch {}: {why}", file.display()));
    let bytes = files::read_named(file, files::LARGEST_TEXT).map_err(|error| refused(&error))?;
    let changes = changed_lines(&String::from_utf8_lossy(&bytes)).map_err(|why| refused(&why))?;
    if changes.is_empty() {
        return Err(refused(&"it changes no line of a file that is there after it: give a patch that does"));
    }
    Ok(changes)
}
