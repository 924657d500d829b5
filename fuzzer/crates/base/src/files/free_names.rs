//! Names for files that are put together into one folder.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

/// Gives files names that differ: each its own, or that with a number if another file has taken it.
#[derive(Clone, Debug, Default)]
pub struct FreeNames {
    taken: HashSet<String>,
    /// The last number that a name was given with.
    numbers: HashMap<String, u64>,
}

impl FreeNames {
    /// A name for the file at this path, which no other gets.
    pub fn of(&mut self, path: &Path) -> String {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut free = name.clone();
        while !self.taken.insert(free.clone()) {
            let number = self.numbers.entry(name.clone()).or_insert(1);
            *number += 1;
            free = format!("{name}.{number}");
        }
        free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_even_where_files_have_numbers_of_their_own() {
        let mut names = FreeNames::default();
        let given = ["a/x", "b/x", "b/x.2", "c/x", "c/y"].map(|path| names.of(Path::new(path)));
        assert_eq!(given, ["x", "x.2", "x.2.2", "x.3", "y"]);
    }
}
