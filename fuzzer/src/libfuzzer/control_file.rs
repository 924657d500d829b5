//! Control file of a merge, in libFuzzer's format: the names of the files, and what each has executed.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    fmt::Write as _,
};

/// Results of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Known {
    /// Size in bytes.
    pub(super) bytes: u64,
    /// Pairs of edge and bucket, as numbers, that no file before it executes; empty for a run that ended early.
    pub(super) features: BTreeSet<u64>,
    /// Edges that no file before it executes.
    pub(super) edges: BTreeSet<u64>,
}

/// Features and edges that files execute.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) features: HashSet<u64>,
    pub(super) edges: HashSet<u64>,
}

/// Contents of a control file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Control {
    /// Paths of the files, those of the first folder first.
    pub(super) files: Vec<String>,
    /// Number of files of the first folder.
    pub(super) initial: usize,
    /// Files that were run, by index.
    pub(super) known: BTreeMap<usize, Known>,
    /// Number of files that were started.
    pub(super) started: usize,
}

impl Control {
    /// All that the files execute that were run.
    pub(super) fn seen(&self) -> Seen {
        let all = |numbers: fn(&Known) -> &BTreeSet<u64>| self.known.values().flat_map(numbers).copied().collect();
        Seen { features: all(|known| &known.features), edges: all(|known| &known.edges) }
    }

    /// The first lines of the file, before any file was run.
    pub(super) fn head(&self) -> String {
        let names = self.files.iter().fold(String::new(), |text, name| text + name + "\n");
        format!("{}\n{}\n{names}", self.files.len(), self.initial)
    }

    /// Reads a control file; `None` if it is none. Its last line may be cut.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let count: usize = lines.next()?.parse().ok()?;
        let initial: usize = lines.next()?.parse().ok().filter(|&initial| initial <= count)?;
        let files: Vec<String> = lines.by_ref().take(count).map(str::to_owned).collect();
        if files.len() != count {
            return None;
        }
        let mut control = Self { files, initial, ..Self::default() };
        for line in lines {
            let mut words = line.split(' ');
            let kind = words.next()?;
            let Ok(numbers) = words.map(str::parse).collect::<Result<Vec<u64>, _>>() else { break };
            let Some((&file, numbers)) = numbers.split_first() else { break };
            let file = usize::try_from(file).ok().filter(|&file| file < count)?;
            match kind {
                "STARTED" => {
                    control.started = control.started.max(file + 1);
                    control.known.insert(file, Known { bytes: *numbers.first()?, ..Known::default() });
                }
                "FT" => control.known.get_mut(&file)?.features.extend(numbers),
                "COV" => control.known.get_mut(&file)?.edges.extend(numbers),
                _ => return None,
            }
        }
        Some(control)
    }

    /// Line that says that a file is about to be run.
    pub(super) fn started_line(file: usize, bytes: usize) -> String {
        format!("STARTED {file} {bytes}\n")
    }

    /// Lines of what a file has executed.
    pub(super) fn lines(file: usize, known: &Known) -> String {
        let list = |kind: &str, numbers: &BTreeSet<u64>| {
            numbers.iter().fold(format!("{kind} {file}"), |mut line, number| {
                let _ = write!(line, " {number}");
                line
            })
        };
        format!("{}\n{}\n", list("FT", &known.features), list("COV", &known.edges))
    }

    /// Chooses the files to add to the first folder, small ones with many features first; each brings a feature that
    /// neither the first folder nor a file before it has. Returns their indices, and the numbers of new features and
    /// edges.
    pub(super) fn choose(&self) -> (Vec<usize>, usize, usize) {
        let (mut features, mut edges) = (BTreeSet::<u64>::new(), BTreeSet::<u64>::new());
        for (_, known) in self.known.range(..self.initial) {
            features.extend(&known.features);
            edges.extend(&known.edges);
        }
        let before = (features.len(), edges.len());
        let mut candidates: Vec<(&usize, &Known)> = self.known.range(self.initial..).collect();
        candidates.sort_by_key(|(_, known)| (known.bytes, std::cmp::Reverse(known.features.len())));
        let mut chosen = Vec::new();
        for (&file, known) in candidates {
            if !known.features.is_subset(&features) {
                features.extend(&known.features);
                edges.extend(&known.edges);
                chosen.push(file);
            }
        }
        (chosen, features.len() - before.0, edges.len() - before.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(bytes: u64, features: &[u64]) -> Known {
        Known { bytes, features: features.iter().copied().collect(), edges: features.iter().map(|f| f / 8).collect() }
    }

    #[test]
    fn a_control_file_is_read_as_it_was_written_and_may_be_cut() {
        let files = ["a b", "c", "d"].map(str::to_owned).to_vec();
        let mut control = Control { files, initial: 1, ..Control::default() };
        let mut text = control.head();
        assert_eq!(Control::parse(&text), Some(control.clone()));
        for (file, one) in [(0, known(3, &[1, 9])), (1, known(2, &[]))] {
            text += &(Control::started_line(file, one.bytes as usize) + &Control::lines(file, &one));
            control.known.insert(file, one);
            control.started = file + 1;
        }
        assert_eq!(Control::parse(&text), Some(control));
        let cut = Control::parse(&(text + "STARTED 2 7\nFT 2 5 x")).unwrap();
        assert_eq!((cut.started, cut.known[&2].bytes), (3, 7));
        for wrong in ["", "x", "2\n1\na\n", "1\n2\na\n", "1\n0\na\nSTARTED 1 1\n", "1\n0\na\nNOISE 0 1\n"] {
            assert_eq!(Control::parse(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_small_file_is_chosen_for_what_the_first_folder_does_not_execute() {
        let all = [known(5, &[1, 2]), known(9, &[2, 8, 16]), known(4, &[2, 8]), known(1, &[1]), known(4, &[])];
        let control = Control {
            files: vec![String::new(); all.len()],
            initial: 1,
            known: all.into_iter().enumerate().collect(),
            started: 5,
        };
        assert_eq!(control.choose(), (vec![2, 1], 2, 2));
    }
}
