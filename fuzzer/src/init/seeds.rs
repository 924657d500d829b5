//! Seeds for a harness: test files of the project, found by their endings.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use quagmire_base::{
    error::{Error, Result},
    files,
};

use super::{project::Project, words};

/// Size of a file that can be a seed, in bytes.
const LARGEST: u64 = 64 << 10;

/// Files that become seeds.
const MOST: usize = 16;

/// Folders in which projects keep inputs, also as parts of longer names.
const FOLDERS: &str = "test tests testing testdata data sample samples example examples corpus seeds inputs input fuzz fuzzing \
     regression fixtures cases demo benchmarks suite files";

/// Endings of what is no input: sources, scripts, what builds, results, documents, pictures of documents.
const OTHERS: &str = "c h cc cpp cxx hpp hh hxx am ac in m4 sh py pl rb cmake build mk mak o a lo la so log trs out expected exp \
     ref stderr stdout sln vcproj vcxproj filters pro bat def rc s go rs java cs patch diff md rst pyc dict sed \
     awk ok png bazel bzl doxy dox options dsp dsw pjt cbp layout vb vbp";

/// Inputs of many kinds, where the project has none: something in them is read by most parsers.
const MADE_UP: [(&str, &str); 10] = [
    ("text", "an ordinary line of text, with words and numbers: 1, 23, 4.5\n"),
    ("expression", "1 + 2 * (3 - x) / 4.5\n"),
    ("ini", "# a comment\n[section]\nkey = value\nlist = a, b, \"c d\"\n"),
    ("json", "{\"a\": [1, 2.5, \"x\", true, null], \"b\": {\"c\": \"d\"}}\n"),
    ("xml", "<?xml version=\"1.0\"?>\n<a b=\"c\">text<d/><e f='g'>more</e></a>\n"),
    ("yaml", "a: 1\nb:\n  - c\n  - {d: e, f: \"g\"}\n"),
    ("http", "GET /path?query=1&b=%20 HTTP/1.1\r\nHost: example.org\r\nAccept: */*\r\nContent-Length: 3\r\n\r\nabc"),
    ("url", "http://user@example.org:8080/a/b?c=d&e=f#g"),
    ("date", "2024-05-06 07:08:09"),
    ("csv", "name,number,text\nfirst,1,\"a \"\"b\"\"\"\nsecond,2,c\n"),
];

/// Where these are from.
pub(super) const MADE_UP_HERE: &str = "made up here";

/// Seeds, and where they are from.
#[derive(Debug)]
pub(super) struct Seeds {
    pub(super) files: Vec<PathBuf>,
    /// For people, behind their number: `of tests (*.json)`.
    pub(super) from: String,
}

/// Fills a folder with seeds for a function whose name and header give `hints`.
pub(super) fn write(folder: &Path, project: &Project, hints: &[String]) -> Result<Seeds> {
    let failed = |error: std::io::Error| Error::other(format!("cannot write {}: {error}", folder.display()));
    fs::create_dir_all(folder).map_err(failed)?;
    let mut kept: Vec<PathBuf> = fs::read_dir(folder).map_err(failed)?.flatten().map(|entry| entry.path()).collect();
    if !kept.is_empty() {
        kept.sort();
        return Ok(Seeds { files: kept, from: "kept from before".into() });
    }
    let (chosen, ending) = choose(project, hints);
    let mut files = Vec::new();
    for (at, path) in chosen.iter().enumerate() {
        let Ok(bytes) = files::read(&project.root.join(path), LARGEST) else { continue };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let to =
            folder.join(format!("{at:02}-{}", name.replace(|c: char| !c.is_alphanumeric() && !"._-".contains(c), "_")));
        fs::write(&to, bytes).map_err(failed)?;
        files.push(to);
    }
    if !files.is_empty() {
        let place = chosen[0].parent().map(Path::to_path_buf).unwrap_or_default();
        let ending = if ending.is_empty() { String::new() } else { format!(" (*.{ending})") };
        return Ok(Seeds {
            from: format!(
                "of {}/{ending}",
                if place.as_os_str().is_empty() { Path::new(".") } else { &place }.display()
            ),
            files,
        });
    }
    for (name, text) in MADE_UP {
        let to = folder.join(name);
        fs::write(&to, text).map_err(failed)?;
        files.push(to);
    }
    Ok(Seeds { files, from: format!("{MADE_UP_HERE}: put ordinary inputs of yours in their place") })
}

/// The most promising files, of one ending.
fn choose(project: &Project, hints: &[String]) -> (Vec<PathBuf>, String) {
    let mut groups: BTreeMap<String, (i64, Vec<(u64, PathBuf)>)> = BTreeMap::new();
    let all: BTreeSet<&PathBuf> = project.all.iter().collect();
    // a.json.parsed is what something has made of a.json
    let is_made = |path: &Path| path.extension().is_some() && all.contains(&path.with_extension(""));
    for path in project.all.iter().filter(|path| !is_made(path)) {
        let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        let is_other = words::has(OTHERS, &ending) || path.starts_with("debian") || path.starts_with(super::BUILD);
        let Some(worth) = worth(path, &ending, hints).filter(|_| !is_other) else { continue };
        let Ok(about) = fs::symlink_metadata(project.root.join(path)) else { continue };
        if !about.is_file() || !(1..=LARGEST).contains(&about.len()) {
            continue;
        }
        let group = groups.entry(ending).or_default();
        group.0 = group.0.max(worth);
        group.1.push((about.len(), path.clone()));
    }
    let best =
        groups.into_iter().max_by_key(|(_, (worth, files))| worth + i64::try_from(files.len().min(50)).unwrap_or(50));
    let Some((ending, (_, mut files))) = best else { return (Vec::new(), String::new()) };
    // of all sizes
    files.sort();
    if files.len() > MOST {
        files.dedup_by_key(|(size, _)| *size);
    }
    let step = files.len().div_ceil(MOST).max(1);
    (files.into_iter().step_by(step).map(|(_, path)| path).collect(), ending)
}

/// How much a file promises by its name and folder; `None` if nothing.
fn worth(path: &Path, ending: &str, hints: &[String]) -> Option<i64> {
    const BUILDS: &str = "cmakelists makefile readme copying license install authors news changelog sconscript meson";
    let name = path.file_name()?.to_string_lossy();
    let lower = name.to_lowercase();
    if BUILDS.split(' ').any(|one| lower.starts_with(one)) {
        return None;
    }
    let folders: Vec<String> =
        path.parent()?.components().map(|part| part.as_os_str().to_string_lossy().to_lowercase()).collect();
    let has = |words: &str| folders.iter().any(|folder| words::any(folder, words));
    let is_named =
        !ending.is_empty() && hints.iter().any(|hint| hint == ending || ending.len() > 2 && hint.contains(ending));
    match (is_named, has("corpus seeds corpora"), has(FOLDERS)) {
        (true, _, _) => Some(1000),
        (_, true, _) => Some(200),
        (_, _, true) => Some(i64::from(ending != "txt" && !ending.is_empty()) * 20),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_files_are_found_by_the_ending_that_the_names_tell() {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in [
            ("tests/a.json", "{}"),
            ("tests/b.json", "{\"a\": 1}"),
            ("tests/a.dat", "1"),
            ("tests/b.dat", "22"),
            ("tests/a.dat.seen", "1"),
            ("tests/b.dat.seen", "22"),
            ("tests/c.dat.seen", "333"),
            ("tests/c.dat", "333"),
            ("tests/parse.c", "int x;"),
            ("tests/CMakeLists.txt", "add(x)"),
        ] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("inside")).expect("created");
            fs::write(path, text).expect("written");
        }
        let project = Project::look_at(folder.path()).expect("a project");
        let names = |hints: &[&str]| {
            let hints: Vec<String> = hints.iter().map(|&hint| hint.to_owned()).collect();
            let (files, ending) = choose(&project, &hints);
            (files.len(), ending)
        };
        assert_eq!(names(&["json", "parse"]), (2, "json".into()));
        assert_eq!(names(&["parse"]), (3, "dat".into()));
        let made = write(&folder.path().join("seeds"), &project, &["json".into()]).expect("seeds");
        assert!(made.files.len() == 2 && made.from == "of tests/ (*.json)", "{made:?}");
    }

    #[test]
    fn where_there_are_no_files_seeds_are_made_up_and_kept_afterwards() {
        let folder = tempfile::tempdir().expect("a folder");
        let project = Project::look_at(folder.path()).expect("a project");
        let made = write(&folder.path().join("seeds"), &project, &[]).expect("seeds");
        assert!(made.files.len() == MADE_UP.len() && made.from.starts_with("made up"), "{made:?}");
        let again = write(&folder.path().join("seeds"), &project, &[]).expect("seeds");
        assert!(again.files.len() == MADE_UP.len() && again.from == "kept from before", "{again:?}");
    }
}
