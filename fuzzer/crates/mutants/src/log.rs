//! Log of the mutants that are done, one JSON value a line: what `--resume` goes on from.

use std::{
    collections::HashMap,
    fs::File,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::ScoreOptions;
use quagmire_base::{
    atomic::{unwritable, write_whole},
    error::{Error, Result},
    files,
    seeds::Seed,
};
use quagmire_results::score_file::{LeftOut, MutantKill, ScoreFile, ScoredMutant};

/// Name of the log in the output folder.
pub(super) const LOG: &str = "mutants.jsonl";
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

    /// Sums up the fates of all mutants.
    pub(super) fn score(&self, inputs: usize, mut left_out: Vec<LeftOut>, mutants: Vec<ScoredMutant>) -> ScoreFile {
        left_out.sort_by(|a, b| a.path.cmp(&b.path));
        let mut score = ScoreFile {
            version: self.version.clone(),
            program: self.program.clone(),
            inputs: inputs as u64,
            left_out,
            inputs_per_mutant: self.inputs_per_mutant as u64,
            slower: self.slower,
            ..ScoreFile::default()
        };
        for one in &mutants {
            score.all.add(one);
            score.operators.entry(one.mutant.operator.clone()).or_default().add(one);
            let of_file = score.functions.entry(one.mutant.file.clone()).or_default();
            of_file.entry(one.mutant.function.clone()).or_default().add(one);
            if let Some(killed) = &one.killed {
                *score.killed_by.entry(killed.by.name().to_owned()).or_default() += 1;
            }
        }
        ScoreFile { mutants, ..score }
    }

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

/// Verdict on a mutant that some input infects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Verdict {
    /// Number of the mutant in the table.
    pub mutant: usize,
    /// Number of its runs.
    pub runs: u64,
    /// How it was noticed; `null` if it survived.
    pub killed: Option<MutantKill>,
}

/// Mutants that are done.
#[derive(Default)]
pub(super) struct Log {
    pub verdicts: HashMap<usize, Verdict>,
    /// The file, and its path; `None` without an output folder.
    pub file: Option<(File, PathBuf)>,
}

impl Log {
    /// Opens the log in the output folder, if there is one: a new one, or the one to resume.
    ///
    /// # Errors
    /// If the folder holds a log and is not to be resumed, or one of another program or other inputs, or cannot be
    /// written.
    pub(super) fn open(options: &ScoreOptions, header: &Header) -> Result<Self> {
        let Some(folder) = &options.output else { return Ok(Self::default()) };
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
        let Ok(known) = serde_json::from_str::<Header>(&first) else {
            return Err(Error::usage(format!("{} is no log of a score: name another folder", path.display())));
        };
        if known != *header {
            let differs = header.unlike(&known);
            return Err(Error::usage(format!("{shown} holds a score of {differs}: name another folder")));
        }
        // the last line may be torn
        let verdicts = lines.map_while(Result::ok).filter_map(|line| serde_json::from_str::<Verdict>(&line).ok());
        let verdicts = verdicts.map(|verdict| (verdict.mutant, verdict)).collect();
        let mut file = files::open_to_append(&path).map_err(cannot)?;
        // a torn line ends here
        file.write_all(b"\n").map_err(cannot)?;
        Ok(Self { verdicts, file: Some((file, path)) })
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
