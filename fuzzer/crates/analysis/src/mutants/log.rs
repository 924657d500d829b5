//! Log of the mutants that are done, one JSON value a line: what `--resume` goes on from.

use std::{
    collections::HashMap,
    fs::File,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{ScoreOptions, kill::Verdict};
use quagmire_base::{
    atomic::{unwritable, write_whole},
    error::{Error, Result},
    files,
    seeds::Seed,
};

/// Name of the log in the output folder.
pub(super) const LOG: &str = "mutants.jsonl";
/// Name of the result there.
pub(super) const RESULT: &str = "score.json";

/// Identity of a score: under another header, a log's mutants would be others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Header {
    /// Version of quagmire.
    pub version: String,
    /// SHA-256 of the program and its arguments.
    pub program: String,
    /// SHA-256 of the inputs.
    pub inputs: String,
    /// Most inputs that a mutant is run with.
    pub inputs_per_mutant: usize,
    /// Multiple of the CPU time that kills.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slower: Option<f64>,
}

impl Header {
    pub(super) fn new(options: &ScoreOptions, inputs: &[Seed]) -> Result<Self> {
        let path = Path::new(options.program.first().map_or_else(Default::default, |word| word.as_os_str()));
        let program =
            std::fs::read(path).map_err(|error| Error::target(format!("cannot read {}: {error}", path.display())))?;
        let mut hash = Sha256::new_with_prefix(program);
        if let Some(extension) = &options.files.extension {
            hash.update(extension);
        }
        for argument in &options.program[1..] {
            hash.update([0]);
            hash.update(argument.as_encoded_bytes());
        }
        let mut of_inputs = Sha256::new();
        for input in inputs {
            of_inputs.update((input.bytes.len() as u64).to_le_bytes());
            of_inputs.update(&input.bytes);
        }
        let text = |hash: Sha256| hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            program: text(hash),
            inputs: text(of_inputs),
            inputs_per_mutant: options.inputs_per_mutant,
            slower: options.slower,
        })
    }
}

/// Mutants that are done.
pub(super) struct Log {
    pub verdicts: HashMap<usize, Verdict>,
    /// The file, and its path; `None` without an output folder.
    file: Option<(File, PathBuf)>,
}

impl Log {
    /// Opens the log in the output folder, if there is one: a new one, or the one to resume.
    ///
    /// # Errors
    /// If the folder holds a log and is not to be resumed, or one of another program or other inputs, or cannot be
    /// written.
    pub(super) fn open(options: &ScoreOptions, header: &Header) -> Result<Self> {
        let Some(folder) = &options.output else { return Ok(Self { verdicts: HashMap::new(), file: None }) };
        let path = folder.join(LOG);
        let shown = folder.display();
        let cannot = |error: std::io::Error| unwritable(&path, &error);
        if !path.exists() {
            files::create_folder(folder).map_err(|error| unwritable(folder, &error))?;
            let first = serde_json::to_string(header).unwrap_or_default() + "\n";
            write_whole(&path, first.as_bytes())?;
        } else if !options.resume {
            return Err(Error::usage(format!("{shown} holds a score: go on with --resume, or name another folder")));
        }
        let mut lines = BufReader::new(files::open(&path).map_err(cannot)?).lines();
        let first = lines.next().and_then(Result::ok).unwrap_or_default();
        match serde_json::from_str::<Header>(&first) {
            Ok(known) if known == *header => {}
            Ok(known) => {
                return Err(Error::usage(format!(
                    "{shown} holds a score of {}: name another folder",
                    header.unlike(&known)
                )));
            }
            Err(_) => {
                return Err(Error::usage(format!("{} is no log of a score: name another folder", path.display())));
            }
        }
        let mut verdicts = HashMap::new();
        // the last line may be torn
        for verdict in lines.map_while(Result::ok).filter_map(|line| serde_json::from_str::<Verdict>(&line).ok()) {
            verdicts.insert(verdict.mutant, verdict);
        }
        let mut file = files::open_to_append(&path).map_err(cannot)?;
        // a torn line ends here
        file.write_all(b"\n").map_err(cannot)?;
        Ok(Self { verdicts, file: Some((file, path)) })
    }

    /// Whether a mutant is done.
    pub(super) fn has(&self, mutant: usize) -> bool {
        self.verdicts.contains_key(&mutant)
    }

    /// Adds a mutant that is done.
    pub(super) fn add(&mut self, verdict: Verdict) -> Result<()> {
        if let Some((file, path)) = &mut self.file {
            let line = serde_json::to_string(&verdict).unwrap_or_default() + "\n";
            file.write_all(line.as_bytes()).map_err(|error| unwritable(path, &error))?;
        }
        self.verdicts.insert(verdict.mutant, verdict);
        Ok(())
    }
}

impl Header {
    /// Names the first difference from the header of a log.
    fn unlike(&self, known: &Self) -> &'static str {
        if self.program != known.program {
            "another build of the program, or other arguments"
        } else if self.inputs != known.inputs {
            "other inputs"
        } else if self.inputs_per_mutant != known.inputs_per_mutant {
            "another --inputs-per-mutant"
        } else if self.slower != known.slower {
            "another --slower"
        } else {
            "another version of quagmire"
        }
    }
}

#[cfg(test)]
impl Log {
    /// A log without a file.
    pub(super) fn of(verdicts: impl IntoIterator<Item = (usize, Verdict)>) -> Self {
        Self { verdicts: verdicts.into_iter().collect(), file: None }
    }
}
