//! Objects and archives of a link whose code has no counts: what they do costs nothing in a campaign, and nothing of it is
//! found. Reads section headers, and symbols only where an archive has such members.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::scan::Linked;

/// Number of files that the warning names.
const NAMED: usize = 3;

/// Largest table that is read from an object: of names of sections, of symbols.
const LARGEST_TABLE: u64 = 1 << 28;

/// Beginnings of the names of sections that objects with counts have: quagmire's, and SanitizerCoverage's.
const COUNTS: [&str; 2] = ["__qgm_", "__sancov_"];

/// Function that code of gcc's `-fsanitize-coverage=trace-pc` calls, which leaves no section.
const TRACE_PC: &[u8] = b"__sanitizer_cov_trace_pc";

/// Libraries of compilers and of the system, wherever they are.
const SYSTEM: &str = "libc libm libdl librt libpthread libgcc libgcc_s libgcc_eh libstdc++ libc++ libc++abi libunwind libatomic \
     libgomp";

/// Folders of the system.
const SYSTEM_FOLDERS: [&str; 5] = ["/lib", "/lib64", "/lib32", "/usr/lib", "/usr/lib64"];

/// One line that names the objects, archives and libraries that have code and no counts, with the remedy; `None` if there
/// are none. `compiles`: whether the command compiles code beside them, of which no symbols are known yet.
pub(crate) fn warning(linked: &Linked, compiles: bool) -> Option<String> {
    let uncounted = uncounted(linked, compiles);
    let named: Vec<&str> = uncounted.iter().take(NAMED).map(String::as_str).collect();
    let more = uncounted.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!named.is_empty()).then(|| {
        format!(
            "quagmire-cc: warning: no counts in {}{more}: what is slow there is not found; build with CC=quagmire-cc and \
             CXX=quagmire-c++ (QUAGMIRE_WARN_UNCOUNTED=0 leaves this line out)",
            named.join(", ")
        )
    })
}

/// Names of the files without counts, and for archives of which only some members have none, how many.
fn uncounted(linked: &Linked, compiles: bool) -> Vec<String> {
    let mut known = HashSet::new();
    let files: Vec<(PathBuf, Vec<Object>)> = files(linked)
        .into_iter()
        .filter(|path| known.insert(path.clone()))
        .filter_map(|path| objects(&path).map(|objects| (path, objects)))
        .collect();
    let is_whole = linked.whole_archives || compiles;
    let any_member = || files.iter().flat_map(|(_, objects)| objects).any(|one| one.is_member && one.is_uncounted);
    let pulled = (!is_whole && any_member()).then(|| pulled(&files));
    let is_pulled = |file: usize, at: usize| {
        pulled.as_ref().is_none_or(|pulled| pulled.contains(&(file, at))) || !files[file].1[at].is_member
    };
    let name = |(file, (path, objects)): (usize, &(PathBuf, Vec<Object>))| {
        let of = |at: &usize| is_pulled(file, *at);
        let without = (0..objects.len()).filter(of).filter(|&at| objects[at].is_uncounted).count();
        let counted = objects.iter().any(|object| object.is_counted);
        let path = path.display();
        match (without, counted) {
            (0, _) => None,
            (_, false) => Some(path.to_string()),
            (without, true) => Some(format!("{without} of {} members of {path}", objects.len())),
        }
    };
    files.iter().enumerate().filter_map(name).collect()
}

/// Files of a link that are not the system's: those that are named, and those of `-l` in the folders of `-L`.
fn files(linked: &Linked) -> Vec<PathBuf> {
    let found = |name: &std::ffi::OsString| {
        let candidates = match name.as_bytes() {
            [b':', file @ ..] => vec![file.to_vec()],
            name => ["so", "a"].map(|end| [b"lib", name, b".", end.as_bytes()].concat()).to_vec(),
        };
        let in_folder = |folder: &std::ffi::OsString| {
            candidates.iter().map(|file| Path::new(folder).join(OsStr::from_bytes(file))).find(|path| path.is_file())
        };
        linked.folders.iter().find_map(in_folder)
    };
    let named = linked.files.iter().map(PathBuf::from);
    named.chain(linked.libraries.iter().filter_map(found)).filter(|path| !is_of_system(path)).collect()
}

fn is_of_system(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.split('.').next().unwrap_or_default();
    let is_runtime = name.starts_with("libclang_rt.") || name.starts_with("libquagmire") || stem.starts_with("crt");
    let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    is_runtime
        || SYSTEM.split(' ').any(|name| name == stem)
        || SYSTEM_FOLDERS.iter().any(|folder| real.starts_with(folder))
}

/// An object of a link: a file, or a member of an archive.
#[derive(Debug)]
struct Object {
    part: Part,
    is_member: bool,
    is_counted: bool,
    /// Whether a compiler has made code in it, without counts. Assembly is what it is.
    is_uncounted: bool,
    sections: Vec<Section>,
}

/// A part of a file.
#[derive(Debug, Clone)]
struct Part {
    file: Rc<File>,
    start: u64,
    size: u64,
}

impl Part {
    fn read(&self, offset: u64, size: u64) -> Option<Vec<u8>> {
        let is_inside = offset.checked_add(size).is_some_and(|end| end <= self.size);
        let mut bytes = vec![0; usize::try_from(size).ok().filter(|_| is_inside && size <= LARGEST_TABLE)?];
        self.file.read_exact_at(&mut bytes, self.start + offset).ok()?;
        Some(bytes)
    }
}

/// Header of a section.
#[derive(Debug, Clone)]
struct Section {
    name: String,
    kind: u32,
    flags: u64,
    offset: u64,
    size: u64,
    link: usize,
    info: usize,
}

const SYMTAB: u32 = 2;
const EXECUTABLE: u64 = 4;

/// A number in little-endian order, which the compile targets have.
fn number(bytes: &[u8], at: usize, size: usize) -> u64 {
    bytes.get(at..at + size).map_or(0, |part| part.iter().rev().fold(0, |all, &byte| all << 8 | u64::from(byte)))
}

/// The text that begins at an offset of a table and ends with a zero byte.
fn text(table: &[u8], at: u64) -> &[u8] {
    let rest = usize::try_from(at).ok().and_then(|at| table.get(at..)).unwrap_or_default();
    rest.split(|&byte| byte == 0).next().unwrap_or_default()
}

/// Section headers of an ELF file of 64 bits; `None` if it is none.
fn sections(part: &Part) -> Option<Vec<Section>> {
    let header = part.read(0, 64)?;
    if !header.starts_with(b"\x7fELF\x02\x01") || number(&header, 58, 2) != 64 {
        return None;
    }
    let (table, mut count, mut names) = (number(&header, 40, 8), number(&header, 60, 2), number(&header, 62, 2));
    if count == 0 || names == 0xffff {
        // too many for the header: the first section tells
        let first = part.read(table, 64)?;
        count = if count == 0 { number(&first, 32, 8) } else { count };
        names = if names == 0xffff { number(&first, 40, 4) } else { names };
    }
    let headers = part.read(table, count.checked_mul(64)?)?;
    let one = |header: &[u8]| Section {
        name: String::new(),
        kind: number(header, 4, 4) as u32,
        flags: number(header, 8, 8),
        offset: number(header, 24, 8),
        size: number(header, 32, 8),
        link: number(header, 40, 4) as usize,
        info: number(header, 44, 4) as usize,
    };
    let mut all: Vec<Section> = headers.chunks_exact(64).map(one).collect();
    let of_names = all.get(usize::try_from(names).ok()?)?;
    let of_names = part.read(of_names.offset, of_names.size)?;
    for (section, header) in all.iter_mut().zip(headers.chunks_exact(64)) {
        section.name = String::from_utf8_lossy(text(&of_names, number(header, 0, 4))).into_owned();
    }
    Some(all)
}

impl Object {
    /// Reads the section headers of an object; `None` if it is no ELF file, such as one of link-time optimisation.
    fn read(part: Part, is_member: bool) -> Option<Self> {
        let sections = sections(&part)?;
        let has = |test: &dyn Fn(&Section) -> bool| sections.iter().any(test);
        let is_counted = has(&|section| COUNTS.iter().any(|name| section.name.starts_with(name)));
        let has_code = has(&|section| section.flags & EXECUTABLE != 0 && section.size > 0);
        // compilers leave their name, assemblers do not
        let is_compiled = has(&|section| section.name == ".comment" && section.size > 0);
        let mut object = Self { part, is_member, is_counted, is_uncounted: false, sections };
        if has_code && is_compiled && !is_counted {
            object.is_counted = object.symbols().is_some_and(|symbols| symbols.needed.contains(TRACE_PC));
            object.is_uncounted = !object.is_counted;
        }
        Some(object)
    }

    /// Names of the symbols that an object defines, and of those that it needs. Weak ones pull no member of an archive.
    fn symbols(&self) -> Option<Symbols> {
        let section = self.sections.iter().find(|section| section.kind == SYMTAB)?;
        let names = self.sections.get(section.link)?;
        let (table, names) = (self.part.read(section.offset, section.size)?, self.part.read(names.offset, names.size)?);
        let mut symbols = Symbols::default();
        for symbol in table.chunks_exact(24).skip(section.info) {
            let (binding, is_defined) = (symbol[4] >> 4, number(symbol, 6, 2) != 0);
            let name = text(&names, number(symbol, 0, 4)).to_vec();
            match (is_defined, binding) {
                (true, _) => symbols.defined.insert(name),
                (false, 1) => symbols.needed.insert(name),
                (false, _) => false,
            };
        }
        Some(symbols)
    }
}

#[derive(Debug, Default)]
struct Symbols {
    defined: HashSet<Vec<u8>>,
    needed: HashSet<Vec<u8>>,
}

/// Name of the machine that the code of a file is for, or the first object of an archive. `None` if it cannot be told.
pub(crate) fn machine(path: &Path) -> Option<String> {
    let header = parts(path)?.iter().find_map(|(part, _)| part.read(0, 20).filter(|it| it.starts_with(b"\x7fELF")))?;
    Some(match number(&header, 18, 2) {
        3 => "i386".into(),
        62 => "x86-64".into(),
        183 => "aarch64".into(),
        other => format!("machine {other} of ELF"),
    })
}

/// Objects of a file: itself, or the members of an archive. `None` if it cannot be read, which clang will say.
fn objects(path: &Path) -> Option<Vec<Object>> {
    Some(parts(path)?.into_iter().filter_map(|(part, is_member)| Object::read(part, is_member)).collect())
}

/// The file, or the members of an archive, and whether they are that. `None` if it cannot be read.
fn parts(path: &Path) -> Option<Vec<(Part, bool)>> {
    let open = |path: &Path| {
        let file = File::open(path).ok()?;
        let metadata = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
        Some(Part { file: Rc::new(file), start: 0, size: metadata.len() })
    };
    let whole = open(path)?;
    let magic = whole.read(0, 8)?;
    let is_thin = magic == *b"!<thin>\n";
    if magic != *b"!<arch>\n" && !is_thin {
        return Some(vec![(whole, false)]);
    }
    let mut members = Vec::new();
    let (mut at, mut names) = (8, Vec::new());
    while let Some(header) = whole.read(at, 60) {
        let field = |from: usize, to: usize| String::from_utf8_lossy(&header[from..to]).trim().to_owned();
        let (name, size) = (field(0, 16), field(48, 58).parse::<u64>().ok()?);
        let data = at + 60;
        let is_table = matches!(name.as_str(), "/" | "//" | "/SYM64/");
        if name == "//" {
            names = whole.read(data, size)?;
        } else if !is_table && is_thin {
            let offset = name.strip_prefix('/').and_then(|offset| offset.parse().ok());
            let inner = offset.map_or_else(
                || name.trim_end_matches('/').as_bytes(),
                |offset: u64| {
                    let rest = usize::try_from(offset).ok().and_then(|at| names.get(at..)).unwrap_or_default();
                    let line = rest.split(|&byte| byte == b'\n').next().unwrap_or_default();
                    line.strip_suffix(b"/").unwrap_or(line)
                },
            );
            let file = path.parent().unwrap_or(Path::new("")).join(OsStr::from_bytes(inner));
            members.extend(open(&file).map(|part| (part, true)));
        } else if !is_table {
            members.push((Part { file: Rc::clone(&whole.file), start: data, size }, true));
        }
        // only tables have their contents in a thin archive; contents begin at even places
        let stored = if is_thin && !is_table { 0 } else { size };
        at = data.checked_add(stored)?.next_multiple_of(2);
    }
    Some(members)
}

/// Members of archives that the objects of a link need, directly or by other members, whatever the order of the link: indices
/// of their file, and in it.
fn pulled(files: &[(PathBuf, Vec<Object>)]) -> HashSet<(usize, usize)> {
    let all = files
        .iter()
        .enumerate()
        .flat_map(|(file, (_, objects))| objects.iter().enumerate().map(move |(at, object)| ((file, at), object)));
    let mut definitions: HashMap<Vec<u8>, (usize, usize)> = HashMap::new();
    let mut needs: HashMap<(usize, usize), HashSet<Vec<u8>>> = HashMap::new();
    let mut defined = HashSet::new();
    // what quagmire's own main needs
    let mut wanted = vec![b"LLVMFuzzerTestOneInput".to_vec(), b"main".to_vec()];
    for (place, object) in all {
        let Some(symbols) = object.symbols() else { continue };
        if object.is_member {
            for name in symbols.defined {
                definitions.entry(name).or_insert(place);
            }
            needs.insert(place, symbols.needed);
        } else {
            defined.extend(symbols.defined);
            wanted.extend(symbols.needed);
        }
    }
    let mut pulled = HashSet::new();
    while let Some(name) = wanted.pop() {
        if let Some(&place) = definitions.get(&name).filter(|_| !defined.contains(&name))
            && pulled.insert(place)
        {
            wanted.extend(needs.remove(&place).into_iter().flatten());
        }
    }
    pulled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_of_an_object_and_of_an_archive_is_told() {
        let own = std::env::consts::ARCH.replace('_', "-");
        let program = std::env::current_exe().unwrap();
        assert_eq!(machine(&program), Some(own));
        let folder = tempfile::tempdir().unwrap();
        let (object, archive) = (folder.path().join("a.o"), folder.path().join("a.a"));
        // one member behind another that is no object
        let member = |name: &str, bytes: &[u8]| {
            let header = format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 0, 644, bytes.len());
            [header.as_bytes(), bytes].concat()
        };
        let mut header = std::fs::read(&program).unwrap()[..64].to_vec();
        header[18..20].copy_from_slice(&243_u16.to_le_bytes());
        std::fs::write(&object, &header).unwrap();
        std::fs::write(&archive, [b"!<arch>\n".to_vec(), member("text/", b"text"), member("a.o/", &header)].concat())
            .unwrap();
        for path in [&object, &archive] {
            assert_eq!(machine(path).as_deref(), Some("machine 243 of ELF"));
        }
        std::fs::write(&object, "no object").unwrap();
        assert_eq!(machine(&object), None);
    }

    #[test]
    fn libraries_of_the_system_are_not_named() {
        for path in
            ["/usr/lib/x86_64-linux-gnu/libz.a", "out/libstdc++.a", "libclang_rt.fuzzer.a", "crti.o", "libc.so.6"]
        {
            assert!(is_of_system(Path::new(path)), "{path}");
        }
        for path in ["build/libz.a", "a.o", "/usr/local/lib/libz.a", "libcrypto.a"] {
            assert!(!is_of_system(Path::new(path)), "{path}");
        }
    }

    #[test]
    fn files_that_are_no_objects_are_passed_over() {
        let scratch = tempfile::tempdir().unwrap();
        let files: Vec<_> =
            [b"".as_slice(), b"BC\xc0\xde", b"INPUT(-lz)", b"!<arch>\nshort", &[0x7f; 300], b"\x7fELF\x02\x01"]
                .iter()
                .enumerate()
                .map(|(at, contents)| {
                    let path = scratch.path().join(format!("{at}.o"));
                    std::fs::write(&path, contents).unwrap();
                    path.into_os_string()
                })
                .collect();
        assert_eq!(warning(&Linked { files, ..Linked::default() }, false), None);
        let files = vec!["/nowhere/a.o".into(), "/dev/zero".into(), "/".into()];
        assert_eq!(warning(&Linked { files, ..Linked::default() }, false), None);
    }
}
