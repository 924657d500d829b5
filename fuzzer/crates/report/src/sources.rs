//! Lines of source files for pages, by the paths that the debug information of a program has.

use std::{collections::HashMap, path::Path};

use quagmire_base::files;
use quagmire_execution::symbols::is_of_library;
use quagmire_results::growth::CONTEXT;

/// Largest source file that is shown.
const LARGEST: u64 = 4 << 20;

/// Ends of names of sources: no other file is shown, whatever path the debug information of a program has.
const ENDS: [&str; 15] =
    ["c", "cc", "cpp", "cxx", "c++", "h", "hh", "hpp", "hxx", "inc", "inl", "ipp", "tcc", "def", "rs"];

/// Lines of the source files that were read.
#[derive(Default)]
pub(crate) struct Sources {
    files: HashMap<String, Vec<String>>,
}

impl Sources {
    /// Lines around one, with their numbers; none if the source cannot be read.
    pub(crate) fn around(&mut self, file: &str, line: u32) -> Vec<(u32, String)> {
        let lines = self.files.entry(file.to_owned()).or_insert_with(|| read(Path::new(file)));
        let numbered = (1..).zip(lines.iter().cloned());
        let first = line.saturating_sub(CONTEXT);
        numbered
            .skip_while(|(number, _)| *number < first)
            .take_while(|(number, _)| *number <= line.saturating_add(CONTEXT))
            .collect()
    }
}

fn read(path: &Path) -> Vec<String> {
    // headers of C++ have no end
    let is_header = path.extension().is_none() && is_of_library(&path.to_string_lossy());
    let is_source = path.extension().and_then(|end| end.to_str()).is_some_and(|end| ENDS.contains(&end));
    if !is_source && !is_header {
        return Vec::new();
    }
    let bytes = files::read_named(path, LARGEST).unwrap_or_default();
    String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_file_is_shown_that_is_no_source() {
        let folder = tempfile::tempdir().unwrap();
        let lines = |name: &str| {
            let file = folder.path().join(name);
            std::fs::write(&file, "1\n2\n3\n4\n5\n6\n7\n").unwrap();
            Sources::default().around(file.to_str().unwrap(), 4).into_iter().map(|line| line.0).collect::<Vec<_>>()
        };
        assert_eq!((lines("a.c"), lines("secret.txt"), lines("secret")), (vec![2, 3, 4, 5, 6], vec![], vec![]));
        assert_eq!(Sources::default().around("/no/such.c", 1), []);
    }
}
