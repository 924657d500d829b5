//! Exactness of counts with shared counters: they equal those with a counter in every block, on random control flow
//! and on programs of csmith.
//!
//! `scripts/bench/exactness` runs the same tests over thousands of programs.

mod ir;
mod others;

use std::{sync::atomic::AtomicUsize, sync::atomic::Ordering};

use libafl_bolts::{rands::Rand, rands::StdRand};

use crate::common::*;

/// Number in an environment variable, which `scripts/bench/exactness` sets; `usual` without it.
fn setting(name: &str, usual: usize) -> usize {
    std::env::var(name).map_or(usual, |value| value.parse().expect("a number"))
}

/// Versions of LLVM to test: those in `QUAGMIRE_EXACTNESS_LLVMS`, separated by commas, or those of all tests.
fn versions() -> Vec<u32> {
    let named = std::env::var("QUAGMIRE_EXACTNESS_LLVMS").unwrap_or_default();
    let named: Vec<u32> = named.split(',').filter_map(|version| version.parse().ok()).collect();
    if named.is_empty() { llvms() } else { named }
}

const LEVELS: [&str; 5] = ["-O0", "-O1", "-O2", "-O3", "-Os"];

/// Builds a program with shared counters and with a counter in every block, and returns the names of both.
fn both(scene: &Scene, name: &str, llvm: u32, arguments: &[&str]) -> [String; 2] {
    ["shared", "every-block"].map(|counting| {
        let program = format!("{name}-{counting}");
        let mut command = compiler("a.cc", Some(llvm));
        command.current_dir(scene.path(".")).env("QUAGMIRE_COUNTING", counting);
        run(command.args(arguments).args(["-w", "-o", &program])).ended();
        program
    })
}

/// Results of one run, except times.
#[derive(Debug, PartialEq)]
struct Shown {
    status: String,
    detail: Value,
    totals: [u64; 4],
    functions: BTreeMap<String, (u64, u64)>,
    /// Count and instructions by file, function and line number.
    lines: BTreeMap<(String, String, u64), (u64, u64)>,
}

impl Shown {
    fn of(input: &Value) -> Self {
        let text = |value: &Value| string(value).to_owned();
        let counts = |value: &Value| (number(&value["count"]), number(&value["instructions"]));
        let list = |name: &str| array(&input[name]).iter();
        Self {
            status: text(&input["status"]),
            detail: input["detail"].clone(),
            totals: ["instructions", "edges", "hottest_edge", "edges_hit"].map(|name| number(&input[name])),
            functions: list("functions").map(|f| (text(&f["function"]), counts(f))).collect(),
            lines: list("lines")
                .map(|l| ((text(&l["file"]), text(&l["function"]), number(&l["line"])), counts(l)))
                .collect(),
        }
    }
}

/// Runs a program on these files, and returns the results with all lines of this source.
fn shown(scene: &Scene, program: &str, source: &str, inputs: &[PathBuf]) -> Vec<Shown> {
    let options = ["replay", "--json", "-n", "1", "--hang-timeout", "60s", "--annotate", source];
    let mut command = scene.quagmire(&options);
    command.args(inputs).arg("--").arg(scene.path(program)).arg("@@");
    array(&run(&mut command).ended().json()["inputs"]).iter().map(Shown::of).collect()
}

/// Asserts that two builds give the same results; `what` names the source.
#[track_caller]
fn agree(what: &str, shared: &[Shown], every: &[Shown]) {
    assert_eq!(shared.len(), every.len(), "{what}");
    for (at, (shared, every)) in shared.iter().zip(every).enumerate() {
        assert!(every.totals[0] > 0, "{what}, input {at}: nothing ran");
        assert!(shared == every, "{what}, input {at}: with shared counters {shared:#?}, with all {every:#?}");
    }
}

/// Number of times that each block was entered, as the program itself counts.
fn truth(scene: &Scene, program: &str, input: &Path) -> Vec<u64> {
    let told = scene.path("truth");
    let mut command = Command::new(scene.path(program));
    let _ended_somehow = run(command.arg(input).env("EXACT_TRUTH", &told));
    let text = fs::read_to_string(&told).expect("the program tells");
    fs::remove_file(&told).expect("removed");
    text.lines().map(|line| line.parse().expect("a count")).collect()
}

/// Calls `test` with each number below `limit`, on two threads.
fn on_two_threads(limit: usize, test: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(number) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|number| *number < limit) {
                    test(number);
                }
            });
        }
    });
}

/// Files with random bytes, whose first bytes count up.
fn drawn(seed: u64, files: usize, length: usize) -> Vec<(String, Vec<u8>)> {
    let mut rand = StdRand::with_seed(seed);
    let bytes = |first: usize, rand: &mut StdRand| {
        // half of them small: what programs ask for
        let byte = |word: u64| if word & 1 == 0 { (word >> 8) as u8 } else { (word >> 8) as u8 % 16 };
        std::iter::once(first as u8).chain((1..length).map(|_| byte(rand.next()))).collect()
    };
    (0..files).map(|file| (format!("{file:04}"), bytes(file, &mut rand))).collect()
}

/// Creates a scene with these files as seeds, and returns their paths as well.
fn with_inputs(files: &[(String, Vec<u8>)]) -> (Scene, Vec<PathBuf>) {
    let seeds: Vec<(&str, &[u8])> = files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    (Scene::new(&seeds), files.iter().map(|(name, _)| Path::new("seeds").join(name)).collect())
}

#[test]
fn shapes_that_counters_get_wrong_are_counted_as_with_a_counter_in_every_block() {
    let (scene, inputs) = with_inputs(&drawn(7, 140, 60));
    for llvm in versions() {
        for level in LEVELS {
            for (source, options) in [("shapes.c", ["-g", "-xc"]), ("coroutines.cc", ["-g", "-std=c++20"])] {
                // clang 14 knows coroutines as an experiment only
                if llvm == 14 && source == "coroutines.cc" {
                    continue;
                }
                let path = testdata(source);
                let arguments = [options[0], options[1], level, path.to_str().expect("text"), "-xnone"];
                let programs = both(&scene, source, llvm, &arguments);
                let [shared, every] = programs.each_ref().map(|program| shown(&scene, program, source, &inputs));
                agree(&format!("LLVM {llvm}, {source} {level}"), &shared, &every);
            }
        }
    }
}

/// Generates the C program of this seed with csmith; returns whether there is one that ends.
fn csmith(scene: &Scene, seed: u64) -> bool {
    if !has_program("csmith", "csmith") {
        return false;
    }
    let options = ["--no-argc", "--max-funcs", "6", "--quiet", "-o", "program.c", "-s"];
    run(Command::new("csmith").current_dir(scene.path(".")).args(options).arg(seed.to_string())).ended();
    let build = ["-w", "-O1", "-I/usr/include/csmith", "program.c", "-o", "plain"];
    run(Command::new("cc").current_dir(scene.path(".")).args(build)).ended();
    run(Command::new("timeout").args(["2", "./plain"]).current_dir(scene.path("."))).code == Some(0)
}

#[test]
fn programs_of_csmith_are_counted_as_with_a_counter_in_every_block() {
    let programs = setting("QUAGMIRE_EXACTNESS_CSMITH", 6);
    let first = setting("QUAGMIRE_EXACTNESS_FIRST", 1) as u64;
    let compared = AtomicUsize::new(0);
    for llvm in versions() {
        on_two_threads(programs, |program| {
            let (scene, inputs) = with_inputs(&drawn(1, 1, 1));
            let seed = first + program as u64;
            if !csmith(&scene, seed) {
                return;
            }
            let level = LEVELS[program % LEVELS.len()];
            let programs =
                both(&scene, "program", llvm, &["-xc", "-g", level, "-I/usr/include/csmith", "program.c", "-xnone"]);
            let [shared, every] = programs.each_ref().map(|program| shown(&scene, program, "program.c", &inputs));
            agree(&format!("LLVM {llvm}, csmith -s {seed}, {level}"), &shared, &every);
            compared.fetch_add(1, Ordering::Relaxed);
        });
    }
    let compared = compared.into_inner();
    println!("{compared} programs of csmith compared; the others do not end within two seconds");
    assert!(compared > 0 || !has_program("csmith", "csmith"), "no program of csmith ends");
}

/// Counts of functions by the tables of the pass, and of lines by `replay`.
fn ours(scene: &Scene, llvm: u32, flags: &str, source: &str, inputs: &[PathBuf]) -> others::Counts {
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../compiler-wrapper/runtime");
    let mut command = compiler("a.c", Some(llvm));
    command.env("QUAGMIRE_NOOPT", "1").arg("-I").arg(runtime).args(["-O1", "-c"]).arg(testdata("entries.c"));
    run(command.arg("-o").arg(scene.path("entries.o"))).ended();
    let mut command = compiler("a.c", Some(llvm));
    // addresses are those of the file
    command.current_dir(scene.path(".")).args(flags.split_whitespace());
    run(command.args(["-no-pie", source, "entries.o", "-o", "ours"])).ended();
    let folder = scene.path(".");
    others::output(&folder, "./ours");
    let symbols = others::output(&folder, "nm ours");
    let symbol = |line: &str| {
        let (address, rest) = line.split_once(' ')?;
        Some((u64::from_str_radix(address, 16).ok()?, rest.split_once(' ')?.1.to_owned()))
    };
    let names: BTreeMap<u64, String> = symbols.lines().filter_map(symbol).collect();
    let entries = scene.read("entries");
    let entry = |line: &str| {
        let (address, count) = line.split_once(' ').expect("two numbers");
        let address = u64::from_str_radix(address, 16).expect("an address");
        (names[&address].clone(), count.parse().expect("a count"))
    };
    let mut lines = BTreeMap::new();
    let all = shown(scene, "ours", source, inputs).swap_remove(0).lines;
    for ((_, _, line), (count, _)) in all.iter().filter(|((file, ..), _)| Path::new(file).ends_with(source)) {
        let known: &mut u64 = lines.entry(*line).or_default();
        *known = (*known).max(*count);
    }
    others::Counts { functions: entries.lines().map(entry).collect(), lines }
}

/// Asserts that the counts of functions and lines in both agree, and returns the number of each. A line that only
/// closes a block may differ: it is where a function returns, which clang does not count behind an explicit return.
#[track_caller]
fn compare(what: &str, source: &str, ours: &others::Counts, theirs: &others::Counts) -> (usize, usize) {
    let with = |name: &String| theirs.functions.get(name);
    let functions: Vec<_> =
        ours.functions.iter().filter_map(|(name, count)| Some((name, count, with(name)?))).collect();
    for (name, ours, theirs) in &functions {
        assert_eq!(ours, theirs, "{what}: entries of {name}");
    }
    let closes = |line: u64| source.lines().nth(line as usize - 1).is_some_and(|text| text.trim() == "}");
    let counted = ours.lines.iter().filter_map(|(line, count)| Some((*line, count, theirs.lines.get(line)?)));
    let lines: Vec<_> = counted.filter(|(line, ..)| !closes(*line)).collect();
    for (line, ours, theirs) in &lines {
        assert_eq!(ours, theirs, "{what}: line {line}: {:?}", source.lines().nth(*line as usize - 1));
    }
    (functions.len(), lines.len())
}

#[test]
fn without_optimisation_functions_and_lines_are_counted_as_clangs_and_gccs_own_counters_do() {
    let programs = setting("QUAGMIRE_EXACTNESS_OTHERS", 3);
    let first = setting("QUAGMIRE_EXACTNESS_FIRST", 1) as u64;
    let [functions, lines] = [(); 2].map(|()| AtomicUsize::new(0));
    let llvm = versions()[0];
    on_two_threads(programs, |program| {
        let (scene, inputs) = with_inputs(&drawn(1, 1, 1));
        let seed = first + program as u64;
        if !csmith(&scene, seed) {
            return;
        }
        let flags = "-g -O0 -w -I/usr/include/csmith";
        let source = scene.read("program.c");
        let ours = ours(&scene, llvm, flags, "program.c", &inputs);
        let folder = scene.path(".");
        let clangs = others::clang(&folder, llvm, flags, "program.c");
        for (tool, theirs) in [("clang", clangs), ("gcc", others::gcc(&folder, flags, "program.c"))] {
            let compared = compare(&format!("csmith -s {seed}, {tool}"), &source, &ours, &theirs);
            functions.fetch_add(compared.0, Ordering::Relaxed);
            lines.fetch_add(compared.1, Ordering::Relaxed);
        }
    });
    let [functions, lines] = [functions, lines].map(AtomicUsize::into_inner);
    println!("{functions} functions and {lines} lines compared with clang's and gcc's counters");
    assert!(functions > 0 && lines > 0 || !has_program("csmith", "csmith"), "nothing to compare");
}

/// Tests one module of random functions, each on several inputs.
fn random_module(seed: u64, llvm: u32, functions: usize) {
    const INPUTS: u64 = 4;
    let mut rand = StdRand::with_seed(seed);
    let inputs: Vec<(String, Vec<u8>)> = (0..functions as u64 * INPUTS)
        .map(|input| {
            let which = ((input / INPUTS) as u16).to_le_bytes();
            let bytes = which.into_iter().chain(rand.next().to_le_bytes()).chain(rand.next().to_le_bytes()).take(16);
            (format!("{input:05}"), bytes.collect())
        })
        .collect();
    let (scene, inputs) = with_inputs(&inputs);
    let folder = scene.path(".").canonicalize().expect("it exists");
    let module = ir::Generator::new(seed, llvm).module(functions, folder.to_str().expect("text"), "module.ll");
    assert_eq!(module.functions, functions);
    scene.write("module.ll", module.text.as_bytes());
    let main = scene.path("main.o");
    let mut command = compiler("a.cc", Some(llvm));
    command.env("QUAGMIRE_NOOPT", "1").args(["-O1", "-w", "-c"]).arg(testdata("exactness.cc")).arg("-o").arg(&main);
    run(&mut command).ended();
    // every block is as it was written only without optimisation
    for level in ["-O0", LEVELS[1 + seed as usize % 4]] {
        let what = format!("LLVM {llvm}, random functions of seed {seed}, {level}");
        let arguments = [level, "module.ll", main.to_str().expect("text")];
        let programs = both(&scene, "program", llvm, &arguments);
        let [shared, every] = programs.each_ref().map(|program| shown(&scene, program, "module.ll", &inputs));
        agree(&what, &shared, &every);
        if level == "-O0" {
            for (input, shown) in inputs.iter().zip(&shared) {
                let truth = truth(&scene, &programs[0], &scene.path(input.to_str().expect("text")));
                let counts: BTreeMap<u64, u64> =
                    shown.lines.iter().map(|((.., line), (count, _))| (*line, *count)).collect();
                let counted: Vec<u64> =
                    (1..=truth.len() as u64).map(|l| counts.get(&l).copied().unwrap_or(0)).collect();
                assert!(counted == truth, "{what}, {}: counted {counted:?}, truth {truth:?}", input.display());
            }
        }
    }
}

#[test]
fn random_control_flow_is_counted_as_with_a_counter_in_every_block_and_as_it_counts_itself() {
    let modules = setting("QUAGMIRE_EXACTNESS_MODULES", 4);
    let functions = setting("QUAGMIRE_EXACTNESS_FUNCTIONS", 40);
    let first = setting("QUAGMIRE_EXACTNESS_FIRST", 1) as u64;
    for llvm in versions() {
        on_two_threads(modules, |module| random_module(first + module as u64, llvm, functions));
    }
}
