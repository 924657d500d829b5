//! `-merge=1`: adds to the first folder those files of the others that execute more. Files are run by processes of
//! their own, which crashes end, and which leave what they learn in the control file.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fs::{self, File},
    io::Write as _,
    path::{Path, PathBuf},
};

use quagmire_base::{
    atomic::{unwritable, write_whole},
    error::{Error, Result},
    files,
    seeds::Seeds,
};
use quagmire_execution::{
    abi::Status, bucket::bucket, counts::CountsObserver, input_page::InputPage, prepare::prepare_uncounted,
    process::End, session,
};

use sha1::{Digest as _, Sha1};

use super::{
    Call,
    artifacts::write_input,
    console::Console,
    control_file::{Control, Known, Seen},
    degradation::Check,
    ends,
    fuzz::folder,
    limits,
};

/// Code of a process that ended since a run ended early.
const ENDED_EARLY: i32 = 100;

/// Number of processes in a row that may end without a run before the target is given up.
const FUTILE_STARTS: u32 = 3;

/// A file of the folders. Its bytes are read when they are needed: corpora are larger than the memory of small machines.
struct Input {
    path: PathBuf,
    bytes: u64,
}

impl Input {
    /// The files of folders whose contents are not `known`, by their hashes.
    fn all(folders: &[PathBuf], known: &mut HashSet<[u8; 20]>) -> Result<Vec<Self>> {
        let mut inputs = Vec::new();
        for path in Seeds::paths(folders)? {
            let all = Self { path, bytes: files::LARGEST_INPUT };
            let Some(contents) = all.read()? else { continue };
            if known.insert(Sha1::digest(&contents).into()) {
                inputs.push(Self { bytes: contents.len() as u64, ..all });
            }
        }
        Ok(inputs)
    }

    /// Its name in the control file, one line.
    fn name(&self) -> String {
        self.path.to_string_lossy().replace('\n', "\\n")
    }

    /// Its bytes; `None` if it is gone or has grown, since others may share the folder.
    fn read(&self) -> Result<Option<Vec<u8>>> {
        match files::read_named(&self.path, files::LARGEST_INPUT) {
            Ok(bytes) => Ok(Some(bytes).filter(|bytes| bytes.len() as u64 <= self.bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::other(format!("cannot read {}: {error}", self.path.display()))),
        }
    }
}

/// Merges the folders into the first. Returns the exit code of the process.
///
/// # Errors
/// If files cannot be read or written, or the target cannot be run.
pub(super) fn run(call: &Call) -> Result<i32> {
    let Call { flags, paths, console, .. } = call;
    if paths.len() < 2 {
        console.say("INFO: Merge requires two or more corpus dirs");
        return Ok(0);
    }
    let folders = paths.iter().map(|path| folder(path, flags)).collect::<Result<Vec<PathBuf>>>()?;
    let mut known = HashSet::new();
    let mut all = |folders: &[PathBuf]| Input::all(folders, &mut known);
    let mut inputs = all(&folders[..1])?;
    let first = inputs.len();
    inputs.extend(all(&folders[1..])?);
    // small ones first: of each only that is noted which those before it do not execute
    let (initial, others) = inputs.split_at_mut(first);
    initial.sort_by_key(|input| input.bytes);
    others.sort_by_key(|input| input.bytes);
    let scratch = tempfile::NamedTempFile::new();
    let scratch = scratch.map_err(|error| Error::other(format!("cannot make a file in $TMPDIR: {error}")))?;
    let path = flags.text("merge_control_file").map_or_else(|| scratch.path().to_owned(), PathBuf::from);
    let files: Vec<String> = inputs.iter().map(Input::name).collect();
    let fresh = Control { files, initial: first, ..Control::default() };
    let Some(mut control) = begin(&path, fresh, &inputs, console)? else { return Ok(0) };
    console.inform(&format!(
        "MERGE-OUTER: {} files, {} in the initial corpus, {} processed earlier",
        inputs.len(),
        first,
        control.known.len()
    ));
    run_files(call, &inputs, &path, &mut control)?;
    let (chosen, features, edges) = control.choose();
    let largest = chosen.iter().map(|&file| inputs[file].bytes).max().unwrap_or(0);
    let check = match chosen.is_empty() {
        true => None,
        false => Check::new(call, usize::try_from(largest).unwrap_or(usize::MAX))?,
    };
    for &file in &chosen {
        let Some(bytes) = inputs[file].read()? else { continue };
        if check.as_ref().map(|check| check.judge(&bytes, 0)).transpose()?.flatten().is_some() {
            // as timeouts are: it would end each later session
            console
                .inform(&format!("MERGE-OUTER: left out, since it is a degradation: {}", inputs[file].path.display()));
            continue;
        }
        write_input(&folders[0], &bytes).map_err(|error| {
            let reason = error.message.split("; ").next().unwrap_or_default();
            Error::other(format!(
                "{reason}: the first folder receives what is merged: make it writable, or name another"
            ))
        })?;
    }
    console.inform(&format!(
        "MERGE-OUTER: {} new files with {features} new features added; {edges} new coverage edges",
        chosen.len()
    ));
    Ok(0)
}

/// Reads the control file, as far as it is of this merge or knows its files, and writes it. `None` if the merge was
/// completed before.
fn begin(path: &Path, fresh: Control, inputs: &[Input], console: &Console) -> Result<Option<Control>> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let mut control = fresh;
    if !text.is_empty() {
        let shown = path.display();
        console.inform(&format!("MERGE-OUTER: non-empty control file provided: '{shown}'"));
        match Control::parse(&text) {
            None => console.inform("MERGE-OUTER: bad control file, will overwrite it"),
            Some(old) => {
                console.inform(&format!(
                    "MERGE-OUTER: control file ok, {} files total, first not processed file {}",
                    old.files.len(),
                    old.started
                ));
                let is_same = old.files == control.files && old.initial == control.initial;
                if is_same && old.known.len() == old.files.len() {
                    console.inform("MERGE-OUTER: nothing to do, merge has been completed before");
                    return Ok(None);
                }
                let is_reused = reuse(&mut control, &old, inputs);
                if !is_same && is_reused {
                    console.inform(
                        "MERGE-OUTER: starting merge from scratch, but reusing coverage information from the given \
                         control file",
                    );
                }
                if !is_reused {
                    console.inform("MERGE-OUTER: starting merge from scratch: it has files that are not here");
                }
            }
        }
    }
    let mut text = control.head();
    for (&file, known) in &control.known {
        text += &(Control::started_line(file, known.bytes as usize) + &Control::lines(file, known));
    }
    write_whole(path, text.as_bytes())?;
    Ok(Some(control))
}

/// Takes over what an earlier merge has learned, if all files that it has run are still there, by path and size: it recorded
/// what a file executes only where no earlier file does. Returns whether they are.
fn reuse(control: &mut Control, old: &Control, inputs: &[Input]) -> bool {
    let mut places: HashMap<&str, &Known> =
        old.known.iter().map(|(&file, known)| (old.files[file].as_str(), known)).collect();
    let mut taken = BTreeMap::new();
    for (file, path) in control.files.iter().enumerate() {
        if places.get(path.as_str()).is_some_and(|known| known.bytes == inputs[file].bytes) {
            taken.extend(places.remove(path.as_str()).map(|known| (file, known.clone())));
        }
    }
    let is_whole = places.values().all(|known| known.features.is_empty());
    if is_whole {
        control.known = taken;
    }
    is_whole
}

/// Runs the files that are not known, in as many processes as it takes.
fn run_files(call: &Call, inputs: &[Input], path: &Path, control: &mut Control) -> Result<()> {
    let console = &call.console;
    let largest = inputs.iter().map(|input| input.bytes).max().unwrap_or(0).max(1);
    let page = InputPage::new(usize::try_from(largest).unwrap_or(usize::MAX))?;
    page.set_hang_timeout(limits(&call.flags).hang);
    let mut futile = 0;
    for attempt in 1.. {
        let open: Vec<usize> = (0..inputs.len()).filter(|file| !control.known.contains_key(file)).collect();
        if open.is_empty() {
            break;
        }
        console.inform(&format!("MERGE-OUTER: attempt {attempt}"));
        // nothing is read of the child but the control file
        let (nothing, writer) =
            std::io::pipe().map_err(|error| Error::other(format!("cannot make a pipe: {error}")))?;
        let child = session::fork(|| {
            let code = in_child(call, inputs, (&open, control), path, page.share()).unwrap_or_else(|error| {
                console.say(&format!("quagmire: {error}"));
                1
            });
            if code == 0 {
                // what the target does at its exit, such as writing a profile
                // SAFETY: the end of this process.
                unsafe { libc::exit(0) };
            }
            code
        })?;
        drop(writer);
        let (_, session::Gone { end, .. }) = session::wait(child, nothing, &page)?;
        let text = fs::read_to_string(path).map_err(|error| Error::other(format!("{}: {error}", path.display())))?;
        let now = Control::parse(&text)
            .ok_or_else(|| Error::other(format!("{} was changed by somebody else", path.display())))?;
        futile = if now.known.len() == control.known.len() { futile + 1 } else { 0 };
        *control = now;
        if futile == FUTILE_STARTS || (futile > 0 && end == End::Code(1)) {
            return Err(Error::other(format!("the target ends its process before the first run ({end})")));
        }
    }
    Ok(())
}

/// In the child: runs the files of these indices until one ends its run early. Returns the exit code.
fn in_child(
    call: &Call,
    inputs: &[Input],
    (open, control): (&[usize], &Control),
    path: &Path,
    page: InputPage,
) -> Result<i32> {
    let mut seen = control.seen();
    let failed = |error: std::io::Error| unwritable(path, &error);
    let mut file: File = files::open_to_append(path).map_err(failed)?;
    let mut executor = prepare_uncounted(call.harness, page)?;
    call.harness.limit_allocations(ends::allocation_limit(&call.flags));
    call.harness.start_timer(limits(&call.flags));
    for &at in open {
        file.write_all(Control::started_line(at, inputs[at].bytes as usize).as_bytes()).map_err(failed)?;
        let Some(bytes) = inputs[at].read()? else { continue };
        let status = executor.execute(&bytes);
        if !matches!(status, Status::Returned | Status::Rejected) {
            return Ok(ENDED_EARLY);
        }
        let known = known(executor.counts(), bytes.len(), &mut seen);
        file.write_all(Control::lines(at, &known).as_bytes()).map_err(failed)?;
    }
    Ok(0)
}

/// Features and edges that the last run was the first to execute.
fn known(counts: &CountsObserver, bytes: usize, seen: &mut Seen) -> Known {
    let mut known = Known { bytes: bytes as u64, ..Known::default() };
    for &function in counts.ran() {
        let (first, counts) = counts.counts(function);
        for (edge, &count) in (first..).zip(counts).filter(|(_, count)| **count > 0) {
            let feature = edge as u64 * 8 + u64::from(bucket(count).trailing_zeros());
            if seen.edges.insert(edge as u64) {
                known.edges.insert(edge as u64);
            }
            if seen.features.insert(feature) {
                known.features.insert(feature);
            }
        }
    }
    known
}
