//! Resolution of the files that runs of a program see: `--extension` and `--scratch`.

use std::path::{Path, PathBuf};

use super::{
    args::{Command, MutantsCommand},
    filter,
};
use quagmire_base::{
    error::{Error, Result},
    files,
    plain::warn,
    seeds::Seeds,
};
use quagmire_execution::fork_server::{
    private_folder::PrivateFolder,
    reads_file,
    run_folder::{RunFiles, checked_extension},
};
use quagmire_results::names::{files_in, shared_extension};

/// Folders of inputs in the output folder of a campaign.
const OF_CAMPAIGN: [&str; 4] = ["queue", "degradations", "faults", "hangs"];

/// Resolves the files that the runs of a command's program see, and creates the private folder that they need: to be held until the
/// command ends. Call it while this process has no other thread.
///
/// # Errors
/// A usage error that names the option, or if no folder can be written.
pub fn run_files(command: &Command) -> Result<(RunFiles, Option<PrivateFolder>)> {
    let Some(target) = command.target() else { return Ok((RunFiles::default(), None)) };
    let mut files = RunFiles { extension: extension(command)?, scratch: target.scratch, place: None };
    if !files.need_folder() {
        return Ok((files, None));
    }
    if target.scratch {
        warn_of_relative(&target.program);
    }
    // SAFETY: the caller's promise.
    let private = unsafe { PrivateFolder::create()? };
    files.place = Some(private.path().to_owned());
    Ok((files, Some(private)))
}

/// Extension of the file that stands for `@@`: as typed, or the one that all inputs of the command have.
///
/// # Errors
/// A usage error if it is none, or the program reads no file.
pub fn extension(command: &Command) -> Result<Option<String>> {
    let Some(target) = command.target() else { return Ok(None) };
    let reads_file = reads_file(&target.program);
    if let Some(typed) = &target.extension {
        let extension = checked_extension(typed)?;
        if extension.is_some() && !reads_file {
            return Err(Error::usage(format!(
                "-e {typed} has no effect: no argument of the program has @@, so that it reads standard input; add @@, or leave out \
                 -e"
            )));
        }
        return Ok(extension);
    }
    // a generator makes something else of the inputs
    if !reads_file || target.generator.is_some() {
        return Ok(None);
    }
    // a path that cannot be read is an error of the command itself
    let list = |paths: &[PathBuf]| Seeds::list(paths).map_or_else(|_| Vec::new(), |(files, _)| files);
    let inputs = match command {
        Command::Fuzz(fuzz) => {
            // files that a campaign has not finished are hidden
            let is_entry =
                |path: &PathBuf| path.file_name().is_some_and(|name| !name.as_encoded_bytes().starts_with(b"."));
            let entries = |output: &PathBuf| files_in(&output.join("queue")).into_iter().filter(is_entry).collect();
            let saved: Option<Vec<PathBuf>> = fuzz.output.as_ref().filter(|_| fuzz.resume).map(entries);
            match saved.filter(|saved| !saved.is_empty()) {
                Some(saved) => saved,
                None => {
                    let filter = fuzz.workloads_filter.as_deref().map(filter).transpose()?;
                    let takes = |path: &Path| filter.as_ref().is_none_or(|filter| filter.takes(path) == Ok(true));
                    list(&fuzz.seeds).into_iter().filter(|path| takes(path)).collect()
                }
            }
        }
        Command::Replay(replay) => list(&[replay.seeds.as_slice(), &replay.inputs].concat()),
        Command::Growth(growth) => list(growth.input.as_slice()),
        Command::Minimize(minimize) => list(&[minimize.seeds.as_slice(), minimize.input.as_slice()].concat()),
        Command::Distill(distill) => list(&distill.inputs),
        Command::Compare(compare) => list(&inside_campaigns(&compare.inputs)),
        Command::Diversity(diversity) => list(&diversity.inputs),
        Command::Mine(mine) => list(&mine.examples),
        Command::Mutants(mutants) => match &mutants.command {
            MutantsCommand::Score(score) => list(&score.inputs),
            MutantsCommand::Bench(bench) => list(&bench.seeds),
            MutantsCommand::List(_) | MutantsCommand::Compare(_) => Vec::new(),
        },
        Command::ServeRuns(_)
        | Command::Generate(_)
        | Command::Report(_)
        | Command::Init(_)
        | Command::Doctor(_)
        | Command::Completions(_)
        | Command::Man(_) => Vec::new(),
    };
    Ok(shared_extension(inputs.iter().map(PathBuf::as_path)))
}

/// Names the folders of inputs in place of the output folder of a campaign.
fn inside_campaigns(paths: &[PathBuf]) -> Vec<PathBuf> {
    let inside = |path: &PathBuf| {
        let parts: Vec<PathBuf> =
            OF_CAMPAIGN.iter().map(|part| path.join(part)).filter(|part| files::is_folder(part)).collect();
        if path.join("summary.json").is_file() && !parts.is_empty() { parts } else { vec![path.clone()] }
    };
    paths.iter().flat_map(inside).collect()
}

/// Warns of arguments that name files relative to the working folder, where a program with a folder of its own is not.
fn warn_of_relative(program: &[std::ffi::OsString]) {
    let names_file = |argument: &&std::ffi::OsString| {
        let path = Path::new(argument);
        path.is_relative() && path.exists()
    };
    for argument in program.iter().skip(1).filter(names_file) {
        let shown = Path::new(argument).display();
        warn(&format!("--scratch: the program does not find {shown} from a folder of its own: give the absolute path"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::parse_for_quagmire;
    use std::fs;

    fn of(line: &str) -> Result<Option<String>> {
        let words = line.split_whitespace().map(|word| if word == "''" { "" } else { word });
        extension(&parse_for_quagmire(words, None).map_err(|stop| Error::usage(stop.text))?)
    }

    #[test]
    fn an_extension_is_as_typed_or_that_of_all_inputs() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, name).unwrap();
        };
        ["seeds/a.json", "seeds/b.json", "other/c.xml"].into_iter().for_each(write);
        let at = |text: &str| text.replace("DIR", folder.path().to_str().unwrap());
        for (line, expected) in [
            ("fuzz -i DIR/seeds -o DIR/out -- p @@", Some("json")),
            ("fuzz -i DIR/seeds -o DIR/out -- p --in=@@", Some("json")),
            ("fuzz -i DIR/seeds -o DIR/out -- p", None),
            ("fuzz -i DIR/seeds DIR/other -o DIR/out -- p @@", None),
            ("fuzz -i DIR/seeds DIR/other --workloads-filter xml$ -o DIR/out -- p @@", Some("xml")),
            ("fuzz -i DIR/missing -o DIR/out -- p @@", None),
            ("fuzz -e '' -i DIR/seeds -o DIR/out -- p @@", None),
            ("fuzz -e .tar.gz -i DIR/seeds -o DIR/out -- p @@", Some("tar.gz")),
            ("fuzz --generator g.so -i DIR/seeds -o DIR/out -- p @@", None),
            ("fuzz --generator g.so -e xml -i DIR/seeds -o DIR/out -- p @@", Some("xml")),
            ("replay DIR/seeds/a.json -- p @@", Some("json")),
            ("replay -i DIR/other DIR/seeds/a.json -- p @@", None),
            ("growth DIR/seeds/a.json -- p @@", Some("json")),
            ("minimize DIR/seeds/a.json -- p @@", Some("json")),
            ("distill DIR/seeds -o DIR/out -- p @@", Some("json")),
            ("diversity DIR/seeds -- p @@", Some("json")),
            ("mine DIR/seeds -o g -- p @@", Some("json")),
            ("compare DIR/seeds -- p @@ --and q @@", Some("json")),
            ("mutants score DIR/other -- p @@", Some("xml")),
            ("serve-runs --capacity 1 -e json -- p @@", Some("json")),
        ] {
            assert_eq!(of(&at(&format!("quagmire {line}"))).unwrap().as_deref(), expected, "{line}");
        }
        for (line, word) in [
            ("replay -e json DIR/seeds/a.json -- p", "-e json has no effect"),
            ("fuzz -e a/b -i DIR/seeds -o DIR/out -- p @@", "-e a/b"),
        ] {
            let error = of(&at(&format!("quagmire {line}"))).unwrap_err();
            assert!(error.message.contains(word), "{error}");
        }
    }

    #[test]
    fn a_resumed_campaign_keeps_its_extension() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| fs::write(folder.path().join(name), "x").unwrap();
        fs::create_dir_all(folder.path().join("out/queue")).unwrap();
        write("a.json");
        let at = |text: &str| of(&text.replace("DIR", folder.path().to_str().unwrap())).unwrap();
        let line = "quagmire fuzz --resume -i DIR/a.json -o DIR/out -- p @@";
        assert_eq!(at(line).as_deref(), Some("json"));
        write("out/queue/.unfinished-1-2");
        assert_eq!(at(line).as_deref(), Some("json"));
        write("out/queue/id_000000,orig_a.json");
        write("out/queue/id_000001,src_000000,cost_1.0,op_T.1");
        assert_eq!(at(line), None);
        fs::remove_file(folder.path().join("out/queue/id_000000,orig_a.json")).unwrap();
        write("out/queue/id_000001,src_000000,cost_1.0,op_T.1.xml");
        fs::remove_file(folder.path().join("out/queue/id_000001,src_000000,cost_1.0,op_T.1")).unwrap();
        assert_eq!(at(line).as_deref(), Some("xml"));
        assert_eq!(at(&line.replace("--resume", "--force")).as_deref(), Some("json"));
    }
}
