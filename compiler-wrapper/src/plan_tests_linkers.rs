//! Tests of plans: linkers, and libraries that are linked by themselves.

use super::*;

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
