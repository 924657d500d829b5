//! Symbolization: from addresses in the running program to functions and source lines.

use std::{
    borrow::Cow,
    collections::HashMap,
    ffi::CStr,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use addr2line::{Loader, Location};

/// Function and source line of an address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeLocation {
    /// Demangled name of the function; the address within its object if unknown.
    pub function: String,
    /// `file:line`, if there is debug information.
    pub location: Option<String>,
}

/// A source function that an address is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Linkage name of the function.
    pub function: String,
    /// Path of the file with the line.
    pub file: String,
    /// Line number; 0 if unknown.
    pub line: u32,
}

/// A file mapped into the target's process.
#[derive(Clone, Debug)]
pub(crate) struct LoadedObject {
    /// Path under which its debug information can be read.
    pub path: PathBuf,
    /// Load bias: the difference between run-time addresses and the file's.
    pub base: u64,
    /// Run-time address ranges, the end exclusive.
    pub ranges: Vec<(u64, u64)>,
}

/// Object and symbol of an address.
#[derive(Clone, Debug)]
pub(crate) struct SymbolAt {
    /// File of the object.
    pub object: PathBuf,
    /// Load bias of the object, which tells it from others.
    pub base: u64,
    /// Linkage name and run-time address of the symbol; `None` if the object is stripped.
    pub found: Option<(String, u64)>,
}

/// Objects of a target that runs in another process; empty if it runs in this one. Static: symbolizers are made far
/// from the fork server, which knows the objects, in a process with one target.
static ELSEWHERE: Mutex<Vec<LoadedObject>> = Mutex::new(Vec::new());

/// Symbolizes addresses of another process from now on, in which these objects are loaded.
pub(crate) fn look_elsewhere(objects: Vec<LoadedObject>) {
    *ELSEWHERE.lock().unwrap_or_else(PoisonError::into_inner) = objects;
}

/// Set if addresses are numbers of edges. Static as the objects above.
static NUMBERS: AtomicBool = AtomicBool::new(false);

/// Treats addresses as entry numbers of AFL's map from now on: nothing says where they are in the code.
pub(crate) fn count_edges() {
    NUMBERS.store(true, Relaxed);
}

/// Symbolizer. Opens the debug information of an object once, when it is first needed.
#[derive(Default)]
pub struct Symbols {
    objects: Vec<LoadedObject>,
    loaders: HashMap<usize, Option<Loader>>,
}

unsafe extern "C" fn collect(info: *mut libc::dl_phdr_info, _size: usize, data: *mut libc::c_void) -> libc::c_int {
    // SAFETY: called by dl_iterate_phdr with a valid record, and with the vector that `Symbols::new` passed.
    unsafe {
        let info = &*info;
        let objects = &mut *data.cast::<Vec<LoadedObject>>();
        let name = CStr::from_ptr(info.dlpi_name).to_string_lossy().into_owned();
        let path = if name.is_empty() { PathBuf::from("/proc/self/exe") } else { PathBuf::from(name) };
        let headers = std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into());
        let ranges = headers
            .iter()
            .filter(|h| h.p_type == libc::PT_LOAD)
            .map(|h| (info.dlpi_addr + h.p_vaddr, info.dlpi_addr + h.p_vaddr + h.p_memsz))
            .collect();
        objects.push(LoadedObject { path, base: info.dlpi_addr, ranges });
    }
    0
}

impl Symbols {
    /// Creates a symbolizer of the objects that are loaded now.
    pub fn new() -> Self {
        let mut symbols = Self::default();
        symbols.update();
        symbols
    }

    /// Adds objects that were loaded since.
    pub fn update(&mut self) {
        if NUMBERS.load(Relaxed) {
            return;
        }
        let mut objects = ELSEWHERE.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if objects.is_empty() {
            // SAFETY: the callback gets the vector for the length of this call.
            unsafe { libc::dl_iterate_phdr(Some(collect), (&raw mut objects).cast()) };
        }
        let known = |object: &LoadedObject| self.objects.iter().any(|o| o.base == object.base && o.path == object.path);
        objects.retain(|object| !known(object));
        self.objects.extend(objects);
    }

    /// Files of the objects.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.objects.iter().map(|object| &*object.path)
    }

    /// Address relative to its object, which is the same in every process; `None` outside of all objects.
    pub fn relative(&self, pc: u64) -> Option<u64> {
        self.base(pc).map(|base| pc - base)
    }

    /// Name of an edge without a source line, in a function of this name.
    pub fn edge(&self, function: &str, edge: usize) -> String {
        if NUMBERS.load(Relaxed) { function.to_owned() } else { format!("{function}#{edge}") }
    }

    /// Debug information of the object that holds a run-time address, and the address in it; `None` if there is no file.
    fn loader_of(&mut self, pc: u64) -> Option<(&Loader, u64)> {
        let holds = |object: &LoadedObject| object.ranges.iter().any(|&(from, to)| (from..to).contains(&pc));
        if !self.objects.iter().any(holds) {
            self.update();
        }
        let index = self.objects.iter().position(holds)?;
        let object = &self.objects[index];
        let loader = self.loaders.entry(index).or_insert_with(|| Loader::new(&object.path).ok()).as_ref()?;
        Some((loader, pc - object.base))
    }

    /// Load bias of the object that holds a run-time address; `None` outside of all objects.
    pub(crate) fn base(&self, pc: u64) -> Option<u64> {
        let holds = |object: &&LoadedObject| object.ranges.iter().any(|&(from, to)| (from..to).contains(&pc));
        self.objects.iter().find(holds).map(|object| object.base)
    }

    /// Object and symbol of a run-time address; `None` outside of all objects.
    pub(crate) fn symbol(&mut self, pc: u64) -> Option<SymbolAt> {
        let found = self.loader_of(pc).and_then(|(loader, address)| {
            loader.find_symbol_info(address).map(|symbol| (symbol.name().to_owned(), pc - (address - symbol.address())))
        });
        let holds = |object: &&LoadedObject| object.ranges.iter().any(|&(from, to)| (from..to).contains(&pc));
        let object = self.objects.iter().find(holds)?;
        Some(SymbolAt { object: object.path.clone(), base: object.base, found })
    }

    /// Function and source line of a run-time address.
    pub fn place(&mut self, pc: usize) -> CodeLocation {
        let pc = pc as u64;
        if NUMBERS.load(Relaxed) {
            return CodeLocation { function: format!("edge {pc} of AFL's map"), location: None };
        }
        let Some((loader, address)) = self.loader_of(pc) else {
            return CodeLocation { function: format!("{:#x}", self.relative(pc).unwrap_or(pc)), location: None };
        };
        let location = location(loader, address);
        let function = loader.find_symbol(address).map(demangle);
        CodeLocation {
            function: function.unwrap_or_else(|| format!("{:#x}", self.relative(pc).unwrap_or(pc))),
            location,
        }
    }

    /// Function and source line of the call that returns to an address relative to its object: to the first object that has
    /// such an address, which is the program.
    pub fn caller(&mut self, relative: u64) -> CodeLocation {
        let holds = |object: &LoadedObject| {
            let pc = object.base.wrapping_add(relative);
            object.ranges.iter().any(|&(from, to)| (from..to).contains(&pc))
        };
        let base = self.objects.iter().find(|object| holds(object)).map_or(0, |object| object.base);
        self.place(base.wrapping_add(relative).saturating_sub(1) as usize)
    }

    /// Source functions that a run-time address is in, the innermost inlined one first; empty without debug information.
    pub(crate) fn frames(&mut self, pc: usize) -> Vec<Frame> {
        if NUMBERS.load(Relaxed) {
            return Vec::new();
        }
        let Some((loader, address)) = self.loader_of(pc as u64) else { return Vec::new() };
        let symbol = loader.find_symbol(address);
        let mut found = Vec::new();
        let Ok(mut frames) = loader.find_frames(address) else { return found };
        while let Ok(Some(frame)) = frames.next() {
            let Some(location) = frame.location else { return Vec::new() };
            let name = frame.function.as_ref().and_then(|function| function.raw_name().ok()).map(Cow::into_owned);
            let (Some(file), Some(function)) = (location.file, name.or_else(|| symbol.map(str::to_owned))) else {
                return Vec::new();
            };
            found.push(Frame { function, file: file.to_owned(), line: location.line.unwrap_or(0) });
        }
        // debug information that is for lines only has a function of C++ or Rust without its namespace
        let is_mangled = |name: &str| name.starts_with("_Z") || name.starts_with("_R");
        if let (Some(outermost), Some(symbol)) = (found.last_mut(), symbol.filter(|symbol| is_mangled(symbol)))
            && !is_mangled(&outermost.function)
        {
            outermost.function = symbol.to_owned();
        }
        found
    }
}

/// Source line of an address. For inlined code of a library of the compiler it is the line in which that is used.
fn location(loader: &Loader, address: u64) -> Option<String> {
    let mut frames = loader.find_frames(address).ok()?;
    let mut innermost = None;
    while let Ok(Some(frame)) = frames.next() {
        let Some(Location { file: Some(file), line, .. }) = frame.location else { continue };
        let place = line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}"));
        if !is_of_library(file) {
            return Some(place);
        }
        innermost = innermost.or(Some(place));
    }
    innermost
}

/// Beginnings of paths of sources that come with a compiler or the system.
const LIBRARY_ROOTS: [&str; 4] = ["/rustc/", "/rust/deps/", "/usr/include/", "/usr/lib/"];

/// Parts of such paths where a compiler is installed elsewhere.
const LIBRARY_FOLDERS: [&str; 4] = ["/include/c++/", "/lib/gcc/", "/lib/clang/", "/lib/rustlib/src/rust/library/"];

/// Whether a source file belongs to a standard library, of C++ or Rust, or to the system's headers: nobody repairs it.
pub fn is_of_library(file: &str) -> bool {
    LIBRARY_ROOTS.iter().any(|root| file.starts_with(root)) || LIBRARY_FOLDERS.iter().any(|part| file.contains(part))
}

/// Demangles names of Rust, without their hash, and of C++; leaves others unchanged.
pub fn demangle(symbol: &str) -> String {
    if let Ok(name) = rustc_demangle::try_demangle(symbol) {
        return format!("{name:#}");
    }
    // the parser also accepts type names: `f` for float
    let mangled = symbol.starts_with("_Z").then_some(symbol);
    mangled
        .and_then(|symbol| cpp_demangle::Symbol::new(symbol).ok())
        .and_then(|parsed| parsed.demangle().ok())
        .unwrap_or_else(|| symbol.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_demangled() {
        assert_eq!(demangle("_ZN3foo3barEi"), "foo::bar(int)");
        assert_eq!(demangle("_ZN3foo3bar17h05af221e174051e9E"), "foo::bar");
        assert_eq!(demangle("_RNvC6_123foo3bar"), "123foo::bar");
        assert_eq!(demangle("main"), "main");
        assert_eq!(demangle("f"), "f");
    }

    #[test]
    fn files_of_a_standard_library_are_known_by_their_folder() {
        let rust = "/rustc/59807616e1fa/library/core/src/str/validations.rs";
        let own = "/home/me/.rustup/toolchains/stable/lib/rustlib/src/rust/library/core/src/str/mod.rs";
        let elsewhere = "/opt/gcc-14/include/c++/14/bits/regex_executor.tcc";
        let of_std = "/rust/deps/hashbrown-0.15.2/src/raw/mod.rs";
        let cpp = ["/usr/include/c++/12/bits/stl_vector.h", "/usr/lib/llvm-19/include/c++/v1/string", elsewhere];
        for file in [rust, own, of_std].into_iter().chain(cpp) {
            assert!(is_of_library(file), "{file}");
        }
        for file in
            ["src/main.rs", "/home/me/.cargo/registry/src/index/json5-1.3.7/src/error.rs", "/home/me/usr/lib/a.c"]
        {
            assert!(!is_of_library(file), "{file}");
        }
    }

    #[test]
    fn an_address_of_this_program_is_found_and_one_of_nothing_is_shown() {
        let mut symbols = Symbols::new();
        let here = symbols.place(names_are_demangled as *const () as usize);
        assert!(here.function.contains("names_are_demangled"), "{here:?}");
        assert_eq!(symbols.place(16).function, "0x10");
    }
}
