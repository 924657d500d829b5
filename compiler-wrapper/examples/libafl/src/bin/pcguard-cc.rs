//! `pcguard-cc`: LibAFL's own wrapper of clang with guards, as fuzzers built on LibAFL have it, with quagmire's engine in the
//! fuzzer's place.

use libafl_cc::{ClangWrapper, CompilerWrapper, ToolWrapper};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let folder = std::env::current_exe().expect("a path").parent().expect("a folder").to_owned();
    let mut cc = ClangWrapper::new();
    let code = cc
        .silence(true)
        .parse_args(&arguments)
        .expect("a command")
        .add_arg("-fsanitize-coverage=trace-pc-guard,pc-table")
        .link_staticlib(&folder, "quagmire_engine")
        .run()
        .expect("clang");
    std::process::exit(code.unwrap_or(1));
}
