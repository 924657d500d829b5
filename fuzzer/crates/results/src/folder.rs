//! The output folder: holds one campaign at a time, and is never written over files of others.

use super::lock::{Lock, try_lock};
use super::names::{Ancestry, EntryName, files_in};
use quagmire_base::atomic::{remove_unfinished, remove_unfinished_of, unwritable};
use quagmire_base::error::{Error, Result};
use quagmire_base::files::{self, Folder};
use std::fs;
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

/// Folders of every campaign.
const FOLDERS: [&str; 6] = ["queue", "degradations", "ordinary", "faults", "hangs", "logs"];

/// Folder of the smallest inputs.
pub const MINIMIZED: &str = "minimized";

/// Folder of the templates that entries were made of, in files with the entries' names.
pub const TEMPLATES: &str = "templates";

/// Folders that are created when they are needed.
const LATER_FOLDERS: [&str; 4] = [MINIMIZED, TEMPLATES, "diffs", "graphs"];

/// Name of the lock file, which also marks a folder as a campaign's.
const LOCK: &str = ".lock";

/// The output folder of a running campaign, locked until it is dropped.
#[derive(Debug)]
pub struct OutputFolder {
    path: PathBuf,
    resumed: bool,
    _lock: Lock,
}

impl OutputFolder {
    /// Opens the folder for a campaign: a new one, or with `resume` the one that it holds. With `force`, renames a
    /// campaign that it holds to its name with `.old`, which replaces an older one there. Seeds inside have to be
    /// loaded before.
    ///
    /// # Errors
    /// If another campaign uses the folder, if it holds a campaign that kept an input and neither `resume` nor `force` is given, if it
    /// holds something else, if there is nothing to resume, or if it cannot be written.
    pub fn open(path: &Path, resume: bool, force: bool) -> Result<Self> {
        // without a trailing slash, which would look odd before `.old`
        let shown = path.components().as_path().display();
        match look_at(path)? {
            Contents::Foreign => Err(Error::other(format!(
                "{shown} holds files that are not a campaign's: choose another folder with -o, or empty it"
            ))),
            Contents::Nothing if resume => Err(Error::other(format!(
                "{shown} holds no campaign to resume: leave out --resume, or name the right folder with -o"
            ))),
            Contents::Nothing => Self::create(path, false),
            Contents::Campaign if resume => {
                let folder = Self::create(path, true)?;
                remove_unfinished(&Folder::named(path));
                let inside = FOLDERS.iter().chain(&LATER_FOLDERS);
                inside.for_each(|name| remove_unfinished(&Folder::named(path).inside(*name)));
                Ok(folder)
            }
            Contents::Campaign => {
                // an error about a running campaign comes first, and a running campaign is never moved
                let lock = lock(path)?;
                if !force && kept_nothing(path) {
                    clear(path)?;
                    drop(lock);
                    return Self::create(path, false);
                }
                if !force {
                    return Err(Error::other(format!(
                        "{shown} holds a campaign already: --resume goes on with it, --force starts anew and keeps it as \
                         {shown}.old"
                    )));
                }
                rotate(path)?;
                drop(lock);
                Self::create(path, false)
            }
        }
    }

    fn create(path: &Path, resumed: bool) -> Result<Self> {
        fs::create_dir_all(path).map_err(|error| unwritable(path, &error))?;
        let lock = lock(path)?;
        for name in FOLDERS {
            let folder = path.join(name);
            files::create_folder(&folder).map_err(|error| unwritable(&folder, &error))?;
        }
        Ok(Self { path: path.to_owned(), resumed, _lock: lock })
    }

    /// Path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the campaign is resumed.
    pub fn resumed(&self) -> bool {
        self.resumed
    }

    /// Removes the unfinished files of a process of this campaign that died while it wrote them.
    pub fn remove_unfinished_of(&self, process: libc::pid_t) {
        let folder = Folder::named(&self.path);
        remove_unfinished_of(&folder, process);
        FOLDERS.iter().for_each(|name| remove_unfinished_of(&folder.inside(*name), process));
    }

    /// Folder of the corpus entries.
    pub fn queue(&self) -> PathBuf {
        self.path.join("queue")
    }

    /// Folder of the confirmed degradations.
    pub fn degradations(&self) -> PathBuf {
        self.path.join("degradations")
    }

    /// Folder of the ordinary inputs beside which degradations were confirmed.
    pub fn ordinary(&self) -> PathBuf {
        self.path.join("ordinary")
    }

    /// Folder of the inputs that crash.
    pub fn faults(&self) -> PathBuf {
        self.path.join("faults")
    }

    /// Folder of the inputs that run into the hang timeout.
    pub fn hangs(&self) -> PathBuf {
        self.path.join("hangs")
    }

    /// Folder of time series and messages.
    pub fn logs(&self) -> PathBuf {
        self.path.join("logs")
    }

    /// Path of the dictionary of the tokens that have paid.
    pub fn dictionary(&self) -> PathBuf {
        self.path.join("recommended.dict")
    }

    /// Path of `summary.json`.
    pub fn summary(&self) -> PathBuf {
        self.path.join("summary.json")
    }
}

/// The folder of the campaign that a file is an input or a finding of, if it is in one.
pub fn of_file(path: &Path) -> Option<&Path> {
    let inside = path.parent()?;
    let folder = inside.parent().map(|folder| if folder == Path::new("") { Path::new(".") } else { folder })?;
    let is_of_campaign = FOLDERS.iter().any(|name| inside.ends_with(name));
    (is_of_campaign && matches!(look_at(folder), Ok(Contents::Campaign))).then_some(folder)
}

enum Contents {
    /// Nothing: it does not exist, or is empty.
    Nothing,
    /// A campaign of quagmire.
    Campaign,
    /// Files that are no campaign of quagmire.
    Foreign,
}

fn look_at(path: &Path) -> Result<Contents> {
    let mut entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Contents::Nothing),
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
            return Err(Error::other(format!("{} is not a folder: choose another name with -o", path.display())));
        }
        Err(error) => return Err(unwritable(path, &error)),
    };
    // copies often lose hidden files, so the summary counts as well
    let has_results = || files::is_file(&path.join("summary.json")) && files::is_folder(&path.join("queue"));
    let ours = files::is_file(&path.join(LOCK)) || has_results();
    Ok(match entries.next() {
        None => Contents::Nothing,
        Some(_) if ours => Contents::Campaign,
        Some(_) => Contents::Foreign,
    })
}

/// Whether a campaign has kept no input but seeds before its search began: its faults and hangs are seeds, then.
fn kept_nothing(path: &Path) -> bool {
    let is_empty = |name: &str| fs::read_dir(path.join(name)).is_ok_and(|mut entries| entries.next().is_none());
    // nothing is removed through a link
    let is_own = |name: &str| fs::symlink_metadata(path.join(name)).is_ok_and(|folder| folder.is_dir());
    // one that was refused after its seeds has no summary either
    let is_refused =
        || ["summary.json", ".checkpoint"].iter().all(|name| fs::symlink_metadata(path.join(name)).is_err());
    let is_seed = |file: &PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        name.parse::<EntryName>().is_ok_and(|name| name.orig.is_some())
    };
    FOLDERS.iter().all(|name| is_own(name))
        && is_empty("degradations")
        && (is_empty("queue") || is_refused() && files_in(&path.join("queue")).iter().all(is_seed))
        && LATER_FOLDERS.into_iter().chain(["clients"]).all(|name| fs::symlink_metadata(path.join(name)).is_err())
}

/// Removes what a campaign that kept nothing has written, but for the lock.
fn clear(path: &Path) -> Result<()> {
    for name in FOLDERS {
        for file in files_in(&path.join(name)) {
            fs::remove_file(&file).map_err(|error| unwritable(&file, &error))?;
        }
    }
    for name in ["summary.json", ".checkpoint", "plot_data", "fuzzer_setup", "fuzzer_stats", "report.html"] {
        let file = path.join(name);
        match fs::remove_file(&file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(unwritable(&file, &error)),
            _ => {}
        }
    }
    Ok(())
}

/// Locks a folder and writes the id of this process into the lock file.
fn lock(folder: &Path) -> Result<Lock> {
    let path = folder.join(LOCK);
    let mut file = files::open_lock(&Folder::named(folder), LOCK).map_err(|error| match files::is_refused(&error) {
        true => Error::other(format!(
            "{} is no lock: {error}; remove it if nobody needs it, or choose another folder with -o",
            path.display()
        )),
        false => unwritable(&path, &error),
    })?;
    match try_lock(&file) {
        Ok(true) => {}
        Ok(false) => {
            let mut holder = String::new();
            let _ = file.rewind().and_then(|()| file.read_to_string(&mut holder));
            let holder = holder.trim();
            let process = if holder.is_empty() { String::new() } else { format!(" (process {holder})") };
            return Err(Error::other(format!(
                "{} is in use by another campaign{process}: stop it, or choose another folder with -o",
                folder.display()
            )));
        }
        Err(error) => {
            return Err(Error::other(format!(
                "cannot lock {}: {error}; choose a folder on a local disk with -o",
                path.display()
            )));
        }
    }
    file.set_len(0)
        .and_then(|()| file.rewind())
        .and_then(|()| writeln!(file, "{}", std::process::id()))
        .map_err(|error| unwritable(&path, &error))?;
    Ok(Lock::of(file))
}

/// Renames a campaign to its name with `.old` and leaves an empty folder in its place, so that links to it still lead
/// there.
fn rotate(path: &Path) -> Result<()> {
    let path = fs::canonicalize(path).map_err(|error| unwritable(path, &error))?;
    let Some(name) = path.file_name() else {
        return Err(Error::other(format!("{} cannot be moved away: choose another folder with -o", path.display())));
    };
    let mut old_name = name.to_owned();
    old_name.push(".old");
    let old = path.with_file_name(old_name);
    let move_it = |what: &str| format!("{} {what}: move it away first", old.display());
    if fs::symlink_metadata(&old).is_ok() {
        let replaceable = old.is_dir() && !old.is_symlink() && !matches!(look_at(&old)?, Contents::Foreign);
        if !replaceable {
            return Err(Error::other(move_it("is not a campaign's folder and would be replaced")));
        }
        let _unused = lock(&old)?;
        fs::remove_dir_all(&old).map_err(|error| Error::other(move_it(&format!("cannot be replaced ({error})"))))?;
    }
    fs::rename(&path, &old).map_err(|error| {
        Error::other(format!(
            "cannot move {} to {} ({error}): choose another folder with -o",
            path.display(),
            old.display()
        ))
    })?;
    fs::create_dir(&path).map_err(|error| unwritable(&path, &error))
}

/// Largest template in a file, in bytes.
const LARGEST_TEMPLATE: u64 = 1 << 20;

/// Whether an input in a campaign's folder was made of a template.
pub fn is_of_template(input: &Path) -> bool {
    let templates = input.parent().and_then(Path::parent).map(|folder| folder.join(TEMPLATES));
    templates.zip(input.file_name()).is_some_and(|(folder, name)| folder.join(name).is_file())
}

/// The template that an input in a campaign's folder, or else its nearest ancestor that was made of one, was made of.
pub fn template_of(input: &Path) -> Option<String> {
    let folder = input.parent()?.parent()?;
    let names = Ancestry::read(folder).line(input.file_name()?.to_str()?);
    let read = |name: &String| files::read_named(&folder.join(TEMPLATES).join(name), LARGEST_TEMPLATE).ok();
    String::from_utf8(names.iter().find_map(read)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::{TempDir, tempdir};

    /// A path that does not exist yet, in a folder that is removed at the end.
    fn place() -> (TempDir, PathBuf) {
        let folder = tempdir().unwrap();
        let path = folder.path().join("out");
        (folder, path)
    }

    fn message(result: Result<OutputFolder>) -> String {
        let message = result.unwrap_err().message;
        assert!(!message.contains('\n'), "{message}");
        message
    }

    #[test]
    fn a_new_folder_gets_its_tree_and_names_its_process() {
        let (_keep, path) = place();
        let folder = OutputFolder::open(&path, false, false).unwrap();
        for inside in [folder.queue(), folder.degradations(), folder.faults(), folder.hangs(), folder.logs()] {
            assert!(inside.is_dir(), "{}", inside.display());
        }
        assert_eq!(fs::read_to_string(path.join(LOCK)).unwrap(), format!("{}\n", std::process::id()));
        assert!(!folder.resumed());
    }

    #[test]
    fn an_empty_folder_is_taken() {
        let (_keep, path) = place();
        fs::create_dir(&path).unwrap();
        assert!(OutputFolder::open(&path, false, false).is_ok());
    }

    #[test]
    fn a_folder_in_use_is_refused_with_the_process_whatever_the_options() {
        let (_keep, path) = place();
        let _first = OutputFolder::open(&path, false, false).unwrap();
        for (resume, force) in [(false, false), (true, false), (false, true)] {
            let message = message(OutputFolder::open(&path, resume, force));
            let holder = format!("in use by another campaign (process {})", std::process::id());
            assert!(message.contains(&holder), "{message}");
        }
        assert!(path.join("queue").is_dir());
    }

    #[test]
    fn a_campaign_that_kept_nothing_does_not_block_the_next() {
        let (keep, path) = place();
        drop(OutputFolder::open(&path, false, false).unwrap());
        for file in ["faults/id_000000,orig_a", "logs/quagmire.log", "summary.json"] {
            fs::write(path.join(file), "text").unwrap();
        }
        drop(OutputFolder::open(&path, false, false).unwrap());
        // refused after its seeds
        fs::write(path.join("queue/id_000000,orig_a"), "text").unwrap();
        let folder = OutputFolder::open(&path, false, false).unwrap();
        assert!(!folder.resumed() && !path.join("summary.json").exists());
        assert_eq!(fs::read_dir(path.join("faults")).unwrap().count(), 0);
        drop(folder);
        // nothing is removed through a link
        let home = keep.path().join("home");
        fs::create_dir(&home).unwrap();
        fs::write(home.join("thesis.tex"), "years of work").unwrap();
        fs::remove_dir(path.join("faults")).unwrap();
        std::os::unix::fs::symlink(&home, path.join("faults")).unwrap();
        assert!(OutputFolder::open(&path, false, false).is_err());
        assert!(home.join("thesis.tex").exists());
    }

    #[test]
    fn an_earlier_campaign_is_refused_without_resume_or_force() {
        let (_keep, path) = place();
        drop(OutputFolder::open(&path, false, false).unwrap());
        fs::write(path.join("queue/id_000000,orig_a"), "a").unwrap();
        fs::write(path.join("summary.json"), "{}").unwrap();
        let message = message(OutputFolder::open(&path, false, false));
        assert!(message.contains("--resume") && message.contains("--force"), "{message}");
    }

    #[test]
    fn resume_keeps_everything_but_unfinished_files() {
        let (_keep, path) = place();
        drop(OutputFolder::open(&path, false, false).unwrap());
        fs::write(path.join("queue/id_000000,orig_a"), "a").unwrap();
        fs::write(path.join("queue/.unfinished-1-2"), "ha").unwrap();
        let folder = OutputFolder::open(&path, true, false).unwrap();
        assert!(folder.resumed());
        assert!(path.join("queue/id_000000,orig_a").exists() && !path.join("queue/.unfinished-1-2").exists());
    }

    #[test]
    fn resume_of_nothing_is_an_error_and_creates_nothing() {
        let (_keep, path) = place();
        assert!(message(OutputFolder::open(&path, true, false)).contains("no campaign to resume"));
        assert!(!path.exists());
    }

    #[test]
    fn force_keeps_the_last_campaign_as_old_and_no_more() {
        let (_keep, path) = place();
        for marker in ["first", "second", "third"] {
            let folder = OutputFolder::open(&path, false, true).unwrap();
            assert_eq!(fs::read_dir(folder.queue()).unwrap().count(), 0);
            fs::write(folder.queue().join(marker), marker).unwrap();
        }
        let old = path.with_file_name("out.old");
        assert!(old.join("queue/second").exists() && !old.join("queue/first").exists());
        assert!(path.join("queue/third").exists());
    }

    #[test]
    fn what_is_not_a_campaign_is_never_touched() {
        let (_keep, path) = place();
        fs::create_dir(&path).unwrap();
        fs::write(path.join("thesis.tex"), "years of work").unwrap();
        for (resume, force) in [(false, false), (true, false), (false, true)] {
            assert!(message(OutputFolder::open(&path, resume, force)).contains("not a campaign's"));
        }
        assert_eq!(fs::read_dir(&path).unwrap().count(), 1);
        let file = path.join("thesis.tex");
        assert!(message(OutputFolder::open(&file, false, true)).contains("is not a folder"));
    }

    #[test]
    fn a_lock_that_leads_elsewhere_is_refused_before_anything_is_written() {
        use std::os::unix::fs::symlink;
        for is_link in [true, false] {
            let (keep, path) = place();
            let victim = keep.path().join("thesis.tex");
            fs::write(&victim, "years of work").unwrap();
            fs::create_dir_all(path.join("queue")).unwrap();
            fs::write(path.join("summary.json"), "{}").unwrap();
            match is_link {
                true => symlink(&victim, path.join(LOCK)).unwrap(),
                false => fs::hard_link(&victim, path.join(LOCK)).unwrap(),
            }
            for (resume, force) in [(false, false), (true, false), (false, true)] {
                let message = message(OutputFolder::open(&path, resume, force));
                assert!(message.contains(".lock is no lock") && message.contains("-o"), "{message}");
                assert_eq!(fs::read_to_string(&victim).unwrap(), "years of work");
            }
        }
    }

    #[test]
    fn a_campaign_whose_folders_lead_elsewhere_is_not_resumed() {
        let (keep, path) = place();
        drop(OutputFolder::open(&path, false, false).unwrap());
        let home = keep.path().join("home");
        fs::create_dir(&home).unwrap();
        fs::write(home.join("thesis.tex"), "years of work").unwrap();
        for name in FOLDERS {
            fs::remove_dir(path.join(name)).unwrap();
            std::os::unix::fs::symlink(&home, path.join(name)).unwrap();
            let message = message(OutputFolder::open(&path, true, false));
            assert!(message.contains(&format!("/{name}: it is not a folder, or a link to one")), "{message}");
            fs::remove_file(path.join(name)).unwrap();
            fs::create_dir(path.join(name)).unwrap();
        }
        assert_eq!(fs::read_dir(&home).unwrap().count(), 1);
    }

    #[test]
    fn force_does_not_replace_an_old_folder_that_is_not_a_campaign() {
        let (_keep, path) = place();
        drop(OutputFolder::open(&path, false, false).unwrap());
        let old = path.with_file_name("out.old");
        fs::create_dir(&old).unwrap();
        fs::write(old.join("thesis.tex"), "years of work").unwrap();
        assert!(message(OutputFolder::open(&path, false, true)).contains("out.old is not a campaign's folder"));
        assert!(old.join("thesis.tex").exists() && path.join("queue").is_dir());
    }

    #[test]
    fn force_through_a_link_moves_the_folder_and_not_the_link() {
        let (keep, path) = place();
        drop(OutputFolder::open(&path, false, false).unwrap());
        let link = keep.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let folder = OutputFolder::open(&link, false, true).unwrap();
        assert!(folder.path() == link && link.join("queue").is_dir());
        assert!(path.with_file_name("out.old").join("queue").is_dir());
    }

    #[test]
    fn a_folder_that_cannot_be_created_is_an_error() {
        assert!(
            message(OutputFolder::open(Path::new("/proc/no/such"), false, false)).contains("cannot write /proc/no")
        );
    }

    #[test]
    fn the_template_of_an_input_is_its_own_or_that_of_the_nearest_ancestor_that_has_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path();
        for name in ["queue", "degradations", TEMPLATES] {
            std::fs::create_dir(out.join(name)).expect("a folder");
        }
        let names = ["id_000000,orig_a", "id_000001,src_000000,op_growth", "id_000002,src_000001,op_havoc"];
        for name in names {
            std::fs::write(out.join("queue").join(name), "").expect("a file");
        }
        std::fs::write(out.join(TEMPLATES).join(names[1]), "rep(N){\"a\"}").expect("a file");
        let of = |name: &str| template_of(&out.join("degradations").join(name));
        assert_eq!(of(names[0]), None);
        assert_eq!(of(names[1]).as_deref(), Some("rep(N){\"a\"}"));
        assert_eq!(of(names[2]).as_deref(), Some("rep(N){\"a\"}"));
        assert_eq!(of("id_000009,src_000002,op_T.1").as_deref(), Some("rep(N){\"a\"}"));
        assert_eq!(template_of(Path::new("alone")), None);
        let is = |name: &str| is_of_template(&out.join("degradations").join(name));
        assert_eq!(names.map(is), [false, true, false]);
    }
}
