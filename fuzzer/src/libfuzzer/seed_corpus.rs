//! Ordinary inputs that come with a harness: `NAME_seed_corpus` or `NAME_seed_corpus.zip` beside it, as in builds for
//! OSS-Fuzz.

use std::{
    collections::HashSet,
    ffi::OsString,
    io::Read as _,
    path::{Path, PathBuf},
};

use quagmire_base::{
    error::{Error, Result},
    files,
    seeds::Seeds,
};
use zip::ZipArchive;

/// End of the name of the folder, and of the archive without `.zip`.
const SUFFIX: &str = "_seed_corpus";

/// Reads the ordinary inputs of the harness that this process is: distinct, in the order of their names. Empty if there
/// are none.
///
/// # Errors
/// If the folder or archive cannot be read.
pub(super) fn of_this_harness() -> Result<Vec<Vec<u8>>> {
    beside(&program()?)
}

/// Reason why there are no ordinary inputs, and the remedy.
pub(super) fn why_none() -> String {
    let shown = program().map(|program| with_suffix(&program, "").display().to_string()).unwrap_or_default();
    format!("there are no ordinary inputs to compare with: put them into {shown}.zip or the folder {shown}")
}

/// Path of the harness that this process is.
fn program() -> Result<PathBuf> {
    std::env::current_exe().map_err(|error| Error::other(format!("cannot tell where this harness is: {error}")))
}

fn with_suffix(program: &Path, extension: &str) -> PathBuf {
    let mut name = OsString::from(program);
    name.push(SUFFIX);
    name.push(extension);
    name.into()
}

fn beside(program: &Path) -> Result<Vec<Vec<u8>>> {
    let (folder, archive) = (with_suffix(program, ""), with_suffix(program, ".zip"));
    let mut inputs = if folder.is_dir() {
        Seeds::found(&[folder])?.inputs.into_iter().map(|seed| seed.bytes).collect()
    } else if archive.is_file() {
        unpacked(&archive).map_err(|error| {
            Error::other(format!("{}: {error}: make it anew with zip, or remove it", archive.display()))
        })?
    } else {
        Vec::new()
    };
    let mut known = HashSet::new();
    inputs.retain(|input| known.insert(input.clone()));
    Ok(inputs)
}

/// Files of an archive, in the order of their names.
fn unpacked(path: &Path) -> std::result::Result<Vec<Vec<u8>>, String> {
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let mut archive = ZipArchive::new(file).map_err(|error| error.to_string())?;
    let mut found = Vec::new();
    let mut left = files::LARGEST_INPUT;
    for at in 0..archive.len() {
        let entry = archive.by_index(at).map_err(|error| error.to_string())?;
        if !entry.is_file() {
            continue;
        }
        let (name, mut bytes) = (String::from_utf8_lossy(entry.name_raw()).into_owned(), Vec::new());
        // an archive may claim any size, and hold more than it claims
        entry.take(left + 1).read_to_end(&mut bytes).map_err(|error| format!("{name}: {error}"))?;
        left = left
            .checked_sub(bytes.len() as u64)
            .ok_or_else(|| format!("its files are larger than {} bytes", files::LARGEST_INPUT))?;
        found.push((name, bytes));
    }
    found.sort();
    Ok(found.into_iter().map(|(_, bytes)| bytes).collect())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use zip::{ZipWriter, write::SimpleFileOptions};

    use super::*;

    #[test]
    fn a_folder_comes_before_an_archive_and_each_input_counts_once() {
        let scene = tempfile::tempdir().unwrap();
        let program = scene.path().join("parser");
        assert_eq!(beside(&program).unwrap(), Vec::<Vec<u8>>::new());
        let mut archive = ZipWriter::new(std::fs::File::create(scene.path().join("parser_seed_corpus.zip")).unwrap());
        archive.add_directory("more/", SimpleFileOptions::default()).unwrap();
        for (name, bytes) in [("more/b", "second"), ("a", "first"), ("more/c", "second")] {
            archive.start_file(name, SimpleFileOptions::default()).unwrap();
            archive.write_all(bytes.as_bytes()).unwrap();
        }
        archive.finish().unwrap();
        assert_eq!(beside(&program).unwrap(), [b"first".to_vec(), b"second".to_vec()]);
        std::fs::create_dir(scene.path().join("parser_seed_corpus")).unwrap();
        std::fs::write(scene.path().join("parser_seed_corpus/x"), "other").unwrap();
        assert_eq!(beside(&program).unwrap(), [b"other".to_vec()]);
    }

    #[test]
    fn a_damaged_archive_is_an_error_with_its_name() {
        let scene = tempfile::tempdir().unwrap();
        std::fs::write(scene.path().join("parser_seed_corpus.zip"), "PK, but nothing else").unwrap();
        let error = beside(&scene.path().join("parser")).unwrap_err();
        assert!(error.message.contains("parser_seed_corpus.zip: ") && !error.message.contains('\n'), "{error}");
    }
}
