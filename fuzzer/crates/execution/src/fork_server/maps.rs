//! Parser of `/proc/PID/maps`: the memory mappings of a process.

use std::{collections::BTreeMap, path::PathBuf};

use object::{Object, ObjectSegment};

use crate::symbols::LoadedObject;

/// One line of `/proc/PID/maps`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mapping {
    /// First address.
    pub from: u64,
    /// End address, exclusive.
    pub to: u64,
    /// Whether it may be read.
    pub readable: bool,
    /// Path of the mapped file; empty for anonymous memory.
    pub path: String,
}

/// Parses all valid lines and ignores others.
pub(crate) fn parse(text: &str) -> Vec<Mapping> {
    let line = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        let (from, to) = words.next()?.split_once('-')?;
        let readable = words.next()?.starts_with('r');
        // a path may contain blanks: it follows offset, device and inode
        let path = line.splitn(6, ' ').nth(5).unwrap_or_default().trim_start();
        let number = |text| u64::from_str_radix(text, 16).ok();
        Some(Mapping { from: number(from)?, to: number(to)?, readable, path: path.to_owned() })
    };
    text.lines().filter_map(line).collect()
}

/// The object files among the mappings, with their load bias.
pub(crate) fn objects(mappings: &[Mapping]) -> Vec<LoadedObject> {
    let mut files: BTreeMap<&str, Vec<(u64, u64)>> = BTreeMap::new();
    for mapping in mappings.iter().filter(|mapping| mapping.path.starts_with('/')) {
        files.entry(&mapping.path).or_default().push((mapping.from, mapping.to));
    }
    let object = |(path, ranges): (&str, Vec<(u64, u64)>)| {
        let data = std::fs::read(path).ok()?;
        let file = object::File::parse(&*data).ok()?;
        let first = file.segments().map(|segment| segment.address()).min()?;
        let lowest = ranges.iter().map(|range| range.0).min()?;
        // segments are mapped from page boundaries
        let base = lowest.wrapping_sub(first & !0xfff);
        Some(LoadedObject { path: PathBuf::from(path), base, ranges })
    };
    files.into_iter().filter_map(object).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_files_and_of_memory_are_read() {
        let text = "55d0c0a00000-55d0c0a02000 r--p 00000000 fe:00 1234                       /tmp/a b/prog\n\
                    7ffc1000-7ffc2000 rw-p 00000000 00:00 0 \nnonsense\n\
                    7f00000000-7f00001000 ---p 00000000 00:00 0 [vvar]\n";
        let file =
            Mapping { from: 0x55d0_c0a0_0000, to: 0x55d0_c0a0_2000, readable: true, path: "/tmp/a b/prog".into() };
        let memory = Mapping { from: 0x7ffc_1000, to: 0x7ffc_2000, readable: true, path: String::new() };
        let hidden = Mapping { from: 0x7f_0000_0000, to: 0x7f_0000_1000, readable: false, path: "[vvar]".into() };
        assert_eq!(parse(text), [file, memory, hidden]);
    }

    #[test]
    fn addresses_of_this_program_belong_to_it() {
        let text = std::fs::read_to_string("/proc/self/maps").expect("this process");
        let objects = objects(&parse(&text));
        let here = addresses_of_this_program_belong_to_it as *const () as u64;
        let holds = |object: &&LoadedObject| object.ranges.iter().any(|&(from, to)| (from..to).contains(&here));
        let own = objects.iter().find(holds).expect("its file");
        assert_eq!(own.path, std::env::current_exe().expect("a path"));
    }
}
