//! Options `-j`, `--cores`, `--sync` and `--name`: the cores of a campaign, and its sync folder.

use std::path::{Path, PathBuf};

use libafl_bolts::core_affinity::{Cores, get_core_ids};

use quagmire_base::{
    error::{Error, Result},
    format::counted,
};

/// Maximum length of `--name` in bytes; afl-fuzz's is 50.
const LONGEST_NAME: usize = 32;

/// The cores to fuzz on; empty without `-j` and `--cores`.
pub(super) fn cores(jobs: Option<&str>, list: Option<&str>) -> Result<Vec<usize>> {
    let usable = || -> Result<Vec<usize>> {
        let ids =
            get_core_ids().map_err(|error| Error::other(format!("cannot tell which cores there are: {error}")))?;
        Ok(ids.into_iter().map(|core| core.0).collect())
    };
    match (jobs, list) {
        (None, None) => Ok(Vec::new()),
        (Some(_), Some(_)) => Err(Error::usage("-j and --cores exclude each other: give one of them")),
        (Some(jobs), None) => {
            let number: usize = match jobs.parse() {
                Ok(number) if number > 0 => number,
                _ => {
                    return Err(Error::usage(format!("-j: `{jobs}` is not a number of cores: write 1 or more")));
                }
            };
            let mut cores = usable()?;
            if number > cores.len() {
                return Err(Error::usage(format!(
                    "-j {number}: this process may use {}: give no more, or --cores all",
                    counted(cores.len() as u64, "core")
                )));
            }
            cores.truncate(number);
            Ok(cores)
        }
        (None, Some("all")) => usable(),
        (None, Some(list)) => {
            let wrong = || Error::usage(format!("--cores: `{list}` is no list of cores: write all, 0-3 or 0,2"));
            // LibAFL panics on some invalid lists
            if !list.bytes().all(|byte| byte.is_ascii_digit() || b",-".contains(&byte)) || list.len() > 1000 {
                return Err(wrong());
            }
            let parts = list.split(',').all(|part| {
                let mut ends = part.splitn(2, '-').map(str::parse::<u16>);
                let first = ends.next();
                match (first, ends.next()) {
                    (Some(Ok(_)), None) => true,
                    (Some(Ok(first)), Some(Ok(last))) => first <= last,
                    _ => false,
                }
            });
            if !parts {
                return Err(wrong());
            }
            let mut cores: Vec<usize> =
                Cores::from_cmdline(list).map_err(|_| wrong())?.ids.into_iter().map(|core| core.0).collect();
            cores.sort_unstable();
            cores.dedup();
            let usable = usable()?;
            match cores.iter().find(|core| !usable.contains(core)) {
                Some(core) => Err(Error::usage(format!(
                    "--cores: this process may not use core {core}, only {}: give some of these, or all",
                    usable.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
                ))),
                None => Ok(cores),
            }
        }
    }
}

/// The sync folder, and the name of this campaign in it.
pub(super) fn sync(folder: Option<PathBuf>, name: Option<String>, output: &Path) -> Result<Option<(PathBuf, String)>> {
    let Some(folder) = folder else {
        return match name {
            None => Ok(None),
            Some(_) => Err(Error::usage("--name is what a campaign is called in a --sync folder: name that too")),
        };
    };
    let name = name.unwrap_or_else(|| {
        let safe = |byte: char| if byte.is_ascii_alphanumeric() || byte == '-' { byte } else { '-' };
        host_name().chars().map(safe).take(LONGEST_NAME).collect()
    });
    let is_plain = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if name.is_empty() || name.len() > LONGEST_NAME || !is_plain(&name) {
        return Err(Error::usage(format!(
            "--name `{name}`: write up to {LONGEST_NAME} letters, digits, - and _: it is the name of a folder"
        )));
    }
    let whole = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    if whole(output).starts_with(whole(&folder)) {
        return Err(Error::usage(format!(
            "-o {} is inside of the --sync folder, where others would take it for one more campaign: choose another -o",
            output.display()
        )));
    }
    Ok(Some((folder, name)))
}

fn host_name() -> String {
    let mut name = [0u8; 256];
    // SAFETY: writes at most so many bytes.
    unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) };
    let end = name.iter().position(|&byte| byte == 0).unwrap_or(0);
    let name = String::from_utf8_lossy(&name[..end]).into_owned();
    if name.is_empty() { "quagmire".into() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message<T: std::fmt::Debug>(result: Result<T>) -> String {
        result.unwrap_err().message
    }

    #[test]
    fn cores_are_numbers_that_may_be_used() {
        assert_eq!(cores(None, None).unwrap(), [0usize; 0]);
        let all = cores(None, Some("all")).unwrap();
        assert_eq!(cores(Some(&all.len().to_string()), None).unwrap(), all);
        assert_eq!(cores(Some("1"), None).unwrap(), all[..1]);
        assert_eq!(cores(None, Some(&format!("{0},{0}-{0}", all[0]))).unwrap(), all[..1]);
        for wrong in ["", "x", "3-1", "1-", "-", "0,,1", "70000", "1-2-3"] {
            assert!(message(cores(None, Some(wrong))).contains("write all, 0-3 or 0,2"), "{wrong}");
        }
        assert!(message(cores(None, Some("65000"))).contains("may not use core 65000"));
        for wrong in ["0", "-1", "two"] {
            assert!(message(cores(Some(wrong), None)).contains("write 1 or more"));
        }
        assert!(message(cores(Some("100000"), None)).contains("--cores all"));
        assert!(message(cores(Some("1"), Some("0"))).contains("exclude each other"));
    }

    #[test]
    fn campaigns_meet_under_plain_names() {
        let out = Path::new("out");
        assert_eq!(sync(None, None, out).unwrap(), None);
        let named = |name: &str| sync(Some("dir".into()), Some(name.into()), out);
        assert_eq!(named("a-1_B").unwrap(), Some(("dir".into(), "a-1_B".into())));
        for wrong in ["", "a/b", "..", "a b", &"x".repeat(33)] {
            assert!(message(named(wrong)).contains("name of a folder"), "{wrong}");
        }
        assert!(!sync(Some("dir".into()), None, out).unwrap().unwrap().1.is_empty());
        assert!(message(sync(None, Some("a".into()), out)).contains("--sync"));
        assert!(message(sync(Some("dir".into()), None, Path::new("dir/out"))).contains("inside of the --sync"));
    }
}
