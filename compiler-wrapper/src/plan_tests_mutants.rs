//! Plans of builds with mutants.

use super::*;

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
