//! Output folder of a bench: its header, the seeds, the campaigns, and the result.

use std::{
    fs::{File, OpenOptions},
    path::{Path, PathBuf},
};

use serde::de::DeserializeOwned;

use super::{
    BenchOptions,
    result::{BENCH, Bench, BenchHeader, Campaign},
};
use crate::log::Header as ScoreHeader;
use quagmire_base::{
    atomic::{unwritable, write_json, write_whole},
    error::{Error, Result},
    files::{self, Folder},
    seeds::Seed,
};
use quagmire_results::lock::try_lock;

/// Name of the header, which is the file that is locked, too.
const HEADER: &str = "campaigns.json";
/// Name of the folder of the seeds.
const SEEDS: &str = "seeds";
/// Largest file of a bench that is read, in bytes.
const LARGEST: u64 = 1 << 28;

/// The folder, which no other process writes to.
pub(super) struct BenchFolder {
    path: PathBuf,
    pub header: BenchHeader,
    /// Locked as long as it is open.
    _lock: File,
}

impl BenchFolder {
    /// Makes the folder, or opens the one to resume.
    ///
    /// # Errors
    /// If it holds a bench and is not to be resumed, or something else, or another bench, or is in use, or cannot be written.
    pub(super) fn open(options: &BenchOptions, score: ScoreHeader) -> Result<Self> {
        let header = BenchHeader {
            score,
            seconds: options.seconds,
            max_size: options.max_size,
            cost_factor: options.score.cost_factor,
        };
        let path = options.output.clone();
        let shown = path.display();
        let file = path.join(HEADER);
        if !file.exists() {
            // campaigns replace what has their names
            if files::is_folder(&path) && !Folder::named(&path).is_empty().map_err(|error| unwritable(&path, &error))? {
                return Err(Error::usage(format!("{shown} is not empty, and holds no bench: name another folder")));
            }
            files::create_folder(&path).map_err(|error| unwritable(&path, &error))?;
            write_json(&file, &header)?;
        } else if !options.resume {
            return Err(Error::usage(format!("{shown} holds a bench: go on with --resume, or name another folder")));
        }
        let lock = OpenOptions::new().read(true).open(&file).map_err(|error| unwritable(&file, &error))?;
        if let Ok(false) = try_lock(&lock) {
            return Err(Error::usage(format!("{shown} is in use by another bench: wait, or name another folder")));
        }
        let known: BenchHeader = read(&file)?;
        if known != header {
            let differs = match () {
                () if known.score != header.score => "another program, other seeds or another version of quagmire",
                () if known.seconds != header.seconds => "another --time",
                () if known.max_size != header.max_size => "another --max-size",
                () => "another --cost-factor",
            };
            return Err(Error::usage(format!("{shown} holds a bench of {differs}: name another folder")));
        }
        Ok(Self { path, header, _lock: lock })
    }

    /// Writes the seeds, which all fuzzers get from one folder. Returns it.
    pub(super) fn write_seeds(&self, seeds: &[Seed]) -> Result<PathBuf> {
        let folder = self.path.join(SEEDS);
        files::create_folder(&folder).map_err(|error| unwritable(&folder, &error))?;
        for (number, seed) in seeds.iter().enumerate() {
            write_whole(&folder.join(format!("{number:06}")), &seed.bytes)?;
        }
        Ok(folder)
    }

    pub(super) fn of_campaign(&self, fuzzer: &str, seed: u64) -> PathBuf {
        self.path.join(format!("{fuzzer}-{seed}"))
    }

    /// File of a finished campaign.
    fn result_of(&self, fuzzer: &str, seed: u64) -> PathBuf {
        self.path.join(format!("{fuzzer}-{seed}.json"))
    }

    /// A campaign that was finished before; `None` if it was not.
    pub(super) fn finished(&self, fuzzer: &str, seed: u64) -> Result<Option<Campaign>> {
        let path = self.result_of(fuzzer, seed);
        path.exists().then(|| read(&path)).transpose()
    }

    /// Writes a finished campaign.
    pub(super) fn keep(&self, campaign: Campaign) -> Result<Campaign> {
        write_json(&self.result_of(&campaign.fuzzer, campaign.seed), &campaign)?;
        Ok(campaign)
    }

    /// Writes the result.
    pub(super) fn finish(&self, bench: &Bench) -> Result<()> {
        write_json(&self.path.join(BENCH), bench)
    }
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let shown = path.display();
    let text =
        files::read_named(path, LARGEST).map_err(|error| Error::usage(format!("cannot read {shown}: {error}")))?;
    serde_json::from_slice(&text).map_err(|error| {
        Error::usage(format!("{shown} is not of this version of a bench ({error}): name another folder"))
    })
}
