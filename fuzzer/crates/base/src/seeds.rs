//! Loading of seeds: reads files and folders and returns distinct inputs in a fixed order.

use crate::error::{Error, Result};
use crate::files::{self, LARGEST_INPUT};
use crate::format::counted;
use crate::path_filter::PathFilter;
use crate::size_limit::SizeLimit;
use std::collections::HashMap;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// An input of a campaign's start corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed {
    /// Path that it was read from.
    pub path: PathBuf,
    /// Contents; may be empty.
    pub bytes: Vec<u8>,
}

/// The seeds of a campaign, or the inputs of a replay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seeds {
    /// At least one. No duplicates, except for a replay. Ordered as given; folders sorted by name.
    pub inputs: Vec<Seed>,
    /// One line for each path that was skipped.
    pub warnings: Vec<String>,
}

/// Words of error messages for files: what they are to the user, and how they are given.
struct Role {
    noun: &'static str,
    given: &'static str,
}

const SEED: Role = Role { noun: "seed", given: "with -i" };
const INPUT: Role = Role { noun: "input", given: "on the command line" };

impl Seeds {
    /// Loads the inputs of a replay: as [`Seeds::load`], but keeps files with the same contents.
    ///
    /// # Errors
    /// A usage error if a path is missing or unreadable, or if no file is found.
    pub fn load_for_replay(paths: &[PathBuf]) -> Result<Self> {
        let found = FoundFiles::below(paths, INPUT)?;
        let read = |path: PathBuf| match files::read_named(&path, LARGEST_INPUT) {
            Ok(bytes) => Ok(Seed { path, bytes }),
            Err(error) => Err(unreadable(&INPUT, &path, &error)),
        };
        let inputs = found.files.into_iter().map(read).collect::<Result<Vec<_>>>()?;
        let seeds = Self { inputs, warnings: found.warnings };
        if seeds.inputs.is_empty() { Err(seeds.none_left(&INPUT, paths, 0, 0)) } else { Ok(seeds) }
    }

    /// Lists the files in `paths` without reading them, in the order of [`Seeds::load`], and one line for each path that
    /// is skipped.
    ///
    /// # Errors
    /// A usage error if a path is missing or unreadable, or if no file is found.
    pub fn list(paths: &[PathBuf]) -> Result<(Vec<PathBuf>, Vec<String>)> {
        let FoundFiles { files, warnings, .. } = FoundFiles::below(paths, INPUT)?;
        let seeds = Self { inputs: Vec::new(), warnings };
        if files.is_empty() { Err(seeds.none_left(&INPUT, paths, 0, 0)) } else { Ok((files, seeds.warnings)) }
    }

    /// Paths of the files in `paths`, in the order of [`Seeds::load`]; there may be none.
    ///
    /// # Errors
    /// A usage error if a path is missing or unreadable.
    pub fn paths(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
        Ok(FoundFiles::below(paths, SEED)?.files)
    }

    /// Loads every file in `paths`, searching folders recursively.
    ///
    /// Inside folders, hidden entries and links to folders are skipped, and links to files are followed only if they
    /// stay inside the folder that was named, so that a shared corpus cannot bring in other files. `filter` takes
    /// paths as found and names; of files with the same contents, the first one is kept.
    ///
    /// # Errors
    /// A usage error if a path is missing or unreadable, if `filter` cannot tell, or if no seed is left.
    pub fn load(paths: &[PathBuf], filter: Option<&PathFilter>) -> Result<Self> {
        let found = FoundFiles::below(paths, SEED)?;
        let (seeds, files, filtered) = Self::read(found, filter)?;
        if seeds.inputs.is_empty() { Err(seeds.none_left(&SEED, paths, files, filtered)) } else { Ok(seeds) }
    }

    /// Loads every file in `paths` as [`Seeds::load`] does; there may be none.
    ///
    /// # Errors
    /// A usage error if a path is missing or unreadable.
    pub fn found(paths: &[PathBuf]) -> Result<Self> {
        Ok(Self::read(FoundFiles::below(paths, SEED)?, None)?.0)
    }

    /// Reads files, each content once. Returns the numbers of files and of those that `filter` leaves out as well.
    fn read(found: FoundFiles, filter: Option<&PathFilter>) -> Result<(Self, usize, usize)> {
        let FoundFiles { files, warnings, role } = found;
        let found = files.len();
        let mut seeds = Self { inputs: Vec::new(), warnings };
        let mut known: HashMap<u64, Vec<usize>> = HashMap::new();
        let hasher = RandomState::new();
        let mut filtered = 0;
        for path in files {
            let takes = filter.map_or(Ok(true), |filter| filter.takes(&path)).map_err(|problem| {
                let path = path.display();
                Error::usage(format!("--workloads-filter: not known for {path} ({problem}): write it in a simpler way"))
            })?;
            if !takes {
                filtered += 1;
                continue;
            }
            let bytes = match files::read_named(&path, LARGEST_INPUT) {
                // other processes may remove files of a folder that they share
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                read => read.map_err(|error| unreadable(&role, &path, &error))?,
            };
            let same_hash = known.entry(hasher.hash_one(&bytes)).or_default();
            if !same_hash.iter().any(|&i| seeds.inputs[i].bytes == bytes) {
                same_hash.push(seeds.inputs.len());
                seeds.inputs.push(Seed { path, bytes });
            }
        }
        Ok((seeds, found, filtered))
    }

    /// The size of the largest seed, in bytes.
    pub fn largest(&self) -> u64 {
        self.inputs.iter().map(|seed| seed.bytes.len() as u64).max().unwrap_or(0)
    }

    /// Leaves out seeds that are far larger than `--max-size`, or than the others where no limit was asked for: the search would
    /// have no time for anything else. Adds a warning.
    pub fn leave_out_far_larger(&mut self, limit: SizeLimit) {
        let mut sizes: Vec<u64> = self.inputs.iter().map(|seed| seed.bytes.len() as u64).collect();
        sizes.sort_unstable();
        sizes.retain(|&size| size > 0);
        let median = sizes.get(sizes.len().saturating_sub(1) / 2).copied().unwrap_or(0);
        let Some(most) = limit.far_beyond(median) else { return };
        let is_far = |seed: &Seed| seed.bytes.len() as u64 > most;
        let all = self.inputs.len();
        let far: Vec<&Seed> = self.inputs.iter().filter(|seed| is_far(seed)).collect();
        let Some(largest) = far.iter().max_by_key(|seed| seed.bytes.len()).filter(|_| far.len() < all) else { return };
        let (left_out, size, path) = (far.len(), largest.bytes.len(), largest.path.display());
        let than = match limit {
            SizeLimit::Absolute(bytes) => format!("--max-size {bytes}"),
            _ => format!("the others (half of them have at most {})", counted(median, "byte")),
        };
        let are = if left_out == 1 { "is" } else { "are" };
        self.warnings.push(format!(
            "{left_out} of {all} seeds {are} far larger than {than} and left out, the largest {path} with {}: --max-size {size} takes it in",
            counted(size as u64, "byte")
        ));
        self.inputs.retain(|seed| !is_far(seed));
    }

    /// Resolves the size limit of inputs to bytes; never below the largest seed.
    ///
    /// # Errors
    /// A usage error if `--max-size` is below every seed: no mutant would fit. Likewise if the limit is above
    /// [`LARGEST_INPUT`].
    pub fn size_limit(&self, limit: SizeLimit) -> Result<u64> {
        let smallest = self.inputs.iter().map(|seed| seed.bytes.len() as u64).min().unwrap_or(0);
        match limit {
            SizeLimit::Absolute(bytes) if bytes < smallest => Err(Error::usage(format!(
                "--max-size {bytes} is below every seed: raise it to {smallest} (the smallest seed) or more, \
                 or add a smaller seed"
            ))),
            _ => match limit.resolve(self.largest()) {
                bytes if bytes > LARGEST_INPUT => Err(Error::usage(format!(
                    "{limit} makes inputs of up to {bytes} bytes: give less, the largest possible input has {LARGEST_INPUT} bytes \
                     (4 GiB)"
                ))),
                bytes => Ok(bytes),
            },
        }
    }

    fn none_left(&self, role: &Role, paths: &[PathBuf], found: usize, filtered: usize) -> Error {
        let places = paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
        let skipped = self.warnings.first().map(|warning| format!(" ({warning})")).unwrap_or_default();
        if found == 0 {
            let Role { noun, given } = role;
            Error::usage(format!("no {noun}s in {places}{skipped}: give at least one regular file {given}"))
        } else {
            Error::usage(format!(
                "no seeds left: {found} found in {places}, {filtered} of them filtered out by --workloads-filter: \
                 widen the expression or leave it out"
            ))
        }
    }
}

/// Collects the paths of files in arguments and folders.
struct FoundFiles {
    files: Vec<PathBuf>,
    warnings: Vec<String>,
    role: Role,
}

impl FoundFiles {
    fn below(paths: &[PathBuf], role: Role) -> Result<Self> {
        let mut found = Self { files: Vec::new(), warnings: Vec::new(), role };
        paths.iter().try_for_each(|path| found.add_argument(path))?;
        Ok(found)
    }

    /// Adds an argument of the user: hidden names are accepted, and links are followed.
    fn add_argument(&mut self, path: &Path) -> Result<()> {
        let kind = fs::metadata(path).map_err(|error| unreadable(&self.role, path, &error))?;
        if kind.is_dir() {
            let named = path.canonicalize().map_err(|error| unreadable(&self.role, path, &error))?;
            return self.add_folder(path, &named);
        }
        self.add_file(path.to_owned(), kind.is_file());
        Ok(())
    }

    fn add_file(&mut self, path: PathBuf, is_regular: bool) {
        if is_regular {
            self.files.push(path);
        } else {
            self.warnings.push(format!("{} is not a regular file: skipped", path.display()));
        }
    }

    /// Adds the files of a folder recursively. `named` is the folder that the user named, with links resolved.
    fn add_folder(&mut self, folder: &Path, named: &Path) -> Result<()> {
        let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let mut entries = entries.map_err(|error| unreadable(&self.role, folder, &error))?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            if entry.file_name().as_bytes().starts_with(b".") {
                continue;
            }
            let path = entry.path();
            let kind = entry.file_type().map_err(|error| unreadable(&self.role, &path, &error))?;
            if kind.is_dir() {
                self.add_folder(&path, named)?;
            } else if kind.is_symlink() {
                self.add_link(path, named);
            } else {
                self.add_file(path, kind.is_file());
            }
        }
        Ok(())
    }

    /// Adds a link to a file inside `named`. Links to folders are skipped because they may form cycles, links out of
    /// the named folder because whoever fills a corpus may not be allowed to read all that its user may.
    fn add_link(&mut self, path: PathBuf, named: &Path) {
        let stays_inside = || path.canonicalize().is_ok_and(|real| real.starts_with(named));
        match fs::metadata(&path) {
            Ok(kind) if kind.is_file() && stays_inside() => self.files.push(path),
            Ok(kind) if kind.is_file() => {
                self.warnings.push(format!(
                    "{} is a link to a file outside of {}: skipped (name it {})",
                    path.display(),
                    named.display(),
                    self.role.given
                ));
            }
            Ok(kind) if kind.is_dir() => {
                self.warnings.push(format!("{} is a link to a folder: skipped (name it with -i)", path.display()));
            }
            Ok(_) => self.add_file(path, false),
            Err(_) => self.warnings.push(format!("{} is a link to nothing: skipped", path.display())),
        }
    }
}

fn unreadable(role: &Role, path: &Path, error: &io::Error) -> Error {
    let (Role { noun, given }, path) = (role, path.display());
    Error::usage(match error.kind() {
        io::ErrorKind::NotFound => {
            format!("{noun} {path} does not exist: name an existing file or folder {given}")
        }
        io::ErrorKind::PermissionDenied => {
            format!("{noun} {path} cannot be read (permission denied): make it readable or leave it out")
        }
        _ => format!("{noun} {path} cannot be read ({error}): repair it or leave it out"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use tempfile::{TempDir, tempdir};

    /// A folder with these files, whose contents are their names unless given.
    fn folder(files: &[(&str, &str)]) -> TempDir {
        let folder = tempdir().unwrap();
        for (name, contents) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, contents).unwrap();
        }
        folder
    }

    fn load(folder: &TempDir, filter: Option<&str>) -> Result<Seeds> {
        Seeds::load(&[folder.path().to_owned()], filter.map(|f| PathFilter::new(f).unwrap()).as_ref())
    }

    fn names(folder: &TempDir, seeds: &Seeds) -> Vec<String> {
        let name = |seed: &Seed| seed.path.strip_prefix(folder.path()).unwrap().display().to_string();
        seeds.inputs.iter().map(name).collect()
    }

    #[test]
    fn folders_are_walked_in_sorted_order_without_hidden_files() {
        let folder = folder(&[("b", "1"), ("a/z", "2"), ("a/y", "3"), (".hidden", "4"), (".git/x", "5"), ("c", "")]);
        let seeds = load(&folder, None).unwrap();
        assert_eq!(names(&folder, &seeds), ["a/y", "a/z", "b", "c"]);
        assert!(seeds.warnings.is_empty());
    }

    #[test]
    fn arguments_keep_their_order_and_hidden_files_may_be_named() {
        let folder = folder(&[("b", "1"), (".a", "2")]);
        let seeds = Seeds::load(&[folder.path().join("b"), folder.path().join(".a")], None).unwrap();
        assert_eq!(names(&folder, &seeds), ["b", ".a"]);
    }

    #[test]
    fn identical_contents_count_once() {
        let folder = folder(&[("b", "same"), ("a", "same"), ("c", "other")]);
        assert_eq!(names(&folder, &load(&folder, None).unwrap()), ["a", "c"]);
    }

    #[test]
    fn links_to_files_inside_are_followed_and_links_out_or_in_circles_are_not() {
        let folder = folder(&[("real", "1"), ("below/.hidden", "2")]);
        let outside = tempdir().unwrap();
        fs::write(outside.path().join("far"), "3").unwrap();
        symlink("below/.hidden", folder.path().join("link")).unwrap();
        symlink(outside.path().join("far"), folder.path().join("out")).unwrap();
        symlink(folder.path(), folder.path().join("circle")).unwrap();
        symlink("nowhere", folder.path().join("broken")).unwrap();
        let seeds = load(&folder, None).unwrap();
        assert_eq!(names(&folder, &seeds), ["link", "real"]);
        assert_eq!(seeds.warnings.len(), 3, "{:?}", seeds.warnings);
        let out = seeds.warnings.iter().find(|warning| warning.contains("outside of")).unwrap();
        assert!(out.contains("/out is a link") && out.contains("with -i"), "{out}");
        // what the user names is the user's choice
        let named = Seeds::load(&[folder.path().join("out")], None).unwrap();
        assert_eq!(named.inputs[0].bytes, b"3");
    }

    #[test]
    fn what_is_not_a_regular_file_is_skipped_with_a_warning() {
        let folder = folder(&[("real", "1")]);
        let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("socket")).unwrap();
        let seeds = load(&folder, None).unwrap();
        assert_eq!(names(&folder, &seeds), ["real"]);
        assert!(seeds.warnings[0].contains("socket is not a regular file"));
        let error = Seeds::load(&["/dev/null".into()], None).unwrap_err();
        assert!(error.message.contains("/dev/null is not a regular file"), "{error}");
    }

    #[test]
    fn pipes_do_not_hang_and_endless_files_do_not_fill_the_memory() {
        let folder = folder(&[("real", "1")]);
        rustix::fs::mkfifoat(rustix::fs::CWD, folder.path().join("pipe"), rustix::fs::Mode::RWXU).unwrap();
        let seeds = load(&folder, None).unwrap();
        assert_eq!((names(&folder, &seeds), seeds.warnings.len()), (vec!["real".to_owned()], 1));
        fs::File::create(folder.path().join("sparse")).unwrap().set_len(100 << 30).unwrap();
        let error = load(&folder, None).unwrap_err();
        assert!(error.message.contains("sparse cannot be read (it is larger than"), "{error}");
    }

    #[test]
    fn the_filter_is_searched_for_in_the_path() {
        let folder = folder(&[("a.xml", "1"), ("b.txt", "2"), ("xml/c", "3")]);
        assert_eq!(names(&folder, &load(&folder, Some("xml")).unwrap()), ["a.xml", "xml/c"]);
        assert_eq!(names(&folder, &load(&folder, Some(r"\.xml$")).unwrap()), ["a.xml"]);
    }

    #[test]
    fn no_seed_left_says_how_many_were_found_and_filtered() {
        let error = load(&folder(&[("a", "1"), ("b", "2")]), Some("nothing like it")).unwrap_err();
        assert_eq!(error.code, crate::error::ExitCode::Usage);
        assert!(error.message.contains("2 found in") && error.message.contains("2 of them filtered"), "{error}");
        let error = load(&folder(&[(".hidden", "1")]), None).unwrap_err();
        assert!(error.message.starts_with("no seeds in ") && error.message.contains("-i"), "{error}");
    }

    #[test]
    fn a_missing_path_is_a_usage_error_with_its_name() {
        let error = Seeds::load(&["/no/such/seed".into()], None).unwrap_err();
        assert_eq!(error.code, crate::error::ExitCode::Usage);
        assert!(error.message.contains("/no/such/seed does not exist"), "{error}");
    }

    #[test]
    fn a_max_size_below_every_seed_is_refused_and_a_larger_seed_is_not_cut() {
        let seeds = load(&folder(&[("a", "12345"), ("b", "1234567890")]), None).unwrap();
        let error = seeds.size_limit(SizeLimit::Absolute(4)).unwrap_err();
        assert!(error.message.contains("--max-size 4") && error.message.contains("raise it to 5"), "{error}");
        assert_eq!(seeds.size_limit(SizeLimit::Absolute(5)), Ok(10));
        assert_eq!(seeds.size_limit(SizeLimit::Absolute(50)), Ok(50));
        assert_eq!(seeds.size_limit(SizeLimit::Increase(5)), Ok(15));
    }

    #[test]
    fn a_seed_that_is_far_larger_than_the_others_or_the_limit_is_left_out_and_named() {
        let growing = SizeLimit::Growing { first: 4000, most: 1_000_000 };
        let large = "x".repeat(70_000);
        let left = |files: &[(&str, &str)], limit| {
            let folder = folder(files);
            let mut seeds = load(&folder, None).unwrap();
            seeds.leave_out_far_larger(limit);
            (names(&folder, &seeds).join(" "), seeds.warnings)
        };
        let (names, warnings) = left(&[("a", "12345"), ("b", &large), ("c", "")], growing);
        assert_eq!((names.as_str(), warnings.len()), ("a c", 1));
        let beginning =
            "1 of 3 seeds is far larger than the others (half of them have at most 5 bytes) and left out, the largest ";
        assert!(warnings[0].starts_with(beginning), "{warnings:?}");
        assert!(warnings[0].ends_with("/b with 70,000 bytes: --max-size 70000 takes it in"), "{warnings:?}");
        let (names, warnings) = left(&[("a", "12345"), ("b", &large)], SizeLimit::Absolute(4000));
        assert_eq!(names, "a");
        assert!(
            warnings[0].starts_with("1 of 2 seeds is far larger than --max-size 4000 and left out, "),
            "{warnings:?}"
        );
        for limit in [SizeLimit::Increase(9), SizeLimit::Ratio(2.0), SizeLimit::Absolute(5000)] {
            assert_eq!(left(&[("a", "12345"), ("b", &large)], limit), ("a b".to_owned(), vec![]));
        }
        assert_eq!(left(&[("b", &large)], growing).0, "b", "what is alone is ordinary");
        assert_eq!((growing.first(100), growing.resolve(100)), (4100, 1_000_100));
        assert_eq!(SizeLimit::Absolute(50).first(100), 100);
    }

    #[test]
    fn a_size_that_no_input_can_have_is_refused_with_the_largest() {
        let seeds = load(&folder(&[("a", "12345")]), None).unwrap();
        assert_eq!(seeds.size_limit(SizeLimit::Absolute(LARGEST_INPUT)), Ok(LARGEST_INPUT));
        for (limit, option) in [
            (SizeLimit::Absolute(u64::MAX), "--max-size 18446744073709551615"),
            (SizeLimit::Increase(u64::MAX), "--max-size-increase 18446744073709551615"),
            (SizeLimit::Ratio(1e300), "--max-size-ratio 1e300"),
        ] {
            let error = seeds.size_limit(limit).unwrap_err();
            assert!(error.message.starts_with(option) && error.message.contains("4294967296 bytes"), "{error}");
        }
    }

    #[test]
    fn inputs_of_a_replay_are_all_kept_and_called_inputs() {
        let folder = folder(&[("b", "same"), ("a", "same")]);
        let inputs = Seeds::load_for_replay(&[folder.path().to_owned()]).unwrap();
        assert_eq!(names(&folder, &inputs), ["a", "b"]);
        let error = Seeds::load_for_replay(&["/no/such/input".into()]).unwrap_err();
        assert!(error.message.starts_with("input /no/such/input does not exist"), "{error}");
        assert!(
            Seeds::load_for_replay(&["/dev/null".into()]).unwrap_err().message.starts_with("no inputs in /dev/null")
        );
    }
}
