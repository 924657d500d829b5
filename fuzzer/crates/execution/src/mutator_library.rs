//! AFL++'s custom mutators: shared objects with functions `afl_custom_*`, called in this process as afl-fuzz calls them.

use std::{
    ffi::{CStr, CString, c_char, c_uint, c_void},
    mem::transmute_copy,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    ptr::{null_mut, slice_from_raw_parts},
};

use crate::input_page::InputPage;
use quagmire_base::error::{Error, Result};

/// Bytes of zeros that stand for afl-fuzz's own state, whose layout is that of one version: more than any has.
const STATE_BYTES: usize = 1 << 26;

type Init = unsafe extern "C" fn(state: *mut c_void, seed: c_uint) -> *mut c_void;
type Fuzz = unsafe extern "C" fn(
    *mut c_void,
    *mut u8,
    usize,
    out: *mut *const u8,
    other: *const u8,
    usize,
    most: usize,
) -> usize;
type Havoc = unsafe extern "C" fn(*mut c_void, *mut u8, usize, out: *mut *const u8, most: usize) -> usize;
type PostProcess = unsafe extern "C" fn(*mut c_void, *mut u8, usize, out: *mut *const u8) -> usize;
type FuzzCount = unsafe extern "C" fn(*mut c_void, *const u8, usize) -> c_uint;
type QueueGet = unsafe extern "C" fn(*mut c_void, file: *const c_char) -> u8;
type QueueNewEntry = unsafe extern "C" fn(*mut c_void, file: *const c_char, parent: *const c_char) -> u8;

/// A library that is loaded, whose functions are not called yet.
#[derive(Clone, Debug)]
pub struct MutatorLibrary {
    path: PathBuf,
    init: Init,
    fuzz: Option<Fuzz>,
    /// Whether it wants no second input.
    is_alone: bool,
    havoc: Option<Havoc>,
    post_process: Option<PostProcess>,
    fuzz_count: Option<FuzzCount>,
    queue_get: Option<QueueGet>,
    queue_new_entry: Option<QueueNewEntry>,
}

impl MutatorLibrary {
    /// Loads a library, which stays loaded.
    ///
    /// # Errors
    /// A usage error, if it cannot be loaded, or has no function that makes or changes mutants.
    pub fn load(path: &Path) -> Result<Self> {
        let refused = |what: &str| Error::usage(format!("--custom-mutator {}: {what}", path.display()));
        // a name without a slash would be looked for in the system's folders
        let absolute = std::path::absolute(path).map_err(|error| refused(&error.to_string()))?;
        if !absolute.is_file() {
            return Err(refused("there is no such file: it takes a shared object that is a custom mutator of AFL++"));
        }
        let name = CString::new(absolute.as_os_str().as_bytes()).map_err(|_| refused("its name has a NUL byte"))?;
        // SAFETY: code that the user names runs, as with every target.
        let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if library.is_null() {
            // SAFETY: text of the loader after a failure.
            let why = unsafe { CStr::from_ptr(libc::dlerror()) }.to_string_lossy();
            return Err(refused(&format!("it cannot be loaded: {why}")));
        }
        // SAFETY: the types of these functions are those of AFL++'s interface.
        let loaded = unsafe {
            Self {
                path: path.to_owned(),
                init: function(library, c"afl_custom_init").ok_or_else(|| {
                    refused("it does not define afl_custom_init: it takes custom mutators of AFL++, in C or C++, not in Python")
                })?,
                fuzz: function(library, c"afl_custom_fuzz"),
                is_alone: !libc::dlsym(library, c"afl_custom_splice_optout".as_ptr()).is_null(),
                havoc: function(library, c"afl_custom_havoc_mutation"),
                post_process: function(library, c"afl_custom_post_process"),
                fuzz_count: function(library, c"afl_custom_fuzz_count"),
                queue_get: function(library, c"afl_custom_queue_get"),
                queue_new_entry: function(library, c"afl_custom_queue_new_entry"),
            }
        };
        if !loaded.mutates() && loaded.post_process.is_none() {
            return Err(refused(
                "it defines none of afl_custom_fuzz, afl_custom_havoc_mutation and afl_custom_post_process, so that there is \
                 nothing to call",
            ));
        }
        Ok(loaded)
    }

    /// Whether it makes mutants, and does not only change those of others.
    pub fn mutates(&self) -> bool {
        self.fuzz.is_some() || self.havoc.is_some()
    }

    /// Has the library prepare itself in this process, for entries in the folder `queue`. `page` is what the supervisor watches.
    ///
    /// # Errors
    /// If it says that it cannot.
    pub fn start(&self, seed: u32, queue: &Path, page: &InputPage) -> Result<StartedLibrary> {
        // SAFETY: an anonymous mapping of its own, whose pages take memory once they are written; and the library's function,
        // with what stands for afl-fuzz's state.
        let data = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            let state = libc::mmap(null_mut(), STATE_BYTES, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            if state == libc::MAP_FAILED {
                return Err(Error::other("cannot map memory for --custom-mutator"));
            }
            watched(page, || (self.init)(state, seed))
        };
        if data.is_null() {
            let path = self.path.display();
            return Err(Error::target(format!(
                "--custom-mutator {path}: its afl_custom_init says that it cannot start"
            )));
        }
        Ok(StartedLibrary {
            library: self.clone(),
            data,
            queue: queue.to_owned(),
            page: page.share(),
            room: Vec::new(),
            has_turn: true,
        })
    }
}

/// Makes a call that the supervisor watches: it tells a crash or a hang of a library from one of the target.
fn watched<T>(page: &InputPage, call: impl FnOnce() -> T) -> T {
    page.mark_call();
    let result = call();
    page.mark_call();
    result
}

/// A function of a library, if it defines it.
///
/// # Safety
/// `F` must be the type of the function.
unsafe fn function<F>(library: *mut c_void, name: &CStr) -> Option<F> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    // SAFETY: a library that is loaded; a function pointer is as large as what `dlsym` returns.
    unsafe {
        let place = libc::dlsym(library, name.as_ptr());
        (!place.is_null()).then(|| transmute_copy(&place))
    }
}

/// A library that has been started in this process.
pub struct StartedLibrary {
    library: MutatorLibrary,
    /// Pointer that its `afl_custom_init` has returned.
    data: *mut c_void,
    queue: PathBuf,
    page: InputPage,
    /// Input of a call, which the library may change in place.
    room: Vec<u8>,
    /// Whether it wants mutants of the current parent.
    has_turn: bool,
}

impl StartedLibrary {
    /// Checks that it changes no input that it has already changed: inputs are kept as they are run.
    ///
    /// # Errors
    /// A usage error, if it does.
    pub fn check<'a>(&mut self, inputs: impl Iterator<Item = &'a [u8]>) -> Result<()> {
        let most = self.page.capacity();
        for input in inputs {
            let Some(once) = self.post_process(input, most).map(<[u8]>::to_vec) else { break };
            let twice = self.post_process(&once, most);
            if !once.is_empty() && twice != Some(&once) {
                return Err(Error::usage(format!(
                    "--custom-mutator {}: its afl_custom_post_process changes what it has made itself. quagmire keeps inputs as \
                     the program gets them, which suits checksums and lengths: what translates inputs belongs into the harness",
                    self.library.path.display()
                )));
            }
        }
        Ok(())
    }

    /// Whether it makes mutants of the current parent.
    pub fn has_turn(&self) -> bool {
        self.has_turn && self.library.mutates()
    }

    /// Whether its mutants are made of two inputs.
    pub fn wants_other(&self) -> bool {
        self.library.fuzz.is_some() && !self.library.is_alone
    }

    /// Asks whether it wants mutants of an entry, whose file is in the queue.
    pub fn begin(&mut self, file: Option<&str>, parent: &[u8]) {
        let file = file.and_then(|file| self.named(file));
        // SAFETY: functions of the library, with what it has returned itself and buffers of these lengths.
        self.has_turn = watched(&self.page, || unsafe {
            let is_wanted = match (self.library.queue_get, &file) {
                (Some(queue_get), Some(file)) => queue_get(self.data, file.as_ptr()) != 0,
                _ => true,
            };
            let counts = |count: FuzzCount| count(self.data, parent.as_ptr(), parent.len()) > 0;
            is_wanted && self.library.fuzz_count.is_none_or(counts)
        });
    }

    /// Tells it of a new entry, and of the one that it was made from.
    pub fn entered(&self, file: Option<&str>, parent: Option<&str>) {
        let Some(queue_new_entry) = self.library.queue_new_entry else { return };
        let Some(file) = file.and_then(|file| self.named(file)) else { return };
        let parent = parent.and_then(|parent| self.named(parent));
        let parent = parent.as_ref().map_or(std::ptr::null(), |parent| parent.as_ptr());
        // SAFETY: a function of the library, with what it has returned itself and texts that live as long as the call.
        watched(&self.page, || unsafe { queue_new_entry(self.data, file.as_ptr(), parent) });
    }

    fn named(&self, file: &str) -> Option<CString> {
        CString::new(self.queue.join(file).as_os_str().as_bytes()).ok()
    }

    /// Makes a mutant of `input`, or of it and `other`, with at most `most` bytes. It is empty if the library makes none.
    pub fn mutate(&mut self, input: &[u8], other: &[u8], most: usize, prefers_havoc: bool) -> &[u8] {
        let size = self.fill(input, most);
        let place = self.room.as_mut_ptr();
        let mut out = std::ptr::null();
        let MutatorLibrary { fuzz, havoc, .. } = self.library;
        // SAFETY: functions of the library, with what it has returned itself and buffers of these lengths; what it returns lives
        // until the next call.
        unsafe {
            let length = watched(&self.page, || match (fuzz, havoc) {
                (_, Some(havoc)) if prefers_havoc || fuzz.is_none() => {
                    havoc(self.data, place, size, &raw mut out, most)
                }
                (Some(fuzz), _) => fuzz(self.data, place, size, &raw mut out, other.as_ptr(), other.len(), most),
                (None, _) => 0,
            });
            if out.is_null() { &[] } else { &*slice_from_raw_parts(out, length.min(most)) }
        }
    }

    /// Has it change a mutant before it is run; `None` if it leaves all mutants as they are. An empty result says that there is
    /// to be no run.
    pub fn post_process(&mut self, input: &[u8], most: usize) -> Option<&[u8]> {
        let post_process = self.library.post_process?;
        let size = self.fill(input, most);
        let mut out = std::ptr::null();
        // SAFETY: as above.
        unsafe {
            let place = self.room.as_mut_ptr();
            let length = watched(&self.page, || post_process(self.data, place, size, &raw mut out));
            Some(if out.is_null() { &[] } else { &*slice_from_raw_parts(out, length.min(most)) })
        }
    }

    /// Copies an input to where the library may change it, with room up to `most` bytes. Returns its size.
    fn fill(&mut self, input: &[u8], most: usize) -> usize {
        self.room.clear();
        self.room.reserve(most.max(input.len()));
        self.room.extend_from_slice(input);
        input.len()
    }
}
