//! Tests of the first use on a machine: what is built, and which messages appear if something is missing.

use crate::common::{Llvm, compiler, copied, installed, run};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Writes a script of the shell that can be executed.
fn script(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// Makes a `clang` and `clang++` that log every start, and an llvm-config that leads to them.
fn logging_llvm(folder: &Path, llvm: &Llvm) -> PathBuf {
    let (log, own, of_llvm) = (folder.join("log"), folder.display(), llvm.bindir.display());
    for name in ["clang", "clang++"] {
        script(folder, name, &format!("echo {name} \"$@\" >> {}\nexec {of_llvm}/{name} \"$@\"", log.display()));
    }
    let text = format!("llvm-config-{} \"$@\" | sed 's|^{of_llvm}$|{own}|'", llvm.major);
    script(folder, "llvm-config", &text)
}

#[test]
fn eight_compilers_started_at_once_build_everything_once() {
    for llvm in installed() {
        let (folder, tools) = (copied("commands"), tempfile::tempdir().unwrap());
        let llvm_config = logging_llvm(tools.path(), &llvm);
        let cache = folder.path().join("cache");
        let compilers: Vec<_> = (0..8)
            .map(|n| {
                Command::new(compiler("quagmire-cc"))
                    .current_dir(folder.path())
                    .args(["a.c", "b.c", "-o", &format!("a{n}")])
                    .env("QUAGMIRE_CACHE", &cache)
                    .env("QUAGMIRE_LLVM_CONFIG", &llvm_config)
                    .stderr(Stdio::piped())
                    .spawn()
                    .unwrap()
            })
            .collect();
        for compiler in compilers {
            let output = compiler.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        let log = fs::read_to_string(tools.path().join("log")).unwrap();
        let built =
            |output: &str| log.lines().filter(|line| format!("{line} ").contains(&format!(" -o {output} "))).count();
        for output in ["quagmire-counts.so", "quagmire-runtime.o", "quagmire-inprocess.o", "quagmire-serve.o", "a7"] {
            assert_eq!(built(output), 1, "{output}: {log}");
        }
        let left: Vec<_> =
            fs::read_dir(&cache).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        let known = |name: &String| {
            ["plugin-", "objects-", "include-", "script-", "said-", "lock"].iter().any(|start| name.starts_with(start))
        };
        assert!(left.iter().all(known), "{left:?}");
    }
}

#[test]
fn a_clang_that_cannot_compile_the_plugin_shows_why_and_leaves_no_debris() {
    for llvm in installed() {
        let (folder, tools) = (copied("commands"), tempfile::tempdir().unwrap());
        let llvm_config = logging_llvm(tools.path(), &llvm);
        fs::write(tools.path().join("clang++"), "#!/bin/sh\necho out of luck >&2\nexit 1\n").unwrap();
        let cache = folder.path().join("cache");
        let mut wrapper = Command::new(compiler("quagmire-cc"));
        wrapper.env("QUAGMIRE_CACHE", &cache).env("QUAGMIRE_LLVM_CONFIG", &llvm_config);
        let output = run(wrapper, folder.path(), &["-c", "a.c"], "");
        let messages = String::from_utf8(output.stderr).unwrap();
        let lines: Vec<_> = messages.lines().collect();
        assert_eq!((output.status.code(), lines.len(), lines[0]), (Some(1), 2, "out of luck"), "{messages}");
        assert!(
            lines[1].starts_with("quagmire-cc: ") && lines[1].contains("cannot compile the pass plugin"),
            "{messages}"
        );
        let left = fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        assert_eq!(left.filter(|name| name != "lock" && !name.starts_with("said-")).count(), 0);
    }
}

#[test]
fn an_llvm_without_its_clang_is_passed_over_and_a_named_one_comes_first() {
    let Some(llvm) = installed().into_iter().find(|llvm| llvm.major == 14) else { return };
    let (folder, tools) = (copied("commands"), tempfile::tempdir().unwrap());
    script(tools.path(), "llvm-config-19", "echo 19.1.7\necho /nowhere/bin\necho /nowhere/include\necho");
    let real = Command::new("sh").args(["-c", "command -v llvm-config-14"]).output().unwrap();
    std::os::unix::fs::symlink(String::from_utf8(real.stdout).unwrap().trim(), tools.path().join("llvm-config-14"))
        .unwrap();
    let chosen = |quagmire: Option<&str>, plain: Option<&str>| {
        let mut wrapper = Command::new(compiler("quagmire-cc"));
        wrapper.env_remove("QUAGMIRE_LLVM_CONFIG").env_remove("LLVM_CONFIG").env("QUAGMIRE_DEBUG", "1");
        let log = folder.path().join("cache/commands.log");
        let _ = fs::remove_file(&log);
        wrapper.env("PATH", tools.path()).env("QUAGMIRE_CACHE", folder.path().join("cache"));
        wrapper.envs(quagmire.map(|value| ("QUAGMIRE_LLVM_CONFIG", value)));
        wrapper.envs(plain.map(|value| ("LLVM_CONFIG", value)));
        let printed = String::from_utf8(run(wrapper, folder.path(), &["--version"], "").stderr).unwrap();
        fs::read_to_string(&log).unwrap_or_default() + &printed
    };
    let right = format!("{} --version\n", llvm.bindir.join("clang").display());
    assert_eq!(chosen(None, None), right);
    assert_eq!(chosen(Some("llvm-config-14"), Some("/nowhere/llvm-config")), right);
    let error = chosen(Some("llvm-config-19"), Some("llvm-config-14"));
    assert!(error.contains("LLVM's headers are not in /nowhere/include"), "{error}");
}

#[test]
fn where_no_llvm_can_be_used_one_line_names_the_packages_or_what_is_supported() {
    let folder = copied("commands");
    let said = |name: Option<&str>| {
        let mut wrapper = Command::new(compiler("quagmire-cc"));
        wrapper.env_remove("QUAGMIRE_LLVM_CONFIG").env_remove("LLVM_CONFIG");
        wrapper.env("PATH", folder.path()).env("QUAGMIRE_CACHE", folder.path().join("cache"));
        wrapper.envs(name.map(|name| ("LLVM_CONFIG", name)));
        let output = run(wrapper, folder.path(), &["-c", "a.c"], "");
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!(
        said(None),
        "quagmire-cc: no clang 14 to 22 with its LLVM headers found: install clang and llvm-dev (Fedora: llvm-devel, Arch: \
         llvm), or name an llvm-config with QUAGMIRE_LLVM_CONFIG\n"
    );
    script(folder.path(), "llvm-config", "echo 23.1.4\necho /bin\necho /include\necho");
    let message = said(None);
    assert!(message.contains("llvm-config is of LLVM 23.1.4, and 14 to 22 are supported"), "{message}");
    assert_eq!(
        said(Some("llvm-config")),
        "quagmire-cc: LLVM_CONFIG=llvm-config: it is of LLVM 23.1.4: name an llvm-config of LLVM 14 to 22, or unset \
         LLVM_CONFIG\n"
    );
}
