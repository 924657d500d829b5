//! Tests of the headers for generators: they take the bytes that LLVM's FuzzedDataProvider takes, the runtime sees what they
//! draw, and what an overlay makes is an ordinary input.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use crate::common::{Llvm, copied, installed, must, skip};

const INCLUDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/include");

/// Input of the harnesses: text that ends twice, and numbers behind it.
const INPUT: &[u8] = b"ab\\x-cd\\\\e\\xfgh12345678901234567890AAAAAABBBB\x01\x03\x05\x02\x03\x01\x02\x03";

/// clang++ of this LLVM, whose own FuzzedDataProvider.h comes before ours.
fn plain(llvm: &Llvm) -> Command {
    let mut command = Command::new(llvm.bindir.join("clang++"));
    command.args(["-idirafter", INCLUDE]);
    command
}

/// Builds a program of `testdata/draws` and runs it on 200,000 calls. Returns what it prints.
fn hash(mut command: Command, folder: &Path, options: &[&str]) -> String {
    command.args(["equal.cc", "-o", "program"]);
    must(command, folder, options);
    must(Command::new("./program"), folder, &["200000", "7"])
}

#[test]
fn the_same_bytes_give_the_values_that_llvms_header_gives() {
    let folder = copied("draws");
    for llvm in installed() {
        let theirs = hash(plain(&llvm), folder.path(), &[]);
        assert_eq!(theirs, hash(llvm.wrapperxx(), folder.path(), &["-std=c++11"]), "LLVM {}", llvm.major);
    }
    let Some(llvm) = installed().into_iter().next() else { return };
    let theirs = hash(plain(&llvm), folder.path(), &["-DC_CALLS"]);
    assert_eq!(theirs, hash(llvm.wrapperxx(), folder.path(), &["-DC_API"]));
    if Command::new("g++").arg("--version").output().is_err() {
        return skip("g++", "scripts/install-deps --test installs it");
    }
    let gcc = || Command::new("g++");
    assert_eq!(theirs, hash(gcc(), folder.path(), &["-DC_API", "-Wall", "-Wextra", "-Werror", "-I", INCLUDE]));
}

/// Harnesses with an engine that shows their draws.
struct Harness {
    folder: PathBuf,
}

/// One for each LLVM, built once.
fn harnesses() -> &'static [(Llvm, Harness)] {
    static BUILT: OnceLock<Vec<(Llvm, Harness)>> = OnceLock::new();
    BUILT.get_or_init(|| {
        let both = |llvm: Llvm| {
            let harness = Harness::new(&llvm);
            (llvm, harness)
        };
        installed().into_iter().map(both).collect()
    })
}

impl Harness {
    fn new(llvm: &Llvm) -> Self {
        // for all tests: nothing would remove a temporary folder
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("draws-{}", llvm.major));
        fs::create_dir_all(&folder).expect("a folder");
        for name in ["engine.c", "harness.cc"] {
            let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/testdata/draws").join(name);
            fs::copy(from, folder.join(name)).expect("copied");
        }
        let mut engine = llvm.clang();
        engine.args(["-Wall", "-Wextra", "-Werror", "-I", concat!(env!("CARGO_MANIFEST_DIR"), "/runtime"), "-I"]);
        engine.arg(Path::new(INCLUDE).join("quagmire"));
        must(engine, &folder, &["-c", "engine.c", "-o", "engine.o"]);
        let mut wrapper = llvm.wrapperxx();
        wrapper.env("QUAGMIRE_ENGINE", folder.join("engine.o"));
        must(llvm.wrapperxx(), &folder, &["-O1", "-c", "harness.cc"]);
        must(wrapper, &folder, &["-fsanitize=fuzzer", "harness.o", "-o", "harness"]);
        fs::write(folder.join("input"), INPUT).expect("written");
        Self { folder }
    }

    /// Returns the output of the harness for the input, and the lines about its draws with this overlay, or without any.
    fn shown(&self, name: &str, overlay: &[&str]) -> (String, Vec<String>) {
        let mut command = Command::new("./harness");
        command.env("DRAWS", name);
        let text = must(command, &self.folder, &[&["input"], overlay].concat());
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        if !overlay.is_empty() {
            let last = lines.iter().rposition(|line| line.starts_with("status 0")).expect("a run");
            lines.drain(..last - 1);
            let printed = lines.remove(0);
            return (printed, lines);
        }
        assert_eq!((lines[0].as_str(), lines[2].as_str()), ("compiled 1", "used 1, recorded 0"), "{text}");
        (lines[3].clone(), lines.split_off(4))
    }

    /// Kind, site, part and depth of each draw.
    fn parts(&self, name: &str) -> Vec<String> {
        let (_, lines) = self.shown(name, &[]);
        assert!(!lines.iter().any(|line| line.starts_with("the key")), "{name}: keys are not unique: {lines:#?}");
        let draws = lines.iter().filter(|line| line.contains(" site="));
        draws.map(|line| line.split(' ').skip(1).take(4).collect::<Vec<_>>().join(" ")).collect()
    }
}

#[test]
fn functions_rounds_of_loops_and_named_parts_are_told_apart() {
    for (_, harness) in harnesses() {
        // the first round of the loop is known by the second
        let list = [
            "integer site=0 part=0 depth=1",
            "flip site=1 part=1 depth=2",
            "flip site=1 part=2 depth=2",
            "text site=2 part=2 depth=2",
            "flip site=1 part=4 depth=2",
            "text site=2 part=4 depth=2",
            "integer site=3 part=4 depth=2",
        ];
        assert_eq!(harness.parts("list"), list);
        let recursion = [
            "flip site=0 part=0 depth=1",
            "flip site=0 part=1 depth=2",
            "integer site=1 part=1 depth=2",
            "flip site=0 part=3 depth=2",
            "flip site=0 part=4 depth=3",
            "integer site=1 part=4 depth=3",
            "flip site=0 part=6 depth=3",
            "integer site=1 part=7 depth=4",
            "integer site=1 part=8 depth=4",
        ];
        assert_eq!(harness.parts("recursion"), recursion);
        let nested = [
            "pick site=0 part=0 depth=1",
            "integer site=1 part=1 depth=2",
            "pick site=0 part=2 depth=1",
            "integer site=1 part=3 depth=2",
            "integer site=1 part=4 depth=2",
        ];
        assert_eq!(harness.parts("nested"), nested);
        let named = harness.parts("named");
        assert_eq!(named.len(), 1 + 3 * 6);
        assert_eq!(named[1..3], ["open site=1 part=1 depth=2", "integer site=2 part=1 depth=2"]);
        assert_eq!(
            named[7..10],
            ["open site=1 part=7 depth=2", "integer site=2 part=7 depth=2", "open site=3 part=9 depth=3"]
        );
        let deep = harness.parts("deep");
        assert_eq!((deep.len(), deep[254].as_str()), (1001, "flip site=0 part=254 depth=255"));
        assert!(deep[255..].iter().all(|draw| draw == "flip site=0 part=254 depth=255"));
    }
}

#[test]
fn what_the_headers_execute_is_not_counted() {
    for (llvm, harness) in harnesses() {
        let folder = &harness.folder;
        let functions = must(Command::new("objdump"), folder, &["-r", "-j", "__qgm_funcs", "harness.o"]);
        assert!(functions.contains("LLVMFuzzerTestOneInput"), "{functions}");
        let counted = functions.lines().find(|line| line.contains("Consume"));
        assert_eq!(counted, None, "LLVM {}", llvm.major);
    }
}

#[test]
fn draws_are_recorded_with_what_they_took_and_only_by_the_run_itself() {
    let Some((_, harness)) = harnesses().first() else { return };
    let shown = |name| harness.shown(name, &[]).1;
    let all = shown("all");
    for (line, took) in all[2..].iter().zip([
        "0 pick range=1 value=1 offset=52 length=1",
        "1 real range=4294967295 offset=48 length=4",
        "2 text range=4 offset=0 length=4",
        "3 bytes range=2 offset=4 length=2",
        "4 size value=42 offset=6 length=0",
        "5 rest range=42 offset=6 length=42",
    ]) {
        assert!(took.split(' ').all(|word| line.split(' ').any(|found| found == word)), "{took}: {all:#?}");
    }
    assert!(shown("several")[3].contains("offset=52 length=1"), "the other one's byte is in the input too");
    assert!(shown("copy")[2].contains("offset=-1 length=1"));
    let thread = shown("thread");
    assert!(thread[1] == "draws 1" && thread[2].contains("offset=51"), "{thread:#?}");
    // those that find no room are counted
    assert_eq!(shown("many")[1], "draws 70000");
    assert_eq!(shown("generated")[2], "generated ab");
}

#[test]
fn an_overlay_is_taken_where_it_fits_and_leaves_an_ordinary_input() {
    for (llvm, harness) in harnesses() {
        // 2 takes one byte, not two
        let (printed, lines) = harness.shown("list", &["5=neu\\!", "3=long\\\\er text", "0=\u{4}", "2=xx"]);
        assert_eq!(printed, "[0 ][1 long\\er ][1 neu][0 ](5)");
        let overlaid = lines.iter().filter(|line| line.ends_with(" overlaid")).map(|line| &line[..2]);
        assert_eq!(overlaid.collect::<Vec<_>>(), ["0 ", "3 ", "5 "]);
        let made = lines.last().and_then(|line| line.strip_prefix("input ")).expect("an input").to_owned();
        let folder = &harness.folder;
        fs::write(folder.join("made"), &made).expect("written");
        must(plain(llvm), folder, &["-DALONE", "harness.cc", "-o", "alone"]);
        let mut alone = Command::new("./alone");
        alone.env("DRAWS", "list");
        assert_eq!(must(alone, folder, &["made"]).trim_end(), printed);
    }
}
