//! Tests of plans: real command lines of autotools, CMake, meson and libtool.

use std::ffi::OsStr;

use super::*;
use std::path::Path;

/// Splits a shell-like line; `'...'` and `"..."` quote.
fn words(line: &str) -> Vec<OsString> {
    response::tokenize(line.as_bytes())
}

fn read(path: &Path) -> Option<Vec<u8>> {
    match path.to_str()? {
        "objects.rsp" => Some(b"a.o b.o\n-lz".to_vec()),
        "fuzzer.rsp" => Some(b"-O1 -fsanitize=fuzzer,address \"-DX=a b\"".to_vec()),
        "separator.rsp" => Some(b"-o p -- a.c".to_vec()),
        _ => None,
    }
}

fn planned(line: &str) -> BuildPlan {
    parse(words(line), Language::C, Settings::default(), &read)
}

/// The resulting command in one line without the symbols of SanitizerCoverage, with P, R, C, I, S, H, D, M, E and L for
/// the plugin, runtime, comparisons, what is in process, fork server, heap, driver, main, engine and linker script, that
/// behind all others, without macros.
fn command(line: &str) -> String {
    command_with(line, Settings::default())
}

fn command_with(line: &str, settings: Settings) -> String {
    let pieces = Pieces {
        plugin: "P".into(),
        linker_plugin: PathBuf::new(),
        objects: [
            (Part::Always, "R C"),
            (Part::InProcess, "I"),
            (Part::Serve, "S"),
            (Part::Mutants, "X"),
            (Part::Faults, "F"),
            (Part::Performance, "P"),
            (Part::MutantsServe, "T"),
            (Part::MutantsForeign, "O"),
            (Part::Driver, "D"),
            (Part::Heap, "H"),
            (Part::Main, "M"),
        ]
        .map(|(part, paths)| (part, paths.split(' ').map(PathBuf::from).collect()))
        .into(),
        script: "L".into(),
        engine: "E".into(),
        provider: PathBuf::new(),
    };
    let mut plan = parse(words(line), Language::C, settings, &read);
    plan.macros = false;
    let command = plan.command(&pieces);
    let is_of_sancov = |word: &str| word.starts_with("-Wl,--export-dynamic-symbol=__san");
    let words = command.iter().map(|word| word.to_string_lossy()).filter(|word| !is_of_sancov(word));
    let shown = words.collect::<Vec<_>>().join(" ");
    match shown.replacen("-Xlinker -T -Xlinker L ", "", 1) {
        others if others != shown => {
            let last = "__quagmire_draw_hooks";
            let (front, back) = others.split_at(others.find(last).map_or(others.len(), |at| at + last.len()));
            format!("{front} -Xlinker -T -Xlinker L{back}")
        }
        _ => shown,
    }
}

const RUNTIME: &str = "R C S H -Wl,--export-dynamic-symbol=__quagmire_register \
                      -Wl,--export-dynamic-symbol=__quagmire_unregister \
                       -Wl,--export-dynamic-symbol=__quagmire_compare \
                      -Wl,--export-dynamic-symbol=__quagmire_compared_numbers \
                      -Wl,--export-dynamic-symbol=__quagmire_compared_words \
                      -Wl,--export-dynamic-symbol=__quagmire_recording -Wl,--export-dynamic-symbol=__quagmire_common \
                      -Wl,--export-dynamic-symbol=__quagmire_init -Wl,--export-dynamic-symbol=__quagmire_loop \
                      -Wl,--export-dynamic-symbol=__quagmire_testcase \
                      -Wl,--export-dynamic-symbol=__quagmire_testcase_size \
                      -Wl,--export-dynamic-symbol=__quagmire_draw_hooks -Xlinker -T -Xlinker L";
const ENGINE: &str = "R C I H M E -Wl,-u,LLVMFuzzerTestOneInput -lpthread -ldl -lm -lrt \
                      -Wl,--push-state,--as-needed -lstdc++ -Wl,--pop-state \
                      -Wl,--export-dynamic-symbol=__quagmire_register \
                      -Wl,--export-dynamic-symbol=__quagmire_unregister \
                      -Wl,--export-dynamic-symbol=__quagmire_compare \
                      -Wl,--export-dynamic-symbol=__quagmire_compared_numbers \
                      -Wl,--export-dynamic-symbol=__quagmire_compared_words \
                      -Wl,--export-dynamic-symbol=__quagmire_recording -Wl,--export-dynamic-symbol=__quagmire_common \
                      -Wl,--export-dynamic-symbol=__quagmire_init -Wl,--export-dynamic-symbol=__quagmire_loop \
                      -Wl,--export-dynamic-symbol=__quagmire_testcase \
                      -Wl,--export-dynamic-symbol=__quagmire_testcase_size \
                      -Wl,--export-dynamic-symbol=__quagmire_draw_hooks";

/// Link arguments with a sanitizer that has its own allocator.
const SANITIZED: &str = "R C I M E -Wl,-u,LLVMFuzzerTestOneInput -lpthread -ldl -lm -lrt \
                      -Wl,--push-state,--as-needed -lstdc++ -Wl,--pop-state \
                         -Wl,--export-dynamic-symbol=__quagmire_register \
                      -Wl,--export-dynamic-symbol=__quagmire_unregister \
                      -Wl,--export-dynamic-symbol=__quagmire_compare \
                      -Wl,--export-dynamic-symbol=__quagmire_compared_numbers \
                      -Wl,--export-dynamic-symbol=__quagmire_compared_words \
                      -Wl,--export-dynamic-symbol=__quagmire_recording -Wl,--export-dynamic-symbol=__quagmire_common \
                      -Wl,--export-dynamic-symbol=__quagmire_init -Wl,--export-dynamic-symbol=__quagmire_loop \
                      -Wl,--export-dynamic-symbol=__quagmire_testcase \
                      -Wl,--export-dynamic-symbol=__quagmire_testcase_size \
                      -Wl,--export-dynamic-symbol=__quagmire_draw_hooks";

#[test]
fn headers_for_generators_come_before_those_of_clang_and_are_included_on_request() {
    let pieces = Pieces { provider: "I/fuzzer/FuzzedDataProvider.h".into(), ..Pieces::default() };
    let command = |line: &str, settings| {
        let mut plan = parse(words(line), Language::Cxx, settings, &read);
        (plan.macros, plan.instrument) = (false, false);
        plan.command(&pieces).join(OsStr::new(" ")).into_string().expect("text")
    };
    let asked = Settings { includes_provider: true, ..Settings::default() };
    assert_eq!(command("-c a.cc", Settings::default()), "-isystem I -c a.cc");
    assert_eq!(command("-c a.cc", asked), "-isystem I -include I/fuzzer/FuzzedDataProvider.h -c a.cc");
    assert!(!parse(words("a.o -o p"), Language::Cxx, asked, &read).includes_provider);
}

#[test]
fn compile_commands_get_the_plugin_and_nothing_else() {
    for line in [
        "-c a.c",
        "-c -o conftest.o -g -O2 conftest.c",
        // automake with dependency tracking
        "-DHAVE_CONFIG_H -I. -I../lib -g -O2 -MT a.o -MD -MP -MF .deps/a.Tpo -c -o a.o a.c",
        // libtool
        "-DPACKAGE=\\\"x\\\" -I. -g -O2 -c a.c -fPIC -DPIC -o .libs/a.o",
        // CMake
        "-DX -I/src/include -O3 -DNDEBUG -std=gnu11 -MD -MT CMakeFiles/a.dir/a.c.o -MF CMakeFiles/a.dir/a.c.o.d -o \
         CMakeFiles/a.dir/a.c.o -c /src/a.c",
        // meson
        "-Iprog.p -I. -fcolor-diagnostics -D_FILE_OFFSET_BITS=64 -Wall -O0 -g -MD -MQ a.o -MF a.o.d -o a.o -c ../a.c",
        "-S -o - a.c",
        "-S -emit-llvm a.c",
        "-c a.ii",
        "-c a.bc",
        "-x c++ -c a.txt",
        "-xc -c -",
        "-c a.c start.S",
        "-c -- a.c",
        "-r a.c -o all.o",
        "-v -c a.c",
        "-### -c a.c",
    ] {
        let ours = format!("-fpass-plugin=P {}", words(line).join(OsStr::new(" ")).to_string_lossy());
        assert_eq!(command(line), ours);
    }
}

#[test]
fn commands_that_neither_generate_code_nor_link_a_program_stay_as_they_are() {
    for line in [
        "",
        "-v",
        "--version",
        "--version a.c",
        "-dumpversion",
        "-print-search-dirs",
        "-print-prog-name=ld",
        "-print-multi-os-directory",
        "-qversion",
        "-Wl,--version",
        "-E a.c",
        "-E -",
        "-E -dM -x c /dev/null",
        "-M a.c",
        "-MM -c a.c",
        "-c -E a.c",
        "-fsyntax-only a.c",
        "--analyze a.c",
        "-c start.s",
        "-c start.S",
        "-x assembler-with-cpp -c a.c",
        "-x c-header a.h -o a.h.gch",
        "a.h",
        "-x cl -c kernel.c",
        "-nostdlib -r a.o b.o -o all.o",
        "-Wl,-r a.o -o all.o",
        "-Xlinker -r a.o -o all.o",
        "-cc1 -emit-obj a.c",
        "-cc1as a.s",
    ] {
        let same = words(line).join(OsStr::new(" "));
        assert_eq!(command(line), same.to_string_lossy());
    }
}

#[test]
fn counts_get_pages_of_their_own_where_the_linker_can_do_it() {
    let line = "-shared -fPIC a.o b.o -Wl,-soname -Wl,liba.so.0 -o liba.so.0";
    assert_eq!(command(line), format!("{line} -Xlinker -T -Xlinker L"));
    assert_eq!(
        command("-shared -fPIC a.c -o liba.so"),
        "-fpass-plugin=P -shared -fPIC a.c -o liba.so -Xlinker -T -Xlinker L"
    );
    for linker in ["-fuse-ld=gold", "-fuse-ld=mold", "--ld-path=/usr/bin/ld.gold"] {
        assert_eq!(command(&format!("-shared a.o {linker}")), format!("-shared a.o {linker}"));
        assert_eq!(
            command(&format!("{linker} a.o")),
            format!("{linker} a.o {}", RUNTIME.trim_end_matches(" -Xlinker -T -Xlinker L"))
        );
    }
    assert!(command("-fuse-ld=lld a.o").ends_with(RUNTIME));
}

#[test]
fn an_executable_gets_the_runtime_after_the_users_inputs() {
    for line in [
        "a.o -o a",
        "-g -O2 -o .libs/prog a.o ../lib/.libs/libz.so -lm -Wl,-rpath -Wl,/usr/local/lib",
        "-O3 -DNDEBUG -rdynamic CMakeFiles/a.dir/a.c.o -o a -lpthread",
        "-o prog prog.p/a.c.o -Wl,--as-needed -Wl,--no-undefined -Wl,--start-group libx.a -Wl,--end-group",
        "-static a.o",
        "-static-pie a.o",
        "-nostdlib -ffreestanding -T kernel.ld start.o main.o",
        "-Wl,--whole-archive -lmain",
        "@objects.rsp -o a",
        "start.s",
        "-v a.o",
    ] {
        assert_eq!(command(line), format!("{} {RUNTIME}", words(line).join(OsStr::new(" ")).to_string_lossy()));
    }
}

#[test]
fn compiling_and_linking_at_once_gets_both() {
    assert_eq!(
        command("-o conftest -g -O2 conftest.c -lm"),
        format!("-fpass-plugin=P -o conftest -g -O2 conftest.c -lm {RUNTIME}")
    );
    assert_eq!(command("a.c b.o c.S"), format!("-fpass-plugin=P a.c b.o c.S {RUNTIME}"));
}

#[test]
fn the_language_named_with_x_is_not_applied_to_our_objects() {
    assert_eq!(command("-x c a.txt"), format!("-fpass-plugin=P -x c a.txt -x none {RUNTIME}"));
    assert_eq!(command("-xc a.txt -x none b.o"), format!("-fpass-plugin=P -xc a.txt -x none b.o {RUNTIME}"));
    assert_eq!(
        command("-x c -o a -- a.txt"),
        format!("-fpass-plugin=P -x c -o a -x none {RUNTIME} -x c -- a.txt"),
        "but still to what stands after --"
    );
}

#[test]
fn what_is_added_stands_before_two_dashes() {
    assert_eq!(command("-o a -- a.c -strange.c"), format!("-fpass-plugin=P -o a {RUNTIME} -- a.c -strange.c"));
    assert_eq!(command("@separator.rsp"), format!("-fpass-plugin=P -o p {RUNTIME} -- a.c"));
}

#[test]
fn a_fuzzer_sanitizer_links_the_engine_and_does_not_reach_clang() {
    for (line, ours) in [
        ("-fsanitize=fuzzer a.c", format!("-fpass-plugin=P a.c {ENGINE}")),
        ("-fsanitize=fuzzer,address a.c", format!("-fpass-plugin=P -fsanitize=address a.c {SANITIZED}")),
        ("-fsanitize=address,fuzzer,undefined a.o", format!("-fsanitize=address,undefined a.o {SANITIZED}")),
        ("-fsanitize=address -fsanitize=fuzzer a.o", format!("-fsanitize=address a.o {SANITIZED}")),
        ("-fsanitize=fuzzer -fno-sanitize=fuzzer a.o", format!("-fno-sanitize=fuzzer a.o {RUNTIME}")),
        ("-fsanitize=fuzzer -fno-sanitize=all a.o", format!("-fno-sanitize=all a.o {RUNTIME}")),
        ("-fno-sanitize=fuzzer -fsanitize=fuzzer a.o", format!("-fno-sanitize=fuzzer a.o {ENGINE}")),
        ("-fsanitize=fuzzer-no-link a.c", format!("-fpass-plugin=P a.c {RUNTIME}")),
        ("-fsanitize=fuzzer-no-link,address -c a.c", "-fpass-plugin=P -fsanitize=address -c a.c".into()),
        ("-fsanitize=fuzzer -c a.c", "-fpass-plugin=P -c a.c".into()),
        ("-fsanitize=fuzzer -shared a.o", "-shared a.o -Xlinker -T -Xlinker L".into()),
        ("-fsanitize=fuzzer,undefined a.o", format!("-fsanitize=undefined a.o {ENGINE}")),
        (
            "-fsanitize=fuzzer,thread -fno-sanitize=thread a.o",
            format!("-fsanitize=thread -fno-sanitize=thread a.o {ENGINE}"),
        ),
        ("@fuzzer.rsp a.o", format!("-O1 -fsanitize=address -DX=a b a.o {SANITIZED}")),
        ("-fsanitize=address a.o", format!("-fsanitize=address a.o {}", RUNTIME.replace(" H", ""))),
    ] {
        assert_eq!(command(line), ours, "{line}");
    }
}

#[test]
fn values_of_options_are_not_taken_for_options_or_inputs() {
    assert_eq!(command("-o -c a.o"), format!("-o -c a.o {RUNTIME}"));
    assert_eq!(command("-MF a.c -c b.s"), "-MF a.c -c b.s");
    assert_eq!(command("-Xclang -fsanitize=fuzzer -c a.c"), "-fpass-plugin=P -Xclang -fsanitize=fuzzer -c a.c");
    assert_eq!(command("-include config.h -c b.s"), "-include config.h -c b.s");
}

#[test]
fn an_option_without_its_value_is_left_for_clang_to_complain_about() {
    assert_eq!(command("a.o -o"), "a.o -o");
}

#[test]
fn plain_mode_touches_nothing() {
    let line = "-fsanitize=fuzzer @fuzzer.rsp a.c -- b.c";
    let plan = parse(
        words(line),
        Language::C,
        Settings {
            plain: true,
            fuzzing_mode: true,
            pass: PassVariant { compares: true, every_block: true, library_costs: false },
            untested_llvm: true,
            driver: true,
            foreign_driver: true,
            mutants: Some(MutantsKind::Faults),
            includes_provider: true,
            ignores_uncounted: true,
        },
        &read,
    );
    assert_eq!(plan.command(&Pieces::default()), words(line));
}

#[test]
fn the_fuzzing_macro_is_defined_only_where_asked_for_and_read() {
    let with = Settings { fuzzing_mode: true, ..Settings::default() };
    for (line, defined) in [
        ("-c a.c", true),
        ("-E a.c", true),
        ("-c start.S", true),
        ("-x c-header a.h", true),
        ("-c a.i", false),
        ("-c a.s", false),
        ("a.o", false),
        ("--version a.c", false),
        ("-DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION -c a.c", false),
        ("-D FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION=0 -c a.c", false),
    ] {
        assert_eq!(parse(words(line), Language::C, with, &read).fuzzing_mode, defined, "{line}");
        assert!(!planned(line).fuzzing_mode, "{line}");
    }
}

#[test]
fn flags_that_choose_the_target_choose_the_runtime_too() {
    let line = "-m32 -target i686-linux-gnu --sysroot=/s -march=native a.o";
    assert_eq!(planned(line).compile_target, ["-m32", "-target", "i686-linux-gnu", "--sysroot=/s"]);
}

#[test]
fn arguments_that_are_not_utf_8_pass_through() {
    use std::os::unix::ffi::OsStringExt;
    let odd = OsString::from_vec(b"caf\xe9.c".to_vec());
    let plan = parse(vec!["-c".into(), odd.clone()], Language::C, Settings::default(), &read);
    assert!(plan.instrument);
    assert_eq!(plan.command(&Pieces::default()).last(), Some(&odd));
}

proptest::proptest! {
    #[test]
    fn whatever_is_typed_without_a_fuzzer_sanitizer_is_kept_in_its_order(
        picks in proptest::collection::vec(proptest::sample::select(vec![
            "-c", "-S", "-E", "-M", "-o", "a.c", "b.o", "-x", "c", "none", "-", "--", "-shared", "-r", "-lm", "-Wl,-r", "@objects.rsp",
            "-Xlinker", "-fsanitize=address", "-DX", "-I", "h.h", "s.S", "",
        ]), 0..9)
    ) {
        let typed: Vec<OsString> = picks.into_iter().map(OsString::from).collect();
        let command = parse(typed.clone(), Language::Cxx, Settings::default(), &read).command(&Pieces::default());
        let mut left = command.iter();
        proptest::prop_assert!(typed.iter().all(|word| left.any(|ours| ours == word)), "{:?} became {:?}", typed, command);
    }
}

#[test]
fn comparisons_are_shown_only_on_request_and_not_in_plain_mode() {
    let plan = |settings| parse(words("-c a.c"), Language::C, settings, &read);
    let pass = PassVariant { compares: true, ..PassVariant::default() };
    let asked = Settings { pass, ..Settings::default() };
    assert!(plan(asked).pass.compares && plan(asked).instrument);
    assert!(!plan(Settings::default()).pass.compares);
    assert!(!plan(Settings { plain: true, ..asked }).pass.compares);
}

#[test]
fn a_harness_gets_the_driver_instead_of_the_engine_on_request() {
    let asked = Settings { driver: true, ..Settings::default() };
    let with = command_with("-fsanitize=fuzzer a.o -o a", asked);
    assert!(
        with.starts_with("a.o -o a R C S H D M -Wl,-u,LLVMFuzzerTestOneInput ")
            && with.ends_with(" -Xlinker -T -Xlinker L"),
        "{with}"
    );
    assert_eq!(command_with("a.o -o a", asked), format!("a.o -o a {RUNTIME}"));
    assert_eq!(command_with("-fsanitize=fuzzer -c a.c", asked), "-fpass-plugin=P -c a.c");
}

#[test]
fn what_is_preprocessed_gets_the_macros_of_afl() {
    for line in ["-c a.c", "-E a.cc", "-M a.c", "a.c -o a", "-x c-header a.h -o a.h.gch", "-fsyntax-only a.c"] {
        assert!(planned(line).macros, "{line}");
        let words = planned(line).command(&Pieces::default());
        assert!(words.contains(&"-D__AFL_HAVE_MANUAL_CONTROL=1".into()), "{line}");
    }
    for line in ["a.o -o a", "-c a.s", "-c a.i", "--version", "-cc1 a.c"] {
        assert!(!planned(line).macros, "{line}");
    }
}

#[test]
fn harnesses_export_every_symbol_of_sanitizer_coverage_that_the_runtime_defines_and_other_programs_none() {
    let sources = [
        include_str!("../../runtime/sancov.c"),
        include_str!("../../runtime/sancov_unused.c"),
        include_str!("../../runtime/sancov_comparisons.c"),
    ];
    let sources = sources.concat();
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
    let name = |line: &str| {
        let start = ["void ", "IGNORED("].iter().find_map(|start| line.strip_prefix(start))?;
        let name = start.split(|c| !is_of_name(c)).next()?;
        name.starts_with("__sanitizer_").then(|| name.to_owned())
    };
    let mut defined: Vec<String> = sources.lines().filter_map(name).collect();
    defined.push("__sancov_lowest_stack".to_owned());
    defined.sort_unstable();
    let exported = |line: &str| {
        let command = planned(line).command(&Pieces::default());
        let words = command.iter().filter_map(|word| word.to_str()?.strip_prefix("-Wl,--export-dynamic-symbol="));
        let mut names: Vec<String> = words.filter(|name| name.starts_with("__san")).map(str::to_owned).collect();
        names.sort_unstable();
        names
    };
    assert_eq!(exported("-fsanitize=fuzzer a.o"), defined);
    assert_eq!(exported("a.o"), Vec::<String>::new());
}

#[test]
fn what_the_pass_counts_is_not_counted_by_sanitizer_coverage_as_well() {
    for option in ["-fsanitize-coverage=trace-pc-guard", "-fsanitize-coverage-ignorelist=list"] {
        assert_eq!(command(&format!("-c {option} a.c")), "-fpass-plugin=P -c a.c");
    }
}

#[test]
fn with_link_time_optimisation_the_plugin_is_the_linkers() {
    assert_eq!(command("-flto -O2 -c a.c"), "-flto -O2 -c a.c");
    assert_eq!(command("-flto=thin -fno-lto -c a.c"), "-fpass-plugin=P -flto=thin -fno-lto -c a.c");
    for lld in ["-fuse-ld=lld", "-fuse-ld=lld-19", "--ld-path=/usr/lib/llvm-19/bin/ld.lld"] {
        let mut plan = planned(&format!("-flto=thin {lld} a.c b.o -o p"));
        plan.macros = false;
        assert_eq!((plan.lto, plan.linker, plan.instrument), (true, Some(Linker::Lld), false));
        let pieces = Pieces { linker_plugin: "P".into(), ..Pieces::default() };
        let linked = plan.command(&pieces).join(OsStr::new(" ")).into_string().expect("text");
        let typed = format!("-Xlinker --load-pass-plugin=P -Xlinker -T -Xlinker  -flto=thin {lld} a.c b.o -o p ");
        assert!(linked.starts_with(&typed) && !linked.contains("-fpass-plugin"), "{linked}");
        assert!(linked.contains("-Wl,--export-dynamic-symbol=__quagmire_register "), "{linked}");
        // objects of -flto may come in links without it, and be merged
        for line in ["a.c b.o -o p", "-r a.o b.o -o p.o", "-shared a.o"] {
            let plan = planned(&format!("{lld} {line}"));
            assert_eq!((plan.lto, plan.linker), (false, Some(Linker::Lld)), "{line}");
        }
    }
    for line in ["-flto a.o -o p", "-flto -fuse-ld=bfd a.o -o p", "-flto -shared a.o -o p.so", "-flto -r a.o -o p.o"] {
        let plan = planned(line);
        assert_eq!((plan.lto, plan.linker), (true, Some(Linker::Other)), "{line}");
    }
    assert!(!planned("-flto -E a.c").lto);
}

#[test]
fn harnesses_in_c_link_the_cxx_library_of_libraries_in_cxx() {
    let library = |line: &str, language| {
        let command = parse(words(line), language, Settings::default(), &read).command(&Pieces::default());
        let at = command.iter().position(|word| word == "-Wl,--push-state,--as-needed")?;
        command[at + 1].to_str().map(str::to_owned)
    };
    assert_eq!(library("-fsanitize=fuzzer a.c b.o", Language::C).as_deref(), Some("-lstdc++"));
    assert_eq!(library("-fsanitize=fuzzer -stdlib=libc++ a.c", Language::C).as_deref(), Some("-lc++"));
    for line in ["-fsanitize=fuzzer -nostdlib++ a.c", "-fsanitize=fuzzer -c a.c", "a.c -o a"] {
        assert_eq!(library(line, Language::C), None, "{line}");
    }
    assert_eq!(library("-fsanitize=fuzzer a.cc", Language::Cxx), None);
}

#[test]
fn the_script_comes_before_one_of_the_users() {
    let pieces = Pieces { script: "L".into(), ..Pieces::default() };
    let linked = planned("a.o -Wl,-T,own.ld -o p").command(&pieces);
    let place = |word: &str| linked.iter().position(|one| one == word).expect("it is there");
    assert!(place("L") < place("-Wl,-T,own.ld"), "{linked:?}");
}

#[test]
fn mutants_are_made_by_a_plugin_of_their_own_and_served_by_a_server_of_their_own() {
    let asked = Settings { mutants: Some(MutantsKind::Faults), ..Settings::default() };
    assert_eq!(command_with("-O2 -g0 -c a.c", asked), "-g -fpass-plugin=P -O2 -g0 -c a.c");
    assert_eq!(command_with("-flto -c a.c", asked), "-g -fpass-plugin=P -flto -c a.c");
    let program = command_with("a.o -o a", asked);
    assert!(program.starts_with("a.o -o a R C F X T -Wl,--export-dynamic-symbol="), "{program}");
    assert!(
        program.ends_with("=__quagmire_register_mutants -Wl,--export-dynamic-symbol=__quagmire_observe"),
        "{program}"
    );
    let harness = command_with("-fsanitize=fuzzer a.o -o a", asked);
    assert!(harness.starts_with("a.o -o a R C F X T D M -Wl,-u,LLVMFuzzerTestOneInput "), "{harness}");
    let asked = Settings { mutants: Some(MutantsKind::Performance), ..Settings::default() };
    let program = command_with("a.o -o a", asked);
    assert!(program.starts_with("a.o -o a R C P X T -Wl,") && program.contains("=__quagmire_burn "), "{program}");
}

#[test]
fn another_fuzzer_brings_its_own_main_coverage_and_macros() {
    let mutants = Some(MutantsKind::Performance);
    let asked = Settings { mutants, foreign_driver: true, ..Settings::default() };
    let compiled = command_with("-fsanitize=fuzzer,address -fsanitize-coverage=trace-pc-guard -c a.c", asked);
    assert_eq!(compiled, "-g -fpass-plugin=P -fsanitize=fuzzer,address -fsanitize-coverage=trace-pc-guard -c a.c");
    let linked = command_with("-fsanitize=fuzzer a.o -o a", asked);
    assert!(
        linked.starts_with("-fsanitize=fuzzer a.o -o a R C P X O -Wl,") && !linked.contains("LLVMFuzzer"),
        "{linked}"
    );
    let words = parse(words("-c a.c"), Language::C, asked, &read).command(&Pieces::default());
    assert!(!words.contains(&"-D__AFL_HAVE_MANUAL_CONTROL=1".into()));
}
