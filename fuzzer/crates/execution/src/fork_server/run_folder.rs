//! The folder of the runs of one fork server: the input under a name that programs expect, and whatever a run writes beside it,
//! which is removed before the next one.

use std::{
    ffi::OsStr,
    fs::{self, DirBuilder, File, Metadata, Permissions},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use rustix::{
    io::Errno,
    process::{Pid, test_kill_process},
};

use quagmire_base::error::{Error, Result};

/// Longest extension, in bytes: names of saved inputs end in it.
pub const LONGEST_EXTENSION: usize = 50;

/// Name of the input's file, before its extension.
const INPUT: &str = "input";

/// Bits of a mode that a run may have changed.
const MODE: u32 = 0o7777;

/// Permissions of the folder, and of the input.
const FOLDER_MODE: u32 = 0o700;
const INPUT_MODE: u32 = 0o600;

/// Length of the part of a folder's name that tells the process, and of the part that tells its folders apart.
const PROCESS_LETTERS: usize = 8;
const NUMBER_LETTERS: usize = 8;

/// Number of the next folder of this process. Static, since names belong to the process.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Files that the runs of a program see, beside those of the user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFiles {
    /// Extension of the file that replaces `@@`, without its dot; `None` if a descriptor without a name replaces it.
    pub extension: Option<String>,
    /// Whether runs have a working folder of their own.
    pub scratch: bool,
    /// Private folder of the command; `None` if there is neither.
    pub place: Option<PathBuf>,
}

impl RunFiles {
    /// Whether they need a private folder.
    pub fn need_folder(&self) -> bool {
        self.extension.is_some() || self.scratch
    }
}

/// Checks an extension as typed, with or without its dot. `None` for an empty one, which stands for none.
///
/// # Errors
/// A usage error that says which extensions there are.
pub fn checked_extension(typed: &str) -> Result<Option<String>> {
    let extension = typed.strip_prefix('.').unwrap_or(typed);
    if !extension.is_empty() && !is_extension(extension) {
        return Err(Error::usage(format!(
            "-e {typed}: an extension has letters, digits and ._+- only, {LONGEST_EXTENSION} at most: write one such as json, or '' \
             for none"
        )));
    }
    Ok(Some(extension.to_owned()).filter(|extension| !extension.is_empty()))
}

/// Whether files can have this extension: it leads to no other folder, and stands in names of saved inputs.
pub fn is_extension(extension: &str) -> bool {
    let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || b"._+-".contains(&byte);
    !extension.is_empty() && extension.len() <= LONGEST_EXTENSION && extension.bytes().all(is_usual)
}

/// The folder of one fork server's runs. It is removed when this value is dropped.
pub(crate) struct RunFolder {
    path: PathBuf,
    /// Number of the folder in its file system.
    folder: u64,
    /// The open folder.
    handle: File,
    /// Size of the folder while it is tidy; `None` if sizes of folders do not tell whether files are in them.
    size: Option<u64>,
    input: Option<Named>,
    /// Whether it is the working folder of a process.
    is_entered: bool,
}

/// The input's file.
struct Named {
    path: PathBuf,
    /// Number of the file in its file system, and of its names.
    file: u64,
    links: u64,
    /// A second name out of the reach of runs, for a file that cannot be replaced by another.
    anchor: Option<PathBuf>,
}

impl RunFolder {
    /// Creates a folder, and in it the input if that has an extension. Removes those of processes that have ended.
    pub(crate) fn create(place: &Path, extension: Option<&str>, is_entered: bool) -> io::Result<(Self, Option<File>)> {
        remove_dead(place);
        let name =
            letters(std::process::id().into(), PROCESS_LETTERS) + &letters(NEXT.fetch_add(1, Relaxed), NUMBER_LETTERS);
        let path = place.join(name);
        DirBuilder::new().mode(FOLDER_MODE).create(&path)?;
        let handle = File::open(&path)?;
        let mut folder = Self { folder: handle.metadata()?.ino(), path, handle, size: None, input: None, is_entered };
        let file = extension.map(|extension| {
            let path = folder.path.join(format!("{INPUT}.{extension}"));
            let file = new_file(&path)?;
            let metadata = file.metadata()?;
            folder.input = Some(Named { path, file: metadata.ino(), links: metadata.nlink(), anchor: None });
            io::Result::Ok(file)
        });
        let file = file.transpose()?;
        folder.weigh()?;
        Ok((folder, file))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Path of the input's file; `None` if it has no extension.
    pub(crate) fn input(&self) -> Option<&Path> {
        self.input.as_ref().map(|input| input.path.as_path())
    }

    /// Whether it is the working folder of the runs.
    pub(crate) fn is_entered(&self) -> bool {
        self.is_entered
    }

    /// Keeps the input the same file whatever runs do to its name: somebody has it open.
    ///
    /// # Errors
    /// If there is no room for a second name.
    pub(crate) fn anchor(&mut self) -> io::Result<()> {
        let Some(input) = self.input.as_mut().filter(|input| input.anchor.is_none()) else { return Ok(()) };
        let anchor = self.path.with_extension("anchor");
        fs::hard_link(&input.path, &anchor)?;
        input.links = fs::symlink_metadata(&anchor)?.nlink();
        input.anchor = Some(anchor);
        Ok(())
    }

    /// Finds out whether the size of the folder tells what is in it, as in memory: one look at it is cheaper than a list.
    fn weigh(&mut self) -> io::Result<()> {
        let size = |folder: &Self| folder.handle.metadata().map(|metadata| metadata.size());
        let tidy = size(self)?;
        let other = self.path.join("other");
        new_file(&other)?;
        let untidy = size(self)?;
        fs::remove_file(&other)?;
        self.size = Some(tidy).filter(|&tidy| untidy > tidy && size(self).is_ok_and(|size| size == tidy));
        Ok(())
    }

    /// Makes the folder as it was before the last run. Returns the input's file if it is another one now. Call it between runs.
    ///
    /// # Errors
    /// If it cannot be done: the folder is gone, and a process is in it.
    #[inline]
    pub(crate) fn tidy(&mut self) -> io::Result<Option<File>> {
        if self.is_tidy() { Ok(None) } else { self.restore() }
    }

    /// Whether everything is as it should be.
    fn is_tidy(&self) -> bool {
        let is_usual = |input: &Named, file: &Metadata| {
            input.is(file) && file.mode() & MODE == INPUT_MODE && file.nlink() == input.links
        };
        if let Some(input) = &self.input
            && !fs::symlink_metadata(&input.path).is_ok_and(|file| is_usual(input, &file))
        {
            return false;
        }
        let Ok(folder) = self.handle.metadata() else { return false };
        let holds_no_more = || match self.size {
            Some(size) => folder.size() == size,
            None => fs::read_dir(&self.path).is_ok_and(|entries| entries.count() == usize::from(self.input.is_some())),
        };
        folder.mode() & MODE == FOLDER_MODE && folder.nlink() > 0 && holds_no_more()
    }

    /// Removes what does not belong there, and makes the input's file again if it is gone.
    #[cold]
    fn restore(&mut self) -> io::Result<Option<File>> {
        if fs::symlink_metadata(&self.path).map_or(true, |metadata| metadata.ino() != self.folder || !metadata.is_dir())
        {
            if self.is_entered {
                return Err(io::ErrorKind::NotFound.into());
            }
            remove_any(&self.path)?;
            DirBuilder::new().mode(FOLDER_MODE).create(&self.path)?;
            self.handle = File::open(&self.path)?;
            self.folder = self.handle.metadata()?.ino();
        }
        self.handle.set_permissions(Permissions::from_mode(FOLDER_MODE))?;
        let kept = self.input.as_ref().and_then(|input| input.path.file_name()).map(OsStr::to_owned);
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            if Some(entry.file_name()) != kept {
                remove_any(&entry.path())?;
            }
        }
        let Some(input) = &mut self.input else { return Ok(None) };
        if fs::symlink_metadata(&input.path)
            .is_ok_and(|metadata| input.is(&metadata) && metadata.nlink() == input.links)
        {
            fs::set_permissions(&input.path, Permissions::from_mode(INPUT_MODE))?;
            return Ok(None);
        }
        remove_any(&input.path)?;
        if let Some(anchor) = &input.anchor {
            fs::hard_link(anchor, &input.path)?;
            fs::set_permissions(&input.path, Permissions::from_mode(INPUT_MODE))?;
            input.links = fs::symlink_metadata(&input.path)?.nlink();
            return Ok(None);
        }
        let file = new_file(&input.path)?;
        input.file = file.metadata()?.ino();
        Ok(Some(file))
    }
}

impl Named {
    /// Whether this describes the input's file. All files of the folder are in one file system, unless something was mounted.
    fn is(&self, metadata: &Metadata) -> bool {
        metadata.ino() == self.file && metadata.is_file()
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        // what is left is removed with the private folder
        let _ = remove_any(&self.path);
        if let Some(Named { anchor: Some(anchor), .. }) = &self.input {
            let _ = fs::remove_file(anchor);
        }
    }
}

/// Creates a file that was not there.
fn new_file(path: &Path) -> io::Result<File> {
    let file = File::options().read(true).write(true).create_new(true).mode(INPUT_MODE).open(path)?;
    // whatever the user's mask is
    file.set_permissions(Permissions::from_mode(INPUT_MODE))?;
    Ok(file)
}

/// Writes a number in letters, so many of them: the last ones if there are more. Names made of them have one length, and are alike to
/// programs that look at the letters of a path.
pub(super) fn letters(number: u64, length: usize) -> String {
    (0..length).rev().map(|place| char::from(b'a' + (number >> (4 * place) & 15) as u8)).collect()
}

/// Process that made a folder of this name.
fn process_of(name: &OsStr) -> Option<libc::pid_t> {
    let letters = name.to_str()?.get(..PROCESS_LETTERS)?;
    let digit = |letter: u8| (b'a'..=b'p').contains(&letter).then(|| i64::from(letter - b'a'));
    let number = letters.bytes().try_fold(0, |number, letter| Some(number << 4 | digit(letter)?))?;
    number.try_into().ok().filter(|&process| process > 0)
}

/// Removes the folders of processes that have ended: workers that were killed leave theirs.
fn remove_dead(place: &Path) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let is_dead = |process| Pid::from_raw(process).is_some_and(|one| test_kill_process(one) == Err(Errno::SRCH));
        if process_of(&entry.file_name()).is_some_and(is_dead) {
            let _ = remove_any(&entry.path());
        }
    }
}

/// Removes whatever has this name, links not followed; nothing is fine, too.
pub(super) fn remove_any(path: &Path) -> io::Result<()> {
    let is_folder = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata.is_dir(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let gone = if is_folder {
        fs::remove_dir_all(path).or_else(|_| {
            open_up(path);
            fs::remove_dir_all(path)
        })
    } else {
        fs::remove_file(path)
    };
    gone.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

/// Permits this user everything in folders, which may forbid it.
fn open_up(folder: &Path) {
    let _ = fs::set_permissions(folder, Permissions::from_mode(FOLDER_MODE));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{FileExt, symlink};

    fn scene() -> (tempfile::TempDir, RunFolder, File) {
        let place = tempfile::tempdir().unwrap();
        let (folder, file) = RunFolder::create(place.path(), Some("json"), false).unwrap();
        (place, folder, file.unwrap())
    }

    fn names(folder: &RunFolder) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(&folder.path)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn whatever_a_run_does_to_the_folder_the_next_one_finds_the_input_alone() {
        type Deed = fn(&Path, &Path);
        let deeds: [(Deed, bool); 11] = [
            (|_, _| {}, false),
            (|input, _| fs::write(input, "more than there was").unwrap(), false),
            (|_, folder| fs::write(folder.join("beside"), "x").unwrap(), false),
            (|_, folder| fs::create_dir_all(folder.join("a/b/c")).unwrap(), false),
            (|input, _| fs::set_permissions(input, Permissions::from_mode(0o000)).unwrap(), false),
            (
                |_, folder| {
                    fs::create_dir_all(folder.join("closed/in")).unwrap();
                    fs::set_permissions(folder.join("closed"), Permissions::from_mode(0o000)).unwrap();
                    fs::set_permissions(folder, Permissions::from_mode(0o500)).unwrap();
                },
                false,
            ),
            (|input, _| fs::remove_file(input).unwrap(), true),
            (|input, folder| fs::rename(input, folder.join("input.jsom")).unwrap(), true),
            (
                |input, _| {
                    fs::remove_file(input).unwrap();
                    symlink("/etc/passwd", input).unwrap();
                },
                true,
            ),
            (
                |input, _| {
                    fs::remove_file(input).unwrap();
                    fs::create_dir_all(input.join("x")).unwrap();
                },
                true,
            ),
            (|_, folder| fs::remove_dir_all(folder).unwrap(), true),
        ];
        let (_place, mut folder, mut file) = scene();
        for (number, (deed, is_replaced)) in deeds.into_iter().enumerate() {
            file.set_len(0).unwrap();
            file.write_all_at(b"input", 0).unwrap();
            let path = folder.input().unwrap().to_owned();
            deed(&path, &folder.path.clone());
            let replaced = folder.tidy().unwrap();
            assert_eq!(replaced.is_some(), is_replaced, "deed {number}");
            file = replaced.unwrap_or(file);
            assert_eq!(names(&folder), ["input.json"]);
            file.write_all_at(b"next", 0).unwrap();
            file.set_len(4).unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"next", "deed {number}");
            assert_eq!(fs::metadata(&path).unwrap().mode() & MODE, INPUT_MODE);
        }
    }

    #[test]
    fn an_anchored_input_stays_the_same_file() {
        let (_place, mut folder, file) = scene();
        folder.anchor().unwrap();
        for _ in 0..2 {
            fs::remove_file(folder.input().unwrap()).unwrap();
            assert!(folder.tidy().unwrap().is_none());
            file.write_all_at(b"as it was", 0).unwrap();
            assert_eq!(fs::read(folder.input().unwrap()).unwrap(), b"as it was");
            assert!(folder.is_tidy());
        }
        let anchor = folder.path.with_extension("anchor");
        assert!(anchor.exists());
        drop(folder);
        assert!(!anchor.exists());
    }

    #[test]
    fn a_working_folder_that_is_gone_is_an_error() {
        let place = tempfile::tempdir().unwrap();
        let (mut folder, file) = RunFolder::create(place.path(), None, true).unwrap();
        assert!(file.is_none() && folder.tidy().is_ok());
        fs::write(folder.path().join("core"), "x").unwrap();
        assert!(folder.tidy().is_ok() && names(&folder).is_empty());
        fs::remove_dir_all(folder.path()).unwrap();
        assert!(folder.tidy().is_err());
    }

    #[test]
    fn folders_of_dead_processes_are_removed() {
        let place = tempfile::tempdir().unwrap();
        let dead = std::process::Command::new("true").spawn().unwrap();
        let process = dead.id();
        assert!(dead.wait_with_output().unwrap().status.success());
        let name = letters(process.into(), PROCESS_LETTERS) + &letters(0, NUMBER_LETTERS);
        assert_eq!(process_of(OsStr::new(&name)), Some(process as libc::pid_t));
        fs::create_dir(place.path().join(&name)).unwrap();
        fs::create_dir(place.path().join("theirs")).unwrap();
        let (first, _) = RunFolder::create(place.path(), None, false).unwrap();
        let (second, _) = RunFolder::create(place.path(), None, false).unwrap();
        assert!(!place.path().join(&name).exists() && place.path().join("theirs").exists());
        assert!(first.path().exists() && first.path() != second.path());
        assert_eq!(first.path().as_os_str().len(), second.path().as_os_str().len());
    }

    #[test]
    fn extensions_are_checked() {
        for (typed, extension) in
            [("json", Some("json")), (".tar.gz", Some("tar.gz")), ("c++", Some("c++")), ("", None)]
        {
            assert_eq!(checked_extension(typed).unwrap().as_deref(), extension);
        }
        for typed in ["a/b", "a b", "a\0", "ä", "a,b", &"x".repeat(201), &"x".repeat(LONGEST_EXTENSION + 1)] {
            let error = checked_extension(typed).unwrap_err();
            assert!(error.message.contains("-e ") && error.message.contains("such as json"), "{error}");
        }
    }
}
